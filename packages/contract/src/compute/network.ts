import { z } from 'zod'
import { can } from '../can.ts'
import { defineCall, empty } from '../define.ts'
import { tenants } from '../roles.ts'
import { fieldTexts } from '../texts.ts'
import { description, name, plainLine } from '../validation.ts'
import { lineOf } from '../line.ts'
import { holds, isNetworkAddress, overlapping, readAddress, readRange } from './address.ts'
import { cloudId, engineId, inCloud } from './ids.ts'

/** What Neutron says of networks, ports and routers; `unknown`: what this list does not know. */
export const networkStatuses = ['active', 'building', 'down', 'error', 'unknown'] as const
export type NetworkStatus = (typeof networkStatuses)[number]

/** What things are called that one names by id: of what is shown alone, as `names` of a line. */
const named = { names: z.record(z.string(), z.string()) }
/** Whether the asker may change it: tenants what is of their projects and not everybody's, platform-level people all. */
const changeable = z.boolean()
/** Whose it is; null where the cloud does not say. */
const keystone_project_id = z.string().nullable()

/** What is there already may be called in any way. */
export const engineName = z.string(fieldTexts.contentRequired).trim().min(1, fieldTexts.contentRequired).max(255).regex(plainLine, fieldTexts.controlCharacters)
const address = z
  .string(fieldTexts.anyAddress)
  .trim()
  .refine((text) => readAddress(text) !== null, fieldTexts.anyAddress)
const range = z
  .string(fieldTexts.anyRange)
  .trim()
  .refine((text) => readRange(text) !== null, { error: fieldTexts.anyRange, abort: true })
  .refine(isNetworkAddress, { error: fieldTexts.cidrNetwork, abort: true })
/** Where packets to a range go instead of to the gateway. */
const route = z.object({ destination: range, next_hop: address })
export type Route = z.output<typeof route>
/** All of a router's, or of a subnet's. */
export const routeList = z.array(route).max(50)
const pool = z.object({ start: address, end: address })
/** Of one of our projects; else of the organisation as a whole. */
const project_id = z.uuid().nullable().default(null)

// Networks

export const computeNetwork = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  status: z.enum(networkStatuses),
  enabled: z.boolean(),
  /** Everybody may plug into it. */
  shared: z.boolean(),
  /** Leads outside: routers take their gateways and floating IPs from it. */
  external: z.boolean(),
  mtu: z.int().nullable(),
  port_security: z.boolean(),
  /** How it is made of wires; null for who may not see it. */
  provider: z.object({ type: z.string(), physical_network: z.string().nullable(), segmentation_id: z.int().nullable() }).nullable(),
  /** Those that the asker may see: of an external network of another's there are none. */
  subnets: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      cidr: z.string(),
      version: z.union([z.literal(4), z.literal(6)]),
      gateway: z.string().nullable(),
      dhcp: z.boolean(),
    }),
  ),
  keystone_project_id,
  changeable,
})
export type ComputeNetwork = z.output<typeof computeNetwork>

// Subnets

const subnetSettings = z.object({
  /** Left out: the first address of the range. Null: none. */
  gateway: address.nullable().optional(),
  dhcp: z.boolean().optional(),
  nameservers: z.array(address).max(5).optional(),
  /** What is given out; left out: all but the gateway. */
  pools: z.array(pool).max(20).optional(),
  host_routes: z.array(route).max(20).optional(),
})
export type SubnetSettings = z.output<typeof subnetSettings>

/** A problem of a subnet's settings, at its field. */
export interface SubnetProblem {
  readonly path: (string | number)[]
  readonly message: string
}

/** What of a subnet's settings does not fit its range; the console says it beside the fields, the server to everybody else. */
export function subnetProblems(cidr: string, { gateway, nameservers = [], pools = [], host_routes = [] }: SubnetSettings): SubnetProblem[] {
  const whole = readRange(cidr)
  if (whole === null) return []
  const inside = (text: string): boolean => {
    const read = readAddress(text)
    if (read === null || !holds(whole, read)) return false
    // Of IPv4 the first and the last address of a range are nobody's.
    return whole.version === 6 || (read.number !== whole.first && read.number !== whole.last)
  }
  const sameVersion = (text: string): boolean => readAddress(text)?.version === whole.version
  const problems: SubnetProblem[] = []
  const gate = typeof gateway === 'string' ? readAddress(gateway) : null
  if (typeof gateway === 'string' && !inside(gateway)) problems.push({ path: ['gateway'], message: fieldTexts.gatewayOutside })
  for (const [index, text] of nameservers.entries()) if (!sameVersion(text)) problems.push({ path: ['nameservers', index], message: fieldTexts.versionsDiffer })
  const ranges = pools.map(({ start, end }) => {
    const [first, last] = [readAddress(start), readAddress(end)]
    return first === null || last === null ? null : { version: first.version, first: first.number, last: last.number, prefix: 0 }
  })
  for (const [index, { start, end }] of pools.entries()) {
    const own = ranges[index]
    const say = (message: string): void => void problems.push({ path: ['pools', index], message })
    if (!inside(start) || !inside(end) || own === null || own === undefined) say(fieldTexts.poolOutside)
    else if (own.last < own.first) say(fieldTexts.rangeBackwards)
    else if (gate !== null && holds(own, gate)) say(fieldTexts.poolHasGateway)
    else if (ranges.slice(0, index).some((other) => other !== null && overlapping(own, other))) say(fieldTexts.poolsOverlap)
  }
  for (const [index, { destination, next_hop }] of host_routes.entries()) {
    if (readRange(destination)?.version !== whole.version || !sameVersion(next_hop))
      problems.push({ path: ['host_routes', index], message: fieldTexts.versionsDiffer })
  }
  return problems
}

