import { z } from 'zod'
import { can } from '../can.ts'
import { actsOn, byId, defineCall, empty, listOf, listQuery, moment, type AlsoSubject } from '../define.ts'
import { tenants } from '../roles.ts'
import { fieldTexts } from '../texts.ts'
import { description, keyword, name, named } from '../validation.ts'
import { onEngine, owned, reference } from '../resource.ts'
import { vm } from './vm.ts'

/** `lost`: the engine no longer has it. */
export const snapshotStatuses = ['creating', 'available', 'restoring', 'deleting', 'error', 'lost'] as const
export type SnapshotStatus = (typeof snapshotStatuses)[number]
export const snapshotTransitional: readonly SnapshotStatus[] = ['creating', 'restoring', 'deleting']

/** What may be done to a snapshot of an instance in which status. */
export const snapshotCan = can<SnapshotStatus>()({
  restore: ['available'],
  clone: ['available'],
  rename: ['available', 'error', 'lost'],
  delete: ['available', 'error', 'lost'],
})

/** The root disk of an instance as it was at a moment. Goes with the instance. */
export const snapshot = z.object({
  ...onEngine,
  status: z.enum(snapshotStatuses),
  vm: reference,
  /** Null where the engine cannot tell. */
  size_bytes: z.int().nullable(),
  /** The schedule that made it; null where a person did. */
  schedule_id: z.uuid().nullable(),
})
export type VmSnapshot = z.output<typeof snapshot>

const base = '/api/nextstack/v1/snapshots'

const instanceOf = (id: string | undefined): AlsoSubject => ({ kind: 'nextstack.vm', id, of: 'nextstack.snapshot' })

export const snapshots = {
  list: defineCall({
    id: 'nextstack.snapshot.list',
    method: 'GET',
    path: base,
    summary: 'Snapshots of instances',
    access: tenants,
    query: listQuery(['name', 'status', 'created_at', 'size_bytes'], {
      cloud_id: z.uuid().optional(),
      vm_id: z.uuid().optional(),
      status: z.enum(snapshotStatuses).optional(),
      keyword,
    }),
    response: listOf(snapshot),
  }),
  get: defineCall({
    id: 'nextstack.snapshot.get',
    method: 'GET',
    path: `${base}/{id}`,
    summary: 'One snapshot',
    access: tenants,
    params: byId,
    response: snapshot,
  }),
  create: defineCall({
    id: 'nextstack.snapshot.create',
    method: 'POST',
    path: base,
    summary: 'Keep the root disk of an instance as it is now',
    also: ({ body }) => (body === undefined ? [] : actsOn('nextstack.snapshot.create', { kind: 'nextstack.vm', id: body.vm_id })),
    access: tenants,
    status: 202,
    body: z.object({ vm_id: z.uuid(), name, description: description.default('') }),
    response: snapshot,
  }),
  update: defineCall({
    id: 'nextstack.snapshot.update',
    method: 'PUT',
    path: `${base}/{id}`,
    summary: 'Change name and description',
    access: tenants,
    params: byId,
    body: named,
    response: snapshot,
  }),
  restore: defineCall({
    id: 'nextstack.snapshot.restore',
    method: 'POST',
    path: `${base}/{id}/restore`,
    summary: 'Set the instance back to the snapshot; what was written since is lost',
    also: ({ params }) => [{ action: 'nextstack.vm.rebuild', on: instanceOf(params.id) }, ...actsOn('nextstack.snapshot.restore', instanceOf(params.id))],
    access: tenants,
    params: byId,
    status: 202,
    response: snapshot,
  }),
  clone: defineCall({
    id: 'nextstack.snapshot.clone',
    method: 'POST',
    path: `${base}/{id}/clone`,
    summary: 'Make a new instance whose root disk begins as the snapshot; size and network are the old one’s where none are given',
    also: ({ params }) => [{ action: 'nextstack.vm.create' }, ...actsOn('nextstack.snapshot.clone', instanceOf(params.id))],
    access: tenants,
    params: byId,
    status: 202,
    body: z.object({ name, description: description.default(''), flavor_id: z.uuid().optional(), vpc_id: z.uuid().nullable().optional() }),
    response: vm,
  }),
  delete: defineCall({
    id: 'nextstack.snapshot.delete',
    method: 'DELETE',
    path: `${base}/{id}`,
    summary: 'Delete a snapshot',
    access: tenants,
    params: byId,
    status: 202,
    response: snapshot,
  }),
} as const

