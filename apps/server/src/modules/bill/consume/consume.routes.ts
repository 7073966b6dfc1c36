import { consumes } from '@zhisuan/contract/bill/consume'
import { handle, type Handler } from '../../../platform/http/handler.ts'
import type { ConsumeService } from './consume.service.ts'

export const consumeRoutes = (service: ConsumeService): Handler[] => [
  handle(consumes.summary, ({ actor, query }) => service.summary(actor, query)),
  handle(consumes.monthly, ({ actor, query }) => service.monthly(actor, query)),
  handle(consumes.list, ({ actor, query }) => service.list(actor, query)),
]
