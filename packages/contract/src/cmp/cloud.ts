import { z } from 'zod'
import { can } from '../can.ts'
import { byId, defineCall, empty, flag, listQuery, moment } from '../define.ts'
import { admins, tenants } from '../roles.ts'
import { constants } from '../constants.ts'
import { fieldTexts } from '../texts.ts'
import { description, keyword, name, plainLine } from '../validation.ts'

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

/** Whether the engine answers: `unknown` until first asked, `degraded` where some of an OpenStack's services do not. */
export const cloudHealths = ['unknown', 'reachable', 'degraded', 'unreachable', 'unauthorised'] as const

/** A label is a JSON text with these fields (specification section 3). */
export const cloudLabel = z.object({
  label: z.string(fieldTexts.labelText).trim().min(1, fieldTexts.labelText).max(32, fieldTexts.labelText),
  textColor: z.string().max(32).optional(),
  bgColor: z.string().max(32).optional(),
  imgUrl: z
    .string()
    .max(2048)
    .regex(/^(https:\/\/|\/|data:image\/)/, fieldTexts.labelImage)
    .optional(),
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
const labelText = z
  .string()
  .max(4096)
  .refine((text) => parseCloudLabel(text) !== null, fieldTexts.labelJson)

/** Room for all that a bundle of authorities has; whatever is longer is none. */
const pemMax = 65_536
const pem = z
  .string(fieldTexts.pem)
  .trim()
  .max(pemMax, fieldTexts.pem)
  .regex(/^-----BEGIN [A-Z ]+-----[\t\n\r -~]+-----END [A-Z ]+-----$/, fieldTexts.pem)

/** Left out where a cloud is changed, it stays what it was. */
const secret = z.string(fieldTexts.contentRequired).min(1, fieldTexts.contentRequired).max(255).regex(plainLine, fieldTexts.controlCharacters)
const keystoneName = z.string(fieldTexts.contentRequired).trim().min(1, fieldTexts.contentRequired).max(255).regex(plainLine, fieldTexts.controlCharacters)
/** Identity API v3; `region` where the cloud has several, `certificate_authority` where its certificate is not publicly trusted. */
const keystone = {
  auth_url: z
    .url({ protocol: /^https?$/, error: fieldTexts.keystoneUrl })
    .max(1024)
    .regex(/^[^?#\s@]+$/, fieldTexts.keystoneUrl),
  region: keystoneName.optional(),
  interface: z.enum(['public', 'internal', 'admin']).default('public'),
  certificate_authority: pem.optional(),
}

const firstFamily = [
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
    project: z
      .string()
      .regex(/^[A-Za-z0-9._-]{1,63}$/, fieldTexts.lxdProject)
      .optional(),
  }),
  /** The built-in sandbox, marked 沙箱 wherever it shows. */
  z.object({ type: z.literal('sandbox') }),
] as const
/** Any OpenStack by its Keystone, in the name of a user: one with the role `admin`, so that projects can be made for organisations. */
const byPassword = z.object({
  type: z.literal('openstack-password'),
  ...keystone,
  username: keystoneName,
  password: secret,
  user_domain: keystoneName.default('Default'),
  project: keystoneName,
  project_domain: keystoneName.default('Default'),
})
/** The same by an application credential. It is for the one project that it was made in: organisations get no projects of their own. */
const byCredential = z.object({ type: z.literal('openstack-credential'), ...keystone, credential_id: keystoneName, credential_secret: secret })

/** How to reach the engine. Secrets go in, never out. */
export const cloudConnection = z.discriminatedUnion('type', [...firstFamily, byPassword, byCredential])
export type CloudConnection = z.output<typeof cloudConnection>

/** Of a cloud that is registered: secrets that are left out are those that it has, where they go to the same Keystone for the same name. */
export const cloudConnectionChange = z.discriminatedUnion('type', [
  ...firstFamily,
  byPassword.partial({ password: true }),
  byCredential.partial({ credential_secret: true }),
])
export type CloudConnectionChange = z.output<typeof cloudConnectionChange>

export const connectionTypes = [
  'lxd-socket',
  'lxd-https',
  'sandbox',
  'openstack-password',
  'openstack-credential',
] as const satisfies readonly CloudConnection['type'][]
/** By which connections a product is reached. */
export const connectionsOf = (product: CloudProduct): readonly CloudConnection['type'][] =>
  connectionTypes.filter((type) => isOpenStack({ type }) === (product !== 'nextstack'))

/** Whether a connection leads to a cloud of the second family. */
export const isOpenStack = <T extends { readonly type: CloudConnection['type'] }>(connection: T): connection is Extract<T, { type: `openstack-${string}` }> =>
  connection.type.startsWith('openstack-')

/** What may be promised, what is, and what the hosts have: of processors more may be promised than there is. */
const amount = z.object({ total: z.number(), used: z.number(), physical: z.number() })
const capacity = z.object({
  cpu_cores: amount,
  memory_bytes: amount,
  disk_bytes: amount,
  nodes: z.int(),
  /** As the engine counts them; null where it does not. */
  running_instances: z.int().nullable(),
})
export type CloudCapacity = z.output<typeof capacity>

export const openStackServices = ['identity', 'compute', 'placement', 'image', 'network', 'volume'] as const
/** Without these a cloud is of no use, and is not registered. */
export const requiredServices = ['identity', 'compute', 'image', 'network'] as const satisfies readonly (typeof openStackServices)[number][]

/** How one service of an OpenStack answered, asked by itself. */
export const cloudService = z.object({
  service: z.enum(openStackServices),
  required: z.boolean(),
  /** `missing`: the catalogue has none for the region and interface. */
  state: z.enum(['works', 'missing', 'failed']),
  /** Newest version of its API that it offers. */
  version: z.string().nullable(),
  address: z.string().nullable(),
  /** For all that it was asked. */
  took_ms: z.int(),
  problem: z
    .object({
      /** What kind of failure it is, in Chinese. */
      message: z.string(),
      /** In the service's own words. */
      words: z.string(),
      request_id: z.string().nullable(),
    })
    .nullable(),
})
export type CloudServiceState = z.output<typeof cloudService>

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
  capacity: capacity.nullable(),
  instance_count: z.int(),
  /** What went wrong the last time, for administrators. */
  health_message: z.string().nullable(),
  checked_at: moment.nullable(),
  created_at: moment,
})
export type Cloud = z.output<typeof cloud>

