import { z } from 'zod'
import type { CallOptions } from '../compute.ts'
import { EngineError, isEngineError } from '../errors.ts'
import { checkForward, mustBeOutside } from '../network.checks.ts'
import type { Forward, ForwardPort, Forwards, Network } from '../network.ts'
import { contains, familyOf, type Cidr } from '../ranges.ts'
import { find, undisturbed } from './objects.ts'
import { change } from './operations.ts'
import { parse } from './parse.ts'
import { onMember, type Server } from './server.ts'
import type { Transport } from './transport.ts'

/** LXD REST API `GET /1.0/networks/{name}/forwards`. */
const port = z.object({
  protocol: z.enum(['tcp', 'udp']),
  listen_port: z.string(),
  target_address: z.string(),
  target_port: z.string().nullish(),
  description: z.string().nullish(),
})
const forward = z.object({
  listen_address: z.string(),
  description: z.string().nullish(),
  config: z.record(z.string(), z.string()).nullish(),
  ports: z.array(port).nullish(),
  /** The cluster member, of a bridge; each has its own. */
  location: z.string().nullish(),
})
type LxdForward = z.output<typeof forward>

export const networkPath = (name: string): string => `/1.0/networks/${encodeURIComponent(name)}`
const pathOf = (network: string, address: string): string => `${networkPath(network)}/forwards/${encodeURIComponent(address)}`
const kinds = new Set(['bridge', 'ovn'])

export interface LxdForwards extends Forwards {
  /** Throws `conflict` where a forward of these networks listens within the range. */
  mustBeOutside(range: Cidr, networks: readonly Network[], options: CallOptions): Promise<void>
}

/** `networks` lists all there are. */
export function createForwards(transport: Transport, server: Server, networks: (options: CallOptions) => Promise<Network[]>): LxdForwards {
  const list = async (network: string, options: CallOptions): Promise<LxdForward[]> => {
    const { metadata } = await transport.ask(`${networkPath(network)}/forwards`, { query: { recursion: '1' }, signal: options.signal })
    return parse(z.array(forward), metadata, 'forwards')
  }
  /** A bridge is another on every member of a cluster, with its own forwards: all get the same. */
  const membersOf = async (network: Network, options: CallOptions): Promise<readonly (string | null)[]> =>
    network.kind === 'bridge' ? server.members(options) : [null]

  const applyOn = (member: string | null, network: string, wanted: Forward, options: CallOptions): Promise<void> =>
    undisturbed(async () => {
      const query = onMember(member)
      const body = bodyOf(wanted)
      const found = await find(transport, pathOf(network, wanted.address), forward, 'forward', options, query)
      if (found === null) {
        await change(transport, `${networkPath(network)}/forwards`, { method: 'POST', query, body: { ...body, listen_address: wanted.address } }, options)
        return
      }
      const { raw, etag } = found
      if (JSON.stringify(comparable(shapeForward(raw))) === JSON.stringify(comparable(wanted))) return
      // What is not ours of its configuration stays.
      const { target_address: _, ...others } = raw.config ?? {}
      await change(
        transport,
        pathOf(network, wanted.address),
        { method: 'PUT', query, ifMatch: etag, body: { ...body, config: { ...others, ...body.config } } },
        options,
      )
    })

  const mustListenOutside: LxdForwards['mustBeOutside'] = async (range, networks, options) => {
    const asked = networks.filter(({ managed, kind }) => managed && kinds.has(kind))
    const checked = asked.map(async ({ name }) => {
      // Removed since, or a server that has no forwards.
      const there = await list(name, options).catch((error: unknown) => {
        if (isEngineError(error, 'not_found')) return []
        throw error
      })
      const inside = there.find(({ listen_address }) => contains(range, listen_address))
      if (inside !== undefined) throw new EngineError('conflict', `${inside.listen_address} is forwarded to ${name}`)
    })
    await Promise.all(checked)
  }
  /** LXD itself looks only at networks without NAT. */
  const mustBeFree = async (address: string, others: readonly Network[], options: CallOptions): Promise<void> => {
    const family = familyOf(address) ?? 4
    const range: Cidr = { family, address, prefix: family === 4 ? 32 : 128 }
    mustBeOutside(range, others)
    await mustListenOutside(range, others, options)
  }

  return {
    async list(network, options = {}) {
      await server.needs(['network_forward'], options)
      const shaped = (await list(network, options)).map(shapeForward)
      return [...new Map(shaped.map((one) => [one.address, one])).values()].sort((left, right) => (left.address < right.address ? -1 : 1))
    },

    async apply(name, wanted, options = {}) {
      await server.needs(['network_forward'], options)
      const all = await networks(options)
      const network = all.find((one) => one.name === name && one.managed)
      if (network === undefined) throw new EngineError('not_found', `no network ${name}`)
      checkForward(network, wanted)
      if (!(await list(name, options)).some((one) => one.listen_address === wanted.address))
        await mustBeFree(
          wanted.address,
          all.filter((one) => one.managed && one.name !== name),
          options,
        )
      for (const member of await membersOf(network, options)) await applyOn(member, name, wanted, options)
    },

    async delete(name, address, options = {}) {
      await server.needs(['network_forward'], options)
      const network = (await networks(options)).find((one) => one.name === name)
      if (network === undefined) return
      for (const member of await membersOf(network, options)) {
        try {
          await change(transport, pathOf(name, address), { method: 'DELETE', query: onMember(member) }, options)
        } catch (error) {
          if (!isEngineError(error, 'not_found')) throw error
        }
      }
    },

    mustBeOutside: mustListenOutside,
  }
}

function bodyOf(wanted: Forward) {
  return {
    description: wanted.description,
    config: wanted.target === null ? {} : { target_address: wanted.target },
    ports: wanted.ports.map((one) => ({
      protocol: one.protocol,
      listen_port: one.listenPorts,
      target_address: one.targetAddress,
      ...(one.targetPorts !== null && { target_port: one.targetPorts }),
      description: one.description,
    })),
  }
}

function shapeForward(raw: LxdForward): Forward {
  const target = raw.config?.['target_address'] ?? ''
  return {
    address: raw.listen_address,
    description: raw.description ?? '',
    target: target === '' ? null : target,
    ports: (raw.ports ?? []).map((one) => ({
      protocol: one.protocol,
      listenPorts: one.listen_port,
      targetAddress: one.target_address,
      targetPorts: one.target_port === undefined || one.target_port === null || one.target_port === '' ? null : one.target_port,
      description: one.description ?? '',
    })),
  }
}

/** The order of ports says nothing: none is listened on twice. */
function comparable({ address, description, target, ports }: Forward) {
  const fields = ({ protocol, listenPorts, targetAddress, targetPorts, description }: ForwardPort) =>
    [protocol, listenPorts, targetAddress, targetPorts, description].join(' ')
  return { address, description, target, ports: ports.map(fields).sort() }
}
