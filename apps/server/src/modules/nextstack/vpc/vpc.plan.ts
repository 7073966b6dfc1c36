import { addressText } from '@zhisuan/contract/ip'
import { inOrder, type SecurityRule } from '@zhisuan/contract/nextstack/security-group'
import type { Acl, AclRule, Forward, ForwardPort, NetworkSpec } from '@zhisuan/engines/network'
import { usable } from './vpc.range.ts'

/** What a plan is made of: rows, without what leaves or is to lead nowhere. Addresses are numbers. */
export interface VpcFacts {
  id: string
  cloud_id: string
  engine_name: string
  name: string
  cidr: string
  dhcp: boolean
  dns_domain: string | null
  /** Groups of the whole network. */
  groups: readonly Group[]
  /** Groups of instances in it, with the addresses of those. */
  member_groups: readonly (Group & { addresses: readonly number[] })[]
  nat: { snat: boolean; snat_address: number | null } | null
  /** Outside addresses that lead to an instance as a whole. */
  eips: readonly { id: string; number: number; inside: number }[]
  /** Rules that lead ports of an outside address inside. */
  rules: readonly {
    eip_id: string
    number: number
    protocol: 'tcp' | 'udp'
    outside_first: number
    outside_last: number
    inside: number
    inside_first: number
    inside_last: number
    description: string
  }[]
}
interface Group {
  rules: readonly SecurityRule[]
}

export interface VpcPlan {
  network: NetworkSpec
  acl: Acl
  /** Each with the EIP that it is of. */
  forwards: readonly { eip_id: string; forward: Forward }[]
}

/** How a network is recognised as ours on the engine. */
export const tagsOf = (vpcId: string): Record<string, string> => ({ vpc_id: vpcId })

/** All that the engine is to have of a network. */
export function planOf(facts: VpcFacts): VpcPlan {
  const { gateway, prefix } = usable(facts.cidr)
  const guards = [
    ...facts.groups.map((group) => ({ group, inside: [facts.cidr] })),
    // Of nobody there is nothing to allow; an empty list would mean anybody.
    ...facts.member_groups
      .filter(({ addresses }) => addresses.length > 0)
      .map((group) => ({ group, inside: group.addresses.map((number) => `${addressText(number)}/32`) })),
  ]
  const rulesOf = (direction: SecurityRule['direction']): AclRule[] =>
    distinct(inOrder(guards.flatMap(({ group, inside }) => group.rules.filter((rule) => rule.direction === direction).map((rule) => aclRule(rule, inside)))))
  const tags = tagsOf(facts.id)
  return {
    network: {
      name: facts.engine_name,
      description: facts.name,
      ipv4: `${addressText(gateway)}/${prefix}`,
      dhcp: facts.dhcp,
      dnsDomain: facts.dns_domain,
      nat: facts.nat?.snat ?? false,
      natAddress: facts.nat?.snat === true && facts.nat.snat_address !== null ? addressText(facts.nat.snat_address) : null,
      acl: facts.engine_name,
      tags,
    },
    acl: { name: facts.engine_name, description: facts.name, ingress: rulesOf('ingress'), egress: rulesOf('egress'), tags },
    forwards: [
      ...facts.eips.map((eip) => ({
        eip_id: eip.id,
        forward: { address: addressText(eip.number), description: '', target: addressText(eip.inside), ports: [] },
      })),
      ...forwardsOf(facts.rules),
    ],
  }
}

const anybody = '0.0.0.0/0'

function aclRule(rule: SecurityRule, inside: readonly string[]): AclRule {
  const outside = rule.remote === anybody ? [] : [rule.remote]
  const [source, destination] = rule.direction === 'ingress' ? [outside, inside] : [inside, outside]
  return {
    action: rule.action,
    protocol: rule.protocol === 'any' ? null : rule.protocol === 'icmp' ? 'icmp4' : rule.protocol,
    source,
    destination,
    destinationPorts: rule.ports === '' ? [] : rule.ports.split(',').map(plainPorts),
    description: rule.description,
  }
}

/** `080-80` is 80. */
function plainPorts(text: string): string {
  const [first = 0, last = first] = text.split('-').map(Number)
  return portsText(first, last)
}
export const portsText = (first: number, last: number): string => (first === last ? String(first) : `${first}-${last}`)

/** Engines refuse rules that say the same twice. */
function distinct(rules: readonly AclRule[]): AclRule[] {
  const said = new Map<string, AclRule>()
  for (const rule of rules) {
    const { description: _, ...meaning } = rule
    const key = JSON.stringify(meaning)
    if (!said.has(key)) said.set(key, rule)
  }
  return [...said.values()]
}

function forwardsOf(rules: VpcFacts['rules']): { eip_id: string; forward: Forward }[] {
  const byEip = new Map<string, { number: number; ports: ForwardPort[] }>()
  for (const rule of rules) {
    const eip = byEip.get(rule.eip_id) ?? { number: rule.number, ports: [] }
    byEip.set(rule.eip_id, eip)
    const [listenPorts, targetPorts] = [portsText(rule.outside_first, rule.outside_last), portsText(rule.inside_first, rule.inside_last)]
    eip.ports.push({
      protocol: rule.protocol,
      listenPorts,
      targetAddress: addressText(rule.inside),
      targetPorts: targetPorts === listenPorts ? null : targetPorts,
      description: rule.description,
    })
  }
  return [...byEip].map(([eip_id, { number, ports }]) => ({ eip_id, forward: { address: addressText(number), description: '', target: null, ports } }))
}
