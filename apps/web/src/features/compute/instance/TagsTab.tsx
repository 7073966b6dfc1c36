import CloseOutlined from '@ant-design/icons/es/icons/CloseOutlined'
import PlusOutlined from '@ant-design/icons/es/icons/PlusOutlined'
import Button from 'antd/es/button'
import Form from 'antd/es/form'
import Input from 'antd/es/input'
import Select from 'antd/es/select'
import type { CloudBasic } from '@zhisuan/contract/cmp/cloud'
import { computeInstances, createInstanceBody, type ComputeInstance } from '@zhisuan/contract/compute/instance'
import { useEffect, useState, type ReactNode } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { toApiError } from '../../../api/client.ts'
import { useChange } from '../../../api/hooks.ts'
import { notify } from '../../../api/notify.ts'
import { errorText } from '../../../api/toasts.ts'
import { pairsOf, recordOf, type Pair } from './instanceForm.ts'
import { invalidatedByInstance, whyNotInstance } from './instanceRules.ts'
import { Field } from '../../../kit/fields.tsx'
import { refusing } from '../../../kit/rules.ts'
import './instance.css'
import '../../../kit/form.css'

const { shape } = createInstanceBody

/** What programs inside and people outside find an instance by; each saved as a whole. */
export function TagsTab({ instance, cloud }: { readonly instance: ComputeInstance; readonly cloud: CloudBasic }) {
  const { t } = useTranslation('computeInstance')
  const setMetadata = useChange(computeInstances.setMetadata, { invalidates: invalidatedByInstance, silent: true })
  const setTags = useChange(computeInstances.setTags, { invalidates: invalidatedByInstance, silent: true })
  const params = { cloud_id: cloud.cloud_id, id: instance.id }
  return (
    <>
      <Part<{ metadata: Pair[] }>
        title={t('tags.metadata')}
        note={t('tags.metadataNote')}
        off={whyNotInstance(t, 'setMetadata', instance, cloud)}
        initial={{ metadata: pairsOf(instance.metadata) }}
        save={({ metadata }) => setMetadata.mutateAsync({ params, body: { metadata: recordOf(metadata) } })}
      >
        <Pairs name="metadata" />
      </Part>
      <Part<{ tags: string[] }>
        title={t('tags.tags')}
        note={t('tags.tagsNote')}
        off={whyNotInstance(t, 'setTags', instance, cloud)}
        initial={{ tags: [...instance.tags] }}
        save={({ tags }) => setTags.mutateAsync({ params, body: { tags } })}
      >
        <TagsField label={t('tags.tags')} />
      </Part>
    </>
  )
}

/** One form of it. */
function Part<Values extends object>({
  title,
  note,
  off,
  initial,
  save,
  children,
}: {
  readonly title: string
  readonly note: string
  readonly off: string | null
  readonly initial: Values
  readonly save: (values: Values) => Promise<unknown>
  readonly children: ReactNode
}) {
  const { t } = useTranslation('computeInstance')
  const [form] = Form.useForm<Values>()
  const [changed, setChanged] = useState(false)
  const [saving, setSaving] = useState(false)
  const [refused, setRefused] = useState<string | null>(null)
  const told = JSON.stringify(initial)
  const showTold = (): void => form.setFieldsValue(JSON.parse(told) as Parameters<typeof form.setFieldsValue>[0])
  // What was saved elsewhere meanwhile is shown, unless somebody is typing; what was saved here stands here already.
  useEffect(() => {
    if (!changed) showTold()
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [told])
  const submit = async (values: Values): Promise<void> => {
    setSaving(true)
    setRefused(null)
    try {
      await save(values)
      notify('success', t('tags.done'))
      setChanged(false)
    } catch (thrown) {
      const error = toApiError(thrown)
      setRefused([errorText(error), ...error.fields.map(({ message }) => message)].join('；'))
    } finally {
      setSaving(false)
    }
  }
  return (
    <section className="ci-part">
      <h2 className="zs-heading">{title}</h2>
      <p className="zs-soft">{off ?? note}</p>
      {/* What the forms library wants is a partial of the values, and the whole is one. */}
      <Form<Values>
        noValidate
        form={form}
        layout="vertical"
        initialValues={initial as Record<string, unknown>}
        disabled={off !== null}
        onValuesChange={() => setChanged(true)}
        onFinish={submit}
      >
        {children}
        {refused !== null && (
          <p className="zs-bad" role="alert">
            {refused}
          </p>
        )}
        <Button type="primary" htmlType="submit" loading={saving} disabled={!changed || off !== null}>
          {t('tags.save')}
        </Button>{' '}
        {changed && (
          <Button
            onClick={() => {
              showTold()
              setChanged(false)
              setRefused(null)
            }}
          >
            {t('tags.reset')}
          </Button>
        )}
      </Form>
    </section>
  )
}

/** Keys and values of a form. */
export function Pairs({ name }: { readonly name: string }) {
  const { t } = useTranslation('computeInstance')
  const form = Form.useFormInstance()
  return (
    <Form.List name={name}>
      {(rows, { add, remove }) => (
        <div className="ci-pairs">
          {rows.map((row) => (
            <div key={row.key} className="ci-pair">
              <Field
                name={[row.name, 'key']}
                noStyle={false}
                schema={shape.metadata.unwrap().keyType}
                required={false}
                rules={[
                  refusing((key: string | undefined) => {
                    const all = (form.getFieldValue(name) ?? []) as readonly (Pair | undefined)[]
                    return key !== undefined && key !== '' && all.filter((pair) => pair?.key === key).length > 1 && t('tags.twice')
                  }),
                ]}
              >
                <Input aria-label={t('tags.key')} placeholder={t('tags.key')} />
              </Field>
              <Field name={[row.name, 'value']} schema={shape.metadata.unwrap().valueType} required={false}>
                <Input aria-label={t('tags.value')} placeholder={t('tags.value')} />
              </Field>
              <Button type="text" icon={<CloseOutlined />} aria-label={t('tags.removeEmpty')} onClick={() => remove(row.name)} />
            </div>
          ))}
          <div>
            <Button icon={<PlusOutlined aria-hidden />} onClick={() => add({ key: '', value: '' })}>
              {t('tags.add')}
            </Button>
          </div>
        </div>
      )}
    </Form.List>
  )
}

/** Tags as they are typed. */
export function TagsField({ label }: { readonly label: string }) {
  return (
    <Field name="tags" schema={shape.tags}>
      <Select mode="tags" open={false} suffixIcon={null} aria-label={label} className="zs-field" style={{ width: '100%' }} tokenSeparators={[',', '，']} />
    </Field>
  )
}
