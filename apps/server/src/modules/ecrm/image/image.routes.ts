import { edgeImages as calls } from '@zhisuan/contract/ecrm/edge'
import { handle, type Handler } from '../../../platform/http/handler.ts'
import type { ImageService } from './image.service.ts'

export const imageRoutes = (images: ImageService): Handler[] => [
  handle(calls.images, ({ actor, params, query }) => images.list(actor, params.id, query)),
  handle(calls.pullImage, ({ actor, params, body }) => images.pull(actor, params.id, body)),
  handle(calls.pull, ({ actor, params }) => images.pulled(actor, params.id, params.pull_id)),
  handle(calls.removeImage, ({ actor, params, query }) => images.remove(actor, params.id, query)),
  handle(calls.prune, ({ actor, params, body }) => images.prune(actor, params.id, body)),
]
