import { useQuery } from '@tanstack/react-query'
import type { Call } from '@zhisuan/contract/define'
import { decisions } from '@zhisuan/contract/iam/decision'
import type { RefusedByPolicy } from '@zhisuan/contract/problem'
import { mayAccess } from '@zhisuan/contract/roles'
import { request } from '../api/client.ts'
import { translate } from '../i18n.ts'
import { mayMake } from '../session/guard.ts'
import { personOf, useCurrentUser } from '../session/user.ts'

/**
 * Why an action is refused in this state, or null where it is allowed: from the contract's `…Can`
 * tables, so that the console disables exactly what the server would answer with 409.
 * @param stateLabel the state as people call it
 */
export function allowed<State extends string, Table extends Readonly<Record<string, readonly State[]>>>(
  canTable: Table,
  action: keyof Table & string,
  state: State,
  stateLabel: string,
): string | null {
  return canTable[action]?.includes(state) === true ? null : translate('kit:action.stateForbids', { state: stateLabel })
}

/** Which statement it was is told seldom, and the server judges every request anyway. */
const staleMs = 60_000

/** A call that would be refused, whatever it is about. */
export interface Forbidden {
  readonly reason: string
  /** Which call and by what, so that it can be explained and asked for. */
  readonly refused: RefusedByPolicy
}

/**
 * Why somebody may not make a call, of whatever and however: by their role, or by the policies about them; null where
 * they may. Whoever draws an action names its call (`Action.call`), and this is asked there: that it is refused is known
 * with the person (session/guard.ts), which statement says so comes after.
 */
export function useForbidden(): (call: Pick<Call, 'id' | 'access'>) => Forbidden | null {
  const user = useCurrentUser()
  const { data } = useQuery({
    queryKey: [decisions.own.id, {}],
    queryFn: ({ signal }) => request(decisions.own, { signal }),
    enabled: user !== null && user.refused.length > 0 && !user.must_change_password,
    staleTime: staleMs,
    meta: { silent: true },
  })
  return (call) => {
    if (user === null || mayMake(call, personOf(user))) return null
    const { id: action, access } = call
    if (!mayAccess(access, personOf(user))) return { reason: translate('kit:action.notForRole', { action }), refused: { action, outcome: 'role', by: null } }
    const { outcome = 'implicitDeny', by = null } = data?.items.find((one) => one.action === action) ?? {}
    const refused = { action, outcome, by }
    if (by === null || outcome !== 'explicitDeny')
      return { reason: translate(`kit:action.refused.${outcome === 'outsideBoundary' ? outcome : 'implicitDeny'}`, { action }), refused }
    const statement = by.sid === null ? translate('error.statement', { index: by.index + 1 }) : `“${by.sid}”`
    return { reason: translate('kit:action.refused.explicitDeny', { action, policy: by.policy_name, statement }), refused }
  }
}
