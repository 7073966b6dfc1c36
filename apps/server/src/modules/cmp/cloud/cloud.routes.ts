import { clouds as calls } from '@zhisuan/contract/cmp/cloud'
import { handle, type Handler } from '../../../platform/http/handler.ts'
import type { CapacityHistory } from './cloud.samples.ts'
import type { CloudViews } from './cloud.views.ts'
import type { CloudRegistrations } from './registration.service.ts'

export const cloudRoutes = (views: CloudViews, history: CapacityHistory, registrations: CloudRegistrations): Handler[] => [
  handle(calls.list, ({ actor, query }) => views.list(actor, query)),
  handle(calls.basicInfo, ({ actor }) => views.basicInfo(actor)),
  handle(calls.get, ({ params }) => views.get(params.id)),
  handle(calls.capacity, ({ params, query }) => history.capacity(params.id, query.range)),
  handle(calls.create, ({ body }) => registrations.create(body)),
  handle(calls.update, ({ params, body }) => registrations.update(params.id, body)),
  handle(calls.delete, ({ params, query }) => registrations.remove(params.id, query.force)),
  handle(calls.action, ({ params, body }) => registrations.act(params.id, body.action)),
  handle(calls.test, ({ body }) => registrations.test(body)),
]