export const snapshotRhythms = ['hourly', 'daily', 'weekly'] as const

/** Snapshots made by the clock; the oldest of the schedule's own go when there are more than `keep`. */
export const snapshotSchedule = z.object({
  ...owned,
  vm: reference,
  rhythm: z.enum(snapshotRhythms),
  /** Minute of the hour (hourly), or `HH:mm` (daily, weekly), in `time_zone`. */
  at: z.string(),
  /** 1 is Monday, 7 Sunday; null unless weekly. */
  weekday: z.int().nullable(),
  time_zone: z.string(),
  keep: z.int(),
  enabled: z.boolean(),
  last_run_at: moment.nullable(),
  /** Chinese text where the last run failed. */
  last_error: z.string().nullable(),
  next_run_at: moment.nullable(),
})
export type SnapshotSchedule = z.output<typeof snapshotSchedule>

const scheduleBody = z
  .object({
    name,
    description: description.default(''),
    rhythm: z.enum(snapshotRhythms),
    at: z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$|^[0-5]?\d$/, fieldTexts.scheduleAt),
    weekday: z.int().min(1).max(7).nullable().default(null),
    /** IANA name. */
    time_zone: z.string().max(64).refine(isTimeZone, fieldTexts.timeZone).default('Asia/Shanghai'),
    keep: z.int().min(1, fieldTexts.scheduleKeep).max(100, fieldTexts.scheduleKeep).default(7),
    enabled: z.boolean().default(true),
  })
  .refine((value) => (value.rhythm === 'hourly') !== value.at.includes(':'), { path: ['at'], message: fieldTexts.scheduleAt })
  .refine((value) => (value.rhythm === 'weekly') === (value.weekday !== null), { path: ['weekday'], message: fieldTexts.scheduleWeekday })

/** What JavaScript takes beside the names of IANA: abbreviations of long ago, whose meaning depends on whom one asks, and offsets. */
const noTimeZone = /^(ACT|AET|AGT|ART|AST|BET|BST|CAT|CNT|CST|CTT|EAT|ECT|IET|IST|JST|MIT|NET|NST|PLT|PNT|PRT|PST|SST|VST)$|^[+-]|^SystemV\/|^Etc\/Unknown$/i

function isTimeZone(zone: string): boolean {
  if (noTimeZone.test(zone)) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone })
    return true
  } catch {
    return false
  }
}

const schedulesBase = '/api/nextstack/v1/snapshot-schedules'

export const snapshotSchedules = {
  list: defineCall({
    id: 'nextstack.snapshotSchedule.list',
    method: 'GET',
    path: schedulesBase,
    summary: 'When snapshots are made by the clock',
    access: tenants,
    query: listQuery(['name', 'created_at', 'next_run_at'], { cloud_id: z.uuid().optional(), vm_id: z.uuid().optional(), keyword }),
    response: listOf(snapshotSchedule),
  }),
  create: defineCall({
    id: 'nextstack.snapshotSchedule.create',
    method: 'POST',
    path: schedulesBase,
    summary: 'Make snapshots of an instance by the clock',
    also: ({ body }) => [
      { action: 'nextstack.snapshot.create' },
      ...(body === undefined
        ? []
        : [
            { action: 'nextstack.snapshot.create', on: { kind: 'nextstack.vm', id: body.vm_id } },
            ...actsOn('nextstack.snapshotSchedule.create', { kind: 'nextstack.vm', id: body.vm_id }),
          ]),
    ],
    access: tenants,
    status: 201,
    body: scheduleBody.safeExtend({ vm_id: z.uuid() }),
    response: snapshotSchedule,
  }),
  update: defineCall({
    id: 'nextstack.snapshotSchedule.update',
    method: 'PUT',
    path: `${schedulesBase}/{id}`,
    summary: 'Change a schedule',
    also: ({ params }) => [
      { action: 'nextstack.snapshot.create' },
      ...['nextstack.snapshot.create', 'nextstack.snapshotSchedule.update'].flatMap((action) =>
        actsOn(action, { kind: 'nextstack.vm', id: params.id, of: 'nextstack.snapshotSchedule' }),
      ),
    ],
    access: tenants,
    params: byId,
    body: scheduleBody,
    response: snapshotSchedule,
  }),
  delete: defineCall({
    id: 'nextstack.snapshotSchedule.delete',
    method: 'DELETE',
    path: `${schedulesBase}/{id}`,
    summary: 'End a schedule; its snapshots stay',
    access: tenants,
    params: byId,
    response: empty,
  }),
} as const
