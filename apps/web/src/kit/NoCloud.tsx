import { lazy, Suspense } from 'react'
import type { CloudFamily } from '../session/cloud.ts'

// Few are ever shown it.
const View = lazy(() => import('./NoCloudView.tsx'))

/** In the place of a page, where the chosen cloud is of the other family or there is none. */
export const NoCloud = ({ family }: { readonly family: CloudFamily }) => (
  <Suspense>
    <View family={family} />
  </Suspense>
)
