import Alert from 'antd/es/alert'
import Skeleton from 'antd/es/skeleton'
import { useCallback, useMemo, useState, type ReactNode } from 'react'
import { useTranslation } from '../../i18n.ts'
import { Link } from 'react-router'
import { system } from '@zhisuan/contract/sys/sys'
import { useCall } from '../../api/hooks.ts'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import { paths } from '../../paths.ts'
import { useCurrentUserQuery } from '../../session/user.ts'
import { TableOfContents } from '../../kit/TableOfContents.tsx'
import { useScrollToHash } from '../../kit/useScrollToHash.ts'
import { AccessKeys } from './AccessKeys.tsx'
import './account.css'
import { EmailForm, PhoneForm } from './ContactForm.tsx'
import { LeaveGuard } from './LeaveGuard.tsx'
import { Passkeys } from './Passkeys.tsx'
import { LinkedAccounts } from './LinkedAccounts.tsx'
import { PasswordForm } from './PasswordForm.tsx'
import { ProfileForm } from './ProfileForm.tsx'
import { SecondFactor } from './SecondFactor.tsx'
import { Sessions } from './Sessions.tsx'

const sections = ['profile', 'password', 'secondFactor', 'passkeys', 'linkedAccounts', 'accessKeys', 'sessions', 'phone', 'email'] as const
type Section = (typeof sections)[number]

/** One's own information: four forms, each saved for itself. */
export default function AccountPage() {
  const { t } = useTranslation('account')
  const { data: user, error, refetch } = useCurrentUserQuery()
  // Without a way to send codes a form would only lead to a refusal.
  const { data: info } = useCall(system.info, {}, { silent: true })
  const [dirty, setDirty] = useState<ReadonlySet<Section>>(new Set())
  const mark = useCallback((section: Section, is: boolean) => {
    setDirty((now) => {
      if (now.has(section) === is) return now
      const next = new Set(now)
      if (is) next.add(section)
      else next.delete(section)
      return next
    })
  }, [])
  const titles: Readonly<Record<Section, string>> = useMemo(
    () => ({
      profile: t('profile'),
      password: t('changePassword'),
      secondFactor: t('second.title'),
      passkeys: t('passkey.title'),
      linkedAccounts: t('linked.title'),
      accessKeys: t('accessKey.title'),
      sessions: t('sessions.title'),
      phone: t('phone'),
      email: t('email'),
    }),
    [t],
  )
  const contents = useMemo(() => sections.map((id) => ({ id, text: titles[id] })), [titles])
  useScrollToHash(user !== undefined)

  if (user === undefined) {
    return (
      <div className="zs-card">
        {error === null ? <Skeleton active paragraph={{ rows: 8 }} /> : <ErrorPanel error={error} onRetry={() => void refetch()} />}
      </div>
    )
  }
  return (
    <div className="account-page">
      <div>
        <AccountSection id="profile" title={titles.profile}>
          <ProfileForm user={user} onDirty={(is) => mark('profile', is)} />
        </AccountSection>
        <AccountSection id="password" title={titles.password} note={t('passwordNote')}>
          <PasswordForm name={user.name} onDirty={(is) => mark('password', is)} />
        </AccountSection>
        <AccountSection id="secondFactor" title={titles.secondFactor} note={t('second.note')}>
          <SecondFactor />
        </AccountSection>
        <AccountSection id="passkeys" title={titles.passkeys} note={t('passkey.note')}>
          <Passkeys />
        </AccountSection>
        <AccountSection id="linkedAccounts" title={titles.linkedAccounts} note={t('linked.note')}>
          <LinkedAccounts />
        </AccountSection>
        <AccountSection id="accessKeys" title={titles.accessKeys} note={t('accessKey.note')}>
          <AccessKeys />
        </AccountSection>
        <AccountSection id="sessions" title={titles.sessions} note={t('sessions.note')}>
          <Sessions />
        </AccountSection>
        <AccountSection id="phone" title={titles.phone} note={t('phoneNote')}>
          {info?.sms_available === false ? (
            <Alert type="info" showIcon title={t('smsUnavailable')} />
          ) : (
            <PhoneForm current={user.phone} name={user.name} onDirty={(is) => mark('phone', is)} />
          )}
        </AccountSection>
        <AccountSection id="email" title={titles.email} note={t('emailNote')}>
          {info?.email_available === false ? (
            <Alert type="info" showIcon title={t('emailUnavailable')} />
          ) : (
            <EmailForm current={user.email} name={user.name} onDirty={(is) => mark('email', is)} />
          )}
        </AccountSection>
        <p>
          <Link to={paths.help.detail('personal-information')}>{t('help')}</Link>
        </p>
      </div>
      <TableOfContents label={t('contents')} headings={contents} />
      <LeaveGuard sections={sections.filter((section) => dirty.has(section)).map((section) => titles[section])} />
    </div>
  )
}

function AccountSection({ id, title, note, children }: { readonly id: Section; readonly title: string; readonly note?: string; readonly children: ReactNode }) {
  return (
    <section id={id} tabIndex={-1} className="zs-card account-section" aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`}>{title}</h2>
      {note !== undefined && <p className="account-note">{note}</p>}
      {children}
    </section>
  )
}
