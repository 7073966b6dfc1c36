import { proposedExits, type ProposedExit } from '@zhisuan/contract/split/reconciliation'
import type { PayoutStatus } from '@zhisuan/contract/split/payout'
import { providerParty, type Entry } from '../ledger/movements.ts'
import type { PayoutRow } from '../payout/payout.store.ts'
import { paidMore, type Difference } from './differences.ts'

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

type Case = Pick<Difference, 'kind' | 'reference' | 'ours' | 'theirs'>
type Payout = Pick<PayoutRow, 'amount' | 'status' | 'reference'>

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

/** The channel paid: what was paid otherwise than was asked for is owed less, or more. */
function wasPaid({ kind, reference, theirs }: Case, payout: Payout): Effect | null {
  const from = accountOf(payout)
  if (from === null || theirs?.status !== 'done' || theirs.amount <= 0n || kind === 'double') return null
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
function wasNotPaid({ kind, reference, theirs }: Case, payout: Payout): Effect | null {
  const from = accountOf(payout)
  if (from === null || from === 'payable' || kind === 'double' || theirs?.status === 'done') return null
  // Of nothing that a file lacks it is sure that it was not paid but of what we believe to be.
  if (theirs === null && kind !== 'oursOnly' && kind !== 'stuck') return null
  const [asked, party] = [BigInt(payout.amount), providerParty]
  const returned = theirs?.status === 'returned'
  const lost = returned ? asked - theirs.amount : 0n
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
 * What an exit would do as things are now; null where a case cannot end so.
 * @param payout as it is by now; undefined of what is none of ours
 */
export function effectOf(exit: ProposedExit, of: Case, payout: Payout | undefined): Effect | null {
  if (exit === 'accepted') return { exit, entries: [], payout: null }
  if (exit === 'writtenOff') {
    const ours = payout === undefined || accountOf(payout) === null ? of.ours : { amount: BigInt(payout.amount), status: payout.status }
    const amount = of.kind === 'stuck' ? 0n : paidMore({ ...of, ours })
    const party = payout === undefined ? {} : { party: providerParty }
    if (amount === 0n) return null
    return {
      exit,
      entries: [
        { account: 'paid', amount, ...party },
        { account: 'difference', amount: -amount, ...party },
      ],
      payout: null,
    }
  }
  if (payout === undefined) return null
  return exit === 'wasPaid' ? wasPaid(of, payout) : wasNotPaid(of, payout)
}

/** All that are possible as things are now. */
export const effectsOf = (of: Case, payout: Payout | undefined): Effect[] =>
  proposedExits.flatMap((exit) => {
    const effect = effectOf(exit, of, payout)
    return effect === null ? [] : [effect]
  })
