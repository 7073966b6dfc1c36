import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import type { Sql } from '../../../platform/db/database.ts'
import { hostOf } from '../../../platform/outbound/addresses.ts'
import { allRegistries, type RegistryRow } from './registry.store.ts'

/** Where a registry listens, however that is written: in capitals, with the port that its scheme stands for, with a final dot. */
interface Place {
  readonly host: string
  /** An address in a name of an image says no scheme: Docker asks by HTTPS and, of one without TLS, by HTTP. */
  readonly ports: readonly number[]
}

const schemePort = (protocol: string): number => (protocol === 'http:' ? 80 : 443)

/** Of a URL. */
export function placeOfUrl(text: string): Place {
  const url = new URL(text)
  return { host: hostOf(url).replace(/\.$/, ''), ports: [url.port === '' ? schemePort(url.protocol) : Number(url.port)] }
}

/** Of what stands before the first slash of an image; null where it is no address at all. */
export function placeOfAddress(address: string): Place | null {
  const url = URL.parse(`http://${address}`)
  if (url === null) return null
  // A URL keeps quiet about a port that is its scheme's.
  const written = /:(\d+)$/.exec(address)?.[1]
  return { host: hostOf(url).replace(/\.$/, ''), ports: written === undefined ? [443, 80] : [Number(written)] }
}

const samePorts = (one: Place, other: Place): boolean => one.ports.some((port) => other.ports.includes(port))

/** The platform's registry that images with this address are in. */
export async function registryAt(on: Sql, address: string): Promise<RegistryRow | undefined> {
  const place = placeOfAddress(address)
  if (place === null) return undefined
  return (await allRegistries(on)).find((row) => {
    const own = placeOfUrl(row.url)
    return own.host === place.host && samePorts(own, place)
  })
}

/**
 * The platform's registry that a URL leads to, also where one of both says the name of a machine and the other its IP address.
 * Two names of one machine are two registries: many stand behind one proxy.
 */
export async function registryBehind(on: Sql, url: string): Promise<RegistryRow | undefined> {
  const place = placeOfUrl(url)
  for (const row of await allRegistries(on)) {
    const own = placeOfUrl(row.url)
    if (samePorts(own, place) && (await isSameHost(own.host, place.host))) return row
  }
  return undefined
}

async function isSameHost(one: string, other: string): Promise<boolean> {
  if (one === other) return true
  const [name, address] = isIP(one) === 0 ? [one, other] : [other, one]
  if (isIP(name) !== 0 || isIP(address) === 0) return false
  // What is called by no name now is nobody's.
  const known = await lookup(name, { all: true }).catch(() => [])
  return known.some((each) => each.address === address)
}
