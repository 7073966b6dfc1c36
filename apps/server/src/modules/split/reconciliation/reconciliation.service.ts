import { toDecimal } from '@zhisuan/contract/bill/money'
import {
  caseAskable,
  caseCan,
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
import type { Tell } from '../../sys/message/message.service.ts'
import { post, providerParty } from '../ledger/movements.ts'
import { PayoutRejected, type PayoutAnswer } from '../payout/channel.client.ts'
import { lockPayoutOf } from '../payout/payout.store.ts'
import type { PayoutChannels } from '../payout/channel.service.ts'
import { isChannelTrouble, type PayoutService } from '../payout/payout.service.ts'
import { boundsOf, differencesOf, paidMore, type Difference } from './differences.ts'
import * as store from './reconciliation.store.ts'
import type { CaseRow, ShownCase, ShownReconciliation } from './reconciliation.store.ts'
import { reconciliationTexts as texts } from './reconciliation.texts.ts'

type Cases = typeof splitCases
type Days = typeof splitReconciliations

/** A server that died with a file in hand is waited for no longer. */
const patienceMs = 5 * 60_000
const daysAtOnce = 31

export const reconcileJob = defineJob({ name: 'split.reconcile', input: z.object({}), concurrency: 1, schedule: '*/10 * * * *' })

export const dayOf = (at: Date): string => iso(new Date(at.getTime() + 8 * 3_600_000)).slice(0, 10)

/** Compares payouts with the channel's file of each day; each difference is a case that somebody ends. */
export function createReconciliations(
  { db, jobs, log, now }: Pick<Platform, 'db' | 'jobs' | 'log' | 'now'>,
  { channels, payouts, tell }: { channels: Pick<PayoutChannels, 'client' | 'enabled'>; payouts: Pick<PayoutService, 'askAbout'>; tell: Tell },
) {
  const sideOf = (amount: string | null, status: string | null): Difference['ours'] =>
    amount === null || status === null ? null : { amount: BigInt(amount), status }
  const sides = (row: CaseRow) => ({ kind: row.kind, ours: sideOf(row.ours_amount, row.ours_status), theirs: sideOf(row.theirs_amount, row.theirs_status) })
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
    reason: row.reason,
    proposed_by: row.proposed_by_name,
    decided_by: row.decided_by_name,
    created_at: iso(row.created_at),
    closed_at: isoOrNull(row.closed_at),
  })
  const shapeDay = ({ id, day, status, row_count, case_count, open_count, file_hash, failed, finished_at }: ShownReconciliation): SplitReconciliation => ({
    id,
    day,
    status,
    row_count,
    case_count,
    open_count,
    file_hash,
    failed,
    finished_at: isoOrNull(finished_at),
  })
  const get = async (id: string): Promise<SplitCase> => shape(found(await store.getCase(db, id)))
  const change = async (id: string, action: keyof typeof caseCan, act: (tx: Tx, row: CaseRow) => Promise<Partial<CaseRow>>): Promise<SplitCase> => {
    await db.transaction().execute(async (tx) => {
      const row = found(await store.lockCase(tx, id))
      refuseUnless(caseCan[action], row)
      await store.updateCase(tx, id, await act(tx, row))
    })
    return get(id)
  }

  /** All at once, or nothing: who reads the file again finds the same. */
  const read = async (id: string, day: string): Promise<void> => {
    const client = await channels.client()
    if (client === null) return
    const { rows, hash } = await client.statement(day)
    await db.transaction().execute(async (tx) => {
      const before = await store.lockReconciliation(tx, id)
      if (before?.status !== 'due') return
      if (before.file_hash !== hash) {
        const ours = await store.payoutsFor(
          tx,
          rows.map(({ payout_id }) => payout_id),
          boundsOf(day),
        )
        const count = await store.insertCases(tx, day, differencesOf(day, rows, ours), now())
        if (count > 0)
          await tell(tx, {
            kind: 'split.case',
            bp_id: null,
            text: texts.found(day, count),
            about: { kind: 'split.case', id, name: day },
            key: `${day} ${hash}`,
          })
      }
      await store.updateReconciliation(tx, id, {
        status: 'done',
        row_count: rows.length,
        file_hash: hash,
        failed: false,
        finished_at: before.file_hash === hash ? before.finished_at : now(),
      })
    })
  }
  const run = async (signal?: AbortSignal): Promise<void> => {
    const isOver = (): boolean => signal?.aborted === true
    if (!(await channels.enabled())) return
    const due = await store.daysMissing(db, dayOf(now()), daysAtOnce)
    await store.addDays(db, due, false)
    for (;;) {
      if (isOver()) return
      const claimed = await store.claimDay(db, now(), patienceMs)
      if (claimed === undefined) break
      try {
        await read(claimed.id, claimed.day)
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
        await store.addDays(tx, [day], true)
        await jobs.send(tx, reconcileJob, {})
      })
      return shapeDay(found(await store.getReconciliation(db, day)))
    },

    list: (query: QueryOf<Cases['list']>) => shapedPage(store.listCases(db, query), shape),
    /** @throws Refusal 404, 90010, 98218 */
    propose: (actor: Actor, id: string, { exit, reason }: BodyOf<Cases['propose']>) =>
      change(id, 'propose', async (_, row) => {
        if (exit === 'writtenOff' && paidMore(sides(row)) === 0n) throw new Refusal('splitNothingToWriteOff', { field: 'exit' })
        return { status: 'proposed', exit, reason, proposed_by: actor.user_id, proposed_by_name: actor.name }
      }),
    /** @throws Refusal 404, 90010, 98209 */
    decide: (actor: Actor, id: string, agree: boolean) =>
      change(id, 'decide', async (tx, row) => {
        if (row.proposed_by === actor.user_id) throw new Refusal('splitOwnApproval')
        if (!agree) return { status: 'open', exit: null, reason: '', proposed_by: null, proposed_by_name: null }
        if (row.exit === 'writtenOff') {
          // What became of it since it was proposed is in the ledger already.
          const payout = row.payout_id === null ? undefined : await lockPayoutOf(tx, row.payout_id)
          const was = sides(row)
          const amount = paidMore(payout === undefined ? was : { ...was, ours: { amount: BigInt(payout.amount), status: payout.status } })
          if (amount === 0n) throw new Refusal('splitNothingToWriteOff')
          const provider_id = (await store.getCase(tx, id))?.provider_id ?? null
          const party = provider_id === null ? {} : { party: providerParty }
          await post(tx, { provider_id, kind: 'writtenOff', key: `writtenOff ${id}`, run_id: null, note: row.reason, by: actor.name }, [
            { account: 'paid', amount, ...party },
            { account: 'difference', amount: -amount, ...party },
          ])
        }
        return { status: 'closed', decided_by: actor.user_id, decided_by_name: actor.name, closed_at: now() }
      }),
    /** @throws Refusal 404, 90010, 98214, 98216, 98217, 98219 */
    async ask(id: string): Promise<SplitCase> {
      const row = found(await store.getCase(db, id))
      refuseUnless(caseCan.ask, row)
      if (!caseAskable.includes(row.kind) || row.payout_id === null) throw new Refusal('splitCaseUnaskable')
      const payoutId = row.payout_id
      let answer: PayoutAnswer
      try {
        answer = await payouts.askAbout(payoutId)
      } catch (cause) {
        if (!isChannelTrouble(cause)) throw cause
        log.warn({ payout: payoutId, reason: cause.message }, 'the channel of payouts gave no answer that counts')
        throw new Refusal(cause instanceof PayoutRejected ? 'splitCaseDiffers' : 'splitChannelSilent', { cause })
      }
      return change(id, 'ask', async (tx) => {
        const payout = (await store.payoutsFor(tx, [payoutId], { from: now(), to: now() })).get(payoutId)
        if (payout?.status !== answer.status || BigInt(payout.amount) !== answer.amount) throw new Refusal('splitCaseDiffers')
        return { status: 'closed', exit: 'settled', closed_at: now() }
      })
    },
  }
}
