import type { Kind } from '@zhisuan/contract/kind'
import { Refusal } from '../../../platform/errors.ts'
import { toRefusal } from '../../../platform/http/problems.ts'
import type { Suspendable } from '../../../platform/module.ts'
import type { Platform } from '../../../platform/platform.ts'
import { idsOf } from '../../../platform/ids.ts'
import { paidAhead } from '../rating/prepaid.store.ts'
import type { SuspendedRow, SuspensionRow } from './arrears.migrations.ts'
import { policyFor } from './policy.store.ts'
import { shareStanding } from './standing.store.ts'
import * as store from './suspension.store.ts'
import { isOpen, type WorkedOn } from './suspension.store.ts'

/** How soon it is looked at again: while operations run, where something has to wait, and when all stands still. */
const soonMs = 250
const laterMs = 2_000
const quietMs = 60_000
const backOffMs = 5_000
const backOffMostMs = 600_000
const suspensionsAtOnce = 50

type SuspendableKind = Suspendable & { readonly kind: Kind }

const noError = { error_text: null } as const

/**
 * Stops what an organisation has, and starts it again. A suspension is a row with a phase and a row
 * for each resource; what is begun is recorded in the transaction that begins it, under the
 * organisation's standing: so whoever is killed, or comes second, finds what was done.
 */
