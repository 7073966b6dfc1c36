/** Who a person is to the platform: specification section 6. */

export const roles = ['ADMIN', 'TENANT', 'TENANT_ADMIN', 'OPERATION_SUPPORTER', 'PROVIDER', 'COPOTE_NORMAL', 'COPOTE_REVIEWER', 'COPOTE_ADMIN'] as const
export type Role = (typeof roles)[number]

/** 0 system, 1 admin, 2 bp_Admin, 3 personal, 4 bp_user. */
export const userKinds = [0, 1, 2, 3, 4] as const
export type UserKind = (typeof userKinds)[number]

/** Kinds 0 and 1 run the platform: they see every organisation and pass as ADMIN everywhere. */
export const isPlatformKind = (kind: number): boolean => kind === 0 || kind === 1

/**
 * Who may make a call or open a page: `public` needs no token, `all` any signed-in user, a list
 * any user who has one of the roles (platform-level kinds count as ADMIN).
 */
export type Access = 'public' | 'all' | readonly Role[]

/** The roles that most of the console is for. */
export const tenants = ['TENANT', 'TENANT_ADMIN', 'ADMIN'] as const satisfies readonly Role[]
export const admins = ['ADMIN'] as const satisfies readonly Role[]
/** Who keeps people, roles and policies: the platform's administrators everywhere, a tenant's in their organisation. */
export const keepers = ['ADMIN', 'TENANT_ADMIN'] as const satisfies readonly Role[]
/** Roles of an organisation's own people: those that its administrators give. */
export const tenantRoles = ['TENANT', 'TENANT_ADMIN'] as const satisfies readonly Role[]

/**
 * The one rule of role access; the server's authorisation and the console's guard both ask here.
 * @param who null is somebody without a token
 */
export function mayAccess(access: Access, who: { kind: number; roles: readonly string[] } | null): boolean {
  if (access === 'public') return true
  if (who === null) return false
  if (access === 'all') return true
  if (isPlatformKind(who.kind) && access.includes('ADMIN')) return true
  return access.some((role) => who.roles.includes(role))
}
