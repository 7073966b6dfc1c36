import { wholeParts } from '@zhisuan/contract/split/contract'

/**
 * Shares an amount out, so that the shares are all of it: each party has its part rounded down, and what is left goes, a unit
 * each, to those whose rounding took the most (largest remainder); of equal ones to the first.
 * @param amount minor units; below 0 it is taken back by the same shares
 * @param parts millionths, {@link wholeParts} together
 */
export function shared(amount: bigint, parts: readonly number[]): bigint[] {
  if (amount < 0n) return shared(-amount, parts).map((share) => -share)
  const whole = BigInt(wholeParts)
  const exact = parts.map((part) => amount * BigInt(part))
  const shares = exact.map((one) => one / whole)
  let left = amount - shares.reduce((sum, share) => sum + share, 0n)
  const order = exact
    .map((one, index) => ({ index, rest: one % whole }))
    .toSorted((one, other) => (one.rest === other.rest ? one.index - other.index : one.rest > other.rest ? -1 : 1))
  for (const { index } of order) {
    if (left === 0n) break
    shares[index] = (shares[index] ?? 0n) + 1n
    left -= 1n
  }
  return shares
}

/** Which step a base of a month has reached. @param above where each begins, ascending, the first 0 */
export function stepReached(base: bigint, above: readonly bigint[]): number {
  let reached = 0
  for (const [index, from] of above.entries()) if (base > from) reached = index
  return reached
}

/** What has to move from the platform to the provider so that floor and cap of a month hold; below 0 the other way. */
export function adjustmentFor(earned: bigint, floor: bigint | null, cap: bigint | null): bigint {
  if (floor !== null && earned < floor) return floor - earned
  if (cap !== null && earned > cap) return cap - earned
  return 0n
}
