import { snapshots as calls, snapshotSchedules as scheduleCalls } from '@zhisuan/contract/nextstack/snapshot'
import { handle, handleShared, type Handler } from '../../../platform/http/handler.ts'
import type { ScheduleService } from './schedule.service.ts'
import type { SnapshotService } from './snapshot.service.ts'

export const snapshotRoutes = (snapshots: SnapshotService, schedules: ScheduleService): Handler[] => [
  handleShared(calls.list, ({ scope, query }) => snapshots.list(scope, query)),
  handle(calls.get, ({ actor, params }) => snapshots.get(actor, params.id)),
  handle(calls.create, ({ actor, body }) => snapshots.create(actor, body)),
  handle(calls.update, ({ actor, params, body }) => snapshots.update(actor, params.id, body)),
  handle(calls.restore, ({ actor, params }) => snapshots.restore(actor, params.id)),
  handle(calls.clone, ({ actor, params, body }) => snapshots.clone(actor, params.id, body)),
  handle(calls.delete, ({ actor, params }) => snapshots.delete(actor, params.id)),
  handleShared(scheduleCalls.list, ({ scope, query }) => schedules.list(scope, query)),
  handle(scheduleCalls.create, ({ actor, body }) => schedules.create(actor, body)),
  handle(scheduleCalls.update, ({ actor, params, body }) => schedules.update(actor, params.id, body)),
  handle(scheduleCalls.delete, ({ actor, params }) => schedules.delete(actor, params.id)),
]
