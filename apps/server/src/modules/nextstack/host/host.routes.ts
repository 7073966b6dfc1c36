import { hosts as calls } from '@zhisuan/contract/nextstack/host'
import { handle, handleShared, type Handler } from '../../../platform/http/handler.ts'
import type { HostService } from './host.service.ts'

export const hostRoutes = (hosts: HostService): Handler[] => [
  handleShared(calls.list, ({ query }) => hosts.list(query)),
  handle(calls.get, ({ params }) => hosts.get(params.id)),
  handle(calls.setSchedulable, ({ params, body }) => hosts.setSchedulable(params.id, body.schedulable)),
  handle(calls.evacuate, ({ actor, params }) => hosts.evacuate(actor, params.id)),
  handle(calls.restore, ({ actor, params }) => hosts.restore(actor, params.id)),
  handle(calls.gpuModels, () => hosts.gpuModels()),
]
