import { z } from 'zod'
import { agentVersion, publicKeyText } from '../agent/tunnel.ts'
import { nodeFacts, nodeMetrics } from '../agent/node.ts'
import { can } from '../can.ts'
import { byId, defineCall, empty, flag, listOf, listQuery, moment, type Tags } from '../define.ts'
import { pulls } from '../ims/rights.ts'
import { sizeBetween } from '../resource.ts'
import { admins, tenants } from '../roles.ts'
import { fieldTexts } from '../texts.ts'
import { description, keyword, name, plainLine } from '../validation.ts'

/**
 * `pending` is registered, and its agent has not come yet. `unconfirmed` has come and waits for
 * somebody to say that it is the right one. `unbound` was sent away: its agent is refused.
 */
export const edgeStatuses = ['pending', 'unconfirmed', 'online', 'offline', 'unbound'] as const
export type EdgeStatus = (typeof edgeStatuses)[number]

/** What may be done to a node in which status. */
export const edgeCan = can<EdgeStatus>()({
  /** A new token, command and QR code. */
  enrol: ['pending', 'unbound'],
  confirm: ['unconfirmed'],
  edit: ['pending', 'unconfirmed', 'online', 'offline', 'unbound'],
  activate: ['online', 'offline'],
  upgrade: ['online'],
  unbind: ['unconfirmed', 'online', 'offline'],
  /** Anything that is asked of the node itself. */
  use: ['online'],
  delete: ['pending', 'unconfirmed', 'offline', 'unbound'],
})

/** Whether a node takes new containers; specification section 4. */
export const activations = ['active', 'deactive'] as const

/** Why no Docker answers: its socket is not there, nobody listens at it, or the agent may not use it. */
export const dockerTroubles = ['missing', 'stopped', 'denied'] as const
export type DockerTrouble = (typeof dockerTroubles)[number]

/** Specification section 4: node upgrade status. */
export const upgradeStatuses = { buildDone: 1, upgrading: 2, autoConfirm: 3, manualConfirm: 4, rollingBack: 5, failed: 20, complete: 40 } as const

