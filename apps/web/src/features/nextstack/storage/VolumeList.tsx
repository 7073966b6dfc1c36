import type { CloudBasic } from '@zhisuan/contract/cmp/cloud'
import { vms } from '@zhisuan/contract/nextstack/vm'
import { storagePools, volumes, volumeStatuses } from '@zhisuan/contract/nextstack/volume'
import { useTranslation } from '../../../i18n.ts'
import { useCall } from '../../../api/hooks.ts'
import { DetailTabs } from '../../../kit/DetailPage.tsx'
import { filter } from '../../../kit/filters.ts'
import { ResourceTable } from '../../../kit/ResourceTable.tsx'
import { paths } from '../../../paths.ts'
import { useIsPlatform } from '../../../session/user.ts'
import { NextStackPage, useNextStackCloud } from '../NextStackPage.tsx'
import { BackupTable } from './BackupTable.tsx'
import { isPassing } from './storageRules.ts'
import { useVolumeActions } from './useVolumeActions.tsx'
import { volumeColumns } from './volumeColumns.tsx'

/** Volumes of the chosen cloud, and the backups that outlive them. */
export default function VolumeList() {
  const { t } = useTranslation('storage')
  const cloud = useNextStackCloud()
  return (
    <NextStackPage>
      <DetailTabs
        tabs={[
          { key: 'volumes', label: t('tab.volumes'), content: <Volumes cloud={cloud} /> },
          { key: 'backups', label: t('tab.backups'), content: <BackupTable cloud={cloud} /> },
        ]}
      />
    </NextStackPage>
  )
}

function Volumes({ cloud }: { readonly cloud: CloudBasic | null }) {
  const { t } = useTranslation('storage')
  const platform = useIsPlatform()
  const { actionsOf, batchActions } = useVolumeActions(cloud)
  const query = { cloud_id: cloud?.cloud_id, page_size: 1000, sort: 'name' } as const
  const pools = useCall(storagePools.list, { query }, { enabled: cloud !== null, silent: true })
  const instances = useCall(vms.list, { query }, { enabled: cloud !== null, silent: true })
  return (
    <ResourceTable
      call={volumes.list}
      input={{ query: { cloud_id: cloud?.cloud_id } }}
      enabled={cloud !== null}
      columns={volumeColumns(t, platform)}
      filters={[
        filter.oneOf('status', t('filter.status'), volumeStatuses, (value) => t(`volume.status.${value}`)),
        filter.select(
          'pool',
          t('filter.pool'),
          (pools.data?.items ?? []).map(({ name }) => ({ value: name, label: name })),
        ),
        filter.named('vm_id', t('filter.vm'), instances.data?.items),
        filter.keyword(t('filter.keyword')),
      ]}
      rowActions={actionsOf}
      batchActions={batchActions}
      passing={isPassing}
      create={{ call: volumes.create, label: t('volume.create'), href: paths.nextstack.volume.add() }}
      empty={{ title: t('volume.empty', { cloud: cloud?.name ?? '' }), note: t('volume.emptyNote') }}
    />
  )
}
