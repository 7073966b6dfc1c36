import { z } from 'zod'
import { limitSet } from './compute.ts'
import type { Query, Session } from './session.ts'

const text = z.string().nullish()
const flag = z.boolean().nullish()

/** Networking API v2.0, "Networks". */
const network = z
  .object({
    id: z.string(),
    name: text,
    status: text,
    admin_state_up: flag,
    shared: flag,
    'router:external': flag,
    mtu: z.number().nullish(),
    project_id: text,
    subnets: z.array(z.string()).nullish(),
    port_security_enabled: flag,
    'provider:network_type': text,
    'provider:physical_network': text,
    'provider:segmentation_id': z.number().nullish(),
    description: text,
  })
  .transform((raw) => ({
    id: raw.id,
    name: raw.name ?? '',
    status: raw.status ?? 'UNKNOWN',
    enabled: raw.admin_state_up !== false,
    shared: raw.shared === true,
    external: raw['router:external'] === true,
    mtu: raw.mtu ?? null,
    projectId: raw.project_id ?? null,
    subnetIds: raw.subnets ?? [],
    portSecurity: raw.port_security_enabled !== false,
    /** Told to the cloud's administrators only. */
    provider:
      raw['provider:network_type'] === null || raw['provider:network_type'] === undefined
        ? null
        : {
            type: raw['provider:network_type'],
            physicalNetwork: raw['provider:physical_network'] ?? null,
            segmentation: raw['provider:segmentation_id'] ?? null,
          },
    description: raw.description ?? '',
  }))
export type Network = z.output<typeof network>

const route = z.object({ destination: z.string(), nexthop: z.string() })
const subnet = z
  .object({
    id: z.string(),
    name: text,
    network_id: z.string(),
    cidr: z.string(),
    ip_version: z.number(),
    gateway_ip: text,
    enable_dhcp: flag,
    dns_nameservers: z.array(z.string()).nullish(),
    allocation_pools: z.array(z.object({ start: z.string(), end: z.string() })).nullish(),
    host_routes: z.array(route).nullish(),
    project_id: text,
    description: text,
  })
  .transform((raw) => ({
    id: raw.id,
    name: raw.name ?? '',
    networkId: raw.network_id,
    cidr: raw.cidr,
    version: raw.ip_version,
    gateway: raw.gateway_ip ?? null,
    dhcp: raw.enable_dhcp === true,
    nameservers: raw.dns_nameservers ?? [],
    pools: raw.allocation_pools ?? [],
    hostRoutes: raw.host_routes ?? [],
    projectId: raw.project_id ?? null,
    description: raw.description ?? '',
  }))
export type Subnet = z.output<typeof subnet>

const port = z
  .object({
    id: z.string(),
    name: text,
    network_id: z.string(),
    status: text,
    admin_state_up: flag,
    mac_address: z.string(),
    fixed_ips: z.array(z.object({ subnet_id: text, ip_address: z.string() })).nullish(),
    device_id: text,
    device_owner: text,
    security_groups: z.array(z.string()).nullish(),
    port_security_enabled: flag,
    allowed_address_pairs: z.array(z.object({ ip_address: z.string(), mac_address: text })).nullish(),
    project_id: text,
    description: text,
  })
  .transform((raw) => ({
    id: raw.id,
    name: raw.name ?? '',
    networkId: raw.network_id,
    status: raw.status ?? 'UNKNOWN',
    enabled: raw.admin_state_up !== false,
    mac: raw.mac_address,
    addresses: (raw.fixed_ips ?? []).map((ip) => ({ address: ip.ip_address, subnetId: ip.subnet_id ?? null })),
    /** What it is plugged into, and who said so: `compute:nova`, `network:router_interface` … */
    deviceId: raw.device_id === '' ? null : (raw.device_id ?? null),
    deviceOwner: raw.device_owner === '' ? null : (raw.device_owner ?? null),
    securityGroupIds: raw.security_groups ?? [],
    portSecurity: raw.port_security_enabled !== false,
    allowedAddresses: (raw.allowed_address_pairs ?? []).map((pair) => pair.ip_address),
    projectId: raw.project_id ?? null,
    description: raw.description ?? '',
  }))
export type Port = z.output<typeof port>

