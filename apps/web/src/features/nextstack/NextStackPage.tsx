import type { CloudBasic } from '@zhisuan/contract/cmp/cloud'
import type { ReactNode } from 'react'
import { PageStatus } from '../../kit/PageHead.tsx'
import { NoCloud } from '../../kit/NoCloud.tsx'
import { useClouds } from '../../session/cloud.ts'
import { CloudNotice, SandboxTag } from './CloudNotice.tsx'

/**
 * What every page of the chosen cloud stands in: what has to be known of the cloud first, and what is said where there
 * is none of this family. While clouds load the page shows itself empty. A page that is not of the chosen cloud alone
 * says whether there is what it needs, and tells itself of the clouds that it is of.
 */
export function NextStackPage({ possible, children }: { readonly possible?: boolean; readonly children: ReactNode }) {
  const { selected: cloud, loading } = useClouds()
  if (!loading && !(possible ?? cloud?.product === 'nextstack')) return <NoCloud family="nextStack" />
  if (possible !== undefined) return children
  return (
    <>
      <PageStatus>
        <SandboxTag cloud={cloud} />
      </PageStatus>
      <CloudNotice cloud={cloud} />
      {children}
    </>
  )
}

/** The chosen cloud, where it is of this family. */
export function useNextStackCloud(): CloudBasic | null {
  const { selected } = useClouds()
  return selected?.product === 'nextstack' ? selected : null
}
