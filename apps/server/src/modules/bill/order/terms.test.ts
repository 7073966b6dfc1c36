import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { uncovered, type PrepaidSpan } from '../rating/prepaid.ts'
import type { Interval } from '../metering/timeline.ts'
import { endOf, refundOf, unusedOf } from './terms.ts'

const at = (text: string): Date => new Date(`${text}+08:00`)

describe('the end of what is paid in advance', () => {
  it('is the same moment of a later month of Beijing, or its last day', () => {
    expect([
      endOf(at('2026-01-15T10:20:30'), 'month', 1),
      endOf(at('2026-01-31T00:00:00'), 'month', 1),
      endOf(at('2028-01-31T23:59:59'), 'month', 1),
      endOf(at('2026-11-30T07:00:00'), 'month', 3),
      endOf(at('2028-02-29T12:00:00'), 'year', 1),
      endOf(at('2026-12-01T03:00:00'), 'year', 3),
    ]).toEqual([
      at('2026-02-15T10:20:30'),
      at('2026-02-28T00:00:00'),
      at('2028-02-29T23:59:59'),
      at('2027-02-28T07:00:00'),
      at('2029-02-28T12:00:00'),
      at('2029-12-01T03:00:00'),
    ])
  })

  it('is counted from the day on which the time began, however it was paid', () => {
    const began = at('2027-01-31T10:00:00')
    const paidByOne = (period: 'month' | 'year', times: number, chain: Date): Date[] => {
      const ends: Date[] = []
      for (let time = 0; time < times; time++) ends.push(endOf(ends.at(-1) ?? chain, period, 1, chain))
      return ends
    }
    expect(paidByOne('month', 14, began).map((end) => new Date(end.getTime() + 8 * 3_600_000).toISOString().slice(0, 10))).toEqual([
      '2027-02-28',
      '2027-03-31',
      '2027-04-30',
      '2027-05-31',
      '2027-06-30',
      '2027-07-31',
      '2027-08-31',
      '2027-09-30',
      '2027-10-31',
      '2027-11-30',
      '2027-12-31',
      '2028-01-31',
      '2028-02-29',
      '2028-03-31',
    ])
    const leap = at('2028-02-29T23:30:00')
    expect(paidByOne('year', 4, leap)).toEqual([at('2029-02-28T23:30:00'), at('2030-02-28T23:30:00'), at('2031-02-28T23:30:00'), at('2032-02-29T23:30:00')])
    fc.assert(
      fc.property(
        fc.date({ min: at('2026-01-01T00:00:00'), max: at('2030-01-01T00:00:00'), noInvalidDate: true }),
        fc.array(fc.tuple(fc.constantFrom('month' as const, 'year' as const), fc.integer({ min: 1, max: 36 })), { minLength: 1, maxLength: 5 }),
        (moment, terms) => {
          const chain = new Date(Math.floor(moment.getTime() / 1000) * 1000)
          const months = terms.reduce((sum, [period, count]) => sum + count * (period === 'year' ? 12 : 1), 0)
          expect(terms.reduce((end, [period, count]) => endOf(end, period, count, chain), chain)).toEqual(endOf(chain, 'month', months))
        },
      ),
    )
  })
})

describe('what comes back', () => {
  it('is the unused seconds’ share, never more than was paid, and less the later', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 10n ** 15n), fc.integer({ min: 1, max: 10 ** 8 }), fc.integer({ min: 0, max: 10 ** 8 }), (paid, total, passed) => {
        const span = { from: new Date(0), to: new Date(total * 1000) }
        const back = (seconds: number): bigint => refundOf(paid, unusedOf(span, new Date(seconds * 1000)))
        const unused = BigInt(Math.max(0, total - passed))
        expect(back(passed)).toBe((paid * unused) / BigInt(total))
        expect(back(passed + 1) <= back(passed)).toBe(true)
        expect(back(0)).toBe(paid)
      }),
    )
  })
})

describe('what is not covered', () => {
  it('is, second by second, what is used beyond what is paid', () => {
    const interval = fc.record({
      quantity: fc.integer({ min: 1, max: 5 }),
      from: fc.integer({ min: 0, max: 40 }),
      length: fc.option(fc.integer({ min: 1, max: 40 }), { nil: null }),
    })
    const spans = fc
      .array(fc.record({ gap: fc.integer({ min: 0, max: 5 }), length: fc.integer({ min: 1, max: 15 }), quantity: fc.integer({ min: 0, max: 6 }) }), {
        maxLength: 6,
      })
      .map((all) => {
        let end = 0
        return all.map(({ gap, length, quantity }): PrepaidSpan => {
          const from = end + gap
          end = from + length
          return { from, to: end, usage: { 'vm.vcpu': quantity, 'vm.memory': 1 } }
        })
      })
    fc.assert(
      fc.property(interval, spans, ({ quantity, from, length }, paid) => {
        const used: Interval = {
          meter: 'vm.vcpu',
          variant: '',
          bp_id: 'bp',
          project_id: null,
          quantity,
          from,
          to: length === null ? null : from + length,
          attributes: null,
        }
        const left = uncovered([used], paid)
        for (let second = 0; second < 150; second++) {
          const uses = second >= from && (used.to === null || second < used.to) ? quantity : 0
          const covered = paid.find((one) => one.from <= second && second < one.to)?.usage['vm.vcpu'] ?? 0
          const billed = left.filter((one) => one.from <= second && (one.to === null || second < one.to))
          expect(
            billed.reduce((sum, one) => sum + one.quantity, 0),
            String(second),
          ).toBe(Math.max(0, uses - covered))
          expect(billed.length).toBeLessThan(2)
        }
        // Neighbours differ, so that nothing is cut where nothing changes.
        for (const [index, one] of left.entries()) expect(left[index + 1]?.from === one.to && left[index + 1]?.quantity === one.quantity).toBe(false)
      }),
    )
  })
})
