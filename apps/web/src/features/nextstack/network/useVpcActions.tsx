import Form from 'antd/es/form'
import { vpcCan, vpcs, type Vpc } from '@zhisuan/contract/nextstack/vpc'
import { useTranslation } from '../../../i18n.ts'
import { useChange } from '../../../api/hooks.ts'
import type { Action } from '../../../kit/actions.tsx'
import { allowed } from '../../../kit/allowed.ts'
import { TextField } from '../../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../../kit/FormDialog.tsx'
import { DescriptionField, NameField } from '../../../kit/NameFields.tsx'
import { GroupSelect } from './GroupSelect.tsx'
import { isPassing, invalidatedByVpc } from './vpcRules.ts'

interface EditValues {
  name: string
  description: string
  dns_domain: string
}
interface GroupValues {
  security_group_ids: string[]
}

/** What can be done to a private network. */
export function useVpcActions(onDeleted?: () => void): { readonly actionsOf: (vpc: Vpc) => readonly Action[] } {
  const { t } = useTranslation('network')
  const dialogs = {
    edit: (vpc: Vpc, close: () => void) => <VpcEdit vpc={vpc} onClose={close} />,
    groups: (vpc: Vpc, close: () => void) => <VpcGroups vpc={vpc} onClose={close} />,
  }
  const apply = useChange(vpcs.apply, { invalidates: invalidatedByVpc })
  const remove = useChange(vpcs.delete, { invalidates: invalidatedByVpc })

  const whyNot = (action: keyof typeof vpcCan, vpc: Vpc): string | null => allowed(vpcCan, action, vpc.status, t(`vpc.status.${vpc.status}`))
  const opening = (kind: keyof typeof dialogs, vpc: Vpc): Action => ({
    key: kind,
    call: kind === 'edit' ? vpcs.update : vpcs.setSecurityGroups,
    label: t(`vpc.${kind}`),
    disabledReason: whyNot('update', vpc),
    dialog: (close) => dialogs[kind](vpc, close),
  })

  return {
    actionsOf: (vpc) => [
      opening('edit', vpc),
      opening('groups', vpc),
      {
        key: 'apply',
        call: vpcs.apply,
        label: t('vpc.apply'),
        disabledReason: isPassing(vpc) ? t('vpc.busy', { state: t(`vpc.status.${vpc.status}`) }) : whyNot('apply', vpc),
        doneText: t('vpc.applied', { name: vpc.name }),
        run: () => apply.mutateAsync({ params: { id: vpc.id } }),
      },
      {
        key: 'delete',
        call: vpcs.delete,
        label: t('vpc.delete'),
        danger: true,
        disabledReason: isPassing(vpc) ? t('vpc.busy', { state: t(`vpc.status.${vpc.status}`) }) : whyNot('delete', vpc),
        doneText: t('vpc.deleted', { name: vpc.name }),
        confirm: { title: t('vpc.deleteTitle', { name: vpc.name }), body: t('vpc.deleteBody'), typeToConfirm: vpc.name },
        run: async () => {
          await remove.mutateAsync({ params: { id: vpc.id } })
          onDeleted?.()
        },
      },
    ],
  }
}

function VpcEdit({ vpc, onClose }: Dialog<{ vpc: Vpc }>) {
  const { t } = useTranslation('network')
  const update = useChange(vpcs.update, { invalidates: invalidatedByVpc, silent: true })
  const { shape } = vpcs.update.body
  return (
    <FormDialog<EditValues>
      title={t('vpc.editTitle', { name: vpc.name })}
      okText={t('vpc.save')}
      initialValues={{ name: vpc.name, description: vpc.description, dns_domain: vpc.dns_domain ?? '' }}
      doneText={t('vpc.saved')}
      onClose={onClose}
      onSubmit={({ dns_domain, ...values }) =>
        update.mutateAsync({ params: { id: vpc.id }, body: { ...values, dns_domain: dns_domain === '' ? null : dns_domain } })
      }
    >
      <NameField schema={shape.name} />
      <TextField name="dns_domain" label={t('field.dnsDomain')} extra={t('field.dnsDomainNote')} schema={shape.dns_domain.unwrap().unwrap().optional()} />
      <DescriptionField schema={shape.description} rows={3} />
    </FormDialog>
  )
}

function VpcGroups({ vpc, onClose }: Dialog<{ vpc: Vpc }>) {
  const { t } = useTranslation('network')
  const change = useChange(vpcs.setSecurityGroups, { invalidates: invalidatedByVpc, silent: true })
  return (
    <FormDialog<GroupValues>
      title={t('vpc.groupsTitle', { name: vpc.name })}
      okText={t('vpc.save')}
      initialValues={{ security_group_ids: vpc.security_groups.map(({ id }) => id) }}
      doneText={t('vpc.saved')}
      onClose={onClose}
      onSubmit={(body) => change.mutateAsync({ params: { id: vpc.id }, body })}
    >
      <Form.Item name="security_group_ids" label={t('field.groups')} extra={t('field.groupsNote')}>
        <GroupSelect cloudId={vpc.cloud_id} bpId={vpc.bp_id} />
      </Form.Item>
    </FormDialog>
  )
}
