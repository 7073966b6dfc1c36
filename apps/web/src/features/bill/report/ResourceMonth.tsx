import { consumes, type ResourceMonth as Detail } from '@zhisuan/contract/bill/consume'
import { variantText } from '@zhisuan/contract/bill/meter'
import { toMinor } from '@zhisuan/contract/bill/money'
import { kindText } from '@zhisuan/contract/kindTexts'
import { useMemo } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { Link, useParams } from 'react-router'
import { useOne, useChange } from '../../../api/hooks.ts'
import { DetailPage } from '../../../kit/DetailPage.tsx'
import * as format from '../../../kit/format.ts'
import { PageActions } from '../../../kit/PageHead.tsx'
import { saveFrom } from '../../../kit/save.ts'
import { pageOf } from '../../../kinds.ts'
import { paths, withQuery } from '../../../paths.ts'
import { writeCloudChoice } from '../../../session/cloudChoice.ts'
import { useIsPlatform } from '../../../session/user.ts'
import { daysOf } from './months.ts'
import './report.css'
import { SaveButtons } from '../../../kit/SaveButtons.tsx'
import { StackChart } from './StackChart.tsx'
import { UsageTable } from './UsageTable.tsx'
import { monthName } from './useBillQuery.tsx'
import { useNames } from './useNames.ts'

const hourMs = 3_600_000

/** What one resource cost in a month, hour by hour, and how each amount was made. */
export default function ResourceMonth() {
  const { t } = useTranslation('report')
  const { id = '', date = '' } = useParams()
  // An address may name a day: the month is what is shown.
  const month = date.slice(0, 7)
  const platform = useIsPlatform()
  const query = useOne(consumes.resource, { params: { id }, query: { month } })
  const save = useChange(consumes.export, { onDone: ({ path }) => saveFrom(path) })
  return (
    <DetailPage
      query={query}
      gone={{ to: paths.billing.month() }}
      title={({ resource }) => t('detail.title', { name: resource.name, month: monthName(t, month) })}
      facts={({ resource, organisation, ended, total, previous_total }) => [
        { key: 'type', label: t('column.type'), value: kindText(resource.type) },
        { key: 'id', label: t('detail.resource'), value: <ResourceId resource={resource} /> },
        ...(platform ? [{ key: 'organisation', label: t('column.organisation'), value: organisation.name }] : []),
        { key: 'total', label: t('detail.total'), value: format.exactMoney(total) },
        {
          key: 'previous',
          label: t('detail.previous'),
          value: <Link to={paths.billing.monthDetail(resource.id, monthBefore(month))}>{format.exactMoney(previous_total)}</Link>,
        },
        ...(ended === null
          ? []
          : [{ key: 'ended', label: t('detail.ended'), value: t(`detail.endedBecause.${ended.reason}`, { at: format.dateTime(ended.at) }) }]),
      ]}
    >
      {(detail) => (
        <>
          <PageActions>
            <SaveButtons pending={save.isPending} save={(as) => save.mutate({ body: { format: as, month, resource_id: id } })} />
          </PageActions>
          <section className="zs-card" aria-label={t('detail.chart')}>
            <h2>{t('detail.chart')}</h2>
            <Hours detail={detail} />
          </section>
          {detail.meters.length > 0 && <Meters detail={detail} month={month} />}
          <section className="zs-card" aria-label={t('detail.lines')}>
            <h2>{t('detail.lines')}</h2>
            <UsageTable query={{ month, resource_id: id }} resource />
          </section>
        </>
      )}
    </DetailPage>
  )
}

/** It leads to its page, on the cloud where it is; what is gone has none. */
function ResourceId({ resource }: { readonly resource: Detail['resource'] }) {
  const { id, cloud_id } = resource
  const page = pageOf(resource.type, resource)
  if (page === null || cloud_id === null) return <span className="zs-code">{id}</span>
  return (
    <Link to={page} className="zs-code zs-text-link" onClick={() => writeCloudChoice(cloud_id)}>
      {id}
    </Link>
  )
}

const monthBefore = (month: string): string => new Date(Date.UTC(Number(month.slice(0, 4)), Number(month.slice(5)) - 2)).toISOString().slice(0, 7)

/** All hours of the month, so that those without are seen as such. */
function Hours({ detail: { month, total, meters } }: { readonly detail: Detail }) {
  const { t } = useTranslation('report')
  const begin = Date.parse(`${month}-01T00:00:00+08:00`)
  const hours = daysOf(month).length * 24
  const places = useMemo(
    () => Array.from({ length: hours }, (_, index) => new Date(begin + (index + 8) * hourMs).toISOString().slice(5, 13).replace('T', ' ') + ':00'),
    [begin, hours],
  )
  const stacks = useMemo(
    () =>
      meters.map(({ sku, meter, variant, hours: used }) => {
        const values = Array.from<bigint | null>({ length: hours }).fill(null)
        for (const { from, amount } of used) values[Math.round((Date.parse(from) - begin) / hourMs)] = toMinor(amount)
        return { name: `${sku.name} ${variantText(meter, variant)}`.trim(), values }
      }),
    [begin, hours, meters],
  )
  const withUsage = new Set(meters.flatMap((meter) => meter.hours.map(({ from }) => from))).size
  return (
    <StackChart
      label={t('detail.chartLabel', { hours: withUsage, total: format.exactMoney(total) })}
      places={places}
      stacks={stacks}
      format={format.rate}
      none={t('detail.none')}
    />
  )
}

function Meters({ detail: { resource, meters }, month }: { readonly detail: Detail; readonly month: string }) {
  const { t } = useTranslation('report')
  const { meterName } = useNames()
  return (
    <section className="zs-card" aria-label={t('detail.meters')}>
      <h2>{t('detail.meters')}</h2>
      <dl className="br-facts">
        {meters.map(({ meter, variant, sku, seconds, amount }) => (
          <div key={`${meter} ${variant} ${sku.id}`}>
            <dt>
              <Link to={withQuery(paths.billing.consumption(), { month, resource_id: resource.id, meter })}>{sku.name}</Link>{' '}
              <span className="zs-soft">{`${meterName(meter)} ${variantText(meter, variant)}`.trim()}</span>
            </dt>
            <dd className="zs-number">
              {format.exactMoney(amount)}
              <span className="zs-soft">
                {t('detail.hours')} {format.duration(seconds * 1000)}
              </span>
            </dd>
          </div>
        ))}
      </dl>
    </section>
  )
}
