import Button from 'antd/es/button'
import Popover from 'antd/es/popover'
import { previewHours, type BillingPeriod, type quoteLine } from '@zhisuan/contract/bill/catalogue'
import { meters, variantText } from '@zhisuan/contract/bill/meter'
import { toDecimal, toMinor } from '@zhisuan/contract/bill/money'
import type { TFunction } from 'i18next'
import { useTranslation } from '../../i18n.ts'
import type { z } from 'zod'
import * as format from '../format.ts'
import type { QuoteItem } from './items.ts'
import './price.css'
import { useQuote, type PartialQuote } from './useQuote.ts'

type QuoteLine = z.output<typeof quoteLine>

const names = (t: TFunction<'price'>, items: readonly QuoteItem[]): string =>
  items.map(({ meter, variant }) => (meter === 'volume.size' ? t(`meter.${meter}`) : `${t(`meter.${meter}`)} ${variantText(meter, variant)}`.trim())).join('、')
const timesOf = (amount: string, times: bigint): string => toDecimal(toMinor(amount) * times)

/** The parts of an amount, each with the formula that made it. */
export function QuoteLines({ lines, count }: { readonly lines: readonly QuoteLine[]; readonly count: number }) {
  const { t } = useTranslation('price')
  return (
    <table className="zs-price-lines">
      <thead>
        <tr>
          <th scope="col">{t('column.item')}</th>
          <th scope="col">{t('column.formula')}</th>
          <th scope="col" className="zs-price-amount">
            {t('column.amount')}
          </th>
        </tr>
      </thead>
      <tbody>
        {lines.map((line) => (
          <tr key={`${line.meter}/${line.variant}`}>
            <td>
              {t(`meter.${line.meter}`)} {variantText(line.meter, line.variant) !== '' && <span className="zs-soft">{line.variant}</span>}
            </td>
            <td className="zs-number">{formulaText(t, line, count)}</td>
            <td className="zs-number zs-price-amount">{line.amount}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function formulaText(t: TFunction<'price'>, line: QuoteLine, count: number): string {
  const unit = t(`unit.${meters[line.meter].unit}`)
  const parts = line.parts.map(({ units, price }) => `${units} ${unit} × ${price}`)
  const sum = parts.length > 1 ? `(${parts.join(' + ')})` : (parts[0] ?? '0')
  return [sum, ...(count > 1 ? [String(count)] : []), ...(line.fraction === '1.00' ? [] : [line.fraction])].join(' × ')
}

/**
 * What is chosen costs, and why; unpriced parts are named and are free.
 * @param items of one of them
 * @param times so many alike
 * @param bpId whose it is, where that may be another organisation than that of whoever looks
 */
export function Price({
  items,
  period,
  count = 1,
  times = 1,
  bpId = null,
}: {
  readonly items: readonly QuoteItem[]
  readonly period: BillingPeriod
  readonly count?: number
  readonly times?: number
  readonly bpId?: string | null
}) {
  const { t } = useTranslation('price')
  const { data, error } = useQuote(items, period, count, bpId)
  if (items.length === 0) return format.nothing
  if (data === undefined)
    return (
      <span className="zs-soft" aria-live="polite">
        {error === null ? t('pending') : t('failed')}
      </span>
    )
  const { quote, unpriced } = data
  const missing = unpriced.length > 0 && (period === 'hour' ? t('noneOf', { items: names(t, unpriced) }) : t('prepaidNone', { items: names(t, unpriced) }))
  if (quote === null) {
    return (
      <span className="zs-price">
        {period === 'hour' ? (
          <>
            {t('none')} <span className="zs-soft">{t('noneNote')}</span>
          </>
        ) : (
          <span className="zs-bad">{missing}</span>
        )}
      </span>
    )
  }
  // While it is typed it may be 1.5, or nothing that can be had: its field says so, and this is the price of one.
  const many = Number.isSafeInteger(times) && times > 0 ? BigInt(times) : 1n
  const amount = timesOf(quote.amount, many)
  const list = timesOf(quote.list_amount, many)
  return (
    <span className="zs-price" aria-live="polite">
      <strong className="zs-number">{period === 'hour' ? t('hour', { amount: format.rate(amount) }) : format.exactMoney(amount)}</strong>
      {list !== amount && <del className="zs-soft zs-number">{t('saved', { amount: period === 'hour' ? format.rate(list) : format.exactMoney(list) })}</del>}
      {period === 'hour' && (
        <span className="zs-soft zs-number">{t('monthly', { amount: format.money(timesOf(amount, BigInt(previewHours))), hours: previewHours })}</span>
      )}
      <Popover trigger="click" title={t('how')} content={<QuoteLines lines={quote.lines} count={count} />}>
        <Button type="link" size="small" className="zs-price-how">
          {t('how')}
        </Button>
      </Popover>
      {missing !== false && <span className={period === 'hour' ? 'zs-soft' : 'zs-bad'}>{missing}</span>}
    </span>
  )
}

/** What one of a list costs by the hour, and what that makes in a month. */
export function BriefPrice({ items, bpId = null }: { readonly items: readonly QuoteItem[]; readonly bpId?: string | null }) {
  const { t } = useTranslation('price')
  const { data, error } = useQuote(items, 'hour', 1, bpId)
  if (data === undefined) return <span className="zs-soft">{error === null ? '…' : t('failed')}</span>
  if (data.quote === null) return <span className="zs-soft">{t('none')}</span>
  const { amount } = data.quote
  return (
    <>
      {t('hour', { amount: format.rate(amount) })}
      <br />
      <span className="zs-soft">{t('monthly', { amount: format.money(timesOf(amount, BigInt(previewHours))), hours: previewHours })}</span>
    </>
  )
}

const hourly = (data: PartialQuote | undefined): bigint | null => (data === undefined ? null : toMinor(data.quote?.amount ?? '0.00'))

/** Before and after a resize. */
export function PriceChange({
  now,
  then,
  bpId = null,
}: {
  readonly now: readonly QuoteItem[]
  readonly then: readonly QuoteItem[]
  readonly bpId?: string | null
}) {
  const { t } = useTranslation('price')
  const [before, after] = [hourly(useQuote(now, 'hour', 1, bpId).data), hourly(useQuote(then, 'hour', 1, bpId).data)]
  const change = before === null || after === null ? null : after - before
  return (
    <div className="zs-price-change">
      <dl>
        <div>
          <dt>{t('now')}</dt>
          <dd>
            <Price items={now} period="hour" bpId={bpId} />
          </dd>
        </div>
        <div>
          <dt>{t('after')}</dt>
          <dd>
            <Price items={then} period="hour" bpId={bpId} />
          </dd>
        </div>
      </dl>
      <p className="zs-soft" aria-live="polite">
        {change !== null &&
          (change === 0n ? t('same') : t('change', { amount: `${change > 0n ? '+' : '-'}${format.rate(toDecimal(change > 0n ? change : -change))}` }))}{' '}
        {t('covered')}
      </p>
    </div>
  )
}
