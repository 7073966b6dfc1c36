import { firewallServices } from '@zhisuan/contract/compute/firewall'
import type { CloudBasic } from '@zhisuan/contract/cmp/cloud'
import type { ReactNode } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { Link } from 'react-router'
import { useCall } from '../../../api/hooks.ts'
import { EmptyState } from '../../../kit/EmptyState.tsx'
import { ErrorPanel } from '../../../kit/ErrorPanel.tsx'
import { paths } from '../../../paths.ts'
import { ComputePage } from '../ComputePage.tsx'
import { serviceRefreshMs } from './firewallText.ts'

/** What the three pages of firewalls stand in: the chosen cloud, and whether it has a firewall service at all. */
export function FirewallPage({ children }: { readonly children: (cloudId: string | null) => ReactNode }) {
  return (
    <ComputePage>
      {(cloud) =>
        cloud === null ? (
          children(null)
        ) : (
          <Served key={cloud.cloud_id} cloud={cloud}>
            {children}
          </Served>
        )
      }
    </ComputePage>
  )
}

function Served({ cloud, children }: { readonly cloud: CloudBasic; readonly children: (cloudId: string | null) => ReactNode }) {
  const { t } = useTranslation('computeFirewall')
  const { data, error, refetch } = useCall(firewallServices.get, { params: { cloud_id: cloud.cloud_id } }, { silent: true, refreshMs: serviceRefreshMs })
  if (data?.available === false) {
    return (
      <div className="zs-card">
        <EmptyState
          title={t('missing.title')}
          action={
            <Link to={paths.compute.securityGroup.list()} className="zs-button">
              {t('missing.toGroups')}
            </Link>
          }
        >
          {t('missing.body', { name: cloud.name })}
        </EmptyState>
      </div>
    )
  }
  if (data === undefined && error !== null) {
    return (
      <div className="zs-card">
        <ErrorPanel error={error} onRetry={() => void refetch()} />
      </div>
    )
  }
  return children(data === undefined ? null : cloud.cloud_id)
}
