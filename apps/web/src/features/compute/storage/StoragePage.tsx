import type { CloudBasic } from '@zhisuan/contract/cmp/cloud'
import { computeVolumes } from '@zhisuan/contract/compute/volume'
import type { ReactNode } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { useCall } from '../../../api/hooks.ts'
import { EmptyState } from '../../../kit/EmptyState.tsx'
import { ComputePage, useComputeCloud } from '../ComputePage.tsx'
import { isWithoutService } from './storageRules.ts'

/** Where volumes of the chosen cloud can lie; what a cloud without such a service refuses. */
export function useZones() {
  const cloud = useComputeCloud()
  return useCall(computeVolumes.zones, { params: { cloud_id: cloud?.cloud_id ?? '' } }, { enabled: cloud !== null, silent: true })
}

/** What pages about volumes stand in: says it where the cloud has none of them. */
export function StoragePage({ children }: { readonly children: (cloud: CloudBasic | null) => ReactNode }) {
  const { t } = useTranslation('computeStorage')
  const { error } = useZones()
  return (
    <ComputePage>
      {(cloud) =>
        isWithoutService(error) ? (
          <div className="zs-card">
            <EmptyState title={t('noService')}>{t('noServiceNote', { cloud: cloud?.name ?? '' })}</EmptyState>
          </div>
        ) : (
          children(cloud)
        )
      }
    </ComputePage>
  )
}
