import { useTranslation } from 'react-i18next'
import { Link, useLocation } from 'react-router'
import { EmptyState } from '../kit/EmptyState.tsx'
import { paths } from '../paths.ts'
import { landing } from '../session/guard.ts'
import { personOf, useCurrentUser } from '../session/user.ts'
import { routeAt } from './routeAt.ts'

/** A page that the platform will have and has not yet; nothing on it pretends otherwise. */
export default function PendingPage() {
  const { t } = useTranslation(['shell', 'routes'])
  const route = routeAt(useLocation().pathname)
  const user = useCurrentUser()
  return (
    <div className="zs-card">
      <EmptyState
        title={t('pending.title')}
        action={<Link to={user === null ? paths.welcome() : landing(personOf(user))}>{t('pending.back')}</Link>}
      >
        {t('pending.text', { page: route === null ? '' : t(`routes:${route.title}`) })}
      </EmptyState>
    </div>
  )
}
