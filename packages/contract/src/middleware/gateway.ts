import { z } from 'zod'
import { can } from '../can.ts'
import { byId, defineCall, listOf, listQuery, moment } from '../define.ts'
import { operation } from '../operation.ts'
import { reference } from '../resource.ts'
import { admins } from '../roles.ts'
import { fieldTexts } from '../texts.ts'
import { description, keyword, name, named } from '../validation.ts'

const gatewaysPath = '/api/service-manager/v1/service-gateways'
const portsPath = '/api/service-manager/v1/service-ports'

export const gatewayStatuses = ['installing', 'active', 'changing', 'removing', 'error'] as const
export type GatewayStatus = (typeof gatewayStatuses)[number]

/** What may be done to a gateway in which status. */
export const gatewayCan = can<GatewayStatus>()({
  update: ['active'],
  /** Ports are made, changed and taken away one after the other. */
  configure: ['active'],
  delete: ['active', 'error'],
})

export const gatewayHealths = ['unknown', 'reachable', 'degraded', 'unreachable'] as const

/** How a gateway works. */
const gatewaySettings = {
  /** Of all its ports together. */
  connections_most: z.int(fieldTexts.gatewayConnections).min(100, fieldTexts.gatewayConnections).max(100_000, fieldTexts.gatewayConnections),
  /** So long connections go on that were there before a change; then they are closed. Minutes. */
  drain_minutes: z.int(fieldTexts.gatewayDrain).min(1, fieldTexts.gatewayDrain).max(1_440, fieldTexts.gatewayDrain),
} as const

/** What a gateway carries now, since its last start or change; null where it does not answer. */
const traffic = z.object({ connections: z.int(), connections_per_second: z.int(), bytes_in: z.number(), bytes_out: z.number() }).nullable()

export const serviceGateway = z.object({
  id: z.uuid(),
  name: z.string(),
  description: z.string(),
  status: z.enum(gatewayStatuses),
  health: z.enum(gatewayHealths),
  health_message: z.string().nullable(),
  /** On which it runs; whoever reaches that node reaches its ports. */
  node: reference,
  /** Addresses of that node. */
  addresses: z.array(z.string()),
  /** Of the program, as it says itself. */
  version: z.string().nullable(),
  connections_most: z.int(),
  drain_minutes: z.int(),
  port_count: z.int(),
  error: z.string().nullable(),
  operation_id: z.uuid().nullable(),
  created_by: z.string(),
  created_at: moment,
  updated_at: moment,
})
export type ServiceGateway = z.output<typeof serviceGateway>

export const portProtocols = ['tcp', 'http'] as const
/** `source`: by the address of whoever connects, so that the same come to the same. */
export const portBalances = ['roundrobin', 'leastconn', 'source'] as const
export const portChecks = ['none', 'tcp', 'http'] as const
export const portStatuses = ['creating', 'active', 'changing', 'deleting', 'error'] as const
export type PortStatus = (typeof portStatuses)[number]

/** What may be done to a port in which status; of `error` it is not served. */
export const portCan = can<PortStatus>()({
  update: ['active', 'error'],
  delete: ['active', 'error'],
})

/** `drained`: it keeps what it has and is given nothing new. */
export const targetStates = ['up', 'down', 'starting', 'drained', 'unchecked', 'unknown'] as const
/** How a look at a target ended, in HAProxy's words (its management guide, 9.1 `check_status`). */
export const targetReasons = ['L4OK', 'L4CON', 'L4TOUT', 'L6RSP', 'L7OK', 'L7STS', 'L7RSP', 'L7TOUT', 'NAME', 'OTHER'] as const
export type TargetReason = (typeof targetReasons)[number]

const portNumber = z.int(fieldTexts.portNumber).min(1, fieldTexts.portNumber).max(65_535, fieldTexts.portNumber)
const seconds = (most: number) => z.int(fieldTexts.checkSeconds).min(1, fieldTexts.checkSeconds).max(most, fieldTexts.checkSeconds)
const times = z.int(fieldTexts.checkTimes).min(1, fieldTexts.checkTimes).max(10, fieldTexts.checkTimes)

const target = {
  address: z.union([z.ipv4(), z.ipv6(), z.hostname().max(253)], fieldTexts.targetAddress),
  port: portNumber,
  /** Of all that is sent to the port, by the sum of weights; 0: nothing new. */
  weight: z.int(fieldTexts.targetWeight).min(0, fieldTexts.targetWeight).max(256, fieldTexts.targetWeight),
  /** Is used only where all others are down. */
  backup: z.boolean(),
  /** False: it keeps what it has and is given nothing new. */
  enabled: z.boolean(),
} as const

