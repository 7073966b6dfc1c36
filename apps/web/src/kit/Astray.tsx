import type { ReactNode } from 'react'
import { Link, useNavigate } from 'react-router'
import { useTranslation } from '../i18n.ts'
import { EmptyState } from './EmptyState.tsx'
import { isFirstPage } from './navigation.ts'
import { paths } from '../paths.ts'
import { landing } from '../session/guard.ts'
import { personOf, useCurrentUser } from '../session/user.ts'
import './panel.css'

/** In the place of a page that an address does not lead to, with the ways on. */
export function Astray({ title, text, help }: { readonly title: string; readonly text: string; /** What can be done about it. */ readonly help?: ReactNode }) {
  const { t } = useTranslation('kit')
  const navigate = useNavigate()
  const user = useCurrentUser()
  return (
    <div className="zs-card">
      <h1 id="page-title" tabIndex={-1} className="zs-hidden">
        {title}
      </h1>
      <EmptyState
        title={title}
        action={
          <span className="zs-panel-buttons">
            {!isFirstPage() && (
              <button type="button" className="zs-button" onClick={() => void navigate(-1)}>
                {t('astray.back')}
              </button>
            )}
            <Link to={user === null ? paths.welcome() : landing(personOf(user))} className="zs-button zs-button-plain">
              {t(user === null ? 'astray.home' : 'astray.console')}
            </Link>
          </span>
        }
      >
        {text} {help}
      </EmptyState>
    </div>
  )
}
