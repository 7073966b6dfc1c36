import Alert from 'antd/es/alert'
import Button from 'antd/es/button'
import Form from 'antd/es/form'
import Input from 'antd/es/input'
import { configs, type Config } from '@zhisuan/contract/cis/container'
import { useRef, useState } from 'react'
import { useTranslation } from '../../i18n.ts'
import { useNavigate } from 'react-router'
import { toApiError } from '../../api/client.ts'
import { useChange } from '../../api/hooks.ts'
import { notify, toastError } from '../../api/notify.ts'
import { CheckField, Field, TextAreaField, TextField } from '../../kit/fields.tsx'
import * as format from '../../kit/format.ts'
import { FormPage } from '../../kit/FormPage.tsx'
import { paths } from '../../paths.ts'
import { measured, readText } from './textFile.ts'
import './container.css'

const { shape } = configs.put.body

interface Values {
  name: string
  description: string
  content: string
  restart: boolean
}

const valuesOf = (config: Config | null): Values => ({
  name: config?.name ?? '',
  description: config?.description ?? '',
  content: config?.content ?? '',
  restart: false,
})

/** @param config as it is now, read again and again; null for a new one */
export function ConfigForm({ config }: { readonly config: Config | null }) {
  const { t } = useTranslation('container')
  const navigate = useNavigate()
  const [form] = Form.useForm<Values>()
  // What the person began from: what others made of it meanwhile must not be written over unseen.
  const [begun, setBegun] = useState(config)
  const put = useChange(configs.put, { invalidates: [configs.list], silent: true })
  const stale = config !== null && begun !== null && config.revision !== begun.revision

  const submit = async ({ name, description, content, restart = false }: Values): Promise<void> => {
    try {
      const saved = await put.mutateAsync({ body: { name, description, content, restart, ...(begun !== null && { id: begun.id, revision: begun.revision }) } })
      notify('success', t('config.saved', { name: saved.name }))
      void navigate(paths.container.configuration.list())
    } catch (thrown) {
      // What names a field of the form stands beside it.
      const error = toApiError(thrown)
      if (error.status !== 401 && (error.fields.length === 0 || error.fields.some(({ field: name_ }) => name_ === 'revision'))) toastError(error)
      throw error
    }
  }
  const reload = (): void => {
    setBegun(config)
    form.setFieldsValue(valuesOf(config))
  }

  return (
    <>
      {stale && (
        <Alert
          className="zs-above"
          type="warning"
          showIcon
          title={t('config.changed')}
          description={t('config.changedNote', { revision: config.revision })}
          action={
            <Button size="small" onClick={reload}>
              {t('config.reload')}
            </Button>
          }
        />
      )}
      <FormPage<Values>
        form={form}
        initialValues={valuesOf(begun)}
        submitText={t('config.save')}
        onCancel={() => void navigate(paths.container.configuration.list())}
        onSubmit={submit}
      >
        <TextField name="name" label={t('field.name')} schema={shape.name} autoFocus={config === null} />
        <TextAreaField name="description" label={t('field.description')} schema={shape.description} rows={2} showCount />
        <Content />
        {config !== null && config.used_by > 0 && (
          <CheckField name="restart" text={t('config.restart', { count: config.used_by })} extra={t('config.restartNote')} />
        )}
      </FormPage>
    </>
  )
}

function Content() {
  const { t } = useTranslation('container')
  const form = Form.useFormInstance<Values>()
  const content = Form.useWatch('content', form) ?? ''
  const chooser = useRef<HTMLInputElement>(null)
  const { lines, bytes } = measured(content)
  const load = async (file: File): Promise<void> => {
    const read = await readText(file)
    if ('wrong' in read) notify('error', t(`config.${read.wrong}`))
    else form.setFieldsValue({ content: read.text, ...(form.getFieldValue('name') === '' && { name: file.name }) })
  }
  return (
    <>
      <Field
        name="content"
        label={t('config.content')}
        extra={t('config.contentNote', { lines, size: format.bytes(bytes) })}
        className="cn-content"
        schema={shape.content}
        required={false}
      >
        <Input.TextArea rows={20} spellCheck={false} wrap="off" />
      </Field>
      <p>
        <Button onClick={() => chooser.current?.click()}>{t('config.load')}</Button>
        <input
          ref={chooser}
          type="file"
          hidden
          onChange={({ currentTarget }) => {
            const [file] = currentTarget.files ?? []
            if (file !== undefined) void load(file)
            // The same file may be chosen again.
            currentTarget.value = ''
          }}
        />
      </p>
    </>
  )
}
