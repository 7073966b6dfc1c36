import { z } from 'zod'
import { can } from '../can.ts'
import { actsOn, defineCall, moment } from '../define.ts'
import { admins, tenants } from '../roles.ts'
import { lineOf } from '../line.ts'
import { cloudId, inCloud } from './ids.ts'

/** At rest it is `recycled`; the others pass. */
export const recycledStatuses = ['recycling', 'recycled', 'restoring', 'purging'] as const
export type RecycledStatus = (typeof recycledStatuses)[number]
export const recycledTransitional: readonly RecycledStatus[] = ['recycling', 'restoring', 'purging']

export const recycledCan = can<RecycledStatus>()({
  restore: ['recycled'],
  purge: ['recycled'],
})

/** An instance in the recycle bin. */
export const recycledInstance = z.object({
  /** The instance's. */
  id: z.string(),
  name: z.string(),
  status: z.enum(recycledStatuses),
  /** `cloud`: Nova itself keeps what was deleted behind our back; it has no floating IPs, and purges by its own time. */
  kept_by: z.enum(['console', 'cloud']),
  /** Whether it is started again once it is restored. */
  ran: z.boolean(),
  flavor: z.object({ name: z.string(), vcpus: z.int(), memory_bytes: z.int(), disk_bytes: z.int() }).nullable(),
  /** That led to it, and will again where they are still free. */
  floating_ips: z.array(z.string()),
  /** Chinese text of what went wrong the last time. */
  error: z.string().nullable(),
  recycled_by: z.string(),
  recycled_at: moment.nullable(),
  /** When it is purged. Null where the cloud decides. */
  until: moment.nullable(),
  keystone_project_id: z.string().nullable(),
})
export type RecycledInstance = z.output<typeof recycledInstance>

const base = '/api/compute/v1/clouds/{cloud_id}/recycled'
const one = { access: tenants, params: inCloud, status: 202, response: recycledInstance } as const

export const recycledInstances = {
  list: defineCall({
    id: 'compute.recycled.list',
    method: 'GET',
    path: base,
    summary: 'What lies in the recycle bin of a cloud, in lines. Names: projects',
    access: tenants,
    params: cloudId,
    lines: true,
    response: lineOf(recycledInstance),
  }),
  restore: defineCall({
    ...one,
    id: 'compute.recycled.restore',
    method: 'POST',
    path: `${base}/{id}/restore`,
    summary: 'Take an instance out of the bin: unlocked, its floating IPs back where they are free, started where it ran',
    also: ({ params }) => actsOn('compute.recycled.restore', { kind: 'compute.instance', id: params.id }),
  }),
  purge: defineCall({
    ...one,
    id: 'compute.recycled.purge',
    method: 'POST',
    path: `${base}/{id}/purge`,
    summary: 'Delete for good, with the volumes that go with it',
    also: ({ params }) => [{ action: 'compute.instance.delete', on: { kind: 'compute.instance', id: params.id } }],
  }),
} as const

export const retention = z.object({
  /** How long instances lie in the bin; of those that are put there from now on. */
  days: z.int().min(1).max(365),
})

const retentionPath = '/api/compute/v1/clouds/{cloud_id}/retention'
export const retentions = {
  get: defineCall({
    id: 'compute.retention.get',
    method: 'GET',
    path: retentionPath,
    summary: 'How long the recycle bin of a cloud keeps instances',
    access: tenants,
    params: cloudId,
    response: retention,
  }),
  set: defineCall({
    id: 'compute.retention.set',
    method: 'PUT',
    path: retentionPath,
    summary: 'How long the recycle bin of a cloud keeps instances',
    access: admins,
    params: cloudId,
    body: retention,
    response: retention,
  }),
} as const
