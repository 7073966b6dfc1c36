import Alert from 'antd/es/alert'
import Button from 'antd/es/button'
import Form from 'antd/es/form'
import Input from 'antd/es/input'
import { commands, type Command } from '@zhisuan/contract/nextstack/command'
import { useState } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { useChange } from '../../../api/hooks.ts'
import { notify } from '../../../api/notify.ts'
import { errorText } from '../../../api/toasts.ts'
import { Field, TextField } from '../../../kit/fields.tsx'
import { NumberField } from '../../../kit/NumberField.tsx'
import { showFieldErrors } from '../../../kit/rules.ts'
import { VmsSelect } from './VmsSelect.tsx'
import '../compute.css'

/** What somebody begins to type from. */
export interface Draft {
  /** Counts drafts, so that one that comes anew replaces what was typed. */
  readonly number: number
  readonly vms: readonly string[]
  readonly script: string
  readonly timeout_seconds: number
}

interface Values {
  vm_ids: string[]
  script: string
  timeout_seconds: number
  name?: string
}
const { shape } = commands.create.body

/** Which instances, which script, how long at most. */
export function CommandComposer({
  cloudId,
  draft,
  onStarted,
}: {
  readonly cloudId: string | undefined
  readonly draft: Draft
  readonly onStarted: (command: Command) => void
}) {
  const { t } = useTranslation('nextstackCompute')
  const [form] = Form.useForm<Values>()
  const [refused, setRefused] = useState<string | null>(null)
  const create = useChange(commands.create, { invalidates: [commands.list], silent: true })
  const chosen: readonly string[] = Form.useWatch('vm_ids', form) ?? draft.vms

  const submit = ({ name, ...body }: Values): void => {
    setRefused(null)
    create.mutate(
      { body: { ...body, ...(name !== undefined && name.trim() !== '' && { name }) } },
      {
        onSuccess: (command) => {
          notify('success', t('command.started', { name: command.name }))
          onStarted(command)
        },
        onError: (error) => {
          const rest = showFieldErrors(form, error.fields)
          setRefused(error.fields.length > 0 && rest.length === 0 ? null : errorText(error))
        },
      },
    )
  }

  return (
    <section className="zs-card" aria-labelledby="command-compose">
      <h2 className="zs-heading" id="command-compose">
        {t('command.compose')}
      </h2>
      <Form<Values>
        noValidate
        form={form}
        layout="vertical"
        initialValues={{ vm_ids: [...draft.vms], script: draft.script, timeout_seconds: draft.timeout_seconds, name: '' }}
        onFinish={submit}
        scrollToFirstError={{ block: 'center', focus: true }}
      >
        <Field name="vm_ids" label={t('command.field.vms')} extra={t('command.vmsNote')} schema={shape.vm_ids}>
          <VmsSelect cloudId={cloudId} />
        </Field>
        <Field name="script" label={t('command.field.script')} extra={t('command.scriptNote')} validateTrigger="onBlur" schema={shape.script}>
          <Input.TextArea rows={8} spellCheck={false} autoComplete="off" className="zs-code nc-script" placeholder={t('command.scriptPlaceholder')} />
        </Field>
        <div className="nc-row">
          <NumberField
            name="timeout_seconds"
            label={t('command.field.timeout')}
            extra={t('command.timeoutNote')}
            schema={shape.timeout_seconds}
            required
            suffix={t('command.seconds')}
          />
          <TextField name="name" label={t('command.field.name')} extra={t('command.nameNote')} schema={shape.name} />
        </div>
        <div aria-live="polite">
          {refused !== null && <Alert className="zs-above" type="error" showIcon title={t('command.refused', { reason: refused })} />}
        </div>
        <Button type="primary" htmlType="submit" loading={create.isPending}>
          {chosen.length > 1 ? t('command.runOn', { count: chosen.length }) : t('command.run')}
        </Button>
      </Form>
    </section>
  )
}
