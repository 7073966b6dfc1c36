import Form from 'antd/es/form'
import { vms, type Vm } from '@zhisuan/contract/nextstack/vm'
import { useTranslation } from '../../../i18n.ts'
import { useChange } from '../../../api/hooks.ts'
import { FormDialog, type Dialog } from '../../../kit/FormDialog.tsx'
import { GroupSelect } from '../network/GroupSelect.tsx'
import { invalidatedByVm } from './vmRules.ts'

/** Which security groups guard an instance of a private network. */
export function VmGroupsDialog({ vm, onClose }: Dialog<{ vm: Vm }>) {
  const { t } = useTranslation('nextstack')
  const change = useChange(vms.setSecurityGroups, { invalidates: invalidatedByVm, silent: true })
  return (
    <FormDialog<{ security_group_ids: string[] }>
      title={t('groups.title', { name: vm.name })}
      okText={t('groups.ok')}
      initialValues={{ security_group_ids: vm.security_groups.map(({ id }) => id) }}
      doneText={t('groups.done')}
      onClose={onClose}
      onSubmit={(body) => change.mutateAsync({ params: { id: vm.id }, body })}
    >
      <Form.Item name="security_group_ids" label={t('field.groups')} extra={t('add.groupsNote')}>
        <GroupSelect cloudId={vm.cloud_id} bpId={vm.bp_id} />
      </Form.Item>
    </FormDialog>
  )
}
