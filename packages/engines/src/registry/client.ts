import { createHash } from 'node:crypto'
import { Agent, request } from 'undici'
import { z } from 'zod'
import { EngineError, isEngineError } from '../errors.ts'
import { refuseAborted } from '../signals.ts'
import { parseChallenge } from './challenge.ts'
import { registryError } from './errors.ts'
import { acceptedManifests, jsonOf, manifestMostBytes } from './manifest.ts'
import type { AskOptions, Registry, RegistryConnection, RegistryScope } from './types.ts'

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Buffer
}

interface Ask extends AskOptions {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE'
  /** Behind the registry's address, or a whole one that it gave. */
  readonly path: string
  readonly scopes: readonly RegistryScope[]
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Buffer
  readonly mostBytes?: number
}

const listMostBytes = 16 * 2 ** 20
/** Registries that heed no `n` answer all their names at once; who may be a stranger does not decide how long reading that takes. */
const listMostValues = 250_000
/** A registry of its own is asked no more at once than its disk gives. */
const connections = 16
/** Tokens are good for a minute at least (token authentication, "expires_in"). */
const tokenUsedMs = 45_000

const catalog = z.object({ repositories: z.array(z.string()).nullish() })
const tagList = z.object({ tags: z.array(z.string()).nullish() })
const tokenAnswer = z.object({ token: z.string().nullish(), access_token: z.string().nullish() })

