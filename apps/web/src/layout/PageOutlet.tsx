import { Suspense, useEffect, useState, type ComponentType } from 'react'
import { useLocation } from 'react-router'
import { PageDialogs } from '../kit/dialogs.tsx'
import { PagePlaceholder } from '../kit/Placeholder.tsx'
import type { Route } from '../routes.ts'
import { usePages } from './pages.ts'
import { PageBoundary } from './PageBoundary.tsx'

/** By state and not by Suspense: React leaves a placeholder standing for 300 ms, however soon the page has come. */
function LoadedPage({ route }: { readonly route: Route }) {
  const pages = usePages()
  const [Page, setPage] = useState<ComponentType | null>(() => pages.loaded(route))
  const [failure, setFailure] = useState<{ readonly thrown: unknown } | null>(null)
  useEffect(() => {
    if (Page !== null) return undefined
    let left = false
    pages.load(route).then(
      (page) => {
        if (!left) setPage(() => page)
      },
      (thrown: unknown) => {
        if (!left) setFailure({ thrown })
      },
    )
    return () => {
      left = true
    }
  }, [Page, pages, route])
  // To the boundary around it, which offers to try again.
  if (failure !== null) throw failure.thrown
  return Page === null ? <PagePlaceholder /> : <Page />
}

/** The page of a route. Each address is a page of its own: nothing of the one before stays in it. */
export function PageOutlet({ route }: { readonly route: Route }) {
  const { pathname } = useLocation()
  return (
    <PageBoundary key={pathname}>
      <Suspense fallback={<PagePlaceholder />}>
        <PageDialogs>
          <LoadedPage route={route} />
        </PageDialogs>
      </Suspense>
    </PageBoundary>
  )
}
