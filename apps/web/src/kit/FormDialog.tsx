import Alert, { type AlertProps } from 'antd/es/alert'
import Form, { type FormInstance } from 'antd/es/form'
import Modal from 'antd/es/modal'
import { useRef, useState, type ReactNode } from 'react'
import { useTranslation } from '../i18n.ts'
import { toApiError } from '../api/client.ts'
import { isTold, notify } from '../api/notify.ts'
import { errorText } from '../api/toasts.ts'
import { focusFirstField, useReturnFocus } from './focus.ts'
import { showFieldErrors } from './rules.ts'

/** Props of a dialog: its own, and what closes it. */
export type Dialog<Props = unknown> = Readonly<Props> & { readonly onClose: () => void }

export interface FormDialogProps<Values extends object, Answer> {
  readonly title: string
  readonly okText: string
  /** Why it cannot be sent stands in the form. */
  readonly okDisabled?: boolean
  /** What it does cannot be taken back. */
  readonly danger?: boolean
  readonly initialValues: Partial<Values>
  /** Makes the call; what it rejects with, and no toast has said, is shown, and nothing typed is lost. */
  readonly onSubmit: (values: Values) => Promise<Answer>
  /** What is said of a refusal, where its reason alone is not enough. */
  readonly refusal?: (reason: string) => Pick<AlertProps, 'title' | 'description'>
  /** Said when it has succeeded; of what was answered, where that is needed. Nothing where it is left out. */
  readonly doneText?: string | ((answer: Answer) => string)
  readonly onClose: () => void
  /** It stays when it has succeeded: what was made shows in it. */
  readonly keepOpen?: boolean
  readonly form?: FormInstance<Values>
  readonly width?: number
  readonly onValuesChange?: (changed: Partial<Values>, all: Values) => void
  /** As in a FormPage. */
  readonly children: ReactNode
}

/** A short form over a page: the server's refusals beside their fields, or above where no field stands for them. */
export function FormDialog<Values extends object, Answer = unknown>(props: FormDialogProps<Values, Answer>) {
  const { t } = useTranslation('kit')
  useReturnFocus()
  const [form] = Form.useForm<Values>(props.form)
  const [saving, setSaving] = useState(false)
  const body = useRef<HTMLDivElement>(null)
  const [refused, setRefused] = useState<string | null>(null)

  const submit = async (values: Values): Promise<void> => {
    // Enter in a form's only field sends it without its button.
    if (saving || props.okDisabled === true) return
    setSaving(true)
    setRefused(null)
    try {
      const answer = await props.onSubmit(values)
      if (props.doneText !== undefined) notify('success', typeof props.doneText === 'string' ? props.doneText : props.doneText(answer))
      if (props.keepOpen !== true) props.onClose()
    } catch (thrown) {
      const error = toApiError(thrown)
      const unplaced = showFieldErrors(form as FormInstance, error.fields)
      if (!isTold(error) && (unplaced.length > 0 || error.fields.length === 0))
        setRefused([...new Set([errorText(error), ...unplaced.map(({ message }) => message)])].join('；'))
    } finally {
      setSaving(false)
    }
  }

  return (
    <Modal
      open
      title={props.title}
      okText={props.okText}
      cancelText={t('form.cancel')}
      okButtonProps={{ danger: props.danger ?? false, disabled: props.okDisabled ?? false }}
      confirmLoading={saving}
      onOk={form.submit}
      onCancel={props.onClose}
      afterOpenChange={(open) => open && focusFirstField(body)}
      mask={{ closable: false }}
      width={props.width ?? 520}
    >
      <div ref={body}>
        <Form<Values>
          noValidate
          form={form}
          layout="vertical"
          initialValues={props.initialValues}
          onFinish={submit}
          {...(props.onValuesChange !== undefined && { onValuesChange: props.onValuesChange })}
          scrollToFirstError={{ block: 'center', focus: true }}
        >
          {refused !== null && <Alert type="error" showIcon className="zs-above" {...(props.refusal?.(refused) ?? { title: refused })} />}
          {props.children}
        </Form>
      </div>
    </Modal>
  )
}
