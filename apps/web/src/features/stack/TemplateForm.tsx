import Form from 'antd/es/form'
import Input from 'antd/es/input'
import Select from 'antd/es/select'
import { composeText, templates, type Template } from '@zhisuan/contract/aos/stack'
import type { StarterKey } from '@zhisuan/contract/aos/starters'
import { useMemo } from 'react'
import { useTranslation } from '../../i18n.ts'
import { useNavigate } from 'react-router'
import { useChange } from '../../api/hooks.ts'
import { notify } from '../../api/notify.ts'
import { Field } from '../../kit/fields.tsx'
import { FormPage } from '../../kit/FormPage.tsx'
import { DescriptionField, NameField } from '../../kit/NameFields.tsx'
import { usePageTitle } from '../../kit/PageHead.tsx'
import { paths } from '../../paths.ts'
import { ComposeField } from './ComposeField.tsx'
import { stackPaths } from './stackPaths.ts'
import { invalidatedByTemplate } from './stackRules.ts'
import './stack.css'
import { tellUnplaced } from './tellUnplaced.ts'
import { starterTemplate } from './starterTemplate.ts'
import { blankVariable, namesOf, nextVersion, variableOf, variablesOf, type VariableValues } from './templateForm.ts'
import { useComposeCheck } from './useComposeCheck.ts'
import { VariableEditor } from './VariableEditor.tsx'

interface TemplateValues {
  name: string
  version: string
  description: string
  labels: string[]
  compose: string
  variables: VariableValues[]
}

const { shape } = templates.create.body

/**
 * Makes a template or another version of one, or changes a version.
 * @param known what it begins as; null for nothing, or for one of ours
 */
export default function TemplateForm({
  known,
  as,
  starter,
}: {
  readonly known: Template | null
  readonly as: 'new' | 'edit'
  readonly starter: StarterKey | null
}) {
  const { t } = useTranslation('application')
  const navigate = useNavigate()
  const [form] = Form.useForm<TemplateValues>()
  const compose = Form.useWatch('compose', form) ?? ''
  const typed = Form.useWatch('variables', form)
  const declared = namesOf(typed)
  const check = useComposeCheck(compose, { template: true, declared })
  const told = check?.problems
  const written = declared.join()
  // What was declared just now is told no longer, also before the server says so.
  const problems = useMemo(() => told?.filter(({ undeclared }) => undeclared === undefined || !written.split(',').includes(undeclared)), [told, written])
  const declare = (name: string): void => form.setFieldValue('variables', [...(typed ?? []), blankVariable(name)])
  const create = useChange(templates.create, { invalidates: invalidatedByTemplate, silent: true })
  const update = useChange(templates.update, { invalidates: invalidatedByTemplate, silent: true })
  const edited = as === 'edit' ? known : null
  const begun = known ?? (starter === null ? null : starterTemplate(t, starter))
  usePageTitle(
    edited !== null
      ? t('template.editTitle', { name: edited.name, version: edited.version })
      : known !== null
        ? t('template.versionTitle', { name: known.name })
        : t('template.createTitle'),
  )

  const submit = async ({ name, version, description, labels, compose: text, variables }: TemplateValues): Promise<void> => {
    const content = { description, labels, compose: text, variables: variables.map(variableOf) }
    try {
      const saved =
        edited === null
          ? await create.mutateAsync({ body: { name: known?.name ?? name, version, ...content } })
          : await update.mutateAsync({ params: { id: edited.id }, body: content })
      notify('success', t('template.saved', { name: saved.name, version: saved.version }))
      void navigate(stackPaths.version(saved.id))
    } catch (thrown) {
      tellUnplaced(thrown)
      throw thrown
    }
  }
  return (
    <FormPage<TemplateValues>
      form={form}
      initialValues={{
        name: begun?.name ?? '',
        version: known === null ? '1.0' : nextVersion(known.version),
        description: begun?.description ?? '',
        labels: known?.labels ?? [],
        compose: begun?.compose ?? '',
        variables: variablesOf(begun?.variables ?? []),
      }}
      submitText={t('template.save')}
      onCancel={() => void navigate(known === null ? paths.container.template.list() : stackPaths.version(known.id))}
      onSubmit={submit}
    >
      {known === null && <NameField schema={shape.name} />}
      {edited === null && (
        <Field name="version" label={t('column.version')} extra={t('template.versionNote')} schema={shape.version}>
          <Input className="as-short" autoFocus={known !== null} />
        </Field>
      )}
      <DescriptionField schema={shape.description} />
      <Field name="labels" label={t('column.labels')} extra={t('template.labelsNote')} schema={shape.labels}>
        <Select mode="tags" maxCount={10} tokenSeparators={[',', '，']} />
      </Field>
      <Field name="compose" label={t('compose.label')} extra={t('template.composeNote')} className="as-wide" schema={composeText}>
        <ComposeField label={t('compose.label')} problems={problems} onDeclare={declare} />
      </Field>
      <h2 className="zs-heading">{t('variable.title')}</h2>
      <Form.Item className="as-wide" extra={t('variable.note')}>
        <VariableEditor names={check?.variables ?? []} />
      </Form.Item>
    </FormPage>
  )
}
