import Alert from 'antd/es/alert'
import Skeleton from 'antd/es/skeleton'
import { useCallback, useMemo, useState, type ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router'
import { system } from '@zhisuan/contract/sys/sys'
import { useCall } from '../../api/hooks.ts'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import { paths } from '../../paths.ts'
import { useCurrentUserQuery } from '../../session/user.ts'
import { TableOfContents } from '../help/TableOfContents.tsx'
import { useScrollToHash } from '../help/useScrollToHash.ts'
import './account.css'
import { EmailForm, PhoneForm } from './ContactForm.tsx'
import { LeaveGuard } from './LeaveGuard.tsx'
import { PasswordForm } from './PasswordForm.tsx'
import { ProfileForm } from './ProfileForm.tsx'

const sections = ['profile', 'password', 'phone', 'email'] as const
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
    () => ({ profile: t('profile'), password: t('changePassword'), phone: t('phone'), email: t('email') }),
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
    <div className="zs-account">
      <div className="zs-account-sections">
        <AccountSection id="profile" title={titles.profile}>
          <ProfileForm user={user} onDirty={(is) => mark('profile', is)} />
        </AccountSection>
        <AccountSection id="password" title={titles.password} note={t('passwordNote')}>
          <PasswordForm name={user.name} onDirty={(is) => mark('password', is)} />
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
    <section id={id} tabIndex={-1} className="zs-card zs-account-section" aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`}>{title}</h2>
      {note !== undefined && <p className="zs-account-note">{note}</p>}
      {children}
    </section>
  )
}
