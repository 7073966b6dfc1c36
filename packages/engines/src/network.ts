import type { CallOptions } from './compute.ts'

/**
 * Networks of an engine and what filters and translates on them. A network's wanted state is
 * applied as a whole: `apply` makes what is missing, changes what differs, and does nothing where
 * all is as wanted. So whoever was killed, or finds that somebody changed the engine by hand,
 * simply applies again.
 */
export interface Networks {
  list(options?: CallOptions): Promise<Network[]>
  /** Null when there is none. */
  get(name: string, options?: CallOptions): Promise<Network | null>
  /**
   * A managed network of this name that is not tagged as `spec` is throws `conflict`; a range that
   * overlaps another network of the host, or holds the address of a forward, throws `conflict` too,
   * and nothing is left behind. Another range while instances are on it throws `busy`; an ACL that
   * there is none of `not_found`.
   */
  apply(spec: NetworkSpec, options?: CallOptions): Promise<void>
  /** Whether there is this network, and `apply` would change nothing of it. */
  isAs(spec: NetworkSpec, options?: CallOptions): Promise<boolean>
  /** Succeeds when there is none. With instances on it throws `busy`. Its forwards go with it. */
  delete(name: string, options?: CallOptions): Promise<void>
  /** Addresses that are given out, static ones and the gateway's too. No such network throws `not_found`. */
  leases(name: string, options?: CallOptions): Promise<Lease[]>
  readonly acls: Acls
  readonly forwards: Forwards
  /** What the host has of it now, for the detail page; null where there is no such network. */
  state(name: string, options?: CallOptions): Promise<NetworkState | null>
}

export interface Network {
  name: string
  description: string
  /** Made by the engine, and so changeable through it; false for the host's own interfaces. */
  managed: boolean
  /** `bridge`, `ovn`, `physical`, … as the engine calls it. */
  kind: string
  /** Gateway with prefix length, such as 10.88.0.1/24; null without. */
  ipv4: string | null
  ipv6: string | null
  /** Source NAT for what leaves the network by IPv4. */
  nat: boolean
  tags: Readonly<Record<string, string>>
  /** Names of the instances on it. */
  usedBy: readonly string[]
}

export interface NetworkSpec {
  /** /^[a-z][a-z0-9-]{0,13}[a-z0-9]$/: it becomes an interface of the host. */
  name: string
  description: string
  /** Gateway with prefix length, such as 10.1.0.1/24. */
  ipv4: string
  dhcp: boolean
  /** Names of instances resolve under it; null for the engine's own. */
  dnsDomain: string | null
  nat: boolean
  /** Source address of what leaves; null for the host's. */
  natAddress: string | null
  /** Name of the ACL that guards its border; null lets everything through. */
  acl: string | null
  tags: Readonly<Record<string, string>>
}

export interface NetworkState {
  up: boolean
  mtu: number
  receivedBytes: number
  sentBytes: number
  receivedPackets: number
  sentPackets: number
}

export interface Lease {
  address: string
  family: 4 | 6
  mac: string
  hostName: string
  kind: 'static' | 'dynamic' | 'gateway'
}

/**
 * Rules at a network's border: what comes in from outside and goes out (to the host itself too), not
 * what instances of one network say to each other. Whatever the order they are given in, `drop` is looked at before
 * `reject`, that before `allow`; what no rule meets is dropped on the way in and let out.
 * Answers to what was let through pass; so do those of connections from before a rule was changed.
 *
 * Where the host passes bridged packets through its firewall too (br_netfilter, as hosts of
 * containers often do), `drop` and `reject` also meet what instances of one network say to each
 * other; what no rule meets passes there as well.
 */
export interface Acls {
  get(name: string, options?: CallOptions): Promise<Acl | null>
  /** Makes or replaces it: exactly these rules. Another's of that name throws `conflict`. */
  apply(acl: Acl, options?: CallOptions): Promise<void>
  /** Succeeds when there is none. In use throws `busy`. */
  delete(name: string, options?: CallOptions): Promise<void>
}

export interface Acl {
  /** /^[a-z][a-z0-9-]{0,61}[a-z0-9]$/ */
  name: string
  description: string
  ingress: readonly AclRule[]
  egress: readonly AclRule[]
  tags: Readonly<Record<string, string>>
}

export interface AclRule {
  action: 'allow' | 'reject' | 'drop'
  /** Null for any. */
  protocol: 'tcp' | 'udp' | 'icmp4' | 'icmp6' | null
  /** CIDRs; empty for any. */
  source: readonly string[]
  destination: readonly string[]
  /** `22`, `8000-8999`; empty for any. Only with tcp and udp. */
  destinationPorts: readonly string[]
  description: string
}

/** An address outside that leads to instances of a network (destination NAT). */
export interface Forwards {
  /** Of one network, by address. */
  list(network: string, options?: CallOptions): Promise<Forward[]>
  /**
   * Makes or replaces the forward of that address. An address that another network, its instances
   * or its forwards have throws `conflict`.
   */
  apply(network: string, forward: Forward, options?: CallOptions): Promise<void>
  /** Succeeds when there is none. */
  delete(network: string, address: string, options?: CallOptions): Promise<void>
}

export interface Forward {
  /** Address that is listened on, IPv4 or IPv6, not one of the network's. Getting packets for it to the host is not the engine's. */
  address: string
  description: string
  /** Where all goes that no port rule takes; null for nowhere. */
  target: string | null
  /** None leads to `target`, which takes all others. */
  ports: readonly ForwardPort[]
}

export interface ForwardPort {
  protocol: 'tcp' | 'udp'
  /** `80` or `8000-8010`. */
  listenPorts: string
  targetAddress: string
  /** One for all, or as many as are listened on; null for the same. */
  targetPorts: string | null
  description: string
}
