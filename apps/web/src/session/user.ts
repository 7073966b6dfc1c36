import { useQuery } from '@tanstack/react-query'
import type { ResponseOf } from '@zhisuan/contract/define'
import { isPlatformKind, mayAccess, type Access } from '@zhisuan/contract/roles'
import { users } from '@zhisuan/contract/ums/user'
import { request } from '../api/client.ts'

export type CurrentUser = ResponseOf<typeof users.current>

export const currentUserQuery = {
  queryKey: [users.current.id, {}],
  queryFn: ({ signal }: { signal: AbortSignal }) => request(users.current, { signal }),
  staleTime: Infinity,
  // The guard says itself what failed.
  meta: { silent: true },
} as const

/** Who is signed in. Null only on public pages: the guard lets nobody else further without. */
export function useCurrentUser(): CurrentUser | null {
  return useQuery({ ...currentUserQuery, enabled: false }).data ?? null
}

export const whoIs = (user: CurrentUser): { kind: number; roles: readonly string[] } => ({
  kind: user.kind,
  roles: user.permissions.map((permission) => permission.role),
})

/** Whether the person may make a call: to leave out what he would only be refused. */
export function useMayCall(call: { readonly access: Access }): boolean {
  const user = useCurrentUser()
  return mayAccess(call.access, user === null ? null : whoIs(user))
}

export const useIsPlatform = (): boolean => {
  const user = useCurrentUser()
  return user !== null && isPlatformKind(user.kind)
}
