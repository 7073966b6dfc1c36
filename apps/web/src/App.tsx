import { QueryClientProvider } from '@tanstack/react-query'
import { startTransition, useLayoutEffect, useState } from 'react'
import { Router, useLocation, useRoutes, type RouteObject } from 'react-router'
import { readToken } from './api/cookies.ts'
import { queryClient } from './api/queryClient.ts'
import { createNavigation } from './kit/navigation.ts'
import { createPages, PagesContext } from './layout/pages.ts'
import { prepareConsole, Root } from './layout/Root.tsx'
import { routeAt } from './layout/routeAt.ts'
import { routerPath, type Route } from './routes.ts'
import { visitorPages } from './visitorPages.ts'

/**
 * The router only names the parameters: Root decides by the table what is shown. It is given the one route that the table has
 * for an address, as it weighs all that it is given at each drawing. Paths are case-sensitive, as they are specified.
 */
const matching = new Map<string | null, RouteObject[]>()
function matchingOf(route: Route | null): RouteObject[] {
  const path = route?.path ?? null
  const own = path === null ? [] : [routerPath(path)]
  const known = matching.get(path) ?? [{ Component: Root, children: [...own, '*'].map((one) => ({ path: one, element: null, caseSensitive: true })) }]
  matching.set(path, known)
  return known
}
const Routed = () => useRoutes(matchingOf(routeAt(useLocation().pathname)))

const navigation = createNavigation()

function Routing() {
  const [location, setLocation] = useState(navigation.location)
  useLayoutEffect(() => {
    const follow = (): void => startTransition(() => setLocation(navigation.location()))
    const leave = navigation.listen(follow)
    // What was shown first may have led on already.
    follow()
    return leave
  }, [])
  return (
    <Router location={location} navigator={navigation.navigator}>
      <Routed />
    </Router>
  )
}

const given = createPages({
  visitorPages,
  consolePages: () => import('./pages.ts').then(({ pages }) => pages),
  developmentInbox: { load: () => import('./features/public/DevelopmentInboxPage.tsx'), messages: [] },
  standingBanner: { load: () => import('./features/bill/arrears/StandingBanner.tsx'), messages: ['arrears'] },
  newestMessages: { load: () => import('./features/message/NewestMessages.tsx'), messages: ['message'] },
  newestTasks: { load: () => import('./features/operations/NewestTasks.tsx'), messages: ['task', 'action'] },
})
// Beside all else that the console needs, not after it.
const first = routeAt(location.pathname)
if (first !== null && first.access !== 'public' && readToken() !== null) {
  prepareConsole()
  given.prefetch(first)
}

export function App() {
  return (
    <QueryClientProvider client={queryClient}>
      <PagesContext value={given}>
        <Routing />
      </PagesContext>
    </QueryClientProvider>
  )
}
