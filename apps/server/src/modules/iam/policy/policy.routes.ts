import { policies } from '@zhisuan/contract/iam/policy'
import { handle, type Handler } from '../../../platform/http/handler.ts'
import type { PolicyService } from './policy.service.ts'

export const policyRoutes = (service: PolicyService): Handler[] => [
  handle(policies.list, ({ actor, query }) => service.list(actor, query)),
  handle(policies.create, ({ actor, body }) => service.create(actor, body)),
  handle(policies.get, ({ actor, params }) => service.get(actor, params.id)),
  handle(policies.update, ({ actor, params, body }) => service.update(actor, params.id, body)),
  handle(policies.delete, ({ actor, params }) => service.remove(actor, params.id)),
  handle(policies.versions, ({ actor, params }) => service.versions(actor, params.id)),
  handle(policies.version, ({ actor, params }) => service.version(actor, params)),
  handle(policies.addVersion, ({ actor, params, body }) => service.addVersion(actor, params.id, body)),
  handle(policies.setDefault, ({ actor, params }) => service.setDefault(actor, params)),
  handle(policies.deleteVersion, ({ actor, params }) => service.deleteVersion(actor, params)),
  handle(policies.contacts, ({ actor, params, query }) => service.contacts(actor, params.id, query)),
  handle(policies.check, ({ actor, body }) => service.check(actor, body.document)),
]