/** How an OpenStack is reached: all but the secrets, which parsing leaves out. */
export const openStackSettings = z.discriminatedUnion('type', [byPassword.omit({ password: true }), byCredential.omit({ credential_secret: true })])
export type OpenStackSettings = z.output<typeof openStackSettings>

export const cloudDetail = cloud.extend({
  /** Of an OpenStack, when it was last asked; none of other clouds. */
  services: z.array(cloudService),
  /** For the form that changes it. */
  settings: openStackSettings.nullable(),
})
export type CloudDetail = z.output<typeof cloudDetail>

export const capacityRanges = ['day', 'week', 'month'] as const
export type CapacityRange = (typeof capacityRanges)[number]
/** How long each is, and how far apart its points are. Samples are taken every five minutes. */
export const capacitySteps = {
  day: { lengthMs: 24 * 3_600_000, stepMs: 300_000 },
  week: { lengthMs: 7 * 24 * 3_600_000, stepMs: 3_600_000 },
  month: { lengthMs: 30 * 24 * 3_600_000, stepMs: 4 * 3_600_000 },
} as const satisfies Record<CapacityRange, { lengthMs: number; stepMs: number }>

const both = z.object({ total: z.number(), used: z.number() })
const capacitySample = z.object({ at: moment, cpu_cores: both, memory_bytes: both, disk_bytes: both, nodes: z.int(), instances: z.int() })
export type CapacitySample = z.output<typeof capacitySample>

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
  get: defineCall({
    id: 'cmp.cloud.get',
    method: 'GET',
    path: '/api/cmp/v1/clouds/{id}',
    summary: 'One cloud, with how each of its services answers and how it is reached, without the secrets',
    access: admins,
    params: byId,
    response: cloudDetail,
  }),
  capacity: defineCall({
    id: 'cmp.cloud.capacity',
    method: 'GET',
    path: '/api/cmp/v1/clouds/{id}/capacity',
    summary: 'How full a cloud was, oldest first: of each step the last sample. While it does not answer there are none',
    access: admins,
    params: byId,
    query: z.object({ range: z.enum(capacityRanges).default('day') }),
    response: z.object({ items: z.array(capacitySample) }),
  }),
  create: defineCall({
    id: 'cmp.cloud.create',
    method: 'POST',
    path: '/api/cmp/v1/clouds',
    summary: 'Register a cloud; it has to answer first. 8805/8809 where the licence does not cover it',
    access: admins,
    perMinute: 60,
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
    perMinute: 60,
    params: byId,
    body: settings.extend({ connection: cloudConnectionChange.optional() }),
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
    summary: 'Try a connection without keeping it: what answers, and what it can run. Of an OpenStack that lets us in each service by itself',
    access: admins,
    perMinute: 60,
    audit: false,
    body: z.object({
      product: z.enum(cloudProducts),
      connection: cloudConnectionChange,
      /** The registered one whose secrets are meant where they are left out. */
      cloud_id: z.uuid().optional(),
    }),
    response: z.object({
      engine: z.string(),
      version: z.string().nullable(),
      host_name: z.string(),
      /** Null where an OpenStack does not tell it. */
      capacity: capacity.nullable(),
      instance_types: cloudBasic.shape.instance_types,
      /** Of an OpenStack; none of other clouds. */
      services: z.array(cloudService),
      /** Who we are in an OpenStack, and whether that is enough for projects to be made. */
      access: z.object({ administrator: z.boolean(), roles: z.array(z.string()), regions: z.array(z.string()) }).nullable(),
    }),
  }),
} as const
