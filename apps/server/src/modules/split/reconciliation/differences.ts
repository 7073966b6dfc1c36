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
  /** As the channel names the payout, which may be none of ours. */
  readonly named: string
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

/** A line of a file, and the how manieth of its payment it is in its file, from 0: a payment that stands there twice was made twice. */
export interface StatementLine extends StatementRow {
  readonly number: number
}
export function numbered(rows: readonly StatementRow[]): StatementLine[] {
  const counts = new Map<string, number>()
  return rows.map((row) => {
    const key = `${row.payout_id} ${row.reference} ${row.status}`
    const number = counts.get(key) ?? 0
    counts.set(key, number + 1)
    return { ...row, number }
  })
}
/** What happened first comes first; what came back at the moment at which it was paid was paid before. */
const inOrder = <Line extends StatementLine>(lines: readonly Line[]): Line[] =>
  lines.toSorted((one, other) => one.at.getTime() - other.at.getTime() || Number(one.status === 'returned') - Number(other.status === 'returned'))

/**
 * By which payment a payout is paid, as far as is known: the one that it was paid by, else the first that any file has of it; empty
 * where there is none.
 */
export function ownReference(payout: Pick<PayoutRow, 'status' | 'reference'>, lines: readonly StatementLine[]): string {
  if (payout.reference !== '' && (payout.status === 'done' || payout.status === 'returned')) return payout.reference
  const payments = inOrder(lines).filter(({ status }) => status !== 'failed')
  return (payments.find(({ reference }) => reference === payout.reference) ?? payments[0])?.reference ?? ''
}
const isOwn = ({ reference, number, status }: StatementLine, own: string): boolean => status === 'failed' || (number === 0 && reference === own)

/** What payments that are not the payout's own really come to, minor units: paid, and not come back. */
export function paidBeside(own: string | null, lines: readonly StatementLine[]): bigint {
  const payments = Map.groupBy(lines, ({ reference, number }) => `${number} ${reference}`)
  let sum = 0n
  for (const of of payments.values()) {
    const [first] = of
    if (first === undefined || (own !== null && first.number === 0 && first.reference === own)) continue
    const done = of.find(({ status }) => status === 'done')
    const returned = inOrder(of).findLast(({ status }) => status === 'returned')
    if (done !== undefined && inOrder(of).findLast(({ status }) => status !== 'failed')?.status === 'done') sum += done.amount
    else if (done !== undefined && returned !== undefined) sum += done.amount - returned.amount
  }
  return sum
}

/** Whether a payout is by now what a line says, whenever it was. */
const isNow = ({ status, amount, reference, at }: StatementLine, payout: OurPayout): boolean => {
  if (amount !== BigInt(payout.amount)) return false
  if (status === 'failed') return payout.status === 'failed'
  if (reference !== payout.reference) return false
  return status === payout.status || (status === 'done' && payout.status === 'returned' && payout.ended_at !== null && at <= payout.ended_at)
}

/**
 * Compares a day's file with our payouts: those that it names, and those that ended on that day.
 * @param ours by their ids
 * @param elsewhere what files of other days have of them
 */
export function differencesOf(
  day: string,
  rows: readonly StatementRow[],
  ours: ReadonlyMap<string, OurPayout>,
  elsewhere: readonly StatementLine[] = [],
): Difference[] {
  const { from, to } = boundsOf(day)
  const named = Map.groupBy(numbered(rows), ({ payout_id }) => payout_id)
  const others = Map.groupBy(elsewhere, ({ payout_id }) => payout_id)
  const found: Difference[] = []
  const standing = new Set<string>()
  for (const [payout_id, lines] of named) {
    const payout = ours.get(payout_id)
    const state = payout === undefined ? null : stoodAt(payout, to)
    const mine = payout === undefined || state === null ? null : { amount: BigInt(payout.amount), status: state }
    const about = { named: payout_id, payout_id: mine === null ? null : payout_id, ours: mine }
    const of = ({ amount, status, reference, at }: StatementLine) => ({ reference, theirs: { amount, status }, at })
    const own = ownReference(payout ?? { status: 'asked', reference: '' }, mine === null ? lines : [...(others.get(payout_id) ?? []), ...lines])
    const [ownLines, more] = [inOrder(lines.filter((line) => isOwn(line, own))), lines.filter((line) => !isOwn(line, own))]
    // What else was paid was paid once more, on whichever day.
    for (const payment of Map.groupBy(more, ({ reference, number }) => `${reference} ${number}`)) {
      const [key, [...parts]] = payment
      const last = inOrder(parts).at(-1)
      if (last !== undefined) found.push({ kind: 'double', key: `${payout_id} ${key}`, ...about, ...of(last) })
    }
    const last = ownLines.at(-1)
    if (last === undefined) continue
    if (payout === undefined || mine === null) {
      found.push({ kind: 'theirsOnly', key: payout_id, ...about, ...of(last) })
      continue
    }
    standing.add(payout_id)
    // One difference is one case: what is paid otherwise also stands otherwise, since we believed nobody.
    if (ownLines.some(({ amount }) => amount !== mine.amount)) found.push({ kind: 'amount', key: payout_id, ...about, ...of(last) })
    else if (last.status !== mine.status && !isNow(last, payout))
      found.push({ kind: last.status === 'returned' ? 'returned' : 'state', key: payout_id, ...about, ...of(last) })
  }
  const within = (at: Date | null): boolean => at !== null && at >= from && at < to
  for (const payout of ours.values()) {
    if (standing.has(payout.id) || !(within(payout.done_at) || within(payout.ended_at))) continue
    const state = stoodAt(payout, to)
    if (state === null || state === 'open') continue
    // Two people said so, since the channel knows nothing of it.
    if (state === 'failed' && payout.corrected > 0) continue
    const mine = { amount: BigInt(payout.amount), status: state }
    // Beside midnight a file may have it on the other side.
    if (others.get(payout.id)?.some((line) => line.number === 0 && line.status === state && line.amount === mine.amount && line.reference === payout.reference))
      continue
    found.push({
      kind: 'oursOnly',
      key: payout.id,
      named: payout.id,
      payout_id: payout.id,
      reference: payout.reference,
      ours: mine,
      theirs: null,
      at: null,
    })
  }
  return found
}
