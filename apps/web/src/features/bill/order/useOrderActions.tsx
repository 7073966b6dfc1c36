import { orders, type Order } from '@zhisuan/contract/bill/order'
import { useState, type ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { useChange } from '../../../api/hooks.ts'
import type { Action } from '../../../kit/actions.tsx'
import { refusedBy } from './orderText.ts'
import { PayDialog } from './PayDialog.tsx'
import { RefundDialog } from './RefundDialog.tsx'
import { RenewDialog } from './TermDialogs.tsx'
import { touchedByOrder } from './touched.ts'

/** What can be done to an order. */
export function useOrderActions(first: 'pay' | null = null): {
  readonly actionsOf: (order: Order) => readonly Action[]
  readonly dialogsOf: (order: Order | null) => ReactNode
} {
  const { t } = useTranslation('order')
  const [open, setOpen] = useState<{ readonly what: 'pay' | 'renew' | 'refund'; readonly order: Order | null } | null>(
    first === null ? null : { what: first, order: null },
  )
  const cancel = useChange(orders.cancel, { invalidates: touchedByOrder })
  const close = (): void => setOpen(null)
  return {
    actionsOf: (order) => {
      const shown = (what: 'pay' | 'renew' | 'refund') => () => void setOpen({ what, order })
      if (order.kind === 'onDemand') return []
      return order.status === 'unpaid'
        ? [
            { key: 'pay', label: t('action.pay'), run: shown('pay'), disabledReason: refusedBy(t, 'pay', order) },
            {
              key: 'cancel',
              label: t('action.cancel'),
              danger: true,
              confirm: { title: t('cancelTitle', { number: order.number }), body: t('cancelBody'), keepText: t('keep') },
              doneText: t('cancelled', { number: order.number }),
              run: () => cancel.mutateAsync({ params: { id: order.id } }),
            },
          ]
        : [
            { key: 'renew', label: t('action.renew'), run: shown('renew'), disabledReason: refusedBy(t, 'renew', order) },
            { key: 'refund', label: t('action.refund'), danger: true, run: shown('refund'), disabledReason: refusedBy(t, 'refund', order) },
          ]
    },
    // The page that was opened to pay tells its order when it has it.
    dialogsOf: (page) => {
      const order = open?.order ?? page
      if (open === null || order === null) return null
      if (open.what === 'renew') return <RenewDialog order={order} onClose={close} />
      if (open.what === 'refund') return <RefundDialog order={order} onClose={close} />
      return order.status === 'unpaid' ? <PayDialog order={order} onClose={close} /> : null
    },
  }
}
