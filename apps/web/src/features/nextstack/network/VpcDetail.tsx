import Alert from 'antd/es/alert'
import Tag from 'antd/es/tag'
import type { ResponseOf } from '@zhisuan/contract/define'
import { vms, type Vm } from '@zhisuan/contract/nextstack/vm'
import { vpcs, type Vpc } from '@zhisuan/contract/nextstack/vpc'
import type { TFunction } from 'i18next'
import { useTranslation } from '../../../i18n.ts'
import { Link, useNavigate, useParams } from 'react-router'
import { whilePassing } from '../../../kit/whilePassing.ts'
import { useOne } from '../../../api/hooks.ts'
import { ActionButton } from '../../../kit/actions.tsx'
import { col, type Column } from '../../../kit/columns.tsx'
import { DetailPage } from '../../../kit/DetailPage.tsx'
import * as format from '../../../kit/format.ts'
import { ResourceTable } from '../../../kit/ResourceTable.tsx'
import { StatusTag } from '../../../kit/StatusTag.tsx'
import { paths } from '../../../paths.ts'
import { useCloud } from '../../../session/cloud.ts'
import { CloudNotice } from '../CloudNotice.tsx'
import { VmStatusTag } from '../vm/VmStatusTag.tsx'
import { Topology } from './Topology.tsx'
import { useVpcActions } from './useVpcActions.tsx'
import { vpcTones, isPassing } from './vpcRules.ts'

type Lease = ResponseOf<typeof vpcs.leases>['items'][number]

/** One private network: what it is, who is in it, and how it is reached. */
export default function VpcDetail() {
  const { t } = useTranslation('network')
  const navigate = useNavigate()
  const { id = '' } = useParams()
  const query = useOne(vpcs.get, { params: { id } }, { refreshMs: (vpc) => whilePassing(vpc, isPassing) })
  const cloud = useCloud(query.data?.cloud_id)
  const { actionsOf } = useVpcActions(() => void navigate(paths.nextstack.vpc.list()))
  return (
    <DetailPage
      query={query}
      gone={{ title: t('vpc.gone'), to: paths.nextstack.vpc.list(), back: t('vpc.back') }}
      title={(vpc) => vpc.name}
      status={(vpc) => <StatusTag tone={vpcTones[vpc.status]}>{t(`vpc.status.${vpc.status}`)}</StatusTag>}
      actions={actionsOf}
      notice={(vpc) => (
        <>
          <CloudNotice cloud={cloud} />
          {vpc.status === 'lost' && <Alert className="zs-above" type="error" showIcon title={t('vpc.status.lost')} description={t('vpc.lostReason')} />}
          {vpc.status !== 'lost' && vpc.error !== null && <Alert className="zs-above" type="error" showIcon title={t('vpc.failed')} description={vpc.error} />}
        </>
      )}
      facts={(vpc) => [
        { key: 'cidr', label: t('column.cidr'), value: <span className="zs-code">{vpc.cidr}</span> },
        { key: 'gateway', label: t('column.gateway'), value: <span className="zs-code">{vpc.gateway}</span> },
        { key: 'addresses', label: t('column.addresses'), value: t('size.addresses', { used: vpc.address_used, count: vpc.address_count }) },
        { key: 'nat', label: t('column.nat'), value: vpc.nat === null ? t('none') : <Link to={paths.nextstack.nat.detail(vpc.nat.id)}>{vpc.nat.name}</Link> },
        { key: 'groups', label: t('column.groups'), value: <Groups vpc={vpc} /> },
        { key: 'dns', label: t('field.dnsDomain'), value: vpc.dns_domain ?? t('none') },
        { key: 'dhcp', label: t('field.dhcp'), value: vpc.dhcp ? t('yes') : t('no') },
        { key: 'creator', label: t('column.creator'), value: vpc.created_by },
        { key: 'created', label: t('column.created'), value: format.dateTime(vpc.created_at) },
        { key: 'description', label: t('column.description'), value: vpc.description === '' ? format.nothing : vpc.description },
      ]}
      tabs={(vpc) => [
        { key: 'topology', label: t('vpc.tab.topology'), content: <Topology vpc={vpc} /> },
        { key: 'vms', label: t('vpc.tab.vms'), content: <Instances vpc={vpc} /> },
        { key: 'leases', label: t('vpc.tab.leases'), content: <Leases vpc={vpc} /> },
      ]}
    />
  )
}

function Groups({ vpc }: { readonly vpc: Vpc }) {
  const { t } = useTranslation('network')
  if (vpc.security_groups.length === 0) return t('none')
  return vpc.security_groups.map(({ id, name }) => <Tag key={id}>{name}</Tag>)
}

function Instances({ vpc }: { readonly vpc: Vpc }) {
  const { t } = useTranslation('network')
  return (
    <ResourceTable
      name="vms"
      call={vms.list}
      input={{ query: { vpc_id: vpc.id } }}
      columns={vmColumns(t)}
      empty={{
        title: t('vpc.noVms'),
        note: t('vpc.noVmsNote'),
        action: <ActionButton action={{ key: 'create', call: vms.create, label: t('vpc.createVm'), href: paths.nextstack.vm.add() }} />,
      }}
    />
  )
}

function Leases({ vpc }: { readonly vpc: Vpc }) {
  const { t } = useTranslation('network')
  return (
    <ResourceTable
      name="leases"
      call={vpcs.leases}
      input={{ params: { id: vpc.id } }}
      rowKey="address"
      columns={leaseColumns(t)}
      empty={{ title: t('vpc.noLeases') }}
    />
  )
}

const vmColumns = (t: TFunction<'network'>): readonly Column<Vm>[] => [
  col.name('name', t('column.name'), (vm) => vm.name, { sort: true, to: (vm) => paths.nextstack.vm.detail(vm.id) }),
  col.custom('status', t('column.status'), (vm) => <VmStatusTag vm={vm} />, { sort: true, width: 116 }),
  col.code('address', t('column.address'), (vm) => vm.addresses.find(({ family }) => family === 4)?.address ?? vm.reserved_address, { width: 140 }),
  col.tags('groups', t('column.groups'), (vm) => vm.security_groups.map(({ name }) => name)),
  col.date('created_at', t('column.created'), (vm) => vm.created_at, { sort: true }),
]

const leaseColumns = (t: TFunction<'network'>): readonly Column<Lease>[] => [
  col.code('address', t('column.address'), (lease) => lease.address, { width: 140 }),
  col.text('kind', t('column.kind'), (lease) => t(`vpc.leaseKind.${lease.kind}`), { width: 100 }),
  col.code('mac', t('column.mac'), (lease) => lease.mac, { width: 170 }),
  col.text('vm', t('column.vm'), (lease) => lease.vm?.name, { to: (lease) => (lease.vm === null ? null : paths.nextstack.vm.detail(lease.vm.id)), width: 180 }),
  col.text('host', t('column.hostName'), (lease) => lease.host_name),
]
