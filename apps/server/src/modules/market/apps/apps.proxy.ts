import { Agent, createServer, request as send, type IncomingHttpHeaders, type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { containers } from '@zhisuan/contract/cis/container'
import { mayAccess } from '@zhisuan/contract/roles'
import { marketTexts } from '@zhisuan/contract/texts'
import { LRUCache } from 'lru-cache'
import { scopeOf, type Actor } from '../../../platform/auth/actor.ts'
import { decideCall } from '../../../platform/auth/rules.ts'
import { contextOf, type Authorising } from '../../../platform/http/bind.ts'
import { Refusal } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { RentedContainers } from '../../cis/container/rented.containers.ts'
import { rentalAtDoor } from '../door/door.store.ts'
import { openPass, readHostLabel, sealPass } from './apps.pass.ts'
import { spendTicket } from './apps.store.ts'
import { MachineSocket } from './machine.socket.ts'

/** Where a browser comes in first, with its ticket; a name that programs in machines do not have. */
export const enterPath = '/.zhisuan/enter'
const cookieName = 'zs_app'
const entryMs = 12 * 3_600_000
/** So often it is asked again whether who is inside may still be. */
const lookAgainMs = 10_000
/** On their way at once, of one session. */
const requestsMost = 64
/** A program has just been started: so long it is waited for, and so soon it is tried again; each time twice as late. */
const patienceMs = 20_000
const tryAfterMs = 250
/** To one port of a machine, kept between requests; each is a program that runs there. */
const connectionsMost = 8
const idleMs = 30_000
/** Of one connection only. */
const hopByHop: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

interface Inside {
  readonly actor: Actor
  readonly container_id: string
}
export type AppsProxy = ReturnType<typeof createAppsProxy>

/**
 * Leads browsers into machines that are rented: each port of each has an origin of its own below `APPS_URL`, that nobody
 * enters but who was let in by the console. What is inside is spoken to as if from inside; no port of its node is opened.
 */
export function createAppsProxy(
  platform: Pick<Platform, 'db' | 'secrets' | 'log' | 'config' | 'now' | 'openStreams' | 'pause'>,
  parts: { rented: Pick<RentedContainers, 'enter'>; actorOf: (sessionId: string) => Promise<Actor | null> },
) {
  const { db, secrets, log, config, now, openStreams, pause } = platform
  const base = config.APPS_URL === undefined ? null : new URL(config.APPS_URL)
  const secure = base?.protocol === 'https:'
  // A name that no page below can set for its neighbours.
  const cookie = secure ? `__Host-${cookieName}` : cookieName
  let tags: Authorising['tags'] = async () => ({})
  const open = new Set<Duplex>()

  /** Who has come with a pass, as what they are now; null where they may not, or not any more. */
  const look = async (sessionId: string, rentalId: string, ip: string): Promise<Inside | null> => {
    const rental = await rentalAtDoor(db, rentalId)
    const actor = rental === undefined ? null : await parts.actorOf(sessionId)
    if (rental === undefined || rental.container_id === null || actor === null || actor.bp_id !== rental.bp_id || !mayAccess(containers.terminal.access, actor))
      return null
    const params = { id: rental.container_id }
    const { outcome } = await decideCall(actor, containers.terminal, { params }, contextOf(actor, { ip, headers: {} }), (kind, id) =>
      tags(scopeOf(actor), kind, id),
    )
    return outcome === 'allowed' ? { actor, container_id: rental.container_id } : null
  }
  const looked = new LRUCache<string, Promise<Inside | null>>({ max: 10_000, ttl: lookAgainMs })
  const inside = (sessionId: string, rentalId: string, ip: string): Promise<Inside | null> => {
    const key = `${sessionId} ${rentalId} ${ip}`
    const known = looked.get(key)
    if (known !== undefined) return known
    const asked = look(sessionId, rentalId, ip)
    looked.set(key, asked)
    asked.catch(() => looked.delete(key))
    return asked
  }

  // What is on its way through one that is forgotten comes to its end.
  const agents = new LRUCache<string, Agent>({ max: 1_000, dispose: (agent) => void (Object.keys(agent.sockets).length === 0 && agent.destroy()) })
  const connect = async ({ actor, container_id }: Inside, port: number): Promise<MachineSocket> => {
    const { docker, docker_id } = await parts.rented.enter(actor, container_id)
    return MachineSocket.open(docker, docker_id, port)
  }
  /** Connections of one person to one port: a page loads many files, and each connection is a program that starts. */
  const agentOf = (who: Inside, port: number): Agent => {
    const key = `${who.actor.user_id} ${who.container_id} ${port}`
    const known = agents.get(key)
    if (known !== undefined) return known
    const agent = new Agent({ keepAlive: true, maxSockets: connectionsMost, timeout: idleMs })
    agent.createConnection = (_options, done) => {
      connect(who, port).then(
        (socket) => done?.(null, socket),
        (error: unknown) => done?.(error as Error, undefined as never),
      )
      return undefined
    }
    agents.set(key, agent)
    return agent
  }

  /** What the machine is told: of a browser that is inside with it, and nothing of the platform. */
  const told = (headers: IncomingHttpHeaders, host: string, port: number): OutgoingHttpHeaders => {
    const own = `${base?.protocol}//${host}`
    const there = `http://127.0.0.1:${port}`
    const named = (text: string | undefined): string | undefined => (text?.startsWith(own) === true ? there + text.slice(own.length) : text)
    const cookies = (headers.cookie ?? '')
      .split(/;\s*/)
      .filter((one) => one !== '' && !one.startsWith(`${cookie}=`))
      .join('; ')
    const passed = Object.entries(headers).filter(([name]) => !hopByHop.has(name) && name !== 'cookie')
    return {
      ...Object.fromEntries(passed),
      host: `127.0.0.1:${port}`,
      ...(cookies !== '' && { cookie: cookies }),
      ...(headers.origin !== undefined && { origin: named(headers.origin) }),
      ...(headers.referer !== undefined && { referer: named(headers.referer) }),
    }
  }
  /** What the browser is told: addresses as it knows them, and cookies for this origin alone. */
  const answered = (headers: IncomingHttpHeaders, host: string, port: number): OutgoingHttpHeaders => {
    const own = `${base?.protocol}//${host}`
    const { location } = headers
    const there = new RegExp(`^https?://(127\\.0\\.0\\.1|localhost):${port}(?=/|$)`)
    return {
      ...Object.fromEntries(Object.entries(headers).filter(([name]) => !hopByHop.has(name))),
      ...(headers['set-cookie'] !== undefined && {
        'set-cookie': headers['set-cookie'].filter((one) => !one.startsWith(`${cookie}=`)).map((one) => one.replace(/;\s*domain=[^;]*/i, '')),
      }),
      ...(location !== undefined && { location: location.replace(there, own) }),
      // Nobody else's page shows it within itself.
      'x-frame-options': 'SAMEORIGIN',
      'referrer-policy': 'same-origin',
    }
  }

  const refuse = (response: ServerResponse, status: number, text: string): void => {
    if (response.headersSent) return void response.destroy()
    const page = `<!doctype html><html lang="zh-CN"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${marketTexts.category}</title><p>${text}</p></html>`
    response
      .writeHead(status, { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': "default-src 'none'", 'cache-control': 'no-store' })
      .end(page)
  }

  /** Whose address it is: behind so many proxies of ours. */
  const addressOfClient = (request: IncomingMessage): string => {
    const told = String(request.headers['x-forwarded-for'] ?? '')
      .split(',')
      .map((one) => one.trim())
      .filter((one) => one !== '')
    const hops = [request.socket.remoteAddress ?? '', ...told.toReversed()]
    return hops[Math.min(config.TRUST_PROXY, hops.length - 1)] ?? ''
  }
  /** Of a page of somebody else's: machines are each other's neighbours, and a browser would send the cookie along. */
  const isForeign = ({ method = 'GET', headers }: IncomingMessage, host: string): boolean => {
    const { origin } = headers
    if (origin !== undefined && origin !== `${base?.protocol}//${host}`) return true
    const [site, mode] = [headers['sec-fetch-site'], headers['sec-fetch-mode']]
    return (site === 'cross-site' || site === 'same-site') && !(mode === 'navigate' && method === 'GET')
  }

  const requests = new Map<string, number>()
  /** While something is on its way it ends with the session, and with the right to be inside. */
  const guarded = (request: IncomingMessage, { session_id, rental_id }: { session_id: string; rental_id: string }, end: () => void): (() => void) => {
    const gone = openStreams.addWait({ session_id, end })
    const looking = setInterval(() => {
      look(session_id, rental_id, addressOfClient(request)).then(
        (still) => still ?? end(),
        (error: unknown) => log.debug({ err: error }, 'who is inside a machine'),
      )
    }, lookAgainMs).unref()
    return () => {
      gone()
      clearInterval(looking)
    }
  }

  /** Whose browser it is, and where it wants to. */
  const entered = async (request: IncomingMessage): Promise<{ who: Inside; session_id: string; rental_id: string; host: string; port: number } | null> => {
    const host = request.headers.host ?? ''
    const at = base === null ? null : placeOf(host, base)
    if (at === null) return null
    const sealed = (request.headers.cookie ?? '')
      .split(/;\s*/)
      .find((one) => one.startsWith(`${cookie}=`))
      ?.slice(cookie.length + 1)
    const pass = sealed === undefined ? null : openPass(secrets, sealed, 'entry', now())
    if (pass === null || pass.rental_id !== at.rental_id || pass.port !== at.port) return null
    if (isForeign(request, host)) return null
    const who = await inside(pass.session_id, pass.rental_id, addressOfClient(request))
    return who === null ? null : { who, session_id: pass.session_id, rental_id: pass.rental_id, host, port: at.port }
  }

  const enter = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const at = base === null ? null : placeOf(request.headers.host ?? '', base)
    const ticket = new URL(request.url ?? '/', 'http://x').searchParams.get('ticket') ?? ''
    const pass = openPass(secrets, ticket, 'ticket', now())
    if (at === null || pass === null || pass.rental_id !== at.rental_id || pass.port !== at.port || !(await spendTicket(db, pass.id)))
      return refuse(response, 401, marketTexts.appClosed)
    const entry = sealPass(secrets, { ...pass, id: uuidv7(), kind: 'entry', ends: now().getTime() + entryMs })
    response
      .writeHead(302, {
        location: '/',
        'set-cookie': `${cookie}=${entry}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${entryMs / 1000}${secure ? '; Secure' : ''}`,
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
      })
      .end()
  }

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.url?.startsWith(enterPath) === true) return enter(request, response)
    const from = await entered(request)
    if (from === null) return refuse(response, 401, marketTexts.appClosed)
    const { who, session_id, host, port } = from
    const underway = requests.get(session_id) ?? 0
    if (underway >= requestsMost) return refuse(response, 429, marketTexts.appBusy)
    requests.set(session_id, underway + 1)
    const gone = guarded(request, from, () => void response.destroy())
    response.once('close', () => {
      gone()
      const left = (requests.get(session_id) ?? 1) - 1
      if (left === 0) requests.delete(session_id)
      else requests.set(session_id, left)
    })
    const ask = (): Promise<IncomingMessage> =>
      new Promise((resolve, reject) => {
        const out = send({
          agent: agentOf(who, port),
          method: request.method,
          path: request.url,
          headers: told(request.headers, host, port),
          // Node would say where it connects to itself.
          setHost: false,
        })
        out.once('response', resolve)
        out.once('error', reject)
        response.once('close', () => out.destroy())
        if (hasBody) request.pipe(out)
        else out.end()
      })
    const hasBody = request.headers['content-length'] !== undefined || request.headers['transfer-encoding'] !== undefined
    const patient = AbortSignal.timeout(patienceMs)
    for (let wait = tryAfterMs; ; wait *= 2)
      try {
        const answer = await ask()
        response.writeHead(answer.statusCode ?? 502, answered(answer.headers, host, port))
        return await pipeline(answer, response)
      } catch (error) {
        if (response.headersSent || response.destroyed || error instanceof Refusal) throw error
        // What was just started does not listen yet. What was sent cannot be sent again.
        if (hasBody || patient.aborted) return refuse(response, 502, marketTexts.appSilent)
        await pause(wait, patient).catch(() => undefined)
      }
  }

  /** A websocket: what both say from then on is theirs. */
  const upgrade = async (request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> => {
    const from = await entered(request)
    if (from === null) return void socket.end('HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n')
    const { who, session_id, host, port } = from
    const stream = { session_id, user_id: who.actor.user_id, end: () => void socket.destroy() }
    openStreams.add(stream)
    socket.once('close', () => openStreams.remove(stream))
    const there = await connect(who, port)
    const headers = { ...told(request.headers, host, port), connection: 'Upgrade', upgrade: request.headers.upgrade }
    const lines = Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [`${name}: ${String(value)}`]))
    there.write([`${request.method} ${request.url} HTTP/1.1`, ...lines, '', ''].join('\r\n'))
    if (head.length > 0) there.write(head)
    const gone = guarded(request, from, () => void socket.destroy())
    socket.once('close', () => {
      gone()
      there.destroy()
    })
    there.once('close', () => socket.destroy())
    there.on('error', () => undefined)
    socket.pipe(there)
    there.pipe(socket)
  }

  const server = createServer((request, response) => {
    response.on('error', () => undefined)
    serve(request, response).catch((error: unknown) => {
      if (!(error instanceof Refusal)) log.debug({ err: error }, 'a browser in a machine')
      refuse(response, 502, error instanceof Refusal ? error.message : marketTexts.appSilent)
    })
  })
  server.on('upgrade', (request, socket: Duplex, head: Buffer) => {
    open.add(socket)
    socket.on('error', () => undefined)
    socket.once('close', () => open.delete(socket))
    upgrade(request, socket, head).catch((error: unknown) => {
      log.debug({ err: error }, 'a websocket into a machine')
      socket.destroy()
    })
  })
  // Large files go up and down at the pace of who sends them.
  server.requestTimeout = 0

  return {
    /** The address of a port for a ticket; null where browsers are led nowhere. */
    addressOf: (label: string, ticket: string): string | null => {
      if (base === null) return null
      const url = new URL(enterPath, base)
      url.host = `${label}.${base.host}`
      url.searchParams.set('ticket', ticket)
      return url.href
    },
    offered: base !== null,
    reading: (how: Authorising['tags']): void => {
      tags = how
    },
    async start(): Promise<void> {
      if (config.APPS_PORT === undefined) return
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject)
        server.listen(config.APPS_PORT, config.HOST, () => {
          server.off('error', reject)
          server.on('error', (error: unknown) => log.warn({ err: error }, 'the door for browsers'))
          resolve()
        })
      })
    },
    port: (): number | null => (server.listening ? (server.address() as AddressInfo).port : null),
    drain(): void {
      server.close()
      server.closeIdleConnections()
      for (const socket of open) socket.destroy()
      agents.clear()
    },
  }
}

/** Which port of which machine a host is; null where it is none below the base. */
function placeOf(host: string, base: URL): { rental_id: string; port: number } | null {
  return host.endsWith(`.${base.host}`) ? readHostLabel(host.slice(0, -base.host.length - 1)) : null
}
