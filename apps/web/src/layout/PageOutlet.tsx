import { Suspense } from 'react'
import { useLocation } from 'react-router'
import { PageDialogs } from '../kit/dialogs.tsx'
import { PagePlaceholder } from '../kit/Placeholder.tsx'
import type { Route } from '../routes.ts'
import { Drawn } from './late.tsx'
import { usePages } from './pages.ts'
import { PageBoundary } from './PageBoundary.tsx'

/** The page of a route. Each address is a page of its own: nothing of the one before stays in it. */
export function PageOutlet({ route }: { readonly route: Route }) {
  const { pathname } = useLocation()
  const page = usePages().of(route)
  return (
    <PageBoundary key={pathname}>
      <Suspense fallback={<PagePlaceholder />}>
        <PageDialogs>
          <Drawn of={page} placeholder={<PagePlaceholder />} draw={(Page) => <Page />} />
        </PageDialogs>
      </Suspense>
    </PageBoundary>
  )
}
