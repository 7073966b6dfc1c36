import { accessKeys as calls } from '@zhisuan/contract/ums/access-key'
import { handle, type Handler } from '../../../platform/http/handler.ts'
import type { AccessKeyService } from './access-key.service.ts'

export const accessKeyRoutes = (service: AccessKeyService): Handler[] => [
  handle(calls.list, ({ actor }) => service.list(actor)),
  handle(calls.create, ({ actor, body, reply }) => {
    reply.header('cache-control', 'no-store')
    return service.create(actor, body)
  }),
  handle(calls.update, ({ actor, params, body }) => service.update(actor, params.id, body)),
  handle(calls.action, ({ actor, params, body }) => service.act(actor, params.id, body)),
  handle(calls.rotate, ({ actor, params, body, reply }) => {
    reply.header('cache-control', 'no-store')
    return service.rotate(actor, params.id, body)
  }),
  handle(calls.delete, ({ actor, params }) => service.remove(actor, params.id)),
  handle(calls.of, ({ actor, params }) => service.listOf(actor, params.id)),
  handle(calls.all, ({ actor, query }) => service.all(actor, query)),
  handle(calls.block, ({ actor, params }) => service.block(actor, params.user_id, params.id)),
  handle(calls.unblock, ({ actor, params }) => service.unblock(actor, params.user_id, params.id)),
  handle(calls.deleteOf, ({ actor, params }) => service.removeOf(actor, params.user_id, params.id)),
]
