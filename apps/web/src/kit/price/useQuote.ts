import { quotes, type BillingPeriod } from '@zhisuan/contract/bill/catalogue'
import { meters, type Meter } from '@zhisuan/contract/bill/meter'
import { toMinor } from '@zhisuan/contract/bill/money'
import { useDeferredValue } from 'react'
import { useCall } from '../../api/hooks.ts'
import type { Billing } from './BillingMode.tsx'
import type { QuoteItem } from './items.ts'

/**
 * What something costs in a period, now; `unpriced` is what of it costs nothing.
 * @param bpId whose it is or will be, as discounts are organisations'; null: of whoever asks
 */
export function useQuote(items: readonly QuoteItem[], period: BillingPeriod, count = 1, bpId: string | null = null) {
  // Sizes are typed digit by digit.
  const asked = useDeferredValue(JSON.stringify([items.filter(({ quantity }) => quantity > 0), period, count, bpId]))
  const [parts, per, times, whose] = JSON.parse(asked) as [QuoteItem[], BillingPeriod, number, string | null]
  const { data, error } = useCall(
    quotes.ask,
    { body: { bp_id: whose, period: per, count: times, partial: true, items: parts } },
    { enabled: parts.length > 0, silent: true },
  )
  return {
    error,
    data: data === undefined ? undefined : { quote: data.lines.length === 0 ? null : data, unpriced: data.unpriced.flatMap((index) => parts[index] ?? []) },
  }
}

/** Whether a unit of a meter costs anything, by the hour or for a month. */
export function useIsPriced(meter: Meter, bpId: string | null = null): boolean {
  const items = [{ meter, variant: '', quantity: meters[meter].perUnit }]
  const quotes = [useQuote(items, 'hour', 1, bpId), useQuote(items, 'month', 1, bpId)]
  return quotes.some(({ data }) => toMinor(data?.quote?.amount ?? '0.00') > 0n)
}

export type PartialQuote = NonNullable<ReturnType<typeof useQuote>['data']>

/** Whether something cannot be ordered for a period in advance, as a part of it has no price then (24007); the price says which. */
export function useUnorderable(items: readonly QuoteItem[], { mode, count }: Billing, bpId: string | null = null): boolean {
  const { data } = useQuote(items, mode, count, bpId)
  return mode !== 'hour' && data !== undefined && data.unpriced.length > 0
}
