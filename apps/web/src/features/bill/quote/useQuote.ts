import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { quotes, type BillingPeriod } from '@zhisuan/contract/bill/catalogue'
import type { ResponseOf } from '@zhisuan/contract/define'
import { errors } from '@zhisuan/contract/errors'
import { useDeferredValue } from 'react'
import { request, toApiError, type ApiError } from '../../../api/client.ts'
import type { QuoteItem } from './items.ts'

export interface PartialQuote {
  /** Of what has a price; null where nothing has. */
  readonly quote: ResponseOf<typeof quotes.ask> | null
  readonly unpriced: readonly QuoteItem[]
}

/** Asks for all; what the server names as unpriced (24007) is left out, until the rest has its price. */
async function ask(items: readonly QuoteItem[], period: BillingPeriod, count: number, signal: AbortSignal): Promise<PartialQuote> {
  let left = [...items]
  const unpriced: QuoteItem[] = []
  while (left.length > 0) {
    try {
      return { quote: await request(quotes.ask, { body: { period, count, items: left }, signal }), unpriced }
    } catch (thrown) {
      const error = toApiError(thrown)
      const [, index] = /^items\.(\d+)$/.exec(error.fields[0]?.field ?? '') ?? []
      const without = index === undefined ? undefined : left[Number(index)]
      if (error.code !== errors.productNotPriced.code || without === undefined) throw error
      unpriced.push(without)
      left = left.filter((item) => item !== without)
    }
  }
  return { quote: null, unpriced }
}

/** What something costs in a period, now. */
export function useQuote(items: readonly QuoteItem[], period: BillingPeriod, count = 1) {
  // Sizes are typed digit by digit.
  const asked = useDeferredValue(JSON.stringify([items.filter(({ quantity }) => quantity > 0), period, count]))
  const [parts, per, times] = JSON.parse(asked) as [QuoteItem[], BillingPeriod, number]
  return useQuery<PartialQuote, ApiError>({
    queryKey: [quotes.ask.id, asked],
    queryFn: ({ signal }) => ask(parts, per, times, signal),
    enabled: parts.length > 0,
    placeholderData: keepPreviousData,
    meta: { silent: true },
  })
}
