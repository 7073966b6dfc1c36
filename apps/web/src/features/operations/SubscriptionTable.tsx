import { eventSubscriptions, type EventSubscription } from '@zhisuan/contract/omc/event'
import { kindText } from '@zhisuan/contract/kindTexts'
import { lazy } from 'react'
import { useChange } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { serviceText } from '../../kit/actionText.ts'
import { col } from '../../kit/columns.tsx'
import { filter } from '../../kit/filters.ts'
import { ResourceTable } from '../../kit/ResourceTable.tsx'
import { useIsPlatform } from '../../session/user.ts'

const SubscriptionDialog = lazy(() => import('./SubscriptionDialog.tsx'))

/** Who is told of which events, beside alarms. */
export function SubscriptionTable() {
  const { t } = useTranslation('operations')
  const platform = useIsPlatform()
  const remove = useChange(eventSubscriptions.delete, { invalidates: [eventSubscriptions.list], silent: true })
  /** Empty is all. */
  const about = ({ types, families, kinds, severities }: EventSubscription): string =>
    [
      ...types.map((one) => t(`event.types.${one}`)),
      ...families.map((one) => serviceText(one)),
      ...kinds.map((one) => kindText(one)),
      ...severities.map((one) => t(`alarm.severities.${one}`)),
    ].join('、') || t('subscription.everything')
  return (
    <ResourceTable
      name="eventSubscriptions"
      call={eventSubscriptions.list}
      columns={[
        col.name<EventSubscription>('name', t('column.name'), ({ name }) => name, { sort: true }),
        col.status<EventSubscription>(
          'enabled',
          t('column.status'),
          ({ enabled }) => ({ tone: enabled ? 'good' : 'rest', text: t(enabled ? 'subscription.on' : 'subscription.off') }),
          { width: 100 },
        ),
        col.text<EventSubscription>('about', t('subscription.about'), about, { width: 260 }),
        col.text<EventSubscription>('receivers', t('subscription.receivers'), ({ receivers }) => receivers.map(({ name }) => name).join('、'), { width: 220 }),
        col.organisation<EventSubscription>(t('column.organisation'), { when: platform }),
        col.text<EventSubscription>('created_by', t('subscription.by'), ({ created_by }) => created_by, { width: 120 }),
        col.date<EventSubscription>('created_at', t('column.created'), ({ created_at }) => created_at, { sort: true }),
      ]}
      filters={[filter.keyword(t('window.keyword'))]}
      rowActions={(subscription) => [
        {
          key: 'edit',
          call: eventSubscriptions.update,
          label: t('edit'),
          dialog: (close) => <SubscriptionDialog subscription={subscription} onClose={close} />,
        },
        {
          key: 'delete',
          call: eventSubscriptions.delete,
          label: t('delete'),
          danger: true,
          confirm: { title: t('subscription.deleteTitle', { name: subscription.name }), body: t('subscription.deleteBody') },
          doneText: t('isDeleted', { name: subscription.name }),
          run: () => remove.mutateAsync({ params: { id: subscription.id } }),
        },
      ]}
      create={{
        call: eventSubscriptions.create,
        label: t('subscription.create'),
        plain: true,
        dialog: (close) => <SubscriptionDialog subscription={null} onClose={close} />,
      }}
      empty={{ title: t('subscription.empty'), note: t('subscription.emptyNote') }}
    />
  )
}
