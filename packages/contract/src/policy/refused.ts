/**
 * Which actions are refused, told shortly: whole families and kinds by a wildcard. Who has a role for one purpose is refused
 * most of what there is, and is told that with the first answer of all.
 */

const groupsOf = (action: string): readonly [family: string, kind: string] => {
  const [family = '', type = ''] = action.split('.')
  return [`${family}.*`, `${family}.${type}.*`]
}

/**
 * @param refused ids of calls
 * @param others ids of those that are not refused
 */
export function packRefused(refused: readonly string[], others: readonly string[]): readonly string[] {
  const kept = new Set(others.flatMap(groupsOf))
  return [...new Set(refused.map((action) => groupsOf(action).find((group) => !kept.has(group)) ?? action))]
}

/** @param packed what {@link packRefused} made */
export const isRefused = (packed: readonly string[], action: string): boolean =>
  packed.includes(action) || groupsOf(action).some((group) => packed.includes(group))
