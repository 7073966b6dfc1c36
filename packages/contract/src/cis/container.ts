import { z } from 'zod'
import { directoryEntry, machinePath } from '../directory.ts'
import { can } from '../can.ts'
import { actsOn, byId, defineCall, empty, listOf, listQuery, moment } from '../define.ts'
import { label, labelKey } from '../ecrm/edge.ts'
import { pulls } from '../ims/rights.ts'
import { operation } from '../operation.ts'
import { sizeBetween } from '../resource.ts'
import { tenants } from '../roles.ts'
import { fieldTexts } from '../texts.ts'
import { description, keyword, name, plainLine } from '../validation.ts'
import { hostPath } from './binds.ts'

/** Specification section 4: what instance status codes mean, from 0 on. 6 to 9 are the same of what a stack made; 10 to 13 show as a dash. */
const instanceCodes = [
  ...(['creating', 'running', 'creationFailed', 'deleting', 'deleted', 'deletionFailed'] as const),
  ...(['creating', 'creationFailed', 'deleting', 'deletionFailed'] as const),
  ...([null, null, null, null] as const),
] as const
/** Null shows as a dash. */
export const instanceCodeMeaning = (code: number): NonNullable<(typeof instanceCodes)[number]> | 'unknown' | null => {
  const meaning = instanceCodes[code]
  return meaning === undefined ? 'unknown' : meaning
}

/** How a container is. `lost`: Docker has it no longer; `unknown`: its node is offline. */
export const containerStatuses = ['creating', 'running', 'exited', 'paused', 'restarting', 'dead', 'deleting', 'error', 'lost', 'unknown'] as const
export type ContainerStatus = (typeof containerStatuses)[number]
export const containerTransitional: readonly ContainerStatus[] = ['creating', 'deleting']

export const containerCan = can<ContainerStatus>()({
  start: ['exited'],
  stop: ['running', 'restarting', 'paused'],
  restart: ['running', 'exited', 'restarting'],
  kill: ['running', 'restarting', 'paused'],
  rename: ['running', 'exited', 'restarting', 'paused'],
  update: ['running', 'exited', 'restarting', 'paused', 'error'],
  rebuild: ['running', 'exited', 'restarting', 'paused', 'dead', 'error', 'lost'],
  terminal: ['running'],
  files: ['running', 'exited', 'paused'],
  logs: ['running', 'exited', 'restarting', 'paused', 'dead'],
  delete: ['running', 'exited', 'restarting', 'paused', 'dead', 'error', 'lost'],
})

export const imageName = z
  .string()
  .trim()
  .min(1, fieldTexts.imageName)
  .max(255)
  .regex(/^[a-z0-9][A-Za-z0-9._\-/:@]*$/, fieldTexts.imageName)
const argument = z
  .string()
  .max(4_096)
  .regex(/^[^\0]*$/)
const containerPath = z
  .string()
  .trim()
  .max(1_024)
  .regex(/^(\/[^/\0]+)+\/?$/, fieldTexts.containerPath)
  .refine((path) => !path.split('/').includes('..'), fieldTexts.containerPath)

/** Not the system's own: a tenant's container gets a directory below the data directory of its organisation. */
export const mount = z.discriminatedUnion('type', [
  /** A named volume of Docker, made where it is not there. */
  z.object({
    type: z.literal('volume'),
    name: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$/, fieldTexts.containerName),
    path: containerPath,
    read_only: z.boolean().default(false),
  }),
  /** A directory of the node; who may mount which, `bindRefusal` says. */
  z.object({ type: z.literal('bind'), host_path: hostPath, path: containerPath, read_only: z.boolean().default(false) }),
  /** A config of ours as a file. */
  z.object({ type: z.literal('config'), config_id: z.uuid(), path: containerPath }),
])

