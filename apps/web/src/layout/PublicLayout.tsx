import { lazy, Suspense } from 'react'
import { useTranslation } from '../i18n.ts'
import { Link, NavLink } from 'react-router'
import { useSystemInfo } from '../session/useSystemInfo.ts'
import { PagePlaceholder } from '../kit/Placeholder.tsx'
import { paths } from '../paths.ts'
import { useBrand } from '../session/brand.ts'
import { landing } from '../session/guard.ts'
import { personOf, useCurrentUser } from '../session/user.ts'
import { isBuilt, type Route } from '../routes.ts'
import { Brand } from './Brand.tsx'
import { PageOutlet } from './PageOutlet.tsx'
import { usePages } from './pages.ts'
import { SkipLink } from './SkipLink.tsx'
import './frame.css'

// Visitors never see it: it stays out of what the login page loads.
const UserMenu = lazy(() => import('./PublicUserMenu.tsx'))
const Antd = lazy(() => import('../kit/Antd.tsx'))

/** The public site: full width, open to everybody. */
export function PublicLayout({ route }: { readonly route: Route }) {
  const { t } = useTranslation()
  const user = useCurrentUser()
  const { data: info } = useSystemInfo()
  const brand = useBrand()
  // Beside antd, not after it.
  usePages().prefetch(route)
  return (
    <div className="frame-public">
      <SkipLink />
      <header className="frame-top">
        <Brand />
        <nav className="frame-top-links" aria-label={t('nav.site')}>
          {isBuilt(paths.market.list.template) && <NavLink to={paths.market.list()}>{t('nav.market')}</NavLink>}
          {isBuilt(paths.warehouse.list.template) && <NavLink to={paths.warehouse.list()}>{t('nav.warehouse')}</NavLink>}
          {user !== null && (
            <NavLink to={paths.help.list()} className="frame-wide">
              {t('nav.help')}
            </NavLink>
          )}
        </nav>
        <div className="frame-top-end">
          {user === null ? (
            <>
              <Link to={paths.login()} className="frame-top-link">
                {t('nav.login')}
              </Link>
              {info?.register_mode !== 'closed' && (
                <Link to={paths.register()} className="zs-button">
                  {t('nav.register')}
                </Link>
              )}
            </>
          ) : (
            <>
              <Link to={landing(personOf(user))} className="zs-button">
                {t('nav.console')}
              </Link>
              <Suspense>
                <UserMenu user={user} />
              </Suspense>
            </>
          )}
        </div>
      </header>
      <main id="main" tabIndex={-1} className="frame-public-main">
        {route.plain === true ? (
          <PageOutlet route={route} />
        ) : (
          <Suspense fallback={<PagePlaceholder />}>
            <Antd>
              <PageOutlet route={route} />
            </Antd>
          </Suspense>
        )}
      </main>
      <footer className="frame-footer">
        <span>{brand}</span>
        <Link to={paths.termsOfService()}>{t('nav.terms')}</Link>
        <Link to={paths.messageBoard()}>{t('nav.messageBoard')}</Link>
      </footer>
    </div>
  )
}