const one = (header: string | string[] | undefined): string | undefined => [header].flat()[0]
/** `Link: </v2/_catalog?last=x&n=100>; rel="next"` (RFC 8288). */
const nextOf = (header: string | string[] | undefined): string | undefined => /<([^>]+)>\s*;\s*rel="?next"?/.exec(one(header) ?? '')?.[1]
const digestOf = (bytes: Buffer): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`
const scopeText = ({ type, name, actions }: RegistryScope): string => `${type}:${name}:${actions.join()}`

/** What a registry tells beside the API of registries, by its account. */
export type AskBeside = (path: string, options?: AskOptions) => Promise<Answer>

/** Asks nothing yet. */
export const createRegistry = (connection: RegistryConnection): Registry => createRegistryWithMore(connection).registry

/** The same, for one that has an API of its own at the same address, which takes the account as it is (Basic). */
export function createRegistryWithMore(connection: RegistryConnection): { readonly registry: Registry; readonly beside: AskBeside } {
  const base = connection.url.replace(/\/+$/, '')
  if (!URL.canParse(base) || !/^https?:$/.test(new URL(base).protocol)) throw new EngineError('invalid', `not an address of a registry: ${connection.url}`)
  const { credentials, timeoutMs = 30_000 } = connection
  const agent = new Agent({
    connections,
    connect: {
      timeout: 10_000,
      ...(connection.certificateAuthority !== undefined && { ca: connection.certificateAuthority }),
      ...(connection.lookup !== undefined && { lookup: connection.lookup }),
    },
  })
  /** How it wants to be asked, and the tokens that it takes, by what they are for. */
  let basic = false
  const tokens = new Map<string, { token: string; at: number }>()

  const send = async (url: URL, ask: Pick<Ask, 'method' | 'headers' | 'body' | 'mostBytes' | 'signal'>, authorization?: string): Promise<Answer> => {
    refuseAborted(ask.signal)
    connection.mayAsk?.(url)
    const changes = ask.method !== 'GET' && ask.method !== 'HEAD'
    try {
      const { statusCode, headers, body } = await request(url, {
        dispatcher: agent,
        method: ask.method,
        headers: { ...ask.headers, ...(authorization !== undefined && { authorization }) },
        body: ask.body ?? null,
        signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(ask.signal === undefined ? [] : [ask.signal])]),
      })
      const chunks: Buffer[] = []
      let bytes = 0
      for await (const chunk of body as AsyncIterable<Buffer>) {
        bytes += chunk.length
        if (bytes > (ask.mostBytes ?? listMostBytes)) throw new EngineError('bad_answer', `${url.pathname}: more than ${ask.mostBytes ?? listMostBytes} bytes`)
        chunks.push(chunk)
      }
      return { status: statusCode, headers, body: Buffer.concat(chunks) }
    } catch (error) {
      if (error instanceof EngineError) throw error
      refuseAborted(ask.signal)
      throw new EngineError(changes ? 'unanswered' : 'unreachable', `${url.host}: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
    }
  }

  const basicOf = (): string | undefined =>
    credentials.kind === 'account' ? `Basic ${Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64')}` : undefined

  /** Where its own service gives tokens, for the account or for nobody. */
  const fetched = async (realm: string, service: string | null, scopes: readonly RegistryScope[], signal: AbortSignal | undefined): Promise<string> => {
    const url = new URL(realm)
    if (!/^https?:$/.test(url.protocol)) throw new EngineError('bad_answer', `tokens at ${url.protocol}`)
    if (service !== null) url.searchParams.set('service', service)
    for (const scope of scopes) url.searchParams.append('scope', scopeText(scope))
    const answer = await send(url, { method: 'GET', mostBytes: 65_536, ...(signal !== undefined && { signal }) }, basicOf())
    if (answer.status !== 200) throw registryError('token', answer.status, answer.headers, answer.body)
    const { token, access_token } = parsed(tokenAnswer, answer.body, 'token')
    const given = token ?? access_token
    if (given == null || given === '') throw new EngineError('bad_answer', 'a token service that gives none')
    return given
  }

  const authorised = async (ask: Ask): Promise<Answer> => {
    const url = new URL(ask.path, `${base}/`)
    // It may lead its uploads to another address; ours is for itself only.
    if (url.origin !== new URL(base).origin) throw new EngineError('bad_answer', `leads to ${url.host}`)
    const key = ask.scopes.map(scopeText).join(' ')
    const mint = async (): Promise<string | undefined> => (credentials.kind === 'minted' ? `Bearer ${await credentials.mint(ask.scopes)}` : undefined)
    const known = tokens.get(key)
    const remembered = known !== undefined && Date.now() - known.at < tokenUsedMs ? known.token : undefined
    const first = await send(url, ask, remembered ?? (basic ? basicOf() : await mint()))
    if (first.status !== 401) return first
    tokens.delete(key)
    const challenge = parseChallenge(one(first.headers['www-authenticate']))
    if (challenge === null || credentials.kind === 'minted') return first
    if (challenge.scheme === 'basic') {
      if (credentials.kind !== 'account' || basic) return first
      basic = true
      return send(url, ask, basicOf())
    }
    const token = `Bearer ${await fetched(challenge.realm, challenge.service, ask.scopes, ask.signal)}`
    if (tokens.size > 1_000) tokens.clear()
    tokens.set(key, { token, at: Date.now() })
    return send(url, ask, token)
  }

  const asked = async (what: string, ask: Ask, ...fine: number[]): Promise<Answer> => {
    const answer = await authorised(ask)
    if (answer.status >= 300 && !fine.includes(answer.status)) throw registryError(what, answer.status, answer.headers, answer.body)
    return answer
  }
  const of = (name: string, ...actions: RegistryScope['actions']): RegistryScope[] => [{ type: 'repository', name, actions }]
  const optionsOf = ({ signal }: AskOptions): AskOptions => (signal === undefined ? {} : { signal })

  const beside: AskBeside = async (path, options = {}) => {
    const answer = await send(new URL(path, `${base}/`), { ...optionsOf(options), method: 'GET', headers: { accept: 'application/json' } }, basicOf())
    if (answer.status >= 300) throw registryError(new URL(path, `${base}/`).pathname, answer.status, answer.headers, answer.body)
    return answer
  }

  const registry: Registry = {
    async check(options = {}) {
      const answer = await asked('/v2/', { ...optionsOf(options), method: 'GET', path: '/v2/', scopes: [], mostBytes: 65_536 })
      // Any web server answers something.
      if (one(answer.headers['docker-distribution-api-version']) === undefined && answer.body.toString('utf8').trim() !== '{}')
        throw new EngineError('bad_answer', '/v2/: no registry answers there')
    },
    async *repositories(options = {}) {
      let path: string | undefined = '/v2/_catalog?n=1000'
      while (path !== undefined) {
        const answer: Answer = await asked('_catalog', {
          ...optionsOf(options),
          method: 'GET',
          path,
          scopes: [{ type: 'registry', name: 'catalog', actions: ['*'] }],
        })
        yield parsed(catalog, answer.body, '_catalog').repositories ?? []
        path = nextOf(answer.headers['link'])
      }
    },
    async tags(repository, options = {}) {
      const most = options.most ?? Number.POSITIVE_INFINITY
      const items: string[] = []
      let path: string | undefined = `/v2/${repository}/tags/list?n=1000`
      while (path !== undefined && items.length <= most) {
        const answer: Answer = await asked(`tags of ${repository}`, { ...optionsOf(options), method: 'GET', path, scopes: of(repository, 'pull') }, 404)
        if (answer.status === 404) return { items, more: false }
        // One by one: as arguments of one call so many do not fit.
        for (const tag of parsed(tagList, answer.body, 'tags').tags ?? []) items.push(tag)
        path = nextOf(answer.headers['link'])
      }
      return items.length > most ? { items: items.slice(0, most), more: true } : { items, more: path !== undefined }
    },
    async manifest(repository, reference, options = {}) {
      const answer = await asked(
        `${repository}:${reference}`,
        {
          ...optionsOf(options),
          method: 'GET',
          path: `/v2/${repository}/manifests/${reference}`,
          scopes: of(repository, 'pull'),
          headers: { accept: acceptedManifests },
          mostBytes: manifestMostBytes,
        },
        404,
      )
      if (answer.status === 404) return null
      const digest = digestOf(answer.body)
      if (reference.startsWith('sha256:') && reference !== digest) throw new EngineError('bad_answer', `${repository}@${reference}: other bytes came`)
      return { digest, mediaType: one(answer.headers['content-type'])?.split(';')[0]?.trim() ?? '', bytes: answer.body }
    },
    async head(repository, reference, options = {}) {
      const answer = await asked(
        `${repository}:${reference}`,
        {
          ...optionsOf(options),
          method: 'HEAD',
          path: `/v2/${repository}/manifests/${reference}`,
          scopes: of(repository, 'pull'),
          headers: { accept: acceptedManifests },
        },
        404,
      )
      return answer.status === 404 ? null : (one(answer.headers['docker-content-digest']) ?? null)
    },
    async putManifest(repository, reference, { mediaType, bytes }, options = {}) {
      await asked(`${repository}:${reference}`, {
        ...optionsOf(options),
        method: 'PUT',
        path: `/v2/${repository}/manifests/${reference}`,
        scopes: of(repository, 'pull', 'push'),
        headers: { 'content-type': mediaType },
        body: bytes,
      })
      return digestOf(bytes)
    },
    async deleteManifest(repository, digest, options = {}) {
      await asked(
        `${repository}@${digest}`,
        { ...optionsOf(options), method: 'DELETE', path: `/v2/${repository}/manifests/${digest}`, scopes: of(repository, 'pull', 'delete') },
        404,
      )
    },
    async blob(repository, digest, options = {}) {
      const { mostBytes = 4 * 2 ** 20 } = options
      try {
        const answer = await asked(
          `${repository}@${digest}`,
          { ...optionsOf(options), method: 'GET', path: `/v2/${repository}/blobs/${digest}`, scopes: of(repository, 'pull'), mostBytes },
          404,
        )
        if (answer.status === 404) return null
        if (digestOf(answer.body) !== digest) throw new EngineError('bad_answer', `${repository}@${digest}: other bytes came`)
        return answer.body
      } catch (error) {
        if (isEngineError(error, 'not_found')) return null
        throw error
      }
    },
    async blobSize(repository, digest, options = {}) {
      const answer = await asked(
        `${repository}@${digest}`,
        { ...optionsOf(options), method: 'HEAD', path: `/v2/${repository}/blobs/${digest}`, scopes: of(repository, 'pull') },
        404,
      )
      const size = answer.status === 404 ? Number.NaN : Number(one(answer.headers['content-length']) ?? Number.NaN)
      return Number.isSafeInteger(size) && size >= 0 ? size : null
    },
    async putBlob(repository, bytes, options = {}) {
      const digest = digestOf(bytes)
      const scopes = of(repository, 'pull', 'push')
      const begun = await asked('an upload', { ...optionsOf(options), method: 'POST', path: `/v2/${repository}/blobs/uploads/`, scopes })
      const location = one(begun.headers['location'])
      if (location === undefined) throw new EngineError('bad_answer', 'an upload that is nowhere')
      const to = new URL(location, `${base}/`)
      to.searchParams.set('digest', digest)
      // It may know itself by another name than we do.
      await asked('an upload', {
        ...optionsOf(options),
        method: 'PUT',
        path: `${to.pathname}${to.search}`,
        scopes,
        headers: { 'content-type': 'application/octet-stream' },
        body: bytes,
      })
      return digest
    },
    close: () => agent.destroy(),
  }
  return { registry, beside }
}

export function parsed<T extends z.ZodType>(schema: T, body: Buffer, what: string): z.output<T> {
  try {
    return schema.parse(jsonOf(body, what, listMostValues))
  } catch (error) {
    if (error instanceof EngineError) throw error
    throw new EngineError('bad_answer', `${what}: not what the API promises`, { cause: error })
  }
}
