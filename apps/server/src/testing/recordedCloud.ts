import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createOpenStack, type OpenStack } from '@zhisuan/engines/openstack/cloud'
import type { Tenancy, View } from '../modules/compute/tenancy/tenancy.service.ts'

export interface Reply {
  readonly status?: number
  readonly json: unknown
}

/** A cloud that answers as it is told, for what the real one of the tests cannot do. */
export interface RecordedCloud {
  /** What is answered, by `METHOD /path` behind the service's version; what is not among them is not there. */
  readonly replies: Record<string, (body: unknown) => Reply>
  /** Everybody's view of it: one project, or all for who is of the platform. */
  readonly tenancy: Tenancy
  /** Forgets its answers, and whether whoever asks is of the platform. */
  reset(options?: { everything?: boolean }): void
  close(): Promise<void>
}

const services = {
  compute: { at: '/compute/v2.1', version: '2.96', oldest: '2.1' },
  volumev3: { at: '/volumev3/v3', version: '3.70', oldest: '3.0' },
  image: null,
  network: null,
} as const

export async function createRecordedCloud(): Promise<RecordedCloud> {
  const replies: Record<string, (body: unknown) => Reply> = {}
  let url = ''
  const answer = (request: IncomingMessage, body: unknown): Reply & { headers?: Record<string, string> } => {
    const { pathname } = new URL(request.url ?? '', url)
    if (pathname === '/v3/auth/tokens') {
      const catalog = Object.entries(services).map(([type, service]) => ({
        type,
        endpoints: [{ interface: 'public', region_id: 'one', url: `${url}${service?.at ?? `/${type}`}` }],
      }))
      return {
        status: 201,
        headers: { 'x-subject-token': 't' },
        json: { token: { expires_at: new Date(Date.now() + 3_600_000).toISOString(), user: { id: 'u' }, project: { id: 'p', name: 'p' }, roles: [], catalog } },
      }
    }
    const service = Object.values(services).find((one) => one !== null && pathname.startsWith(one.at)) ?? null
    // Cinder's calls stand under the project.
    const path = service === null ? pathname : pathname.slice(service.at.length).replace(/^\/p(?=\/)/, '')
    const reply = replies[`${request.method} ${path}`]
    if (reply !== undefined) return reply(body)
    if (service !== null && /^\/?$/.test(path))
      return { json: { version: { id: 'v', status: 'CURRENT', version: service.version, min_version: service.oldest } } }
    return { status: 404, json: { itemNotFound: { code: 404, message: `nothing at ${pathname}` } } }
  }
  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const text = Buffer.concat(parts).toString()
      const { status = 200, json, headers } = answer(request, text === '' ? undefined : JSON.parse(text))
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(json))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const cloud: OpenStack & { close(): Promise<void> } = createOpenStack({
    name: '云',
    authUrl: url,
    credentials: { user: { name: 'u', domain: { id: 'default' } }, password: 'x', project: { id: 'p' } },
    timeoutMs: 5_000,
  })

  let everything = false
  const place = { keystoneId: 'p', name: '', owner: null, cloud }
  const view = async (): Promise<View> => ({ administrator: cloud, everything, allTenants: everything ? { all_tenants: 1 } : {}, places: [place] })
  return {
    replies,
    tenancy: { view, viewForChange: view, inside: async () => cloud, placeForMaking: async () => place },
    reset(options = {}) {
      for (const key of Object.keys(replies)) delete replies[key]
      everything = options.everything === true
    },
    async close() {
      await cloud.close()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
