import Alert from 'antd/es/alert'
import Button from 'antd/es/button'
import Form from 'antd/es/form'
import Skeleton from 'antd/es/skeleton'
import Space from 'antd/es/space'
import { useState } from 'react'
import { useTranslation } from '../../i18n.ts'
import { useSearchParams } from 'react-router'
import { errors } from '@zhisuan/contract/errors'
import { identities, singleSignOnRefusals } from '@zhisuan/contract/ums/identityProvider'
import { useCall, useChange } from '../../api/hooks.ts'
import { notify } from '../../api/notify.ts'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import * as format from '../../kit/format.ts'
import { AccountForm, FormFoot } from './AccountForm.tsx'
import { CurrentPassword } from '../../kit/CurrentPassword.tsx'
import { showRefusal } from '../../kit/refusals.ts'
import './account.css'

/** Accounts of identity providers that one signs in with. */
export function LinkedAccounts() {
  const { t } = useTranslation('account')
  const { data, error, refetch } = useCall(identities.list, {}, { silent: true })
  const [search] = useSearchParams()
  /** The provider whose account is being linked by one who has to prove themselves first. */
  const [asking, setAsking] = useState<string | null>(null)
  const [form] = Form.useForm<{ password: string }>()
  const link = useChange(identities.link, { silent: true, onDone: ({ url }) => location.assign(url) })
  const unlink = useChange(identities.unlink, { invalidates: [identities.list], onDone: () => notify('success', t('linked.unlinked')) })
  if (data === undefined) return error === null ? <Skeleton active paragraph={{ rows: 2 }} /> : <ErrorPanel error={error} onRetry={() => void refetch()} />
  const came = search.get('sso')
  const refusal = singleSignOnRefusals.find((name) => String(errors[name].code) === came)
  const begin = (provider_id: string, password?: string): void =>
    link.mutate(
      { body: { provider_id, ...(password !== undefined && { password }) } },
      {
        onError: (thrown) => {
          if (thrown.code === errors.proofRequired.code && password === undefined && thrown.fields.length > 0) setAsking(provider_id)
          else showRefusal(form, thrown)
        },
      },
    )
  return (
    <>
      {refusal !== undefined && <Alert type="error" showIcon title={errors[refusal].text} className="zs-above" />}
      {came === 'done' && <Alert type="success" showIcon title={t('linked.done')} className="zs-above" />}
      {data.total === 0 && <p className="account-current">{t(data.offered.length === 0 ? 'linked.noneOffered' : 'linked.none')}</p>}
      {data.total > 0 && (
        <ul className="account-keys" aria-label={t('linked.title')}>
          {data.items.map((one) => (
            <li key={one.id}>
              <div className="account-key">
                {one.provider_name}：{one.account}
                <p>
                  {t('linked.made', { at: format.dateTime(one.created_at) })} ·{' '}
                  {one.last_used_at === null ? t('linked.unused') : t('linked.used', { at: format.dateTime(one.last_used_at) })}
                </p>
              </div>
              <Button
                size="small"
                danger
                loading={unlink.isPending}
                aria-label={`${t('linked.unlink')} ${one.provider_name}`}
                onClick={() => unlink.mutate({ params: { id: one.id } })}
              >
                {t('linked.unlink')}
              </Button>
            </li>
          ))}
        </ul>
      )}
      <AccountForm form={form} name="linkAccount" onFinish={({ password }) => asking !== null && begin(asking, password)}>
        {asking !== null && (
          <>
            <CurrentPassword />
            <FormFoot text={t('linked.go')} pending={link.isPending} onBack={() => setAsking(null)} />
          </>
        )}
      </AccountForm>
      {asking === null && (
        <Space wrap>
          {data.offered.map(({ id, name }) => (
            <Button key={id} loading={link.isPending} onClick={() => begin(id)}>
              {t('linked.link', { name })}
            </Button>
          ))}
        </Space>
      )}
    </>
  )
}
