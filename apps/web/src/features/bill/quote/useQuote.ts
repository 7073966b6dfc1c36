import { quotes, type BillingPeriod } from '@zhisuan/contract/bill/catalogue'
import { useDeferredValue } from 'react'
import { useCall } from '../../../api/hooks.ts'
import type { QuoteItem } from './items.ts'

/** What something costs in a period, now; `unpriced` is what of it costs nothing. */
export function useQuote(items: readonly QuoteItem[], period: BillingPeriod, count = 1) {
  // Sizes are typed digit by digit.
  const asked = useDeferredValue(JSON.stringify([items.filter(({ quantity }) => quantity > 0), period, count]))
  const [parts, per, times] = JSON.parse(asked) as [QuoteItem[], BillingPeriod, number]
  const { data, error } = useCall(quotes.ask, { body: { period: per, count: times, partial: true, items: parts } }, { enabled: parts.length > 0, silent: true })
  return { error, data: data === undefined ? undefined : { quote: data.lines.length === 0 ? null : data, unpriced: data.unpriced.flatMap((index) => parts[index] ?? []) } }
}
export type PartialQuote = NonNullable<ReturnType<typeof useQuote>['data']>
