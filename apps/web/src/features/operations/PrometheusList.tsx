import { integrations, integrationStatuses, type Integration } from '@zhisuan/contract/omc/monitor'
import { useTranslation } from '../../i18n.ts'
import { filter } from '../../kit/filters.ts'
import { ResourceTable } from '../../kit/ResourceTable.tsx'
import { paths } from '../../paths.ts'
import { integrationColumns } from './integrationColumns.tsx'
import { isPassing } from './monitorRules.ts'
import { useIntegrationActions } from './useIntegrationActions.tsx'

/** Prometheus instances, each with its queries, jobs and settings behind its name. */
export default function PrometheusList() {
  const { t } = useTranslation('operations')
  const actionsOf = useIntegrationActions()
  return (
    <ResourceTable
      call={integrations.list}
      input={{ query: { component: 'prometheus' } }}
      columns={integrationColumns<Integration>(t, ({ id }) => paths.operations.prometheus.detail(id))}
      passing={isPassing}
      filters={[filter.oneOf('status', t('column.status'), integrationStatuses, (one) => t(`component.status.${one}`)), filter.keyword(t('component.keyword'))]}
      rowActions={actionsOf}
      empty={{ title: t('prometheus.empty'), note: t('prometheus.emptyNote') }}
    />
  )
}
