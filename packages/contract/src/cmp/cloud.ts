import { z } from 'zod'
import { can } from '../can.ts'
import { byId, defineCall, empty, flag, listQuery, moment } from '../define.ts'
import { admins, tenants } from '../roles.ts'
import { constants } from '../constants.ts'
import { fieldTexts } from '../texts.ts'
import { description, keyword, name } from '../validation.ts'

export const cloudProducts = ['nextstack', 'openstack', 'easystack'] as const
export type CloudProduct = (typeof cloudProducts)[number]

/** `active` works; `maintenance` (12005) and `offline` (12006) refuse every change on the cloud. */
export const cloudStatuses = ['active', 'maintenance', 'offline'] as const
export type CloudStatus = (typeof cloudStatuses)[number]

/** What may be done to a cloud in which status. */
export const cloudCan = can<CloudStatus>()({
  maintain: ['active', 'offline'],
  takeOffline: ['active', 'maintenance'],
  activate: ['maintenance', 'offline'],
})

/** Whether the engine answers: `unknown` until first asked. */
export const cloudHealths = ['unknown', 'reachable', 'unreachable', 'unauthorised'] as const

/** A label is a JSON text with these fields (specification section 3). */
export const cloudLabel = z.object({
  label: z.string(fieldTexts.labelText).trim().min(1, fieldTexts.labelText).max(32, fieldTexts.labelText),
  textColor: z.string().max(32).optional(),
  bgColor: z.string().max(32).optional(),
  imgUrl: z.string().max(2048).regex(/^(https:\/\/|\/|data:image\/)/, fieldTexts.labelImage).optional(),
  imgSize: z.string().max(32).optional(),
  imgPosition: z.string().max(32).optional(),
})
export type CloudLabel = z.output<typeof cloudLabel>

/** Reads a label; null where the text is not one. */
export function parseCloudLabel(text: string): CloudLabel | null {
  try {
    return cloudLabel.parse(JSON.parse(text))
  } catch {
    return null
  }
}
const labelText = z.string().max(4096).refine((text) => parseCloudLabel(text) !== null, fieldTexts.labelJson)

const pem = z.string(fieldTexts.pem).trim().regex(/^-----BEGIN [A-Z ]+-----[\t\n\r -~]+-----END [A-Z ]+-----$/, fieldTexts.pem)

/** How to reach the engine. Secrets go in, never out. */
export const cloudConnection = z.discriminatedUnion('type', [
  /** LXD or Incus on the server's own host. */
  z.object({ type: z.literal('lxd-socket'), socket_path: z.string(fieldTexts.socketPath).regex(/^\/[^\0]{1,106}$/, fieldTexts.socketPath) }),
  /** LXD or Incus over HTTPS, with a client certificate that it trusts. */
  z.object({
    type: z.literal('lxd-https'),
    url: z.url({ protocol: /^https$/, error: fieldTexts.cloudUrl }),
    client_certificate: pem,
    client_key: pem,
    /** The server's certificate, to be pinned; without, it has to be publicly trusted. */
    server_certificate: pem.optional(),
    project: z.string().regex(/^[A-Za-z0-9._-]{1,63}$/, fieldTexts.lxdProject).optional(),
  }),
  /** The built-in sandbox, marked 沙箱 wherever it shows. */
  z.object({ type: z.literal('sandbox') }),
])
export type CloudConnection = z.output<typeof cloudConnection>

const used = z.object({ total: z.number(), used: z.number() })

/** What everybody who may use the cloud knows of it. */
export const cloudBasic = z.object({
  cloud_id: z.uuid(),
  name: z.string(),
  product: z.enum(cloudProducts),
  /** Engine behind it, as it names itself: `lxd`, `incus`, `sandbox`; null until first reached. */
  engine: z.string().nullable(),
  sandbox: z.boolean(),
  status: z.enum(cloudStatuses),
  health: z.enum(cloudHealths),
  /** 0 to 1: the fuller of processors, memory and disk. Null until known. */
  usage: z.number().min(0).max(1).nullable(),
  /** JSON texts, see {@link cloudLabel}. */
  labels: z.array(z.string()),
  /** Instance types that it can run, with the reason for each that it cannot. */
  instance_types: z.object({
    vm: z.object({ available: z.boolean(), reason: z.string().nullable() }),
    container: z.object({ available: z.boolean(), reason: z.string().nullable() }),
  }),
})
export type CloudBasic = z.output<typeof cloudBasic>