/** Of IPv4 from /8 to /30, of IPv6 from /16 to /126; written as its network address. */
export const subnetCidr = range.refine((text) => {
  const read = readRange(text)
  return read !== null && (read.version === 4 ? read.prefix >= 8 && read.prefix <= 30 : read.prefix >= 16 && read.prefix <= 126)
}, fieldTexts.subnetSize)

export const newSubnet = subnetSettings.extend({ name: name.optional(), description: description.default(''), cidr: subnetCidr })
export type NewSubnet = z.input<typeof newSubnet>
/** What a new subnet must keep to beyond each field, for `superRefine`. */
const fits = (subnet: SubnetSettings & { readonly cidr: string }, context: z.core.$RefinementCtx): void => {
  for (const { path, message } of subnetProblems(subnet.cidr, subnet)) context.addIssue({ code: 'custom', path, message, input: subnet })
}

export const computeSubnet = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  network_id: z.string(),
  cidr: z.string(),
  version: z.union([z.literal(4), z.literal(6)]),
  gateway: z.string().nullable(),
  dhcp: z.boolean(),
  nameservers: z.array(z.string()),
  pools: z.array(z.object({ start: z.string(), end: z.string() })),
  host_routes: z.array(z.object({ destination: z.string(), next_hop: z.string() })),
  keystone_project_id,
  changeable,
})
export type ComputeSubnet = z.output<typeof computeSubnet>

// Ports

/** What a port is plugged into; `free`: nothing, `other`: something that this list does not know, such as a load balancer. */
export const portUses = ['free', 'instance', 'router', 'gateway', 'dhcp', 'floating_ip', 'other'] as const
export type PortUse = (typeof portUses)[number]

/** By what it is plugged into: what belongs to a router, to DHCP or to an instance goes with that. */
export const portCan = can<PortUse>()({
  update: ['free', 'instance', 'other'],
  delete: ['free', 'other'],
  connect: ['free'],
})

export const computePort = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  status: z.enum(networkStatuses),
  enabled: z.boolean(),
  mac: z.string(),
  network_id: z.string(),
  addresses: z.array(z.object({ address: z.string(), subnet_id: z.string().nullable() })),
  use: z.enum(portUses),
  /** The instance or router; null where it is neither. */
  device_id: z.string().nullable(),
  /** In Neutron's words: `compute:nova`, `network:dhcp` … */
  device_owner: z.string().nullable(),
  security_group_ids: z.array(z.string()),
  port_security: z.boolean(),
  /** Beyond its own, those that it may send from. */
  allowed_addresses: z.array(z.string()),
  keystone_project_id,
  changeable,
})
export type ComputePort = z.output<typeof computePort>

/** An address of a subnet; without `address` the cloud chooses one. */
const wantedAddress = z.object({ subnet_id: engineId, address: address.optional() })
const portSettings = {
  description: description.optional(),
  enabled: z.boolean().optional(),
  /** Left out: one of each version, as the cloud chooses. */
  addresses: z.array(wantedAddress).max(10).optional(),
  /** Left out: the project's default group. */
  security_group_ids: z.array(engineId).max(20).optional(),
  /** Without it, neither groups nor the check of senders' addresses. Only of one's own networks. */
  port_security: z.boolean().optional(),
  /** Addresses and ranges beyond its own that it may send from. */
  allowed_addresses: z
    .array(
      z
        .string()
        .trim()
        .refine((text) => readAddress(text) !== null || readRange(text) !== null, fieldTexts.anyRange),
    )
    .max(10)
    .optional(),
} as const

const noGroupsUnguarded = (
  port: { port_security?: boolean | undefined; security_group_ids?: readonly string[] | undefined; allowed_addresses?: readonly string[] | undefined },
  context: z.core.$RefinementCtx,
): void => {
  if (port.port_security !== false) return
  for (const field of ['security_group_ids', 'allowed_addresses'] as const) {
    if ((port[field] ?? []).length > 0) context.addIssue({ code: 'custom', path: [field], message: fieldTexts.needsPortSecurity, input: port })
  }
}

const of = (kind: string): string => `/api/compute/v1/clouds/{cloud_id}/${kind}`
const read = { access: tenants, method: 'GET' } as const
const made = { access: tenants, method: 'POST', status: 201, params: cloudId } as const
const changed = { access: tenants, params: inCloud } as const

