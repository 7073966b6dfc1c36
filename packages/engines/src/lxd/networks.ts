import { z } from 'zod'
import type { CallOptions } from '../compute.ts'
import { EngineError, isEngineError } from '../errors.ts'
import { checkNetwork, mustBeOutside } from '../network.checks.ts'
import type { Lease, Network, Networks, NetworkSpec, NetworkState } from '../network.ts'
import { familyOf, type Cidr } from '../ranges.ts'
import { pause, untilAborted } from '../signals.ts'
import { createAcls } from './acls.ts'
import { createForwards, networkPath } from './forwards.ts'
import { find, undisturbed, type Found } from './objects.ts'
import { change } from './operations.ts'
import { parse } from './parse.ts'
import { onMember, type Server } from './server.ts'
import { sameTexts, tagged, tagPrefix, tagsOf } from './tags.ts'
import type { Transport } from './transport.ts'

/** LXD REST API `GET /1.0/networks`: the engine's own, and the interfaces of the host that answers. */
export const network = z.object({
  name: z.string(),
  description: z.string().nullish(),
  managed: z.boolean(),
  type: z.string(),
  /** `Created`; `Pending` while it is being made; `Errored` where that failed; `Unavailable`. */
  status: z.string().nullish(),
  config: z.record(z.string(), z.string()).nullish(),
  used_by: z.array(z.string()).nullish(),
})
type LxdNetwork = z.output<typeof network>

const lease = z.object({ hostname: z.string().nullish(), hwaddr: z.string().nullish(), address: z.string(), type: z.string().nullish() })
const state = z.object({
  addresses: z.array(z.object({ address: z.string(), netmask: z.string() })).nullish(),
  counters: z.object({ bytes_received: z.number(), bytes_sent: z.number(), packets_received: z.number(), packets_sent: z.number() }).nullish(),
  mtu: z.number().nullish(),
  state: z.string().nullish(),
})

/** What is waited for another's, or our own former, creation before it is taken for a dead one. */
const pendingTries = 50
const pendingPauseMs = 100

/** What LXD is given at least to end what a client asked for that is gone; it tells nobody when it has. */
const abandonedMs = 400
/** The same where we cannot know how long it takes just now: beside others it was seen to take more than a second. */
const abandonedUnknownMs = 4_000

/** Nothing else of a network's configuration is ours to change. */
function configOf(spec: NetworkSpec): Record<string, string> {
  return {
    'ipv4.address': spec.ipv4,
    'ipv4.dhcp': String(spec.dhcp),
    'ipv4.nat': String(spec.nat),
    ...(spec.natAddress !== null && { 'ipv4.nat.address': spec.natAddress }),
    'ipv6.address': 'none',
    ...(spec.dnsDomain !== null && { 'dns.domain': spec.dnsDomain }),
    ...(spec.acl !== null && { 'security.acls': spec.acl, 'security.acls.default.ingress.action': 'drop', 'security.acls.default.egress.action': 'allow' }),
    ...tagged(spec.tags),
  }
}
const isOurs = (key: string): boolean =>
  /^(ipv4\.(address|dhcp|nat|nat\.address)|ipv6\.address|dns\.domain|security\.acls(\..*)?)$/.test(key) || key.startsWith(tagPrefix)

/** Whether nothing of it that is ours to change differs. */
function isAs(raw: LxdNetwork, spec: NetworkSpec): boolean {
  const ours = Object.fromEntries(Object.entries(raw.config ?? {}).filter(([key]) => isOurs(key)))
  return sameTexts(ours, configOf(spec)) && (raw.description ?? '') === spec.description
}