export const cloud = cloudBasic.extend({
  description: z.string(),
  connection: z.object({ type: z.string(), address: z.string() }),
  engine_version: z.string().nullable(),
  capacity: z.object({ cpu_cores: used, memory_bytes: used, disk_bytes: used, nodes: z.int() }).nullable(),
  instance_count: z.int(),
  /** What went wrong the last time, for administrators. */
  health_message: z.string().nullable(),
  checked_at: moment.nullable(),
  created_at: moment,
})
export type Cloud = z.output<typeof cloud>

const settings = z.object({ name, description: description.default(''), labels: z.array(labelText).max(20).default([]) })

export const clouds = {
  /** Tenants get the same list with the administrator's fields emptied. Offline clouds are left out for them. */
  list: defineCall({
    id: 'cmp.cloud.list',
    method: 'GET',
    path: '/api/cmp/v1/clouds',
    summary: 'Clouds, under the name `clouds` as specified',
    access: tenants,
    query: listQuery(
      ['name', 'created_at', 'usage'],
      { keyword, product: z.enum(cloudProducts).optional(), status: z.enum(cloudStatuses).optional() },
      { maxPageSize: constants.cloudListPageSize },
    ),
    response: z.object({ total: z.int(), clouds: z.array(cloud) }),
  }),
  basicInfo: defineCall({
    id: 'cmp.cloud.basicInfo',
    method: 'GET',
    path: '/api/cmp/v1/clouds/basic-info',
    summary: 'What the cloud switcher needs, all clouds at once',
    access: tenants,
    response: z.object({ total: z.int(), clouds: z.array(cloudBasic) }),
  }),
  create: defineCall({
    id: 'cmp.cloud.create',
    method: 'POST',
    path: '/api/cmp/v1/clouds',
    summary: 'Register a cloud; it has to answer first. 8805/8809 where the licence does not cover it',
    access: admins,
    status: 201,
    body: settings.extend({ product: z.enum(cloudProducts), connection: cloudConnection }),
    response: cloud,
  }),
  update: defineCall({
    id: 'cmp.cloud.update',
    method: 'PUT',
    path: '/api/cmp/v1/clouds/{id}',
    summary: 'Change name, description, labels, or how to reach it',
    access: admins,
    params: byId,
    body: settings.extend({ connection: cloudConnection.optional() }),
    response: cloud,
  }),
  delete: defineCall({
    id: 'cmp.cloud.delete',
    method: 'DELETE',
    path: '/api/cmp/v1/clouds/{id}',
    summary: 'Unregister a cloud. With instances on it only by force: the records go, the instances stay on the engine',
    access: admins,
    params: byId,
    query: z.object({ force: flag.default(false) }),
    response: empty,
  }),
  action: defineCall({
    id: 'cmp.cloud.action',
    method: 'POST',
    path: '/api/cmp/v1/clouds/{id}/action',
    summary: 'activate, maintain, take offline, or refresh what is known of it',
    access: admins,
    params: byId,
    body: z.object({ action: z.enum(['active', 'maintenance', 'offline', 'refresh']) }),
    response: cloud,
  }),
  test: defineCall({
    id: 'cmp.cloud.test',
    method: 'POST',
    path: '/api/cmp/v1/clouds/test',
    summary: 'Try a connection without keeping it: what answers, and what it can run',
    access: admins,
    audit: false,
    body: z.object({ product: z.enum(cloudProducts), connection: cloudConnection }),
    response: z.object({
      engine: z.string(),
      version: z.string(),
      host_name: z.string(),
      nodes: z.int(),
      cpu_cores: z.number(),
      memory_bytes: z.number(),
      disk_bytes: z.number(),
      instance_types: cloudBasic.shape.instance_types,
    }),
  }),
} as const
