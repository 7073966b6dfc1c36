import Button from 'antd/es/button'
import Form, { type FormProps } from 'antd/es/form'
import Space from 'antd/es/space'
import type { ReactNode } from 'react'
import { errors } from '@zhisuan/contract/errors'
import { passwordTyped } from '@zhisuan/contract/validation'
import { useTranslation } from '../../i18n.ts'
import { toApiError } from '../../api/client.ts'
import { PasswordField } from '../../kit/fields.tsx'
import './account.css'

/** A form about oneself, on the page where it is read. */
export function AccountForm<Values extends object>(props: FormProps<Values> & { readonly children: ReactNode }) {
  return (
    <Form<Values> noValidate layout="vertical" className="account-form" requiredMark={false} scrollToFirstError={{ block: 'center', focus: true }} {...props} />
  )
}

/** The password that is theirs now, by which somebody proves that it is they. */
export function CurrentPassword({ focus = true }: { readonly focus?: boolean }) {
  const { t } = useTranslation('account')
  const about = { label: t('currentPassword'), extra: t('currentPasswordHint') }
  return <PasswordField name="password" {...about} schema={passwordTyped} validateTrigger="onSubmit" autoComplete="current-password" autoFocus={focus} />
}

/** The password is asked for only where the server wants it: not of who has just signed in. */
export const wantsPassword = (thrown: unknown): boolean => toApiError(thrown).code === errors.proofRequired.code && toApiError(thrown).fields.length > 0

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
