import Checkbox from 'antd/es/checkbox'
import Form, { type FormInstance } from 'antd/es/form'
import Select from 'antd/es/select'
import { composeText, templates, type ComposeProblem, type Template, type Variable } from '@zhisuan/contract/aos/stack'
import { useEffect, useMemo, useRef, useState } from 'react'
import { useTranslation } from '../../i18n.ts'
import { useCall } from '../../api/hooks.ts'
import { CodeEditor } from './CodeEditor.tsx'
import { Field, RadioField } from '../../kit/fields.tsx'
import { ComposeField } from './ComposeField.tsx'
import { defaultsOf, undescribed, wholeFiles, type SourceValues } from './sourceForm.ts'
import { StackFileFields } from './StackFileFields.tsx'
import { useComposeCheck } from './useComposeCheck.ts'
import { VariableFields } from './VariableFields.tsx'
import './stack.css'

/** What is known of a source while it is chosen and typed. */
export interface KnownSource {
  readonly variables: readonly Variable[]
  readonly services: readonly string[]
  /** The file as it would be deployed; null while none is chosen. */
  readonly compose: string | null
  readonly problems: readonly ComposeProblem[]
  /** The one that is chosen, and all of its template. */
  readonly version: Template | undefined
  readonly versions: readonly Template[]
}

// Always the same one: the editor marks anew where it is another.
const nothingWrong: readonly ComposeProblem[] = []

/** Reads from the form around it what {@link SourceFields} asks for. */
export function useSource<Values extends SourceValues>(form: FormInstance<Values>): KnownSource {
  const source = Form.useWatch('source', form) ?? 'template'
  const templateId = Form.useWatch('template_id', form)
  const typed = Form.useWatch('compose', form) ?? ''
  const files = Form.useWatch('configs', form) ?? []
  const chosen = source === 'template' ? templateId : undefined
  const { data } = useCall(templates.versions, { params: { id: chosen ?? '' } }, { silent: true, enabled: chosen !== undefined })
  const versions = chosen === undefined ? [] : (data?.items ?? [])
  const version = versions.find(({ id }) => id === chosen)
  const compose = source === 'template' ? (version?.compose ?? null) : typed
  const declared = version?.variables
  const check = useComposeCheck(compose ?? '', { configs: wholeFiles(files), declared: declared?.map(({ name }) => name) })
  const told = check?.problems ?? nothingWrong
  const problems = useMemo(() => told.filter(({ undeclared }) => undeclared === undefined), [told])
  // Templates from before may lack some: they are asked for like those of a file.
  const lacking = told.flatMap(({ undeclared, severity }) => (undeclared === undefined || severity !== 'error' ? [] : [undeclared]))
  const variables =
    source === 'compose' ? undescribed(check?.variables ?? []) : declared === undefined ? [] : [...declared, ...undescribed([...new Set(lacking)])]
  return { variables, services: check?.services ?? [], compose, problems, version, versions }
}

/**
 * Where an application comes from: a version of a template or a file that is typed, the values of its
 * variables, and the configs beside it.
 * @param original the file that runs, for the differences from it
 */
export function SourceFields({ known, original }: { readonly known: KnownSource; readonly original?: string }) {
  const { t } = useTranslation('application')
  const form = Form.useFormInstance<SourceValues>()
  const source = Form.useWatch('source', form) ?? 'template'
  const [comparing, setComparing] = useState(true)
  const { version, versions, variables, problems } = known
  const list = useCall(templates.list, { query: { page_size: 1000, sort: 'name' } }, { silent: true, enabled: source === 'template' })
  const all = list.data?.items ?? []
  const own = version === undefined ? undefined : all.find(({ name, bp_id }) => name === version.name && bp_id === version.bp_id)
  const shown = original !== undefined && comparing ? original : undefined

  // A variable begins with its default, and follows it to another version until somebody types something else.
  const former = useRef<Record<string, string>>({})
  useEffect(() => {
    if (version === undefined) return
    const given = (form.getFieldValue('values') as SourceValues['values'] | undefined) ?? {}
    const typed = Object.entries(given).filter(([name, value]) => value !== undefined && value !== former.current[name])
    former.current = defaultsOf(version.variables)
    form.setFieldValue('values', { ...former.current, ...Object.fromEntries(typed) })
  }, [form, version])

  return (
    <>
      <RadioField
        name="source"
        label={t('source.kind')}
        optionType="button"
        options={[
          { value: 'template', label: t('source.template') },
          { value: 'compose', label: t('source.compose') },
        ]}
      />
      {original !== undefined && (
        <Form.Item className="as-compare">
          <Checkbox checked={comparing} onChange={(event) => setComparing(event.target.checked)}>
            {t('compose.compare')}
          </Checkbox>
        </Form.Item>
      )}
      {source === 'template' ? (
        <>
          <div className="as-pair">
            <Form.Item label={t('source.which')} htmlFor="source-template" required>
              <Select
                id="source-template"
                showSearch={{ optionFilterProp: 'label' }}
                loading={list.isPending}
                notFoundContent={list.isPending ? null : t('source.none')}
                value={own?.id ?? null}
                options={all.map(({ id, name }) => ({ value: id, label: name }))}
                onChange={(id: string) => form.setFieldsValue({ template_id: id, values: {} })}
              />
            </Form.Item>
            <Field name="template_id" label={t('source.version')} missing={t('source.choose')}>
              <Select
                disabled={versions.length === 0}
                options={versions.map(({ id, version: label, created_at }) => ({ value: id, label, title: created_at }))}
              />
            </Field>
          </div>
          {version !== undefined && version.description !== '' && <p className="zs-soft">{version.description}</p>}
          {version !== undefined && (
            <details className="as-details" {...(shown !== undefined && { open: true })}>
              <summary>{t('source.show')}</summary>
              <CodeEditor key={version.id} label={t('compose.label')} value={version.compose} original={shown} />
            </details>
          )}
          {problems.map(({ line, message }) => (
            <p key={`${line}:${message}`} className="zs-bad">
              {t('compose.line', { line })} {message}
            </p>
          ))}
        </>
      ) : (
        <Field name="compose" label={t('compose.label')} className="as-wide" schema={composeText}>
          <ComposeField label={t('compose.label')} problems={problems} original={shown} />
        </Field>
      )}
      {variables.length > 0 && <h2 className="zs-heading">{t('variable.title')}</h2>}
      {source === 'compose' && variables.length > 0 && <p className="zs-soft">{t('variable.undescribed')}</p>}
      <VariableFields variables={variables} />
      <h2 className="zs-heading">{t('file.title')}</h2>
      <Form.Item className="as-wide" extra={t('file.note')}>
        <StackFileFields />
      </Form.Item>
    </>
  )
}
