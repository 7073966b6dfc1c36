import { startRegistration, WebAuthnError } from '@simplewebauthn/browser'
import Alert from 'antd/es/alert'
import Button from 'antd/es/button'
import Form from 'antd/es/form'
import Skeleton from 'antd/es/skeleton'
import Space from 'antd/es/space'
import Tag from 'antd/es/tag'
import Tooltip from 'antd/es/tooltip'
import { useState } from 'react'
import { useTranslation } from '../../i18n.ts'
import { auth } from '@zhisuan/contract/ums/auth'
import { passkeys, type Passkey } from '@zhisuan/contract/ums/passkey'
import { useCall, useChange } from '../../api/hooks.ts'
import { notify } from '../../api/notify.ts'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import { TextField } from '../../kit/fields.tsx'
import * as format from '../../kit/format.ts'
import { AccountForm, FormFoot } from './AccountForm.tsx'
import { CurrentPassword, wantsPassword } from '../../kit/CurrentPassword.tsx'
import { showRefusal } from '../../kit/refusals.ts'
import './account.css'

type Step = { readonly at: 'rest' } | { readonly at: 'add' } | { readonly at: 'rename' | 'remove'; readonly key: Passkey }

const stale = [passkeys.list] as const

/** Passkeys of one's own: made on this device, named, forgotten. */
export function Passkeys() {
  const { t } = useTranslation('account')
  const { data, error, refetch } = useCall(passkeys.list, {}, { silent: true })
  const { data: ways } = useCall(auth.ways, {}, { silent: true })
  const [step, setStep] = useState<Step>({ at: 'rest' })
  const rest = (): void => setStep({ at: 'rest' })
  if (data === undefined) return error === null ? <Skeleton active paragraph={{ rows: 2 }} /> : <ErrorPanel error={error} onRetry={() => void refetch()} />
  switch (step.at) {
    case 'add':
      return <Add number={data.total + 1} onDone={rest} />
    case 'rename':
      return <Rename passkey={step.key} onDone={rest} />
    case 'remove':
      return <Remove passkey={step.key} onDone={rest} />
    case 'rest':
      return (
        <>
          {data.total === 0 ? (
            <p className="account-current">{t('passkey.none')}</p>
          ) : (
            <ul className="account-keys" aria-label={t('passkey.list')}>
              {data.items.map((key) => (
                <li key={key.id}>
                  <div className="account-key">
                    {key.name}{' '}
                    {key.synced && (
                      <Tooltip title={t('passkey.syncedHint')}>
                        <Tag tabIndex={0}>{t('passkey.synced')}</Tag>
                      </Tooltip>
                    )}
                    <p>
                      {t('passkey.made', { at: format.dateTime(key.created_at) })} ·{' '}
                      {key.last_used_at === null ? t('passkey.unused') : t('passkey.used', { at: format.dateTime(key.last_used_at) })}
                    </p>
                  </div>
                  <Space>
                    <Button size="small" aria-label={`${t('passkey.rename')} ${key.name}`} onClick={() => setStep({ at: 'rename', key })}>
                      {t('passkey.rename')}
                    </Button>
                    <Button size="small" danger aria-label={`${t('passkey.remove')} ${key.name}`} onClick={() => setStep({ at: 'remove', key })}>
                      {t('passkey.remove')}
                    </Button>
                  </Space>
                </li>
              ))}
            </ul>
          )}
          {ways?.passkeys === false ? (
            <Alert type="info" showIcon title={t('passkey.unavailable')} />
          ) : typeof window.PublicKeyCredential !== 'function' ? (
            <Alert type="info" showIcon title={t('passkey.unsupported')} />
          ) : (
            <Button type={data.total === 0 ? 'primary' : 'default'} onClick={() => setStep({ at: 'add' })}>
              {t('passkey.add')}
            </Button>
          )}
        </>
      )
  }
}

