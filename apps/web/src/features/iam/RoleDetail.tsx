import { customRoles } from '@zhisuan/contract/iam/role'
import { useTranslation } from '../../i18n.ts'
import { useNavigate, useParams } from 'react-router'
import { useOne } from '../../api/hooks.ts'
import { DetailPage } from '../../kit/DetailPage.tsx'
import * as format from '../../kit/format.ts'
import { HolderPolicies } from './HolderPolicies.tsx'
import { RoleAllows } from './RoleAllows.tsx'
import { kindOf } from './roleText.ts'
import { RoleMembers } from './RoleMembers.tsx'
import { useRoleName } from '../../kit/roleNames.ts'
import { useOwner } from './usePolicyActions.tsx'
import { useRoleActions } from './useRoleActions.tsx'
import { useKeeping } from '../../session/keeping.ts'

/** One role: who has it, by which policies, and what they allow together. */
export default function RoleDetail() {
  const { t } = useTranslation('iam')
  const { pages } = useKeeping()
  const navigate = useNavigate()
  const { id = '' } = useParams()
  const nameOf = useRoleName()
  const query = useOne(customRoles.get, { params: { id } }, { refreshMs: 5_000 })
  const ownerOf = useOwner()
  const { actionsOf } = useRoleActions(() => void navigate(pages.role.list()))
  return (
    <DetailPage
      query={query}
      gone={{ to: pages.role.list() }}
      title={nameOf}
      actions={actionsOf}
      facts={(role) => [
        { key: 'kind', label: t('role.kind'), value: t(`role.${kindOf(role)}`) },
        ...(role.built_in ? [] : [{ key: 'base', label: t('column.base'), value: t('role.baseOf', { role: nameOf({ name: role.base }) }) }]),
        { key: 'owner', label: t('column.owner'), value: ownerOf(role) },
        { key: 'members', label: t('column.members'), value: role.member_count },
        { key: 'policies', label: t('column.policies'), value: role.policy_count },
        ...(role.built_in ? [] : [{ key: 'created', label: t('column.created'), value: format.dateTime(role.created_at) }]),
        { key: 'description', label: t('description'), value: (role.built_in ? t(`role.about.${role.base}`) : role.description) || format.nothing },
      ]}
      tabs={(role) => [
        { key: 'members', label: t('role.tab.members'), content: <RoleMembers role={role} /> },
        {
          key: 'policies',
          label: t('role.tab.policies'),
          content: (
            <HolderPolicies
              kind="role"
              id={role.id}
              fixed={role.system ? t('systemFixed') : null}
              empty={t('role.policyEmpty')}
              emptyNote={t(role.built_in ? 'role.policyEmptyBuiltIn' : 'role.policyEmptyNote')}
            />
          ),
        },
        { key: 'allows', label: t('role.tab.allows'), content: <RoleAllows role={role} /> },
      ]}
    />
  )
}
