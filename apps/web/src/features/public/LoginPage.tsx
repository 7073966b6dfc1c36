import { lazy, Suspense, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Link, useLocation, useSearchParams } from 'react-router'
import { paths, withQuery } from '../../paths.ts'
import { AuthFrame } from './AuthFrame.tsx'
import { Notice } from './Notice.tsx'
import { PasswordLogin } from './PasswordLogin.tsx'
import { TabSwitch } from './TabSwitch.tsx'
import { useSystemInfo } from './useSystemInfo.ts'

// Most people sign in by password: the forms for the others come when they are asked for.
const SmsLogin = lazy(() => import('./SmsLogin.tsx'))
const RetrievePassword = lazy(() => import('./RetrievePassword.tsx'))

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
        <Suspense>
          <RetrievePassword
            onBack={() => setRetrieving(false)}
            onDone={() => {
              setTold(t('retrieve.done'))
              setWay('password')
              setRetrieving(false)
            }}
          />
        </Suspense>
      </AuthFrame>
    )
  }
  return (
    <AuthFrame title={t('login.title')}>
      {told !== null && <Notice tone="good">{told}</Notice>}
      <TabSwitch<Way>
        label={t('login.ways')}
        active={way}
        onChange={setWay}
        tabs={[{ key: 'password', label: t('login.byPassword') }, ...(sms ? [{ key: 'sms' as const, label: t('login.bySms') }] : [])]}
      >
        {way === 'password' ? <PasswordLogin username={username} onUsername={setUsername} /> : <Suspense><SmsLogin /></Suspense>}
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
          <button type="button" className="zs-linkbutton" onClick={() => setRetrieving(true)}>
            {t('login.forgot')}
          </button>
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