const router = z
  .object({
    id: z.string(),
    name: text,
    status: text,
    admin_state_up: flag,
    external_gateway_info: z
      .object({ network_id: z.string(), enable_snat: flag, external_fixed_ips: z.array(z.object({ ip_address: z.string(), subnet_id: text })).nullish() })
      .nullish(),
    routes: z.array(route).nullish(),
    project_id: text,
    description: text,
  })
  .transform((raw) => ({
    id: raw.id,
    name: raw.name ?? '',
    status: raw.status ?? 'UNKNOWN',
    enabled: raw.admin_state_up !== false,
    gateway:
      raw.external_gateway_info === null || raw.external_gateway_info === undefined
        ? null
        : {
            networkId: raw.external_gateway_info.network_id,
            snat: raw.external_gateway_info.enable_snat !== false,
            addresses: (raw.external_gateway_info.external_fixed_ips ?? []).map((ip) => ip.ip_address),
          },
    routes: raw.routes ?? [],
    projectId: raw.project_id ?? null,
    description: raw.description ?? '',
  }))
export type Router = z.output<typeof router>

const floatingIp = z
  .object({
    id: z.string(),
    floating_ip_address: z.string(),
    fixed_ip_address: text,
    floating_network_id: z.string(),
    port_id: text,
    router_id: text,
    status: text,
    project_id: text,
    description: text,
    created_at: text,
    updated_at: text,
    revision_number: z.number().nullish(),
  })
  .transform((raw) => ({
    id: raw.id,
    address: raw.floating_ip_address,
    networkId: raw.floating_network_id,
    portId: raw.port_id ?? null,
    fixedAddress: raw.fixed_ip_address ?? null,
    routerId: raw.router_id ?? null,
    status: raw.status ?? 'UNKNOWN',
    projectId: raw.project_id ?? null,
    description: raw.description ?? '',
    /** Of clouds that keep them (`standard-attr-timestamp`). */
    createdAt: raw.created_at ?? null,
    updatedAt: raw.updated_at ?? null,
    /** Counts its changes (`standard-attr-revisions`). */
    revision: raw.revision_number ?? null,
  }))
export type FloatingIp = z.output<typeof floatingIp>

const rule = z
  .object({
    id: z.string(),
    security_group_id: z.string(),
    direction: z.enum(['ingress', 'egress']),
    ethertype: z.string(),
    // A name or the number of a protocol.
    protocol: z.union([z.string(), z.number().transform(String)]).nullish(),
    port_range_min: z.number().nullish(),
    port_range_max: z.number().nullish(),
    remote_ip_prefix: text,
    remote_group_id: text,
    description: text,
  })
  .transform((raw) => ({
    id: raw.id,
    securityGroupId: raw.security_group_id,
    direction: raw.direction,
    version: raw.ethertype === 'IPv6' ? 6 : 4,
    protocol: raw.protocol ?? null,
    portFrom: raw.port_range_min ?? null,
    portTo: raw.port_range_max ?? null,
    remoteCidr: raw.remote_ip_prefix ?? null,
    remoteGroupId: raw.remote_group_id ?? null,
    description: raw.description ?? '',
  }))
export type SecurityGroupRule = z.output<typeof rule>

const securityGroup = z
  .object({ id: z.string(), name: text, description: text, stateful: flag, project_id: text, security_group_rules: z.array(rule).nullish() })
  .transform((raw) => ({
    id: raw.id,
    name: raw.name ?? '',
    description: raw.description ?? '',
    stateful: raw.stateful !== false,
    projectId: raw.project_id ?? null,
    rules: raw.security_group_rules ?? [],
  }))
export type SecurityGroup = z.output<typeof securityGroup>

/** "FWaaS v2": only of clouds that have the extension `fwaas_v2`. */
const firewallGroup = z
  .object({
    id: z.string(),
    name: text,
    description: text,
    status: text,
    admin_state_up: flag,
    ingress_firewall_policy_id: text,
    egress_firewall_policy_id: text,
    ports: z.array(z.string()).nullish(),
    shared: flag,
    project_id: text,
  })
  .transform((raw) => ({
    id: raw.id,
    name: raw.name ?? '',
    description: raw.description ?? '',
    status: raw.status ?? 'UNKNOWN',
    enabled: raw.admin_state_up !== false,
    ingressPolicyId: raw.ingress_firewall_policy_id ?? null,
    egressPolicyId: raw.egress_firewall_policy_id ?? null,
    portIds: raw.ports ?? [],
    shared: raw.shared === true,
    projectId: raw.project_id ?? null,
  }))
