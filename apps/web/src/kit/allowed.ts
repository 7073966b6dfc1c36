import { translate } from '../i18n.ts'

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
