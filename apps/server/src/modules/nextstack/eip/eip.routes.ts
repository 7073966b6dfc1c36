import { eipPools as poolCalls, eips as calls } from '@zhisuan/contract/nextstack/eip'
import { handle, handleShared, type Handler } from '../../../platform/http/handler.ts'
import type { EipPoolService } from './eip-pool.service.ts'
import type { EipService } from './eip.service.ts'

export const eipRoutes = (eips: EipService, pools: EipPoolService): Handler[] => [
  handleShared(calls.list, ({ scope, query }) => eips.list(scope, query)),
  handle(calls.get, ({ actor, params }) => eips.get(actor, params.id)),
  handle(calls.allocate, ({ actor, body }) => eips.allocate(actor, body)),
  handle(calls.update, ({ actor, params, body }) => eips.update(actor, params.id, body)),
  handle(calls.bind, ({ actor, params, body }) => eips.bind(actor, params.id, body)),
  handle(calls.unbind, ({ actor, params }) => eips.unbind(actor, params.id)),
  handle(calls.release, ({ actor, params }) => eips.release(actor, params.id)),
  handleShared(poolCalls.list, ({ scope, query }) => pools.list(scope, query)),
  handle(poolCalls.get, ({ params }) => pools.get(params.id)),
  handle(poolCalls.occupancy, ({ params, query }) => pools.occupancy(params.id, query)),
  handle(poolCalls.create, ({ body }) => pools.create(body)),
  handle(poolCalls.update, ({ params, body }) => pools.update(params.id, body)),
  handle(poolCalls.delete, ({ params }) => pools.delete(params.id)),
]
