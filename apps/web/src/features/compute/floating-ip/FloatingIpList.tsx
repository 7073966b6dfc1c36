import { computeFloatingIps, floatingIpUse, type ComputeFloatingIp } from '@zhisuan/contract/compute/floating-ip'
import type { TFunction } from 'i18next'
import { useTranslation } from '../../../i18n.ts'
import { col, type Column } from '../../../kit/columns.tsx'
import { filter } from '../../../kit/filters.ts'
import * as format from '../../../kit/format.ts'
import { paths } from '../../../paths.ts'
import { useIsPlatform } from '../../../session/user.ts'
import { CloudTable, useCloudLines } from '../CloudTable.tsx'
import { ComputePage, useComputeCloud } from '../ComputePage.tsx'
import { FloatingIpAllocate } from './FloatingIpDialogs.tsx'
import { stateOf, TargetLink, targetName, type NameOf } from './FloatingIpText.tsx'
import { useFloatingIpActions } from './useFloatingIpActions.tsx'

/** Floating IPs of the chosen cloud, with what they lead to. */
export default function FloatingIpList() {
  const { t } = useTranslation('computeFloatingIp')
  const platform = useIsPlatform()
  const cloudId = useComputeCloud()?.cloud_id ?? null
  // The table's own list: questions say by name what will not be reached any more.
  const { data } = useCloudLines(computeFloatingIps.list, cloudId)
  const name: NameOf = (id) => (id === null ? '' : (data?.names[id] ?? id))
  const { actionsOf, batchActions } = useFloatingIpActions(cloudId ?? '', name)
  return (
    <ComputePage>
      {() => (
        <CloudTable
          call={computeFloatingIps.list}
          cloudId={cloudId}
          columns={(named) => floatingIpColumns(t, platform, named)}
          filters={[filter.oneOf('use', t('column.status'), ['free', 'bound'], (value) => t(`use.${value}`)), filter.keyword(t('keyword'))]}
          textOf={(ip) => `${ip.address} ${ip.id} ${ip.description} ${ip.bound_to?.fixed_address ?? ''} ${targetName(ip, name)}`}
          matches={{ use: (ip, value) => floatingIpUse(ip) === value }}
          sortBy={{ address: ({ address }) => address, status: floatingIpUse, created: ({ created_at }) => created_at }}
          sortFirst="address"
          passing={({ status }) => status === 'building'}
          rowActions={actionsOf}
          batchActions={batchActions}
          nameOf={({ address }) => address}
          create={{
            call: computeFloatingIps.allocate,
            label: t('allocate'),
            dialog: (close) => cloudId !== null && <FloatingIpAllocate cloudId={cloudId} onClose={close} />,
          }}
          empty={{ title: t('empty'), note: t('emptyNote') }}
        />
      )}
    </ComputePage>
  )
}

const floatingIpColumns = (t: TFunction<'computeFloatingIp'>, platform: boolean, name: NameOf): readonly Column<ComputeFloatingIp>[] => [
  col.name('address', t('column.address'), ({ address }) => address, {
    sort: true,
    to: ({ id }) => paths.compute.floatingIp.detail(id),
    note: ({ description }) => description,
  }),
  col.status('status', t('column.status'), (ip) => stateOf(t, ip), { sort: true }),
  col.custom(
    'boundTo',
    t('column.boundTo'),
    (ip) =>
      ip.bound_to === null ? (
        format.nothing
      ) : (
        <>
          <TargetLink ip={ip} name={name} />
          <div className="zs-name-note zs-code">{ip.bound_to.fixed_address}</div>
        </>
      ),
    { width: 190 },
  ),
  col.text('network', t('column.network'), ({ network_id }) => name(network_id), {
    to: ({ network_id }) => paths.compute.network.detail(network_id),
    width: 150,
  }),
  col.text('router', t('column.router'), ({ bound_to }) => name(bound_to?.router_id ?? null), {
    to: ({ bound_to }) => (bound_to?.router_id == null ? null : paths.compute.router.detail(bound_to.router_id)),
    width: 150,
  }),
  col.text('owner', t('column.owner'), ({ keystone_project_id }) => name(keystone_project_id), { when: platform, width: 150 }),
  col.date('created', t('column.created'), ({ created_at }) => created_at, { sort: true }),
  col.date('updated', t('column.updated'), ({ updated_at }) => updated_at, { off: true }),
  col.code('id', t('column.id'), ({ id }) => id, { width: 280, off: true }),
]
