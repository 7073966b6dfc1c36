import type { Call } from '@zhisuan/contract/define'
import { decisions } from '@zhisuan/contract/iam/decision'
import { grants } from '@zhisuan/contract/iam/grant'
import { policies } from '@zhisuan/contract/iam/policy'
import { customRoles } from '@zhisuan/contract/iam/role'
import { resourceTypes, services } from '@zhisuan/contract/iam/service'

const decided: readonly Call[] = [decisions.who]

/** What is no longer true where a role or who has it was changed. */
export const touchedByRole: readonly Call[] = [customRoles.list, customRoles.get, customRoles.members, grants.list, policies.contacts, ...decided]
/** Where a policy or one of its versions was changed. */
export const touchedByPolicy: readonly Call[] = [policies.list, policies.get, policies.versions, policies.version, ...decided]
/** Where a policy was given or taken back. */
export const touchedByGrant: readonly Call[] = [grants.list, policies.list, policies.get, policies.contacts, customRoles.list, customRoles.get, ...decided]
/** Where a service or one of its kinds of resources was changed. */
export const touchedByService: readonly Call[] = [services.list, services.get, resourceTypes.list, resourceTypes.get]
