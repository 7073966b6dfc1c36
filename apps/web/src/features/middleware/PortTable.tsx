import { gatewayCan, portCan, portProtocols, servicePorts, type ServiceGateway, type ServicePort } from '@zhisuan/contract/middleware/gateway'
import { lazy } from 'react'
import { useChange } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { allowed } from '../../kit/allowed.ts'
import { col } from '../../kit/columns.tsx'
import { filter } from '../../kit/filters.ts'
import * as format from '../../kit/format.ts'
import { ResourceTable } from '../../kit/ResourceTable.tsx'
import { invalidatedByGateway, portTones } from './gatewayRules.ts'

const PortDialog = lazy(() => import('./PortDialog.tsx'))
const TargetDrawer = lazy(() => import('./TargetDrawer.tsx'))

const isUp = ({ now }: ServicePort['targets'][number]): boolean => now.state === 'up' || now.state === 'unchecked'

/** The ports of a gateway: where it listens, who is behind, and how they are. */
export function PortTable({ gateway }: { readonly gateway: ServiceGateway }) {
  const { t } = useTranslation('middleware')
  const remove = useChange(servicePorts.delete, { invalidates: invalidatedByGateway, silent: true })
  const busy = allowed(gatewayCan, 'configure', gateway.status, t(`gateway.status.${gateway.status}`))
  return (
    <ResourceTable
      name="ports"
      call={servicePorts.list}
      input={{ query: { gateway_id: gateway.id } }}
      columns={[
        col.name<ServicePort>('name', t('column.name'), ({ name }) => name, { sort: true, note: ({ description }) => description }),
        col.text<ServicePort>('port', t('port.listens'), ({ protocol, port }) => `${protocol.toUpperCase()} ${port}`, { width: 120, sort: true }),
        col.status<ServicePort>(
          'status',
          t('column.status'),
          ({ status, error }) => ({
            tone: error !== null && status === 'active' ? 'warning' : portTones[status],
            text: t(`port.status.${status}`),
            note: error === null ? null : status === 'active' ? t('port.notTaken', { reason: error }) : error,
          }),
          { width: 220 },
        ),
        col.status<ServicePort>(
          'targets',
          t('port.targets'),
          ({ targets }) => {
            const up = targets.filter(isUp).length
            const worst = targets.find(({ now }) => now.state === 'down')
            return {
              tone: up === targets.length ? 'good' : up === 0 ? 'bad' : 'warning',
              text: t('port.upOf', { up, count: targets.length }),
              note:
                worst === undefined
                  ? null
                  : t('port.down', { target: `${worst.address}:${worst.port}`, reason: worst.now.reason === null ? '' : t(`reason.${worst.now.reason}`) }),
            }
          },
          { width: 210 },
        ),
        col.text<ServicePort>(
          'balance',
          t('field.balance'),
          ({ balance, sticky }) => t(`port.balance.${balance}`) + (sticky ? ` · ${t('field.sticky')}` : ''),
          { width: 150 },
        ),
        col.number<ServicePort>('connections', t('traffic.connections'), ({ traffic }) => traffic?.connections, { width: 100 }),
        col.text<ServicePort>(
          'bytes',
          t('traffic.title'),
          ({ traffic }) => (traffic === null ? null : t('traffic.bytes', { in: format.bytes(traffic.bytes_in), out: format.bytes(traffic.bytes_out) })),
          { width: 190 },
        ),
        col.date<ServicePort>('created_at', t('column.created'), ({ created_at }) => created_at, { sort: true, off: true }),
      ]}
      passing={({ status }) => status === 'creating' || status === 'changing' || status === 'deleting'}
      filters={[filter.oneOf('protocol', t('field.protocol'), portProtocols, (one) => one.toUpperCase()), filter.keyword(t('port.keyword'))]}
      rowActions={(port) => {
        const { id, name, status } = port
        const whyNot = (action: keyof typeof portCan): string | null => allowed(portCan, action, status, t(`port.status.${status}`)) ?? busy
        return [
          { key: 'targets', call: servicePorts.get, label: t('port.targets'), dialog: (close) => <TargetDrawer id={id} onClose={close} /> },
          {
            key: 'edit',
            call: servicePorts.update,
            label: t('edit'),
            disabledReason: whyNot('update'),
            dialog: (close) => <PortDialog gateway={gateway} port={port} onClose={close} />,
          },
          {
            key: 'delete',
            call: servicePorts.delete,
            label: t('delete'),
            danger: true,
            disabledReason: whyNot('delete'),
            confirm: { title: t('port.deleteTitle', { name }), body: t('port.deleteBody', { port: port.port, minutes: gateway.drain_minutes }) },
            doneText: t('port.deleting', { name }),
            run: () => remove.mutateAsync({ params: { id } }),
          },
        ]
      }}
      create={{
        call: servicePorts.create,
        label: t('port.create'),
        disabledReason: busy,
        dialog: (close) => <PortDialog gateway={gateway} port={null} onClose={close} />,
      }}
      empty={{ title: t('port.empty'), note: t('port.emptyNote') }}
    />
  )
}
