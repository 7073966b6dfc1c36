import { computeInstances } from '@zhisuan/contract/compute/instance'
import { recycledInstances as calls, retentions } from '@zhisuan/contract/compute/recycled'
import { handle, handleLines, type Handler } from '../../../platform/http/handler.ts'
import type { RecycleBin } from './recycle.service.ts'

export const recycleRoutes = (bin: RecycleBin): Handler[] => [
  handle(computeInstances.recycle, ({ actor, params }) => bin.recycle(actor, params.cloud_id, params.id)),
  handleLines(calls.list, ({ actor, params, request, signal }) => bin.list(actor, params.cloud_id, request.id, signal)),
  handle(calls.restore, ({ actor, params }) => bin.restore(actor, params.cloud_id, params.id)),
  handle(calls.purge, ({ actor, params }) => bin.purge(actor, params.cloud_id, params.id)),
  handle(retentions.get, ({ actor, params }) => bin.retention(actor, params.cloud_id)),
  handle(retentions.set, ({ actor, params, body }) => bin.setRetention(actor, params.cloud_id, body.days)),
]
