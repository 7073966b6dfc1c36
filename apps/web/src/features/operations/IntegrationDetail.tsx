import { integrations, type Integration } from '@zhisuan/contract/omc/monitor'
import Alert from 'antd/es/alert'
import { useParams, Link } from 'react-router'
import { useOne } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { DetailPage } from '../../kit/DetailPage.tsx'
import * as format from '../../kit/format.ts'
import { OperationTable } from '../../kit/OperationTable.tsx'
import { StatusTag } from '../../kit/StatusTag.tsx'
import { paths } from '../../paths.ts'
import { healthTones, isPassing, operationTexts, statusTones } from './monitorRules.ts'
import { useIntegrationActions } from './useIntegrationActions.tsx'

/** One component: where it runs, how it is, and what can be done to it. */
export default function IntegrationDetail() {
  const { t } = useTranslation('operations')
  const { id = '' } = useParams()
  const actionsOf = useIntegrationActions()
  const query = useOne(integrations.get, { params: { id } }, { refreshMs: (one) => (one !== undefined && isPassing(one) ? 1_000 : 5_000) })
  return (
    <DetailPage<Integration>
      query={query}
      gone={{ title: t('component.gone'), back: t('component.back'), to: paths.operations.component.installations() }}
      title={({ name }) => name}
      status={({ status }) => <StatusTag tone={statusTones[status]}>{t(`component.status.${status}`)}</StatusTag>}
      actions={(component) => [
        ...(component.component === 'prometheus'
          ? [{ key: 'open', call: null, label: t('component.toPrometheus'), href: paths.operations.prometheus.detail(component.id) }]
          : []),
        ...actionsOf(component),
      ]}
      notice={({ error }) => (error === null ? null : <Alert type="error" showIcon title={t('component.failed')} description={error} />)}
      facts={(component) => [
        { key: 'kind', label: t('component.kind'), value: t(`component.names.${component.component}`) },
        {
          key: 'health',
          label: t('column.health'),
          value: (
            <>
              <StatusTag tone={healthTones[component.health]}>{t(`component.health.${component.health}`)}</StatusTag> {component.health_message}
            </>
          ),
        },
        { key: 'checked', label: t('component.checked'), value: format.dateTime(component.checked_at) },
        {
          key: 'where',
          label: t('component.where'),
          value: component.node === null ? component.url : <Link to={paths.container.node.detail(component.node.id)}>{component.node.name}</Link>,
        },
        {
          key: 'port',
          label: t('component.listens'),
          value: component.port === null ? format.nothing : <span className="zs-code">{`127.0.0.1:${component.port}`}</span>,
        },
        { key: 'version', label: t('column.version'), value: component.version ?? format.nothing },
        { key: 'description', label: t('column.description'), value: component.description || format.nothing },
        { key: 'by', label: t('column.creator'), value: component.created_by },
        { key: 'created', label: t('column.created'), value: format.dateTime(component.created_at) },
      ]}
      tabs={(component) =>
        component.origin === 'kept'
          ? [
              {
                key: 'history',
                label: t('component.history'),
                content: <OperationTable call={integrations.operations} id={component.id} busy={isPassing(component)} texts={operationTexts(t)} />,
              },
            ]
          : []
      }
    />
  )
}
