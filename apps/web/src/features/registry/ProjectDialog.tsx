import { projectVisibilities, registryProjects, type KeepRule, type RegistryProject } from '@zhisuan/contract/ims/project'
import { useTranslation } from '../../i18n.ts'
import { useChange } from '../../api/hooks.ts'
import { Field, RadioField, TextField } from '../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../kit/FormDialog.tsx'
import { DescriptionField } from '../../kit/NameFields.tsx'
import { NumberField } from '../../kit/NumberField.tsx'
import { OrganisationField } from '../../kit/OrganisationSelect.tsx'
import { SelectField } from '../../kit/SelectField.tsx'
import { SizeInput } from '../../kit/SizeInput.tsx'
import { useIsPlatform } from '../../session/user.ts'
import { KeepRuleFields } from './KeepRuleFields.tsx'
import { invalidatedByProject } from './registryRules.ts'

interface Values {
  name: string
  description: string
  visibility: RegistryProject['visibility']
  immutable_tags: string[]
  bin_days: number
  keep_rules: KeepRule[]
  bp_id?: string
  quota_bytes?: number | null
}
const { shape } = registryProjects.create.body

/** Makes a project in a registry, or with one changes it: its name stays. */
export default function ProjectDialog({ registry, project, onClose }: Dialog<{ registry: { readonly id: string }; project: RegistryProject | null }>) {
  const { t } = useTranslation('mirror')
  const platform = useIsPlatform()
  const create = useChange(registryProjects.create, { invalidates: invalidatedByProject, silent: true })
  const update = useChange(registryProjects.update, { invalidates: invalidatedByProject, silent: true })
  return (
    <FormDialog<Values, RegistryProject>
      width={720}
      title={project === null ? t('project.create') : t('project.editTitle', { name: project.name })}
      okText={t(project === null ? 'create' : 'save')}
      initialValues={{
        name: project?.name ?? '',
        description: project?.description ?? '',
        visibility: project?.visibility ?? 'private',
        immutable_tags: project?.immutable_tags ?? [],
        bin_days: project?.bin_days ?? 7,
        keep_rules: project?.keep_rules ?? [],
        quota_bytes: project?.quota_bytes ?? null,
      }}
      doneText={({ name }) => t(project === null ? 'created' : 'saved', { name })}
      onClose={onClose}
      onSubmit={async ({ name, bp_id, quota_bytes, ...settings }) => {
        const made = project ?? (await create.mutateAsync({ params: { id: registry.id }, body: { ...settings, name } }))
        if (project === null && !platform) return made
        // Whose it is and how much it may hold is said of a project that is there.
        const kept = platform ? { quota_bytes: quota_bytes ?? null, ...(project === null && bp_id !== undefined && { bp_id }) } : {}
        return update.mutateAsync({ params: { id: registry.id, pid: made.id }, body: { ...settings, ...kept } })
      }}
    >
      {project === null && <TextField name="name" label={t('column.name')} extra={t('project.nameNote')} schema={shape.name} code />}
      {project === null && platform && <OrganisationField name="bp_id" label={t('column.organisation')} extra={t('project.organisationNote')} />}
      <RadioField
        name="visibility"
        label={t('column.visibility')}
        extra={t('project.visibilityNote')}
        optionType="button"
        values={projectVisibilities}
        labelOf={(one) => t(`visibility.${one}`)}
      />
      <DescriptionField schema={shape.description} />
      {platform && (
        <Field name="quota_bytes" label={t('project.quota')} extra={t('project.quotaNote')} schema={registryProjects.update.body.shape.quota_bytes}>
          <SizeInput />
        </Field>
      )}
      <SelectField<string[]>
        name="immutable_tags"
        label={t('project.immutable')}
        extra={t('project.immutableNote')}
        schema={shape.immutable_tags}
        mode="tags"
        open={false}
        suffixIcon={null}
        tokenSeparators={[',', '，', ' ']}
        placeholder={t('project.immutablePlaceholder')}
      />
      <NumberField name="bin_days" label={t('project.binDays')} extra={t('project.binDaysNote')} schema={shape.bin_days} suffix={t('days')} />
      <KeepRuleFields at={project === null ? null : { id: registry.id, pid: project.id }} />
    </FormDialog>
  )
}
