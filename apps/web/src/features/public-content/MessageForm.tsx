import CheckCircleFilled from '@ant-design/icons/es/icons/CheckCircleFilled'
import Button from 'antd/es/button'
import Form from 'antd/es/form'
import { useEffect, useRef, useState } from 'react'
import { useTranslation } from '../../i18n.ts'
import { Link } from 'react-router'
import { verification } from '@zhisuan/contract/ums/auth'
import { consultations } from '@zhisuan/contract/ums/consultation'
import { useChange } from '../../api/hooks.ts'
import { notify } from '../../api/notify.ts'
import { CodeInput } from '../../kit/CodeInput.tsx'
import { Field, TextAreaField, TextField } from '../../kit/fields.tsx'
import { paths } from '../../paths.ts'
import { showRefusal } from '../../kit/refusals.ts'
import './content.css'
import '../../kit/panel.css'

interface Values {
  readonly name: string
  readonly phone: string
  readonly code: string
  readonly content: string
}

const { shape } = consultations.leave.body

/** A message with a phone that a code proved. What was typed stays until it has been taken. */
export function MessageForm() {
  const { t } = useTranslation('content')
  const [form] = Form.useForm<Values>()
  const [done, setDone] = useState(false)
  const leave = useChange(consultations.leave, { invalidates: [consultations.list], silent: true })
  const sendCode = useChange(verification.consultationSms, { silent: true })

  const send = async (): Promise<number | null> => {
    try {
      // Refuses with the field's own error where the number is none.
      const { phone } = await form.validateFields(['phone'])
      const { retry_after_seconds } = await sendCode.mutateAsync({ params: { phone } })
      notify('success', t('board.codeSent', { phone }))
      return retry_after_seconds
    } catch (error) {
      const isValidation = typeof error === 'object' && error !== null && 'errorFields' in error
      if (!isValidation) showRefusal(form, error)
      return null
    }
  }
  const submit = async (values: Values): Promise<void> => {
    try {
      await leave.mutateAsync({ body: values })
      setDone(true)
    } catch (error) {
      showRefusal(form, error)
    }
  }

  if (done) {
    return (
      <Done
        onAgain={() => {
          // Who writes again is the same person; the code was used up.
          form.setFieldsValue({ code: '', content: '' })
          form.setFields([
            { name: 'code', errors: [] },
            { name: 'content', errors: [] },
          ])
          setDone(false)
        }}
      />
    )
  }
  return (
    <Form<Values>
      noValidate
      form={form}
      name="message"
      layout="vertical"
      requiredMark={false}
      onFinish={submit}
      preserve
      scrollToFirstError={{ block: 'center', focus: true }}
    >
      <TextField name="name" label={t('board.name')} extra={t('board.nameHint')} schema={shape.name} validateTrigger="onBlur" autoComplete="name" />
      <TextField name="phone" label={t('board.phone')} schema={shape.phone} validateTrigger="onBlur" type="tel" autoComplete="tel-national" />
      <Field name="code" label={t('board.code')} extra={t('board.codeHint')} schema={shape.code} validateTrigger="onSubmit">
        <CodeInput send={send} />
      </Field>
      <TextAreaField
        name="content"
        label={t('board.content')}
        schema={shape.content}
        validateTrigger="onBlur"
        autoSize={{ minRows: 5, maxRows: 16 }}
        showCount
      />
      <p className="zs-soft">
        {t('board.privacy')}
        <Link to={paths.termsOfService()} target="_blank" className="zs-text-link">
          {t('board.terms')}
        </Link>
        。
      </p>
      <Button type="primary" htmlType="submit" loading={leave.isPending}>
        {t('board.submit')}
      </Button>
    </Form>
  )
}

function Done({ onAgain }: { readonly onAgain: () => void }) {
  const { t } = useTranslation('content')
  const title = useRef<HTMLHeadingElement>(null)
  // The button that was pressed is gone: the reader goes on here.
  useEffect(() => title.current?.focus(), [])
  return (
    <div className="zs-panel" role="status">
      <CheckCircleFilled className="content-board-done" />
      <h2 ref={title} tabIndex={-1} className="zs-panel-title content-board-done-title">
        {t('board.doneTitle')}
      </h2>
      <p>{t('board.doneText')}</p>
      <div className="zs-panel-buttons">
        <Button onClick={onAgain}>{t('board.again')}</Button>
        <Link to={paths.welcome()} className="zs-button zs-button-plain">
          {t('board.home')}
        </Link>
      </div>
    </div>
  )
}
