import type { IncomingMessage } from 'node:http'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import { openPass, readHostLabel, sealPass } from './apps.pass.ts'
import { spendTicket } from './apps.store.ts'

/** Where a browser comes in first, with its ticket; a name that programs in machines do not have. */
export const enterPath = '/.zhisuan/enter'
const cookieName = 'zs_app'
const entryMs = 12 * 3_600_000

/** A browser with a pass, for which port of which machine. */
export interface Entered {
  readonly session_id: string
  readonly rental_id: string
  readonly ip: string
  /** That the browser knows. */
  readonly origin: string
  readonly port: number
}

/** Passes of browsers: each port of each machine is an origin of its own, with a cookie of its own. */
export function createEntrance({ db, secrets, config, now }: Pick<Platform, 'db' | 'secrets' | 'config' | 'now'>, base: URL | null) {
  const secure = base?.protocol === 'https:'
  // A name that no page below can set for its neighbours.
  const cookie = secure ? `__Host-${cookieName}` : cookieName

  /** Which port of which machine a host is; null where it is none below the base. */
  const placeOf = (host: string): { rental_id: string; port: number } | null =>
    base !== null && host.endsWith(`.${base.host}`) ? readHostLabel(host.slice(0, -base.host.length - 1)) : null

  /** Whose address it is: behind so many proxies of ours. */
  const addressOf = (request: IncomingMessage): string => {
    const told = String(request.headers['x-forwarded-for'] ?? '')
      .split(',')
      .map((one) => one.trim())
      .filter((one) => one !== '')
    const hops = [request.socket.remoteAddress ?? '', ...told.toReversed()]
    return hops[Math.min(config.TRUST_PROXY, hops.length - 1)] ?? ''
  }
  /** Of a page of somebody else's: machines are each other's neighbours, and a browser would send the cookie along. */
  const isForeign = ({ method = 'GET', headers }: IncomingMessage, origin: string): boolean => {
    if (headers.origin !== undefined && headers.origin !== origin) return true
    const [site, mode] = [headers['sec-fetch-site'], headers['sec-fetch-mode']]
    return (site === 'cross-site' || site === 'same-site') && !(mode === 'navigate' && method === 'GET')
  }

  return {
    cookie,
    addressOf,
    /** The address of a port for a ticket; null where browsers are led nowhere. */
    ticketAddress: (label: string, ticket: string): string | null => {
      if (base === null) return null
      const url = new URL(enterPath, base)
      url.host = `${label}.${base.host}`
      url.searchParams.set('ticket', ticket)
      return url.href
    },
    /** Whose browser it is, and where it wants to; null without a pass. */
    entered(request: IncomingMessage): Entered | null {
      const host = request.headers.host ?? ''
      const at = placeOf(host)
      if (at === null) return null
      const sealed = (request.headers.cookie ?? '')
        .split(/;\s*/)
        .find((one) => one.startsWith(`${cookie}=`))
        ?.slice(cookie.length + 1)
      const pass = sealed === undefined ? null : openPass(secrets, sealed, 'entry', now())
      if (pass === null || pass.rental_id !== at.rental_id || pass.port !== at.port) return null
      const origin = `${base?.protocol}//${host}`
      return isForeign(request, origin) ? null : { session_id: pass.session_id, rental_id: pass.rental_id, ip: addressOf(request), origin, port: at.port }
    },
    /** The cookie for a ticket, that is good once; null for what is none. */
    async exchanged(request: IncomingMessage): Promise<string | null> {
      const at = placeOf(request.headers.host ?? '')
      const ticket = new URL(request.url ?? '/', 'http://x').searchParams.get('ticket') ?? ''
      const pass = openPass(secrets, ticket, 'ticket', now())
      if (at === null || pass === null || pass.rental_id !== at.rental_id || pass.port !== at.port || !(await spendTicket(db, pass.id))) return null
      const entry = sealPass(secrets, { ...pass, id: uuidv7(), kind: 'entry', ends: now().getTime() + entryMs })
      return `${cookie}=${entry}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${entryMs / 1000}${secure ? '; Secure' : ''}`
    },
  }
}
