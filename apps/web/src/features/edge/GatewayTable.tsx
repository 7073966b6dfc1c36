import { gatewayCan, gateways, gatewayStatuses, type Gateway } from '@zhisuan/contract/ecrm/edge'
import { sites } from '@zhisuan/contract/ecrm/region'
import type { TFunction } from 'i18next'
import { useTranslation } from '../../i18n.ts'
import { useCall, useChange } from '../../api/hooks.ts'
import type { Action } from '../../kit/actions.tsx'
import { allowed } from '../../kit/allowed.ts'
import { col, type Column } from '../../kit/columns.tsx'
import { filter } from '../../kit/filters.ts'
import { ResourceTable } from '../../kit/ResourceTable.tsx'
import { paths } from '../../paths.ts'
import { gatewayTones, invalidatedByGateway } from './edgeRules.ts'
import { GatewayDialog } from './GatewayDialog.tsx'

/** Gateways of all sites, or of one. */
export function GatewayTable({ siteId }: { readonly siteId?: string }) {
  const { t } = useTranslation('edge')
  const actionsOf = useGatewayActions()
  const { data } = useCall(sites.list, { query: { page_size: 1000, sort: 'name' } }, { silent: true, enabled: siteId === undefined })
  return (
    <>
      <ResourceTable
        {...(siteId !== undefined && { name: 'gateways', input: { query: { site_id: siteId } } })}
        call={gateways.list}
        columns={gatewayColumns(t, siteId === undefined)}
        filters={[
          ...(siteId === undefined ? [filter.named('site_id', t('filter.site'), data?.items)] : []),
          filter.oneOf('status', t('filter.status'), gatewayStatuses, (value) => t(`gateway.status.${value}`)),
          filter.keyword(t('gateway.keyword')),
        ]}
        rowActions={actionsOf}
        create={{
          call: gateways.create,
          label: t('gateway.create'),
          dialog: (close) => <GatewayDialog {...(siteId !== undefined && { siteId })} onClose={close} />,
        }}
        passing={({ status }) => status === 'rebooting'}
        empty={{ title: t('gateway.none'), note: t('gateway.noneNote') }}
      />
    </>
  )
}

/** What an administrator can do to a gateway. */
function useGatewayActions(): (gateway: Gateway) => readonly Action[] {
  const { t } = useTranslation('edge')
  const act = useChange(gateways.action, { invalidates: invalidatedByGateway })
  const remove = useChange(gateways.delete, { invalidates: invalidatedByGateway })
  return (gateway) => {
    const { id, name, status, agent_count: count } = gateway
    const whyNot = (action: keyof typeof gatewayCan): string | null => allowed(gatewayCan, action, status, t(`gateway.status.${status}`))
    const run = (action: 'active' | 'deactive' | 'reboot') => () => act.mutateAsync({ params: { id }, query: { action } })
    return [
      status === 'deactive'
        ? { key: 'active', call: gateways.action, label: t('gateway.active'), doneText: t('gateway.activated', { name }), run: run('active') }
        : {
            key: 'deactive',
            call: gateways.action,
            label: t('gateway.deactive'),
            danger: true,
            disabledReason: whyNot('deactive'),
            confirm: { title: t('gateway.deactiveTitle', { name }), body: t('gateway.cutBody', { count }) },
            doneText: t('gateway.deactivated', { name }),
            run: run('deactive'),
          },
      {
        key: 'reboot',
        call: gateways.action,
        label: t('gateway.reboot'),
        disabledReason: whyNot('reboot'),
        confirm: { title: t('gateway.rebootTitle', { name }), body: t('gateway.rebootBody', { count }) },
        doneText: t('gateway.rebooted', { name }),
        run: run('reboot'),
      },
      {
        key: 'delete',
        call: gateways.delete,
        label: t('action.delete'),
        danger: true,
        disabledReason: whyNot('delete'),
        confirm: { title: t('gateway.deleteTitle', { name }), body: t('gateway.deleteBody') },
        doneText: t('delete.done', { name }),
        run: () => remove.mutateAsync({ params: { id } }),
      },
    ]
  }
}

/** @param all whether gateways of several sites meet here */
const gatewayColumns = (t: TFunction<'edge'>, all: boolean): readonly Column<Gateway>[] => [
  col.name('name', t('column.name'), (gateway) => gateway.name, { sort: true, note: (gateway) => gateway.description }),
  col.status(
    'status',
    t('column.status'),
    (gateway) => ({ tone: gatewayTones[gateway.status], text: t(`gateway.status.${gateway.status}`), note: gateway.error }),
    { sort: true },
  ),
  col.text('site', t('column.site'), (gateway) => gateway.site.name, { when: all, width: 140 }),
  col.text('edge', t('gateway.edge'), (gateway) => gateway.edge.name, { to: (gateway) => paths.container.node.detail(gateway.edge.id), width: 160 }),
  col.code(
    'address',
    t('gateway.address'),
    (gateway) => (gateway.address.includes(':') ? `[${gateway.address}]:${gateway.port}` : `${gateway.address}:${gateway.port}`),
    { width: 200 },
  ),
  col.number('agents', t('gateway.agents'), (gateway) => gateway.agent_count, { width: 100 }),
  col.date('created_at', t('column.created'), (gateway) => gateway.created_at, { sort: true }),
]
