import { customRoles } from '@zhisuan/contract/iam/role'
import type { Role } from '@zhisuan/contract/roles'
import { useCall } from '../../api/hooks.ts'

/** Ids of the built-in roles, which users are only said to have by their keys. Undefined while they are on their way. */
export function useBuiltInRoleId(): (role: Role) => string | undefined {
  const { data } = useCall(customRoles.list, { query: { built_in: 'true', page_size: 100 } }, { silent: true })
  return (role) => data?.items.find(({ name }) => name === role)?.id
}
