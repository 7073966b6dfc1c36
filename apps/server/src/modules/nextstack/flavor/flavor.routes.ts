import { flavors as calls } from '@zhisuan/contract/nextstack/flavor'
import { handle, type Handler } from '../../../platform/http/handler.ts'
import type { FlavorService } from './flavor.service.ts'

export const flavorRoutes = (flavors: FlavorService): Handler[] => [
  handle(calls.list, ({ actor, query }) => flavors.list(actor, query)),
  handle(calls.get, ({ actor, params }) => flavors.get(actor, params.id)),
  handle(calls.create, ({ body }) => flavors.create(body)),
  handle(calls.update, ({ params, body }) => flavors.update(params.id, body)),
  handle(calls.delete, ({ params }) => flavors.delete(params.id)),
  handle(calls.vms, ({ params, query }) => flavors.vms(params.id, query)),
]
