import Table from 'antd/es/table'
import { constants } from '@zhisuan/contract/constants'
import { computeRouters, type ComputeRouter } from '@zhisuan/contract/compute/router'
import { useTranslation } from '../../../i18n.ts'
import { Link, useNavigate, useParams } from 'react-router'
import { useOne, useChange } from '../../../api/hooks.ts'
import { ActionMenu } from '../../../kit/actions.tsx'
import { DetailPage } from '../../../kit/DetailPage.tsx'
import { EmptyState } from '../../../kit/EmptyState.tsx'
import * as format from '../../../kit/format.ts'
import { StatusTag } from '../../../kit/StatusTag.tsx'
import { paths } from '../../../paths.ts'
import { useIsPlatform } from '../../../session/user.ts'
import { ComputePage, useComputeCloud } from '../ComputePage.tsx'
import { networkTones, invalidatedByNetwork } from './networkText.ts'
import { useRouterActions } from './useRouterActions.tsx'

type Names = Readonly<Record<string, string>>

/** One router: where it leads out, what it joins, and where else it sends packets. */
export default function RouterDetail() {
  const { t } = useTranslation('computeNetwork')
  const { id = '' } = useParams()
  const navigate = useNavigate()
  const platform = useIsPlatform()
  const cloudId = useComputeCloud()?.cloud_id ?? null
  const query = useOne(computeRouters.get, { params: { cloud_id: cloudId ?? '', id } }, { enabled: cloudId !== null, refreshMs: constants.listRefreshMs })
  const { actionsOf } = useRouterActions(cloudId ?? '', () => void navigate(paths.compute.router.list()))
  return (
    <ComputePage>
      {() => (
        <DetailPage
          query={query}
          gone={{ to: paths.compute.router.list() }}
          title={(router) => (router.name === '' ? router.id : router.name)}
          status={({ status }) => <StatusTag tone={networkTones[status]}>{t(`status.${status}`)}</StatusTag>}
          actions={actionsOf}
          facts={(router) => [
            { key: 'id', label: t('column.id'), value: <span className="zs-code">{router.id}</span> },
            { key: 'enabled', label: t('column.enabled'), value: t(router.enabled ? 'on' : 'off') },
            {
              key: 'gateway',
              label: t('router.gateway'),
              value:
                router.gateway === null ? (
                  t('router.noGateway')
                ) : (
                  <Link to={paths.compute.network.detail(router.gateway.network_id)}>
                    {router.names[router.gateway.network_id] ?? router.gateway.network_id}
                  </Link>
                ),
            },
            ...(router.gateway === null
              ? []
              : [
                  { key: 'addresses', label: t('router.outsideAddress'), value: <span className="zs-code">{router.gateway.addresses.join('、')}</span> },
                  { key: 'snat', label: t('router.snat'), value: t(router.gateway.snat ? 'on' : 'off') },
                ]),
            ...(platform && router.keystone_project_id !== null
              ? [{ key: 'owner', label: t('column.owner'), value: router.names[router.keystone_project_id] ?? router.keystone_project_id }]
              : []),
            { key: 'description', label: t('column.description'), value: router.description === '' ? format.nothing : router.description },
          ]}
          tabs={(router) => [
            { key: 'interfaces', label: t('router.subnets'), content: <Interfaces cloudId={cloudId ?? ''} router={router} names={router.names} /> },
            { key: 'routes', label: t('router.routes'), content: <Routes router={router} /> },
          ]}
        />
      )}
    </ComputePage>
  )
}

function Interfaces({ cloudId, router, names }: { readonly cloudId: string; readonly router: ComputeRouter; readonly names: Names }) {
  const { t } = useTranslation('computeNetwork')
  const remove = useChange(computeRouters.removeInterface, { invalidates: invalidatedByNetwork })
  return (
    <Table<ComputeRouter['interfaces'][number]>
      size="small"
      rowKey="port_id"
      pagination={false}
      dataSource={router.interfaces}
      locale={{ emptyText: <EmptyState title={t('router.noSubnets')}>{t('router.noSubnetsNote')}</EmptyState> }}
      columns={[
        {
          key: 'subnet',
          title: t('field.subnet'),
          render: (_, { network_id, addresses }) =>
            addresses.map(({ subnet_id, address }) => (
              <div key={address}>
                {subnet_id === null ? format.nothing : <Link to={paths.compute.network.subnet(subnet_id, network_id)}>{names[subnet_id] ?? subnet_id}</Link>}
              </div>
            )),
        },
        {
          key: 'network',
          title: t('column.network'),
          render: (_, { network_id }) => <Link to={paths.compute.network.detail(network_id)}>{names[network_id] ?? network_id}</Link>,
        },
        {
          key: 'address',
          title: t('router.insideAddress'),
          render: (_, { addresses }) => <span className="zs-code">{addresses.map(({ address }) => address).join('、')}</span>,
        },
        {
          key: 'port',
          title: t('field.port'),
          render: (_, { port_id }) => (
            <Link to={paths.compute.port.detail(port_id)} className="zs-code">
              {port_id.slice(0, 8)}
            </Link>
          ),
        },
        {
          key: 'actions',
          title: t('column.actions'),
          width: 90,
          render: (_, { port_id, addresses }) => (
            <ActionMenu
              actions={[
                {
                  key: 'leave',
                  call: computeRouters.removeInterface,
                  label: t('router.leave'),
                  danger: true,
                  disabledReason: router.changeable ? null : t('notYours'),
                  doneText: t('router.left'),
                  confirm: {
                    title: t('router.leaveTitle', { name: addresses.map(({ subnet_id, address }) => names[subnet_id ?? ''] ?? address).join('、') }),
                    body: t('router.leaveBody'),
                  },
                  run: () => remove.mutateAsync({ params: { cloud_id: cloudId, id: router.id }, body: { port_id } }),
                },
              ]}
            />
          ),
        },
      ]}
    />
  )
}

function Routes({ router }: { readonly router: ComputeRouter }) {
  const { t } = useTranslation('computeNetwork')
  return (
    <Table<ComputeRouter['routes'][number]>
      size="small"
      rowKey={({ destination, next_hop }) => `${destination} ${next_hop}`}
      pagination={false}
      dataSource={router.routes}
      locale={{ emptyText: <EmptyState title={t('router.noRoutes')}>{t('field.routesNote')}</EmptyState> }}
      columns={[
        { key: 'destination', title: t('router.destination'), render: (_, { destination }) => <span className="zs-code">{destination}</span> },
        { key: 'next_hop', title: t('router.nextHop'), render: (_, { next_hop }) => <span className="zs-code">{next_hop}</span> },
      ]}
    />
  )
}
