import { useEffect } from 'react'
import { projects } from '@zhisuan/contract/issue/project'
import { useCall } from '../api/hooks.ts'
import { writeProjectKey } from '../api/cookies.ts'
import type { CurrentUser } from './user.ts'

/** Keeps the key of the project that the person works in, in its cookie. */
export function useProjectKey(user: CurrentUser | null): void {
  const { data } = useCall(projects.list, { query: { page_size: 1 } }, { enabled: user !== null && !user.must_change_password, silent: true })
  const key = data?.items[0]?.key
  useEffect(() => {
    if (key !== undefined) writeProjectKey(key)
  }, [key])
}
