import { vms as calls } from '@zhisuan/contract/nextstack/vm'
import { contextOf } from '../../../platform/http/bind.ts'
import { handle, handleShared, type Handler } from '../../../platform/http/handler.ts'
import type { VmFiles } from './vm.files.ts'
import type { VmService } from './vm.service.ts'

export const vmRoutes = (vms: VmService, files: VmFiles): Handler[] => [
  handleShared(calls.list, ({ scope, query }) => vms.list(scope, query)),
  handle(calls.get, ({ actor, params }) => vms.get(actor, params.id)),
  handle(calls.create, ({ actor, body }) => vms.create(actor, body)),
  handle(calls.start, ({ actor, params }) => vms.start(actor, params.id)),
  handle(calls.stop, ({ actor, params, body }) => vms.stop(actor, params.id, body.force)),
  handle(calls.restart, ({ actor, params, body }) => vms.restart(actor, params.id, body.force)),
  handle(calls.rename, ({ actor, params, body }) => vms.rename(actor, params.id, body)),
  handle(calls.resize, ({ actor, params, body }) => vms.resize(actor, params.id, body)),
  handle(calls.rebuild, ({ actor, params, body }) => vms.rebuild(actor, params.id, body)),
  handle(calls.setSecurityGroups, ({ actor, params, body }) => vms.setSecurityGroups(actor, params.id, body.security_group_ids)),
  handle(calls.delete, ({ actor, params, query, request }) => vms.delete(actor, params.id, query, contextOf(actor, request))),
  handle(calls.operations, ({ actor, params, query }) => vms.operations(actor, params.id, query)),
  handle(calls.cancelOperation, ({ actor, params }) => vms.cancelOperation(actor, params.id, params.operation_id)),
  handle(calls.metrics, ({ actor, params, query }) => vms.metrics(actor, params.id, query.minutes)),
  handle(calls.consoleLog, ({ actor, params }) => vms.consoleLog(actor, params.id)),
  handle(calls.files, ({ actor, params, query }) => files.list(actor, params.id, query.path)),
]