export function createNetworks(transport: Transport, server: Server): Networks {
  const read = (name: string, options: CallOptions): Promise<Found<LxdNetwork> | null> => find(transport, networkPath(name), network, 'network', options)
  const list = async (options: CallOptions): Promise<LxdNetwork[]> => {
    const { metadata } = await transport.ask('/1.0/networks', { query: { recursion: '1' }, signal: options.signal })
    return parse(z.array(network), metadata, 'networks')
  }
  const stateOf = (name: string, member: string | null, options: CallOptions) =>
    find(transport, `${networkPath(name)}/state`, state, 'network state', options, onMember(member))
  const get: Networks['get'] = async (name, options = {}) => {
    const found = await read(name, options)
    return found === null ? null : shapeNetwork(found.raw)
  }
  const forwards = createForwards(transport, server, async (options) => (await list(options)).map(shapeNetwork))

  /** Throws `conflict` where another network, an interface of the host or a forward has an address of the range. */
  const mustBeFree = async (range: Cidr, self: string, options: CallOptions): Promise<void> => {
    const others = (await list(options)).filter((one) => one.name !== self && one.type !== 'loopback')
    mustBeOutside(range, others.map(shapeNetwork))
    const unmanaged = others
      .filter((one) => !one.managed)
      .map(async (one) => {
        for (const { address, netmask } of (await stateOf(one.name, null, options))?.raw.addresses ?? [])
          mustBeOutside(range, [{ name: one.name, ipv4: `${address}/${netmask}`, ipv6: null }])
      })
    await Promise.all(unmanaged)
    await forwards.mustBeOutside(range, others.map(shapeNetwork), options)
  }

  /** Its state is settled: it is not being made right now. */
  const settled = async (name: string, options: CallOptions): Promise<Found<LxdNetwork> | null> => {
    for (let tries = 0; ; tries++) {
      const found = await read(name, options)
      if (found?.raw.status !== 'Pending' || tries >= pendingTries) return found
      await pause(pendingPauseMs, options.signal)
    }
  }

  /**
   * Ends a network's dnsmasq before the network goes. LXD 5.0 lets two deletions run at a time (ours,
   * and one of a client that was killed): one takes the file with dnsmasq's pid away before the other
   * has read it, and the process stays, with its addresses, until the host restarts.
   */
  const endDnsmasq = async (name: string, options: CallOptions): Promise<void> => {
    const found = await read(name, options)
    if (found === null || isUnmade(found.raw)) return
    const begun = performance.now()
    const { description, config } = found.raw
    const without = { ...config, 'ipv4.address': 'none', 'ipv6.address': 'none' }
    const ended =
      shapeNetwork(found.raw).ipv4 !== null &&
      (await change(
        transport,
        networkPath(name),
        { method: 'PUT', ifMatch: found.etag, body: { description: description ?? '', config: without } },
        options,
      ).then(
        () => true,
        (error: unknown) => {
          // It is being changed or deleted, or will not have it: then it goes as it is.
          if (isEngineError(error, 'unreachable', 'unanswered', 'cancelled')) throw error
          return false
        },
      ))
    // One who was killed may have asked for the same: LXD goes on with that, and where the network goes from under it, it takes that
    // back, bridge, addresses and dnsmasq, of a network that is gone. It takes about as long as what we have just asked for, which is
    // seconds where members are busy. Where somebody else has ended dnsmasq before us, or is about to, we have no measure.
    await pause(ended ? Math.max(abandonedMs, 2 * (performance.now() - begun)) : abandonedUnknownMs, options.signal)
  }

  const remove = async (name: string, options: CallOptions): Promise<void> => {
    await endDnsmasq(name, options)
    for (let tries = 0; ; tries++) {
      try {
        await change(transport, networkPath(name), { method: 'DELETE' }, options)
        return
      } catch (error) {
        // In a cluster it may be gone on one member only.
        if (isEngineError(error, 'not_found') && (await read(name, options)) === null) return
        // Two who delete it at a time step on each other's toes.
        if (options.signal?.aborted === true || tries >= 3 || !isEngineError(error, 'failed', 'not_found')) throw error
        await pause(pendingPauseMs, options.signal)
      }
    }
  }

  /** In a cluster every member is told first, then all of them together. */
  const post = async (spec: NetworkSpec, options: CallOptions): Promise<void> => {
    const about = { name: spec.name, type: 'bridge' }
    const post = (target: Record<string, string>, body: object) =>
      change(transport, '/1.0/networks', { method: 'POST', query: target, body: { ...about, ...body } }, options)
    for (const member of await server.members(options)) {
      if (member === null) continue
      await post({ target: member }, {}).catch((error: unknown) => {
        // By ourselves, before we were killed.
        if (!(error instanceof EngineError && /already defined|not in pending state/i.test(error.message))) throw error
      })
    }
    await post({}, { description: spec.description, config: configOf(spec) })
  }

  const removeLeft = async (spec: NetworkSpec): Promise<void> => {
    try {
      const left = (await read(spec.name, {}))?.raw
      if (left?.managed === true && (isUnmade(left) || sameTexts(tagsOf(left.config), spec.tags))) await remove(spec.name, {})
    } catch {
      // Why it could not be made says more.
    }
  }

  const create = async (spec: NetworkSpec, range: Cidr, options: CallOptions): Promise<void> => {
    await mustBeFree(range, spec.name, options)
    try {
      await post(spec, options)
      // Somebody else may have made another meanwhile; whoever sees it yields.
      await mustBeFree(range, spec.name, options)
    } catch (error) {
      // What may still be under way is not ours to remove; nor another's in our place.
      const taken = isEngineError(error, 'conflict') && error.status !== undefined
      if (!taken && !isEngineError(error, 'unreachable', 'unanswered', 'cancelled')) await removeLeft(spec)
      throw error
    }
  }
  /**
   * One after the other, so that each sees the ranges of those before it, and as the members of a
   * cluster bear no two deletions at a time.
   */
  let last: Promise<unknown> = Promise.resolve()
  const inTurn = (work: () => Promise<void>, options: CallOptions): Promise<void> => {
    const mine = last.then(work)
    last = mine.catch(() => undefined)
    return untilAborted(mine, options.signal)
  }

  const apply: Networks['apply'] = async (spec, options = {}) => {
    const range = checkNetwork(spec)
    await server.needs(['network', ...(spec.acl === null ? [] : ['network_acl', 'network_bridge_acl'])], options)
    const wanted = configOf(spec)
    await undisturbed(async () => {
      const there = await settled(spec.name, options)
      const dead =
        there?.raw.managed === true && isUnmade(there.raw) && (sameTexts(there.raw.config ?? {}, {}) || sameTexts(tagsOf(there.raw.config), spec.tags))
      if (there === null || dead) {
        await inTurn(async () => {
          if (dead) await remove(spec.name, options)
          await create(spec, range, options)
        }, options)
      }
      // A cluster forgets the description of what it makes.
      const found = there === null || dead ? await read(spec.name, options) : there
      if (found === null) throw new EngineError('conflict', `somebody deleted ${spec.name} as it was made`)
      const { raw, etag } = found
      const config = raw.config ?? {}
      if (!raw.managed || !sameTexts(tagsOf(config), spec.tags)) throw new EngineError('conflict', `${spec.name} exists and is not ours`)
      if (isAs(raw, spec)) return
      if (config['ipv4.address'] !== spec.ipv4) {
        if (shapeNetwork(raw).usedBy.length > 0) throw new EngineError('busy', `there are instances on ${spec.name}`)
        await mustBeFree(range, spec.name, options)
      }
      const others = Object.entries(config).filter(([key]) => !isOurs(key))
      await change(
        transport,
        networkPath(spec.name),
        { method: 'PUT', ifMatch: etag, body: { description: spec.description, config: { ...Object.fromEntries(others), ...wanted } } },
        options,
      )
    })
  }

  return {
    async list(options = {}) {
      return (await list(options)).map(shapeNetwork)
    },
    get,
    apply,
    async isAs(spec, options = {}) {
      const found = await read(spec.name, options)
      return found !== null && found.raw.managed && !isUnmade(found.raw) && isAs(found.raw, spec)
    },

    async delete(name, options = {}) {
      const found = await settled(name, options)
      if (found === null) return
      if (!found.raw.managed) throw new EngineError('invalid', `${name} is the host's own`)
      await inTurn(() => remove(name, options), options)
    },

    async leases(name, options = {}) {
      await server.needs(['network_leases'], options)
      const { metadata } = await transport.ask(`${networkPath(name)}/leases`, { signal: options.signal })
      return parse(z.array(lease), metadata, 'leases').map(shapeLease)
    },

    async state(name, options = {}) {
      await server.needs(['network_state'], options)
      const [found, members] = await Promise.all([read(name, options), server.members(options)])
      if (found === null) return null
      // A bridge is on every member, each with its own traffic; what is not managed, on the one that answers.
      const asked = found.raw.managed ? members : [null]
      const states = await Promise.all(asked.map((member) => stateOf(name, member, options)))
      return shapeState(states.flatMap((one) => (one === null ? [] : [one.raw])))
    },

    acls: createAcls(transport, server),
    forwards,
  }
}