/** What a container is made from; the same on each node that it is deployed to. */
export const containerSpec = z.object({
  image: imageName,
  /** Left out: the image's own. */
  command: z.array(argument).max(256).default([]),
  entrypoint: z.array(argument).max(64).default([]),
  env: z
    .array(
      z.object({
        name: z
          .string()
          .max(255)
          .min(1, fieldTexts.envName)
          // As Docker takes it, such as `discovery.type`.
          .regex(/^[^=\p{Cc}]*$/u, fieldTexts.envName),
        value: z
          .string()
          .max(32_768)
          .regex(/^[^\0]*$/),
      }),
    )
    .max(200)
    .refine((list) => new Set(list.map(({ name }) => name)).size === list.length, fieldTexts.envTwice)
    .default([]),
  working_dir: containerPath.nullable().default(null),
  ports: z
    .array(
      z.object({
        container_port: z.int().min(1).max(65_535),
        host_port: z.int().min(1).max(65_535),
        protocol: z.enum(['tcp', 'udp'], fieldTexts.portProtocol).default('tcp'),
      }),
    )
    .max(100)
    .refine((list) => new Set(list.map(({ host_port, protocol }) => `${host_port}/${protocol}`)).size === list.length, fieldTexts.portTwice)
    .default([]),
  mounts: z.array(mount).max(50).default([]),
  restart: z.enum(['no', 'always', 'unless-stopped', 'on-failure']).default('unless-stopped'),
  /** Processors, in hundredths; null without a limit. */
  cpu_limit: z.number().min(0.01).max(1_024).nullable().default(null),
  memory_limit_bytes: sizeBetween(6 * 2 ** 20, 2 ** 44)
    .nullable()
    .default(null),
  gpus: z.int().min(0).max(64).default(0),
  health: z
    .object({
      command: z
        .string()
        .trim()
        .min(1, fieldTexts.contentRequired)
        .max(1_024)
        .regex(/^[^\0]*$/),
      interval_seconds: z.int().min(1).max(3_600).default(30),
      timeout_seconds: z.int().min(1).max(600).default(10),
      retries: z.int().min(1).max(20).default(3),
    })
    .nullable()
    .default(null),
})
export type ContainerSpec = z.output<typeof containerSpec>

/** Which nodes: by name, or all that have these labels; those with taints only where they are tolerated. */
export const placement = z
  .object({
    edge_ids: z.array(z.uuid()).max(200).default([]),
    labels: z.array(label).max(16).default([]),
    tolerations: z
      .array(z.object({ key: labelKey }))
      .max(16)
      .default([]),
    count: z.int().min(1).max(200).nullable().default(null),
  })
  .refine((value) => value.edge_ids.length > 0 || value.labels.length > 0, { path: ['edge_ids'], message: fieldTexts.chooseNodes })
export type Placement = z.output<typeof placement>

const node = z.object({ id: z.uuid(), name: z.string(), online: z.boolean() })

export const container = z.object({
  id: z.uuid(),
  name: z.string(),
  bp_id: z.uuid().nullable(),
  deployment: z.object({ id: z.uuid(), name: z.string() }).nullable(),
  /** Of a stack, where one made it. */
  service: z.object({ id: z.uuid(), name: z.string() }).nullable(),
  edge: node,
  /** Docker's own; null until it is made. */
  container_id: z.string().nullable(),
  status: z.enum(containerStatuses),
  status_code: z.int(),
  health: z.enum(['starting', 'healthy', 'unhealthy']).nullable(),
  exit_code: z.int().nullable(),
  image: z.string(),
  /** `address`: of the node, where it is not all that it has. */
  ports: z.array(z.object({ container_port: z.int(), host_port: z.int(), protocol: z.string(), address: z.string().optional() })),
  /** Chinese text of what went wrong the last time. */
  error: z.string().nullable(),
  restart_count: z.int(),
  started_at: moment.nullable(),
  created_by: z.string(),
  created_at: moment,
})
export type Container = z.output<typeof container>

const base = '/api/cis/v1/docker/instances'
const one = { access: tenants, params: byId } as const

const signals = ['SIGKILL', 'SIGTERM', 'SIGHUP', 'SIGINT', 'SIGUSR1', 'SIGUSR2'] as const
/** What is asked of a container that is there. */
export const containerAction = z.discriminatedUnion('action', [
  z.object({ action: z.literal('start') }),
  z.object({ action: z.literal('stop'), timeout_seconds: z.int().min(0).max(600).default(10) }),
  z.object({ action: z.literal('restart'), timeout_seconds: z.int().min(0).max(600).default(10) }),
  z.object({ action: z.literal('kill'), signal: z.enum(signals).default('SIGKILL') }),
  z.object({ action: z.literal('rename'), name }),
  z.object({ action: z.literal('update'), spec: containerSpec }),
  z.object({ action: z.literal('rebuild') }),
])
export type ContainerAction = z.output<typeof containerAction>

/** Live figures of a container, as `docker stats` has them. Rates are for whoever asks twice. */
export const containerStats = z.object({
  at: moment,
  /** Of one processor: 2 is two of them whole. */
  cpu: z.number(),
  memory_bytes: z.number(),
  memory_limit_bytes: z.number(),
  received_bytes: z.number(),
  sent_bytes: z.number(),
  read_bytes: z.number(),
  written_bytes: z.number(),
  pids: z.int(),
})

