import { orders as calls, prepaids as prepaidCalls } from '@zhisuan/contract/bill/order'
import { contextOf } from '../../../platform/http/bind.ts'
import { handle, handleShared, type Handler } from '../../../platform/http/handler.ts'
import type { createOrderExport } from './order.export.ts'
import type { OrderService } from './order.service.ts'

export const orderRoutes = (orders: OrderService, exportOrders: ReturnType<typeof createOrderExport>): Handler[] => [
  handleShared(calls.list, ({ scope, query }) => orders.list(scope, query)),
  handle(calls.export, async ({ actor, body }) => exportOrders(actor, body)),
  handle(calls.get, ({ actor, params }) => orders.get(actor, params.id)),
  handle(calls.create, ({ actor, body, request }) => orders.create(actor, body, contextOf(actor, request))),
  handle(calls.pay, ({ actor, params }) => orders.pay(actor, params.id)),
  handle(calls.cancel, ({ actor, params }) => orders.cancel(actor, params.id)),
  handle(calls.renew, ({ actor, params, body }) => orders.renew(actor, params.id, body)),
  handle(calls.refundPreview, ({ actor, params }) => orders.refundPreview(actor, params.id)),
  handle(calls.refund, ({ actor, params }) => orders.refund(actor, params.id)),
  handle(prepaidCalls.get, ({ actor, params }) => orders.prepaids.get(actor, params.id)),
  handle(prepaidCalls.setAutoRenew, ({ actor, params, body }) => orders.prepaids.setAutoRenew(actor, params.id, body)),
]
