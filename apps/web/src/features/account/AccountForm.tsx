import Button from 'antd/es/button'
import Form, { type FormProps } from 'antd/es/form'
import Space from 'antd/es/space'
import type { ReactNode } from 'react'
import { useTranslation } from '../../i18n.ts'
import './account.css'

/** A form about oneself, on the page where it is read. */
export function AccountForm<Values extends object>(props: FormProps<Values> & { readonly children: ReactNode }) {
  return (
    <Form<Values> noValidate layout="vertical" className="account-form" requiredMark={false} scrollToFirstError={{ block: 'center', focus: true }} {...props} />
  )
}

/** Ends a form that opened in its place: by what it does, or back to what was there. */
export function FormFoot({
  text,
  danger = false,
  pending,
  onBack,
}: {
  readonly text: string
  readonly danger?: boolean
  readonly pending: boolean
  readonly onBack: () => void
}) {
  const { t } = useTranslation('account')
  return (
    <Space wrap>
      <Button type="primary" danger={danger} htmlType="submit" loading={pending}>
        {text}
      </Button>
      <Button onClick={onBack}>{t('back')}</Button>
    </Space>
  )
}