export type FirewallGroup = z.output<typeof firewallGroup>
const firewallPolicy = z
  .object({ id: z.string(), name: text, description: text, audited: flag, shared: flag, firewall_rules: z.array(z.string()).nullish(), project_id: text })
  .transform((raw) => ({
    id: raw.id,
    name: raw.name ?? '',
    description: raw.description ?? '',
    audited: raw.audited === true,
    shared: raw.shared === true,
    ruleIds: raw.firewall_rules ?? [],
    projectId: raw.project_id ?? null,
  }))
export type FirewallPolicy = z.output<typeof firewallPolicy>
const firewallRule = z
  .object({
    id: z.string(),
    name: text,
    description: text,
    action: z.enum(['allow', 'deny', 'reject']),
    protocol: text,
    ip_version: z.number().nullish(),
    source_ip_address: text,
    source_port: text,
    destination_ip_address: text,
    destination_port: text,
    enabled: flag,
    shared: flag,
    project_id: text,
  })
  .transform((raw) => ({
    id: raw.id,
    name: raw.name ?? '',
    description: raw.description ?? '',
    action: raw.action,
    protocol: raw.protocol ?? null,
    version: raw.ip_version ?? 4,
    sourceAddress: raw.source_ip_address ?? null,
    /** One port, or `from:to`. */
    sourcePort: raw.source_port ?? null,
    destinationAddress: raw.destination_ip_address ?? null,
    destinationPort: raw.destination_port ?? null,
    enabled: raw.enabled !== false,
    shared: raw.shared === true,
    projectId: raw.project_id ?? null,
  }))
export type FirewallRule = z.output<typeof firewallRule>

/** How a wish is said to Neutron: our name of each field, and Neutron's, with what makes its value of ours where they differ. */
type Fields = Readonly<Record<string, string | readonly [string, (value: never) => unknown]>>

function said(fields: Fields, wish: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(wish).flatMap(([name, value]) => {
      const theirs = fields[name]
      if (value === undefined || theirs === undefined) return []
      // The type of the wish says what stands in this field.
      return typeof theirs === 'string' ? [[theirs, value]] : [[theirs[0], theirs[1](value as never)]]
    }),
  )
}

/** What one can do to every kind of Neutron's objects. */
function collection<Shape, Create extends object, Update extends object>(
  session: Session,
  kind: { readonly path: string; readonly one: string; readonly schema: z.ZodType<Shape>; readonly fields: Fields },
) {
  const many = kind.path.slice(kind.path.lastIndexOf('/') + 1).replaceAll('-', '_')
  const answer = z.object({ [kind.one]: kind.schema })
  const unwrapped = async (asked: Promise<z.output<typeof answer>>): Promise<Shape> => (await asked)[kind.one] as Shape
  const at = (id: string): string => `${kind.path}/${encodeURIComponent(id)}`
  return {
    /** @param query filters by any field in Neutron's words, and `fields` */
    list: (query: Query = {}, signal?: AbortSignal) => session.pages('network', { path: kind.path, key: many, schema: kind.schema, query, signal }),
    get: (id: string, signal?: AbortSignal): Promise<Shape> => unwrapped(session.json('network', answer, { path: at(id), signal })),
    create: (wish: Create, signal?: AbortSignal): Promise<Shape> =>
      unwrapped(session.json('network', answer, { method: 'POST', path: kind.path, body: { [kind.one]: said(kind.fields, wish) }, signal })),
    update: (id: string, changes: Update, signal?: AbortSignal): Promise<Shape> =>
      unwrapped(session.json('network', answer, { method: 'PUT', path: at(id), body: { [kind.one]: said(kind.fields, changes) }, signal })),
    /**
     * Only as it was when it was seen, by its revision; null where the cloud counts none.
     * @throws OpenStackError `invalid` ("Constrained to …") where somebody changed it since
     */
    updateSeen: (id: string, revision: number | null, changes: Update, signal?: AbortSignal): Promise<Shape> =>
      unwrapped(
        session.json('network', answer, {
          method: 'PUT',
          path: at(id),
          body: { [kind.one]: said(kind.fields, changes) },
          signal,
          ...(revision !== null && { headers: { 'if-match': `revision_number=${revision}` } }),
        }),
      ),
    /** @throws OpenStackError `busy` of what is in use */
    delete: (id: string, signal?: AbortSignal) => session.done('network', { method: 'DELETE', path: at(id), signal }),
  }
}

