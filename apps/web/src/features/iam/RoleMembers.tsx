import type { RowOf } from '../../kit/ResourceTable.tsx'
import { customRoles, type RoleRow } from '@zhisuan/contract/iam/role'
import { useTranslation } from '../../i18n.ts'
import { useChange } from '../../api/hooks.ts'
import { col } from '../../kit/columns.tsx'
import { filter } from '../../kit/filters.ts'
import { FormDialog, type Dialog } from '../../kit/FormDialog.tsx'
import { ResourceTable } from '../../kit/ResourceTable.tsx'
import { kindKey, useRoleName } from '../../kit/roleNames.ts'
import { UserField } from '../../kit/identitySelects.tsx'
import { invalidatedByRole } from '../../kit/invalidatedByRights.ts'
import { useKeeping } from '../../session/keeping.ts'

type Member = RowOf<typeof customRoles.members>

/** Who has a role; people are added and removed. */
export function RoleMembers({ role }: { readonly role: RoleRow }) {
  const { t } = useTranslation(['iam', 'account'])
  const { pages } = useKeeping()
  const nameOf = useRoleName()
  const remove = useChange(customRoles.removeMember, { invalidates: invalidatedByRole })
  return (
    <>
      <ResourceTable
        name="members"
        call={customRoles.members}
        input={{ params: { id: role.id } }}
        columns={[
          col.name<Member>('name', t('column.user'), ({ name }) => name, {
            sort: true,
            to: ({ id }) => pages.user.detail(id),
            note: ({ nickname, name }) => (nickname === name ? '' : nickname),
          }),
          col.text<Member>('kind', t('column.kind'), ({ kind }) => t(`account:kindNames.${kindKey(kind)}`), { width: 120 }),
          col.text<Member>('bp', t('column.organisation'), ({ bp_name }) => bp_name, { width: 180 }),
          col.code<Member>('id', t('column.id'), ({ id }) => id, { off: true }),
        ]}
        filters={[filter.keyword(t('column.user'))]}
        rowActions={({ id, name }) => [
          {
            key: 'remove',
            call: customRoles.removeMember,
            label: t('action.remove'),
            danger: true,
            confirm: { title: t('role.removeTitle', { role: nameOf(role), name }), body: t('role.removeBody') },
            doneText: t('role.removed', { name }),
            run: () => remove.mutateAsync({ params: { id: role.id, user_id: id } }),
          },
        ]}
        create={{ call: customRoles.addMember, label: t('role.addMember'), dialog: (close) => <MemberDialog role={role} onClose={close} /> }}
        empty={{ title: t('role.memberEmpty'), note: t('role.memberEmptyNote') }}
      />
    </>
  )
}

function MemberDialog({ role, onClose }: Dialog<{ role: RoleRow }>) {
  const { t } = useTranslation('iam')
  const nameOf = useRoleName()
  const add = useChange(customRoles.addMember, { invalidates: invalidatedByRole, silent: true })
  return (
    <FormDialog<{ user_id: string }>
      title={t('role.addMemberTitle', { name: nameOf(role) })}
      okText={t('role.addMember')}
      initialValues={{}}
      onSubmit={(body) => add.mutateAsync({ params: { id: role.id }, body })}
      doneText={t('role.memberAdded')}
      onClose={onClose}
    >
      <UserField name="user_id" label={t('role.member')} extra={t('role.addMemberNote')} missing={t('grant.required')} />
    </FormDialog>
  )
}
