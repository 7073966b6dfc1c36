import type { PrepaidKind } from '@zhisuan/contract/bill/order'
import { lazy, Suspense } from 'react'
import { loadMessages } from '../../i18n.ts'

const load = async () => (await Promise.all([import('./PrepaidLostView.tsx'), loadMessages(['price'])]))[0]
// With their messages: the pages that delete things have no other word of orders.
const One = lazy(async () => ({ default: (await load()).PrepaidLostOne }))
const Many = lazy(async () => ({ default: (await load()).PrepaidLostMany }))

/** Says, before one or several are deleted, what was paid in advance of them and does not come back by itself; nothing where they are paid by the hour. */
export function PrepaidLost({ type, ids }: { readonly type: PrepaidKind; readonly ids: readonly string[] }) {
  const [first, ...others] = ids
  if (first === undefined) return null
  return <Suspense>{others.length === 0 ? <One id={first} /> : <Many type={type} ids={ids} />}</Suspense>
}
