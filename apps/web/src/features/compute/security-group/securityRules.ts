import { readRange } from '@zhisuan/contract/compute/address'
import { computeSecurityGroups, hasPorts, isIcmp, type ComputeSecurityRule, type RuleDirection, type RuleWish } from '@zhisuan/contract/compute/security-group'
import type { Call } from '@zhisuan/contract/define'
import type { TFunction } from 'i18next'
import { invalidatedByNetwork } from '../network/networkText.ts'

/** What a change to one makes untrue. */
export const invalidatedByGroup: readonly Call[] = [computeSecurityGroups.list, computeSecurityGroups.get, ...invalidatedByNetwork]

/** What people mostly let in, by its name in the messages. */
export const services = {
  ssh: { protocol: 'tcp', port_from: 22 },
  rdp: { protocol: 'tcp', port_from: 3389 },
  http: { protocol: 'tcp', port_from: 80 },
  https: { protocol: 'tcp', port_from: 443 },
  dns: { protocol: 'udp', port_from: 53 },
  mysql: { protocol: 'tcp', port_from: 3306 },
  postgresql: { protocol: 'tcp', port_from: 5432 },
  redis: { protocol: 'tcp', port_from: 6379 },
  ping: { protocol: 'icmp', icmp_type: 8 },
  tcp: { protocol: 'tcp' },
  udp: { protocol: 'udp' },
  all: { protocol: 'any' },
} as const satisfies Record<string, { protocol: Protocol; port_from?: number; icmp_type?: number }>
export type Service = keyof typeof services
export const serviceNames = Object.keys(services) as Service[]

export const protocols = ['any', 'tcp', 'udp', 'icmp', 'other'] as const
export type Protocol = (typeof protocols)[number]
export const remoteKinds = ['any', 'cidr', 'group'] as const

/** A rule as it is typed. */
export interface RuleValues {
  direction: RuleDirection
  version: 4 | 6
  protocol: Protocol
  number?: number | null
  port_from?: number | null
  port_to?: number | null
  icmp_type?: number | null
  icmp_code?: number | null
  remote: (typeof remoteKinds)[number]
  remote_cidr?: string
  remote_group_id?: string
  description: string
}

/** What a service fills in: all that it does not say is emptied. */
export const filledBy = (service: Service, version: 4 | 6): Pick<RuleValues, 'protocol' | 'port_from' | 'port_to' | 'icmp_type' | 'icmp_code'> => {
  const { protocol, ...rest }: { protocol: Protocol; port_from?: number; icmp_type?: number } = services[service]
  return { protocol, port_from: rest.port_from ?? null, port_to: null, icmp_type: rest.icmp_type === undefined ? null : echoOf(version), icmp_code: null }
}
/** The type of a ping's question. */
export const echoOf = (version: 4 | 6): number => (version === 6 ? 128 : 8)

/** What is asked for by what was typed: fields that do not show say nothing. */
export function wishOf({
  direction,
  version,
  protocol: kind,
  number,
  port_from,
  port_to,
  icmp_type,
  icmp_code,
  remote,
  remote_cidr,
  remote_group_id,
  description,
}: RuleValues): RuleWish {
  const protocol = kind === 'any' ? null : kind === 'other' ? String(number ?? '') : kind === 'icmp' && version === 6 ? 'icmpv6' : kind
  return {
    direction,
    version,
    protocol,
    port_from: hasPorts(protocol) ? (port_from ?? null) : null,
    port_to: hasPorts(protocol) ? (port_to ?? null) : null,
    icmp_type: isIcmp(protocol) ? (icmp_type ?? null) : null,
    icmp_code: isIcmp(protocol) ? (icmp_code ?? null) : null,
    remote_cidr: remote === 'cidr' ? (remote_cidr ?? '').trim() : null,
    remote_group_id: remote === 'group' ? (remote_group_id ?? null) : null,
    description,
  }
}

/** Ports by which machines are run, and databases: nobody wants the whole world there. */
const guarded: readonly (readonly [number, string])[] = [
  [22, 'SSH'],
  [23, 'Telnet'],
  [1433, 'SQL Server'],
  [2375, 'Docker'],
  [2379, 'etcd'],
  [3306, 'MySQL'],
  [3389, 'RDP'],
  [5432, 'PostgreSQL'],
  [5900, 'VNC'],
  [5985, 'WinRM'],
  [6379, 'Redis'],
  [6443, 'Kubernetes'],
  [9200, 'Elasticsearch'],
  [27017, 'MongoDB'],
]
type Judged = Pick<RuleWish, 'direction' | 'version' | 'protocol' | 'port_from' | 'port_to' | 'remote_cidr' | 'remote_group_id'>

/** Whether a rule lets in, or out to, any address. */
export function isAnywhere({ remote_cidr, remote_group_id }: Pick<Judged, 'remote_cidr' | 'remote_group_id'>): boolean {
  if (remote_group_id !== null) return false
  return remote_cidr === null || readRange(remote_cidr)?.prefix === 0
}

/** Which of them a rule opens to everybody; half of all addresses count as all of them. */
export function exposedBy(rule: Judged): readonly string[] {
  const { direction, protocol, port_from, port_to, remote_cidr } = rule
  const wide = isAnywhere(rule) || (rule.remote_group_id === null && remote_cidr !== null && readRange(remote_cidr)?.prefix === 1)
  if (direction !== 'ingress' || !wide || (protocol !== null && protocol !== 'tcp' && protocol !== '6')) return []
  const from = port_from ?? 1
  const to = port_from === null ? 65_535 : (port_to ?? port_from)
  return guarded.filter(([port]) => from <= port && port <= to).map(([, name]) => name)
}

/** A protocol as people write it; Neutron keeps some by number. */
export function protocolText(t: TFunction<'computeSecurity'>, protocol: string | null): string {
  if (protocol === null) return t('rule.any')
  if (/^\d+$/.test(protocol)) return t('rule.number', { number: protocol })
  return protocol === 'icmpv6' ? 'ICMPv6' : protocol.toUpperCase()
}

/** Ports, or the type of ICMP. */
export function rangeText(t: TFunction<'computeSecurity'>, { protocol, port_from, port_to, icmp_type, icmp_code }: ComputeSecurityRule): string {
  if (isIcmp(protocol) && icmp_type !== null)
    return icmp_code === null ? t('rule.type', { type: icmp_type }) : t('rule.typeCode', { type: icmp_type, code: icmp_code })
  if (port_from === null) return t('rule.any')
  return port_to === null || port_to === port_from ? String(port_from) : `${port_from}-${port_to}`
}

/** Where it comes from, or goes to. */
export const remoteText = (t: TFunction<'computeSecurity'>, rule: ComputeSecurityRule, nameOfGroup: (id: string) => string): string =>
  rule.remote_group_id !== null
    ? t('rule.group', { name: nameOfGroup(rule.remote_group_id) })
    : isAnywhere(rule)
      ? t('rule.anywhere')
      : (rule.remote_cidr ?? '')
