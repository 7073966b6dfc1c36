import { randomBytes } from 'node:crypto'
import { createServer, request as forward, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { isEngineError } from '../errors.ts'
import type { Service } from './errors.ts'
import { ports } from './local.ts'

/** No other test has it. */
export const ownName = (what: string): string => `zs-${what}-${randomBytes(4).toString('hex')}`

/** Until it is as it should be; fails at once where it never will be. */
export async function until<T>(look: () => Promise<T>, good: (value: T) => boolean, bad: (value: T) => boolean = () => false): Promise<T> {
  for (const end = Date.now() + 240_000; ;) {
    const value = await look()
    if (good(value)) return value
    if (bad(value) || Date.now() > end) expect.fail(`it is ${JSON.stringify(value)}`)
    await sleep(500)
  }
}

/** Until it is not there any more. */
export const untilGone = (look: () => Promise<unknown>): Promise<unknown> =>
  until(
    () =>
      look().then(
        () => false,
        (error: unknown) => {
          if (isEngineError(error, 'not_found')) return true
          throw error
        },
      ),
    (gone) => gone,
  )

/** What a way to a service does to a request instead of passing it on; false: passes it on, as it then is. */
export type Fault = (request: IncomingMessage, response: ServerResponse) => boolean | Promise<boolean>

/** Stands before a service of the real cloud, and does to its answers what networks and overloaded gateways do. */
export async function createFaultyWay(service: Service) {
  let fault: Fault | null = null
  const seen: string[] = []
  let token = ''
  const pass = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    const passed = forward({ host: '127.0.0.1', port: ports[service], method: incoming.method, path: incoming.url, headers: incoming.headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    passed.on('error', () => outgoing.destroy())
    incoming.pipe(passed)
  }
  const server = createServer((incoming, outgoing) => {
    seen.push(`${incoming.method} ${incoming.url}`)
    token = String(incoming.headers['x-auth-token'] ?? token)
    void Promise.resolve(fault?.(incoming, outgoing) ?? false).then((handled) => {
      if (!handled) pass(incoming, outgoing)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    /** All requests that came this way. */
    seen,
    /** As an administrator, or the user elsewhere, may do in the middle of the work: Identity API v3, "Revoke token". */
    async revokesToken(): Promise<void> {
      const answer = await fetch(`http://127.0.0.1:${ports.identity}/v3/auth/tokens`, {
        method: 'DELETE',
        headers: { 'x-auth-token': token, 'x-subject-token': token },
      })
      expect(answer.status).toBe(204)
    },
    /** From now on; `null`: none. */
    breaks(next: Fault | null): void {
      fault = next
      seen.length = 0
    },
    async close(): Promise<void> {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

interface CatalogueEntry {
  readonly type: string
  readonly endpoints: readonly { readonly url: string }[]
}
/** Keystone's answers with a catalogue as other clouds have it; null leaves an entry out. */
export const catalogued =
  (changed: (entry: CatalogueEntry) => CatalogueEntry | null): Fault =>
  async (request, response) => {
    if (request.method !== 'POST' || request.url !== '/v3/auth/tokens') return false
    const answer = await fetch(`http://127.0.0.1:${ports.identity}/v3/auth/tokens`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: Buffer.concat(await request.toArray()),
    })
    const said = (await answer.json()) as { token?: { catalog?: CatalogueEntry[] } }
    const body =
      said.token?.catalog === undefined ? said : { token: { ...said.token, catalog: said.token.catalog.map(changed).filter((entry) => entry !== null) } }
    response
      .writeHead(answer.status, { 'content-type': 'application/json', 'x-subject-token': answer.headers.get('x-subject-token') ?? '' })
      .end(JSON.stringify(body))
    return true
  }

/** The real cloud with a way before each of its services: its catalogue leads through them. */
export async function createFaultyCloud() {
  const services = Object.keys(ports) as Service[]
  const made = await Promise.all(services.map(async (service) => [service, await createFaultyWay(service)] as const))
  // Each service has its way.
  const ways = Object.fromEntries(made) as Record<Service, (typeof made)[number][1]>
  const serviceOf = (type: string): Service | undefined => services.find((service) => (service === 'volume' ? /^(volume|block)/.test(type) : type === service))
  let missing: Service | null = null
  const leads = catalogued(({ type, endpoints, ...rest }) => {
    const service = serviceOf(type)
    if (service === undefined || service === missing) return null
    return { ...rest, type, endpoints: endpoints.map((one) => ({ ...one, url: `${ways[service].url}${new URL(one.url).pathname}` })) }
  })
  ways.identity.breaks(leads)
  return {
    authUrl: `${ways.identity.url}/v3`,
    services,
    ways,
    breaks(service: Service, fault: Fault | null): void {
      if (service !== 'identity') return ways[service].breaks(fault)
      ways.identity.breaks(fault === null ? leads : async (request, response) => (await fault(request, response)) || leads(request, response))
    },
    /** Who signs in from now on finds no such service in the catalogue; null: finds all. */
    misses(service: Service | null): void {
      missing = service
    },
    close: () => Promise.all(made.map(([, way]) => way.close())),
  }
}
