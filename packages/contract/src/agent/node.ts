import { z } from 'zod'
import { agentVersion } from './tunnel.ts'

/**
 * What the agent answers through the tunnel: an HTTP server of these paths. Sizes in bytes, times
 * in ISO 8601, shares from 0 to 1.
 */
export const agentPaths = {
  facts: '/v1/facts',
  metrics: '/v1/metrics',
  /** The Docker Engine API of the node, as it is: `/docker/containers/json`. */
  docker: '/docker',
  /** `POST`: attaches to a started `exec` of Docker; the stream is the terminal's, both ways. */
  exec: '/v1/exec',
  /** `PUT` {@link composeProject}: brings a project to what its file says; answers lines of {@link composeLine}. */
  compose: '/v1/compose',
  /** `POST` {@link upgradeOrder}. */
  upgrade: '/v1/upgrade',
  /** `CONNECT` by `POST ?port=`: a TCP stream to a port of the node itself. */
  port: '/v1/port',
  /** `POST`: looks at cards, memory and disk as who rents them will meet them; answers {@link nodeSelfTest}. */
  selfTest: '/v1/self-test',
  /** `GET` {@link nodeListeners}. */
  listeners: '/v1/listeners',
  /** `POST` {@link dialOrder}: whether somebody answers there, as seen from the node; answers {@link dialResult}. Agents of old do not know it. */
  dial: '/v1/dial',
  reboot: '/v1/reboot',
  /** `PUT` {@link gatewayOrder}, `GET` {@link gatewayState}: lets other agents through to this agent's server, by HTTP `CONNECT`. */
  gateway: '/v1/gateway',
} as const

/** Interfaces that are inside a node only, by the beginnings of their names: nobody reaches it by them. */
export const innerNic = /^(lo|docker|veth|br-|virbr|cni|flannel|cali)/

/** Such as a database stores. */
const text = z
  .string()
  .max(255)
  .refine((value) => value.isWellFormed() && !value.includes('\0'), 'not a text')
const gpu = z.object({
  index: z.int(),
  uuid: text,
  vendor: z.enum(['nvidia', 'amd', 'other']),
  model: text,
  memory_bytes: z.number(),
  driver: text,
  /** The newest CUDA that the driver runs, `12.4`; agents of old do not say. */
  cuda: text.nullable().optional(),
})
export type NodeGpu = z.output<typeof gpu>

/** What a node is; asked for at each connection and once an hour. */
export const nodeFacts = z.object({
  host_name: text,
  machine_id: text,
  os: text,
  kernel: text,
  architecture: text,
  cpu: z.object({ model: text, cores: z.int(), threads: z.int() }),
  memory_bytes: z.number(),
  swap_bytes: z.number(),
  disks: z.array(z.object({ mount: text, device: text, file_system: text, total_bytes: z.number() })).max(256),
  nics: z.array(z.object({ name: text, mac: text, addresses: z.array(text).max(64), speed_mbps: z.int().nullable() })).max(256),
  gpus: z.array(gpu).max(64),
  /** Null where no Docker Engine answers. */
  docker: z
    .object({ version: text, api_version: text, storage_driver: text, root: text, compose_version: text.nullable(), gpu_runtime: z.boolean() })
    .nullable(),
  /** Why there is none. */
  docker_error: text.nullable(),
  booted_at: text,
  agent_version: agentVersion,
})
export type NodeFacts = z.output<typeof nodeFacts>

/** By which others reach a node, as far as it knows. */
export const addressesOf = ({ nics }: Pick<NodeFacts, 'nics'>): string[] =>
  nics
    .filter(({ name }) => !innerNic.test(name))
    .flatMap(({ addresses }) => addresses)
    .map((address) => address.split('/')[0] ?? address)
    .filter((address) => !/^fe80:/i.test(address))

/** What tells whether a card is well. */
const gpuHealth = z.object({
  /** It is there, and does not answer. */
  lost: z.boolean(),
  /** Memory errors since the last reset that could not be corrected; null of cards without ECC. */
  uncorrected_errors: z.number().nullable(),
  /** The hardware slows it down because it is too hot. */
  slowed_by_heat: z.boolean().nullable(),
  /** What the driver told the kernel of it since boot, the last few: NVIDIA's Xid errors. */
  xids: z.array(z.object({ code: z.int(), at: z.string().max(64) })).max(16),
})
export type GpuHealth = z.output<typeof gpuHealth>

