import Alert from 'antd/es/alert'
import Button from 'antd/es/button'
import Form, { type FormInstance } from 'antd/es/form'
import { useEffect, useRef, useState, type ReactNode } from 'react'
import { useTranslation } from '../i18n.ts'
import { useBlocker } from './navigation.ts'
import { LeaveDialog } from './LeaveDialog.tsx'
import { toApiError, type FieldError } from '../api/client.ts'
import { showFieldErrors } from './rules.ts'
import './form.css'

export interface FormPageProps<Values extends object> {
  readonly form?: FormInstance<Values>
  readonly initialValues?: Partial<Values>
  /** Makes the call, usually `change.mutateAsync`; what it rejects with is shown and nothing typed is lost. */
  readonly onSubmit: (values: Values) => Promise<unknown>
  readonly submitText: string
  /** Why it cannot be sent stands beside the form. */
  readonly submitDisabled?: boolean
  readonly onCancel?: () => void
  /** Fields of `fields.tsx`, with their schemas; a Form.Item with `field(schema)` around what none of them is. */
  readonly children: ReactNode
  /** Beside the form: a summary, a price. */
  readonly aside?: ReactNode
}

/** A page that is a form: server's refusals beside their fields, and a question before typed text is left behind. */
export function FormPage<Values extends object>(props: FormPageProps<Values>) {
  const { t } = useTranslation('kit')
  const [form] = Form.useForm<Values>(props.form)
  const [submitting, setSubmitting] = useState(false)
  const [unplaced, setUnplaced] = useState<readonly FieldError[]>([])
  const dirty = useRef(false)

  const blocker = useBlocker(
    ({ currentLocation, nextLocation }) =>
      dirty.current && (currentLocation.pathname !== nextLocation.pathname || currentLocation.search !== nextLocation.search),
  )
  useEffect(() => {
    const ask = (event: BeforeUnloadEvent): void => {
      if (dirty.current) event.preventDefault()
    }
    addEventListener('beforeunload', ask)
    return () => removeEventListener('beforeunload', ask)
  }, [])

  const submit = async (values: Values): Promise<void> => {
    setSubmitting(true)
    setUnplaced([])
    const was = dirty.current
    // What onSubmit does once it has succeeded is to leave: that needs no question.
    dirty.current = false
    try {
      await props.onSubmit(values)
    } catch (thrown) {
      dirty.current = was
      const error = toApiError(thrown)
      setUnplaced(showFieldErrors(form as FormInstance, error.fields))
    } finally {
      setSubmitting(false)
    }
  }

  return (
    <div className="zs-form-page">
      <Form<Values>
        noValidate
        form={form}
        layout="vertical"
        className="zs-form"
        // A partial record of the values: antd's own type wants each key's presence.
        {...(props.initialValues !== undefined && { initialValues: props.initialValues })}
        onValuesChange={() => {
          dirty.current = true
        }}
        onFinish={submit}
        scrollToFirstError={{ block: 'center', focus: true }}
      >
        {props.children}
        {unplaced.length > 0 && (
          <Alert
            type="error"
            className="zs-above"
            title={t('form.refused')}
            description={unplaced.map((one) => (
              <div key={one.field}>
                {one.field}: {one.message}
              </div>
            ))}
          />
        )}
        <div className="zs-form-foot">
          <Button type="primary" htmlType="submit" loading={submitting} disabled={props.submitDisabled ?? false}>
            {props.submitText}
          </Button>
          {props.onCancel !== undefined && <Button onClick={props.onCancel}>{t('form.cancel')}</Button>}
        </div>
      </Form>
      {props.aside !== undefined && (
        <aside className="zs-form-aside" aria-label={t('form.aside')}>
          {props.aside}
        </aside>
      )}
      <LeaveDialog open={blocker.state === 'blocked'} onLeave={() => blocker.proceed()} onStay={() => blocker.reset()} />
    </div>
  )
}
