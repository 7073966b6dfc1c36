import { orderCan, type Order, type OrderStatus } from '@zhisuan/contract/bill/order'
import type { TFunction } from 'i18next'
import { allowed } from '../../../kit/allowed.ts'
import type { StatusTone } from '../../../kit/StatusTag.tsx'
import { pageOf } from '../../../kinds.ts'

export const orderTones: Readonly<Record<OrderStatus, StatusTone>> = {
  unpaid: 'warning',
  paid: 'busy',
  delivered: 'good',
  refunded: 'rest',
  cancelled: 'rest',
  expired: 'rest',
  charging: 'good',
  ended: 'rest',
}

/** Where what was ordered is looked at; null where it has no page, or is not made yet. */
export const pathOfOrdered = ({ type, id, name }: Order['resource']): string | null => (id === null ? null : pageOf(type, { id, name }))

/** An order by the hour has no term. */
export const termText = (t: TFunction<'order'>, { count, period }: Pick<Order, 'count' | 'period'>): string =>
  period === 'hour' ? t('kind.onDemand') : t('term', { count, period: t(`period.${period}`) })

/** Why something may not be done to an order now; null where it may. */
export const refusedBy = (t: TFunction<'order'>, action: keyof typeof orderCan, { status }: Pick<Order, 'status'>): string | null =>
  allowed(orderCan, action, status, t(`status.${status}`))

/** What is left until a moment: minutes and seconds. */
export function leftText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000))
  return seconds >= 3_600
    ? `${Math.floor(seconds / 3_600)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`
    : `${two(Math.floor(seconds / 60))}:${two(seconds % 60)}`
}
const two = (value: number): string => String(value).padStart(2, '0')