/** What a self-test of a node finds: figures, not judgements. */
export const nodeSelfTest = z.object({
  gpus: z.array(gpu).max(64),
  /** What the driver said where it answers for no card. */
  gpu_error: text.nullable(),
  gpu_runtime: z.boolean(),
  memory_bytes: z.number(),
  /** Of a file that was written through to the disk. */
  disk_bytes_per_second: z.number(),
})
export type NodeSelfTest = z.output<typeof nodeSelfTest>

/** How a node is, now. Counters are since boot: rates are for whoever asks twice. */
export const nodeMetrics = z.object({
  at: z.string().max(64),
  /** Of all processors, since the question before. */
  cpu_share: z.number().nullable(),
  load: z.tuple([z.number(), z.number(), z.number()]),
  memory: z.object({ total_bytes: z.number(), used_bytes: z.number() }),
  disks: z.array(z.object({ mount: text, total_bytes: z.number(), used_bytes: z.number() })).max(256),
  nics: z.array(z.object({ name: text, received_bytes: z.number(), sent_bytes: z.number() })).max(256),
  gpus: z
    .array(
      z.object({
        uuid: text,
        share: z.number().nullable(),
        memory_used_bytes: z.number().nullable(),
        temperature_celsius: z.number().nullable(),
        power_watts: z.number().nullable(),
        /** Agents of old do not say. */
        health: gpuHealth.optional(),
      }),
    )
    .max(64),
})
export type NodeMetrics = z.output<typeof nodeMetrics>

/** Ports of the node that programs have, by which address of it; an empty one: all. */
export const nodeListeners = z.array(z.object({ port: z.int(), protocol: z.enum(['tcp', 'udp']), address: z.string().max(64) })).max(20_000)

export const composeProject = z.object({
  /** Also the project's name for compose: /^[a-z0-9][a-z0-9_-]{0,62}$/ */
  project: z.string().regex(/^[a-z0-9][a-z0-9_-]{0,62}$/),
  action: z.enum(['up', 'down']),
  /** `docker-compose.yml`, with every variable filled in. Left out: as it was the last time. */
  file: z.string().max(262_144).optional(),
  /** Files beside it, such as configs: relative paths without `..`. */
  files: z
    .array(
      z.object({
        path: z
          .string()
          .max(255)
          .regex(/^(?!\/)(?!.*(^|\/)\.\.(\/|$))[A-Za-z0-9._/-]+$/),
        content_base64: z.string().max(1_400_000),
      }),
    )
    .max(100)
    .default([]),
  /** Replicas by service. */
  scale: z.record(z.string(), z.int().min(0).max(1_000)).default({}),
  pull: z.boolean().default(false),
})
export type ComposeProject = z.input<typeof composeProject>

/** One line each of the answer, NDJSON; the last says how it ended. */
export const composeLine = z.union([z.object({ line: z.string() }), z.object({ ended: z.enum(['succeeded', 'failed']), error: z.string().nullable() })])

export const upgradeOrder = z.object({
  version: agentVersion,
  /** Of the bundle that is fetched from the agent's own server, hex. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  path: z.string().max(255),
})

/** Where it listens; null: nowhere. Not kept: to be told at each connection. */
export const gatewayOrder = z.object({ port: z.int().min(1).max(65_535).nullable() })
export const gatewayState = gatewayOrder.extend({ connections: z.int() })

/** Somebody whom the node is to ask, once. */
export const dialOrder = z.object({
  kind: z.enum(['tcp', 'http']),
  address: z.string().min(1).max(253),
  port: z.int().min(1).max(65_535),
  /** Of HTTP. */
  path: z.string().max(1_024).startsWith('/').default('/'),
  timeout_ms: z.int().min(100).max(60_000),
})
export const dialResult = z.object({
  /** `refused`: nobody listens. `unknown_name`: no address is known of it. `broken`: what came was no HTTP. */
  outcome: z.enum(['answered', 'refused', 'silent', 'unreachable', 'unknown_name', 'broken']),
  /** Of HTTP; null where none came. */
  http_status: z.int().nullable(),
  milliseconds: z.int(),
  said: text,
})
export type DialResult = z.output<typeof dialResult>
