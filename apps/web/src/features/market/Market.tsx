import Checkbox from 'antd/es/checkbox'
import Input from 'antd/es/input'
import Pagination from 'antd/es/pagination'
import Select from 'antd/es/select'
import type { QueryInput } from '@zhisuan/contract/define'
import { cardMemories, cardsMost, offerModes, offerPeriods, offers, type Listing } from '@zhisuan/contract/market/offer'
import { waits } from '@zhisuan/contract/market/rental'
import { Fragment, lazy, Suspense } from 'react'
import { Link, useSearchParams } from 'react-router'
import { useTranslation } from '../../i18n.ts'
import { useCall, useChange } from '../../api/hooks.ts'
import { ActionButton } from '../../kit/actions.tsx'
import { EmptyState } from '../../kit/EmptyState.tsx'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import * as format from '../../kit/format.ts'
import { PagePlaceholder } from '../../kit/Placeholder.tsx'
import { StatusTag } from '../../kit/StatusTag.tsx'
import { paths, withQuery } from '../../paths.ts'
import { useCurrentUser } from '../../session/user.ts'
import { StopTable } from './StopTable.tsx'
import './market.css'

const CardHistory = lazy(() => import('./CardHistory.tsx'))

const pageSize = 10
const refreshMs = 5_000
const sorts = ['price', '-price', '-free', '-memory'] as const
const asked = ['keyword', 'card_model', 'memory_bytes', 'count', 'region_id', 'cuda', 'mode', 'price', 'free', 'sort'] as const

/** What can be rented, for everybody: what it costs as asked for, how much is free now, and what a stop costs. */
export default function Market() {
  const { t } = useTranslation('market')
  const [search, setSearch] = useSearchParams()
  const page = Number(search.get('page') ?? 1)
  const count = Number(search.get('count') ?? 1)
  const model = search.get('card_model')
  const set = (key: string, value: string | undefined): void =>
    setSearch(
      (now) => {
        const next = new URLSearchParams(now)
        if (key !== 'page') next.delete('page')
        if (value === undefined || value === '') next.delete(key)
        else next.set(key, value)
        return next
      },
      { replace: key !== 'page' },
    )
  // What is in the address is judged by the server.
  const query = {
    ...Object.fromEntries(asked.flatMap((key) => (search.has(key) ? [[key, search.get(key)]] : []))),
    page_num: page,
    page_size: pageSize,
  } as QueryInput<typeof offers.browse>
  const list = useCall(offers.browse, { query }, { silent: true, refreshMs })
  const facets = list.data?.facets
  const choose = (key: string, label: string, options: readonly { readonly value: string; readonly label: string }[]) => (
    <Select
      allowClear
      aria-label={label}
      placeholder={label}
      popupMatchSelectWidth={false}
      value={search.get(key) ?? undefined}
      options={[...options]}
      onChange={(value: string | undefined) => set(key, value)}
    />
  )
  return (
    <div className="mk-page">
      <header className="mk-head">
        <div>
          <h1 id="page-title" tabIndex={-1}>
            {t('title')}
          </h1>
          <p className="zs-soft">{t('lead')}</p>
        </div>
      </header>
      <div className="mk-filters">
        <Input.Search
          className="mk-search"
          allowClear
          defaultValue={search.get('keyword') ?? ''}
          placeholder={t('search')}
          aria-label={t('search')}
          onSearch={(text) => set('keyword', text)}
        />
        <Select
          aria-label={t('filter.count')}
          value={count}
          options={Array.from({ length: cardsMost }, (_, index) => ({ value: index + 1, label: t('cards', { count: index + 1 }) }))}
          onChange={(value: number) => set('count', value === 1 ? undefined : String(value))}
        />
        {choose(
          'card_model',
          t('filter.card_model'),
          (facets?.models ?? []).map(({ model, free, total }) => ({ value: model, label: t('facet', { name: model, free, total }) })),
        )}
        {choose(
          'memory_bytes',
          t('filter.memory_bytes'),
          cardMemories.map((bytes) => ({ value: String(bytes), label: t('atLeast', { value: format.bytes(bytes) }) })),
        )}
        {choose(
          'region_id',
          t('filter.region_id'),
          (facets?.regions ?? []).map(({ id, name, free, total }) => ({ value: id, label: t('facet', { name, free, total }) })),
        )}
        {choose(
          'cuda',
          t('filter.cuda'),
          (facets?.cudas ?? []).map((version) => ({ value: version, label: t('atLeast', { value: `CUDA ${version}` }) })),
        )}
        {choose(
          'mode',
          t('filter.mode'),
          [...offerModes, ...offerPeriods].map((value) => ({ value, label: t(`mode.${value}`) })),
        )}
        <Input.Search
          className="mk-most"
          allowClear
          inputMode="decimal"
          defaultValue={search.get('price') ?? ''}
          placeholder={t('filter.price')}
          aria-label={t('filter.price')}
          onSearch={(text) => set('price', text.trim())}
        />
        <Checkbox checked={search.get('free') === 'true'} onChange={({ target }) => set('free', target.checked ? 'true' : undefined)}>
          {t('filter.free')}
        </Checkbox>
        <Select
          aria-label={t('sort.label')}
          value={search.get('sort') ?? sorts[0]}
          options={sorts.map((one) => ({ value: one, label: t(`sort.${one}`) }))}
          popupMatchSelectWidth={false}
          onChange={(one: string) => set('sort', one === sorts[0] ? undefined : one)}
        />
      </div>
      {model !== null && model !== '' && (
        <Suspense fallback={null}>
          <CardHistory key={model} model={model} />
        </Suspense>
      )}
      {list.error !== null && list.data === undefined ? (
        <ErrorPanel error={list.error} onRetry={() => void list.refetch()} />
      ) : list.data === undefined ? (
        <PagePlaceholder />
      ) : list.data.items.length === 0 ? (
        <EmptyState title={t('empty')}>{t(facets?.models.length === 0 ? 'emptyAll' : 'emptyNote')}</EmptyState>
      ) : (
        <>
          <ul className="mk-cards">
            {list.data.items.map((listing) => (
              <li key={listing.id}>
                <ListingCard listing={listing} days={list.data.stopped_days} />
              </li>
            ))}
          </ul>
          <Pagination
            align="end"
            current={page}
            pageSize={pageSize}
            total={list.data.total}
            hideOnSinglePage
            showSizeChanger={false}
            onChange={(next) => set('page', String(next))}
          />
        </>
      )}
    </div>
  )
}