interface Described {
  readonly name?: string
  readonly description?: string
}
/** Of whom a thing is made; administrators can say. */
interface Owned {
  readonly projectId?: string
}
const described = { name: 'name', description: 'description', projectId: 'project_id' }

interface NetworkChanges extends Described {
  readonly enabled?: boolean
  readonly shared?: boolean
  readonly external?: boolean
  readonly portSecurity?: boolean
  readonly mtu?: number
}
/** How it is made of wires; administrators can say. */
interface Provided {
  readonly providerType?: string
  readonly physicalNetwork?: string
  readonly segmentation?: number
}
interface SubnetChanges extends Described {
  readonly gateway?: string | null
  readonly dhcp?: boolean
  readonly nameservers?: readonly string[]
  readonly pools?: readonly { readonly start: string; readonly end: string }[]
  readonly hostRoutes?: readonly z.output<typeof route>[]
}
interface PortChanges extends Described {
  readonly enabled?: boolean
  readonly securityGroupIds?: readonly string[]
  readonly addresses?: readonly ({ readonly subnetId: string; readonly address?: string } | { readonly address: string })[]
  readonly portSecurity?: boolean
  /** Addresses and ranges beyond its own that it may send from. */
  readonly allowedAddresses?: readonly string[]
}
interface RouterChanges extends Described {
  readonly enabled?: boolean
  /** `null` takes it away. */
  readonly gateway?: { readonly networkId: string; readonly snat?: boolean } | null
  /** All of them. */
  readonly routes?: readonly z.output<typeof route>[]
}
interface RuleWish extends Owned {
  readonly securityGroupId: string
  readonly direction: 'ingress' | 'egress'
  readonly version?: 4 | 6
  readonly protocol?: string
  readonly portFrom?: number
  readonly portTo?: number
  readonly remoteCidr?: string
  readonly remoteGroupId?: string
  readonly description?: string
}
interface FirewallRuleChanges extends Described {
  readonly action?: 'allow' | 'deny' | 'reject'
  readonly protocol?: 'tcp' | 'udp' | 'icmp' | null
  readonly version?: 4 | 6
  readonly sourceAddress?: string | null
  readonly sourcePort?: string | null
  readonly destinationAddress?: string | null
  readonly destinationPort?: string | null
  readonly enabled?: boolean
  readonly shared?: boolean
}
interface FirewallGroupChanges extends Described {
  readonly enabled?: boolean
  readonly shared?: boolean
  readonly ingressPolicyId?: string | null
  readonly egressPolicyId?: string | null
  readonly portIds?: readonly string[]
}
interface FirewallPolicyChanges extends Described {
  /** Somebody has looked at its rules; any other change takes that back. */
  readonly audited?: boolean
  readonly shared?: boolean
  /** In the order in which they apply. */
  readonly ruleIds?: readonly string[]
}

const gatewayOf = (gateway: NonNullable<RouterChanges['gateway']> | null) =>
  gateway && { network_id: gateway.networkId, ...(gateway.snat !== undefined && { enable_snat: gateway.snat }) }
const addressesOf = (addresses: NonNullable<PortChanges['addresses']>) =>
  addresses.map((one) => ({ ...('subnetId' in one && { subnet_id: one.subnetId }), ...(one.address !== undefined && { ip_address: one.address }) }))

