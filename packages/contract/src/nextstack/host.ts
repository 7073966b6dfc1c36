import { z } from 'zod'
import { can } from '../can.ts'
import { byId, defineCall, listOf, listQuery, moment } from '../define.ts'
import { admins } from '../roles.ts'
import { keyword } from '../validation.ts'
import { reference } from '../resource.ts'

/** `gone`: the engine no longer names it. */
export const hostStatuses = ['online', 'offline', 'evacuated', 'evacuating', 'restoring', 'gone'] as const
export type HostStatus = (typeof hostStatuses)[number]

export const hostCan = can<HostStatus>()({
  evacuate: ['online'],
  restore: ['evacuated'],
})

const part = z.object({ model: z.string(), count: z.int() })

/** A machine that instances run on. */
export const host = z.object({
  id: z.uuid(),
  cloud_id: z.uuid(),
  name: z.string(),
  status: z.enum(hostStatuses),
  status_message: z.string(),
  /** Takes new instances; an administrator may say no without moving anything. */
  schedulable: z.boolean(),
  /** Whether its engine is a cluster: only then instances can be moved away. */
  clustered: z.boolean(),
  address: z.string().nullable(),
  architecture: z.string(),
  cpu: z.object({ model: z.string(), sockets: z.int(), cores: z.int(), threads: z.int(), promised: z.int() }),
  memory: z.object({ total_bytes: z.int(), used_bytes: z.int(), promised_bytes: z.int() }),
  disk_bytes: z.int(),
  gpus: z.array(part.extend({ used: z.int() })),
  vm_count: z.int(),
  error: z.string().nullable(),
  operation_id: z.uuid().nullable(),
  /** When it last answered. */
  seen_at: moment,
})
export type Host = z.output<typeof host>

/** With every part, for the page of one host. */
const hostDetail = host.extend({
  system: z.object({ vendor: z.string(), product: z.string(), kind: z.string(), kernel: z.string(), firmware: z.string() }),
  disks: z.array(z.object({ id: z.string(), model: z.string(), kind: z.string(), size_bytes: z.int(), removable: z.boolean() })),
  nics: z.array(z.object({ id: z.string(), mac: z.string(), product: z.string(), driver: z.string(), link: z.boolean(), speed_mbps: z.int().nullable() })),
  gpu_cards: z.array(
    z.object({
      pci_address: z.string(),
      model: z.string(),
      driver: z.string(),
      vm: reference.nullable(),
      /** An instance on the engine that has it, and is none of ours. */
      taken_by: z.string().nullable(),
      /** False of one that an instance holds and the engine no longer names. */
      present: z.boolean(),
    }),
  ),
})
export type HostDetail = z.output<typeof hostDetail>

const base = '/api/nextstack/v1/hosts'
const one = { access: admins, params: byId, status: 202, response: host } as const

export const hosts = {
  list: defineCall({
    id: 'nextstack.host.list',
    method: 'GET',
    path: base,
    summary: 'Hypervisor nodes',
    access: admins,
    query: listQuery(['name', 'status'], { cloud_id: z.uuid().optional(), status: z.enum(hostStatuses).optional(), keyword }),
    response: listOf(host),
  }),
  get: defineCall({
    id: 'nextstack.host.get',
    method: 'GET',
    path: `${base}/{id}`,
    summary: 'One hypervisor node, with every part',
    access: admins,
    params: byId,
    response: hostDetail,
  }),
  setSchedulable: defineCall({
    id: 'nextstack.host.setSchedulable',
    method: 'PUT',
    path: `${base}/{id}/schedulable`,
    summary: 'Maintenance: take no new instances, or take them again',
    access: admins,
    params: byId,
    body: z.object({ schedulable: z.boolean() }),
    response: host,
  }),
  evacuate: defineCall({
    ...one,
    id: 'nextstack.host.evacuate',
    method: 'POST',
    path: `${base}/{id}/evacuate`,
    summary: 'Move its instances to other members',
  }),
  restore: defineCall({
    ...one,
    id: 'nextstack.host.restore',
    method: 'POST',
    path: `${base}/{id}/restore`,
    summary: 'Take it back into the cluster, with its instances',
  }),
  gpuModels: defineCall({
    id: 'nextstack.host.gpuModels',
    method: 'GET',
    path: '/api/nextstack/v1/gpu-models',
    summary: 'GPU models of all hosts, for flavors',
    access: admins,
    response: listOf(part.extend({ used: z.int() })),
  }),
} as const
