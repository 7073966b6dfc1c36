import { sites as calls } from '@zhisuan/contract/ecrm/region'
import { handle, type Handler } from '../../../platform/http/handler.ts'
import type { SiteService } from './site.service.ts'

export const siteRoutes = (sites: SiteService): Handler[] => [
  handle(calls.list, ({ actor, query }) => sites.list(actor, query)),
  handle(calls.create, ({ actor, body }) => sites.create(actor, body)),
  handle(calls.update, ({ actor, params, body }) => sites.update(actor, params.id, body)),
  handle(calls.delete, ({ params }) => sites.delete(params.id)),
]
