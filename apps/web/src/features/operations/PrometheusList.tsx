import { prometheus, integrationStatuses, type PrometheusInstance } from '@zhisuan/contract/omc/monitor'
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
      call={prometheus.list}
      // Who opens this page is told all of each.
      rows={({ items }) => items as PrometheusInstance[]}
      columns={integrationColumns<PrometheusInstance>(t, ({ id }) => paths.operations.prometheus.detail(id))}
      passing={(row) => 'origin' in row && isPassing(row)}
      filters={[filter.oneOf('status', t('column.status'), integrationStatuses, (one) => t(`component.status.${one}`)), filter.keyword(t('component.keyword'))]}
      rowActions={actionsOf}
      empty={{ title: t('prometheus.empty'), note: t('prometheus.emptyNote') }}
    />
  )
}
