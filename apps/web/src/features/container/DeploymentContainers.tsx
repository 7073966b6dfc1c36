import { containerStatuses, deployments } from '@zhisuan/contract/cis/container'
import { useTranslation } from 'react-i18next'
import { useParams } from 'react-router'
import { whilePassing } from '../../kit/whilePassing.ts'
import { EmptyState } from '../../kit/EmptyState.tsx'
import { filter } from '../../kit/filters.ts'
import { usePageTitle } from '../../kit/PageHead.tsx'
import { ResourceTable } from '../../kit/ResourceTable.tsx'
import { containerColumns } from './containerColumns.tsx'
import { isPassing } from './containerRules.ts'
import { useContainerActions } from './useContainerActions.tsx'

/** The containers of a deployment, one on each of its nodes. */
export default function DeploymentContainers() {
  const { t } = useTranslation('container')
  const { id = '', name = '' } = useParams()
  const { actionsOf, batchActions } = useContainerActions()
  usePageTitle(name === '' ? t('deployment.unnamed') : name)
  return (
    <ResourceTable
      call={deployments.instances}
      input={{ params: { id } }}
      rows={({ items }) => items}
      rowKey="id"
      columns={containerColumns(t)}
      filters={[
        filter.select(
          'status',
          t('filter.status'),
          containerStatuses.map((value) => ({ value, label: t(`status.${value}`) })),
        ),
        filter.keyword(t('filter.keyword')),
      ]}
      rowActions={actionsOf}
      batchActions={batchActions}
      refreshMs={(response) => whilePassing(response?.items, isPassing)}
      empty={<EmptyState title={t('deployment.noContainers')} />}
    />
  )
}
