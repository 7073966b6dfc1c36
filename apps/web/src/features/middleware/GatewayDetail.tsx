import { serviceGateways } from '@zhisuan/contract/middleware/gateway'
import Alert from 'antd/es/alert'
import { Link, useParams } from 'react-router'
import { useOne } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { DetailPage } from '../../kit/DetailPage.tsx'
import * as format from '../../kit/format.ts'
import { OperationTable } from '../../kit/OperationTable.tsx'
import { StatusTag } from '../../kit/StatusTag.tsx'
import { paths } from '../../paths.ts'
import { gatewayTones, healthTones, isPassing, operationTexts } from './gatewayRules.ts'
import { PortTable } from './PortTable.tsx'
import { useGatewayActions } from './useGatewayActions.tsx'

/** One gateway: where it runs, what it carries, its ports and what was done to them. */
export default function GatewayDetail() {
  const { t } = useTranslation('middleware')
  const { id = '' } = useParams()
  const actionsOf = useGatewayActions()
  const query = useOne(serviceGateways.get, { params: { id } }, { refreshMs: (one) => (one !== undefined && isPassing(one) ? 1_000 : 5_000) })
  return (
    <DetailPage
      query={query}
      gone={{ title: t('gateway.gone'), back: t('gateway.back'), to: paths.middleware.gateway.list() }}
      title={({ name }) => name}
      about={(gateway) => ({ kind: 'middleware.gateway', id: gateway.id })}
      status={({ status }) => <StatusTag tone={gatewayTones[status]}>{t(`gateway.status.${status}`)}</StatusTag>}
      actions={actionsOf}
      notice={({ error }) => (error === null ? null : <Alert className="zs-above" type="error" showIcon title={t('gateway.failed')} description={error} />)}
      facts={(gateway) => [
        {
          key: 'health',
          label: t('column.health'),
          value: (
            <>
              <StatusTag tone={healthTones[gateway.health]}>{t(`gateway.health.${gateway.health}`)}</StatusTag> {gateway.health_message}
            </>
          ),
        },
        { key: 'node', label: t('column.node'), value: <Link to={paths.container.node.detail(gateway.node.id)}>{gateway.node.name}</Link> },
        { key: 'addresses', label: t('field.addresses'), value: <span className="zs-code">{gateway.addresses.join('、') || format.nothing}</span> },
        {
          key: 'connections',
          label: t('traffic.connections'),
          value:
            gateway.traffic === null
              ? format.nothing
              : t('traffic.ofMost', { now: gateway.traffic.connections, most: gateway.connections_most, rate: gateway.traffic.connections_per_second }),
        },
        {
          key: 'bytes',
          label: t('traffic.title'),
          value:
            gateway.traffic === null
              ? format.nothing
              : t('traffic.bytes', { in: format.bytes(gateway.traffic.bytes_in), out: format.bytes(gateway.traffic.bytes_out) }),
        },
        { key: 'drain', label: t('field.drain'), value: t('minutes', { count: gateway.drain_minutes }) },
        { key: 'version', label: t('column.version'), value: gateway.version === null ? format.nothing : `HAProxy ${gateway.version}` },
        { key: 'description', label: t('column.description'), value: gateway.description || format.nothing },
        { key: 'by', label: t('column.creator'), value: gateway.created_by },
        { key: 'created', label: t('column.created'), value: format.dateTime(gateway.created_at) },
      ]}
      tabs={(gateway) => [
        { key: 'ports', label: t('column.ports'), content: <PortTable gateway={gateway} /> },
        {
          key: 'history',
          label: t('history'),
          content: <OperationTable call={serviceGateways.operations} id={gateway.id} busy={isPassing(gateway)} texts={operationTexts(t)} />,
        },
      ]}
    />
  )
}
