import { consumes } from '@zhisuan/contract/bill/consume'
import { handle, type Handler } from '../../../platform/http/handler.ts'
import type { Consumes } from './consume.service.ts'

export const consumeRoutes = ({ overviews, forecast, resources, lines, exports }: Consumes): Handler[] => [
  handle(consumes.summary, ({ actor, query }) => overviews.summary(actor, query)),
  handle(consumes.monthly, ({ actor, query }) => overviews.monthly(actor, query)),
  handle(consumes.forecast, ({ actor, query }) => forecast(actor, query)),
  handle(consumes.resources, ({ actor, query }) => resources.list(actor, query)),
  handle(consumes.resource, ({ actor, params, query }) => resources.get(actor, params.id, query)),
  handle(consumes.list, ({ actor, query }) => lines.list(actor, query)),
  handle(consumes.export, async ({ actor, body }) => exports.lines(actor, body)),
  handle(consumes.exportMonth, async ({ actor, body }) => exports.month(actor, body)),
]
