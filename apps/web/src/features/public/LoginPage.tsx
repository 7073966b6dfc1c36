import Alert from 'antd/es/alert'
import Button from 'antd/es/button'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Link, useLocation, useSearchParams } from 'react-router'
import { paths, withQuery } from '../../paths.ts'
import { AuthFrame } from './AuthFrame.tsx'
import { PasswordLogin } from './PasswordLogin.tsx'
import { RetrievePassword } from './RetrievePassword.tsx'
import { SmsLogin } from './SmsLogin.tsx'
import { TabSwitch } from './TabSwitch.tsx'
import { useSystemInfo } from './useSystemInfo.ts'

type Way = 'password' | 'sms'

/** Whoever comes from registration or a reset is told so here. */
export interface LoginState {
  readonly message?: string
  readonly username?: string
}

const stateOf = (state: unknown): LoginState => (typeof state === 'object' && state !== null ? state : {})

export default function LoginPage() {
  const { t } = useTranslation('public')
  const [search] = useSearchParams()
  const came = stateOf(useLocation().state)
  const { data: info } = useSystemInfo()
  const [way, setWay] = useState<Way>('password')
  const [retrieving, setRetrieving] = useState(false)
  const [username, setUsername] = useState(came.username ?? '')
  const [told, setTold] = useState(came.message ?? null)
  const redirect = search.get('redirect') ?? undefined
  const sms = info?.sms_available ?? false

  if (retrieving) {
    return (
      <AuthFrame title={t('retrieve.title')}>
        <RetrievePassword
          onBack={() => setRetrieving(false)}
          onDone={() => {
            setTold(t('retrieve.done'))
            setWay('password')
            setRetrieving(false)
          }}
        />
      </AuthFrame>
    )
  }
  return (
    <AuthFrame title={t('login.title')}>
      {told !== null && <Alert type="success" showIcon title={told} className="zs-auth-alert" />}
      <TabSwitch<Way>
        label={t('login.ways')}
        active={way}
        onChange={setWay}
        tabs={[{ key: 'password', label: t('login.byPassword') }, ...(sms ? [{ key: 'sms' as const, label: t('login.bySms') }] : [])]}
      >
        {way === 'password' ? <PasswordLogin username={username} onUsername={setUsername} /> : <SmsLogin />}
      </TabSwitch>
      <div className="zs-auth-more">
        {info?.register_mode === 'closed' ? (
          <span />
        ) : (
          <span>
            {t('login.noAccount')}
            <Link to={withQuery(paths.register(), { redirect })}>{t('login.register')}</Link>
          </span>
        )}
        {sms && (
          <Button type="link" onClick={() => setRetrieving(true)}>
            {t('login.forgot')}
          </Button>
        )}
      </div>
      {info?.development === true && (
        <p className="zs-soft">
          <Link to={paths.developmentInbox}>{t('inbox.link')}</Link>
        </p>
      )}
    </AuthFrame>
  )
}
