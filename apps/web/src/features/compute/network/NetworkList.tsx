import { computeNetworks, networkStatuses, type ComputeNetwork } from '@zhisuan/contract/compute/network'
import type { TFunction } from 'i18next'
import { useTranslation } from '../../../i18n.ts'
import { col, type Column } from '../../../kit/columns.tsx'
import { DetailTabs } from '../../../kit/DetailPage.tsx'
import { filter } from '../../../kit/filters.ts'
import { paths } from '../../../paths.ts'
import { useIsPlatform } from '../../../session/user.ts'
import { CloudTable } from '../CloudTable.tsx'
import { ComputePage } from '../ComputePage.tsx'
import { QuotaCard } from '../tenancy/QuotaCard.tsx'
import { NetworkCreate } from './NetworkDialogs.tsx'
import { networkTones } from './networkText.ts'
import { Topology } from './Topology.tsx'
import { useNetworkActions } from './useNetworkActions.tsx'

/** Networks of the chosen cloud: as a list, and how they hang together. */
export default function NetworkList() {
  const { t } = useTranslation('computeNetwork')
  return (
    <ComputePage>
      {(cloud) => (
        <DetailTabs
          tabs={[
            { key: 'list', label: t('tab.list'), content: <Networks cloudId={cloud?.cloud_id ?? null} /> },
            { key: 'topology', label: t('tab.topology'), content: <Topology cloudId={cloud?.cloud_id ?? null} /> },
          ]}
        />
      )}
    </ComputePage>
  )
}

function Networks({ cloudId }: { readonly cloudId: string | null }) {
  const { t } = useTranslation('computeNetwork')
  const platform = useIsPlatform()
  const { actionsOf } = useNetworkActions(cloudId ?? '')
  return (
    <>
      <QuotaCard cloudId={cloudId} about={['networks', 'subnets', 'routers', 'floating_ips']} />
      <CloudTable
        call={computeNetworks.list}
        cloudId={cloudId}
        columns={(name) => networkColumns(t, platform, name)}
        filters={[
          filter.oneOf('status', t('column.status'), networkStatuses, (value) => t(`status.${value}`)),
          filter.oneOf('kind', t('column.kind'), ['own', 'shared', 'external'], (value) => t(`network.${value}`)),
          filter.keyword(t('keyword.network')),
        ]}
        textOf={({ name, id, description, subnets }) => `${name} ${id} ${description} ${subnets.map((subnet) => `${subnet.name} ${subnet.cidr}`).join(' ')}`}
        matches={{
          status: ({ status }, value) => status === value,
          kind: (network, value) => (value === 'shared' ? network.shared : value === 'external' ? network.external : !network.shared && !network.external),
        }}
        sortBy={{ name: ({ name }) => name, status: ({ status }) => status, mtu: ({ mtu }) => mtu }}
        sortFirst="name"
        passing={({ status }) => status === 'building'}
        rowActions={actionsOf}
        create={{
          call: computeNetworks.create,
          label: t('network.create'),
          dialog: (close) => cloudId !== null && <NetworkCreate cloudId={cloudId} onClose={close} />,
        }}
        empty={{ title: t('network.empty'), note: t('network.emptyNote') }}
      />
    </>
  )
}

/** How a network is used: everybody's, the way out, one's own. */
export const kindText = (t: TFunction<'computeNetwork'>, network: ComputeNetwork): string =>
  [...(network.external ? [t('network.external')] : []), ...(network.shared ? [t('network.shared')] : [])].join('、') || t('network.own')

const networkColumns = (t: TFunction<'computeNetwork'>, platform: boolean, name: (id: string | null) => string): readonly Column<ComputeNetwork>[] => [
  col.name('name', t('column.name'), (network) => (network.name === '' ? network.id : network.name), {
    sort: true,
    to: (network) => paths.compute.network.detail(network.id),
    note: ({ description }) => description,
  }),
  col.status(
    'status',
    t('column.status'),
    ({ status, enabled }) => ({ tone: networkTones[status], text: t(`status.${status}`), note: enabled ? null : t('disabled') }),
    { sort: true },
  ),
  col.tags('subnets', t('column.subnets'), ({ subnets }) => subnets.map(({ cidr }) => cidr)),
  col.text('kind', t('column.kind'), (network) => kindText(t, network), { width: 110 }),
  col.number('mtu', t('column.mtu'), ({ mtu }) => mtu, { sort: true, width: 80 }),
  col.text('portSecurity', t('column.portSecurity'), ({ port_security }) => t(port_security ? 'on' : 'off'), { width: 90 }),
  col.text('owner', t('column.owner'), ({ keystone_project_id }) => name(keystone_project_id), { when: platform, width: 160 }),
  col.text(
    'provider',
    t('column.provider'),
    ({ provider }) =>
      provider === null ? null : [provider.type.toUpperCase(), provider.physical_network, provider.segmentation_id].filter((part) => part !== null).join(' · '),
    { when: platform, width: 160, off: true },
  ),
  col.code('id', t('column.id'), ({ id }) => id, { width: 280, off: true }),
]
