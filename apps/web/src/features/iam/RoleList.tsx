import { customRoles, type RoleRow } from '@zhisuan/contract/iam/role'
import { useTranslation } from '../../i18n.ts'
import { col } from '../../kit/columns.tsx'
import { filter } from '../../kit/filters.ts'
import { ResourceTable } from '../../kit/ResourceTable.tsx'
import { useRoleName } from '../../kit/roleNames.ts'
import { useOwner } from './usePolicyActions.tsx'
import { kindOf, roleKinds } from './roleText.ts'
import { useRoleActions } from './useRoleActions.tsx'
import { useKeeping } from '../../session/keeping.ts'

/** Roles: one’s own, those of the system, the built-in ones. */
export default function RoleList() {
  const { t } = useTranslation('iam')
  const { pages } = useKeeping()
  const nameOf = useRoleName()
  const ownerOf = useOwner()
  const { actionsOf } = useRoleActions()
  return (
    <ResourceTable
      call={customRoles.list}
      nameOf={nameOf}
      columns={[
        col.name<RoleRow>('name', t('column.name'), nameOf, {
          sort: true,
          width: 240,
          to: ({ id }) => pages.role.detail(id),
          note: (role) => (role.built_in ? t(`role.about.${role.base}`) : role.description),
        }),
        col.text<RoleRow>('kind', t('role.kind'), (role) => t(`role.${kindOf(role)}`), { width: 90 }),
        col.text<RoleRow>('base', t('column.base'), (role) => (role.built_in ? null : nameOf({ name: role.base })), { width: 110 }),
        col.text<RoleRow>('owner', t('column.owner'), ownerOf, { width: 140 }),
        col.number<RoleRow>('members', t('column.members'), ({ member_count }) => member_count, { width: 80 }),
        col.number<RoleRow>('policies', t('column.policies'), ({ policy_count }) => policy_count, { width: 80 }),
        col.date<RoleRow>('created_at', t('column.created'), ({ created_at }) => created_at, { sort: true }),
        col.code<RoleRow>('id', t('column.id'), ({ id }) => id, { off: true }),
      ]}
      filters={[
        filter.keyword(t('role.keyword')),
        filter.select(
          'kind',
          t('role.kind'),
          roleKinds.map((value) => ({ value, label: t(`role.${value}`) })),
        ),
      ]}
      rowActions={actionsOf}
      create={{ call: customRoles.create, label: t('role.create'), href: pages.role.add() }}
      empty={{ title: t('role.empty') }}
    />
  )
}
