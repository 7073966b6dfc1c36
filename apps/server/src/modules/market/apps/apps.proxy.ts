import { Agent, createServer, request as send, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { marketTexts } from '@zhisuan/contract/texts'
import { LRUCache } from 'lru-cache'
import type { Actor } from '../../../platform/auth/actor.ts'
import { Refusal } from '../../../platform/errors.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { RentedContainers } from '../../cis/container/rented.containers.ts'
import type { Entering, Inside } from '../inside.ts'
import { createCounting } from './apps.counting.ts'
import { createEntrance, enterPath, type Entered } from './apps.entering.ts'
import { createGuarding } from './apps.guarding.ts'
import { answered, told } from './apps.rewriting.ts'
import { MachineSocket } from './machine.socket.ts'

/** A program has just been started: so long it is waited for, and so soon it is tried again; each time twice as late. */
const patienceMs = 20_000
const tryAfterMs = 250
/** To one port of a machine, kept between requests; each is a program that runs there. */
const connectionsMost = 8
const idleMs = 30_000
/** Of browsers, at one server. */
const browsersMost = 4_000

export type AppsProxy = ReturnType<typeof createAppsProxy>

/**
 * Leads browsers into machines that are rented: each port of each has an origin of its own below `APPS_URL`, that nobody
 * enters but who was let in by the console. What is inside is spoken to as if from inside; no port of its node is opened.
 */
export function createAppsProxy(
  platform: Pick<Platform, 'db' | 'secrets' | 'log' | 'config' | 'now' | 'openStreams' | 'pause'>,
  parts: { rented: Pick<RentedContainers, 'enter'>; entering: Entering; actorOf: (sessionId: string) => Promise<Actor | null> },
) {
  const { log, config, openStreams, pause } = platform
  const base = config.APPS_URL === undefined ? null : new URL(config.APPS_URL)
  const entrance = createEntrance(platform, base)
  const guarding = createGuarding(platform, parts)
  const counting = createCounting()
  const { cookie } = entrance
  const open = new Set<Duplex>()

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

  const refuse = (response: ServerResponse, status: number, text: string): void => {
    if (response.headersSent) return void response.destroy()
    const page = `<!doctype html><html lang="zh-CN"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${marketTexts.category}</title><p>${text}</p></html>`
    response
      .writeHead(status, { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': "default-src 'none'", 'cache-control': 'no-store' })
      .end(page)
  }
  const enter = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const entry = await entrance.exchanged(request)
    if (entry === null) {
      counting.refused(entrance.addressOf(request))
      return refuse(response, 401, marketTexts.appClosed)
    }
    response.writeHead(302, { location: '/', 'set-cookie': entry, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' }).end()
  }

  const knocking = async (request: IncomingMessage): Promise<(Entered & { who: Inside }) | null> => {
    const entry = entrance.entered(request)
    const who = entry === null ? null : await guarding.inside(entry)
    if (entry !== null && who !== null) return { ...entry, who }
    counting.refused(entrance.addressOf(request))
    return null
  }

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const leave = counting.fromAddress(entrance.addressOf(request))
    if (leave === null) return refuse(response, 429, marketTexts.appBusy)
    response.once('close', leave)
    if (request.url?.startsWith(enterPath) === true) return enter(request, response)
    const from = await knocking(request)
    if (from === null) return refuse(response, 401, marketTexts.appClosed)
    const { who, port, origin } = from
    const done = counting.ofSession(from.session_id)
    if (done === null) return refuse(response, 429, marketTexts.appBusy)
    const gone = guarding.guarded(from, () => void response.destroy())
    const over = (): void => {
      gone()
      done()
    }
    // Whoever left while it was asked who they are.
    if (response.destroyed) return over()
    response.once('close', over)
    const place = { origin, port, cookie }
    const ask = (): Promise<IncomingMessage> =>
      new Promise((resolve, reject) => {
        const out = send({
          agent: agentOf(who, port),
          method: request.method,
          path: request.url,
          headers: told(request.headers, place),
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
        response.writeHead(answer.statusCode ?? 502, answered(answer.headers, place))
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
    const leave = counting.fromAddress(entrance.addressOf(request))
    if (leave === null) return void socket.end('HTTP/1.1 429 Too Many Requests\r\ncontent-length: 0\r\n\r\n')
    socket.once('close', leave)
    const from = await knocking(request)
    if (from === null) return void socket.end('HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n')
    const { who, session_id, origin, port } = from
    const stream = { session_id, user_id: who.actor.user_id, end: () => void socket.destroy() }
    openStreams.add(stream)
    socket.once('close', () => openStreams.remove(stream))
    const there = await connect(who, port)
    const headers = { ...told(request.headers, { origin, port, cookie }), connection: 'Upgrade', upgrade: request.headers.upgrade }
    const lines = Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [`${name}: ${String(value)}`]))
    there.write([`${request.method} ${request.url} HTTP/1.1`, ...lines, '', ''].join('\r\n'))
    if (head.length > 0) there.write(head)
    const gone = guarding.guarded(from, () => void socket.destroy())
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
  server.maxConnections = browsersMost
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
    addressOf: entrance.ticketAddress,
    offered: base !== null,
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
