import { z } from 'zod'
import { EngineError } from '../errors.ts'
import { checkAcl, checkAddress, checkForward, checkNetwork, mustBeOutside } from '../network.checks.ts'
import type { Acl, Forward, Lease, Network, Networks, NetworkSpec } from '../network.ts'
import { addressOf, bounds, contains, familyOf, parseCidr } from '../ranges.ts'
import { openJournal } from './journal.ts'
import type { Parts } from './parts.ts'

const tags = z.record(z.string(), z.string())
const storedNetwork = z.object({
  name: z.string(),
  description: z.string(),
  ipv4: z.string(),
  dhcp: z.boolean(),
  dnsDomain: z.string().nullable(),
  nat: z.boolean(),
  natAddress: z.string().nullable(),
  acl: z.string().nullable(),
  tags,
})
const texts = z.array(z.string())
const rule = z.object({
  action: z.enum(['allow', 'reject', 'drop']),
  protocol: z.enum(['tcp', 'udp', 'icmp4', 'icmp6']).nullable(),
  source: texts,
  destination: texts,
  destinationPorts: texts,
  description: z.string(),
})
const storedAcl = z.object({ name: z.string(), description: z.string(), ingress: z.array(rule), egress: z.array(rule), tags })
const storedForward = z.object({
  network: z.string(),
  address: z.string(),
  description: z.string(),
  target: z.string().nullable(),
  ports: z.array(
    z.object({
      protocol: z.enum(['tcp', 'udp']),
      listenPorts: z.string(),
      targetAddress: z.string(),
      targetPorts: z.string().nullable(),
      description: z.string(),
    }),
  ),
})

/** The one that is always there. */
const own: NetworkSpec = {
  name: 'sandbox0',
  description: '',
  ipv4: '10.99.0.1/16',
  dhcp: true,
  dnsDomain: null,
  nat: true,
  natAddress: null,
  acl: null,
  tags: {},
}

/** An instance's place on a network. */
export interface Place {
  name: string
  network: string
  mac: string
  /** What it was given; null where the network gives none. */
  lease: string | null
  static: boolean
  running: boolean
  receivedBytes: number
  sentBytes: number
}

export interface SandboxNetworks extends Networks {
  /**
   * Gives an instance an address: the one it wants, or the next that is free. Throws where there
   * is no such network or address, and `conflict` where another has it.
   */
  take(network: string, instance: string, wanted: string | null): string | null
  release(network: string, address: string | null): void
}

