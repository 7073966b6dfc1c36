import Alert from 'antd/es/alert'
import { orders, type PrepaidKind } from '@zhisuan/contract/bill/order'
import { useTranslation } from '../../i18n.ts'
import { Link } from 'react-router'
import { useCall } from '../../api/hooks.ts'
import * as format from '../format.ts'
import { paths, withQuery } from '../../paths.ts'
import './price.css'

/** Until when one is paid, and the order that gives the rest back: by itself nothing does. */
export function PrepaidLostOne({ id }: { readonly id: string }) {
  const { t } = useTranslation('price')
  // Asked of the orders: of what is gone, while this is still open, they answer too.
  const { data } = useCall(orders.list, { query: { status: 'delivered', resource_id: id, page_size: 100 } }, { silent: true })
  const paying = (data?.items ?? [])
    .flatMap(({ id: order, covers }) => (covers !== null && Date.parse(covers.to) > Date.now() ? [{ order, until: covers.to }] : []))
    .toSorted((one, other) => Date.parse(one.until) - Date.parse(other.until))
  // Renewals are given back before what they renew.
  const last = paying.at(-1)
  if (last === undefined) return null
  return (
    <Alert
      type="warning"
      showIcon
      className="zs-price-lost"
      title={t('lost.one', { until: format.dateTime(last.until) })}
      description={
        <Link to={paths.billing.order.detail(last.order)}>{paying.length === 1 ? t('lost.toOrder') : t('lost.toLast', { count: paying.length })}</Link>
      }
    />
  )
}

/** How many of several are paid in advance. */
export function PrepaidLostMany({ type, ids }: { readonly type: PrepaidKind; readonly ids: readonly string[] }) {
  const { t } = useTranslation('price')
  const { data } = useCall(orders.list, { query: { status: 'delivered', resource_type: type, page_size: 1000 } }, { silent: true })
  if (data === undefined) return null
  const paid = new Set(
    data.items.flatMap(({ resource, covers }) => (resource.id !== null && covers !== null && Date.parse(covers.to) > Date.now() ? [resource.id] : [])),
  )
  const count = ids.filter((id) => paid.has(id)).length
  // Of more orders than one answer holds only the newest are known.
  const all = data.items.length === data.total
  if (count === 0 && all) return null
  return (
    <Alert
      type="warning"
      showIcon
      className="zs-price-lost"
      title={all ? t('lost.many', { count }) : t('lost.some')}
      description={<Link to={withQuery(paths.billing.order.list(), { status: 'delivered', resource_type: type })}>{t('lost.toOrders')}</Link>}
    />
  )
}
