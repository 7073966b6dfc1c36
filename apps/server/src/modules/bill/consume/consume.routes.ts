import { consumes } from '@zhisuan/contract/bill/consume'
import { handle, type Handler } from '../../../platform/http/handler.ts'
import type { ConsumeService } from './consume.service.ts'

export const consumeRoutes = (service: ConsumeService): Handler[] => [
  handle(consumes.summary, ({ actor, query }) => service.summary(actor, query)),
  handle(consumes.monthly, ({ actor, query }) => service.monthly(actor, query)),
  handle(consumes.forecast, ({ actor, query }) => service.forecast(actor, query)),
  handle(consumes.resources, ({ actor, query }) => service.resources(actor, query)),
  handle(consumes.resource, ({ actor, params, query }) => service.resource(actor, params.id, query)),
  handle(consumes.list, ({ actor, query }) => service.list(actor, query)),
  handle(consumes.export, async ({ actor, body }) => service.export(actor, body)),
  handle(consumes.exportMonth, async ({ actor, body }) => service.exportMonth(actor, body)),
]
