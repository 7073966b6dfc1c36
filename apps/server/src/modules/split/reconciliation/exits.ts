import { proposedExits, type ProposedExit } from '@zhisuan/contract/split/reconciliation'
import type { PayoutStatus } from '@zhisuan/contract/split/payout'
import { providerParty, type Entry } from '../ledger/movements.ts'
import type { PayoutRow } from '../payout/payout.store.ts'
import { ownReference, paidBeside, type Difference, type StatementLine } from './differences.ts'

/** What an exit of a case does to the ledger and to its payout. */
export interface Effect {
  readonly exit: ProposedExit
  /** Rows of its movement; none: nothing moves. */
  readonly entries: readonly Entry[]
  /** Null: the payout stays as it is. */
  readonly payout: {
    readonly status: Extract<PayoutStatus, 'done' | 'failed' | 'returned'>
    /** Minor units that were really paid. */
    readonly amount: bigint
    readonly reference: string
  } | null
}

type Case = Pick<Difference, 'kind' | 'named' | 'reference' | 'ours' | 'theirs'>
type Payout = Pick<PayoutRow, 'amount' | 'status' | 'reference' | 'ended_at'>
/** What else is known of what a case is about. */
export interface Known {
  /** What all files that were read have of it. */
  readonly lines: readonly StatementLine[]
  /** Minor units of it that were written off before, as paid. */
  readonly writtenOff: bigint
  /** Whether it is a payout of ours that may still be sent through this channel, or was. */
  readonly isOurs: boolean
  /** When the channel's side came to be, as it says. */
  readonly at: Date | null
}

/** Where the money of a payout stands. */
const accountOf = ({ status }: Payout): 'transit' | 'paid' | 'payable' | null => {
  if (status === 'asked' || status === 'withdrawn') return null
  if (status === 'done') return 'paid'
  return status === 'failed' || status === 'returned' ? 'payable' : 'transit'
}

/** Of each account once, what is 0 left out. */
function merged(entries: readonly Entry[]): Entry[] {
  const sums = new Map<string, Entry>()
  for (const entry of entries) {
    const key = `${entry.account} ${entry.party}`
    sums.set(key, { ...entry, amount: (sums.get(key)?.amount ?? 0n) + entry.amount })
  }
  return [...sums.values()].filter(({ amount }) => amount !== 0n)
}

const lastOf = (reference: string, lines: readonly StatementLine[], status: StatementLine['status']): StatementLine | undefined =>
  lines.findLast((line) => line.number === 0 && line.reference === reference && line.status === status)
/** Whether what a case says is of the payment by which the payout is paid: of another one nothing follows for it. */
const isOwn = ({ reference }: Case, payout: Payout, { lines }: Known): boolean => {
  const own = ownReference(payout, lines)
  return own === '' || own === reference
}

/** The channel paid: what was paid otherwise than was asked for is owed less, or more. */
function wasPaid(of: Case, payout: Payout, known: Known): Effect | null {
  const { kind, reference, theirs } = of
  const from = accountOf(payout)
  if (from === null || theirs?.status !== 'done' || theirs.amount <= 0n || kind === 'double' || !isOwn(of, payout, known)) return null
  // It came back later, as we heard or as another file says.
  const isBack = payout.status === 'returned' && (known.at === null || payout.ended_at === null || payout.ended_at >= known.at)
  const back = lastOf(reference, known.lines, 'returned')
  if (isBack || (back !== undefined && known.at !== null && back.at >= known.at)) return null
  const [asked, party] = [BigInt(payout.amount), providerParty]
  const entries = merged([
    { account: from, amount: -asked, party },
    { account: 'payable', amount: asked - theirs.amount, party },
    { account: 'paid', amount: theirs.amount, party },
  ])
  if (entries.length === 0 && payout.status === 'done' && payout.reference === reference) return null
  return { exit: 'wasPaid', entries, payout: { status: 'done', amount: theirs.amount, reference } }
}

/** The channel did not pay, or has it back: all of it is owed again, and what a return lacks the platform bears. */
function wasNotPaid(of: Case, payout: Payout, known: Known): Effect | null {
  const { kind, reference, theirs } = of
  const from = accountOf(payout)
  if (from === null || from === 'payable' || kind === 'double' || theirs?.status === 'done') return null
  // Of nothing that a file lacks it is sure that it was not paid but of what we believe to be, and no other file has.
  if (theirs === null && ((kind !== 'oursOnly' && kind !== 'stuck') || known.lines.length > 0)) return null
  const returned = theirs?.status === 'returned'
  if (returned && !isOwn(of, payout, known)) return null
  const [asked, party] = [BigInt(payout.amount), providerParty]
  const lost = returned ? (lastOf(reference, known.lines, 'done')?.amount ?? asked) - theirs.amount : 0n
  return {
    exit: 'wasNotPaid',
    entries: merged([
      { account: from, amount: -asked, party },
      { account: 'payable', amount: asked, party },
      { account: 'paid', amount: lost },
      { account: 'difference', amount: -lost },
    ]),
    payout: { status: returned ? 'returned' : 'failed', amount: asked, reference: returned ? reference : payout.reference },
  }
}

/**
 * What was paid beside the payout's own payment is the platform's loss, less what was written off of it before: so of one payout nothing
 * is written off twice, and what comes back later is taken back. What its own payment did moves with the payout only.
 */
function writtenOff({ kind, theirs }: Case, payout: Payout | undefined, known: Known): Effect | null {
  if (theirs === null || (kind !== 'double' && kind !== 'theirsOnly')) return null
  // What is sent meanwhile, or was, is paid by this very payment.
  if (payout === undefined && known.isOurs) return null
  const left = leftBeside(payout, known)
  const amount = left > theirs.amount ? theirs.amount : left < -theirs.amount ? -theirs.amount : left
  if (amount === 0n) return null
  const party = payout === undefined ? {} : { party: providerParty }
  return {
    exit: 'writtenOff',
    entries: [
      { account: 'paid', amount, ...party },
      { account: 'difference', amount: -amount, ...party },
    ],
    payout: null,
  }
}
/** What was paid beside a payout's own payment and is in no book; below 0 what came back of what was written off. */
export const leftBeside = (
  payout: Pick<PayoutRow, 'status' | 'reference'> | undefined,
  { lines, writtenOff: before }: Pick<Known, 'lines' | 'writtenOff'>,
): bigint => paidBeside(payout === undefined ? null : ownReference(payout, lines), lines) - before

/**
 * What an exit would do as things are now; null where a case cannot end so.
 * @param payout as it is by now; undefined of what is none of ours
 */
export function effectOf(exit: ProposedExit, of: Case, payout: Payout | undefined, known: Known): Effect | null {
  if (exit === 'accepted') {
    // What never ends stays on the desk until it does.
    const isOpen = of.kind === 'stuck' && payout !== undefined && accountOf(payout) === 'transit'
    return isOpen ? null : { exit, entries: [], payout: null }
  }
  if (exit === 'writtenOff') return writtenOff(of, payout, known)
  if (payout === undefined) return null
  return exit === 'wasPaid' ? wasPaid(of, payout, known) : wasNotPaid(of, payout, known)
}

/** All that are possible as things are now. */
export const effectsOf = (of: Case, payout: Payout | undefined, known: Known): Effect[] =>
  proposedExits.flatMap((exit) => {
    const effect = effectOf(exit, of, payout, known)
    return effect === null ? [] : [effect]
  })
