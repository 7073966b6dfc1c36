import { orderKinds, orders, orderStatuses, type Order } from '@zhisuan/contract/bill/order'
import { kindApart, kindText } from '@zhisuan/contract/kindTexts'
import { useTranslation } from '../../../i18n.ts'
import { useChange } from '../../../api/hooks.ts'
import { col } from '../../../kit/columns.tsx'
import { filter } from '../../../kit/filters.ts'
import { ResourceTable } from '../../../kit/ResourceTable.tsx'
import { saveFrom } from '../../../kit/save.ts'
import { SaveButtons } from '../../../kit/SaveButtons.tsx'
import { paths } from '../../../paths.ts'
import { useIsPlatform } from '../../../session/user.ts'
import { billedKinds } from '../report/useNames.ts'
import { OrderState } from './OrderState.tsx'
import { pathOfOrdered, termText } from './orderText.ts'
import { PrepayDialog } from './TermDialogs.tsx'
import { useOrderActions } from './useOrderActions.tsx'

/** What was ordered, what of it waits to be paid, and what could not be renewed. */
export default function OrderList() {
  const { t } = useTranslation('order')
  const platform = useIsPlatform()
  const save = useChange(orders.export, { onDone: ({ path }) => saveFrom(path) })
  const actionsOf = useOrderActions()
  return (
    <ResourceTable
      call={orders.list}
      columns={[
        col.name<Order>('number', t('column.number'), ({ number }) => number, {
          sort: true,
          width: 120,
          to: ({ id }) => paths.order.detail(id),
          note: ({ automatic }) => (automatic ? t('automatic') : ''),
        }),
        col.custom<Order>('status', t('column.status'), (order) => <OrderState order={order} />, { sort: true, width: 150 }),
        col.text<Order>('resource', t('column.resource'), ({ resource }) => resource.name, { to: ({ resource }) => pathOfOrdered(resource), width: 180 }),
        col.text<Order>('resource_type', t('column.type'), ({ resource }) => kindText(resource.type), { width: 90 }),
        col.text<Order>('kind', t('column.kind'), ({ kind }) => t(`kind.${kind}`), { width: 90 }),
        col.text<Order>('term', t('column.term'), (order) => (order.kind === 'onDemand' ? null : termText(t, order)), { width: 90 }),
        col.charge<Order>('amount', t('column.amount'), ({ amount, kind }) => (kind === 'onDemand' ? null : amount), { sort: true, width: 120 }),
        col.charge<Order>('refunded', t('column.refunded'), ({ refunded_amount }) => refunded_amount, { width: 110, off: true }),
        col.organisation<Order>(t('column.organisation'), { when: platform, width: 140 }),
        col.text<Order>('by', t('column.by'), ({ created_by, kind }) => (created_by !== '' ? created_by : kind === 'onDemand' ? null : t('platform')), {
          width: 120,
          off: true,
        }),
        col.date<Order>('created_at', t('column.created'), ({ created_at }) => created_at, { sort: true }),
      ]}
      filters={[
        filter.keyword(t('keyword')),
        filter.oneOf('status', t('column.status'), orderStatuses, (value) => t(`status.${value}`)),
        filter.oneOf('kind', t('column.kind'), orderKinds, (value) => t(`kind.${value}`)),
        filter.oneOf('resource_type', t('column.type'), billedKinds, kindApart),
      ]}
      rowActions={actionsOf}
      create={platform ? null : { call: orders.create, label: t('action.prepay'), dialog: (close) => <PrepayDialog onClose={close} /> }}
      toolbar={(filters) => <SaveButtons pending={save.isPending} save={(format) => save.mutate({ body: { format, ...filters } })} />}
      empty={{ title: t('empty'), note: t('emptyNote') }}
    />
  )
}
