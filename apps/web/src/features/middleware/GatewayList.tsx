import { gatewayStatuses, serviceGateways, type ServiceGateway } from '@zhisuan/contract/middleware/gateway'
import { lazy } from 'react'
import { useTranslation } from '../../i18n.ts'
import { col } from '../../kit/columns.tsx'
import { filter } from '../../kit/filters.ts'
import { ResourceTable } from '../../kit/ResourceTable.tsx'
import { paths } from '../../paths.ts'
import { GatewayMap } from './GatewayMap.tsx'
import { gatewayTones, healthTones, isPassing } from './gatewayRules.ts'
import { useGatewayActions } from './useGatewayActions.tsx'

const GatewayDialog = lazy(() => import('./GatewayDialog.tsx'))

/** The gateways that the platform runs: first what they carry now, as a picture, then each as a row. */
export default function GatewayList() {
  const { t } = useTranslation('middleware')
  const actionsOf = useGatewayActions()
  return (
    <>
      <GatewayMap />
      <ResourceTable
        call={serviceGateways.list}
        columns={[
          col.name<ServiceGateway>('name', t('column.name'), ({ name }) => name, {
            sort: true,
            to: ({ id }) => paths.middleware.gateway.detail(id),
            note: ({ description }) => description,
          }),
          col.text<ServiceGateway>('node', t('column.node'), ({ node }) => node.name, { width: 150, note: ({ addresses }) => addresses[0] ?? '' }),
          col.status<ServiceGateway>(
            'status',
            t('column.status'),
            ({ status, error }) => ({ tone: gatewayTones[status], text: t(`gateway.status.${status}`), note: error }),
            { width: 150 },
          ),
          col.status<ServiceGateway>(
            'health',
            t('column.health'),
            ({ health, health_message }) => ({ tone: healthTones[health], text: t(`gateway.health.${health}`), note: health_message }),
            { width: 140 },
          ),
          col.number<ServiceGateway>('ports', t('column.ports'), ({ port_count }) => port_count, { width: 100 }),
          col.text<ServiceGateway>('version', t('column.version'), ({ version }) => (version === null ? null : `HAProxy ${version}`), { width: 170 }),
          col.date<ServiceGateway>('created_at', t('column.created'), ({ created_at }) => created_at, { sort: true }),
        ]}
        passing={isPassing}
        filters={[filter.oneOf('status', t('column.status'), gatewayStatuses, (one) => t(`gateway.status.${one}`)), filter.keyword(t('gateway.keyword'))]}
        rowActions={actionsOf}
        create={{ call: serviceGateways.create, label: t('gateway.create'), dialog: (close) => <GatewayDialog gateway={null} onClose={close} /> }}
        empty={{ title: t('gateway.empty'), note: t('gateway.emptyNote') }}
      />
    </>
  )
}
