import { lazy, Suspense } from 'react'
import { loadMessages } from '../../i18n.ts'
import type { Made } from './NewPriceView.tsx'

// With its messages: pages that offer these forms have no other price.
const View = lazy(async () => (await Promise.all([import('./NewPriceView.tsx'), loadMessages(['price'])]))[0])

/** What something costs by the hour that a dialog is about to make. */
export const NewPrice = (made: Made) => (
  <Suspense fallback={<div className="zs-soft">…</div>}>
    <View {...made} />
  </Suspense>
)
