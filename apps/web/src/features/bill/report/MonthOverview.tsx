import Skeleton from 'antd/es/skeleton'
import { consumes, type MonthOverview as Overview, type ResourceShare, type UsageForecast } from '@zhisuan/contract/bill/consume'
import { toDecimal, toMinor } from '@zhisuan/contract/bill/money'
import { kindText } from '@zhisuan/contract/kindTexts'
import { useCallback, useMemo, type ReactNode } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { Link } from 'react-router'
import { useCall, useChange } from '../../../api/hooks.ts'
import { col } from '../../../kit/columns.tsx'
import { DetailTabs } from '../../../kit/DetailPage.tsx'
import { ErrorPanel } from '../../../kit/ErrorPanel.tsx'
import { filter } from '../../../kit/filters.ts'
import * as format from '../../../kit/format.ts'
import { ResourceTable } from '../../../kit/ResourceTable.tsx'
import { saveFrom } from '../../../kit/save.ts'
import { paths, withQuery } from '../../../paths.ts'
import { useIsPlatform } from '../../../session/user.ts'
import { Budgets } from '../arrears/Budgets.tsx'
import { ForecastCard } from './ForecastCard.tsx'
import { billMonthOf, daysOf } from './months.ts'
import { SaveButtons } from '../../../kit/SaveButtons.tsx'
import { ShareBars } from './ShareBars.tsx'
import { StackChart } from './StackChart.tsx'
import { greatestOf, type Stack } from './stacks.ts'
import { monthName, useBillQuery } from './useBillQuery.tsx'
import './report.css'

/** Lines are made once an hour. */
const refreshMs = 60_000
const colours = 6

/** What months cost, and what they may cost. */
export default function MonthOverview() {
  const { t } = useTranslation('report')
  return (
    <DetailTabs
      tabs={[
        { key: 'month', label: t('tab.month'), content: <Month /> },
        { key: 'budgets', label: t('tab.budgets'), content: <Budgets /> },
      ]}
    />
  )
}

/** What a month cost: in all, by day, product, project and resource, and what it will come to. */
function Month() {
  const { t } = useTranslation('report')
  const { month, organisation, controls } = useBillQuery()
  const whose = { ...(organisation !== undefined && { bp_id: organisation }) }
  const running = month === billMonthOf(Date.now())
  const summary = useCall(consumes.summary, { query: { month, ...whose } }, { refreshMs, silent: true })
  const forecast = useCall(consumes.forecast, { query: whose }, { refreshMs, silent: true, enabled: running })
  const { data, error } = summary
  const months = useCall(consumes.monthly, { query: { months: 12, ...whose } }, { refreshMs, silent: true })
  return (
    <>
      {controls}
      {data === undefined || data.month !== month ? (
        <div className="zs-card">
          {error === null ? (
            <Skeleton active paragraph={{ rows: 8 }} />
          ) : (
            <ErrorPanel error={error} title={t('failed', { what: t('total.title') })} onRetry={() => void summary.refetch()} />
          )}
        </div>
      ) : (
        <>
          <div className="br-columns">
            <Total overview={data} />
            <section className="zs-card" aria-label={t('trend.title')}>
              <div className="br-head">
                <h2 className="zs-title">{t('trend.title')}</h2>
              </div>
              <Months items={months.data?.items ?? []} />
            </section>
          </div>
          {running && <ForecastCard forecast={forecast.data} error={forecast.error} retry={() => void forecast.refetch()} />}
          <section className="zs-card" aria-label={t('days.title')}>
            <div className="br-head">
              <h2 className="zs-title">{t('days.title')}</h2>
            </div>
            <Days overview={data} forecast={running ? forecast.data : undefined} />
          </section>
          <Shares overview={data} organisation={organisation} />
        </>
      )}
      <Resources month={month} organisation={organisation} />
    </>
  )
}

function Total({ overview: { month, total, previous_total, prepaid, resource_count } }: { readonly overview: Overview }) {
  const { t } = useTranslation('report')
  const difference = toMinor(total) - toMinor(previous_total)
  const share = toMinor(previous_total) === 0n ? null : format.percent(Math.abs(Number(difference) / Number(toMinor(previous_total))))
  const amount = format.money(toDecimal(difference < 0n ? -difference : difference))
  const compared =
    difference === 0n ? t('total.same') : share === null ? t('total.moreOnly', { amount }) : t(difference > 0n ? 'total.more' : 'total.less', { amount, share })
  return (
    <section className="zs-card" aria-label={t('total.of', { month: monthName(t, month) })}>
      <div className="br-head">
        <h2 className="zs-title">{t('total.of', { month: monthName(t, month) })}</h2>
      </div>
      <strong className="br-sum zs-number" title={t('total.exact', { amount: format.exactMoney(total) })}>
        {format.money(total)}
      </strong>
      <p>{compared}</p>
      {toMinor(prepaid) !== 0n && (
        <p className="br-prepaid">
          <span title={t('total.exact', { amount: format.exactMoney(prepaid) })}>{t('total.prepaid', { amount: format.money(prepaid) })}</span>
          <Link to={paths.billing.order.list()}>{t('total.toOrders')}</Link>
        </p>
      )}
      <p className="zs-soft">
        {t('total.resources', { count: resource_count })}
        <br />
        {t('total.exact', { amount: format.exactMoney(total) })}
      </p>
    </section>
  )
}

