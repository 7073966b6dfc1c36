import { computeSecurityGroups, kindOfGroup, securityGroupCan, type ComputeSecurityGroup } from '@zhisuan/contract/compute/security-group'
import { type ReactNode } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { useChange } from '../../../api/hooks.ts'
import type { Action } from '../../../kit/actions.tsx'
import type { BatchAction } from '../../../kit/BatchBar.tsx'
import { firstNames } from '../../../kit/firstNames.ts'
import { useCloudLines } from '../CloudTable.tsx'
import { SecurityGroupEdit } from './SecurityGroupDialogs.tsx'
import { invalidatedByGroup } from './securityRules.ts'

/** What can be done to security groups: to one, to several. */
export function useSecurityGroupActions(
  cloudId: string | null,
  onDeleted?: () => void,
): {
  readonly actionsOf: (group: ComputeSecurityGroup) => readonly Action[]
  readonly batchActions: readonly BatchAction<ComputeSecurityGroup>[]
} {
  const { t } = useTranslation('computeSecurity')
  const remove = useChange(computeSecurityGroups.delete, { invalidates: invalidatedByGroup, silent: true })
  // Rules of others go along with the group that they name.
  const groups = useCloudLines(computeSecurityGroups.list, cloudId).data?.items ?? []
  const params = ({ id }: ComputeSecurityGroup) => ({ params: { cloud_id: cloudId ?? '', id } })
  const whyStays = (group: ComputeSecurityGroup): string | null => {
    const kinds: readonly string[] = securityGroupCan.delete
    if (!group.changeable) return t('group.notYours')
    if (!kinds.includes(kindOfGroup(group))) return t('group.isDefault')
    return group.port_count > 0 ? t('group.inUse', { count: group.port_count }) : null
  }
  const lost = (going: readonly ComputeSecurityGroup[]): ReactNode => {
    const ids = new Set(going.map(({ id }) => id))
    const naming = groups
      .filter(({ id, remote_group_ids }) => !ids.has(id) && remote_group_ids.some((remote) => ids.has(remote)))
      .map(({ name, id }) => (name === '' ? id : name))
    return (
      <>
        <p>{t('group.deleteBody', { count: going.reduce((sum, { rule_count }) => sum + rule_count, 0) })}</p>
        {naming.length > 0 && <p>{t('group.deleteNamed', { names: firstNames(naming, '…') })}</p>}
      </>
    )
  }
  return {
    actionsOf: (group) => [
      {
        key: 'edit',
        call: computeSecurityGroups.update,
        label: t('group.edit'),
        disabledReason: group.changeable ? null : t('group.notYours'),
        dialog: (close) => cloudId !== null && <SecurityGroupEdit cloudId={cloudId} group={group} onClose={close} />,
      },
      {
        key: 'delete',
        call: computeSecurityGroups.delete,
        label: t('group.delete'),
        danger: true,
        disabledReason: whyStays(group),
        doneText: t('group.deleted', { name: group.name }),
        confirm: { title: t('group.deleteTitle', { name: group.name }), body: lost([group]) },
        run: async () => {
          await remove.mutateAsync(params(group))
          onDeleted?.()
        },
      },
    ],
    batchActions: [
      {
        key: 'delete',
        call: computeSecurityGroups.delete,
        label: t('group.delete'),
        danger: true,
        disabledReason: whyStays,
        confirm: (chosen) => {
          const going = chosen.filter((group) => whyStays(group) === null)
          return { title: t('group.deleteMany', { count: going.length }), body: lost(going) }
        },
        run: (group) => remove.mutateAsync(params(group)),
      },
    ],
  }
}
