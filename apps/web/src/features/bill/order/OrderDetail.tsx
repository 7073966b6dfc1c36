import Alert from 'antd/es/alert'
import Button from 'antd/es/button'
import { previewHours } from '@zhisuan/contract/bill/catalogue'
import { toDecimal, toMinor } from '@zhisuan/contract/bill/money'
import { orders, prepaids, type OrderDetail as Detail } from '@zhisuan/contract/bill/order'
import { kindText } from '@zhisuan/contract/kindTexts'
import { useState } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { Link, useParams, useSearchParams } from 'react-router'
import { useOne, useCall, useChange } from '../../../api/hooks.ts'
import { notify } from '../../../api/notify.ts'
import { DetailPage } from '../../../kit/DetailPage.tsx'
import * as format from '../../../kit/format.ts'
import { StatusTag } from '../../../kit/StatusTag.tsx'
import { paths } from '../../../paths.ts'
import { QuoteLines } from '../../../kit/price/Price.tsx'
import { billMonthOf } from '../report/months.ts'
import './order.css'
import { Countdown } from './OrderState.tsx'
import { orderTones, pathOfOrdered, termText } from './orderText.ts'
import { invalidatedByOrder } from './invalidated.ts'
import { PayDialog } from './PayDialog.tsx'
import { useOrderActions } from './useOrderActions.tsx'

/** One order: what it is for, what it costs and why, and what became of it. */
export default function OrderDetail() {
  const { t } = useTranslation('order')
  const { id = '' } = useParams()
  const [search] = useSearchParams()
  const query = useOne(orders.get, { params: { id } }, { refreshMs: (order) => (order?.status === 'paid' ? 1_000 : 5_000) })
  const actionsOf = useOrderActions()
  // Where it was made, its page is opened to pay it.
  const [paying, setPaying] = useState(search.get('pay') !== null)
  return (
    <>
      <DetailPage
        query={query}
        gone={{ to: paths.billing.order.list() }}
        title={({ number }) => `${t('column.number')} ${number}`}
        status={({ status }) => <StatusTag tone={orderTones[status]}>{t(`status.${status}`)}</StatusTag>}
        actions={actionsOf}
        facts={(order) => [
          { key: 'resource', label: t('column.resource'), value: <Resource order={order} /> },
          { key: 'kind', label: t('column.kind'), value: t(`kind.${order.kind}`) },
          ...(order.kind === 'onDemand' ? [] : [{ key: 'term', label: t('column.term'), value: termText(t, order) }]),
          {
            key: 'amount',
            label: t('column.amount'),
            value: order.kind === 'onDemand' ? <Billed order={order} /> : <span className="zs-number">{format.exactMoney(order.amount)}</span>,
          },
          ...(order.list_amount === order.amount
            ? []
            : [
                {
                  key: 'list',
                  label: t('column.listAmount'),
                  value: <del className="zs-number">{format.exactMoney(order.list_amount)}</del>,
                },
              ]),
          ...(order.refunded_amount === null
            ? []
            : [
                {
                  key: 'refunded',
                  label: t('column.refunded'),
                  value: <span className="zs-number">{format.exactMoney(order.refunded_amount)}</span>,
                },
              ]),
          ...(order.kind === 'onDemand'
            ? []
            : [
                {
                  key: 'covers',
                  label: t('column.covers'),
                  value: order.covers === null ? format.nothing : `${format.dateTime(order.covers.from)} – ${format.dateTime(order.covers.to)}`,
                },
              ]),
          { key: 'organisation', label: t('column.organisation'), value: order.bp_name },
          { key: 'by', label: t('column.by'), value: order.created_by !== '' ? order.created_by : order.kind === 'onDemand' ? format.nothing : t('platform') },
          { key: 'created', label: t('column.created'), value: format.dateTime(order.created_at) },
        ]}
        notice={(order) => <Notice order={order} />}
      >
        {(order) => (
          <>
            {order.status === 'delivered' && order.resource.id !== null && <PrepaidCard id={order.resource.id} />}
            <section className="zs-card" aria-labelledby="order-lines">
              <h2 className="or-section" id="order-lines">
                {t('detail.lines')}
              </h2>
              {order.lines.length === 0 ? (
                <p className="zs-soft">{t('detail.free')}</p>
              ) : (
                <div className="or-lines">
                  <QuoteLines lines={order.lines} count={order.count} />
                </div>
              )}
              <p className="or-total">
                {t('detail.total')}{' '}
                {order.kind === 'onDemand' ? <AnHour order={order} /> : <strong className="zs-number">{format.exactMoney(order.amount)}</strong>}
              </p>
            </section>
            <section className="zs-card" aria-labelledby="order-history">
              <h2 className="or-section" id="order-history">
                {t('detail.history')}
              </h2>
              <ol className="zs-list zs-options or-history">
                {order.history.map(({ what, by, note, at }) => (
                  <li key={`${what} ${at}`}>
                    <time className="zs-number zs-soft" dateTime={at}>
                      {format.dateTime(at)}
                    </time>
                    <span>
                      {t(`event.${what}`)}{' '}
                      <span className="zs-soft">
                        {[by === '' ? t('platform') : by, what === 'refunded' ? format.exactMoney(note) : note].filter((part) => part !== '').join(' · ')}
                      </span>
                    </span>
                  </li>
                ))}
              </ol>
            </section>
          </>
        )}
      </DetailPage>
      {paying && query.data?.status === 'unpaid' && <PayDialog order={query.data} onClose={() => setPaying(false)} />}
    </>
  )
}

