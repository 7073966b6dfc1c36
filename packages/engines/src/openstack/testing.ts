import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { createServer, request as forward, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { isEngineError } from '../errors.ts'
import type { Service } from './errors.ts'
import type { CloudConnection } from './session.ts'

/** Where `scripts/engines.sh openstack up` puts how to get in. */
const openrc = join(process.env['ZHISUAN_OPENSTACK_DIR'] ?? join(process.env['ZHISUAN_ENGINES_DIR'] ?? '/var/lib/zhisuan-engines', 'openstack'), 'openrc')
export const cloudIsThere = existsSync(openrc)

const said = (): Record<string, string> =>
  Object.fromEntries([...readFileSync(openrc, 'utf8').matchAll(/^export (\w+)=(.*)$/gm)].map(([, name, value]) => [name, value])) as Record<string, string>

/** The cloud of this host, as its administrator. */
export function administrator(changes: Partial<CloudConnection> = {}): CloudConnection {
  const { OS_AUTH_URL: authUrl = '', OS_PASSWORD: password = '' } = said()
  const domain = { id: 'default' }
  return { name: '测试云', authUrl, region: 'RegionOne', credentials: { user: { name: 'admin', domain }, password, project: { name: 'admin', domain } }, timeoutMs: 150_000, ...changes }
}

/** No other test has it. */
export const ownName = (what: string): string => `zs-${what}-${randomBytes(4).toString('hex')}`

/** Until it is as it should be; fails at once where it never will be. */
export async function until<T>(look: () => Promise<T>, good: (value: T) => boolean, bad: (value: T) => boolean = () => false): Promise<T> {
  for (const end = Date.now() + 240_000; ; ) {
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

export const ports: Readonly<Record<Service, number>> = { identity: 15_000, compute: 18_774, placement: 18_778, image: 19_292, network: 19_696, volume: 18_776 }

/** What a way to a service does to a request instead of passing it on; false: passes it on. */
export type Fault = (request: IncomingMessage, response: ServerResponse) => boolean

/** Stands before a service of the real cloud, and does to its answers what networks and overloaded gateways do. */
export async function createFaultyWay(service: Service) {
  let fault: Fault | null = null
  const seen: string[] = []
  let token = ''
  const server = createServer((incoming, outgoing) => {
    seen.push(`${incoming.method} ${incoming.url}`)
    token = String(incoming.headers['x-auth-token'] ?? token)
    if (fault !== null && fault(incoming, outgoing)) return
    const passed = forward({ host: '127.0.0.1', port: ports[service], method: incoming.method, path: incoming.url, headers: incoming.headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    passed.on('error', () => outgoing.destroy())
    incoming.pipe(passed)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    /** All requests that came this way. */
    seen,
    /** As an administrator, or the user elsewhere, may do in the middle of the work: Identity API v3, "Revoke token". */
    async revokesToken(): Promise<void> {
      const answer = await fetch(`http://127.0.0.1:${ports.identity}/v3/auth/tokens`, { method: 'DELETE', headers: { 'x-auth-token': token, 'x-subject-token': token } })
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
