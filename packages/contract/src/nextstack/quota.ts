import { z } from 'zod'
import { defineCall, listOf, listQuery } from '../define.ts'
import { admins, tenants } from '../roles.ts'
import { keyword } from '../validation.ts'

/** What is counted. `_bytes` are bytes, the rest pieces. */
export const quotaResources = [
  'vms',
  'cpu_cores',
  'memory_bytes',
  'gpus',
  'vm_snapshots',
  'volumes',
  'volume_bytes',
  'volume_snapshots',
  'backup_bytes',
  'vpcs',
  'security_groups',
  'eips',
  'images',
  'image_bytes',
  'key_pairs',
  'file_bytes',
] as const
export type QuotaResource = (typeof quotaResources)[number]

const line = z.object({
  resource: z.enum(quotaResources),
  used: z.int(),
  /** Null for no limit. */
  limit: z.int().nullable(),
  /** Whether it is this one's own, not the platform's default. */
  own: z.boolean(),
})
export type QuotaLine = z.output<typeof line>

const quota = z.object({ bp_id: z.uuid(), bp_name: z.string(), project_id: z.uuid().nullable(), project_name: z.string().nullable(), lines: z.array(line) })
export type Quota = z.output<typeof quota>

const limits = z.partialRecord(z.enum(quotaResources), z.int().min(0).max(Number.MAX_SAFE_INTEGER).nullable())
const base = '/api/nextstack/v1/quotas'

export const quotas = {
  mine: defineCall({
    id: 'nextstack.quota.mine',
    method: 'GET',
    path: `${base}/mine`,
    summary: 'What the user’s organisation has, and may have; for platform users all organisations together, without limits',
    access: tenants,
    query: z.object({ project_id: z.uuid().optional() }),
    response: z.object({ lines: z.array(line) }),
  }),
  list: defineCall({
    id: 'nextstack.quota.list',
    method: 'GET',
    path: base,
    summary: 'Quotas of organisations',
    access: admins,
    query: listQuery(['bp_name'], { keyword }),
    response: listOf(quota),
  }),
  get: defineCall({
    id: 'nextstack.quota.get',
    method: 'GET',
    path: `${base}/{bp_id}`,
    summary: 'Quota of one organisation, or of one of its projects',
    access: admins,
    params: z.object({ bp_id: z.uuid() }),
    query: z.object({ project_id: z.uuid().optional() }),
    response: quota,
  }),
  /** What is left out falls back to the default; below what is used is allowed: nothing new then. */
  set: defineCall({
    id: 'nextstack.quota.set',
    method: 'PUT',
    path: `${base}/{bp_id}`,
    summary: 'Set limits of an organisation, or of one of its projects',
    access: admins,
    params: z.object({ bp_id: z.uuid() }),
    body: z.object({ project_id: z.uuid().nullable().default(null), limits }),
    response: quota,
  }),
  defaults: defineCall({
    id: 'nextstack.quota.defaults',
    method: 'GET',
    path: '/api/nextstack/v1/quota-defaults',
    summary: 'Limits of organisations that have none of their own',
    access: admins,
    response: z.object({ limits }),
  }),
  setDefaults: defineCall({
    id: 'nextstack.quota.setDefaults',
    method: 'PUT',
    path: '/api/nextstack/v1/quota-defaults',
    summary: 'Set them',
    access: admins,
    body: z.object({ limits }),
    response: z.object({ limits }),
  }),
} as const