/** Its creation ended without success; nothing can be on it. */
const isUnmade = ({ status }: LxdNetwork): boolean => status === 'Pending' || status === 'Errored'

function shapeNetwork(raw: LxdNetwork): Network {
  const range = (key: string): string | null => {
    const value = raw.config?.[key]
    return value === undefined || value === 'none' || value === '' ? null : value
  }
  return {
    name: raw.name,
    description: raw.description ?? '',
    managed: raw.managed,
    kind: raw.type,
    ipv4: range('ipv4.address'),
    ipv6: range('ipv6.address'),
    nat: raw.config?.['ipv4.nat'] === 'true',
    tags: tagsOf(raw.config),
    usedBy: (raw.used_by ?? []).flatMap((path) => {
      const name = /^\/1\.0\/instances\/([^/?]+)/.exec(path)?.[1]
      return name === undefined ? [] : [decodeURIComponent(name)]
    }),
  }
}

function shapeLease(raw: z.output<typeof lease>): Lease {
  return {
    address: raw.address,
    family: familyOf(raw.address) ?? 4,
    mac: raw.hwaddr ?? '',
    hostName: raw.hostname ?? '',
    // An `uplink` is the gateway's address on the network above.
    kind: raw.type === 'static' || raw.type === 'dynamic' ? raw.type : 'gateway',
  }
}

function shapeState(states: readonly z.output<typeof state>[]): NetworkState | null {
  const [first] = states
  if (first === undefined) return null
  const sum = (of: 'bytes_received' | 'bytes_sent' | 'packets_received' | 'packets_sent'): number =>
    states.reduce((total, { counters }) => total + (counters?.[of] ?? 0), 0)
  return {
    up: states.every(({ state }) => state === 'up'),
    mtu: first.mtu ?? 0,
    receivedBytes: sum('bytes_received'),
    sentBytes: sum('bytes_sent'),
    receivedPackets: sum('packets_received'),
    sentPackets: sum('packets_sent'),
  }
}
