import { setTimeout as sleep } from 'node:timers/promises'
import type { ArrearsPolicy, arrearsPolicies, Standing, standings as calls } from '@zhisuan/contract/bill/arrears'
import type { BodyOf, QueryOf, ResponseOf } from '@zhisuan/contract/define'
import { floored, toDecimal } from '@zhisuan/contract/bill/money'
import { scopeOf, type Actor } from '../../../platform/auth/actor.ts'
import { isHeld, type Tx } from '../../../platform/db/database.ts'
import { found, Refusal } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import { availableOf, balanceOf, ledger } from '../ledger/ledger.service.ts'
import * as ledgerStore from '../ledger/ledger.store.ts'
import type { NoticeService } from '../notice/notice.service.ts'
import { standingTopic } from './arrears.migrations.ts'
import { isInAdvance } from './in-advance.ts'
import * as policies from './policy.store.ts'
import * as store from './standing.store.ts'
import { standingOf } from './standing.rules.ts'
import { createSuspensions } from './suspension.ts'
import { insertSuspension, listResources, updateSuspension } from './suspension.store.ts'

const lookEveryMs = 2_000
/** While a suspension is worked on. */
const lookBusyMs = 300
const atOnce = 100

/** What may be begun although nothing more may be started: it ends, tidies up, or changes no bill. */
const allowedWhileSuspended = new Set(['stop', 'kill', 'delete', 'recycle', 'purge', 'detach', 'rename', 'apply', 'upgrade', 'evacuate'])

/** Whether what is made is paid by the hour, or nobody pays for it. */
export type Costs = 'costs' | 'free'

export type StandingService = ReturnType<typeof createStandings>

