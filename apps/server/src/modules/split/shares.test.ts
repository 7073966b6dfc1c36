import { wholeParts } from '@zhisuan/contract/split/contract'
import { describe, expect, it } from 'vitest'
import { adjustmentFor, shared, stepReached } from './shares.ts'

let seed = 41
const random = (below: number): number => {
  seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0
  return Math.floor((seed / 2 ** 32) * below)
}
/** Some parts that are a whole together. */
function someParts(count: number): number[] {
  const cuts = Array.from({ length: count - 1 }, () => random(wholeParts + 1)).toSorted((one, other) => one - other)
  return [...cuts, wholeParts].map((cut, index) => cut - (cuts[index - 1] ?? 0))
}
/** The same with fractions of decimals, unit by unit: slow, and written otherwise. */
function naively(amount: bigint, parts: readonly number[]): bigint[] {
  const shares = parts.map((part) => (amount * BigInt(part)) / 1_000_000n)
  const rest = (index: number): bigint => amount * BigInt(parts[index] ?? 0) - (shares[index] ?? 0n) * 1_000_000n
  const rests = parts.map((_, index) => rest(index))
  while (shares.reduce((sum, share) => sum + share, 0n) < amount) {
    let most = 0
    for (let index = 1; index < parts.length; index++) if ((rests[index] ?? 0n) > (rests[most] ?? 0n)) most = index
    shares[most] = (shares[most] ?? 0n) + 1n
    rests[most] = -1n
  }
  return shares
}

describe('an amount that is shared out', () => {
  it('is all given, and none of it twice: 30,000 contracts and amounts', () => {
    for (let round = 0; round < 30_000; round++) {
      const parts = someParts(2 + random(19))
      const amount = BigInt(random(2 ** 31)) * BigInt(1 + random(1_000))
      const shares = shared(amount, parts)
      expect(shares.reduce((sum, share) => sum + share, 0n)).toBe(amount)
      if (round % 50 === 0) expect(shares).toEqual(naively(amount, parts))
      // Nobody is further from what is theirs than a unit.
      for (const [index, share] of shares.entries()) {
        const exact = amount * BigInt(parts[index] ?? 0)
        if (share * BigInt(wholeParts) - exact >= BigInt(wholeParts) || exact - share * BigInt(wholeParts) >= BigInt(wholeParts))
          throw new Error(`round ${round}`)
      }
      // Taken back, nothing is left.
      const back = shared(-amount, parts)
      if (shares.some((share, index) => share + (back[index] ?? 0n) !== 0n)) throw new Error(`round ${round}`)
    }
  })

  it.each([
    [645n, [300_000, 700_000], [194n, 451n]],
    [1n, [333_333, 333_333, 333_334], [0n, 0n, 1n]],
    [2n, [500_000, 250_000, 250_000], [1n, 1n, 0n]],
    [100n, [wholeParts, 0], [100n, 0n]],
    [0n, [500_000, 500_000], [0n, 0n]],
    [-645n, [300_000, 700_000], [-194n, -451n]],
  ])('of those that are easily got wrong, number %#', (amount, parts, shares) => expect(shared(amount, parts)).toEqual(shares))
})

describe('a month', () => {
  it.each([
    [0n, 0],
    [100n, 0],
    [101n, 1],
    [1_000n, 1],
    [1_001n, 2],
  ])('with a base of %s has reached step %i of 0, 100 and 1,000', (base, reached) => expect(stepReached(base, [0n, 100n, 1_000n])).toBe(reached))

  it.each([
    ['between floor and cap', 50n, 10n, 100n, 0n],
    ['below the floor', 3n, 10n, 100n, 7n],
    ['above the cap', 130n, 10n, 100n, -30n],
    ['without either', 130n, null, null, 0n],
    ['below 0, with a floor', -5n, 0n, null, 5n],
  ])('%s', (_, earned, floor, cap, moved) => expect(adjustmentFor(earned, floor, cap)).toBe(moved))
})
