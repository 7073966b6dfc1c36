import type { CaseKind } from '@zhisuan/contract/split/reconciliation'
import type { StatementRow } from '../payout/channel.client.ts'
import type { PayoutRow } from '../payout/payout.store.ts'

/** A payout of ours, as far as a file can say something about it. */
export type OurPayout = Pick<PayoutRow, 'id' | 'amount' | 'status' | 'reference' | 'done_at' | 'ended_at' | 'corrected'>
type Ended = StatementRow['status']

/** What a file and our payouts do not agree about. */
export interface Difference {
  readonly kind: CaseKind
  /** By which it is the same however often the file is read. */
  readonly key: string
  readonly payout_id: string | null
  readonly reference: string
  /** Minor units, and how it stands. */
  readonly ours: { readonly amount: bigint; readonly status: string } | null
  readonly theirs: { readonly amount: bigint; readonly status: string } | null
  /** When that came to be, as the file says. */
  readonly at: Date | null
}

/** On which day of Beijing a moment is. */
export const dayOf = (at: Date): string => new Date(at.getTime() + 8 * 3_600_000).toISOString().slice(0, 10)
/** A day of Beijing. */
export const boundsOf = (day: string): { readonly from: Date; readonly to: Date } => {
  const from = new Date(`${day}T00:00:00+08:00`)
  return { from, to: new Date(from.getTime() + 86_400_000) }
}

/** How a payout stood when a day was over; null of what was never sent, `open` of what had not ended. */
function stoodAt(payout: OurPayout, to: Date): Ended | 'open' | null {
  if (payout.status === 'asked' || payout.status === 'withdrawn') return null
  const ended = payout.ended_at !== null && payout.ended_at < to
  if (ended && (payout.status === 'failed' || payout.status === 'returned')) return payout.status
  return payout.done_at !== null && payout.done_at < to ? 'done' : 'open'
}

/**
 * Compares a day's file with our payouts: those that it names, and those that ended on that day.
 * @param ours by their ids
 */
export function differencesOf(day: string, rows: readonly StatementRow[], ours: ReadonlyMap<string, OurPayout>): Difference[] {
  const { from, to } = boundsOf(day)
  const named = Map.groupBy(rows, ({ payout_id }) => payout_id)
  const found: Difference[] = []
  for (const [payout_id, lines] of named) {
    const payout = ours.get(payout_id)
    const state = payout === undefined ? null : stoodAt(payout, to)
    const payments = lines.filter(({ status }) => status === 'done')
    // The one that we know of, wherever it stands; what else was paid was paid once more.
    const paid = payments.find(({ reference }) => reference === payout?.reference) ?? payments[0]
    const more = payments.filter((line) => line !== paid)
    const last = lines.toSorted((one, other) => one.at.getTime() - other.at.getTime()).at(-1)
    if (last === undefined) continue
    const mine = payout === undefined || state === null ? null : { amount: BigInt(payout.amount), status: state }
    const about = { payout_id: mine === null ? null : payout_id, ours: mine }
    const of = ({ amount, status, reference, at }: StatementRow) => ({ reference, theirs: { amount, status }, at })
    for (const [index, line] of more.entries()) found.push({ kind: 'double', key: `${payout_id} ${line.reference} ${index}`, ...about, ...of(line) })
    if (payout === undefined || mine === null) {
      found.push({ kind: 'theirsOnly', key: payout_id, ...about, ...of(last) })
      continue
    }
    // One difference is one case: what is paid otherwise also stands otherwise, since we believed nobody.
    if (lines.some((line) => line.amount !== mine.amount && !more.includes(line))) {
      found.push({ kind: 'amount', key: payout_id, ...about, ...of(last) })
      continue
    }
    const isOther = paid !== undefined && payout.reference !== '' && paid.reference !== payout.reference
    if (last.status !== mine.status) found.push({ kind: last.status === 'returned' ? 'returned' : 'state', key: payout_id, ...about, ...of(last) })
    else if (isOther) found.push({ kind: 'state', key: payout_id, ...about, ...of(paid) })
  }
  const within = (at: Date | null): boolean => at !== null && at >= from && at < to
  for (const payout of ours.values()) {
    if (named.has(payout.id) || !(within(payout.done_at) || within(payout.ended_at))) continue
    const state = stoodAt(payout, to)
    if (state === null || state === 'open') continue
    // Two people said so, since the channel knows nothing of it.
    if (state === 'failed' && payout.corrected > 0) continue
    found.push({
      kind: 'oursOnly',
      key: payout.id,
      payout_id: payout.id,
      reference: payout.reference,
      ours: { amount: BigInt(payout.amount), status: state },
      theirs: null,
      at: null,
    })
  }
  return found
}

/** How much more was really paid than our ledger says; below 0 less. */
export function paidMore({ kind, ours, theirs }: Pick<Difference, 'kind' | 'ours' | 'theirs'>): bigint {
  const paid = (side: Difference['ours']): bigint => (side?.status === 'done' ? side.amount : 0n)
  // Its first payment is in order: what is too much is all of the second.
  return kind === 'double' ? paid(theirs) : paid(theirs) - paid(ours)
}