/** Neutron (Networking API v2.0, https://docs.openstack.org/api-ref/network/v2/). */
export function createNetworks(session: Session) {
  const ports = collection<Port, { networkId: string; deviceId?: string; mac?: string } & PortChanges & Owned, PortChanges>(session, {
    path: '/ports',
    one: 'port',
    schema: port,
    fields: {
      ...described,
      networkId: 'network_id',
      enabled: 'admin_state_up',
      securityGroupIds: 'security_groups',
      addresses: ['fixed_ips', addressesOf],
      portSecurity: 'port_security_enabled',
      allowedAddresses: ['allowed_address_pairs', (list: readonly string[]) => list.map((ip_address) => ({ ip_address }))],
      deviceId: 'device_id',
      mac: 'mac_address',
    },
  })
  const routers = collection<Router, RouterChanges & Owned, RouterChanges>(session, {
    path: '/routers',
    one: 'router',
    schema: router,
    fields: { ...described, enabled: 'admin_state_up', gateway: ['external_gateway_info', gatewayOf], routes: 'routes' },
  })
  const join = (id: string, how: 'add' | 'remove', to: { subnetId: string } | { portId: string }, signal?: AbortSignal) =>
    session.done('network', {
      method: 'PUT',
      path: `/routers/${encodeURIComponent(id)}/${how}_router_interface`,
      body: 'subnetId' in to ? { subnet_id: to.subnetId } : { port_id: to.portId },
      signal,
    })
  const firewallPolicies = collection<FirewallPolicy, FirewallPolicyChanges & Owned, FirewallPolicyChanges>(session, {
    path: '/fwaas/firewall_policies',
    one: 'firewall_policy',
    schema: firewallPolicy,
    fields: { ...described, audited: 'audited', ruleIds: 'firewall_rules', shared: 'shared' },
  })
  // These alone answer with the policy itself, not within its name.
  const arrange = (id: string, how: 'insert' | 'remove', body: object, signal?: AbortSignal): Promise<FirewallPolicy> =>
    session.json('network', firewallPolicy, { method: 'PUT', path: `/fwaas/firewall_policies/${encodeURIComponent(id)}/${how}_rule`, body, signal })

  return {
    networks: collection<Network, NetworkChanges & Provided & Owned, NetworkChanges>(session, {
      path: '/networks',
      one: 'network',
      schema: network,
      fields: {
        ...described,
        enabled: 'admin_state_up',
        shared: 'shared',
        external: 'router:external',
        portSecurity: 'port_security_enabled',
        mtu: 'mtu',
        providerType: 'provider:network_type',
        physicalNetwork: 'provider:physical_network',
        segmentation: 'provider:segmentation_id',
      },
    }),
    subnets: collection<Subnet, { networkId: string; cidr: string; version: 4 | 6 } & SubnetChanges & Owned, SubnetChanges>(session, {
      path: '/subnets',
      one: 'subnet',
      schema: subnet,
      fields: {
        ...described,
        networkId: 'network_id',
        cidr: 'cidr',
        version: 'ip_version',
        gateway: 'gateway_ip',
        dhcp: 'enable_dhcp',
        nameservers: 'dns_nameservers',
        pools: 'allocation_pools',
        hostRoutes: 'host_routes',
      },
    }),
    ports: {
      ...ports,
      /** Many at once, for as many as one call takes: all of them are made, or none. */
      async createMany(wishes: readonly ({ networkId: string } & Described)[], signal?: AbortSignal): Promise<Port[]> {
        const body = { ports: wishes.map(({ networkId, ...rest }) => ({ network_id: networkId, ...rest })) }
        return (await session.json('network', z.object({ ports: z.array(port) }), { method: 'POST', path: '/ports', body, signal, timeoutMs: 300_000 })).ports
      },
    },
    routers: {
      ...routers,
      addInterface: (id: string, to: { subnetId: string } | { portId: string }, signal?: AbortSignal) => join(id, 'add', to, signal),
      removeInterface: (id: string, from: { subnetId: string } | { portId: string }, signal?: AbortSignal) => join(id, 'remove', from, signal),
    },
    floatingIps: collection<
      FloatingIp,
      { networkId: string; portId?: string; fixedAddress?: string; address?: string; description?: string } & Owned,
      { portId?: string | null; fixedAddress?: string; description?: string }
    >(session, {
      path: '/floatingips',
      one: 'floatingip',
      schema: floatingIp,
      fields: {
        description: 'description',
        projectId: 'project_id',
        networkId: 'floating_network_id',
        portId: 'port_id',
        fixedAddress: 'fixed_ip_address',
        address: 'floating_ip_address',
      },
    }),
    securityGroups: collection<SecurityGroup, { name: string; description?: string } & Owned, Described>(session, {
      path: '/security-groups',
      one: 'security_group',
      schema: securityGroup,
      fields: described,
    }),
    securityGroupRules: {
      async create(wish: RuleWish, signal?: AbortSignal): Promise<SecurityGroupRule> {
        const { version = 4, ...rest } = wish
        const fields = {
          ...described,
          securityGroupId: 'security_group_id',
          direction: 'direction',
          protocol: 'protocol',
          portFrom: 'port_range_min',
          portTo: 'port_range_max',
          remoteCidr: 'remote_ip_prefix',
          remoteGroupId: 'remote_group_id',
        }
        const body = { security_group_rule: { ...said(fields, rest), ethertype: `IPv${version}` } }
        return (await session.json('network', z.object({ security_group_rule: rule }), { method: 'POST', path: '/security-group-rules', body, signal }))
          .security_group_rule
      },
      delete: (id: string, signal?: AbortSignal) =>
        session.done('network', { method: 'DELETE', path: `/security-group-rules/${encodeURIComponent(id)}`, signal }),
    },
    firewalls: {
      groups: collection<FirewallGroup, FirewallGroupChanges & Owned, FirewallGroupChanges>(session, {
        path: '/fwaas/firewall_groups',
        one: 'firewall_group',
        schema: firewallGroup,
        fields: {
          ...described,
          enabled: 'admin_state_up',
          ingressPolicyId: 'ingress_firewall_policy_id',
          egressPolicyId: 'egress_firewall_policy_id',
          portIds: 'ports',
          shared: 'shared',
        },
      }),
      policies: {
        ...firewallPolicies,
        /** Puts a rule before or after another; by neither, first. @throws OpenStackError `conflict` of a rule that is in it already */
        insertRule: (
          id: string,
          ruleId: string,
          where: { readonly before: string } | { readonly after: string } | null = null,
          signal?: AbortSignal,
        ): Promise<FirewallPolicy> =>
          arrange(
            id,
            'insert',
            { firewall_rule_id: ruleId, ...(where !== null && ('before' in where ? { insert_before: where.before } : { insert_after: where.after })) },
            signal,
          ),
        removeRule: (id: string, ruleId: string, signal?: AbortSignal): Promise<FirewallPolicy> => arrange(id, 'remove', { firewall_rule_id: ruleId }, signal),
      },
      rules: collection<FirewallRule, FirewallRuleChanges & { action: 'allow' | 'deny' | 'reject' } & Owned, FirewallRuleChanges>(session, {
        path: '/fwaas/firewall_rules',
        one: 'firewall_rule',
        schema: firewallRule,
        fields: {
          ...described,
          action: 'action',
          protocol: 'protocol',
          version: 'ip_version',
          sourceAddress: 'source_ip_address',
          sourcePort: 'source_port',
          destinationAddress: 'destination_ip_address',
          destinationPort: 'destination_port',
          enabled: 'enabled',
          shared: 'shared',
        },
      }),
    },
    /** What this Neutron can do beyond its core, by alias: `router`, `fwaas_v2` … */
    async extensions(signal?: AbortSignal): Promise<ReadonlySet<string>> {
      const { extensions } = await session.json('network', z.object({ extensions: z.array(z.object({ alias: z.string() })) }), {
        path: '/extensions',
        query: { fields: 'alias' },
        signal,
      })
      return new Set(extensions.map(({ alias }) => alias))
    },
    quotas: {
      /** `network`, `port`, `floatingip` … ; `null`: as many as one likes. */
      async get(projectId: string, signal?: AbortSignal): Promise<Record<string, { limit: number | null; used: number }>> {
        const one = z
          .object({ limit: z.number(), used: z.number(), reserved: z.number().nullish() })
          .transform((raw) => ({ limit: raw.limit < 0 ? null : raw.limit, used: raw.used + (raw.reserved ?? 0) }))
        return (
          await session.json('network', z.object({ quota: z.record(z.string(), one) }), { path: `/quotas/${encodeURIComponent(projectId)}/details`, signal })
        ).quota
      },
      /** What those have at most that nothing was set for; any project's id asks for them. */
      async defaults(projectId: string, signal?: AbortSignal): Promise<Record<string, number | null>> {
        return (await session.json('network', z.object({ quota: limitSet }), { path: `/quotas/${encodeURIComponent(projectId)}/default`, signal })).quota
      },
      set: (projectId: string, limits: Readonly<Record<string, number>>, signal?: AbortSignal) =>
        session.done('network', { method: 'PUT', path: `/quotas/${encodeURIComponent(projectId)}`, body: { quota: limits }, signal }),
    },
  }
}
export type Networks = ReturnType<typeof createNetworks>
