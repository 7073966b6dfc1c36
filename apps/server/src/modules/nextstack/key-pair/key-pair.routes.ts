import { keyPairs as calls } from '@zhisuan/contract/nextstack/key-pair'
import { handle, type Handler } from '../../../platform/http/handler.ts'
import type { KeyPairService } from './key-pair.service.ts'

export const keyPairRoutes = (keyPairs: KeyPairService): Handler[] => [
  handle(calls.list, ({ actor, query }) => keyPairs.list(actor, query)),
  handle(calls.get, ({ actor, params }) => keyPairs.get(actor, params.id)),
  handle(calls.create, ({ actor, body }) => keyPairs.create(actor, body)),
  handle(calls.update, ({ actor, params, body }) => keyPairs.update(actor, params.id, body)),
  handle(calls.delete, ({ actor, params }) => keyPairs.delete(actor, params.id)),
]
