import type { RoleRow } from '@zhisuan/contract/iam/role'

export const roleKinds = ['builtIn', 'system', 'custom'] as const
export const kindOf = ({ built_in, system }: Pick<RoleRow, 'built_in' | 'system'>): (typeof roleKinds)[number] =>
  built_in ? 'builtIn' : system ? 'system' : 'custom'

/** Why a role cannot be deleted; null where it can. */
export type RoleHold = 'builtInFixed' | 'systemFixed' | 'hasMembers'
export const holdOf = ({ built_in, system, member_count }: Pick<RoleRow, 'built_in' | 'system' | 'member_count'>): RoleHold | null =>
  built_in ? 'builtInFixed' : system ? 'systemFixed' : member_count > 0 ? 'hasMembers' : null
