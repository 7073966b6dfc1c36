import { Suspense, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { useTranslation } from '../i18n.ts'
import { Navigate, useLocation, useNavigate } from 'react-router'
import { notify, onSessionEnd } from '../api/notify.ts'
import { ErrorPanel } from '../kit/ErrorPanel.tsx'
import { useScrollPlace } from '../kit/navigation.ts'
import { Spinner } from '../kit/Placeholder.tsx'
import { paths } from '../paths.ts'
import { useBrand } from '../session/brand.ts'
import { writeKind } from '../api/cookies.ts'
import { decide, loginFrom } from '../session/guard.ts'
import { clearSession, onSigningIn } from '../session/session.ts'
import { personOf, useCurrentUserQuery, UserContext, useSignedIn } from '../session/user.ts'
import { useProjectKey } from '../session/project.ts'
import { useLicenceCheck } from '../session/useLicenceCheck.ts'
import { isUnanswered } from '../session/failure.ts'
import { PublicLayout } from './PublicLayout.tsx'
import { PageBoundary } from './PageBoundary.tsx'
import { Toasts } from './Toasts.tsx'
import { Drawn, late } from './late.tsx'
import { usePages } from './pages.ts'
import { routeAt, routeOf } from './routeAt.ts'

const consoleLayout = late(() => import('./ConsoleLayout.tsx'))
/** For who is about to enter the console. */
export const prepareConsole = (): void => void consoleLayout.load().catch(() => undefined)
const initialPassword = late<object>(() => import('./InitialPasswordPage.tsx'))

/** Goes there once drawn, after forgetting an earlier session where the guard says so. */
function Go({ to, clear }: { readonly to: string; readonly clear: boolean }) {
  const [cleared, setCleared] = useState(!clear)
  useLayoutEffect(() => {
    if (cleared) return
    clearSession()
    setCleared(true)
  }, [cleared])
  return cleared ? <Navigate to={to} replace /> : null
}

/** Around every page: the guard of section 4, the window's title, and where the focus goes. */
export function Root() {
  const { t } = useTranslation(['shell', 'routes'])
  const here = useLocation()
  const { pathname, search } = here
  const navigate = useNavigate()
  const { DevelopmentInbox, prepare } = usePages()
  const signedIn = useSignedIn()
  const { data: user, error, refetch } = useCurrentUserQuery()
  const [pageTitle, setPageTitle] = useState<string | null>(null)
  const development = pathname === paths.developmentInbox
  const route = routeAt(pathname)

  // Before the effects of any page, so that what fails on entry is said too.
  useLayoutEffect(() => {
    onSessionEnd((text) => {
      const here = location.pathname
      clearSession()
      void navigate(loginFrom(here, location.search), { replace: true })
      notify('error', text, 5_000)
    })
  }, [navigate])

  useEffect(
    () =>
      onSigningIn(() => {
        prepare()
        prepareConsole()
      }),
    [prepare],
  )
  const failed = useLicenceCheck(user ?? null)
  const entryError = signedIn ? (error ?? failed) : null
  const isPublic = development || route?.access === 'public'
  useEffect(() => {
    if (user !== undefined) writeKind(user.kind)
  }, [user])
  useProjectKey(user ?? null)
  useEffect(() => {
    // 401 has its own rule in toasts.ts, except on the login page, where it says nothing.
    if (entryError === null || isUnanswered(entryError)) return
    if (entryError.status === 401 && !isPublic) return
    clearSession()
    if (isPublic) return
    notify('error', entryError.status === 200 ? t('session.verificationFailed') : entryError.message, 5_000)
    void navigate(paths.overview(), { replace: true })
  }, [entryError, isPublic, navigate, t])

  const decision = decide({
    path: pathname,
    search,
    access: development ? 'public' : (route?.access ?? null),
    asks: route?.asks,
    signedIn,
    person: user === undefined ? null : personOf(user),
  })
  /** What is drawn here: the page of the address, or why there is none. */
  const shown = decision.kind === 'missing' ? routeOf(paths.notFound.template) : decision.kind === 'forbidden' ? routeOf(paths.forbidden.template) : route

  const brand = useBrand()
  const title = shown === null ? '' : (pageTitle ?? t(`routes:${shown.title}`))
  useEffect(() => {
    document.title = title === '' || pathname === '/' ? t('brandTitle', { brand }) : `${title} · ${brand}`
  }, [title, pathname, brand, t])

  // A reader's place follows them to the new page; the first page of a visit begins where the browser begins.
  const former = useRef(pathname)
  useEffect(() => {
    if (former.current === pathname) return
    former.current = pathname
    const heading = document.querySelector<HTMLElement>('#page-title') ?? document.querySelector<HTMLElement>('#main')
    heading?.focus({ preventScroll: true })
  }, [pathname])

  useScrollPlace(here)

  return (
    <UserContext value={signedIn ? (user ?? null) : null}>
      <Toasts />
      <PageBoundary>
        <Suspense fallback={<Spinner />}>
          {decision.kind === 'go' ? (
            <Go key={decision.to} to={decision.to} clear={decision.clear} />
          ) : decision.kind === 'wait' ? (
            entryError !== null && isUnanswered(entryError) ? (
              <main className="zs-alone">
                <div className="zs-card zs-alone-card">
                  <ErrorPanel error={entryError} title={t('session.unreachable')} onRetry={() => void refetch()} />
                </div>
              </main>
            ) : (
              <Spinner />
            )
          ) : development ? (
            <DevelopmentInbox />
          ) : shown === null ? null : shown.access === 'public' ? (
            <PublicLayout route={shown} />
          ) : user === undefined ? null : user.must_change_password ? (
            <Drawn key="password" of={initialPassword} placeholder={<Spinner />} draw={(InitialPasswordPage) => <InitialPasswordPage />} />
          ) : (
            <Drawn
              key="console"
              of={consoleLayout}
              placeholder={<Spinner />}
              draw={(ConsoleLayout) => <ConsoleLayout route={shown} user={user} title={pageTitle} onTitle={setPageTitle} />}
            />
          )}
        </Suspense>
      </PageBoundary>
    </UserContext>
  )
}
