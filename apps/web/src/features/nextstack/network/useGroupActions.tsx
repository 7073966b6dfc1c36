import { securityGroups, type SecurityGroup } from '@zhisuan/contract/nextstack/security-group'
import { useTranslation } from '../../../i18n.ts'
import { useChange } from '../../../api/hooks.ts'
import type { Action } from '../../../kit/actions.tsx'
import { FormDialog, type Dialog } from '../../../kit/FormDialog.tsx'
import { DescriptionField, NameField } from '../../../kit/NameFields.tsx'
import { invalidatedByGroup } from './groupRules.ts'

/** What can be done to a security group. */
export function useGroupActions(onDeleted?: () => void): { readonly actionsOf: (group: SecurityGroup) => readonly Action[] } {
  const { t } = useTranslation('network')
  const remove = useChange(securityGroups.delete, { invalidates: invalidatedByGroup })
  return {
    actionsOf: (group) => [
      {
        key: 'edit',
        call: securityGroups.update,
        label: t('group.edit'),
        dialog: (close) => <GroupEdit group={group} onClose={close} />,
      },
      {
        key: 'delete',
        call: securityGroups.delete,
        label: t('group.delete'),
        danger: true,
        disabledReason: group.vm_count + group.vpc_count === 0 ? null : t('group.inUse', { count: group.vm_count + group.vpc_count }),
        doneText: t('group.deleted', { name: group.name }),
        confirm: { title: t('group.deleteTitle', { name: group.name }), body: t('group.deleteBody', { count: group.rules.length }) },
        run: async () => {
          await remove.mutateAsync({ params: { id: group.id } })
          onDeleted?.()
        },
      },
    ],
  }
}

function GroupEdit({ group, onClose }: Dialog<{ group: SecurityGroup }>) {
  const { t } = useTranslation('network')
  const update = useChange(securityGroups.update, { invalidates: invalidatedByGroup, silent: true })
  const { shape } = securityGroups.update.body
  return (
    <FormDialog<{ name: string; description: string }>
      title={t('group.editTitle', { name: group.name })}
      okText={t('group.save')}
      initialValues={{ name: group.name, description: group.description }}
      doneText={t('group.saved')}
      onClose={onClose}
      onSubmit={(body) => update.mutateAsync({ params: { id: group.id }, body })}
    >
      <NameField schema={shape.name} />
      <DescriptionField schema={shape.description} rows={3} />
    </FormDialog>
  )
}
