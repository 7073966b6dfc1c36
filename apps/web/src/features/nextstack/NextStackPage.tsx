import type { CloudBasic } from '@zhisuan/contract/cmp/cloud'
import type { ReactNode } from 'react'
import { PageStatus } from '../../kit/PageHead.tsx'
import { NoCloud } from '../../kit/NoCloud.tsx'
import { useClouds } from '../../session/cloud.ts'
import { CloudNotice, SandboxTag } from './CloudNotice.tsx'

/**
 * What every page of the chosen cloud stands in: what has to be known of the cloud first, and what is said where there
 * is none of this family. While clouds load the page shows itself empty.
 */
export function NextStackPage({ children }: { readonly children: ReactNode }) {
  const { selected: cloud, loading } = useClouds()
  if (!loading && cloud?.product !== 'nextstack') return <NoCloud family="nextStack" />
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
