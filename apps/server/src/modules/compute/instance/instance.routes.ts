import { availabilityZones, computeInstances as calls, serverGroups } from '@zhisuan/contract/compute/instance'
import { contextOf } from '../../../platform/http/bind.ts'
import { handle, handleLines, type Handler } from '../../../platform/http/handler.ts'
import type { Instances } from './instance.service.ts'
import type { SerialConsoles } from './serial.service.ts'

export const instanceRoutes = (instances: Instances, serialConsoles: Pick<SerialConsoles, 'open'>): Handler[] => [
  handleLines(calls.list, ({ actor, params, request, signal }) => instances.list(actor, params.cloud_id, request.id, signal)),
  handle(calls.get, ({ actor, params, request }) => instances.get(actor, params.cloud_id, params.id, request.id)),
  handle(calls.create, ({ actor, params, body }) => instances.create(actor, params.cloud_id, body)),
  handle(calls.update, ({ actor, params, body }) => instances.update(actor, params.cloud_id, params.id, body)),
  ...(
    ['start', 'stop', 'pause', 'unpause', 'suspend', 'resume', 'shelve', 'unshelve', 'lock', 'unlock', 'confirmResize', 'revertResize', 'unrescue'] as const
  ).map((action) => handle(calls[action], ({ actor, params }) => instances.act(actor, params.cloud_id, params.id, action))),
  handle(calls.reboot, ({ actor, params, body }) => instances.reboot(actor, params.cloud_id, params.id, body.type)),
  handle(calls.resize, ({ actor, params, body }) => instances.resize(actor, params.cloud_id, params.id, body.flavor_id)),
  handle(calls.rebuild, ({ actor, params, body }) => instances.rebuild(actor, params.cloud_id, params.id, body)),
  handle(calls.rescue, ({ actor, params, body }) => instances.rescue(actor, params.cloud_id, params.id, body)),
  handle(calls.changePassword, ({ actor, params, body }) => instances.changePassword(actor, params.cloud_id, params.id, body.password)),
  handle(calls.migrate, ({ actor, params, body }) => instances.migrate(actor, params.cloud_id, params.id, body.host)),
  handle(calls.liveMigrate, ({ actor, params, body }) => instances.liveMigrate(actor, params.cloud_id, params.id, body.host)),
  handle(calls.resetState, ({ actor, params, body }) => instances.resetState(actor, params.cloud_id, params.id, body.state)),
  handle(calls.delete, ({ actor, params, query, request }) => instances.delete(actor, params.cloud_id, params.id, query, contextOf(actor, request))),
  handle(calls.console, ({ actor, params, body }) => instances.console(actor, params.cloud_id, params.id, body.type)),
  handle(calls.serialConsole, ({ actor, params, body }) => serialConsoles.open(actor, params.cloud_id, params.id, body)),
  handle(calls.consoleLog, ({ actor, params, query }) => instances.consoleLog(actor, params.cloud_id, params.id, query.lines)),
  handleLines(calls.actions, ({ actor, params, request, signal }) => instances.actions(actor, params.cloud_id, params.id, request.id, signal)),
  handle(calls.setMetadata, ({ actor, params, body }) => instances.setMetadata(actor, params.cloud_id, params.id, body.metadata)),
  handle(calls.setTags, ({ actor, params, body }) => instances.setTags(actor, params.cloud_id, params.id, body.tags)),
  handle(calls.attachInterface, ({ actor, params, body }) => instances.attachments.attachInterface(actor, params.cloud_id, params.id, body)),
  handle(calls.detachInterface, ({ actor, params }) => instances.attachments.detachInterface(actor, params.cloud_id, params.id, params.port_id)),
  handle(calls.attachVolume, ({ actor, params, body }) => instances.attachments.attachVolume(actor, params.cloud_id, params.id, body.volume_id)),
  handle(calls.detachVolume, ({ actor, params }) => instances.attachments.detachVolume(actor, params.cloud_id, params.id, params.volume_id)),
  handle(calls.snapshot, ({ actor, params, body }) => instances.snapshot(actor, params.cloud_id, params.id, body)),
  handleLines(serverGroups.list, ({ actor, params, request, signal }) => instances.groups.list(actor, params.cloud_id, request.id, signal)),
  handle(serverGroups.create, ({ actor, params, body }) => instances.groups.create(actor, params.cloud_id, body)),
  handle(serverGroups.delete, ({ actor, params }) => instances.groups.delete(actor, params.cloud_id, params.id)),
  handle(availabilityZones.list, ({ actor, params }) => instances.zones(actor, params.cloud_id)),
]
