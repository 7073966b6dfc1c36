import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface FakeHarbor {
  readonly url: string
  /** `host:port`, as images are named by it. */
  readonly address: string
  readonly account: { readonly username: string; readonly password: string }
  /** What was asked, without what signs in. */
  readonly asked: readonly string[]
  /** Tags by repository; a repository without any is there all the same. */
  readonly repositories: Map<string, string[]>
  close(): void
}

const mediaType = 'application/vnd.oci.image.manifest.v1+json'
const digestOf = (bytes: Buffer): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`
const config = Buffer.from(JSON.stringify({ architecture: 'amd64', os: 'linux', config: {}, rootfs: { type: 'layers', diff_ids: [] } }))
const manifestOf = (tag: string): Buffer =>
  Buffer.from(
    JSON.stringify({
      schemaVersion: 2,
      mediaType,
      config: { mediaType: 'application/vnd.oci.image.config.v1+json', digest: digestOf(config), size: config.length },
      layers: [],
      annotations: { tag },
    }),
  )

/** As much of Harbor as the platform asks of one, after its API reference (2.0): for tests where none is at hand. */
export async function startFakeHarbor(): Promise<FakeHarbor> {
  const account = { username: 'robot$zhisuan', password: 'Robot-secret-1' }
  const basic = `Basic ${Buffer.from(`${account.username}:${account.password}`).toString('base64')}`
  const repositories = new Map<string, string[]>()
  const asked: string[] = []

  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const url = new URL(request.url ?? '', `http://${request.headers.host}`)
    const { authorization } = request.headers
    asked.push(`${request.method} ${url.pathname}`)
    const say = (status: number, body: unknown, headers: Record<string, string> = {}): void =>
      void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(Buffer.isBuffer(body) ? body : JSON.stringify(body))
    const refuse = (status: number, code: string, headers: Record<string, string> = {}): void =>
      say(status, { errors: [{ code, message: code.toLowerCase() }] }, headers)
    const page = <T>(all: readonly T[]): void => {
      const [size, number] = [Number(url.searchParams.get('page_size') ?? 10), Number(url.searchParams.get('page') ?? 1)]
      if (size > 100) return refuse(422, 'UNPROCESSABLE_ENTITY')
      say(200, all.slice((number - 1) * size, number * size), { 'x-total-count': String(all.length) })
    }
    if (url.pathname === '/service/token') return authorization === basic ? say(200, { token: 'given', expires_in: 1_800 }) : refuse(401, 'UNAUTHORIZED')
    if (url.pathname.startsWith('/v2/')) {
      if (authorization !== 'Bearer given')
        return refuse(401, 'UNAUTHORIZED', { 'www-authenticate': `Bearer realm="http://${request.headers.host}/service/token",service="harbor-registry"` })
      if (url.pathname === '/v2/') return say(200, {}, { 'docker-distribution-api-version': 'registry/2.0' })
      // Of administrators only.
      if (url.pathname === '/v2/_catalog') return refuse(401, 'UNAUTHORIZED')
      const [, name = '', what, reference = ''] = /^\/v2\/(.+)\/(manifests|blobs)\/(.+)$/.exec(url.pathname) ?? []
      if (what === 'blobs') return reference === digestOf(config) ? say(200, config) : refuse(404, 'BLOB_UNKNOWN')
      const tag = (repositories.get(name) ?? []).find((one) => one === reference || digestOf(manifestOf(one)) === reference)
      if (tag === undefined) return refuse(404, 'MANIFEST_UNKNOWN')
      return say(200, manifestOf(tag), { 'content-type': mediaType, 'docker-content-digest': digestOf(manifestOf(tag)) })
    }
    if (url.pathname === '/api/v2.0/systeminfo') return say(200, { auth_mode: 'db_auth', registry_url: request.headers.host })
    if (!url.pathname.startsWith('/api/v2.0/')) return say(404, {})
    if (authorization !== basic) return refuse(401, 'UNAUTHORIZED')
    if (url.pathname === '/api/v2.0/projects')
      return page([...new Set([...repositories.keys()].map((name) => name.split('/')[0] ?? ''))].map((name) => ({ name })))
    const [, project = '', escaped] = /^\/api\/v2\.0\/projects\/([^/]+)\/repositories(?:\/([^/]+)\/artifacts)?$/.exec(url.pathname) ?? []
    if (escaped === undefined)
      return page([...repositories.keys()].filter((name) => name.startsWith(`${project}/`)).map((name) => ({ name, artifact_count: 1 })))
    const tags = repositories.get(`${project}/${decodeURIComponent(decodeURIComponent(escaped))}`)
    return tags === undefined ? refuse(404, 'NOT_FOUND') : page(tags.map((name) => ({ digest: digestOf(manifestOf(name)), tags: [{ name }] })))
  }

  const server = createServer(answer).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url: `http://${address}`,
    address,
    account,
    asked,
    repositories,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
