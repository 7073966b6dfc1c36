import { customRoles, type RoleRow } from '@zhisuan/contract/iam/role'
import { useTranslation } from '../../i18n.ts'
import { useChange } from '../../api/hooks.ts'
import type { Action } from '../../kit/actions.tsx'
import { FormDialog, type Dialog } from '../../kit/FormDialog.tsx'
import { DescriptionField, NameField } from '../../kit/NameFields.tsx'
import { holdOf } from './roleText.ts'
import { useNotOurs } from './usePolicyActions.tsx'
import { useRoleName } from '../../kit/roleNames.ts'
import { invalidatedByRole } from '../../kit/invalidatedByRights.ts'

/** What can be done to a role. */
export function useRoleActions(onDeleted?: () => void): { readonly actionsOf: (role: RoleRow) => readonly Action[] } {
  const { t } = useTranslation('iam')
  const nameOf = useRoleName()
  const notOurs = useNotOurs()
  const remove = useChange(customRoles.delete, { invalidates: invalidatedByRole })
  return {
    actionsOf: (role) => {
      const hold = holdOf(role)
      const name = nameOf(role)
      return [
        {
          key: 'edit',
          call: customRoles.update,
          label: t('action.edit'),
          disabledReason: role.built_in ? t('role.builtInFixed') : notOurs(role),
          dialog: (close) => <RoleDialog role={role} onClose={close} />,
        },
        {
          key: 'delete',
          call: customRoles.delete,
          label: t('action.delete'),
          danger: true,
          disabledReason: hold === null ? notOurs(role) : t(`role.${hold}`, { count: role.member_count }),
          confirm: {
            title: t('role.deleteTitle', { name }),
            body: role.policy_count > 0 ? t('role.deleteBody', { count: role.policy_count }) : t('role.deleteBodyNone'),
          },
          doneText: t('deleted', { name }),
          run: async () => {
            await remove.mutateAsync({ params: { id: role.id } })
            onDeleted?.()
          },
        },
      ]
    },
  }
}

interface Values {
  name: string
  description: string
}

function RoleDialog({ role, onClose }: Dialog<{ role: RoleRow }>) {
  const { t } = useTranslation('iam')
  const update = useChange(customRoles.update, { invalidates: invalidatedByRole, silent: true })
  const { shape } = customRoles.update.body
  return (
    <FormDialog<Values>
      title={t('role.editTitle', { name: role.name })}
      okText={t('save')}
      initialValues={{ name: role.name, description: role.description }}
      onSubmit={(body) => update.mutateAsync({ params: { id: role.id }, body })}
      doneText={t('saved', { name: role.name })}
      onClose={onClose}
    >
      <NameField schema={shape.name} />
      <DescriptionField schema={shape.description} />
    </FormDialog>
  )
}
