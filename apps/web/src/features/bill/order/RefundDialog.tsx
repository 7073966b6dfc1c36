import Alert from 'antd/es/alert'
import Modal from 'antd/es/modal'
import { orders, type Order } from '@zhisuan/contract/bill/order'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { toApiError } from '../../../api/client.ts'
import { useCall, useChange } from '../../../api/hooks.ts'
import { notify } from '../../../api/notify.ts'
import { errorText } from '../../../api/toasts.ts'
import { useReturnFocus } from '../../../kit/focus.ts'
import * as format from '../../../kit/format.ts'
import './order.css'
import { Sum } from './PayDialog.tsx'
import { touchedByOrder } from './touched.ts'

/** Gives back what was not used: how much that is now, before it is done. */
export function RefundDialog({ order, onClose }: { readonly order: Order; readonly onClose: () => void }) {
  const { t } = useTranslation('order')
  useReturnFocus()
  const [failed, setFailed] = useState<string | null>(null)
  const refund = useChange(orders.refund, { invalidates: touchedByOrder, silent: true })
  // Once it is given back there is nothing to ask about any more.
  const { data, error } = useCall(
    orders.refundPreview,
    { params: { id: order.id } },
    { silent: true, refreshMs: 5_000, enabled: !refund.isPending && !refund.isSuccess },
  )
  const refused = failed ?? (error === null ? null : errorText(error))
  const go = async (): Promise<void> => {
    setFailed(null)
    try {
      const { refunded_amount } = await refund.mutateAsync({ params: { id: order.id } })
      notify('success', t('refund.done', { amount: format.money(refunded_amount) }))
      onClose()
    } catch (thrown) {
      setFailed(errorText(toApiError(thrown)))
    }
  }
  return (
    <Modal
      open
      title={t('refund.title', { number: order.number })}
      okText={t('refund.ok')}
      okButtonProps={{ danger: true, disabled: data === undefined || error !== null }}
      confirmLoading={refund.isPending}
      onOk={go}
      onCancel={onClose}
      mask={{ closable: false }}
      width={480}
    >
      {refused !== null && <Alert type="error" showIcon className="zs-form-alert" title={refused} />}
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
    </Modal>
  )
}
