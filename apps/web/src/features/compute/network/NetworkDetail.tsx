import { constants } from '@zhisuan/contract/constants'
import { computeNetworks, computeSubnets, type ComputeSubnet } from '@zhisuan/contract/compute/network'
import type { TFunction } from 'i18next'
import { useTranslation } from '../../../i18n.ts'
import { useNavigate, useParams } from 'react-router'
import { useOne } from '../../../api/hooks.ts'
import { col, type Column } from '../../../kit/columns.tsx'
import { DetailPage } from '../../../kit/DetailPage.tsx'
import * as format from '../../../kit/format.ts'
import { StatusTag } from '../../../kit/StatusTag.tsx'
import { paths } from '../../../paths.ts'
import { useIsPlatform } from '../../../session/user.ts'
import { CloudTable } from '../CloudTable.tsx'
import { ComputePage, useComputeCloud } from '../ComputePage.tsx'
import { kindText } from './NetworkList.tsx'
import { networkTones } from './networkText.ts'
import { PortsOf } from './PortsOf.tsx'
import { useNetworkActions, useSubnetActions } from './useNetworkActions.tsx'

/** One network: what it is, its subnets, and what is plugged into it. */
export default function NetworkDetail() {
  const { t } = useTranslation('computeNetwork')
  const { id = '' } = useParams()
  const navigate = useNavigate()
  const platform = useIsPlatform()
  const cloudId = useComputeCloud()?.cloud_id ?? null
  const query = useOne(computeNetworks.get, { params: { cloud_id: cloudId ?? '', id } }, { enabled: cloudId !== null, refreshMs: constants.listRefreshMs })
  const { actionsOf } = useNetworkActions(cloudId ?? '', () => void navigate(paths.compute.network.list()))
  return (
    <ComputePage>
      {() => (
        <DetailPage
          query={query}
          gone={{ to: paths.compute.network.list() }}
          title={(network) => (network.name === '' ? network.id : network.name)}
          status={({ status }) => <StatusTag tone={networkTones[status]}>{t(`status.${status}`)}</StatusTag>}
          actions={actionsOf}
          facts={(network) => [
            { key: 'id', label: t('column.id'), value: <span className="zs-code">{network.id}</span> },
            { key: 'kind', label: t('column.kind'), value: kindText(t, network) },
            { key: 'enabled', label: t('column.enabled'), value: t(network.enabled ? 'on' : 'off') },
            { key: 'portSecurity', label: t('column.portSecurity'), value: t(network.port_security ? 'on' : 'off') },
            { key: 'mtu', label: t('column.mtu'), value: network.mtu ?? format.nothing },
            ...(platform && network.keystone_project_id !== null
              ? [{ key: 'owner', label: t('column.owner'), value: network.names[network.keystone_project_id] ?? network.keystone_project_id }]
              : []),
            ...(network.provider === null
              ? []
              : [
                  { key: 'providerType', label: t('column.providerType'), value: network.provider.type.toUpperCase() },
                  { key: 'physicalNetwork', label: t('column.physicalNetwork'), value: network.provider.physical_network ?? format.nothing },
                  { key: 'segmentation', label: t('column.segmentation'), value: network.provider.segmentation_id ?? format.nothing },
                ]),
            { key: 'description', label: t('column.description'), value: network.description === '' ? format.nothing : network.description },
          ]}
          tabs={(network) => [
            { key: 'subnets', label: t('tab.subnets'), content: <Subnets cloudId={cloudId} networkId={network.id} /> },
            {
              key: 'ports',
              label: t('tab.ports'),
              content: (
                <PortsOf cloudId={cloudId} only={({ network_id }) => network_id === network.id} empty={{ title: t('port.empty'), note: t('port.emptyNote') }} />
              ),
            },
          ]}
        />
      )}
    </ComputePage>
  )
}

function Subnets({ cloudId, networkId }: { readonly cloudId: string | null; readonly networkId: string }) {
  const { t } = useTranslation('computeNetwork')
  const { actionsOf } = useSubnetActions(cloudId ?? '')
  return (
    <CloudTable
      name="subnets"
      call={computeSubnets.list}
      cloudId={cloudId}
      columns={() => subnetColumns(t)}
      only={({ network_id }) => network_id === networkId}
      textOf={({ name, cidr, id }) => `${name} ${cidr} ${id}`}
      sortBy={{ cidr: ({ cidr }) => cidr, name: ({ name }) => name }}
      sortFirst="cidr"
      rowActions={actionsOf}
      empty={{ title: t('subnet.empty'), note: t('subnet.emptyNote') }}
    />
  )
}

const subnetColumns = (t: TFunction<'computeNetwork'>): readonly Column<ComputeSubnet>[] => [
  col.name('name', t('column.name'), ({ name, cidr }) => (name === '' ? cidr : name), {
    sort: true,
    to: ({ id, network_id }) => paths.compute.network.subnet(id, network_id),
    note: ({ description }) => description,
  }),
  col.code('cidr', t('field.cidr'), ({ cidr }) => cidr, { sort: true, width: 170 }),
  col.code('gateway', t('field.gateway'), ({ gateway }) => gateway, { width: 150 }),
  col.text('dhcp', t('field.dhcp'), ({ dhcp }) => t(dhcp ? 'on' : 'off'), { width: 80 }),
  col.tags('nameservers', t('field.nameservers'), ({ nameservers }) => nameservers),
  col.code('id', t('column.id'), ({ id }) => id, { width: 280, off: true }),
]
