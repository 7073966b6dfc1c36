import { lazy, Suspense, useState } from 'react'
import { useTranslation } from '../../i18n.ts'
import { Link, useLocation, useSearchParams } from 'react-router'
import { auth } from '@zhisuan/contract/ums/auth'
import { useCall } from '../../api/hooks.ts'
import { paths, withQuery } from '../../paths.ts'
import { useBrand } from '../../session/brand.ts'
import { ownPath } from '../../session/guard.ts'
import { AuthFrame } from './AuthFrame.tsx'
import { Notice } from './Notice.tsx'
import { PasswordLogin } from './PasswordLogin.tsx'
import { TabSwitch } from './TabSwitch.tsx'
import { organisationOf } from '../../session/organisation.ts'
import { useSystemInfo } from '../../session/useSystemInfo.ts'
import './public.css'

// Most people sign in by password: the forms for the others come when they are asked for.
const SmsLogin = lazy(() => import('./SmsLogin.tsx'))
const PasskeyLogin = lazy(() => import('./PasskeyLogin.tsx'))
const SignOnReturn = lazy(() => import('./SignOnReturn.tsx'))
const SignOnButtons = lazy(() => import('./SignOnButtons.tsx'))
const SignOnRefusal = lazy(() => import('./SignOnRefusal.tsx'))
const RetrievePassword = lazy(() => import('./RetrievePassword.tsx'))

/** Only where the page came safely, and the browser knows them. */
const canUsePasskeys = typeof window !== 'undefined' && typeof window.PublicKeyCredential === 'function'

type Way = 'password' | 'sms'

/** Whoever comes from registration or a reset is told so here. */
export interface LoginState {
  readonly message?: string
  readonly username?: string
}

const stateOf = (state: unknown): LoginState => (typeof state === 'object' && state !== null ? state : {})

export default function LoginPage() {
  const { t } = useTranslation('public')
  const [search, setSearch] = useSearchParams()
  const came = stateOf(useLocation().state)
  const { data: info } = useSystemInfo()
  const organisation = organisationOf(search.get('organisation'))
  const { data: ways } = useCall(auth.ways, { query: { ...(organisation !== undefined && { organisation }) } }, { silent: true })
  const brand = useBrand()
  const [way, setWay] = useState<Way>('password')
  // Whoever changes between the ways by the arrow keys must not be taken from the tabs.
  const [changed, setChanged] = useState(false)
  const [retrieving, setRetrieving] = useState(false)
  const [username, setUsername] = useState(came.username ?? '')
  const [told, setTold] = useState(came.message ?? null)
  const redirect = search.get('redirect') ?? undefined
  const sms = info?.sms_available ?? false
  /** What a provider's way back ended with: `done`, or a code. */
  const signOn = search.get('sso')

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
  if (signOn === 'done') {
    return (
      <AuthFrame title={t('login.title', { brand })}>
        <Suspense>
          <SignOnReturn
            organisation={organisation}
            onBack={() => setSearch({ ...(redirect !== undefined && { redirect }), ...(organisation !== undefined && { organisation }) }, { replace: true })}
          />
        </Suspense>
      </AuthFrame>
    )
  }
  return (
    <AuthFrame title={t('login.title', { brand })}>
      {signOn !== null && (
        <Suspense>
          <SignOnRefusal code={signOn} />
        </Suspense>
      )}
      {told !== null && <Notice tone="good">{told}</Notice>}
      <TabSwitch<Way>
        label={t('login.ways')}
        active={way}
        onChange={(next) => {
          setChanged(true)
          setWay(next)
        }}
        tabs={[{ key: 'password', label: t('login.byPassword') }, ...(sms ? [{ key: 'sms' as const, label: t('login.bySms') }] : [])]}
      >
        {way === 'password' ? (
          <PasswordLogin username={username} focus={!changed} onUsername={setUsername} />
        ) : (
          <Suspense>
            <SmsLogin />
          </Suspense>
        )}
      </TabSwitch>
      <div className="public-auth-more">
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
      {ways !== undefined && ((ways.passkeys && canUsePasskeys) || ways.providers.length > 0) && (
        <div className="public-auth-ways">
          <Suspense fallback={<div className="public-auth-way-place" />}>
            {ways.passkeys && canUsePasskeys && <PasskeyLogin />}
            {ways.providers.length > 0 && <SignOnButtons providers={ways.providers} redirect={ownPath(redirect ?? null) ?? undefined} />}
          </Suspense>
        </div>
      )}
      {info?.development === true && (
        <p className="zs-soft">
          <Link to={paths.developmentInbox}>{t('inbox.link')}</Link>
        </p>
      )}
    </AuthFrame>
  )
}