const part = /^[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$/
export const labelKey = z.string().trim().max(63).regex(part, fieldTexts.label)
const labelValue = z
  .string()
  .trim()
  .max(63)
  .regex(/^([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?$/, fieldTexts.label)
export const label = z.object({ key: labelKey, value: labelValue })
export type Label = z.output<typeof label>
/** `NoSchedule` keeps new containers away that do not tolerate it; `PreferNoSchedule` where others can have them. */
export const taint = label.extend({ effect: z.enum(['NoSchedule', 'PreferNoSchedule']) })
export type Taint = z.output<typeof taint>
export const labels = z
  .array(label)
  .max(32)
  .refine((list) => new Set(list.map(({ key }) => key)).size === list.length, fieldTexts.labelTwice)
/** Labels as policies read them. */
export const tagsOfLabels = (list: readonly Label[]): Tags => Object.fromEntries(list.map(({ key, value }) => [key, value]))
export const taints = z
  .array(taint)
  .max(16)
  .refine((list) => new Set(list.map(({ key, effect }) => `${key} ${effect}`)).size === list.length, fieldTexts.labelTwice)

const upgrade = z.object({
  status: z.union([z.literal(1), z.literal(2), z.literal(3), z.literal(4), z.literal(5), z.literal(20), z.literal(40)]),
  from: agentVersion,
  to: agentVersion,
  /** Chinese text of what went wrong. */
  error: z.string().nullable(),
  changed_at: moment,
})

/** To whom the platform gives a node of its own: nobody, everybody, or some organisations. */
export const sharedWith = ['none', 'all', 'named'] as const
/** What one organisation may have at once of a node that it shares with others: such a container says how much it takes at most. */
export const shareLimits = z.object({
  containers: z.int().min(1).max(1_000),
  cpu_cores: z.number().min(0.1).max(1_024),
  memory_bytes: sizeBetween(6 * 2 ** 20, 2 ** 44),
})
export type ShareLimits = z.output<typeof shareLimits>

/** A machine at the edge with our agent on it. */
export const edge = z.object({
  id: z.uuid(),
  name: z.string(),
  description: z.string(),
  bp_id: z.uuid().nullable(),
  bp_name: z.string().nullable(),
  /** With which organisations, only who runs the platform is told. */
  shared_with: z.enum(sharedWith),
  shared_bp_ids: z.array(z.uuid()),
  share_limits: shareLimits.nullable(),
  status: z.enum(edgeStatuses),
  activation: z.enum(activations),
  site: z.object({ id: z.uuid(), name: z.string() }).nullable(),
  region: z.object({ id: z.uuid(), name: z.string() }).nullable(),
  labels: z.array(label),
  taints: z.array(taint),
  /** Null until its agent has come. */
  host_name: z.string().nullable(),
  addresses: z.array(z.string()),
  architecture: z.string().nullable(),
  os: z.string().nullable(),
  cpu_cores: z.int().nullable(),
  memory_bytes: z.number().nullable(),
  gpus: z.array(z.object({ model: z.string(), count: z.int() })),
  /** Null where no Docker Engine answers there. */
  docker_version: z.string().nullable(),
  /** Of a node that is online, which then can run nothing: why its Docker does not answer; null where it does. */
  docker_trouble: z.enum(dockerTroubles).nullable(),
  agent_version: z.string().nullable(),
  /** How busy it was when it was asked last, as shares of the whole; null where it is not connected to this server. Of GPUs their mean. */
  load: z.object({ cpu: z.number().nullable(), memory: z.number(), gpu: z.number().nullable() }).nullable(),
  upgrade: upgrade.nullable(),
  container_count: z.int(),
  created_by: z.string(),
  created_at: moment,
  /** When its agent was heard last; now, for those that are online. */
  seen_at: moment.nullable(),
})
export type Edge = z.output<typeof edge>

const edgeDetail = edge.extend({ facts: nodeFacts.nullable(), metrics: nodeMetrics.nullable(), fingerprint: z.string().nullable() })
export type EdgeDetail = z.output<typeof edgeDetail>

/** How a node is brought in: told to whoever registers it, good once and for a day. */
export const enrolment = z.object({
  token: z.string(),
  /** To be pasted into a shell of the node. */
  command: z.string(),
  /** What the QR code says. */
  url: z.string(),
  expires_at: moment,
})
export type Enrolment = z.output<typeof enrolment>

const base = '/api/ecrm/v1/edges'
/** As `docker pull` takes it, or an id of one. */
const imageName = z
  .string()
  .trim()
  .min(1, fieldTexts.imageName)
  .max(255)
  .regex(/^[a-z0-9][A-Za-z0-9._\-/:@]*$/, fieldTexts.imageName)
const place = { name, description: description.default(''), site_id: z.uuid().nullable().default(null) } as const
const one = { access: tenants, params: byId, response: edge } as const

export const edges = {
  list: defineCall({
    id: 'ecrm.edge.list',
    method: 'GET',
    path: base,
    summary: 'Nodes',
    access: tenants,
    query: listQuery(['name', 'status', 'created_at', 'seen_at'], {
      keyword,
      status: z.enum(edgeStatuses).optional(),
      activation: z.enum(activations).optional(),
      site_id: z.uuid().optional(),
      region_id: z.uuid().optional(),
      bp_id: z.uuid().optional(),
      /** Also those of the platform that are shared with whoever asks: where their containers may run. */
      usable: flag.optional(),
      gpu: flag.optional(),
      /** `key=value`, or a key alone; several by commas, all of which hold. */
      labels: z.string().max(1_024).regex(plainLine, fieldTexts.controlCharacters).optional(),
    }),
    response: listOf(edge),
  }),
  get: defineCall({
    ...one,
    id: 'ecrm.edge.get',
    method: 'GET',
    path: `${base}/{id}`,
    summary: 'One node, with what it is and how it is',
    response: edgeDetail,
  }),
  create: defineCall({
    id: 'ecrm.edge.create',
    method: 'POST',
    path: base,
    summary: 'Register a node; its agent enrols with the token',
    access: tenants,
    status: 201,
    body: z.object({
      ...place,
      labels: labels.default([]),
      taints: taints.default([]),
      /** Whether somebody has to look at it before it is let in. */
      confirm: z.enum(['auto', 'manual']).default('manual'),
    }),
    response: z.object({ edge, enrolment }),
    requestTags: (body) => tagsOfLabels(body.labels),
  }),
  update: defineCall({
    ...one,
    id: 'ecrm.edge.update',
    method: 'PUT',
    path: `${base}/{id}`,
    summary: 'Change name, description and site',
    body: z.object(place),
  }),
  mark: defineCall({
    ...one,
    id: 'ecrm.edge.mark',
    method: 'PATCH',
    path: `${base}/{id}`,
    summary: 'Change labels and taints',
    body: z.object({ labels: labels.optional(), taints: taints.optional() }),
    requestTags: (body) => body.labels && tagsOfLabels(body.labels),
  }),
  share: defineCall({
    ...one,
    id: 'ecrm.edge.share',
    method: 'PUT',
    path: `${base}/{id}/sharing`,
    summary: 'Whose a node is, and with whom the platform shares one of its own, within which limits',
    access: admins,
    body: z
      .object({
        bp_id: z.uuid().nullable(),
        shared_with: z.enum(sharedWith),
        shared_bp_ids: z.array(z.uuid()).max(200).default([]),
        share_limits: shareLimits.nullable(),
      })
      .refine((body) => body.shared_with === 'none' || body.bp_id === null, { path: ['shared_with'], message: fieldTexts.shareOwn })
      .refine((body) => body.shared_with !== 'named' || body.shared_bp_ids.length > 0, { path: ['shared_bp_ids'], message: fieldTexts.shareNobody })
      .refine((body) => body.shared_with === 'none' || body.share_limits !== null, { path: ['share_limits'], message: fieldTexts.shareLimits }),
  }),
  delete: defineCall({
    id: 'ecrm.edge.delete',
    method: 'DELETE',
    path: `${base}/{id}`,
    summary: 'Forget a node; what runs there goes on',
    access: tenants,
    params: byId,
    response: empty,
  }),
  activate: defineCall({
    ...one,
    id: 'ecrm.edge.activate',
    method: 'POST',
    path: `${base}/{id}`,
    summary: 'Take new containers, or take none',
    query: z.object({ action: z.enum(activations) }),
  }),
  confirm: defineCall({
    ...one,
    id: 'ecrm.edge.confirm',
    method: 'POST',
    path: `${base}/{id}/confirm`,
    summary: 'Let a node in that has come, or confirm its upgrade',
    body: z.object({ what: z.enum(['enrolment', 'upgrade']).default('enrolment') }),
  }),
  unbind: defineCall({
    id: 'ecrm.edge.unbind',
    method: 'POST',
    path: `${base}/unbinds`,
    summary: 'Send agents away: their keys are forgotten',
    access: tenants,
    body: z.object({ ids: z.array(z.uuid()).min(1).max(100) }),
    subjects: ({ ids }) => ids.map((id) => ({ kind: 'ecrm.edge', id })),
    response: z.object({ items: z.array(edge) }),
  }),
  qrcode: defineCall({
    id: 'ecrm.edge.qrcode',
    method: 'GET',
    path: `${base}/qrcodes/{id}`,
    summary: 'A new token, with command and QR code; the former ends',
    access: tenants,
    audit: true,
    params: byId,
    response: enrolment,
  }),
  metrics: defineCall({
    id: 'ecrm.edge.metrics',
    method: 'GET',
    path: `${base}/{id}/metrics`,
    summary: 'How a node was: up to fifteen minutes each ten seconds, longer by averages of minutes, a day at most',
    access: tenants,
    params: byId,
    query: z.object({ minutes: z.coerce.number().int().min(1).max(1_440).default(15) }),
    response: z.object({ items: z.array(nodeMetrics), interval_seconds: z.int() }),
  }),
} as const

export const edgeUpgrades = {
  versions: defineCall({
    id: 'ecrm.edge.versions',
    method: 'GET',
    path: `${base}/versions`,
    summary: 'Versions of the agent that nodes can have',
    access: tenants,
    response: z.object({ items: z.array(z.object({ version: agentVersion, sha256: z.string(), size_bytes: z.int(), released_at: moment })) }),
  }),
  upgrade: defineCall({
    ...one,
    id: 'ecrm.edge.upgrade',
    method: 'POST',
    path: `${base}/{id}/upgrade`,
    summary: 'Give the agent another version; it goes back by itself where that does not work',
    status: 202,
    body: z.object({ version: agentVersion, confirm: z.enum(['auto', 'manual']).default('auto') }),
  }),
} as const

export const edgeImages = {
  images: defineCall({
    id: 'ecrm.edge.images',
    method: 'GET',
    path: `${base}/{id}/images`,
    summary: 'Container images on a node',
    access: tenants,
    params: byId,
    query: z.object({ keyword }),
    response: z.object({
      items: z.array(z.object({ id: z.string(), tags: z.array(z.string()), size_bytes: z.number(), created_at: moment, used_by: z.array(z.string()) })),
    }),
  }),
  pullImage: defineCall({
    outside: true,
    id: 'ecrm.edge.pullImage',
    also: ({ body }) => pulls(body?.image),
    method: 'POST',
    path: `${base}/{id}/images`,
    summary: 'Pull an image onto a node; progress by layers is in the answer’s events',
    access: tenants,
    status: 202,
    params: byId,
    body: z.object({ image: imageName }),
    response: z.object({ pull_id: z.uuid() }),
  }),
  pull: defineCall({
    id: 'ecrm.edge.pull',
    method: 'GET',
    path: `${base}/{id}/images/pulls/{pull_id}`,
    summary: 'How a pull stands',
    access: tenants,
    params: byId.extend({ pull_id: z.uuid() }),
    response: z.object({
      image: z.string(),
      status: z.enum(['running', 'succeeded', 'failed']),
      error: z.string().nullable(),
      layers: z.array(z.object({ id: z.string(), status: z.string(), current_bytes: z.number(), total_bytes: z.number().nullable() })),
    }),
  }),
  removeImage: defineCall({
    outside: true,
    id: 'ecrm.edge.removeImage',
    method: 'DELETE',
    path: `${base}/{id}/images`,
    summary: 'Remove an image from a node',
    access: tenants,
    params: byId,
    query: z.object({ image: imageName, force: flag.default(false) }),
    response: empty,
  }),
  prune: defineCall({
    outside: true,
    id: 'ecrm.edge.prune',
    method: 'POST',
    path: `${base}/{id}/images/prune`,
    summary: 'Remove the images that nothing uses; `preview` only tells which',
    access: tenants,
    params: byId,
    body: z.object({ preview: z.boolean(), all: z.boolean().default(false) }),
    response: z.object({ items: z.array(z.object({ id: z.string(), tags: z.array(z.string()), size_bytes: z.number() })), freed_bytes: z.number() }),
  }),
} as const

export const gatewayStatuses = ['active', 'deactive', 'rebooting', 'offline'] as const
export const gatewayCan = can<(typeof gatewayStatuses)[number]>()({
  active: ['deactive'],
  deactive: ['active', 'offline'],
  reboot: ['active', 'deactive'],
  delete: ['deactive', 'offline'],
})

/** A node by which the others of its site reach the server, where they cannot themselves. */
export const gateway = z.object({
  id: z.uuid(),
  name: z.string(),
  description: z.string(),
  site: z.object({ id: z.uuid(), name: z.string() }),
  edge: z.object({ id: z.uuid(), name: z.string() }),
  status: z.enum(gatewayStatuses),
  /** Where agents dial it: `address:port`. */
  address: z.string(),
  port: z.int(),
  /** Agents that come by it now. */
  agent_count: z.int(),
  error: z.string().nullable(),
  created_at: moment,
})
export type Gateway = z.output<typeof gateway>

export const gateways = {
  list: defineCall({
    id: 'ecrm.gateway.list',
    method: 'GET',
    path: '/api/ecrm/v1/gws',
    summary: 'Gateways',
    access: admins,
    query: listQuery(['name', 'status', 'created_at'], { keyword, site_id: z.uuid().optional(), status: z.enum(gatewayStatuses).optional() }),
    response: listOf(gateway),
  }),
  create: defineCall({
    id: 'ecrm.gateway.create',
    method: 'POST',
    path: '/api/ecrm/v1/gws',
    summary: 'Make a node the gateway of its site',
    access: admins,
    status: 201,
    body: z.object({
      name,
      description: description.default(''),
      edge_id: z.uuid(),
      address: z.union([z.ipv4(), z.ipv6(), z.hostname()], fieldTexts.gatewayAddress),
      port: z.int().min(1).max(65_535),
    }),
    response: gateway,
  }),
  action: defineCall({
    id: 'ecrm.gateway.action',
    method: 'POST',
    path: '/api/ecrm/v1/gws/{id}',
    summary: 'Let agents through, let none through, or begin anew',
    access: admins,
    params: byId,
    query: z.object({ action: z.enum(['active', 'deactive', 'reboot']) }),
    response: gateway,
  }),
  delete: defineCall({
    id: 'ecrm.gateway.delete',
    method: 'DELETE',
    path: '/api/ecrm/v1/gws/{id}',
    summary: 'The node is a gateway no longer',
    access: admins,
    params: byId,
    response: empty,
  }),
} as const

/** A port of the platform that leads, through the tunnel, to a port of a node. */
export const serviceAgent = z.object({
  id: z.uuid(),
  name: z.string(),
  description: z.string(),
  edge: z.object({ id: z.uuid(), name: z.string() }),
  /** On the node, on its loopback address. */
  target_port: z.int(),
  /** On the server. */
  listen_port: z.int(),
  status: z.enum(['listening', 'offline', 'error']),
  error: z.string().nullable(),
  connection_count: z.int(),
  created_at: moment,
})
export type ServiceAgent = z.output<typeof serviceAgent>

export const serviceAgents = {
  list: defineCall({
    id: 'ecrm.serviceAgent.list',
    method: 'GET',
    path: '/api/ecrm/v1/service-agents',
    summary: 'Ports of nodes that are reachable through the platform',
    access: admins,
    query: listQuery(['name', 'created_at'], { keyword, edge_id: z.uuid().optional() }),
    response: listOf(serviceAgent),
  }),
  create: defineCall({
    outside: true,
    id: 'ecrm.serviceAgent.create',
    method: 'POST',
    path: '/api/ecrm/v1/service-agents',
    summary: 'Lead a port of the platform to a port of a node',
    access: admins,
    status: 201,
    body: z.object({
      name,
      description: description.default(''),
      edge_id: z.uuid(),
      target_port: z.int().min(1).max(65_535),
      listen_port: z.int().min(1_024).max(65_535),
    }),
    response: serviceAgent,
  }),
  delete: defineCall({
    id: 'ecrm.serviceAgent.delete',
    method: 'DELETE',
    path: '/api/ecrm/v1/service-agents/{id}',
    summary: 'Close it; what goes through it is cut',
    access: admins,
    params: byId,
    response: empty,
  }),
} as const

/** For agents, which have no account: the token is what lets them in. */
export const enrolments = {
  enrol: defineCall({
    id: 'ecrm.agent.enrol',
    method: 'POST',
    path: '/api/ecrm/v1/agents/enrol',
    summary: 'An agent brings its token and its key, and is told who it is. The same again answers the same',
    access: 'public',
    status: 201,
    perMinute: 30,
    body: z.object({ token: z.string().max(128).regex(plainLine, fieldTexts.controlCharacters), public_key: publicKeyText, version: agentVersion }),
    response: z.object({ edge_id: z.uuid(), server_public_key: z.string() }),
  }),
} as const
