import { useQuery } from '@tanstack/react-query'
import type { Call } from '@zhisuan/contract/define'
import { decisions } from '@zhisuan/contract/iam/decision'
import { mayAccess } from '@zhisuan/contract/roles'
import { request } from '../api/client.ts'
import { translate } from '../i18n.ts'
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

/** What policies say changes seldom, and the server judges every request anyway. */
const staleMs = 60_000

/**
 * Why somebody may not make a call, of whatever and however: by their role, or by the policies about them; null where
 * they may, or where that is not known yet. Whoever draws an action names its call (`Action.call`), and this is asked there.
 */
export function useForbidden(): (call: Pick<Call, 'id' | 'access'>) => string | null {
  const user = useCurrentUser()
  const { data } = useQuery({
    queryKey: [decisions.own.id, {}],
    queryFn: ({ signal }) => request(decisions.own, { signal }),
    // Kind 0 is beyond policies.
    enabled: user !== null && user.kind !== 0 && !user.must_change_password,
    staleTime: staleMs,
    meta: { silent: true },
  })
  return ({ id, access }) => {
    if (user === null) return null
    if (!mayAccess(access, personOf(user))) return translate('kit:action.notForRole', { action: id })
    const refused = data?.items.find(({ action }) => action === id)
    if (refused === undefined) return null
    const { outcome, by } = refused
    if (by === null || outcome !== 'explicitDeny')
      return translate(`kit:action.refused.${outcome === 'outsideBoundary' ? outcome : 'implicitDeny'}`, { action: id })
    const statement = by.sid === null ? translate('error.statement', { index: by.index + 1 }) : `“${by.sid}”`
    return translate('kit:action.refused.explicitDeny', { action: id, policy: by.policy_name, statement })
  }
}
