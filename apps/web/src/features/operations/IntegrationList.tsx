import { integrations, integrationStatuses, monitorComponents, type Integration } from '@zhisuan/contract/omc/monitor'
import { useTranslation } from '../../i18n.ts'
import { filter } from '../../kit/filters.ts'
import { ResourceTable } from '../../kit/ResourceTable.tsx'
import { paths } from '../../paths.ts'
import { integrationColumns } from './integrationColumns.tsx'
import { isPassing } from './monitorRules.ts'
import { useIntegrationActions } from './useIntegrationActions.tsx'

/** Components that run on nodes, and those that are registered: how each is. */
export default function IntegrationList() {
  const { t } = useTranslation('operations')
  const actionsOf = useIntegrationActions()
  return (
    <ResourceTable
      call={integrations.list}
      columns={integrationColumns<Integration>(t, ({ id }) => paths.operations.component.installation(id))}
      passing={isPassing}
      filters={[
        filter.oneOf('component', t('component.kind'), monitorComponents, (one) => t(`component.names.${one}`)),
        filter.oneOf('status', t('column.status'), integrationStatuses, (one) => t(`component.status.${one}`)),
        filter.keyword(t('component.keyword')),
      ]}
      rowActions={actionsOf}
      create={{ call: integrations.create, label: t('component.install'), href: paths.operations.component.center() }}
      empty={{ title: t('component.empty'), note: t('component.emptyNote') }}
    />
  )
}
