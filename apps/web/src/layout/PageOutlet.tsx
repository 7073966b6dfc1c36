import { Suspense, useState } from 'react'
import { useLocation } from 'react-router'
import { PageDialogs } from '../kit/dialogs.tsx'
import { PagePlaceholder } from '../kit/Placeholder.tsx'
import type { Route } from '../routes.ts'
import { useClouds } from '../session/cloud.ts'
import { Drawn } from './late.tsx'
import { isCloudGroup } from './menu.ts'
import { usePages } from './pages.ts'
import { PageBoundary } from './PageBoundary.tsx'

/** The page of a route. Each address is a page of its own: nothing of the one before stays in it. */
export function PageOutlet({ route }: { readonly route: Route }) {
  const { pathname } = useLocation()
  return isCloudGroup(route.group) ? <PageOfCloud key={pathname} route={route} /> : <LoadedPage key={pathname} route={route} />
}

/** Nor does anything of the cloud before: rows that were chosen there, and dialogs about them, would act on its things under the other's name. */
function PageOfCloud({ route }: { readonly route: Route }) {
  const { selected } = useClouds()
  const cloudId = selected?.cloud_id ?? null
  const [shown, setShown] = useState({ cloudId, turn: 0 })
  // Not while it is only unknown which one it is.
  if (cloudId !== null && cloudId !== shown.cloudId) setShown({ cloudId, turn: shown.cloudId === null ? shown.turn : shown.turn + 1 })
  return <LoadedPage key={shown.turn} route={route} />
}

function LoadedPage({ route }: { readonly route: Route }) {
  const page = usePages().of(route)
  return (
    <PageBoundary>
      <Suspense fallback={<PagePlaceholder />}>
        <PageDialogs>
          <Drawn of={page} placeholder={<PagePlaceholder />} draw={(Page) => <Page />} />
        </PageDialogs>
      </Suspense>
    </PageBoundary>
  )
}
