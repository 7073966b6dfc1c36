import { computeFloatingIps as calls } from '@zhisuan/contract/compute/floating-ip'
import { handle, handleLines, type Handler } from '../../../platform/http/handler.ts'
import type { FloatingIps } from './floating-ip.service.ts'

export const floatingIpRoutes = (ips: FloatingIps): Handler[] => [
  handleLines(calls.list, ({ actor, params, request, signal }) => ips.list(actor, params.cloud_id, request.id, signal)),
  handle(calls.get, ({ actor, params }) => ips.get(actor, params.cloud_id, params.id)),
  handle(calls.allocate, ({ actor, params, body }) => ips.allocate(actor, params.cloud_id, body)),
  handle(calls.update, ({ actor, params, body }) => ips.update(actor, params.cloud_id, params.id, body)),
  handle(calls.bind, ({ actor, params, body }) => ips.bind(actor, params.cloud_id, params.id, body)),
  handle(calls.unbind, ({ actor, params, body }) => ips.unbind(actor, params.cloud_id, params.id, body)),
  handle(calls.release, ({ actor, params }) => ips.release(actor, params.cloud_id, params.id)),
]
