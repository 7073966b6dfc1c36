import { orders } from '@zhisuan/contract/bill/order'
import { splitFigures, type FigureLine, type SplitFigures } from '@zhisuan/contract/split/provider'
import { Link } from 'react-router'
import { useTranslation } from '../../i18n.ts'
import { col } from '../../kit/columns.tsx'
import { filter } from '../../kit/filters.ts'
import * as format from '../../kit/format.ts'
import { ResourceTable } from '../../kit/ResourceTable.tsx'
import { paths } from '../../paths.ts'
import { useMayCall } from '../../session/user.ts'
import { meterText } from './splitTexts.ts'

/** By which order somebody has a machine; it leads there who may see it. */
export function OrderNumber({ order }: { readonly order: { readonly id: string; readonly number: string } | null }) {
  const mayOpen = useMayCall(orders.get)
  if (order === null) return <>{format.nothing}</>
  return mayOpen ? <Link to={paths.order.detail(order.id)}>{order.number}</Link> : <>{order.number}</>
}

/** The hours that figures are of: each with its cards, its machine and its order. */
export function SoldLines({
  of,
  days,
  models,
}: {
  readonly of: { readonly days: number; readonly provider_id?: string; readonly model?: string }
  readonly days: SplitFigures['days']
  readonly models: SplitFigures['models']
}) {
  const { t } = useTranslation('split')
  const names = [...new Set(models.map(({ model }) => model))]
  return (
    <ResourceTable
      name="lines"
      call={splitFigures.lines}
      input={{ query: of }}
      refreshMs={false}
      columns={[
        col.date<FigureLine>('from', t('column.at'), ({ from }) => from, { sort: true }),
        col.text<FigureLine>('model', t('column.model'), ({ model }) => model, { width: 210, note: ({ cards }) => cards.join(' ') }),
        col.text<FigureLine>('meter', t('column.meter'), ({ meter }) => meterText(t, meter), { width: 100 }),
        col.text<FigureLine>('rental', t('column.rental'), ({ rental }) => rental.name, { width: 140, note: ({ payer }) => payer }),
        col.custom<FigureLine>('order', t('column.order'), ({ order }) => <OrderNumber order={order} />, { width: 130 }),
        col.text<FigureLine>('provider', t('column.provider'), ({ provider }) => provider.name, { width: 140 }),
        col.charge<FigureLine>('amount', t('column.amount'), ({ amount }) => amount, { sort: true, width: 130 }),
      ]}
      filters={[
        filter.select(
          'day',
          t('column.day'),
          days.map(({ day }) => ({ value: day, label: day })),
        ),
        ...(of.model === undefined ? [filter.oneOf('model', t('column.model'), names)] : []),
      ]}
      empty={{ title: t('figures.nothing'), note: t('figures.linesNote') }}
    />
  )
}