/** How organisations stand with their accounts, and what follows from that. */
export function createStandings(
  platform: Pick<Platform, 'db' | 'bus' | 'now' | 'log' | 'kinds' | 'operations'>,
  parts: {
    notices: Pick<NoticeService, 'tell'>
    /** Looks at whatever else depends on what an organisation used. */
    used: (tx: Tx, bpId: string) => Promise<void>
  },
) {
  const { db, now, log } = platform
  const suspensions = createSuspensions(platform)

  /** What begins and ends with a state; in the transaction that changes it. */
  const follow = async (tx: Tx, ownerId: string, to: Standing['state'], resume: boolean): Promise<void> => {
    const suspension = await store.lockSuspension(tx, ownerId)
    if (to === 'suspended') {
      // One that is being taken back goes the other way again, and knows what it stopped.
      if (suspension !== undefined) await updateSuspension(tx, suspension.id, { phase: 'suspending', look_at: now() })
      else await insertSuspension(tx, { id: uuidv7(), owner_id: ownerId, phase: 'suspending', look_at: now(), began_at: now(), ended_at: null })
    } else if (suspension !== undefined && suspension.phase !== 'resuming') {
      await updateSuspension(tx, suspension.id, resume ? { phase: 'resuming', look_at: now() } : { phase: 'ended', look_at: now(), ended_at: now() })
    }
  }

  /** Derives it anew, writes down what changed and tells it: once, by whichever server comes first. */
  const lookAt = (ownerId: string): Promise<void> =>
    db.transaction().execute(async (tx) => {
      await store.waitBriefly(tx)
      const organisation = await store.organisationOf(tx, ownerId)
      if (organisation === undefined) return store.takeChecks(tx, ownerId)
      const { fresh, ...before } = await store.lockStanding(tx, ownerId, now())
      await store.takeChecks(tx, ownerId)
      const [funds, policy] = [await ledger.standing(tx, ownerId), await policies.policyFor(tx, ownerId)]
      const arrears = -(funds.balances.receivable ?? 0n)
      const next = standingOf(before, { arrears, available: availableOf(funds) }, policy, now())
      const changed = next.state !== before.state
      await store.setStanding(tx, ownerId, { ...next, ...(changed && { since: now() }) })
      const values = { available: toDecimal(availableOf(funds)), arrears: toDecimal(arrears), grace_until: next.grace_until, resume: policy.resume }
      const tell = (kind: Parameters<typeof parts.notices.tell>[2]): Promise<void> => parts.notices.tell(tx, organisation, kind, values)
      if (changed) {
        await store.insertChange(tx, {
          owner_id: ownerId,
          from_state: before.state,
          to_state: next.state,
          balance: balanceOf(funds),
          grace_until: next.grace_until,
          at: now(),
        })
        await follow(tx, ownerId, next.state, policy.resume)
        // Where an account begins, or comes back from worse, being low is no news.
        if (next.state === 'low' && before.state === 'normal' && !fresh) await tell('low')
        if (next.state === 'arrears' && before.state !== 'suspended') await tell('arrears')
        if (next.state === 'suspended') await tell('suspended')
        if (before.state === 'suspended') await tell('resumed')
      } else if (next.state === 'arrears' && next.warned && !before.warned) await tell('suspensionNear')
      await parts.used(tx, ownerId)
    })

  const visible = (actor: Actor, id: string): void => {
    const scope = scopeOf(actor)
    if (!('everything' in scope) && !('bp_id' in scope && scope.bp_id === id)) throw new Refusal('notFound')
  }
  const policyOf = async (bpId: string | null): Promise<ArrearsPolicy> => policies.shapePolicy(found(await policies.getPolicy(db, bpId)))
  const setPolicy = async (actor: Actor, bpId: string | null, body: BodyOf<typeof arrearsPolicies.set>): Promise<ArrearsPolicy> => {
    await db.transaction().execute(async (tx) => {
      await policies.setPolicy(tx, bpId, body, { name: actor.name, at: now() })
      await policies.checkAgain(tx, bpId)
    })
    woken.abort()
    return policyOf(bpId)
  }

  const stopping = new AbortController()
  let woken = new AbortController()
  let running: Promise<void> = Promise.resolve()
  let unsubscribe: () => void = () => undefined

  const service = {
    /**
     * Whether something new may be made for an organisation, in the transaction that makes it; what is allowed stays so until that ends.
     * @throws Refusal 24018 while it is suspended, 24011 where its policy refuses new things in arrears, 96043 where it has less
     * than its policy asks for of who makes what costs something by the hour
     */
    async mayMake(tx: Tx, bpId: string | null, what: Costs = 'costs'): Promise<void> {
      if (bpId === null) return
      const [standing, policy] = [await store.shareStanding(tx, bpId), await policies.policyFor(tx, bpId)]
      if (standing?.state === 'suspended') throw new Refusal('balanceInsufficientForOrder')
      if (standing?.state === 'arrears' && policy.refuse_new) throw new Refusal('balanceInsufficient')
      const least = BigInt(policy.least_balance)
      if (what === 'free' || least === 0n || isInAdvance()) return
      const available = availableOf((await ledgerStore.standings(tx, [bpId])).get(bpId) ?? { balances: {}, creditLimit: 0n })
      if (available < least) throw new Refusal('balanceBelowLeast', { values: { available: floored(toDecimal(available)), least: floored(toDecimal(least)) } })
    },

    /** What an organisation may spend by the hour, its credit with it; null where what is being made was paid in advance. */
    async spendable(tx: Tx, bpId: string): Promise<bigint | null> {
      if (isInAdvance()) return null
      return availableOf((await ledgerStore.standings(tx, [bpId])).get(bpId) ?? { balances: {}, creditLimit: 0n })
    },

    /**
     * The same for each operation that somebody asks for: while an organisation is suspended only what ends things is done.
     * @throws Refusal 24018, 24011
     */
    async mayBegin(tx: Tx, operation: { kind: string; bp_id: string | null; actor: unknown }): Promise<void> {
      const verb = operation.kind.slice(operation.kind.lastIndexOf('.') + 1)
      // The platform's own: a suspension's, and what keeps things as they are.
      if (operation.actor === null || operation.bp_id === null || allowedWhileSuspended.has(verb)) return
      // What it costs was asked where its quota was taken.
      if (verb === 'create') return service.mayMake(tx, operation.bp_id, 'free')
      if ((await store.shareStanding(tx, operation.bp_id))?.state === 'suspended') throw new Refusal('balanceInsufficientForOrder')
    },

    /**
     * Brings everything up to date that movements, policies and time have changed; interrupted anywhere, the next look goes on.
     * Answers how many suspensions were worked on.
     */
    async look(signal?: AbortSignal): Promise<number> {
      for (;;) {
        const owners = await store.toLookAt(db, now(), atOnce)
        let failed = 0
        for (const owner of owners) {
          if (signal?.aborted === true) return 0
          await lookAt(owner).catch((error: unknown) => {
            // The others are not kept waiting; its checks are still there.
            failed += 1
            if (!isHeld(error)) log.error({ err: error, organisation: owner }, 'looking at an account')
          })
        }
        if (owners.length < atOnce || failed > 0) break
      }
      return suspensions.look(signal)
    },

    start(): void {
      unsubscribe = platform.bus.subscribe(standingTopic, () => woken.abort())
      const loop = async (): Promise<void> => {
        let busy = false
        while (!stopping.signal.aborted) {
          await sleep(busy ? lookBusyMs : lookEveryMs, undefined, { signal: AbortSignal.any([stopping.signal, woken.signal]) }).catch(() => undefined)
          woken = new AbortController()
          if (stopping.signal.aborted) return
          try {
            busy = (await service.look(stopping.signal)) > 0
          } catch (error) {
            log.error({ err: error }, 'looking at accounts')
          }
        }
      }
      running = loop()
    },

    async stop(): Promise<void> {
      unsubscribe()
      stopping.abort()
      await running
    },

    policy: (): Promise<ArrearsPolicy> => policyOf(null),
    setPolicy: (actor: Actor, body: BodyOf<typeof arrearsPolicies.set>): Promise<ArrearsPolicy> => setPolicy(actor, null, body),
    exceptions: (query: QueryOf<typeof arrearsPolicies.exceptions>): Promise<ResponseOf<typeof arrearsPolicies.exceptions>> =>
      policies.listExceptions(db, query),
    async setException(actor: Actor, id: string, body: BodyOf<typeof arrearsPolicies.set>): Promise<ArrearsPolicy> {
      found(await store.organisationOf(db, id))
      return setPolicy(actor, id, body)
    },
    async removeException(id: string): Promise<void> {
      await db.transaction().execute(async (tx) => {
        if (!(await policies.deleteException(tx, id))) throw new Refusal('notFound')
        await policies.checkAgain(tx, id)
      })
      woken.abort()
    },

    list: (query: QueryOf<typeof calls.list>): Promise<ResponseOf<typeof calls.list>> => store.listStandings(db, query),
    async get(actor: Actor, id: string): Promise<Standing> {
      visible(actor, id)
      return found(await store.getStanding(db, id))
    },
    async history(actor: Actor, id: string, query: QueryOf<typeof calls.history>): Promise<ResponseOf<typeof calls.history>> {
      visible(actor, id)
      found(await store.organisationOf(db, id))
      return store.listChanges(db, id, query)
    },
    async resources(actor: Actor, id: string, query: QueryOf<typeof calls.resources>): Promise<ResponseOf<typeof calls.resources>> {
      visible(actor, id)
      found(await store.organisationOf(db, id))
      return listResources(db, id, query)
    },
  }
  return service
}
