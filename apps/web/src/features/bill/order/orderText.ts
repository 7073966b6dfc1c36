import { orderCan, type Order, type OrderStatus, type PrepaidType } from '@zhisuan/contract/bill/order'
import type { TFunction } from 'i18next'
import { allowed } from '../../../kit/allowed.ts'
import type { StatusTone } from '../../../kit/StatusTag.tsx'
import { paths } from '../../../paths.ts'

export const orderTones: Readonly<Record<OrderStatus, StatusTone>> = { unpaid: 'warning', paid: 'busy', delivered: 'good', refunded: 'rest', cancelled: 'rest', expired: 'rest' }

/** Where what was ordered is looked at. */
export const resourcePath: Readonly<Record<PrepaidType, (id: string) => string>> = {
  vm: (id) => paths.nextstack.vm.detail(id),
  volume: (id) => paths.nextstack.volume.detail(id),
  eip: () => paths.nextstack.eip.list(),
}

export const termText = (t: TFunction<'order'>, { count, period }: Pick<Order, 'count' | 'period'>): string => t('term', { count, period: t(`period.${period}`) })

/** Why something may not be done to an order now; null where it may. */
export const refusedBy = (t: TFunction<'order'>, action: keyof typeof orderCan, { status }: Pick<Order, 'status'>): string | null => allowed(orderCan, action, status, t(`status.${status}`))

/** What is left until a moment: minutes and seconds. */
export function leftText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000))
  return seconds >= 3_600 ? `${Math.floor(seconds / 3_600)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}` : `${two(Math.floor(seconds / 60))}:${two(seconds % 60)}`
}
const two = (value: number): string => String(value).padStart(2, '0')
