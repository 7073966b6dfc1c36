import { receiverKinds, receivers, type Receiver } from '@zhisuan/contract/omc/alarm'
import { lazy } from 'react'
import { useChange } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { col } from '../../kit/columns.tsx'
import { filter } from '../../kit/filters.ts'
import { ResourceTable } from '../../kit/ResourceTable.tsx'
import { useIsPlatform } from '../../session/user.ts'
import { deliveryTones, invalidatedByReceiver } from './alarmRules.ts'

const ReceiverDialog = lazy(() => import('./ReceiverDialog.tsx'))
const DeliveryList = lazy(() => import('./DeliveryList.tsx'))

/** Who is told of alarms, how, and whether the last message came. */
export function ReceiverTable() {
  const { t } = useTranslation('operations')
  const platform = useIsPlatform()
  const test = useChange(receivers.test, { invalidates: invalidatedByReceiver, silent: true })
  const remove = useChange(receivers.delete, { invalidates: invalidatedByReceiver, silent: true })
  return (
    <ResourceTable
      name="receivers"
      call={receivers.list}
      columns={[
        col.name<Receiver>('name', t('column.name'), ({ name }) => name, { sort: true }),
        col.text<Receiver>('kind', t('receiver.kind'), ({ kind }) => t(`receiver.kinds.${kind}`), { width: 110 }),
        col.text<Receiver>('target', t('receiver.target'), ({ target }) => target, { width: 240 }),
        col.number<Receiver>('alarms', t('receiver.alarms'), ({ alarm_count }) => alarm_count, { width: 90 }),
        col.status<Receiver>(
          'last',
          t('receiver.last'),
          ({ last }) =>
            last === null
              ? { tone: 'rest', text: t('receiver.never') }
              : { tone: deliveryTones[last.status], text: t(`delivery.status.${last.status}`), note: last.error },
          { width: 200 },
        ),
        col.organisation<Receiver>(t('column.organisation'), { when: platform }),
        col.date<Receiver>('created_at', t('column.created'), ({ created_at }) => created_at, { sort: true }),
      ]}
      passing={({ last }) => last?.status === 'waiting'}
      filters={[filter.oneOf('kind', t('receiver.kind'), receiverKinds, (one) => t(`receiver.kinds.${one}`)), filter.keyword(t('receiver.keyword'))]}
      rowActions={(receiver) => [
        {
          key: 'test',
          call: receivers.test,
          label: t('receiver.test'),
          doneText: t('receiver.tested', { name: receiver.name }),
          run: () => test.mutateAsync({ params: { id: receiver.id } }),
        },
        { key: 'deliveries', call: receivers.deliveries, label: t('delivery.title'), dialog: (close) => <DeliveryList receiver={receiver} onClose={close} /> },
        { key: 'edit', call: receivers.update, label: t('edit'), dialog: (close) => <ReceiverDialog receiver={receiver} onClose={close} /> },
        {
          key: 'delete',
          call: receivers.delete,
          label: t('delete'),
          danger: true,
          confirm: { title: t('receiver.deleteTitle', { name: receiver.name }), body: t('receiver.deleteBody', { count: receiver.alarm_count }) },
          doneText: t('isDeleted', { name: receiver.name }),
          run: () => remove.mutateAsync({ params: { id: receiver.id } }),
        },
      ]}
      create={{ call: receivers.create, label: t('receiver.create'), plain: true, dialog: (close) => <ReceiverDialog receiver={null} onClose={close} /> }}
      empty={{ title: t('receiver.empty'), note: t('receiver.emptyNote') }}
    />
  )
}
