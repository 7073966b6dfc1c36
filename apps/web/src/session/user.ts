import { useQuery, type UseQueryResult } from '@tanstack/react-query'
import { createContext, use, useSyncExternalStore } from 'react'
import type { ResponseOf } from '@zhisuan/contract/define'
import type { Call } from '@zhisuan/contract/define'
import { isPlatformKind } from '@zhisuan/contract/roles'
import { users } from '@zhisuan/contract/ums/user'
import { ApiError, noAnswer, request } from '../api/client.ts'
import { mayMake, type Person } from './guard.ts'
import { onTokenChange, readToken } from '../api/cookies.ts'

export type CurrentUser = ResponseOf<typeof users.current>

const hasToken = (): boolean => readToken() !== null

/** Whether there is a token; says nothing of whether the server still takes it. */
export const useSignedIn = (): boolean => useSyncExternalStore(onTokenChange, hasToken)

/** How old what is known of somebody's rights may be when they come back to the page. The server judges each request anyway. */
const rightsStaleMs = 60_000

/** Loads who the token belongs to, once for a session; `invalidates: [users.current]` loads it anew. */
export function useCurrentUserQuery(): UseQueryResult<CurrentUser, ApiError> {
  return useQuery<CurrentUser, ApiError>({
    queryKey: [users.current.id, {}],
    queryFn: async ({ signal }) => {
      const user: CurrentUser | undefined = await request(users.current, { signal })
      // Answered, and nobody is named: the guard has its own words for it.
      if (user === undefined) throw new ApiError({ status: 200, code: noAnswer.foreign, message: '' })
      return user
    },
    enabled: useSignedIn(),
    // What somebody may do is given and taken while a page is open.
    staleTime: rightsStaleMs,
    refetchOnWindowFocus: true,
    gcTime: Infinity,
    // The guard says itself what failed.
    meta: { silent: true },
  })
}

/** Root says it once for all: each who asked the cache by themselves would be another to be told of every change there. */
export const UserContext = createContext<CurrentUser | null>(null)

/** Who is signed in. Null while that loads, and for visitors; behind the guard it is always somebody. */
export const useCurrentUser = (): CurrentUser | null => use(UserContext)

export const personOf = (user: CurrentUser): Person => ({
  kind: user.kind,
  roles: user.permissions.map((permission) => permission.role),
  refused: user.refused,
})

/** Whether the person may make a call: to leave out what they would only be refused. */
export function useMayCall(call: Pick<Call, 'id' | 'access'>): boolean {
  const user = useCurrentUser()
  return mayMake(call, user === null ? null : personOf(user))
}

/** Kinds 0 and 1, who run the platform. */
export function useIsPlatform(): boolean {
  const user = useCurrentUser()
  return user !== null && isPlatformKind(user.kind)
}

/** Whose account somebody spends from: of the platform’s people their own, else the organisation’s. Null where there is none. */
export const balanceOwner = (user: Pick<CurrentUser, 'kind' | 'id' | 'bp_id'>): string | null => (isPlatformKind(user.kind) ? user.id : user.bp_id)
