import type { RoleRow } from '@zhisuan/contract/iam/role'

/** Why a role cannot be deleted; null where it can. */
export type RoleHold = 'builtInFixed' | 'hasMembers'
export const holdOf = ({ built_in, member_count }: Pick<RoleRow, 'built_in' | 'member_count'>): RoleHold | null =>
  built_in ? 'builtInFixed' : member_count > 0 ? 'hasMembers' : null
