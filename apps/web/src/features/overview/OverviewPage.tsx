import Skeleton from 'antd/es/skeleton'
import type { ReactNode } from 'react'
import { useTranslation } from '../../i18n.ts'
import { Link } from 'react-router'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import { constants } from '@zhisuan/contract/constants'
import type { ResponseOf } from '@zhisuan/contract/define'
import { vms } from '@zhisuan/contract/nextstack/vm'
import { overview } from '@zhisuan/contract/nextstack/overview'
import { licences } from '@zhisuan/contract/sys/sys'
import type { ApiError } from '../../api/client.ts'
import { useCall } from '../../api/hooks.ts'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import { ActionButton } from '../../kit/actions.tsx'
import { PageActions } from '../../kit/PageHead.tsx'
import { paths } from '../../paths.ts'
import { useClouds } from '../../session/cloud.ts'
import { useIsPlatform } from '../../session/user.ts'
import { licenceState } from '../../kit/licenceState.ts'
import { QuotaCard } from './QuotaCard.tsx'
import { AlarmsCard } from './AlarmsCard.tsx'
import { CloudsCard, TenantCloudsCard } from './CloudsCard.tsx'
import { usable } from './counts.ts'
import { EventsCard } from './EventsCard.tsx'
import { LicenceCard } from './LicenceCard.tsx'
import './overview.css'
import { ResourceTiles } from './ResourceTiles.tsx'
import { OrganisationStart, PlatformStart } from './StartCard.tsx'
import { TrendsCard } from './TrendsCard.tsx'

type Overview = ResponseOf<typeof overview.get>

const refreshMs = 10_000

/** What there is now and how it came to be; nothing is shown that was not just read. */
export default function OverviewPage() {
  const platform = useIsPlatform()
  return platform ? <PlatformOverview /> : <OrganisationOverview />
}

function PlatformOverview() {
  const { t } = useTranslation('overview')
  const summary = useCall(overview.get, {}, { refreshMs, silent: true })
  const list = useCall(
    clouds.list,
    { query: { page_size: constants.cloudListPageSize, page_num: constants.cloudListPageNum } },
    { refreshMs: 15_000, silent: true },
  )
  const licence = useCall(licences.get, {}, { refreshMs: 60_000, silent: true })
  const canCreate = usable(list.data?.clouds ?? []).length > 0
  return (
    <>
      <PageActions>
        <span className="overview-actions">
          <Link to={paths.platform.clouds()} className={canCreate ? 'zs-button zs-button-plain' : 'zs-button'}>
            {t('registerCloud')}
          </Link>
          {canCreate && <CreateVm />}
        </span>
      </PageActions>
      <AlarmsCard alarms={summary.data?.alarms ?? []} licence={licence.data === undefined ? null : licenceState(licence.data, licence.dataUpdatedAt)} />
      <Resources summary={summary} />
      <div className="overview-page">
        <div>
          <PlatformStart usableClouds={list.data && usable(list.data.clouds).length} />
          <EventsCard />
        </div>
        <div>
          <Part what={t('clouds.title')} data={list.data} error={list.error} retry={() => void list.refetch()}>
            {(data) => (data.clouds.length === 0 ? null : <CloudsCard clouds={data.clouds} />)}
          </Part>
          <QuotaCard />
          <Part what={t('licence.title')} data={licence.data} error={licence.error} retry={() => void licence.refetch()}>
            {(data) => <LicenceCard licence={data} now={licence.dataUpdatedAt} />}
          </Part>
        </div>
      </div>
    </>
  )
}

function OrganisationOverview() {
  const summary = useCall(overview.get, {}, { refreshMs, silent: true })
  const { list, loading } = useClouds()
  const known = loading ? undefined : list
  return (
    <>
      {usable(list).length > 0 && (
        <PageActions>
          <CreateVm />
        </PageActions>
      )}
      <AlarmsCard alarms={summary.data?.alarms ?? []} licence={null} />
      <Resources summary={summary} />
      <div className="overview-page">
        <div>
          <OrganisationStart />
          <EventsCard />
        </div>
        <div>
          <QuotaCard />
          {known !== undefined && <TenantCloudsCard clouds={known} />}
        </div>
      </div>
    </>
  )
}

function CreateVm() {
  const { t } = useTranslation('overview')
  return <ActionButton action={{ key: 'create', call: vms.create, label: t('createVm'), href: paths.nextstack.vm.add() }} />
}

/** Images there are before anybody made anything. */
const isEmpty = (summary: Overview | undefined): boolean => summary?.resources.every(({ kind, total }) => kind === 'nextstack.image' || total === 0) === true

/** What there is, and how it came to be. */
function Resources({
  summary,
}: {
  readonly summary: { readonly data: Overview | undefined; readonly error: ApiError | null; readonly refetch: () => unknown }
}) {
  const { t } = useTranslation('overview')
  return (
    <Part what={t('resources.title')} data={summary.data} error={summary.error} retry={() => void summary.refetch()}>
      {(data) =>
        !isEmpty(data) && (
          <>
            <ResourceTiles resources={data.resources} />
            <TrendsCard />
          </>
        )
      }
    </Part>
  )
}

/** One card: its place is held while it loads, and says itself what failed. What was read stays. */
function Part<T>({
  what,
  data,
  error,
  retry,
  children,
}: {
  readonly what: string
  readonly data: T | undefined
  readonly error: ApiError | null
  readonly retry: () => void
  readonly children: (data: NoInfer<T>) => ReactNode
}) {
  const { t } = useTranslation('overview')
  if (data !== undefined) return children(data)
  return (
    <div className="zs-card">
      {error === null ? <Skeleton active paragraph={{ rows: 4 }} /> : <ErrorPanel error={error} title={t('failed', { what })} onRetry={retry} />}
    </div>
  )
}
