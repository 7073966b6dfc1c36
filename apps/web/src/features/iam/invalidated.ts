import type { Call } from '@zhisuan/contract/define'
import { decisions } from '@zhisuan/contract/iam/decision'
import { policies } from '@zhisuan/contract/iam/policy'
import { resourceTypes, services } from '@zhisuan/contract/iam/service'

/** Where a policy or one of its versions was changed. */
export const invalidatedByPolicy: readonly Call[] = [policies.list, policies.get, policies.versions, policies.version, decisions.who]
/** Where a service or one of its kinds of resources was changed. */
export const invalidatedByService: readonly Call[] = [services.list, services.get, resourceTypes.list, resourceTypes.get]
