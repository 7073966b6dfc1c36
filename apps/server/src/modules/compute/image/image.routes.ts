import { computeImages as calls } from '@zhisuan/contract/compute/image'
import { handle, handleLines, type Handler } from '../../../platform/http/handler.ts'
import type { Images } from './image.service.ts'

export const imageRoutes = (images: Images): Handler[] => [
  handleLines(calls.list, ({ actor, params, request, signal }) => images.list(actor, params.cloud_id, request.id, signal)),
  handle(calls.get, ({ actor, params }) => images.get(actor, params.cloud_id, params.id)),
  handle(calls.importWays, ({ actor, params }) => images.importWays(actor, params.cloud_id)),
  handle(calls.create, ({ actor, params, body }) => images.create(actor, params.cloud_id, body)),
  handle(calls.import, ({ actor, params, body }) => images.import(actor, params.cloud_id, params.id, body.url)),
  handle(calls.update, ({ actor, params, body }) => images.update(actor, params.cloud_id, params.id, body)),
  handle(calls.deactivate, ({ actor, params }) => images.setActive(actor, params.cloud_id, params.id, false)),
  handle(calls.reactivate, ({ actor, params }) => images.setActive(actor, params.cloud_id, params.id, true)),
  handle(calls.offer, ({ actor, params, body }) => images.offer(actor, params.cloud_id, params.id, body)),
  handle(calls.withdraw, ({ actor, params }) => images.withdraw(actor, params.cloud_id, params.id, params.member_id)),
  handle(calls.answer, ({ actor, params, body }) => images.answer(actor, params.cloud_id, params.id, body.accept)),
  handle(calls.download, ({ actor, params }) => images.download(actor, params.cloud_id, params.id)),
  handle(calls.delete, ({ actor, params }) => images.delete(actor, params.cloud_id, params.id)),
]
