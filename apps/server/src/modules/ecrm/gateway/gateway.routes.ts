import { gateways as calls } from '@zhisuan/contract/ecrm/edge'
import { handle, type Handler } from '../../../platform/http/handler.ts'
import type { GatewayService } from './gateway.service.ts'

export const gatewayRoutes = (gateways: GatewayService): Handler[] => [
  handle(calls.list, ({ query }) => gateways.list(query)),
  handle(calls.create, ({ body }) => gateways.create(body)),
  handle(calls.action, ({ params, query }) => gateways.act(params.id, query.action)),
  handle(calls.delete, ({ params }) => gateways.delete(params.id)),
]
