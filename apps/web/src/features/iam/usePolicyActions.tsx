import { policyLimits } from '@zhisuan/contract/policy/document'
import { grants } from '@zhisuan/contract/iam/grant'
import { policies, type Policy } from '@zhisuan/contract/iam/policy'
import { useTranslation } from '../../i18n.ts'
import { useChange } from '../../api/hooks.ts'
import type { Action } from '../../kit/actions.tsx'
import { FormDialog, type Dialog } from '../../kit/FormDialog.tsx'
import { DescriptionField, NameField } from '../../kit/NameFields.tsx'
import { withQuery } from '../../paths.ts'
import { GrantDialog } from './GrantDialog.tsx'
import { invalidatedByPolicy } from './invalidated.ts'
import { useKeeping } from '../../session/keeping.ts'

/** Whose a policy or a role is. */
export function useOwner(): (thing: { readonly bp_name: string | null; readonly system: boolean }) => string {
  const { t } = useTranslation('iam')
  return ({ bp_name, system }) => (system ? t('system') : (bp_name ?? t('platform')))
}

/** The page where another version of a policy is made, beginning as one of its versions. */
export function useNewVersionPath(): (id: string, from: number) => string {
  const { pages } = useKeeping()
  return (id, from) => withQuery(pages.policy.add(), { id, from })
}

/** Why a policy or a role cannot be changed here; null where it can. */
export function useNotOurs(): (thing: { readonly bp_id: string | null; readonly system: boolean }) => string | null {
  const { t } = useTranslation('iam')
  const { everybody } = useKeeping()
  return ({ bp_id, system }) => (system ? t('systemFixed') : everybody || bp_id !== null ? null : t('ownersOnly'))
}

/** Why no other version can be made; null where one can. */
export function useVersionsFull(): (policy: Pick<Policy, 'version_count'>) => string | null {
  const { t } = useTranslation('iam')
  return ({ version_count }) => (version_count >= policyLimits.versions ? t('policy.versionsFull', { max: policyLimits.versions }) : null)
}

/** What can be done to a policy. */
export function usePolicyActions(onDeleted?: () => void): { readonly actionsOf: (policy: Policy) => readonly Action[] } {
  const { t } = useTranslation('iam')
  const { pages } = useKeeping()
  const full = useVersionsFull()
  const notOurs = useNotOurs()
  const newVersionPath = useNewVersionPath()
  const remove = useChange(policies.delete, { invalidates: invalidatedByPolicy })
  return {
    actionsOf: (policy) => [
      {
        key: 'edit',
        call: policies.addVersion,
        label: t('policy.edit'),
        href: newVersionPath(policy.id, policy.default_version),
        disabledReason: notOurs(policy) ?? full(policy),
      },
      { key: 'grant', call: grants.create, label: t('policy.grant'), dialog: (close) => <GrantDialog policyId={policy.id} onClose={close} /> },
      { key: 'contacts', call: null, label: t('policy.contacts'), href: pages.policy.contact(policy.id) },
      { key: 'versions', call: null, label: t('policy.versions'), href: pages.policy.version(policy.id) },
      { key: 'copy', call: policies.create, label: t('policy.copy'), href: withQuery(pages.policy.add(), { copy: policy.id }) },
      {
        key: 'rename',
        call: policies.update,
        label: t('policy.rename'),
        disabledReason: notOurs(policy),
        dialog: (close) => <RenameDialog policy={policy} onClose={close} />,
      },
      {
        key: 'delete',
        call: policies.delete,
        label: t('action.delete'),
        danger: true,
        disabledReason: notOurs(policy) ?? (policy.contact_count > 0 ? t('policy.inUse', { count: policy.contact_count }) : null),
        confirm: { title: t('policy.deleteTitle', { name: policy.name }), body: t('policy.deleteBody', { count: policy.version_count }) },
        doneText: t('deleted', { name: policy.name }),
        run: async () => {
          await remove.mutateAsync({ params: { id: policy.id } })
          onDeleted?.()
        },
      },
    ],
  }
}

function RenameDialog({ policy, onClose }: Dialog<{ policy: Policy }>) {
  const { t } = useTranslation('iam')
  const update = useChange(policies.update, { invalidates: invalidatedByPolicy, silent: true })
  const { shape } = policies.update.body
  return (
    <FormDialog<{ name: string; description: string }>
      title={t('policy.renameTitle', { name: policy.name })}
      okText={t('save')}
      initialValues={{ name: policy.name, description: policy.description }}
      onSubmit={(body) => update.mutateAsync({ params: { id: policy.id }, body })}
      doneText={t('saved', { name: policy.name })}
      onClose={onClose}
    >
      <NameField schema={shape.name} />
      <DescriptionField schema={shape.description} />
    </FormDialog>
  )
}