/** Networks that carry nothing, kept as they would be. `places` tells who is on them. */
export function createSandboxNetworks({ directory, enter, work, tell }: Parts, places: () => Iterable<Place>): SandboxNetworks {
  const networks = openJournal<NetworkSpec>(directory, (value) => storedNetwork.safeParse(value).data ?? null, 'networks')
  const acls = openJournal<Acl>(directory, (value) => storedAcl.safeParse(value).data ?? null, 'acls')
  const forwards = openJournal<Forward & { network: string }>(directory, (value) => storedForward.safeParse(value).data ?? null, 'forwards')
  /** Who has an address, by network and address; and where to look for the next free one. */
  const taken = new Map<string, { by: Map<string, string>; next: number }>()

  const all = (): NetworkSpec[] => [own, ...networks.objects.values()]
  const find = (name: string): NetworkSpec | undefined => (name === own.name ? own : networks.objects.get(name))
  const must = (name: string): NetworkSpec => {
    const one = find(name)
    if (one === undefined) throw new EngineError('not_found', `no network ${name}`)
    return one
  }
  const on = (name: string): Place[] => [...places()].filter((place) => place.network === name)
  const shape = (spec: NetworkSpec, usedBy: readonly string[]): Network => ({
    name: spec.name,
    description: spec.description,
    managed: true,
    kind: 'bridge',
    ipv4: spec.ipv4,
    ipv6: null,
    nat: spec.nat,
    tags: spec.tags,
    usedBy,
  })
  const forwardsOf = (network: string): Forward[] =>
    [...forwards.objects.values()]
      .filter((one) => one.network === network)
      .map((one) => {
        const { network: _, ...forward } = one
        return forward
      })
      .sort((left, right) => (left.address < right.address ? -1 : 1))
  const keyOf = (network: string, address: string): string => `${network}/${address}`
  const same = (left: unknown, right: unknown): boolean => JSON.stringify(sorted(left)) === JSON.stringify(sorted(right))
  const removeForward = (network: string, address: string): void => {
    forwards.journal.remove(keyOf(network, address))
    tell('forward', address, 'network-forward-deleted', network)
  }
  // A network that was removed in the last moment of a former life took its forwards along.
  for (const { network, address } of forwards.objects.values()) if (find(network) === undefined) forwards.journal.remove(keyOf(network, address))

  return {
    async list(call) {
      await enter(call)
      const users = new Map<string, string[]>()
      for (const { network, name } of places()) {
        const there = users.get(network)
        if (there === undefined) users.set(network, [name])
        else there.push(name)
      }
      return all().map((spec) => shape(spec, users.get(spec.name) ?? []))
    },
    async get(name, call) {
      await enter(call)
      const spec = find(name)
      return spec === undefined
        ? null
        : shape(
            spec,
            on(name).map((place) => place.name),
          )
    },

    async apply(spec, call) {
      const range = checkNetwork(spec)
      await work(call)
      const former = find(spec.name)
      if (former !== undefined && (former === own || !same(former.tags, spec.tags))) throw new EngineError('conflict', `${spec.name} exists and is not ours`)
      if (spec.acl !== null && !acls.objects.has(spec.acl)) throw new EngineError('not_found', `no ACL ${spec.acl}`)
      if (former !== undefined && same(former, spec)) return
      if (former?.ipv4 !== spec.ipv4) {
        if (on(spec.name).length > 0) throw new EngineError('busy', `there are instances on ${spec.name}`)
        const others = all().filter((one) => one.name !== spec.name)
        mustBeOutside(
          range,
          others.map((one) => shape(one, [])),
        )
        const forwarded = [...forwards.objects.values()].find((one) => contains(range, one.address))
        if (forwarded !== undefined) throw new EngineError('conflict', `${forwarded.address} is forwarded to ${forwarded.network}`)
        taken.delete(spec.name)
      }
      networks.journal.put(spec.name, { ...spec, tags: { ...spec.tags } })
      tell('network', spec.name, former === undefined ? 'network-created' : 'network-updated')
    },

    async isAs(spec, call) {
      await enter(call)
      return same(find(spec.name), spec)
    },

    async delete(name, call) {
      await work(call)
      const spec = find(name)
      if (spec === undefined) return
      if (spec === own) throw new EngineError('invalid', `${name} is the sandbox's own`)
      if (on(name).length > 0) throw new EngineError('busy', `there are instances on ${name}`)
      for (const { address } of forwardsOf(name)) removeForward(name, address)
      networks.journal.remove(name)
      taken.delete(name)
      tell('network', name, 'network-deleted')
    },

    async leases(name, call) {
      await enter(call)
      const gateway: Lease = { address: parseCidr(must(name).ipv4)?.address ?? '', family: 4, mac: '', hostName: `${name}.gw`, kind: 'gateway' }
      const given = on(name).flatMap((place): Lease[] =>
        place.lease === null || (!place.static && !place.running)
          ? []
          : [{ address: place.lease, family: 4, mac: place.mac, hostName: place.name, kind: place.static ? 'static' : 'dynamic' }],
      )
      return [gateway, ...given]
    },

    async state(name, call) {
      await enter(call)
      if (find(name) === undefined) return null
      const carried = on(name)
      // What an instance sends, its network receives. A packet is taken for 1,000 bytes.
      const received = carried.reduce((sum, place) => sum + place.sentBytes, 0)
      const sent = carried.reduce((sum, place) => sum + place.receivedBytes, 0)
      return { up: true, mtu: 1500, receivedBytes: received, sentBytes: sent, receivedPackets: Math.ceil(received / 1000), sentPackets: Math.ceil(sent / 1000) }
    },

    acls: {
      async get(name, call) {
        await enter(call)
        return acls.objects.get(name) ?? null
      },
      async apply(acl, call) {
        checkAcl(acl)
        await work(call)
        const former = acls.objects.get(acl.name)
        if (former !== undefined && !same(former.tags, acl.tags)) throw new EngineError('conflict', `${acl.name} exists and is not ours`)
        const next = { ...acl, ingress: once(acl.ingress), egress: once(acl.egress) }
        if (former !== undefined && same(former, next)) return
        acls.journal.put(acl.name, structuredClone(next))
        tell('acl', acl.name, former === undefined ? 'network-acl-created' : 'network-acl-updated')
      },
      async delete(name, call) {
        await work(call)
        if (!acls.objects.has(name)) return
        if (all().some((one) => one.acl === name)) throw new EngineError('busy', `${name} is in use`)
        acls.journal.remove(name)
        tell('acl', name, 'network-acl-deleted')
      },
    },

    forwards: {
      async list(network, call) {
        await enter(call)
        must(network)
        return forwardsOf(network)
      },
      async apply(network, forward, call) {
        await work(call)
        checkForward(shape(must(network), []), forward)
        const key = keyOf(network, forward.address)
        const former = forwards.objects.get(key)
        if (former === undefined) {
          const family = familyOf(forward.address) ?? 4
          mustBeOutside(
            { family, address: forward.address, prefix: family === 4 ? 32 : 128 },
            all().map((one) => shape(one, [])),
          )
          const other = [...forwards.objects.values()].find((one) => one.address === forward.address)
          if (other !== undefined) throw new EngineError('conflict', `${forward.address} is forwarded to ${other.network}`)
        }
        const next = structuredClone({ ...forward, network })
        if (former !== undefined && same(former, next)) return
        forwards.journal.put(key, next)
        tell('forward', forward.address, former === undefined ? 'network-forward-created' : 'network-forward-updated', network)
      },
      async delete(network, address, call) {
        await work(call)
        if (forwards.objects.has(keyOf(network, address))) removeForward(network, address)
      },
    },

    take(network, instance, wanted) {
      const spec = must(network)
      const range = parseCidr(spec.ipv4)
      if (range === null) return null
      const { first, last } = bounds(range)
      const given = taken.get(network) ?? { by: new Map([[range.address, `${network}.gw`]]), next: first + 1 }
      taken.set(network, given)
      if (wanted !== null) {
        checkAddress(shape(spec, []), wanted)
        const by = given.by.get(wanted)
        if (by !== undefined && by !== instance) throw new EngineError('conflict', `${wanted} is ${by}'s`)
        given.by.set(wanted, instance)
        return wanted
      }
      if (!spec.dhcp || given.by.size >= last - first - 1) return null
      while (given.by.has(addressOf(given.next)) || given.next <= first || given.next >= last) given.next = given.next >= last ? first + 1 : given.next + 1
      const address = addressOf(given.next)
      given.by.set(address, instance)
      return address
    },
    release(network, address) {
      if (address !== null) taken.get(network)?.by.delete(address)
    },
  }
}

/** Rules in no order, each but once. */
function once<Rule>(rules: readonly Rule[]): Rule[] {
  return [...new Map(rules.map((one) => [JSON.stringify(sorted(one)), one])).values()]
}

/** The same text for what means the same: keys, rules and ports are in no order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((one) => JSON.stringify(sorted(one))).sort()
  if (typeof value !== 'object' || value === null) return value
  return Object.entries(value)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([key, one]) => [key, sorted(one)])
}
