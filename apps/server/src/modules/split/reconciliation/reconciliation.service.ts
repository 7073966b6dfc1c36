import { toDecimal } from '@zhisuan/contract/bill/money'
import {
  caseAskable,
  caseCan,
  exitAccounts,
  type CaseExit,
  type SplitCase,
  type splitCases,
  type SplitReconciliation,
  type splitReconciliations,
} from '@zhisuan/contract/split/reconciliation'
import type { BodyOf, QueryOf } from '@zhisuan/contract/define'
import { z } from 'zod'
import type { Actor } from '../../../platform/auth/actor.ts'
import { iso, isoOrNull, type Tx } from '../../../platform/db/database.ts'
import { shapedPage } from '../../../platform/db/page.ts'
import { found, Refusal, refuseUnless } from '../../../platform/errors.ts'
import { defineJob, handleJob } from '../../../platform/jobs.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { Prove } from '../bank/bank.service.ts'
import type { TellKeepers } from '../keeper.tell.ts'
import { post } from '../ledger/movements.ts'
import { PayoutRejected, type PayoutAnswer } from '../payout/channel.client.ts'
import { lockOwed, lockPayoutOf, type PayoutRow } from '../payout/payout.store.ts'
import type { PayoutChannels, ReadableChannel } from '../payout/channel.service.ts'
import { isChannelTrouble, stuckMs, type PayoutService } from '../payout/payout.service.ts'
import { boundsOf, dayOf, differencesOf, type Difference } from './differences.ts'
import { effectOf, effectsOf, type Effect } from './exits.ts'
import * as store from './reconciliation.store.ts'
import type { CaseRow, ReconciliationRow, ShownCase, ShownReconciliation } from './reconciliation.store.ts'
import { reconciliationTexts as texts } from './reconciliation.texts.ts'

type Cases = typeof splitCases
type Days = typeof splitReconciliations

/** A server that died with a file in hand is waited for no longer. */
const patienceMs = 5 * 60_000
const daysAtOnce = 31

/** What a bank cannot credit it sends back within days: so long the files of a channel are read that pays no more. */
const returnedWithinMs = 7 * 86_400_000
/** The first day whose file is not to be read. */
const lastDayOf = ({ until }: ReadableChannel, now: Date): string =>
  dayOf(until === null ? now : new Date(Math.min(now.getTime(), until.getTime() + returnedWithinMs)))

export const reconcileJob = defineJob({ name: 'split.reconcile', input: z.object({}), concurrency: 1, schedule: '*/10 * * * *' })

