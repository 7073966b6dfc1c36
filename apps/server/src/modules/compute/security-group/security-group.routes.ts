import { computeSecurityGroups as calls } from '@zhisuan/contract/compute/security-group'
import { handle, handleLines, type Handler } from '../../../platform/http/handler.ts'
import type { SecurityGroups } from './security-group.service.ts'

export const securityGroupRoutes = (groups: SecurityGroups): Handler[] => [
  handleLines(calls.list, ({ actor, params, request, signal }) => groups.list(actor, params.cloud_id, request.id, signal)),
  handle(calls.get, ({ actor, params }) => groups.get(actor, params.cloud_id, params.id)),
  handle(calls.create, ({ actor, params, body }) => groups.create(actor, params.cloud_id, body)),
  handle(calls.update, ({ actor, params, body }) => groups.update(actor, params.cloud_id, params.id, body)),
  handle(calls.delete, ({ actor, params }) => groups.delete(actor, params.cloud_id, params.id)),
  handle(calls.addRule, ({ actor, params, body }) => groups.addRule(actor, params.cloud_id, params.id, body)),
  handle(calls.removeRule, ({ actor, params }) => groups.removeRule(actor, params.cloud_id, params.id, params.security_group_rule_id)),
]
