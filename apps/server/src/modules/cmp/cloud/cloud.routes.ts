import { clouds as calls } from '@zhisuan/contract/cmp/cloud'
import { handle, type Handler } from '../../../platform/http/handler.ts'
import type { CloudService } from './cloud.service.ts'

export const cloudRoutes = (clouds: CloudService): Handler[] => [
  handle(calls.list, ({ actor, query }) => clouds.list(actor, query)),
  handle(calls.basicInfo, ({ actor }) => clouds.basicInfo(actor)),
  handle(calls.get, ({ params }) => clouds.get(params.id)),
  handle(calls.capacity, ({ params, query }) => clouds.capacity(params.id, query.range)),
  handle(calls.create, ({ body }) => clouds.create(body)),
  handle(calls.update, ({ params, body }) => clouds.update(params.id, body)),
  handle(calls.delete, ({ params, query }) => clouds.remove(params.id, query.force)),
  handle(calls.action, ({ params, body }) => clouds.act(params.id, body.action)),
  handle(calls.test, ({ body }) => clouds.test(body)),
]
