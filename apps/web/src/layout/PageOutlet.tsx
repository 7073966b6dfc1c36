import { Suspense, use } from 'react'
import { useLocation } from 'react-router'
import { PagePlaceholder } from '../kit/Placeholder.tsx'
import type { Route } from '../routes.ts'
import { loadPage } from './pages.ts'
import { PageBoundary } from './PageBoundary.tsx'

function LoadedPage({ route }: { readonly route: Route }) {
  const Page = use(loadPage(route))
  return <Page />
}

/** The page of a route. Each address is a page of its own: nothing of the one before stays in it. */
export function PageOutlet({ route }: { readonly route: Route }) {
  const { pathname } = useLocation()
  return (
    <PageBoundary key={pathname}>
      <Suspense fallback={<PagePlaceholder />}>
        <LoadedPage route={route} />
      </Suspense>
    </PageBoundary>
  )
}
