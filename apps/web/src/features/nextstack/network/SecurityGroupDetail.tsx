import { securityGroups } from '@zhisuan/contract/nextstack/security-group'
import type { ResponseOf } from '@zhisuan/contract/define'
import { useTranslation } from '../../../i18n.ts'
import { Link, useNavigate, useParams } from 'react-router'
import { whilePassing } from '../../../kit/whilePassing.ts'
import { useOne } from '../../../api/hooks.ts'
import { DetailPage } from '../../../kit/DetailPage.tsx'
import { EmptyState } from '../../../kit/EmptyState.tsx'
import * as format from '../../../kit/format.ts'
import { StatusTag } from '../../../kit/StatusTag.tsx'
import { paths } from '../../../paths.ts'
import { groupTones, isPassing } from './groupRules.ts'
import { RulesEditor } from './RulesEditor.tsx'
import { useGroupActions } from './useGroupActions.tsx'

type Group = ResponseOf<typeof securityGroups.get>

/** One security group: its rules, and what they guard. */
export default function SecurityGroupDetail() {
  const { t } = useTranslation('network')
  const navigate = useNavigate()
  const { id = '' } = useParams()
  const query = useOne(securityGroups.get, { params: { id } }, { refreshMs: (group) => whilePassing(group, isPassing) })
  const { actionsOf } = useGroupActions(() => void navigate(paths.nextstack.securityGroup.list()))
  return (
    <DetailPage
      query={query}
      gone={{ title: t('group.gone'), to: paths.nextstack.securityGroup.list(), back: t('group.back') }}
      title={(group) => group.name}
      status={(group) => <StatusTag tone={groupTones[group.status]}>{t(`group.status.${group.status}`)}</StatusTag>}
      actions={actionsOf}
      facts={(group) => [
        { key: 'guards', label: t('column.guards'), value: t('group.guards', { vms: group.vm_count, vpcs: group.vpc_count }) },
        { key: 'creator', label: t('column.creator'), value: group.created_by },
        { key: 'created', label: t('column.created'), value: format.dateTime(group.created_at) },
        { key: 'description', label: t('column.description'), value: group.description === '' ? format.nothing : group.description },
      ]}
      tabs={(group) => [
        { key: 'rules', label: t('group.tab.rules'), content: <RulesEditor key={group.id} group={group} /> },
        { key: 'guards', label: t('group.tab.guards'), content: <Guarded group={group} /> },
      ]}
    />
  )
}

function Guarded({ group }: { readonly group: Group }) {
  const { t } = useTranslation('network')
  if (group.vms.length + group.vpcs.length === 0) return <EmptyState title={t('group.noGuards')}>{t('group.noGuardsNote')}</EmptyState>
  return (
    <ul className="zs-list">
      {group.vpcs.map(({ id, name }) => (
        <li key={id}>
          <span className="zs-soft">{t('group.kind.vpc')}</span>{' '}
          <Link to={paths.nextstack.vpc.detail(id)} className="zs-text-link">
            {name}
          </Link>
        </li>
      ))}
      {group.vms.map(({ id, name }) => (
        <li key={id}>
          <span className="zs-soft">{t('group.kind.vm')}</span>{' '}
          <Link to={paths.nextstack.vm.detail(id)} className="zs-text-link">
            {name}
          </Link>
        </li>
      ))}
    </ul>
  )
}