export function createSuspensions({ db, now, log, kinds, operations }: Pick<Platform, 'db' | 'now' | 'log' | 'kinds' | 'operations'>) {
  const suspendables = (): SuspendableKind[] => [...kinds()].flatMap(([kind, { suspendable }]) => (suspendable === undefined ? [] : { ...suspendable, kind }))
  const after = (ms: number): Date => new Date(now().getTime() + ms)
  const retryAt = (tries: number): Date => after(Math.min(backOffMs * 2 ** tries, backOffMostMs))
  const recordOf = (suspension: SuspensionRow, kind: Kind, resource: { id: string; name: string }): SuspendedRow => ({
    suspension_id: suspension.id,
    kind,
    resource_id: resource.id,
    name: resource.name,
    state: 'stopping',
    operation_id: null,
    detail: null,
    tries: 0,
    error_text: null,
    retry_at: now(),
    updated_at: now(),
  })
  /** What was started in between is stopped for the first time again. */
  const stoppingOf = (before: SuspendedRow | undefined, fresh: SuspendedRow): SuspendedRow =>
    before?.state === 'stopping' ? before : { ...fresh, ...(before !== undefined && { detail: before.detail }) }
  const keyOf = ({ kind, id }: { kind: string; id: string }): string => `${kind} ${id}`
  const failed = (error: unknown, one: { kind: string; id: string }): Refusal => {
    const refusal = toRefusal(error)
    log[refusal.refusal === 'unknown' ? 'error' : 'info']({ err: error, ...one }, 'a suspension could not change a resource yet')
    return refusal
  }

  const stopOne = async (suspension: SuspensionRow, of: SuspendableKind, resource: { id: string; name: string }): Promise<void> => {
    const fresh = recordOf(suspension, of.kind, resource)
    try {
      await db.transaction().execute(async (tx) => {
        // Paid meanwhile: nothing is stopped any more.
        if ((await shareStanding(tx, suspension.owner_id))?.state !== 'suspended') return
        const before = stoppingOf(await store.lockResource(tx, fresh), fresh)
        const begun = await of.stop(tx, resource.id, before.operation_id !== null)
        if (begun === null) return
        await store.putResource(tx, {
          ...before,
          ...begun,
          name: resource.name,
          state: 'stopping',
          tries: before.tries + 1,
          retry_at: retryAt(before.tries),
          updated_at: now(),
        })
      })
    } catch (error) {
      const { message } = failed(error, { kind: of.kind, id: resource.id })
      await db.transaction().execute(async (tx) => {
        const before = stoppingOf(await store.lockResource(tx, fresh), fresh)
        await store.putResource(tx, { ...before, tries: before.tries + 1, error_text: message, retry_at: retryAt(before.tries), updated_at: now() })
      })
    }
  }

  /** What became of what was begun; answers what is not over. */
  const settleStopping = async (known: readonly WorkedOn[], isRunning: (one: WorkedOn) => boolean): Promise<number> => {
    let open = 0
    for (const one of known.filter(({ state }) => state === 'stopping')) {
      if (isOpen(one.operation_status)) open += 1
      else if (one.operation_status === 'succeeded') await store.updateResource(db, one, { state: 'stopped', tries: 0, ...noError, updated_at: now() })
      else if (isRunning(one)) {
        open += 1
        if (one.operation_error !== null && one.operation_error !== one.error_text)
          await store.updateResource(db, one, { error_text: one.operation_error, updated_at: now() })
      }
      // It stands without us: what was never begun was stopped by somebody else, and what failed may have come through late.
      else if (one.operation_id === null) await store.deleteResource(db, one)
      else
        await store.updateResource(db, one, {
          state: (await store.wasTouched(db, one.resource_id, one.operation_id)) ? 'left' : 'stopped',
          tries: 0,
          ...noError,
          updated_at: now(),
        })
    }
    return open
  }

  const suspend = async (suspension: SuspensionRow): Promise<void> => {
    const policy = await policyFor(db, suspension.owner_id)
    const stops = suspendables().filter(({ stoppedBy }) => policy[stoppedBy])
    const known = await store.resourcesOf(db, operations.said, suspension.id)
    const byKey = new Map(known.map((one) => [keyOf({ kind: one.kind, id: one.resource_id }), one]))
    const running = new Set<string>()
    let begun = 0
    for (const of of stops) {
      const all = await of.running(db, suspension.owner_id)
      const paid = await paidAhead(db, idsOf(all), now())
      // Of what is paid in advance nothing is owed: a look after that ends finds it running.
      for (const resource of all.filter(({ id }) => !paid.has(id))) {
        const key = keyOf({ kind: of.kind, id: resource.id })
        running.add(key)
        const one = byKey.get(key)
        if (resource.passing || (one?.state === 'stopping' && (isOpen(one.operation_status) || one.operation_status === 'succeeded' || one.retry_at > now())))
          continue
        begun += 1
        await stopOne(suspension, of, resource)
      }
    }
    const open = await settleStopping(known, (one) => running.has(keyOf({ kind: one.kind, id: one.resource_id })))
    const quiet = open === 0 && running.size === 0
    const waits = begun > 0 || known.some(({ operation_status }) => isOpen(operation_status)) ? soonMs : laterMs
    await store.settleSuspension(db, suspension, quiet ? { phase: 'suspended', look_at: after(quietMs) } : { phase: 'suspending', look_at: after(waits) })
  }

  const startOne = async (suspension: SuspensionRow, of: SuspendableKind, seen: WorkedOn): Promise<void> => {
    try {
      await db.transaction().execute(async (tx) => {
        // Nothing to pay with again: the next look stops.
        if ((await shareStanding(tx, suspension.owner_id))?.state === 'suspended') return
        const one = await store.lockResource(tx, seen)
        if (one === undefined || one.state !== seen.state || one.operation_id !== seen.operation_id) return
        const put = (changes: Partial<SuspendedRow>) => store.putResource(tx, { ...one, ...noError, ...changes, updated_at: now() })
        if (await store.wasTouched(tx, one.resource_id, one.operation_id)) return put({ state: 'left' })
        const begun = await of.start(tx, one.resource_id, one.detail)
        if (begun === 'gone') return put({ state: 'left' })
        if (begun === 'running') return put({ state: 'started' })
        return put({ state: 'starting', operation_id: begun.operation_id, tries: one.tries + 1, retry_at: retryAt(one.tries) })
      })
    } catch (error) {
      const { message } = failed(error, { kind: of.kind, id: seen.resource_id })
      await store.updateResource(db, seen, { tries: seen.tries + 1, error_text: message, retry_at: retryAt(seen.tries), updated_at: now() })
    }
  }

  const resume = async (suspension: SuspensionRow): Promise<void> => {
    const known = await store.resourcesOf(db, operations.said, suspension.id)
    const ofKind = new Map(suspendables().map((one) => [one.kind, one]))
    let [open, begun] = [0, 0]
    for (const one of known) {
      const of = ofKind.get(one.kind)
      if (of === undefined) continue
      if (one.state === 'starting' && one.operation_status === 'succeeded') {
        await store.updateResource(db, one, { state: 'started', ...noError, updated_at: now() })
        continue
      }
      open += 1
      if (isOpen(one.operation_status)) {
        begun += 1
        continue
      }
      // What was never begun is not ours to start.
      if (one.operation_id === null) await store.deleteResource(db, one)
      else if (one.state === 'stopping') await store.updateResource(db, one, { state: 'stopped', tries: 0, retry_at: now(), ...noError, updated_at: now() })
      else if (one.state === 'starting' && one.operation_error !== null && one.operation_error !== one.error_text)
        await store.updateResource(db, one, { error_text: one.operation_error, updated_at: now() })
      if (one.operation_id === null || one.state === 'stopping') begun += 1
      else if (one.state === 'stopped' ? one.tries === 0 || one.retry_at <= now() : one.retry_at <= now()) {
        begun += 1
        await startOne(suspension, of, one)
      }
    }
    await store.settleSuspension(
      db,
      suspension,
      open === 0 ? { phase: 'ended', ended_at: now(), look_at: now() } : { look_at: after(begun > 0 ? soonMs : laterMs) },
    )
  }

  return {
    /** Goes on with all whose time has come; answers how many there were. */
    async look(signal?: AbortSignal): Promise<number> {
      const due = await store.suspensionsToLookAt(db, now(), suspensionsAtOnce)
      for (const suspension of due) {
        if (signal?.aborted === true) break
        // Of those that fail the others are not kept waiting.
        await (suspension.phase === 'resuming' ? resume(suspension) : suspend(suspension)).catch((error: unknown) =>
          log.error({ err: error, suspension: suspension.id }, 'working on a suspension'),
        )
      }
      return due.length
    },
  }
}
