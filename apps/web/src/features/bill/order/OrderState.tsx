import type { Order } from '@zhisuan/contract/bill/order'
import { useEffect, useState } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { StatusTag } from '../../../kit/StatusTag.tsx'
import { leftText, orderTones } from './orderText.ts'

/** The time, every second. */
export function useNow(): number {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000)
    return () => clearInterval(timer)
  }, [])
  return now
}

/** How long an order may still be paid. */
export function Countdown({ until }: { readonly until: string }) {
  const { t } = useTranslation('order')
  const left = Date.parse(until) - useNow()
  return <span className="zs-number">{left > 0 ? t('payWithin', { time: leftText(left) }) : t('overdue')}</span>
}

/** What an order is, and below it what has to be known of that. */
export function OrderState({ order }: { readonly order: Order }) {
  const { t } = useTranslation('order')
  const { status, error } = order
  return (
    <>
      <StatusTag tone={orderTones[status]}>{t(`status.${status}`)}</StatusTag>
      {status === 'unpaid' && error === null && (
        <div className="zs-name-note">
          <Countdown until={order.expires_at} />
        </div>
      )}
      {error !== null && (
        <div className="zs-name-note" title={error}>
          <span className="zs-cut">{error}</span>
        </div>
      )}
    </>
  )
}
