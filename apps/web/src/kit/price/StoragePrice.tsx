import { lazy, Suspense } from 'react'
import { loadMessages } from '../../i18n.ts'
import type { Stored } from './StoragePriceView.tsx'

// With its messages: pages of snapshots and images have no other price.
const View = lazy(async () => (await Promise.all([import('./StoragePriceView.tsx'), loadMessages(['price'])]))[0])

/** What keeping something costs, in a form that makes it. */
export const StoragePrice = (stored: Stored) => (
  <Suspense fallback={<div className="zs-soft">…</div>}>
    <View {...stored} />
  </Suspense>
)
