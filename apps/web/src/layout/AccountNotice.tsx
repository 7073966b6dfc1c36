import { standings } from '@zhisuan/contract/bill/arrears'
import { Suspense } from 'react'
import { useCall } from '../api/hooks.ts'
import { useMayCall } from '../session/user.ts'
import { usePages } from './pages.ts'

const refreshMs = 60_000

/** What members of an organisation have to know of its account, above whatever page; nothing while it is in order. */
export function AccountNotice({ id }: { readonly id: string }) {
  // Most people never see it: it is loaded where there is something to tell.
  const { StandingBanner } = usePages()
  const may = useMayCall(standings.get)
  const { data } = useCall(standings.get, { params: { id } }, { silent: true, refreshMs, enabled: may })
  if (data === undefined || data.state === 'normal') return null
  return (
    <Suspense>
      <StandingBanner standing={data} state={data.state} />
    </Suspense>
  )
}