function Add({ number, onDone }: { readonly number: number; readonly onDone: () => void }) {
  const { t } = useTranslation('account')
  const [form] = Form.useForm<{ name: string; password?: string }>()
  const [asksPassword, setAsksPassword] = useState(false)
  const [failure, setFailure] = useState<string | null>(null)
  const [pending, setPending] = useState(false)
  const begin = useChange(passkeys.begin, { silent: true })
  const create = useChange(passkeys.create, { silent: true, invalidates: stale })
  const submit = async ({ name, password }: { name: string; password?: string }): Promise<void> => {
    setPending(true)
    setFailure(null)
    try {
      const optionsJSON = await begin.mutateAsync({ body: password === undefined ? {} : { password } })
      const credential = await startRegistration({ optionsJSON })
      const made = await create.mutateAsync({ body: { name, credential } })
      notify('success', t('passkey.created', { name: made.name }))
      onDone()
    } catch (thrown) {
      if (thrown instanceof WebAuthnError) setFailure(t(thrown.code === 'ERROR_AUTHENTICATOR_PREVIOUSLY_REGISTERED' ? 'passkey.there' : 'passkey.unfinished'))
      else if (thrown instanceof DOMException) setFailure(t('passkey.unfinished'))
      else if (wantsPassword(thrown) && !asksPassword) setAsksPassword(true)
      else showRefusal(form, thrown)
    } finally {
      setPending(false)
    }
  }
  return (
    <AccountForm form={form} name="passkeyAdd" initialValues={{ name: t('passkey.defaultName', { number }) }} onFinish={submit}>
      {failure !== null && <Alert type="error" showIcon title={failure} className="zs-above" />}
      <TextField name="name" label={t('passkey.name')} extra={t('passkey.nameHint')} schema={passkeys.create.body.shape.name} autoFocus />
      {asksPassword && <CurrentPassword />}
      <FormFoot text={t('passkey.create')} pending={pending} onBack={onDone} />
    </AccountForm>
  )
}

function Rename({ passkey, onDone }: { readonly passkey: Passkey; readonly onDone: () => void }) {
  const { t } = useTranslation('account')
  const [form] = Form.useForm<{ name: string }>()
  const rename = useChange(passkeys.rename, {
    silent: true,
    invalidates: stale,
    onDone: () => {
      notify('success', t('passkey.renamed'))
      onDone()
    },
  })
  return (
    <AccountForm
      form={form}
      name="passkeyRename"
      initialValues={{ name: passkey.name }}
      onFinish={(body) => rename.mutate({ params: { id: passkey.id }, body }, { onError: (thrown) => showRefusal(form, thrown) })}
    >
      <TextField name="name" label={t('passkey.name')} schema={passkeys.rename.body.shape.name} autoFocus />
      <FormFoot text={t('passkey.save')} pending={rename.isPending} onBack={onDone} />
    </AccountForm>
  )
}

function Remove({ passkey, onDone }: { readonly passkey: Passkey; readonly onDone: () => void }) {
  const { t } = useTranslation('account')
  const [form] = Form.useForm<{ password?: string }>()
  const [asksPassword, setAsksPassword] = useState(false)
  const remove = useChange(passkeys.remove, {
    silent: true,
    invalidates: stale,
    onDone: () => {
      notify('success', t('passkey.removed', { name: passkey.name }))
      onDone()
    },
  })
  const submit = ({ password }: { password?: string }): void =>
    remove.mutate(
      { params: { id: passkey.id }, body: password === undefined ? {} : { password } },
      {
        onError: (thrown) => {
          if (wantsPassword(thrown) && !asksPassword) setAsksPassword(true)
          else showRefusal(form, thrown)
        },
      },
    )
  return (
    <AccountForm form={form} name="passkeyRemove" onFinish={submit}>
      <p>{t('passkey.removeTitle', { name: passkey.name })}</p>
      {asksPassword && <CurrentPassword />}
      <FormFoot text={t('passkey.remove')} danger pending={remove.isPending} onBack={onDone} />
    </AccountForm>
  )
}
