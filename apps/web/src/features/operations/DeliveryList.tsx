import { deliveryStatuses, receivers, type Delivery, type Receiver } from '@zhisuan/contract/omc/alarm'
import Drawer from 'antd/es/drawer'
import { useChange } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { col } from '../../kit/columns.tsx'
import { filter } from '../../kit/filters.ts'
import { useReturnFocus } from '../../kit/focus.ts'
import type { Dialog } from '../../kit/FormDialog.tsx'
import { ResourceTable } from '../../kit/ResourceTable.tsx'
import { deliveryTones, invalidatedByReceiver } from './alarmRules.ts'

/** What somebody was sent: each with its tries, and why it did not come. */
export default function DeliveryList({ receiver, onClose }: Dialog<{ receiver: Receiver }>) {
  const { t } = useTranslation('operations')
  useReturnFocus()
  const again = useChange(receivers.again, { invalidates: invalidatedByReceiver, silent: true })
  return (
    <Drawer open size={860} title={t('delivery.titleOf', { name: receiver.name })} onClose={onClose}>
      <ResourceTable
        name="deliveries"
        call={receivers.deliveries}
        input={{ params: { id: receiver.id } }}
        columns={[
          col.date<Delivery>('created_at', t('column.at'), ({ created_at }) => created_at, { sort: true }),
          col.text<Delivery>('what', t('delivery.what'), ({ summary }) => summary, { width: 280, note: ({ what }) => t(`delivery.whats.${what}`) }),
          col.status<Delivery>(
            'status',
            t('column.status'),
            ({ status, error }) => ({ tone: deliveryTones[status], text: t(`delivery.status.${status}`), note: error }),
            { width: 200 },
          ),
          col.number<Delivery>('attempts', t('delivery.attempts'), ({ attempts }) => attempts, { width: 70 }),
          col.date<Delivery>('sent_at', t('delivery.sent'), ({ sent_at }) => sent_at),
        ]}
        passing={({ status }) => status === 'waiting'}
        filters={[filter.oneOf('status', t('column.status'), deliveryStatuses, (one) => t(`delivery.status.${one}`))]}
        rowActions={({ id, status }) => [
          {
            key: 'again',
            call: receivers.again,
            label: t('delivery.again'),
            disabledReason: status === 'failed' ? null : t('delivery.onlyFailed'),
            doneText: t('delivery.againDone'),
            run: () => again.mutateAsync({ params: { id: receiver.id, delivery_id: id } }),
          },
        ]}
        empty={{ title: t('delivery.empty') }}
      />
    </Drawer>
  )
}
