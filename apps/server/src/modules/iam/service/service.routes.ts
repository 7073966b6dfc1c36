import { resourceTypes, services } from '@zhisuan/contract/iam/service'
import { handle, type Handler } from '../../../platform/http/handler.ts'
import type { ServiceService } from './service.service.ts'

export const serviceRoutes = (service: ServiceService): Handler[] => [
  handle(services.list, ({ actor }) => service.list(actor)),
  handle(services.get, ({ actor, params }) => service.get(actor, params.id)),
  handle(services.create, ({ actor, body }) => service.create(actor, body)),
  handle(services.update, ({ actor, params, body }) => service.update(actor, params.id, body)),
  handle(services.delete, ({ actor, params }) => service.remove(actor, params.id)),
  handle(resourceTypes.list, ({ actor }) => service.listTypes(actor)),
  handle(resourceTypes.get, ({ actor, params }) => service.getType(actor, params.id)),
  handle(resourceTypes.create, ({ actor, body }) => service.createType(actor, body)),
  handle(resourceTypes.update, ({ actor, params, body }) => service.updateType(actor, params.id, body)),
  handle(resourceTypes.delete, ({ actor, params }) => service.removeType(actor, params.id)),
]
