import { lookup as resolve } from 'node:dns/promises'
import { isIP, isIPv6, type LookupFunction } from 'node:net'
import { networkInterfaces } from 'node:os'
import { allowListOf, hostOf, isPublic } from './addresses.ts'
import { Refusal } from '../errors.ts'

export type OutboundGuard = ReturnType<typeof createOutboundGuard>

/**
 * Which machines the platform may be sent to. A name is resolved once: all of its addresses are
 * looked at, and the connection goes to one of just these, so that no second answer can lead elsewhere.
 */
export function createOutboundGuard(options: { allow: readonly string[]; publicUrl: string | undefined }) {
  const allowed = allowListOf(options.allow)
  const own = new Set(Object.values(networkInterfaces()).flatMap((faces) => (faces ?? []).map(({ address }) => address)))
  const publicHost = options.publicUrl === undefined ? null : hostOf(new URL(options.publicUrl))

  const may = (address: string): boolean => {
    const plain = address.split('%')[0] ?? ''
    if (allowed.check(plain, isIPv6(plain) ? 'ipv6' : 'ipv4')) return true
    return isPublic(plain) && !own.has(plain)
  }
  /** All of them, or nobody's. @throws Refusal 94165 */
  const addressesOf = async (host: string): Promise<{ address: string; family: number }[]> => {
    const family = isIP(host)
    const addresses = family === 0 ? await resolve(host, { all: true }) : [{ address: host, family }]
    const named =
      host.toLowerCase().replace(/\.$/, '') === publicHost && !addresses.every(({ address }) => allowed.check(address, isIPv6(address) ? 'ipv6' : 'ipv4'))
    if (named || addresses.length === 0 || !addresses.every(({ address }) => may(address))) throw new Refusal('imageAddressForbidden', { field: 'url' })
    return addresses
  }

  const lookup: LookupFunction = (host, wish, done) => {
    addressesOf(host).then(
      (addresses) => {
        if (wish.all === true) return done(null, addresses)
        const [first] = addresses
        return done(null, first?.address ?? '', first?.family)
      },
      (error: NodeJS.ErrnoException) => done(error, ''),
    )
  }

  return {
    /** For sockets: resolves a name to addresses that were looked at. */
    lookup,
    /** Of an address in a URL no name is resolved, so sockets do not ask. @throws Refusal 94165 */
    checkLiteral(url: URL): void {
      const host = hostOf(url)
      if (isIP(host) !== 0 && !may(host)) throw new Refusal('imageAddressForbidden', { field: 'url' })
    },
    /** Before anything is begun. A name that resolves to nothing now may do so later. @throws Refusal 94165 */
    async check(url: URL): Promise<void> {
      await addressesOf(hostOf(url)).catch((error: unknown) => {
        if (error instanceof Refusal) throw error
      })
    },
  }
}
