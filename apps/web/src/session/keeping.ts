import { admins, mayAccess } from '@zhisuan/contract/roles'
import { paths } from '../paths.ts'
import { personOf, useCurrentUser } from './user.ts'

/** Whom somebody keeps, and where: the platform's administrators everybody, a tenant's their own organisation. */
export type Keeping = { readonly everybody: true; readonly pages: typeof paths.iam } | { readonly everybody: false; readonly pages: typeof paths.organisation }

const platforms: Keeping = { everybody: true, pages: paths.iam }
const tenants: Keeping = { everybody: false, pages: paths.organisation }

/** For pages about people and their rights, which both have. */
export function useKeeping(): Keeping {
  const user = useCurrentUser()
  return user === null || mayAccess(admins, personOf(user)) ? platforms : tenants
}
