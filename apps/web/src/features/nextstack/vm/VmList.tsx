import Button from 'antd/es/button'
import { vms, vmStatuses, vmTypes } from '@zhisuan/contract/nextstack/vm'
import { useTranslation } from '../../../i18n.ts'
import { useNavigate } from 'react-router'
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
        columns={vmColumns(t, platform)}
        filters={[
          filter.oneOf('status', t('filter.status'), vmStatuses, (value) => t(`status.${value}`)),
          filter.oneOf('type', t('filter.type'), vmTypes, (value) => t(`type.${value}`)),
          filter.keyword(t('filter.keyword')),
        ]}
        rowActions={actionsOf}
        batchActions={batchActions}
        passing={isChanging}
        create={{
          call: vms.create,
          label: t('list.create'),
          disabledReason: cloud === null || cloud.status === 'active' ? null : t(`list.createOff.${cloud.status}`),
          href: paths.nextstack.vm.add(),
        }}
        toolbar={<Button onClick={() => void navigate(paths.nextstack.vm.command())}>{t('list.terminals')}</Button>}
        empty={{ title: t('list.empty', { cloud: cloud?.name ?? '' }), note: t('list.emptyNote') }}
      />
    </NextStackPage>
  )
}
