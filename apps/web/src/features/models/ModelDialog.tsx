import { modelFrameworks, modelLicences, modelQuantisations, models, modelTasks, type Model } from '@zhisuan/contract/models/model'
import type { BodyInput } from '@zhisuan/contract/define'
import { useNavigate } from 'react-router'
import { useTranslation } from '../../i18n.ts'
import { useChange } from '../../api/hooks.ts'
import { Field, TextAreaField, TextField } from '../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../kit/FormDialog.tsx'
import { ProjectField } from '../../kit/identitySelects.tsx'
import { NumberField } from '../../kit/NumberField.tsx'
import { SelectField } from '../../kit/SelectField.tsx'
import { SizeInput } from '../../kit/SizeInput.tsx'
import { paths } from '../../paths.ts'
import { useTerms } from './modelTexts.ts'
import './models.css'

type Values = BodyInput<typeof models.create>
const { shape } = models.create.body

/** Makes a model, or changes what is said of one: its name stays. */
export default function ModelDialog({ model, terms, onClose }: Dialog<{ model: Model | null; terms?: string | null }>) {
  const { t } = useTranslation('models')
  const nameOf = useTerms()
  const navigate = useNavigate()
  const how = { invalidates: [models.list, models.get, models.facets], silent: true } as const
  const create = useChange(models.create, how)
  const update = useChange(models.update, how)
  return (
    <FormDialog<Values, Model>
      width={680}
      title={model === null ? t('create') : t('editTitle', { name: model.title })}
      okText={t(model === null ? 'create' : 'save')}
      initialValues={{
        task: model?.task ?? 'text-generation',
        framework: model?.framework ?? 'transformers',
        licence: model?.licence ?? 'apache-2.0',
        quantisation: model?.quantisation ?? 'none',
        languages: model?.languages ?? [],
        tags: model?.tags ?? [],
        title: model?.title ?? '',
        summary: model?.summary ?? '',
        parameters: model?.parameters ?? null,
        memory_bytes: model?.memory_bytes ?? null,
        terms: terms ?? null,
        ...(model === null && { namespace: '', name: '' }),
      }}
      doneText={({ title }) => t(model === null ? 'created' : 'saved', { name: title })}
      onClose={onClose}
      onSubmit={async (values) => {
        const { namespace, name, project_id = null, ...rest } = values
        const about = { ...rest, terms: rest.terms === '' ? null : (rest.terms ?? null) }
        if (model !== null) return update.mutateAsync({ params: { id: model.id }, body: about })
        const made = await create.mutateAsync({ body: { ...about, namespace, name, project_id } })
        void navigate(paths.warehouse.detail(made.id))
        return made
      }}
    >
      {model === null && (
        <div className="md-pair">
          <TextField name="namespace" label={t('field.namespace')} extra={t('field.namespaceNote')} schema={shape.namespace} code autoFocus />
          <TextField name="name" label={t('field.name')} extra={t('field.nameNote')} schema={shape.name} code />
        </div>
      )}
      {model === null && <ProjectField name="project_id" label={t('field.project')} extra={t('field.projectNote')} required={false} />}
      {model !== null && model.published_revision !== null && <p className="zs-soft">{t('editNote')}</p>}
      <TextField name="title" label={t('field.title')} schema={shape.title} />
      <TextAreaField name="summary" label={t('field.summary')} schema={shape.summary} rows={2} />
      <div className="md-pair">
        <SelectField name="task" label={t('facet.task')} values={modelTasks} labelOf={(one) => nameOf('task', one)} />
        <SelectField name="framework" label={t('facet.framework')} values={modelFrameworks} labelOf={(one) => nameOf('framework', one)} />
        <SelectField name="licence" label={t('facet.licence')} values={modelLicences} labelOf={(one) => nameOf('licence', one)} />
        <SelectField name="quantisation" label={t('facet.quantisation')} values={modelQuantisations} labelOf={(one) => nameOf('quantisation', one)} />
        <NumberField name="parameters" label={t('field.parameters')} extra={t('field.parametersNote')} schema={shape.parameters} required={false} />
        <Field name="memory_bytes" label={t('field.memory')} extra={t('field.memoryNote')} schema={shape.memory_bytes} required={false}>
          <SizeInput />
        </Field>
      </div>
      <SelectField<string[]>
        name="languages"
        label={t('facet.language')}
        extra={t('field.languagesNote')}
        schema={shape.languages}
        mode="tags"
        open={false}
        suffixIcon={null}
        tokenSeparators={[',', '，', ' ']}
      />
      <SelectField<string[]> name="tags" label={t('field.tags')} schema={shape.tags} mode="tags" open={false} suffixIcon={null} tokenSeparators={[',', '，']} />
      <TextAreaField name="terms" label={t('field.terms')} extra={t('field.termsNote')} rows={3} />
    </FormDialog>
  )
}
