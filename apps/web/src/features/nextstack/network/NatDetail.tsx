import Alert from 'antd/es/alert'
import Table from 'antd/es/table'
import { natGateways, type DnatRule, type NatGateway } from '@zhisuan/contract/nextstack/nat'
import { useTranslation } from '../../../i18n.ts'
import { Link, useNavigate, useParams } from 'react-router'
import { whilePassing } from '../../../kit/whilePassing.ts'
import { useOne, useChange } from '../../../api/hooks.ts'
import { ActionMenu } from '../../../kit/actions.tsx'
import { DetailPage } from '../../../kit/DetailPage.tsx'
import { EmptyState } from '../../../kit/EmptyState.tsx'
import * as format from '../../../kit/format.ts'
import { StatusTag } from '../../../kit/StatusTag.tsx'
import { paths } from '../../../paths.ts'
import { natTones, snatText, invalidatedByNat, isPassing } from './natRules.ts'
import { useNatActions } from './useNatActions.tsx'

/** One NAT gateway: how instances get out, and which ports lead in. */
export default function NatDetail() {
  const { t } = useTranslation('network')
  const navigate = useNavigate()
  const { id = '' } = useParams()
  const query = useOne(natGateways.get, { params: { id } }, { refreshMs: (nat) => whilePassing(nat, isPassing) })
  const { actionsOf } = useNatActions(() => void navigate(paths.nextstack.nat.list()))
  return (
    <DetailPage
      query={query}
      gone={{ title: t('nat.gone'), to: paths.nextstack.nat.list(), back: t('nat.back') }}
      title={(nat) => nat.name}
      status={(nat) => <StatusTag tone={natTones[nat.status]}>{t(`nat.status.${nat.status}`)}</StatusTag>}
      actions={actionsOf}
      notice={(nat) => nat.error !== null && <Alert className="zs-above" type="error" showIcon title={t('nat.failed')} description={nat.error} />}
      facts={(nat) => [
        { key: 'vpc', label: t('nat.vpc'), value: <Link to={paths.nextstack.vpc.detail(nat.vpc.id)}>{nat.vpc.name}</Link> },
        { key: 'snat', label: t('nat.snat'), value: snatText(t, nat) },
        { key: 'creator', label: t('column.creator'), value: nat.created_by },
        { key: 'created', label: t('column.created'), value: format.dateTime(nat.created_at) },
        { key: 'description', label: t('column.description'), value: nat.description === '' ? format.nothing : nat.description },
      ]}
      tabs={(nat) => [{ key: 'rules', label: t('nat.rules'), content: <Rules nat={nat} /> }]}
    />
  )
}

function Rules({ nat }: { readonly nat: NatGateway }) {
  const { t } = useTranslation(['network', 'kit'])
  const remove = useChange(natGateways.removeRule, { invalidates: invalidatedByNat })
  const insideOf = (rule: DnatRule): string => `${rule.vm?.name ?? rule.inside_address}:${rule.inside_ports}`
  return (
    <Table<DnatRule>
      size="small"
      rowKey="id"
      pagination={false}
      dataSource={nat.rules}
      locale={{ emptyText: <EmptyState title={t('dnat.none')}>{t('dnat.noneNote')}</EmptyState> }}
      columns={[
        { key: 'eip', title: t('dnat.eip'), render: (_, rule) => <span className="zs-code">{rule.eip.address}</span> },
        { key: 'protocol', title: t('dnat.protocol'), width: 80, render: (_, rule) => t(`rule.${rule.protocol}`) },
        { key: 'outside', title: t('dnat.outside'), render: (_, rule) => <span className="zs-code">{rule.outside_ports}</span> },
        {
          key: 'target',
          title: t('dnat.target'),
          render: (_, rule) => (rule.vm === null ? format.nothing : <Link to={paths.nextstack.vm.detail(rule.vm.id)}>{rule.vm.name}</Link>),
        },
        { key: 'inside', title: t('dnat.inside'), render: (_, rule) => <span className="zs-code">{`${rule.inside_address}:${rule.inside_ports}`}</span> },
        { key: 'description', title: t('dnat.description'), render: (_, rule) => rule.description },
        {
          key: 'actions',
          title: t('kit:table.actions'),
          width: 80,
          render: (_, rule) => (
            <ActionMenu
              actions={[
                {
                  key: 'remove',
                  call: natGateways.removeRule,
                  label: t('dnat.remove'),
                  danger: true,
                  doneText: t('dnat.removed'),
                  confirm: {
                    title: t('dnat.removeTitle'),
                    body: t('dnat.removeBody', { address: rule.eip.address, ports: rule.outside_ports, inside: insideOf(rule) }),
                  },
                  run: () => remove.mutateAsync({ params: { id: nat.id, rule_id: rule.id } }),
                },
              ]}
            />
          ),
        },
      ]}
    />
  )
}
