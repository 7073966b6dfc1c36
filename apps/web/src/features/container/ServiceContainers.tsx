import { services } from '@zhisuan/contract/aos/stack'
import { useTranslation } from '../../i18n.ts'
import { useParams } from 'react-router'
import { usePageTitle } from '../../kit/PageHead.tsx'
import { ResourceTable } from '../../kit/ResourceTable.tsx'
import { containerColumns } from './containerColumns.tsx'
import { isPassing } from './containerRules.ts'
import { useContainerActions } from './useContainerActions.tsx'

/** The containers of a service of a stack. */
export default function ServiceContainers() {
  const { t } = useTranslation(['application', 'container'])
  const { t: ofContainer } = useTranslation('container')
  const { id = '', name = '' } = useParams()
  const { actionsOf } = useContainerActions()
  usePageTitle(name === '' ? t('service.unnamed') : name)
  return (
    <div className="zs-card">
      <ResourceTable
        call={services.instances}
        input={{ params: { id } }}
        columns={containerColumns(ofContainer)}
        rowActions={actionsOf}
        passing={isPassing}
        empty={{ title: t('service.noContainers'), note: t('service.noContainersNote') }}
      />
    </div>
  )
}
