import { useTranslation } from '../../i18n.ts'
import { Link } from 'react-router'
import { EmptyState } from '../../kit/EmptyState.tsx'
import { paths } from '../../paths.ts'
import { landing } from '../../session/guard.ts'
import { personOf, useCurrentUser } from '../../session/user.ts'

export default function NotFoundPage() {
  const { t } = useTranslation('public')
  const user = useCurrentUser()
  return (
    <div className="zs-card">
      <h1 id="page-title" tabIndex={-1} className="zs-hidden">
        {t('notFound.title')}
      </h1>
      <EmptyState
        title={t('notFound.title')}
        action={
          user === null ? (
            <Link to={paths.welcome()} className="zs-button zs-button-plain">
              {t('notFound.home')}
            </Link>
          ) : (
            <Link to={landing(personOf(user))} className="zs-button zs-button-plain">
              {t('notFound.console')}
            </Link>
          )
        }
      >
        {t('notFound.text')}
      </EmptyState>
    </div>
  )
}
