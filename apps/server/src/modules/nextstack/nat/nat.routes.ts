import { natGateways as calls } from '@zhisuan/contract/nextstack/nat'
import { handle, handleShared, type Handler } from '../../../platform/http/handler.ts'
import type { NatService } from './nat.service.ts'

export const natRoutes = (nats: NatService): Handler[] => [
  handleShared(calls.list, ({ scope, query }) => nats.list(scope, query)),
  handle(calls.get, ({ actor, params }) => nats.get(actor, params.id)),
  handle(calls.create, ({ actor, body }) => nats.create(actor, body)),
  handle(calls.update, ({ actor, params, body }) => nats.update(actor, params.id, body)),
  handle(calls.delete, ({ actor, params }) => nats.delete(actor, params.id)),
  handle(calls.addRule, ({ actor, params, body }) => nats.addRule(actor, params.id, body)),
  handle(calls.removeRule, ({ actor, params }) => nats.removeRule(actor, params.id, params.rule_id)),
]
