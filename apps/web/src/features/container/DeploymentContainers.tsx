import { containerStatuses, deployments } from '@zhisuan/contract/cis/container'
import { useTranslation } from '../../i18n.ts'
import { useParams } from 'react-router'
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
      columns={containerColumns(t)}
      filters={[filter.oneOf('status', t('filter.status'), containerStatuses, (value) => t(`status.${value}`)), filter.keyword(t('filter.keyword'))]}
      rowActions={actionsOf}
      batchActions={batchActions}
      passing={isPassing}
      empty={{ title: t('deployment.noContainers') }}
    />
  )
}