export const computeNetworks = {
  list: defineCall({
    ...read,
    id: 'compute.network.list',
    path: of('networks'),
    params: cloudId,
    summary: 'Networks that the asker may see, with their subnets, in lines',
    lines: true,
    response: lineOf(computeNetwork),
  }),
  get: defineCall({
    ...read,
    id: 'compute.network.get',
    path: of('networks/{id}'),
    params: inCloud,
    summary: 'One network',
    response: computeNetwork.extend(named),
  }),
  create: defineCall({
    ...made,
    id: 'compute.network.create',
    path: of('networks'),
    summary: 'Make a network, with a first subnet if wanted: both or none. `shared`, `external` and `provider` are for platform-level people',
    body: z.object({
      name,
      description: description.default(''),
      port_security: z.boolean().default(true),
      mtu: z.int().min(68).max(9216).nullable().default(null),
      shared: z.boolean().default(false),
      external: z.boolean().default(false),
      provider: z
        .object({
          type: z.enum(['flat', 'vlan', 'vxlan', 'gre', 'geneve', 'local']),
          physical_network: z.string().trim().min(1).max(64).regex(plainLine).nullable(),
          segmentation_id: z.int().min(1).max(16_777_215).nullable(),
        })
        .nullable()
        .default(null),
      subnet: newSubnet.superRefine(fits).nullable().default(null),
      project_id,
    }),
    response: computeNetwork,
  }),
  update: defineCall({
    ...changed,
    id: 'compute.network.update',
    method: 'PUT',
    path: of('networks/{id}'),
    summary: 'Change what is given; `shared` and `external` are for platform-level people',
    body: z
      .object({
        name: engineName,
        description,
        enabled: z.boolean(),
        port_security: z.boolean(),
        mtu: z.int().min(68).max(9216),
        shared: z.boolean(),
        external: z.boolean(),
      })
      .partial(),
    response: computeNetwork,
  }),
  delete: defineCall({
    ...changed,
    id: 'compute.network.delete',
    method: 'DELETE',
    path: of('networks/{id}'),
    summary: 'Delete a network with its subnets; refused while something is plugged in (93125)',
    response: empty,
  }),
} as const

export const computeSubnets = {
  list: defineCall({
    ...read,
    id: 'compute.subnet.list',
    path: of('subnets'),
    params: cloudId,
    summary: 'Subnets that the asker may see, in lines',
    lines: true,
    response: lineOf(computeSubnet),
  }),
  get: defineCall({
    ...read,
    id: 'compute.subnet.get',
    path: of('subnets/{id}'),
    params: inCloud,
    summary: 'One subnet',
    response: computeSubnet.extend(named),
  }),
  create: defineCall({
    ...made,
    id: 'compute.subnet.create',
    path: of('subnets'),
    summary: 'Make a subnet of a network; its range overlaps none of that network (93123)',
    body: newSubnet.extend({ network_id: engineId }).superRefine(fits),
    response: computeSubnet,
  }),
  update: defineCall({
    ...changed,
    id: 'compute.subnet.update',
    method: 'PUT',
    path: of('subnets/{id}'),
    summary: 'Change what is given; lists are replaced as a whole',
    body: subnetSettings.extend({
      name: z.string().trim().max(255).regex(plainLine, fieldTexts.controlCharacters).optional(),
      description: description.optional(),
    }),
    response: computeSubnet,
  }),
  delete: defineCall({
    ...changed,
    id: 'compute.subnet.delete',
    method: 'DELETE',
    path: of('subnets/{id}'),
    summary: 'Delete a subnet; refused while its addresses are in use (93126)',
    response: empty,
  }),
} as const

export const computePorts = {
  list: defineCall({
    ...read,
    id: 'compute.port.list',
    path: of('ports'),
    params: cloudId,
    summary: 'Ports of the asker, with the names of what they are plugged into, in lines',
    lines: true,
    response: lineOf(computePort),
  }),
  get: defineCall({ ...read, id: 'compute.port.get', path: of('ports/{id}'), params: inCloud, summary: 'One port', response: computePort.extend(named) }),
  create: defineCall({
    ...made,
    id: 'compute.port.create',
    path: of('ports'),
    summary: 'Make a port of a network, to plug into an instance or a router',
    body: z.object({ ...portSettings, name, network_id: engineId, project_id }).superRefine(noGroupsUnguarded),
    response: computePort,
  }),
  update: defineCall({
    ...changed,
    id: 'compute.port.update',
    method: 'PUT',
    path: of('ports/{id}'),
    summary: 'Change what is given; lists are replaced as a whole',
    body: z
      .object({ ...portSettings, name: z.string().trim().max(255).regex(plainLine, fieldTexts.controlCharacters).optional() })
      .superRefine(noGroupsUnguarded),
    response: computePort,
  }),
  delete: defineCall({
    ...changed,
    id: 'compute.port.delete',
    method: 'DELETE',
    path: of('ports/{id}'),
    summary: 'Delete a port that is plugged into nothing',
    response: empty,
  }),
} as const