/** Compares payouts with the channel's file of each day; each difference is a case that somebody ends. */
export function createReconciliations(
  { db, jobs, log, now }: Pick<Platform, 'db' | 'jobs' | 'log' | 'now'>,
  {
    channels,
    payouts,
    prove,
    tellKeepers,
  }: {
    channels: Pick<PayoutChannels, 'client' | 'enabled' | 'readable'>
    payouts: Pick<PayoutService, 'askAbout' | 'correct'>
    prove: Prove
    tellKeepers: TellKeepers
  },
) {
  const sideOf = (amount: string | null, status: string | null): Difference['ours'] =>
    amount === null || status === null ? null : { amount: BigInt(amount), status }
  const sides = (row: CaseRow) => ({
    kind: row.kind,
    reference: row.reference,
    ours: sideOf(row.ours_amount, row.ours_status),
    theirs: sideOf(row.theirs_amount, row.theirs_status),
  })
  const payoutOf = ({ payout_amount: amount, payout_status: status, payout_reference: reference }: ShownCase) =>
    amount === null || status === null || reference === null ? undefined : { amount, status, reference }
  const shown = (side: Difference['ours']) => (side === null ? null : { ...side, amount: toDecimal(side.amount) })
  const shape = (row: ShownCase): SplitCase => ({
    id: row.id,
    day: row.day,
    kind: row.kind,
    status: row.status,
    payout_id: row.payout_id,
    provider: row.provider_id === null ? null : { id: row.provider_id, name: row.provider_name ?? '' },
    reference: row.reference,
    ours: shown(sides(row).ours),
    theirs: shown(sides(row).theirs),
    exit: row.exit,
    exits:
      row.status === 'closed'
        ? []
        : effectsOf(sides(row), payoutOf(row)).map(({ exit, entries, payout }) => ({
            exit,
            status: payout?.status ?? null,
            moves: exitAccounts.flatMap((account) => {
              const amount = entries.reduce((sum, entry) => (entry.account === account ? sum + entry.amount : sum), 0n)
              return amount === 0n ? [] : [{ account, amount: toDecimal(amount) }]
            }),
          })),
    reason: row.reason,
    proposed_by: row.proposed_by_name,
    decided_by: row.decided_by_name,
    created_at: iso(row.created_at),
    closed_at: isoOrNull(row.closed_at),
  })
  const shapeDay = ({
    id,
    day,
    merchant_id,
    status,
    row_count,
    case_count,
    open_count,
    file_hash,
    failed,
    finished_at,
  }: ShownReconciliation): SplitReconciliation => ({
    id,
    day,
    merchant_id,
    status,
    row_count,
    case_count,
    open_count,
    file_hash,
    failed,
    finished_at: isoOrNull(finished_at),
  })
  const get = async (id: string): Promise<SplitCase> => shape(found(await store.getCase(db, id)))
  /** What an exit does, which has to be possible as things are now. @throws Refusal 98218, 98221 */
  const possible = (exit: CaseExit, row: CaseRow, payout: PayoutRow | undefined): Effect => {
    const effect = exit === 'settled' ? null : effectOf(exit, sides(row), payout)
    if (effect === null) throw new Refusal(exit === 'writtenOff' ? 'splitNothingToWriteOff' : 'splitExitUnfit', { field: 'exit' })
    return effect
  }
  const change = async (id: string, action: keyof typeof caseCan, act: (tx: Tx, row: CaseRow) => Promise<Partial<CaseRow>>): Promise<SplitCase> => {
    await db.transaction().execute(async (tx) => {
      const row = found(await store.lockCase(tx, id))
      refuseUnless(caseCan[action], row)
      await store.updateCase(tx, id, await act(tx, row))
    })
    return get(id)
  }

  /** All at once, or nothing: who reads the file again finds the same. */
  const read = async ({ id, day, channel_id }: Pick<ReconciliationRow, 'id' | 'day' | 'channel_id'>): Promise<void> => {
    const client = await channels.client(channel_id)
    if (client === null) return
    const { rows, hash } = await client.statement(day)
    const { from, to } = boundsOf(day)
    if (rows.some(({ at }) => at < from || at >= to)) throw new PayoutRejected('a file with what ended on another day')
    await db.transaction().execute(async (tx) => {
      const before = await store.lockReconciliation(tx, id)
      if (before?.status !== 'due') return
      // Also the same file: our side may have changed since.
      const ours = await store.payoutsFor(
        tx,
        channel_id,
        rows.map(({ payout_id }) => payout_id),
        { from, to },
      )
      const count = await store.insertCases(tx, { day, channel_id }, differencesOf(day, rows, ours), now())
      if (count > 0) await tellKeepers(tx, { kind: 'split.case', text: texts.found(day, count), about: { kind: 'split.case', id, name: day } })
      await store.updateReconciliation(tx, id, {
        status: 'done',
        row_count: rows.length,
        file_hash: hash,
        failed: false,
        finished_at: before.file_hash === hash ? before.finished_at : now(),
      })
    })
  }
  /** What the channel has had for days and never ended. */
  const findStuck = (): Promise<void> =>
    db.transaction().execute(async (tx) => {
      const rows = await store.stuckPayouts(tx, new Date(now().getTime() - stuckMs))
      let count = 0
      for (const { id, amount, claimed_at, channel_id } of rows) {
        const stuck = {
          kind: 'stuck',
          key: id,
          payout_id: id,
          reference: '',
          ours: { amount: BigInt(amount), status: 'open' },
          theirs: null,
          at: null,
        } as const
        count += await store.insertCases(tx, { day: dayOf(claimed_at ?? now()), channel_id }, [stuck], now())
      }
      const [first] = rows
      if (count === 0 || first === undefined) return
      await tellKeepers(tx, {
        kind: 'split.case',
        text: texts.stuck(count),
        about: { kind: 'split.payout', id: first.id, name: toDecimal(BigInt(first.amount)) },
      })
    })
  /** Of a payout that never ended only the channel knows whether it has it: it has to say that it never heard of it. */
  const neverHeard = async (row: Pick<CaseRow, 'kind' | 'payout_id'>, exit: CaseRow['exit']): Promise<void> => {
    if (row.kind !== 'stuck' || exit !== 'wasNotPaid' || row.payout_id === null) return
    if ((await asked(row.payout_id)).status !== 'unknown') throw new Refusal('splitPayoutNotUnknown')
  }
  const asked = async (payoutId: string): Promise<PayoutAnswer> => {
    try {
      return await payouts.askAbout(payoutId)
    } catch (cause) {
      if (!isChannelTrouble(cause)) throw cause
      log.warn({ payout: payoutId, reason: cause.message }, 'the channel of payouts gave no answer that counts')
      throw new Refusal(cause instanceof PayoutRejected ? 'splitCaseDiffers' : 'splitChannelSilent', { cause })
    }
  }
  const run = async (signal?: AbortSignal): Promise<void> => {
    const isOver = (): boolean => signal?.aborted === true
    await findStuck()
    const readable = await channels.readable()
    for (const one of readable) await store.addDays(db, one.id, await store.daysMissing(db, one.id, lastDayOf(one, now()), daysAtOnce), false)
    for (;;) {
      if (isOver()) return
      const claimed =
        readable.length === 0
          ? undefined
          : await store.claimDay(
              db,
              readable.map(({ id }) => id),
              now(),
              patienceMs,
            )
      if (claimed === undefined) break
      try {
        await read(claimed)
      } catch (error) {
        if (!isChannelTrouble(error)) throw error
        log.warn({ day: claimed.day, reason: error.message }, 'a file of the channel of payouts could not be read')
        await store.updateReconciliation(db, claimed.id, { failed: true })
      }
    }
    await store.settleCases(db, now())
  }

  return {
    job: reconcileJob,
    jobHandler: handleJob(reconcileJob, (_, { signal }) => run(signal)),
    run,

    days: (query: QueryOf<Days['list']>) => shapedPage(store.listReconciliations(db, query), shapeDay),
    /** @throws Refusal 98214, 98220 */
    async again({ day }: BodyOf<Days['create']>): Promise<SplitReconciliation> {
      if (day >= dayOf(now())) throw new Refusal('splitDayOpen', { field: 'day' })
      if (!(await channels.enabled())) throw new Refusal('splitChannelMissing')
      await db.transaction().execute(async (tx) => {
        for (const one of await channels.readable()) if (day < lastDayOf(one, now())) await store.addDays(tx, one.id, [day], true)
        await jobs.send(tx, reconcileJob, {})
      })
      return shapeDay(found(await store.getReconciliation(db, day)))
    },

    list: (query: QueryOf<Cases['list']>) => shapedPage(store.listCases(db, query), shape),
    /** @throws Refusal 404, 90010, 98214, 98216, 98218, 98221, 98223 */
    async propose(actor: Actor, id: string, { exit, reason }: BodyOf<Cases['propose']>): Promise<SplitCase> {
      const before = found(await store.getCase(db, id))
      refuseUnless(caseCan.propose, before)
      await neverHeard(before, exit)
      return change(id, 'propose', async (tx, row) => {
        possible(exit, row, row.payout_id === null ? undefined : await lockPayoutOf(tx, row.payout_id))
        return { status: 'proposed', exit, reason, proposed_by: actor.user_id, proposed_by_name: actor.name }
      })
    },
    /** @throws Refusal 404, 1120, 90010, 91125, 98209, 98214, 98216, 98218, 98221, 98222, 98223 */
    async decide(actor: Actor, id: string, { agree, password }: BodyOf<Cases['decide']>): Promise<SplitCase> {
      if (agree) await prove(actor, password)
      const before = found(await store.getCase(db, id))
      refuseUnless(caseCan.decide, before)
      if (before.proposed_by === actor.user_id) throw new Refusal('splitOwnApproval')
      if (agree) await neverHeard(before, before.exit)
      return change(id, 'decide', async (tx, row) => {
        if (row.proposed_by === actor.user_id) throw new Refusal('splitOwnApproval')
        if (!agree) return { status: 'open', exit: null, reason: '', proposed_by: null, proposed_by_name: null }
        const payout = row.payout_id === null ? undefined : await lockPayoutOf(tx, row.payout_id)
        const provider_id = payout?.provider_id ?? null
        if (provider_id !== null) await lockOwed(tx, provider_id)
        // What became of it since it was proposed is in the ledger already.
        const { exit, entries, payout: corrected } = possible(row.exit ?? 'accepted', row, payout)
        if (exit !== 'accepted') await post(tx, { provider_id, kind: exit, key: `${exit} ${id}`, run_id: null, note: row.reason, by: actor.name }, entries)
        if (corrected !== null && payout !== undefined)
          await payouts.correct(tx, payout, { ...corrected, at: row.theirs_at ?? payout.done_at ?? now(), reason: row.reason, by: actor.name })
        return { status: 'closed', decided_by: actor.user_id, decided_by_name: actor.name, closed_at: now() }
      })
    },
    /** @throws Refusal 404, 90010, 98214, 98216, 98217, 98219 */
    async ask(id: string): Promise<SplitCase> {
      const row = found(await store.getCase(db, id))
      refuseUnless(caseCan.ask, row)
      if (!caseAskable.includes(row.kind) || row.payout_id === null) throw new Refusal('splitCaseUnaskable')
      const payoutId = row.payout_id
      const answer = await asked(payoutId)
      return change(id, 'ask', async (tx) => {
        const payout = (await store.payoutsFor(tx, row.channel_id, [payoutId], { from: now(), to: now() })).get(payoutId)
        if (payout?.status !== answer.status || BigInt(payout.amount) !== answer.amount) throw new Refusal('splitCaseDiffers')
        return { status: 'closed', exit: 'settled', closed_at: now() }
      })
    },
  }
}
