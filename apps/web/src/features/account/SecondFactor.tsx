import Alert from 'antd/es/alert'
import Button from 'antd/es/button'
import Form from 'antd/es/form'
import Input from 'antd/es/input'
import QRCode from 'antd/es/qr-code'
import Skeleton from 'antd/es/skeleton'
import Space from 'antd/es/space'
import { useState } from 'react'
import { useTranslation } from '../../i18n.ts'
import { otp, secondFactor } from '@zhisuan/contract/ums/second-factor'
import { passwordTyped } from '@zhisuan/contract/validation'
import { useCall, useChange } from '../../api/hooks.ts'
import { notify } from '../../api/notify.ts'
import { copyText } from '../../kit/copy.ts'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import { Field, PasswordField, TextField } from '../../kit/fields.tsx'
import * as format from '../../kit/format.ts'
import { AccountForm, FormFoot } from './AccountForm.tsx'
import { CurrentPassword } from '../../kit/CurrentPassword.tsx'
import { showRefusal } from '../../kit/refusals.ts'
import './account.css'

interface Begun {
  readonly secret: string
  readonly uri: string
}
type Step =
  | { readonly at: 'rest' }
  | { readonly at: 'password' }
  | { readonly at: 'confirm'; readonly begun: Begun }
  | { readonly at: 'codes'; readonly codes: readonly string[] }
  | { readonly at: 'renew' }
  | { readonly at: 'remove' }

/** Codes of an app besides the password: on, off, and the recovery codes for a lost phone. */
export function SecondFactor() {
  const { t } = useTranslation('account')
  const { data, error, refetch } = useCall(secondFactor.get, {}, { silent: true })
  const [step, setStep] = useState<Step>({ at: 'rest' })
  const rest = (): void => {
    setStep({ at: 'rest' })
    void refetch()
  }
  if (data === undefined) return error === null ? <Skeleton active paragraph={{ rows: 2 }} /> : <ErrorPanel error={error} onRetry={() => void refetch()} />
  const on = data.since !== null
  switch (step.at) {
    case 'password':
      return <Begin onBegun={(begun) => setStep({ at: 'confirm', begun })} onBack={rest} />
    case 'confirm':
      return <Confirm begun={step.begun} onCodes={(codes) => setStep({ at: 'codes', codes })} onBack={rest} />
    case 'codes':
      return <Codes codes={step.codes} onDone={rest} />
    case 'renew':
      return <Prove action="renewCodes" onCodes={(codes) => setStep({ at: 'codes', codes })} onBack={rest} />
    case 'remove':
      return <Prove action="remove" onCodes={rest} onBack={rest} />
    case 'rest':
      return (
        <>
          <p className="account-current">
            {on ? t('second.since', { at: format.dateTime(data.since) }) : t('second.off')}
            {on && <> {t('second.left', { count: data.recovery_codes_left })}</>}
          </p>
          {on && data.recovery_codes_left <= 2 && <Alert type="warning" showIcon title={t('second.few')} className="zs-above" />}
          {on ? (
            <Space wrap>
              <Button onClick={() => setStep({ at: 'renew' })}>{t('second.renewCodes')}</Button>
              <Button danger onClick={() => setStep({ at: 'remove' })}>
                {t('second.remove')}
              </Button>
            </Space>
          ) : (
            <Button type="primary" onClick={() => setStep({ at: 'password' })}>
              {t('second.turnOn')}
            </Button>
          )}
        </>
      )
  }
}

function Begin({ onBegun, onBack }: { readonly onBegun: (begun: Begun) => void; readonly onBack: () => void }) {
  const { t } = useTranslation('account')
  const [form] = Form.useForm<{ password: string }>()
  const begin = useChange(secondFactor.begin, { silent: true, onDone: onBegun })
  return (
    <AccountForm form={form} name="secondBegin" onFinish={(body) => begin.mutate({ body }, { onError: (error) => showRefusal(form, error) })}>
      <CurrentPassword />
      <FormFoot text={t('second.next')} pending={begin.isPending} onBack={onBack} />
    </AccountForm>
  )
}

function Confirm({ begun, onCodes, onBack }: { readonly begun: Begun; readonly onCodes: (codes: readonly string[]) => void; readonly onBack: () => void }) {
  const { t } = useTranslation('account')
  const [form] = Form.useForm<{ code: string }>()
  const confirm = useChange(secondFactor.confirm, { silent: true, onDone: ({ recovery_codes }) => onCodes(recovery_codes) })
  return (
    <AccountForm form={form} name="secondConfirm" onFinish={(body) => confirm.mutate({ body }, { onError: (error) => showRefusal(form, error) })}>
      <p>{t('second.scan')}</p>
      <QRCode value={begun.uri} type="svg" size={176} aria-label={t('second.qr')} />
      <p>
        {t('second.secret')} <code className="account-secret">{begun.secret}</code>{' '}
        <Button size="small" onClick={() => void copyText(begun.secret)}>
          {t('second.copy')}
        </Button>
      </p>
      <Field name="code" label={t('second.code')} schema={secondFactor.confirm.body.shape.code} validateTrigger="onSubmit">
        <Input inputMode="numeric" autoComplete="one-time-code" autoFocus />
      </Field>
      <FormFoot text={t('second.turnOn')} pending={confirm.isPending} onBack={onBack} />
    </AccountForm>
  )
}

function Codes({ codes, onDone }: { readonly codes: readonly string[]; readonly onDone: () => void }) {
  const { t } = useTranslation('account')
  return (
    <>
      <Alert type="warning" showIcon title={t('second.keep')} className="zs-above" />
      <ul className="account-codes" aria-label={t('second.codes')}>
        {codes.map((code) => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ul>
      <Space wrap>
        <Button onClick={() => void copyText(codes.join('\n'))}>{t('second.copyAll')}</Button>
        <Button type="primary" onClick={onDone}>
          {t('second.kept')}
        </Button>
      </Space>
    </>
  )
}

/** What changes the second factor takes both: the password, and a code. */
function Prove({
  action,
  onCodes,
  onBack,
}: {
  readonly action: 'renewCodes' | 'remove'
  readonly onCodes: (codes: readonly string[]) => void
  readonly onBack: () => void
}) {
  const { t } = useTranslation('account')
  const [form] = Form.useForm<{ password: string; code: string }>()
  const renew = useChange(secondFactor.renewCodes, { silent: true, onDone: ({ recovery_codes }) => onCodes(recovery_codes) })
  const remove = useChange(secondFactor.remove, {
    silent: true,
    onDone: () => {
      notify('success', t('second.removed'))
      onCodes([])
    },
  })
  const change = action === 'remove' ? remove : renew
  return (
    <AccountForm form={form} name="secondProve" onFinish={(body) => change.mutate({ body }, { onError: (error) => showRefusal(form, error) })}>
      <p>{t(action === 'remove' ? 'second.removeText' : 'second.renewText')}</p>
      <PasswordField name="password" label={t('currentPassword')} schema={passwordTyped} validateTrigger="onSubmit" autoComplete="current-password" autoFocus />
      <TextField name="code" label={t('second.codeOrRecovery')} schema={otp} validateTrigger="onSubmit" autoComplete="one-time-code" />
      <FormFoot text={t(action === 'remove' ? 'second.remove' : 'second.renewCodes')} danger={action === 'remove'} pending={change.isPending} onBack={onBack} />
    </AccountForm>
  )
}
