import { useTranslation } from '../i18n.ts'
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
  const page = route === null ? '' : t(`routes:${route.title}`)
  return (
    <div className="zs-card">
      {/* The console's head has the title; public pages bring their own. */}
      {route?.access === 'public' && (
        <h1 id="page-title" tabIndex={-1} className="zs-hidden">
          {page}
        </h1>
      )}
      <EmptyState
        title={t('pending.title')}
        action={
          <Link to={user === null ? paths.welcome() : landing(personOf(user))} className="zs-button zs-button-plain">
            {t('pending.back')}
          </Link>
        }
      >
        {t('pending.text', { page })}
      </EmptyState>
    </div>
  )
}