function Resource({ order: { resource } }: { readonly order: Detail }) {
  const to = pathOfOrdered(resource)
  return (
    <span>
      {kindText(resource.type)}{' '}
      {to === null ? (
        resource.name
      ) : (
        <Link to={to} className="zs-text-link">
          {resource.name}
        </Link>
      )}
    </span>
  )
}

/** What is paid by the hour comes to what the bills say. */
function Billed({ order: { resource } }: { readonly order: Detail }) {
  const { t } = useTranslation('order')
  return (
    <span className="or-billed">
      {t('detail.billed')}
      {resource.id !== null && <Link to={paths.billing.monthDetail(resource.id, billMonthOf(Date.now()))}>{t('detail.toBill')}</Link>}
    </span>
  )
}

function Notice({ order }: { readonly order: Detail }) {
  const { t } = useTranslation('order')
  const { status, error } = order
  if (status === 'unpaid') {
    return (
      <Alert
        type={error === null ? 'info' : 'warning'}
        showIcon
        className="zs-above"
        title={<Countdown until={order.expires_at} />}
        description={error === null ? undefined : t('renewalFailed', { reason: error })}
      />
    )
  }
  if (status === 'paid') return <Alert type="info" showIcon className="zs-above" title={t('detail.delivering')} />
  return status === 'refunded' && error !== null ? (
    <Alert type="error" showIcon className="zs-above" title={t('detail.failed', { reason: error.replace(/。$/, '') })} />
  ) : null
}

/** What an hour cost when it began. */
function AnHour({ order: { lines } }: { readonly order: Detail }) {
  const { t } = useTranslation('order')
  const amount = toDecimal(lines.reduce((sum, line) => sum + toMinor(line.amount), 0n))
  return (
    <>
      <strong className="zs-number" title={format.exactMoney(amount)}>
        {t('detail.anHour', { amount: format.rate(amount) })}
      </strong>{' '}
      <span className="zs-soft zs-number">
        {t('detail.aMonth', { amount: format.money(toDecimal(toMinor(amount) * BigInt(previewHours))), hours: previewHours })}
      </span>
    </>
  )
}

/** What is paid in advance of the resource now, whichever orders paid it. */
function PrepaidCard({ id }: { readonly id: string }) {
  const { t } = useTranslation('order')
  const { data, error } = useCall(prepaids.get, { params: { id } }, { silent: true, refreshMs: 5_000 })
  const set = useChange(prepaids.setAutoRenew, {
    invalidates: invalidatedByOrder,
    onDone: ({ auto_renew }) => notify('success', t(auto_renew ? 'detail.turnedOn' : 'detail.turnedOff')),
  })
  return (
    <section className="zs-card" aria-labelledby="order-prepaid">
      <h2 className="or-section" id="order-prepaid">
        {t('detail.prepaid')}
      </h2>
      {data === undefined ? (
        <p className="zs-soft" aria-busy={error === null}>
          {error === null ? format.nothing : t('detail.resourceGone')}
        </p>
      ) : data.ends_at === null ? (
        <p className="zs-soft">{t('detail.byHour')}</p>
      ) : (
        <>
          {data.error !== null && <Alert type="warning" showIcon className="zs-above" title={t('detail.error', { reason: data.error })} />}
          <div className="or-prepaid">
            <span>
              {t('detail.endsAt')} <strong className="zs-number">{format.dateTime(data.ends_at)}</strong>
            </span>
            {data.renews_at !== null && data.period !== null && data.count !== null && (
              <span>
                {t('detail.renewsAt')} <span className="zs-number">{format.dateTime(data.renews_at)}</span>，
                {t('detail.renewTerm', { term: termText(t, { count: data.count, period: data.period }) })}
              </span>
            )}
            <Button
              size="small"
              loading={set.isPending}
              onClick={() => set.mutate({ params: { id }, body: { auto_renew: !data.auto_renew, period: data.period ?? 'month', count: data.count ?? 1 } })}
            >
              {data.auto_renew ? t('detail.off') : t('detail.on')}
            </Button>
          </div>
          <p className="zs-soft">{t('detail.renewNote')}</p>
        </>
      )}
    </section>
  )
}
