import type { LedgerAccount, LedgerKind, Wallet } from '@zhisuan/contract/bill/account'
import { toDecimal } from '@zhisuan/contract/bill/money'
import type { Sql, Tx } from '../../../platform/db/database.ts'
import { found, Refusal } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import * as store from './ledger.store.ts'
import type { Balances, Standing } from './ledger.store.ts'

/** A payment as somebody asks for it. Amounts are minor units, above 0. */
export interface Payment {
  owner_id: string
  amount: bigint
  /** The same key again is the same payment, and moves nothing more. */
  key: string
  note?: string
  /** Of usage: the day of Beijing on which it was. */
  used_on?: string
  /** Absent: the platform itself. */
  by?: { id: string; name: string }
}

type Amounts = Partial<Record<LedgerAccount, bigint>>

const of = (balances: Balances, account: LedgerAccount): bigint => balances[account] ?? 0n
const least = (left: bigint, right: bigint): bigint => (left < right ? left : right)

/** What the owner has, less what they owe. */
export const balanceOf = ({ balances }: Standing): bigint => of(balances, 'wallet') + of(balances, 'credit') + of(balances, 'receivable')

/** What an order may cost: nothing while something is in arrears. */
export function availableOf({ balances, creditLimit }: Standing): bigint {
  return of(balances, 'receivable') < 0n ? 0n : of(balances, 'wallet') + of(balances, 'credit') + creditLimit
}

export const shapeWallet = (id: string, name: string, standing: Standing): Wallet => ({
  id,
  name,
  balance: toDecimal(balanceOf(standing)),
  funds: toDecimal(of(standing.balances, 'wallet')),
  held: toDecimal(of(standing.balances, 'held')),
  credit_limit: toDecimal(standing.creditLimit),
  credit_used: toDecimal(-of(standing.balances, 'credit')),
  arrears: toDecimal(-of(standing.balances, 'receivable')),
  available: toDecimal(availableOf(standing)),
})

/** Comes in: first what is owed, oldest kind of debt first, the rest into the wallet. */
function receive({ balances }: Standing, amount: bigint): Amounts {
  const receivable = least(amount, -of(balances, 'receivable'))
  const credit = least(amount - receivable, -of(balances, 'credit'))
  return { receivable, credit, wallet: amount - receivable - credit }
}

/** Goes out: first the funds, then credit. What is left is what neither could pay. */
function spend({ balances, creditLimit }: Standing, amount: bigint): { amounts: Amounts; left: bigint } {
  const wallet = least(amount, of(balances, 'wallet'))
  const credit = least(amount - wallet, creditLimit + of(balances, 'credit'))
  return { amounts: { wallet: -wallet, credit: -credit }, left: amount - wallet - credit }
}

/** What has to be paid now or not at all. @throws Refusal 24011 */
function spendAll(standing: Standing, amount: bigint): Amounts {
  if (amount > availableOf(standing)) throw new Refusal('balanceInsufficient')
  return spend(standing, amount).amounts
}

/**
 * Moves money, in the caller's transaction. Each movement holds the owner's account until that
 * ends, so nothing is spent twice; what the rules here forget, the ledger's own bounds refuse.
 */