const portSpec = {
  protocol: z.enum(portProtocols),
  port: portNumber,
  balance: z.enum(portBalances),
  /** By a cookie, of HTTP only. */
  sticky: z.boolean(),
  check: z.object({
    kind: z.enum(portChecks),
    /** Of HTTP: what is asked for, and below which status it is well (2xx and 3xx). */
    path: z
      .string()
      .max(80, fieldTexts.checkPath)
      .regex(/^\/[\w./~%?&=+-]*$/, fieldTexts.checkPath),
    interval_seconds: seconds(50),
    timeout_seconds: seconds(60),
    /** So many in a row make it up, and so many down. */
    rise: times,
    fall: times,
  }),
  /** Nobody said anything for so long. */
  idle_seconds: z.int(fieldTexts.idleSeconds).min(1, fieldTexts.idleSeconds).max(86_400, fieldTexts.idleSeconds),
  /** Of this port; null: as many as its gateway has. */
  connections_most: z.int(fieldTexts.gatewayConnections).min(1, fieldTexts.gatewayConnections).max(100_000, fieldTexts.gatewayConnections).nullable(),
  /** From where it is reached; none: from everywhere. */
  allowed: z.array(z.union([z.cidrv4(), z.cidrv6(), z.ipv4(), z.ipv6()], fieldTexts.addressRange)).max(100),
} as const

const specGiven = {
  protocol: portSpec.protocol,
  port: portSpec.port,
  balance: portSpec.balance.default('roundrobin'),
  sticky: portSpec.sticky.default(false),
  check: z
    .object({
      kind: portSpec.check.shape.kind.default('tcp'),
      path: portSpec.check.shape.path.default('/'),
      interval_seconds: portSpec.check.shape.interval_seconds.default(2),
      timeout_seconds: portSpec.check.shape.timeout_seconds.default(2),
      rise: portSpec.check.shape.rise.default(3),
      fall: portSpec.check.shape.fall.default(3),
    })
    .prefault({}),
  idle_seconds: portSpec.idle_seconds.default(60),
  connections_most: portSpec.connections_most.default(null),
  allowed: portSpec.allowed.default([]),
  targets: z
    .array(
      z.object({
        /** Of one that is there already; left out of a new one. */
        id: z.uuid().optional(),
        address: target.address,
        port: target.port,
        weight: target.weight.default(100),
        backup: target.backup.default(false),
        enabled: target.enabled.default(true),
      }),
    )
    .min(1, fieldTexts.targetsNone)
    .max(100),
} as const

export const targetState = z.object({
  state: z.enum(targetStates),
  reason: z.enum(targetReasons).nullable(),
  /** What the check saw, in its own words. */
  said: z.string(),
  /** How long it has been so; null where nobody knows. */
  seconds: z.int().nullable(),
  connections: z.int(),
})
export type TargetState = z.output<typeof targetState>

export const servicePort = z.object({
  id: z.uuid(),
  gateway: reference,
  name: z.string(),
  description: z.string(),
  status: z.enum(portStatuses),
  /** Why the last change does not count; null once one did. */
  error: z.string().nullable(),
  ...portSpec,
  targets: z.array(z.object({ id: z.uuid(), ...target, now: targetState })),
  traffic,
  /** Goes up with each change; a change names the one that it was made of. */
  revision: z.int(),
  operation_id: z.uuid().nullable(),
  created_by: z.string(),
  created_at: moment,
  updated_at: moment,
})
export type ServicePort = z.output<typeof servicePort>
export type PortSpec = Pick<ServicePort, keyof typeof portSpec> & { readonly targets: readonly Omit<ServicePort['targets'][number], 'now'>[] }

/** What one look at one target found. */
export const targetTest = z.object({
  ok: z.boolean(),
  reason: z.enum(targetReasons),
  /** Of HTTP; null where nobody answered. */
  http_status: z.int().nullable(),
  milliseconds: z.int(),
  said: z.string(),
})
export type TargetTest = z.output<typeof targetTest>

const one = { params: byId } as const
const portBody = z.object({ ...named.shape, ...specGiven })
const isSticky = { path: ['sticky'], error: fieldTexts.portSticky }
const isHttpCheck = { path: ['check', 'kind'], error: fieldTexts.portCheck }

