import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { errors } from '@zhisuan/contract/errors'
import { decisions } from '@zhisuan/contract/iam/decision'
import { auth } from '@zhisuan/contract/ums/auth'
import { users } from '@zhisuan/contract/ums/user'
import { toApiError, type ApiError } from './client.ts'
import { toastError } from './notify.ts'

declare module '@tanstack/react-query' {
  interface Register {
    queryMeta: { readonly silent?: boolean }
    mutationMeta: { readonly silent?: boolean }
  }
}

/**
 * A page that says itself what failed is left to it, except that a session's end counts wherever it
 * shows. To the calls that make sessions a 401 only says that what was typed is wrong; of a renewal,
 * which any call may have needed, it says that the session is over.
 */
const leftToPage = (silent: boolean | undefined, error: ApiError): boolean =>
  silent === true && (error.status !== 401 || (error.path.startsWith('/api/ums/v1/auth/') && error.path !== auth.refresh.path))

/** Lists refresh every five seconds: what keeps failing is said once, until it has worked again. */
const failing = new Set<string>()

/** What was refused though nobody knew: rights were taken meanwhile. Of one thing only, it is asked about seldom. */
const rightsAgainMs = 60_000
let rightsReadAt = 0
function readRightsAgain({ refused }: ApiError): void {
  if (refused === null || Date.now() - rightsReadAt < rightsAgainMs) return
  rightsReadAt = Date.now()
  for (const call of [users.current, decisions.own]) void queryClient.invalidateQueries({ queryKey: [call.id] })
}

export const queryClient = new QueryClient({
  queryCache: new QueryCache({
    onError: (thrown, query) => {
      const error = toApiError(thrown)
      readRightsAgain(error)
      if (leftToPage(query.meta?.silent, error)) return
      if (failing.has(query.queryHash)) return
      failing.add(query.queryHash)
      toastError(error)
    },
    onSuccess: (_data, query) => void failing.delete(query.queryHash),
  }),
  mutationCache: new MutationCache({
    onError: (thrown, _input, _context, mutation) => {
      const error = toApiError(thrown)
      readRightsAgain(error)
      if (leftToPage(mutation.meta?.silent, error)) return
      // Forms show refused fields beside the fields.
      if (error.code === errors.fieldsInvalid.code && error.fields.length > 0) return
      toastError(error)
    },
  }),
  defaultOptions: {
    queries: {
      // The client has refreshed the session and waited 60 s already: trying again is the person's choice.
      retry: false,
      refetchOnWindowFocus: false,
      staleTime: 2_000,
    },
    mutations: { retry: false },
  },
})
