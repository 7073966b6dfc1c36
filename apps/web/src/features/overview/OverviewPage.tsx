import Skeleton from 'antd/es/skeleton'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router'
import { clouds, type Cloud, type CloudBasic } from '@zhisuan/contract/cmp/cloud'
import { constants } from '@zhisuan/contract/constants'
import { licences } from '@zhisuan/contract/sys/sys'
import type { ApiError } from '../../api/client.ts'
import { useCall } from '../../api/hooks.ts'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import * as format from '../../kit/format.ts'
import { PageActions } from '../../kit/PageHead.tsx'
import { paths } from '../../paths.ts'
import { useClouds } from '../../session/cloud.ts'
import { useIsPlatform } from '../../session/user.ts'
import { CloudsCard, TenantCloudsCard } from './CloudsCard.tsx'
import { usable } from './counts.ts'
import { InstancesCard, RecentCard } from './InstancesCard.tsx'
import { LicenceCard } from './LicenceCard.tsx'
import './overview.css'
import { StartCard } from './StartCard.tsx'
import { useInstances, type Instances } from './useInstances.ts'

const refreshMs = 15_000

/** What there is now; nothing is shown that was not just read. */
export default function OverviewPage() {
  const platform = useIsPlatform()
  return platform ? <PlatformOverview /> : <OrganisationOverview />
}

function PlatformOverview() {
  const { t } = useTranslation('overview')
  const instances = useInstances()
  const list = useCall(
    clouds.list,
    { query: { page_size: constants.cloudListPageSize, page_num: constants.cloudListPageNum } },
    { refreshMs, silent: true },
  )
  const licence = useCall(licences.get, {}, { refreshMs: 60_000, silent: true })
  const canCreate = usable(list.data?.clouds ?? []).length > 0
  return (
    <>
      <PageActions>
        <span className="zs-overview-actions">
          <Link to={paths.help.list()} className="zs-button zs-button-plain">
            {t('help')}
          </Link>
          <Link to={paths.platform.clouds()} className={canCreate ? 'zs-button zs-button-plain' : 'zs-button'}>
            {t('registerCloud')}
          </Link>
          {canCreate && (
            <Link to={paths.nextstack.vm.add()} className="zs-button">
              {t('createVm')}
            </Link>
          )}
        </span>
      </PageActions>
      <div className="zs-overview">
        <div>
          <Start instances={instances.data} clouds={list.data?.clouds} platform />
          <Part data={list.data} error={list.error} retry={() => void list.refetch()}>
            {(data) => (data.clouds.length === 0 ? null : <CloudsCard clouds={data.clouds} />)}
          </Part>
          <Recent instances={instances.data} clouds={list.data?.clouds} />
        </div>
        <div>
          <Part data={instances.data} error={instances.error} retry={instances.refetch}>
            {(data) => (data.total === 0 ? null : <InstancesCard instances={data} />)}
          </Part>
          <Part data={licence.data} error={licence.error} retry={() => void licence.refetch()}>
            {(data) => <LicenceCard licence={data} now={licence.dataUpdatedAt} />}
          </Part>
        </div>
      </div>
    </>
  )
}

function OrganisationOverview() {
  const { t } = useTranslation('overview')
  const instances = useInstances()
  const { list, loading } = useClouds()
  const known = loading ? undefined : list
  return (
    <>
      <PageActions>
        <span className="zs-overview-actions">
          <Link to={paths.help.list()} className="zs-button zs-button-plain">
            {t('help')}
          </Link>
          {usable(list).length > 0 && (
            <Link to={paths.nextstack.vm.add()} className="zs-button">
              {t('createVm')}
            </Link>
          )}
        </span>
      </PageActions>
      <div className="zs-overview">
        <div>
          <Start instances={instances.data} clouds={known} platform={false} />
          <Part data={instances.data} error={instances.error} retry={instances.refetch}>
            {(data) => (data.total === 0 ? null : <InstancesCard instances={data} />)}
          </Part>
          <Recent instances={instances.data} clouds={known} />
        </div>
        <div>{known !== undefined && <TenantCloudsCard clouds={known} />}</div>
      </div>
    </>
  )
}

/** Instead of an empty list: only while there is no instance yet. */
function Start({ instances, clouds: known, platform }: { readonly instances: Instances | undefined; readonly clouds: readonly CloudBasic[] | undefined; readonly platform: boolean }) {
  if (instances?.total !== 0 || known === undefined) return null
  return <StartCard usableClouds={usable(known).length} platform={platform} />
}

function Recent({ instances, clouds: known }: { readonly instances: Instances | undefined; readonly clouds: readonly (Cloud | CloudBasic)[] | undefined }) {
  if (instances === undefined || instances.newest.length === 0) return null
  return <RecentCard instances={instances} cloudName={(id) => known?.find((cloud) => cloud.cloud_id === id)?.name ?? format.nothing} />
}

/** One card: its place is held while it loads, and says itself what failed. What was read stays. */
function Part<T>({ data, error, retry, children }: {
  readonly data: T | undefined
  readonly error: ApiError | null
  readonly retry: () => void
  readonly children: (data: NoInfer<T>) => ReactNode
}) {
  if (data !== undefined) return children(data)
  return <div className="zs-card">{error === null ? <Skeleton active paragraph={{ rows: 4 }} /> : <ErrorPanel error={error} onRetry={retry} />}</div>
}
