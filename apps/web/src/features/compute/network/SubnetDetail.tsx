import { constants } from '@zhisuan/contract/constants'
import { computeSubnets } from '@zhisuan/contract/compute/network'
import { useTranslation } from '../../../i18n.ts'
import { Link, useNavigate, useParams } from 'react-router'
import { useOne } from '../../../api/hooks.ts'
import { DetailPage } from '../../../kit/DetailPage.tsx'
import * as format from '../../../kit/format.ts'
import { paths } from '../../../paths.ts'
import { ComputePage, useComputeCloud } from '../ComputePage.tsx'
import './network.css'
import { useSubnetActions } from './useNetworkActions.tsx'

/** One subnet: its range, and what those get who are in it. */
export default function SubnetDetail() {
  const { t } = useTranslation('computeNetwork')
  const { id = '', network_id = '' } = useParams()
  const navigate = useNavigate()
  const cloudId = useComputeCloud()?.cloud_id ?? null
  const query = useOne(computeSubnets.get, { params: { cloud_id: cloudId ?? '', id } }, { enabled: cloudId !== null, refreshMs: constants.listRefreshMs })
  const { actionsOf } = useSubnetActions(cloudId ?? '', () => void navigate(paths.compute.network.detail(network_id)))
  const lines = (texts: readonly string[]) =>
    texts.length === 0 ? (
      format.nothing
    ) : (
      <ul className="cnet-lines zs-code">
        {texts.map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
    )
  return (
    <ComputePage>
      {() => (
        <DetailPage
          query={query}
          gone={{ to: paths.compute.network.detail(network_id) }}
          title={({ name, cidr }) => (name === '' ? cidr : name)}
          actions={actionsOf}
          facts={(subnet) => [
            { key: 'id', label: t('column.id'), value: <span className="zs-code">{subnet.id}</span> },
            {
              key: 'network',
              label: t('column.network'),
              value: <Link to={paths.compute.network.detail(subnet.network_id)}>{subnet.names[subnet.network_id] ?? subnet.network_id}</Link>,
            },
            { key: 'cidr', label: t('field.cidr'), value: <span className="zs-code">{subnet.cidr}</span> },
            {
              key: 'gateway',
              label: t('field.gateway'),
              value: subnet.gateway === null ? t('field.gatewayKind.none') : <span className="zs-code">{subnet.gateway}</span>,
            },
            { key: 'dhcp', label: t('field.dhcp'), value: t(subnet.dhcp ? 'on' : 'off') },
            { key: 'nameservers', label: t('field.nameservers'), value: lines(subnet.nameservers) },
            { key: 'pools', label: t('field.pools'), value: lines(subnet.pools.map(({ start, end }) => `${start} – ${end}`)) },
            {
              key: 'hostRoutes',
              label: t('field.hostRoutes'),
              value: lines(subnet.host_routes.map(({ destination, next_hop }) => `${destination} → ${next_hop}`)),
            },
            { key: 'description', label: t('column.description'), value: subnet.description === '' ? format.nothing : subnet.description },
          ]}
        />
      )}
    </ComputePage>
  )
}