export const serviceGateways = {
  list: defineCall({
    id: 'middleware.gateway.list',
    method: 'GET',
    path: gatewaysPath,
    summary: 'Service gateways: load balancers that the platform runs on nodes',
    access: admins,
    query: listQuery(['name', 'created_at'], { keyword, status: z.enum(gatewayStatuses).optional(), node_id: z.uuid().optional() }),
    response: listOf(serviceGateway),
  }),
  overview: defineCall({
    id: 'middleware.gateway.overview',
    method: 'GET',
    path: `${gatewaysPath}/detail`,
    summary: 'All gateways with what they carry and how many of their targets are up, for one picture',
    access: admins,
    response: z.object({
      items: z.array(
        z.object({
          id: z.uuid(),
          name: z.string(),
          status: z.enum(gatewayStatuses),
          health: z.enum(gatewayHealths),
          node: reference,
          traffic,
          ports: z.array(
            z.object({
              id: z.uuid(),
              name: z.string(),
              port: z.int(),
              protocol: z.enum(portProtocols),
              status: z.enum(portStatuses),
              up: z.int(),
              targets: z.int(),
            }),
          ),
        }),
      ),
    }),
  }),
  get: defineCall({
    ...one,
    id: 'middleware.gateway.get',
    method: 'GET',
    path: `${gatewaysPath}/{id}`,
    summary: 'One gateway, with what it carries now',
    access: admins,
    response: serviceGateway.extend({ traffic }),
  }),
  create: defineCall({
    id: 'middleware.gateway.create',
    method: 'POST',
    path: gatewaysPath,
    summary: 'Have a gateway run on a node',
    access: admins,
    status: 202,
    body: named.extend({
      node_id: z.uuid(),
      /** At its node's loopback address, for the platform. */
      control_port: z.int(fieldTexts.registryPort).min(1_024, fieldTexts.registryPort).max(65_535, fieldTexts.registryPort).default(19_700),
      connections_most: gatewaySettings.connections_most.default(10_000),
      drain_minutes: gatewaySettings.drain_minutes.default(30),
    }),
    response: serviceGateway,
  }),
  update: defineCall({
    ...one,
    id: 'middleware.gateway.update',
    method: 'PUT',
    path: `${gatewaysPath}/{id}`,
    summary: 'Change name, description, or how it works; what is connected stays connected',
    access: admins,
    status: 202,
    body: z.object({
      name: name.optional(),
      description: description.optional(),
      connections_most: gatewaySettings.connections_most.optional(),
      drain_minutes: gatewaySettings.drain_minutes.optional(),
    }),
    response: serviceGateway,
  }),
  delete: defineCall({
    ...one,
    id: 'middleware.gateway.delete',
    method: 'DELETE',
    path: `${gatewaysPath}/{id}`,
    summary: 'Take a gateway away, with all its ports; all that is connected through it is closed',
    access: admins,
    status: 202,
    response: serviceGateway,
  }),
  operations: defineCall({
    ...one,
    id: 'middleware.gateway.operations',
    method: 'GET',
    path: `${gatewaysPath}/{id}/operations`,
    summary: 'What was done to it and to its ports, newest first',
    access: admins,
    query: listQuery(['created_at'], {}),
    response: listOf(operation),
  }),
  log: defineCall({
    ...one,
    id: 'middleware.gateway.log',
    method: 'GET',
    path: `${gatewaysPath}/{id}/log`,
    summary: 'The last lines that its program has written',
    access: admins,
    query: z.object({ lines: z.coerce.number().int().min(1).max(2_000).default(200) }),
    response: z.object({ text: z.string() }),
  }),
} as const

export const servicePorts = {
  list: defineCall({
    id: 'middleware.port.list',
    method: 'GET',
    path: portsPath,
    summary: 'Ports of gateways, with the state of each of their targets',
    access: admins,
    query: listQuery(['name', 'port', 'created_at'], {
      keyword,
      gateway_id: z.uuid().optional(),
      protocol: z.enum(portProtocols).optional(),
      status: z.enum(portStatuses).optional(),
    }),
    response: listOf(servicePort),
  }),
  get: defineCall({ ...one, id: 'middleware.port.get', method: 'GET', path: `${portsPath}/{id}`, summary: 'One port', access: admins, response: servicePort }),
  create: defineCall({
    id: 'middleware.port.create',
    method: 'POST',
    path: portsPath,
    summary: 'Have a gateway listen at a port and share what comes among targets',
    access: admins,
    status: 202,
    body: portBody
      .extend({ gateway_id: z.uuid() })
      .refine(({ protocol, sticky }) => protocol === 'http' || !sticky, isSticky)
      .refine(({ protocol, check }) => protocol === 'http' || check.kind !== 'http', isHttpCheck),
    response: servicePort,
  }),
  update: defineCall({
    ...one,
    id: 'middleware.port.update',
    method: 'PUT',
    path: `${portsPath}/{id}`,
    summary: 'Change a port as a whole; what is connected stays connected. Of another revision than it has it is refused',
    access: admins,
    status: 202,
    body: portBody
      .extend({ revision: z.int() })
      .refine(({ protocol, sticky }) => protocol === 'http' || !sticky, isSticky)
      .refine(({ protocol, check }) => protocol === 'http' || check.kind !== 'http', isHttpCheck),
    response: servicePort,
  }),
  delete: defineCall({
    ...one,
    id: 'middleware.port.delete',
    method: 'DELETE',
    path: `${portsPath}/{id}`,
    summary: 'Take a port away; what is connected through it goes on until its time to drain is over',
    access: admins,
    status: 202,
    response: servicePort,
  }),
  test: defineCall({
    id: 'middleware.port.test',
    method: 'GET',
    path: `${portsPath}/{id}/target-services/{sid}/test`,
    summary: 'Look at one target now, from the node of the gateway, as its check does',
    access: admins,
    params: z.object({ id: z.uuid(), sid: z.uuid() }),
    response: targetTest,
  }),
} as const