export const containers = {
  list: defineCall({
    id: 'cis.container.list',
    method: 'GET',
    path: base,
    summary: 'Containers',
    access: tenants,
    query: listQuery(['name', 'status', 'created_at'], {
      keyword,
      edge_id: z.uuid().optional(),
      deployment_id: z.uuid().optional(),
      status: z.enum(containerStatuses).optional(),
    }),
    response: listOf(container),
  }),
  get: defineCall({
    ...one,
    id: 'cis.container.get',
    method: 'GET',
    path: `${base}/{id}`,
    summary: 'One container',
    response: container.extend({ spec: containerSpec.nullable() }),
  }),
  /** A deployment: one container on each node that is chosen. */
  deploy: defineCall({
    id: 'cis.container.deploy',
    method: 'POST',
    path: base,
    summary: 'Run a container on one or many nodes',
    also: ({ body }) => [
      ...(body?.placement.edge_ids ?? []).flatMap((id) => actsOn('cis.container.deploy', { kind: 'ecrm.edge', id })),
      ...pulls(body?.spec.image),
    ],
    access: tenants,
    status: 202,
    body: z.object({ name, description: description.default(''), spec: containerSpec, placement }),
    response: z.object({ deployment_id: z.uuid(), items: z.array(container) }),
  }),
  /** Ports that are taken and nodes that do not fit, before anything is made. */
  check: defineCall({
    id: 'cis.container.check',
    method: 'POST',
    path: '/api/cis/v1/docker/instances/checks',
    summary: 'Where a deployment would go, and what is in its way',
    access: tenants,
    audit: false,
    body: z.object({
      spec: containerSpec.pick({ ports: true, gpus: true, cpu_limit: true, memory_limit_bytes: true }).extend({ image: imageName.optional() }),
      placement,
    }),
    /** Notes are no hindrance, such as that an image has to be pulled first. */
    response: z.object({ nodes: z.array(z.object({ id: z.uuid(), name: z.string(), problems: z.array(z.string()), notes: z.array(z.string()) })) }),
  }),
  action: defineCall({
    ...one,
    id: 'cis.container.action',
    method: 'POST',
    path: `${base}/{id}`,
    summary: 'Start, stop, restart, kill, rename, or make anew, with another specification or as it was',
    also: ({ body }) => (body?.action === 'update' ? pulls(body.spec.image) : []),
    status: 202,
    // As the specification writes it, by parameters, or by a body: which then says no action.
    query: z.object({
      action: z.enum(['start', 'stop', 'restart', 'kill', 'rename', 'rebuild']).optional(),
      timeout_seconds: z.coerce.number().int().min(0).max(600).optional(),
      signal: z.enum(signals).optional(),
      name: name.optional(),
    }),
    body: z.discriminatedUnion('action', [...containerAction.options, z.object({ action: z.undefined().optional() })]),
    response: container,
  }),
  delete: defineCall({
    ...one,
    id: 'cis.container.delete',
    method: 'DELETE',
    path: `${base}/{id}`,
    summary: 'Remove a container, running or not; named volumes stay',
    status: 202,
    response: container,
  }),
  operations: defineCall({
    ...one,
    id: 'cis.container.operations',
    method: 'GET',
    path: `${base}/{id}/operations`,
    summary: 'What was done to a container, newest first, and why it failed',
    query: listQuery(['created_at'], {}),
    response: listOf(operation),
  }),
  stats: defineCall({
    ...one,
    id: 'cis.container.stats',
    method: 'GET',
    path: `${base}/{id}/stats`,
    summary: 'What a container uses, now',
    response: containerStats,
  }),
  /** Text as it comes; `follow` goes on until either side ends it. */
  logs: defineCall({
    ...one,
    id: 'cis.container.logs',
    method: 'GET',
    path: `${base}/{id}/logs`,
    summary: 'The end of what a container printed',
    query: z.object({
      tail: z.coerce.number().int().min(1).max(10_000).default(500),
      since: moment.optional(),
      keyword: z.string().max(255).regex(plainLine).optional(),
      timestamps: z
        .enum(['true', 'false'])
        .default('true')
        .transform((text) => text === 'true'),
    }),
    response: z.object({ items: z.array(z.object({ at: moment.nullable(), stream: z.enum(['stdout', 'stderr']), text: z.string() })) }),
  }),
  /** A WebSocket that follows the log, or a link that downloads it whole. */
  logLink: defineCall({
    ...one,
    id: 'cis.container.logLink',
    method: 'POST',
    path: `${base}/{id}/logs/links`,
    summary: 'A link that is good once, for a minute: follow by WebSocket, or the whole log as a file',
    audit: false,
    body: z.object({ how: z.enum(['follow', 'download']) }),
    response: z.object({ path: z.string(), expires_at: moment }),
  }),
  terminal: defineCall({
    ...one,
    id: 'cis.container.terminal',
    method: 'POST',
    path: `${base}/{id}/terminals`,
    summary: 'Open a terminal in a container; one at a time (409)',
    status: 201,
    body: z.object({
      command: z.array(argument).min(1).max(16).default(['/bin/sh']),
      cols: z.int().min(1).max(1_000).default(80),
      rows: z.int().min(1).max(1_000).default(24),
      /** To come back to: it outlives its connection for a minute. Where another command is asked for, that takes its place. */
      terminal_id: z.uuid().optional(),
    }),
    response: z.object({ terminal_id: z.uuid(), path: z.string(), expires_at: moment }),
  }),
  files: defineCall({
    ...one,
    id: 'cis.container.files',
    method: 'GET',
    path: `${base}/{id}/files`,
    summary: 'What is in a directory of a container',
    query: z.object({ path: machinePath }),
    response: z.object({ items: z.array(directoryEntry) }),
  }),
  fileLink: defineCall({
    ...one,
    id: 'cis.container.fileLink',
    method: 'POST',
    path: `${base}/{id}/files/links`,
    summary: 'A link that is good once, for a minute: `PUT` the bytes of the file `path`, or `GET` it (directories as tar)',
    body: z.object({
      how: z.enum(['upload', 'download']),
      path: machinePath,
    }),
    response: z.object({ path: z.string(), expires_at: moment }),
  }),
} as const

