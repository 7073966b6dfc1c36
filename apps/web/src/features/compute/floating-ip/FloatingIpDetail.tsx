import { constants } from '@zhisuan/contract/constants'
import { computeFloatingIps } from '@zhisuan/contract/compute/floating-ip'
import { useTranslation } from '../../../i18n.ts'
import { Link, useNavigate, useParams } from 'react-router'
import { useOne } from '../../../api/hooks.ts'
import { DetailPage } from '../../../kit/DetailPage.tsx'
import * as format from '../../../kit/format.ts'
import { paths } from '../../../paths.ts'
import { useIsPlatform } from '../../../session/user.ts'
import { ComputePage, useComputeCloud } from '../ComputePage.tsx'
import { FloatingIpState, TargetLink, type NameOf } from './FloatingIpText.tsx'
import { useFloatingIpActions } from './useFloatingIpActions.tsx'

/** One floating IP: where it is from, and what it leads to. */
export default function FloatingIpDetail() {
  const { t } = useTranslation('computeFloatingIp')
  const { id = '' } = useParams()
  const navigate = useNavigate()
  const platform = useIsPlatform()
  const cloudId = useComputeCloud()?.cloud_id ?? null
  const query = useOne(computeFloatingIps.get, { params: { cloud_id: cloudId ?? '', id } }, { enabled: cloudId !== null, refreshMs: constants.listRefreshMs })
  const name: NameOf = (of) => (of === null ? '' : (query.data?.names[of] ?? of))
  const { actionsOf } = useFloatingIpActions(cloudId ?? '', name, () => void navigate(paths.compute.floatingIp.list()))
  return (
    <ComputePage>
      {() => (
        <DetailPage
          query={query}
          gone={{ to: paths.compute.floatingIp.list() }}
          title={({ address }) => address}
          status={(ip) => <FloatingIpState ip={ip} />}
          actions={actionsOf}
          facts={(ip) => [
            { key: 'network', label: t('column.network'), value: <Link to={paths.compute.network.detail(ip.network_id)}>{name(ip.network_id)}</Link> },
            ...(ip.bound_to === null
              ? [{ key: 'boundTo', label: t('column.boundTo'), value: format.nothing }]
              : [
                  {
                    key: 'boundTo',
                    label: t(ip.bound_to.instance_id === null ? 'column.boundTo' : 'column.instance'),
                    value: <TargetLink ip={ip} name={name} />,
                  },
                  { key: 'fixed', label: t('column.fixed'), value: <span className="zs-code">{ip.bound_to.fixed_address}</span> },
                  {
                    key: 'port',
                    label: t('column.port'),
                    value: (
                      <Link to={paths.compute.port.detail(ip.bound_to.port_id)} className="zs-code">
                        {ip.bound_to.port_name === '' ? ip.bound_to.port_id.slice(0, 8) : ip.bound_to.port_name}
                      </Link>
                    ),
                  },
                  {
                    key: 'router',
                    label: t('column.router'),
                    value:
                      ip.bound_to.router_id === null ? (
                        format.nothing
                      ) : (
                        <Link to={paths.compute.router.detail(ip.bound_to.router_id)}>{name(ip.bound_to.router_id)}</Link>
                      ),
                  },
                ]),
            ...(platform && ip.keystone_project_id !== null ? [{ key: 'owner', label: t('column.owner'), value: name(ip.keystone_project_id) }] : []),
            { key: 'created', label: t('column.created'), value: format.dateTime(ip.created_at) },
            { key: 'updated', label: t('column.updated'), value: format.dateTime(ip.updated_at) },
            { key: 'id', label: t('column.id'), value: <span className="zs-code">{ip.id}</span> },
            { key: 'description', label: t('column.description'), value: ip.description === '' ? format.nothing : ip.description },
          ]}
        />
      )}
    </ComputePage>
  )
}
