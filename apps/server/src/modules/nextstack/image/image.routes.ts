import { imageLibrary as calls } from '@zhisuan/contract/nextstack/image'
import { handle, type Handler } from '../../../platform/http/handler.ts'
import type { ImageService } from './image.service.ts'

export const imageRoutes = (images: ImageService): Handler[] => [
  handle(calls.list, ({ actor, query }) => images.list(actor, query)),
  handle(calls.get, ({ actor, params }) => images.get(actor, params.id)),
  handle(calls.upload, ({ actor, body }) => images.upload(actor, body)),
  handle(calls.fetch, ({ actor, body }) => images.fetch(actor, body)),
  handle(calls.fromVm, ({ actor, body }) => images.fromVm(actor, body)),
  handle(calls.update, ({ actor, params, body }) => images.update(actor, params.id, body)),
  handle(calls.share, ({ actor, params, body }) => images.share(actor, params.id, body.organisations)),
  handle(calls.download, ({ actor, params }) => images.download(actor, params.id)),
  handle(calls.delete, ({ actor, params }) => images.delete(actor, params.id)),
]
