import { securityGroups as calls } from '@zhisuan/contract/nextstack/security-group'
import { handle, handleShared, type Handler } from '../../../platform/http/handler.ts'
import type { SecurityGroupService } from './security-group.service.ts'

export const securityGroupRoutes = (groups: SecurityGroupService): Handler[] => [
  handleShared(calls.list, ({ scope, query }) => groups.list(scope, query)),
  handle(calls.get, ({ actor, params }) => groups.get(actor, params.id)),
  handle(calls.create, ({ actor, body }) => groups.create(actor, body)),
  handle(calls.update, ({ actor, params, body }) => groups.update(actor, params.id, body)),
  handle(calls.setRules, ({ actor, params, body }) => groups.setRules(actor, params.id, body)),
  handle(calls.delete, ({ actor, params }) => groups.delete(actor, params.id)),
]
