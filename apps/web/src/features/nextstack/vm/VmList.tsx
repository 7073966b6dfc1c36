import Button from 'antd/es/button'
import Tooltip from 'antd/es/tooltip'
import type { CloudBasic } from '@zhisuan/contract/cmp/cloud'
import { vms, vmStatuses, vmTypes } from '@zhisuan/contract/nextstack/vm'
import { useTranslation } from 'react-i18next'
import { useNavigate } from 'react-router'
import { whilePassing } from '../../../kit/whilePassing.ts'
import { EmptyState } from '../../../kit/EmptyState.tsx'
import { filter } from '../../../kit/filters.ts'
import { ResourceTable } from '../../../kit/ResourceTable.tsx'
import { paths } from '../../../paths.ts'
import { useIsPlatform } from '../../../session/user.ts'
import { NextStackPage, useNextStackCloud } from '../NextStackPage.tsx'
import { useVmActions } from './useVmActions.tsx'
import { vmColumns } from './vmColumns.tsx'
import { isChanging } from './vmRules.ts'
import '../../../kit/actions.css'

/** Instances of the chosen cloud. */
export default function VmList() {
  const { t } = useTranslation('nextstack')
  const cloud = useNextStackCloud()
  const platform = useIsPlatform()
  const navigate = useNavigate()
  const { actionsOf, batchActions } = useVmActions(cloud)
  return (
    <NextStackPage>
      <ResourceTable
        call={vms.list}
        input={{ query: { cloud_id: cloud?.cloud_id } }}
        enabled={cloud !== null}
        rows={({ items }) => items}
        rowKey="id"
        columns={vmColumns(t, platform)}
        filters={[
          filter.select(
            'status',
            t('filter.status'),
            vmStatuses.map((value) => ({ value, label: t(`status.${value}`) })),
          ),
          filter.select(
            'type',
            t('filter.type'),
            vmTypes.map((value) => ({ value, label: t(`type.${value}`) })),
          ),
          filter.keyword(t('filter.keyword')),
        ]}
        rowActions={actionsOf}
        batchActions={batchActions}
        refreshMs={(response) => whilePassing(response?.items, isChanging)}
        toolbar={
          <>
            <CreateButton cloud={cloud} />
            <Button onClick={() => void navigate(paths.nextstack.vm.command())}>{t('list.terminals')}</Button>
          </>
        }
        empty={
          <EmptyState title={t('list.empty', { cloud: cloud?.name ?? '' })} action={<CreateButton cloud={cloud} />}>
            {t('list.emptyNote')}
          </EmptyState>
        }
      />
    </NextStackPage>
  )
}

function CreateButton({ cloud }: { readonly cloud: CloudBasic | null }) {
  const { t } = useTranslation('nextstack')
  const navigate = useNavigate()
  const reason = cloud === null || cloud.status === 'active' ? null : t(`list.createOff.${cloud.status}`)
  return (
    <Tooltip title={reason}>
      <Button
        type="primary"
        aria-disabled={reason !== null}
        className={reason === null ? '' : 'zs-off'}
        onClick={() => {
          if (reason === null) void navigate(paths.nextstack.vm.add())
        }}
      >
        {t('list.create')}
      </Button>
    </Tooltip>
  )
}
