import type * as contract from '@zhisuan/contract/bill/catalogue'
import { toDecimal } from '@zhisuan/contract/bill/money'
import type { BodyOf, ResponseOf } from '@zhisuan/contract/define'
import type { Sql } from '../../../platform/db/database.ts'
import { Refusal } from '../../../platform/errors.ts'
import { readTariff } from './catalogue.store.ts'
import { amountOf, createTariff, formulaOf, wholeFraction } from './tariff.ts'

export type Quote = ResponseOf<typeof contract.quotes.ask>

/** Of a discount as payloads carry it: `0.85`. */
export const fractionText = (fraction: number): string => toDecimal(BigInt(fraction) * (10n ** 8n / BigInt(wholeFraction)))

/** What something costs somebody at a moment. @throws Refusal 24007 naming the first item without a price */
export async function quoteAt(on: Sql, wish: Omit<BodyOf<typeof contract.quotes.ask>, 'bp_id'> & { bp_id: string }, moment: Date): Promise<Quote> {
  const tariff = createTariff(await readTariff(on, wish.period))
  const unpriced: number[] = []
  const priced = wish.items.flatMap(({ meter, variant, quantity }, index) => {
    const terms = tariff.at({ meter, variant, bp_id: wish.bp_id, period: wish.period }, moment.getTime() / 1000)
    if (terms === null) {
      if (!wish.partial) throw new Refusal('productNotPriced', { field: `items.${index}` })
      unpriced.push(index)
      return []
    }
    const fraction = terms.discount?.fraction ?? wholeFraction
    const cost = (paid: number): bigint => amountOf(meter, terms.price.tiers, quantity, { of: wish.count, whole: 1 }, paid)
    return [
      {
        meter,
        variant,
        sku: { id: terms.sku.id, name: terms.sku.name },
        quantity,
        parts: formulaOf(meter, terms.price.tiers, quantity),
        fraction,
        list: cost(wholeFraction),
        cost: cost(fraction),
      },
    ]
  })
  const sum = (amounts: readonly bigint[]): string => toDecimal(amounts.reduce((total, amount) => total + amount, 0n))
  return {
    period: wish.period,
    count: wish.count,
    list_amount: sum(priced.map(({ list }) => list)),
    amount: sum(priced.map(({ cost }) => cost)),
    lines: priced.map(({ list, cost, fraction, ...line }) => ({
      ...line,
      fraction: fractionText(fraction),
      list_amount: toDecimal(list),
      amount: toDecimal(cost),
    })),
    unpriced,
  }
}