export const ledger = {
  /** @throws Refusal 404 */
  standing: async (on: Sql, ownerId: string): Promise<Standing> => found((await store.standings(on, [ownerId])).get(ownerId)),

  /** Money paid in. @throws Refusal 404, 96010 */
  topUp: (tx: Tx, payment: Payment) => move(tx, 'topup', payment, (standing) => ({ ...receive(standing, payment.amount), funds: -payment.amount })),

  /** Pays for an order at once. @throws Refusal 404, 24011, 96010 */
  pay: (tx: Tx, payment: Payment) => move(tx, 'order', payment, (standing) => ({ ...spendAll(standing, payment.amount), revenue: payment.amount })),

  /** What was paid for and not delivered, or given back. @throws Refusal 404, 96010 */
  refund: (tx: Tx, payment: Payment) => move(tx, 'refund', payment, (standing) => ({ ...receive(standing, payment.amount), refunds: -payment.amount })),

  /** Given by hand, or taken where the amount is below 0. @throws Refusal 404, 24011, 96010 */
  adjust: (tx: Tx, payment: Payment) =>
    move(tx, 'adjustment', payment, (standing) => ({
      ...(payment.amount > 0n ? receive(standing, payment.amount) : spendAll(standing, -payment.amount)),
      adjustments: -payment.amount,
    })),

  /** Sets money aside; {@link ledger.capture} or {@link ledger.release} ends it. @throws Refusal 404, 24011, 96010 */
  hold: (tx: Tx, payment: Payment) => move(tx, 'hold', payment, (standing) => ({ ...spendAll(standing, payment.amount), held: payment.amount })),

  /** What was held was delivered. @throws Refusal 404, 96011 */
  capture: (tx: Tx, end: HoldEnd) => endHold(tx, 'capture', end, (_, amount) => ({ revenue: amount })),

  /** What was held was not. @throws Refusal 404, 96011 */
  release: (tx: Tx, end: HoldEnd) => endHold(tx, 'release', end, (standing, amount) => receive(standing, amount)),

  /**
   * What was used has to be paid: what funds and credit cannot, stays in arrears. Below 0: what
   * was charged too much comes back.
   * @throws Refusal 404, 96010
   */
  chargeUsage: (tx: Tx, payment: Payment) => {
    const { amount } = payment
    if (amount < 0n) return move(tx, 'usageCorrection', payment, (standing) => ({ ...receive(standing, -amount), revenue: amount }))
    return move(tx, 'usage', payment, (standing) => {
      const { amounts, left } = spend(standing, amount)
      return { ...amounts, receivable: -left, revenue: amount }
    })
  },

  /**
   * What is in arrears and the new limit has room for is owed on credit from then on: else a limit
   * that is high enough would leave an organisation suspended.
   * @throws Refusal 404, 96009
   */
  async setCreditLimit(tx: Tx, ownerId: string, limit: bigint, by?: Payment['by']): Promise<void> {
    const { balances } = await lock(tx, ownerId)
    if (limit < 0n || limit < -of(balances, 'credit')) throw new Refusal('creditLimitTooLow', { field: 'credit_limit' })
    await store.setLimit(tx, ownerId, limit)
    const lent = least(-of(balances, 'receivable'), limit + of(balances, 'credit'))
    if (lent > 0n)
      await move(tx, 'adjustment', { owner_id: ownerId, amount: lent, key: uuidv7(), ...(by !== undefined && { by }) }, () => ({
        receivable: lent,
        credit: -lent,
      }))
  },
} as const

export interface HoldEnd {
  owner_id: string
  /** The id that the hold's movement has. */
  hold_id: string
  note?: string
  by?: { id: string; name: string }
}

async function lock(tx: Tx, ownerId: string): Promise<Standing> {
  if (!(await store.lockOwner(tx, ownerId))) throw new Refusal('notFound')
  return ledger.standing(tx, ownerId)
}

/** Answers the movement's id; of one that was made before, that one's. */
async function move(
  tx: Tx,
  kind: LedgerKind,
  { owner_id, amount, key, note = '', used_on, by }: Payment,
  amountsOf: (standing: Standing) => Amounts,
  ends: string | null = null,
): Promise<string> {
  if (amount === 0n) throw new Refusal('amountZero', { field: 'amount' })
  const standing = await lock(tx, owner_id)
  // Whoever made it held the same lock, so it is there or it is not.
  const request = [kind, amount, ends ?? ''].join(' ')
  const before = await store.movementByKey(tx, owner_id, key)
  if (before !== undefined) {
    if (before.request !== request) throw new Refusal('paymentKeyReused', { field: 'key' })
    return before.id
  }
  return store.insertMovement(tx, { owner_id, kind, key, request, note, ends, used_on: used_on ?? null, by: by ?? { id: null, name: '' } }, amountsOf(standing))
}

async function endHold(
  tx: Tx,
  kind: 'capture' | 'release',
  { hold_id, ...end }: HoldEnd,
  amountsOf: (standing: Standing, amount: bigint) => Amounts,
): Promise<string> {
  await lock(tx, end.owner_id)
  const hold = found(await store.holdOf(tx, end.owner_id, hold_id))
  const key = `${kind} ${hold_id}`
  // The same end again is no other.
  if (hold.ended && (await store.movementByKey(tx, end.owner_id, key)) === undefined) throw new Refusal('holdEnded')
  return move(tx, kind, { ...end, amount: hold.amount, key }, (standing) => ({ ...amountsOf(standing, hold.amount), held: -hold.amount }), hold_id)
}
