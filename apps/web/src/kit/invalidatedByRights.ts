import type { Call } from '@zhisuan/contract/define'
import { decisions } from '@zhisuan/contract/iam/decision'
import { grants } from '@zhisuan/contract/iam/grant'
import { policies } from '@zhisuan/contract/iam/policy'
import { customRoles } from '@zhisuan/contract/iam/role'

const decided: readonly Call[] = [decisions.who]

/** What is no longer true where a role or who has it was changed. */
export const invalidatedByRole: readonly Call[] = [customRoles.list, customRoles.get, customRoles.members, grants.list, policies.contacts, ...decided]
/** Where a policy was given or taken back. */
export const invalidatedByGrant: readonly Call[] = [grants.list, policies.list, policies.get, policies.contacts, customRoles.list, customRoles.get, ...decided]
