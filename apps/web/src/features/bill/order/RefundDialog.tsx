import Alert from 'antd/es/alert'
import type { ResponseOf } from '@zhisuan/contract/define'
import { orders, type Order } from '@zhisuan/contract/bill/order'
import { useTranslation } from '../../../i18n.ts'
import { FormDialog, type Dialog } from '../../../kit/FormDialog.tsx'
import { useCall, useChange } from '../../../api/hooks.ts'
import { errorText } from '../../../api/toasts.ts'
import * as format from '../../../kit/format.ts'
import './order.css'
import { Sum } from './PayDialog.tsx'
import { invalidatedByOrder } from './invalidated.ts'

/** Gives back what was not used: how much that is now, before it is done. */
export function RefundDialog({ order, onClose }: Dialog<{ order: Order }>) {
  const { t } = useTranslation('order')
  const refund = useChange(orders.refund, { invalidates: invalidatedByOrder, silent: true })
  // Once it is given back there is nothing to ask about any more.
  const { data, error } = useCall(
    orders.refundPreview,
    { params: { id: order.id } },
    { silent: true, refreshMs: 5_000, enabled: !refund.isPending && !refund.isSuccess },
  )
  return (
    <FormDialog<object, ResponseOf<typeof orders.refund>>
      title={t('refund.title', { number: order.number })}
      okText={t('refund.ok')}
      danger
      okDisabled={data === undefined || error !== null}
      width={480}
      initialValues={{}}
      doneText={({ refunded_amount }) => t('refund.done', { amount: format.exactMoney(refunded_amount) })}
      onClose={onClose}
      onSubmit={() => refund.mutateAsync({ params: { id: order.id } })}
    >
      {error !== null && <Alert type="error" showIcon className="zs-above" title={errorText(error)} />}
      <dl className="or-sums" aria-busy={data === undefined}>
        <Sum label={t('refund.paid')} amount={data?.paid} />
        <div>
          <dt>{t('refund.unused')}</dt>
          <dd>
            {data === undefined
              ? format.nothing
              : t('refund.of', { unused: format.duration(data.unused_seconds * 1000), total: format.duration(data.total_seconds * 1000) })}
          </dd>
        </div>
        <Sum label={t('refund.amount')} amount={data?.amount} />
      </dl>
      <p className="zs-soft">{t('refund.note')}</p>
    </FormDialog>
  )
}
