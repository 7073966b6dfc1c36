import { EngineError } from './errors.ts'
import type { Acl, AclRule, Forward, Network, NetworkSpec } from './network.ts'
import { bounds, contains, familyOf, numberOf, overlap, parseCidr, type Cidr } from './ranges.ts'

/**
 * What a network, an ACL and a forward have to be, whatever the engine. Engines refuse the same,
 * though each in words of its own and some not before a packet is lost. They throw `invalid`.
 */

const networkName = /^[a-z][a-z0-9-]{0,13}[a-z0-9]$/
const aclName = /^[a-z][a-z0-9-]{0,61}[a-z0-9]$/
const tagKey = /^[a-z_]+$/
const domain = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/i

function must(held: boolean, message: string): asserts held {
  if (!held) throw new EngineError('invalid', message)
}
const checkTags = (tags: Readonly<Record<string, string>>): void => {
  for (const key of Object.keys(tags)) must(tagKey.test(key), `no key for a tag: ${key}`)
}

/** Returns the network's range. */
export function checkNetwork(spec: NetworkSpec): Cidr {
  must(networkName.test(spec.name), `no name for a network: ${spec.name}`)
  const range = parseCidr(spec.ipv4)
  must(range?.family === 4, `no IPv4 gateway with prefix length: ${spec.ipv4}`)
  must(range.prefix >= 8 && range.prefix <= 30, `no prefix length for a network: ${spec.ipv4}`)
  must(isHost(range, range.address), `the gateway is no host of its range: ${spec.ipv4}`)
  must(spec.natAddress === null || familyOf(spec.natAddress) === 4, `no IPv4 address: ${spec.natAddress}`)
  must(spec.natAddress === null || spec.nat, 'a NAT address without NAT')
  must(spec.dnsDomain === null || domain.test(spec.dnsDomain), `no domain: ${spec.dnsDomain}`)
  must(spec.acl === null || aclName.test(spec.acl), `no name for an ACL: ${spec.acl}`)
  checkTags(spec.tags)
  return range
}

/** Neither network nor broadcast address. */
function isHost(range: Cidr, address: string): boolean {
  const { first, last } = bounds(range)
  const number = numberOf(address)
  return number > first && number < last
}

/** A static address for an instance. Whether it is free is for the engine to say. */
export function checkAddress(network: Network, address: string): void {
  const range = parseCidr(network.ipv4 ?? '')
  must(range !== null, `the network ${network.name} has no IPv4 range`)
  must(contains(range, address) && isHost(range, address), `${address} is no host of the network ${network.name} (${network.ipv4})`)
}

/** Throws `conflict` where a network has an address of the range. */
export function mustBeOutside(range: Cidr, networks: readonly Pick<Network, 'name' | 'ipv4' | 'ipv6'>[]): void {
  for (const { name, ipv4, ipv6 } of networks) {
    for (const text of [ipv4, ipv6]) {
      const other = parseCidr(text ?? '')
      if (other !== null && overlap(range, other)) throw new EngineError('conflict', `${range.address}/${range.prefix} overlaps ${name} (${text})`)
    }
  }
}

export function checkAcl(acl: Acl): void {
  must(aclName.test(acl.name), `no name for an ACL: ${acl.name}`)
  for (const rule of [...acl.ingress, ...acl.egress]) checkRule(rule)
  checkTags(acl.tags)
}

function checkRule(rule: AclRule): void {
  const families = new Set<4 | 6>()
  for (const cidr of [...rule.source, ...rule.destination]) {
    const range = parseCidr(cidr)
    must(range !== null, `no CIDR: ${cidr}`)
    families.add(range.family)
  }
  if (rule.protocol === 'icmp4') families.add(4)
  if (rule.protocol === 'icmp6') families.add(6)
  must(families.size < 2, 'a rule for IPv4 and IPv6 at a time')
  must(rule.destinationPorts.length === 0 || rule.protocol === 'tcp' || rule.protocol === 'udp', 'ports are of tcp and udp only')
  for (const ports of rule.destinationPorts) portsOf(ports)
}

/** First and last port of `80` or `8000-8999`. */
function portsOf(text: string): { first: number; last: number } {
  const match = /^([1-9]\d{0,4})(?:-([1-9]\d{0,4}))?$/.exec(text)
  const first = Number(match?.[1] ?? Number.NaN)
  const last = match?.[2] === undefined ? first : Number(match[2])
  must(first <= 65_535 && last <= 65_535 && (match?.[2] === undefined || first < last), `no port or range of ports: ${text}`)
  return { first, last }
}

export function checkForward(network: Network, forward: Forward): void {
  const family = familyOf(forward.address)
  must(family !== null, `no address: ${forward.address}`)
  const range = parseCidr((family === 4 ? network.ipv4 : network.ipv6) ?? '')
  must(range !== null, `the network ${network.name} has no IPv${family}`)
  must(!contains(range, forward.address), `${forward.address} is one of the network's own`)
  const targets = [...(forward.target === null ? [] : [forward.target]), ...forward.ports.map((port) => port.targetAddress)]
  for (const target of targets) must(contains(range, target), `${target} is not of the network ${network.name} (${range.address}/${range.prefix})`)
  const taken: { protocol: string; first: number; last: number }[] = []
  for (const { protocol, listenPorts, targetAddress, targetPorts } of forward.ports) {
    const listened = portsOf(listenPorts)
    const aimed = portsOf(targetPorts ?? listenPorts)
    const [many, targeted] = [listened.last - listened.first, aimed.last - aimed.first]
    must(targeted === 0 || targeted === many, `${listenPorts} cannot lead to ${targetPorts}: not as many`)
    must(targetAddress !== forward.target, `${targetAddress} takes ${protocol} ${listenPorts} already`)
    const other = taken.find((one) => one.protocol === protocol && one.first <= listened.last && listened.first <= one.last)
    must(other === undefined, `${protocol} ${listenPorts} is forwarded twice`)
    taken.push({ protocol, ...listened })
  }
}
