import { QueryClientProvider } from '@tanstack/react-query'
import { startTransition, useLayoutEffect, useState } from 'react'
import { Router, useRoutes } from 'react-router'
import { queryClient } from './api/queryClient.ts'
import { createNavigation } from './kit/navigation.ts'
import { createPages, PagesContext } from './layout/pages.ts'
import { Root } from './layout/Root.tsx'
import { routerPath, routes } from './routes.ts'
import { visitorPages } from './visitorPages.ts'

/**
 * The router only names the parameters: Root decides by the table what is shown. Paths are
 * case-sensitive, as they are specified.
 */
const matched = [
  {
    Component: Root,
    children: [...routes.map(({ path }) => ({ path: routerPath(path), element: null, caseSensitive: true })), { path: '*', element: null }],
  },
]
const Routed = () => useRoutes(matched)

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
})
// Beside all else that the console needs, not after it.
if (!(location.pathname in visitorPages)) given.prepare()

export function App() {
  return (
    <QueryClientProvider client={queryClient}>
      <PagesContext value={given}>
        <Routing />
      </PagesContext>
    </QueryClientProvider>
  )
}
