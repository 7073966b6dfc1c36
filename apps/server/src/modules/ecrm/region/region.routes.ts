import { regions as calls } from '@zhisuan/contract/ecrm/region'
import { handle, type Handler } from '../../../platform/http/handler.ts'
import type { RegionService } from './region.service.ts'

export const regionRoutes = (regions: RegionService): Handler[] => [
  handle(calls.list, ({ actor, query }) => regions.list(actor, query)),
  handle(calls.create, ({ actor, body }) => regions.create(actor, body)),
  handle(calls.update, ({ actor, params, body }) => regions.update(actor, params.id, body)),
  handle(calls.delete, ({ params }) => regions.delete(params.id)),
]