/** Where nothing is free: a message tells once it is. */
function WaitButton({ listing }: { readonly listing: Listing }) {
  const { t } = useTranslation('market')
  const wait = useChange(waits.create, { invalidates: [waits.list], silent: true })
  return (
    <ActionButton
      look="default"
      action={{
        key: 'wait',
        call: waits.create,
        label: t('wait.ask'),
        doneText: t('wait.asked'),
        run: () => wait.mutateAsync({ body: { offer_id: listing.id, count: listing.asked.count } }),
      }}
    />
  )
}

function ListingCard({ listing, days }: { readonly listing: Listing; readonly days: number }) {
  const { t } = useTranslation('market')
  const signedIn = useCurrentUser() !== null
  const { count } = listing.asked
  const enough = listing.free_together >= count
  return (
    <article className="mk-card">
      <div>
        <h2>
          <Link className="zs-text-link" to={withQuery(paths.market.list(), { card_model: listing.card_model })}>
            {t('ofCards', { count, model: listing.card_model })}
          </Link>
        </h2>
        <p>
          <StatusTag tone={enough ? 'good' : 'warning'}>
            {t(enough ? 'free' : listing.free_cards > 0 ? 'freeFew' : 'freeNone', { free: listing.free_cards, total: listing.total_cards })}
          </StatusTag>
        </p>
        <p className="mk-facts">
          {[
            t('fact.memory', { size: format.bytes(listing.card_memory_bytes) }),
            t('fact.cpus', { count: listing.cpus_per_card * count }),
            t('fact.ram', { size: format.bytes(listing.memory_bytes_per_card * count) }),
            t('fact.disk', { size: format.bytes(listing.disk_bytes_per_card * count) }),
          ].join(' · ')}
        </p>
        <p className="mk-facts">
          {[
            listing.provider.name,
            t(`mode.${listing.mode}`),
            ...listing.regions.map(({ name }) => name),
            ...(listing.cuda === null ? [] : [`CUDA ≤ ${listing.cuda}`]),
            t('fact.driver', { version: listing.driver }),
          ].join(' · ')}
        </p>
        {listing.starts !== null && (
          <p className="mk-facts">
            {t('starts', { share: format.percent(listing.starts.running / listing.starts.orders), orders: listing.starts.orders })}
            {listing.starts.median_ms !== null &&
              t('startTimes', { median: format.duration(listing.starts.median_ms), p95: format.duration(listing.starts.p95_ms) })}
          </p>
        )}
      </div>
      <StopTable stopped={listing.asked.stopped} days={days} grace={listing.grace_seconds} />
      <div className="mk-price">
        <b>{format.exactMoney(listing.asked.running)}</b>
        <span className="zs-soft">
          {t('perHour')}
          {offerPeriods.map((period) => {
            const price = listing.asked[period]
            return (
              price !== null && (
                <Fragment key={period}>
                  <br />
                  {t(`offer.ahead.${period}`, { price: format.exactMoney(price) })}
                </Fragment>
              )
            )
          })}
        </span>
        {!enough && signedIn && <WaitButton listing={listing} />}
        <Link
          className="zs-button"
          to={withQuery(paths.market.rent(), { offer: listing.id, ...(count > 1 && { count: String(count) }) })}
          aria-label={t('rentNamed', { name: listing.card_model, provider: listing.provider.name })}
        >
          {t('rent')}
        </Link>
      </div>
    </article>
  )
}
