import type { CallOptions, Nic } from '../compute.ts'
import { EngineError, isEngineError } from '../errors.ts'
import { checkAddress } from '../network.checks.ts'
import type { Network, Networks } from '../network.ts'
import { instance, nicDevice, nicOf, parse, powerOf, type LxdInstance } from './parse.ts'
import { sameTexts } from './tags.ts'
import type { Transport } from './transport.ts'
import { updateInstance, type Edit } from './update.ts'

type Device = Readonly<Record<string, string>>
const macKey = `volatile.${nicDevice}.hwaddr`

/**
 * The NIC as a device. LXD guards IPv6 only where the host passes bridged packets through its
 * firewall (br_netfilter), and starts no instance elsewhere; so it is asked for only on networks
 * that have IPv6. Of a link-local address the hardware address, which is always guarded, is all.
 */
export function deviceOf(nic: Nic, network: Pick<Network, 'ipv6'>): Record<string, string> {
  const bits = (count: number): string => `${Math.round(count)}bit`
  return {
    type: 'nic',
    name: nicDevice,
    network: nic.network,
    ...(nic.address !== null && { 'ipv4.address': nic.address }),
    ...(nic.guarded && { 'security.mac_filtering': 'true', 'security.ipv4_filtering': 'true' }),
    ...(nic.guarded && network.ipv6 !== null && { 'security.ipv6_filtering': 'true' }),
    ...(nic.ingressBitsPerSecond !== null && { 'limits.ingress': bits(nic.ingressBitsPerSecond) }),
    ...(nic.egressBitsPerSecond !== null && { 'limits.egress': bits(nic.egressBitsPerSecond) }),
  }
}

export interface Nics {
  /** The device of a new instance, whose static address is free. */
  prepare(name: string, nic: Nic, options: CallOptions): Promise<Record<string, string>>
  connect(name: string, nic: Nic, options: CallOptions): Promise<void>
}

export function createNics(transport: Transport, networks: Pick<Networks, 'get' | 'leases'>): Nics {
  const read = async (name: string, options: CallOptions): Promise<LxdInstance> => {
    const { metadata } = await transport.ask(`/1.0/instances/${encodeURIComponent(name)}`, { signal: options.signal })
    return parse(instance, metadata, 'instance')
  }
  const networkOf = async (name: string, options: CallOptions): Promise<Network> => {
    const network = await networks.get(name, options)
    if (network === null) throw new EngineError('not_found', `no network ${name}`)
    return network
  }
  /** LXD itself looks only when an instance starts. */
  const mustBeFree = async (name: string, network: Network, address: string | null, options: CallOptions): Promise<void> => {
    if (address === null) return
    checkAddress(network, address)
    const lease = (await networks.leases(network.name, options)).find((one) => one.address === address && one.hostName !== name)
    if (lease !== undefined) throw new EngineError('conflict', `${address} is ${lease.hostName}'s`)
  }

  /** Writes the device, and plugs it in where it is written and does not show. */
  const put = async (name: string, whole: Device, options: CallOptions): Promise<void> => {
    const { hwaddr: _, ...wanted } = whole
    let plugged = false
    const edit = (raw: LxdInstance): Edit | null => {
      const there = raw.devices?.[nicDevice] ?? {}
      const next = { ...wanted, ...(there['hwaddr'] !== undefined && { hwaddr: there['hwaddr'] }) }
      if (!sameTexts(there, next)) return { devices: { ...raw.devices, [nicDevice]: next } }
      if (plugged || !isUnplugged(raw)) return null
      plugged = true
      return pluggedAgain(raw, next)
    }
    await updateInstance(transport, name, edit, options)
  }

  /** Limits that it could not set LXD leaves half set; they are set anew when something changes. */
  const restore = async (name: string, former: Device): Promise<void> => {
    const { 'limits.ingress': ingress, ...unlimited } = former
    await put(name, ingress === undefined ? { ...former, 'limits.ingress': '100Gbit' } : unlimited, {})
    await put(name, former, {})
  }

  return {
    async prepare(name, nic, options) {
      // Whether there is such a network is otherwise for the engine to say.
      if (nic.address === null && !nic.guarded) return deviceOf(nic, { ipv6: null })
      const network = await networkOf(nic.network, options)
      await mustBeFree(name, network, nic.address, options)
      return deviceOf(nic, network)
    },

    /**
     * Where a NIC cannot be changed as it runs, LXD takes the former out before it looks at the new
     * one, and does not put it back. So what it may refuse is tried on the former; what it refuses
     * all the same ends with the former put back; and whoever is killed before that asks again.
     */
    async connect(name, nic, options) {
      const network = await networkOf(nic.network, options)
      const wanted = deviceOf(nic, network)
      const raw = await read(name, options)
      const there = nicOf(raw)
      const { hwaddr: _, ...former }: Device = there ?? {}
      if (there !== null && isUnplugged(raw)) await put(name, former, options)
      const moves = former['network'] !== nic.network
      if (moves || former['ipv4.address'] !== wanted['ipv4.address']) await mustBeFree(name, network, nic.address, options)
      try {
        const egress = wanted['limits.egress']
        if (moves && isLive(raw) && there !== null && egress !== undefined) await put(name, { ...former, 'limits.egress': egress }, options)
        await put(name, wanted, options)
      } catch (error) {
        // What has a status was refused by the engine; else nobody knows what it will come to.
        if (isEngineError(error) && error.status !== undefined && there !== null) await restore(name, former).catch(() => undefined)
        throw error
      }
    },
  }
}

const isLive = ({ status_code }: LxdInstance): boolean => ['running', 'paused'].includes(powerOf(status_code))
const isUnplugged = (raw: LxdInstance): boolean => isLive(raw) && raw.config?.[`volatile.${nicDevice}.host_name`] === undefined

/** A device is put in again when something of it changes: here, where its hardware address is kept. */
function pluggedAgain(raw: LxdInstance, wanted: Device): Edit {
  const { hwaddr, ...plain } = wanted
  if (hwaddr !== undefined) return { config: { ...raw.config, [macKey]: hwaddr }, devices: { ...raw.devices, [nicDevice]: plain } }
  const mac = raw.config?.[macKey]
  return { devices: { ...raw.devices, [nicDevice]: { ...plain, ...(mac !== undefined && { hwaddr: mac }) } } }
}