function Months({ items }: { readonly items: readonly { readonly month: string; readonly amount: string }[] }) {
  const { t } = useTranslation('report')
  const inOrder = items.toReversed()
  const stacks = useMemo(() => [{ name: t('trend.label'), values: items.toReversed().map(({ amount }) => toMinor(amount)) }], [items, t])
  const places = useMemo(() => items.toReversed().map(({ month }) => month), [items])
  return (
    <StackChart
      label={`${t('trend.label')}：${inOrder.map(({ month, amount }) => `${month} ${format.money(amount)}`).join('，')}`}
      places={places}
      stacks={stacks}
      format={format.money}
      none={t('days.none')}
    />
  )
}

function Days({ overview, forecast }: { readonly overview: Overview; readonly forecast: UsageForecast | undefined }) {
  const { t } = useTranslation('report')
  const { month, total, days, products, products_by_day } = overview
  const all = useMemo(() => daysOf(month), [month])
  const stacks = useMemo(() => {
    const amounts = new Map(products_by_day.map(({ day, product_id, amount }) => [`${day} ${product_id}`, toMinor(amount)]))
    const certain: readonly Stack[] = greatestOf(
      products.map(({ id, name }) => ({ name: name === '' ? t('shares.unnamed') : name, values: all.map((day) => amounts.get(`${day} ${id}`) ?? 0n) })),
      colours,
      t('days.others'),
    )
    const known = new Map(days.map(({ day, amount }) => [day, toMinor(amount)]))
    // What is expected of a day is all of it: above what is certain stands the rest.
    const expected = new Map(
      forecast?.days.map(({ day, amount }) => {
        const rest = toMinor(amount) - (known.get(day) ?? 0n)
        return [day, rest > 0n ? rest : 0n]
      }) ?? [],
    )
    return all.some((day) => (expected.get(day) ?? 0n) > 0n)
      ? [...certain, { name: t('days.expected'), values: all.map((day) => expected.get(day) ?? null), expected: true }]
      : certain
  }, [all, days, forecast, products, products_by_day, t])
  const places = useMemo(() => all.map((day) => day.slice(5)), [all])
  const highest = days.reduce<{ day: string; amount: string }>((most, one) => (toMinor(one.amount) > toMinor(most.amount) ? one : most), {
    day: '',
    amount: '0.00',
  })
  return (
    <StackChart
      label={t('days.label', { days: days.length, total: format.money(total), day: highest.day, max: format.money(highest.amount) })}
      places={places}
      stacks={stacks}
      format={format.money}
      none={t('days.none')}
    />
  )
}

function Shares({ overview, organisation }: { readonly overview: Overview; readonly organisation: string | undefined }) {
  const { t } = useTranslation('report')
  const { month, total, products, projects, resources } = overview
  const named = (name: string): string => (name === '' ? t('shares.unnamed') : name)
  const lines = (query: Record<string, string>): string => withQuery(paths.billing.consumption(), { month, bp_id: organisation, ...query })
  return (
    <div className="br-thirds">
      <ShareBars
        title={t('shares.products')}
        total={total}
        shares={products.map(({ id, name, amount }) => ({ key: id, name: named(name), amount, to: lines({ product_id: id }) }))}
      />
      <ShareBars
        title={t('shares.projects')}
        total={total}
        shares={projects.map(({ id, name, amount }) => ({
          key: id ?? '',
          name: id === null ? t('shares.noProject') : named(name),
          amount,
          to: lines({ project_id: id ?? 'none' }),
        }))}
      />
      <ShareBars
        title={t('shares.resources')}
        total={total}
        shares={resources.map(({ id, name, type, amount }) => ({ key: id, name, note: kindText(type), amount, to: paths.billing.monthDetail(id, month) }))}
      />
    </div>
  )
}

function Resources({ month, organisation }: { readonly month: string; readonly organisation: string | undefined }): ReactNode {
  const { t } = useTranslation('report')
  const platform = useIsPlatform()
  const save = useChange(consumes.exportMonth, { onDone: ({ path }) => saveFrom(path) })
  const whose = { month, ...(organisation !== undefined && { bp_id: organisation }) }
  const change = useCallback(({ amount, previous_amount }: ResourceShare): string => toDecimal(toMinor(amount) - toMinor(previous_amount)), [])
  return (
    <section className="zs-card" aria-label={t('resources.title')}>
      <h2>{t('resources.title')}</h2>
      <ResourceTable
        call={consumes.resources}
        input={{ query: whose }}
        // What was handed on in a month cost both organisations something.
        rowKey={({ id, organisation: owner }) => `${id} ${owner.id}`}
        refreshMs={refreshMs}
        columns={[
          col.name<ResourceShare>('name', t('column.resource'), ({ name }) => name, { to: ({ id }) => paths.billing.monthDetail(id, month) }),
          col.text<ResourceShare>('type', t('column.type'), ({ type }) => kindText(type), { width: 140 }),
          col.text<ResourceShare>('organisation', t('column.organisation'), (row) => row.organisation.name, { when: platform, width: 160 }),
          col.charge<ResourceShare>('amount', t('column.amount'), ({ amount }) => amount, { sort: true, width: 140 }),
          col.charge<ResourceShare>('previous', t('column.previous'), ({ previous_amount }) => previous_amount, { width: 140 }),
          col.charge<ResourceShare>('change', t('column.change'), change, { width: 140 }),
        ]}
        filters={[filter.keyword(t('resources.keyword'))]}
        toolbar={<SaveButtons pending={save.isPending} save={(as) => save.mutate({ body: { format: as, ...whose } })} />}
        empty={{ title: t('resources.empty') }}
      />
    </section>
  )
}
