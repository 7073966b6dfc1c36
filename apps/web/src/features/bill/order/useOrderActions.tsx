import { orders, type Order } from '@zhisuan/contract/bill/order'
import { useTranslation } from '../../../i18n.ts'
import { useChange } from '../../../api/hooks.ts'
import type { Action } from '../../../kit/actions.tsx'
import { refusedBy } from './orderText.ts'
import { PayDialog } from './PayDialog.tsx'
import { RefundDialog } from './RefundDialog.tsx'
import { RenewDialog } from './TermDialogs.tsx'
import { invalidatedByOrder } from './invalidated.ts'

/** What can be done to an order. */
export function useOrderActions(): (order: Order) => readonly Action[] {
  const { t } = useTranslation('order')
  const cancel = useChange(orders.cancel, { invalidates: invalidatedByOrder })
  return (order) => {
    if (order.kind === 'onDemand') return []
    return order.status === 'unpaid'
      ? [
          {
            key: 'pay',
            call: orders.pay,
            label: t('action.pay'),
            dialog: (close) => <PayDialog order={order} onClose={close} />,
            disabledReason: refusedBy(t, 'pay', order),
          },
          {
            key: 'cancel',
            call: orders.cancel,
            label: t('action.cancel'),
            danger: true,
            confirm: { title: t('cancelTitle', { number: order.number }), body: t('cancelBody'), keepText: t('keep') },
            doneText: t('cancelled', { number: order.number }),
            run: () => cancel.mutateAsync({ params: { id: order.id } }),
          },
        ]
      : [
          {
            key: 'renew',
            call: orders.renew,
            label: t('action.renew'),
            dialog: (close) => <RenewDialog order={order} onClose={close} />,
            disabledReason: refusedBy(t, 'renew', order),
          },
          {
            key: 'refund',
            call: orders.refund,
            label: t('action.refund'),
            danger: true,
            dialog: (close) => <RefundDialog order={order} onClose={close} />,
            disabledReason: refusedBy(t, 'refund', order),
          },
        ]
  }
}