export const deployment = z.object({
  id: z.uuid(),
  name: z.string(),
  description: z.string(),
  bp_id: z.uuid().nullable(),
  image: z.string(),
  spec: containerSpec,
  placement: z.object({ edge_ids: z.array(z.uuid()), labels: z.array(label) }),
  instance_count: z.int(),
  running_count: z.int(),
  /** `lost` and `unknown` as of containers, where all that do not run are so. */
  status: z.enum(['deploying', 'running', 'degraded', 'stopped', 'deleting', 'error', 'lost', 'unknown']),
  /** Containers that Docker has no longer. */
  lost_count: z.int(),
  error: z.string().nullable(),
  created_by: z.string(),
  created_at: moment,
})
export type Deployment = z.output<typeof deployment>

export const deployments = {
  list: defineCall({
    id: 'cis.deployment.list',
    method: 'GET',
    path: '/api/cis/v1/docker/deployments',
    summary: 'Deployments',
    access: tenants,
    query: listQuery(['name', 'created_at'], { keyword, edge_id: z.uuid().optional() }),
    response: listOf(deployment),
  }),
  instances: defineCall({
    id: 'cis.deployment.instances',
    method: 'GET',
    path: '/api/cis/v1/docker/deployments/{id}/instances',
    summary: 'Containers of a deployment',
    access: tenants,
    params: byId,
    query: listQuery(['name', 'status', 'created_at'], { keyword, status: z.enum(containerStatuses).optional() }),
    response: listOf(container),
  }),
  delete: defineCall({
    id: 'cis.deployment.delete',
    method: 'DELETE',
    path: '/api/cis/v1/docker/deployments/{id}',
    summary: 'Remove a deployment with its containers',
    also: () => [{ action: 'cis.container.delete' }],
    access: tenants,
    params: byId,
    status: 202,
    response: deployment,
  }),
} as const

/** A file that is mounted into containers; a change reaches those that have it. */
export const config = z.object({
  id: z.uuid(),
  name: z.string(),
  description: z.string(),
  bp_id: z.uuid().nullable(),
  content: z.string(),
  /** Counts changes. */
  revision: z.int(),
  used_by: z.int(),
  created_by: z.string(),
  created_at: moment,
  updated_at: moment,
})
export type Config = z.output<typeof config>

export const configs = {
  list: defineCall({
    id: 'cis.config.list',
    method: 'GET',
    path: '/api/cis/v1/docker/cfgs',
    summary: 'Configs, with what they hold',
    access: tenants,
    query: listQuery(['name', 'updated_at'], { keyword, id: z.uuid().optional() }),
    response: listOf(config),
  }),
  /** Without an id a new one; with one, it is changed, and containers that have it get the new text. */
  put: defineCall({
    id: 'cis.config.put',
    method: 'PUT',
    path: '/api/cis/v1/docker/cfgs',
    summary: 'Make or change a config; `restart` restarts the containers that have it',
    also: ({ body }) => (body?.restart === true ? [{ action: 'cis.container.action' }] : []),
    access: tenants,
    perMinute: 120,
    body: z.object({
      id: z.uuid().optional(),
      revision: z.int().optional(),
      name,
      description: description.default(''),
      content: z
        .string()
        .max(1_000_000)
        .regex(/^[^\0]*$/),
      restart: z.boolean().default(false),
    }),
    response: config,
  }),
  delete: defineCall({
    id: 'cis.config.delete',
    method: 'DELETE',
    path: '/api/cis/v1/docker/cfgs/{id}',
    summary: 'Delete a config that no container has',
    access: tenants,
    params: byId,
    response: empty,
  }),
} as const
