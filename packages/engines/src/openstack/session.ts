import type { Readable } from 'node:stream'
import type { WebSocket } from 'ws'
import { z } from 'zod'
import { EngineError, isEngineError } from '../errors.ts'
import { pause, refuseAborted, untilAborted } from '../signals.ts'
import { endpointOf, tokenSchema, type Endpoint, type Interface, type Token } from './catalogue.ts'
import { OpenStackError, refusal, type Place, type Service } from './errors.ts'
import { createHttp, type Http, type HttpAnswer, type HttpAsk } from './http.ts'
import { agreed, hasVersions, newest, offeredSchema, overview, versionHeaders, versionsSchema, type Version, type Versioned } from './versions.ts'

/** Something of Keystone's that has a name within a domain, or an id. */
export type Named = { readonly id: string } | { readonly name: string; readonly domain: { readonly id: string } | { readonly name: string } }

/** Identity API v3, "Authentication and token management": who asks, and within what. An application credential has its project in itself. */
export type Credentials =
  | { readonly user: Named; readonly password: string; readonly project?: Named; readonly domain?: { readonly id: string } | { readonly name: string } }
  | { readonly applicationCredential: { readonly id: string; readonly secret: string } }

export interface CloudConnection {
  /** What people call the cloud: stands in every error. */
  readonly name: string
  /** Keystone's address, with `/v3` or without. */
  readonly authUrl: string
  readonly credentials: Credentials
  /** Where the cloud has several. */
  readonly region?: string
  /** Default `public`. */
  readonly interface?: Interface
  /** Addresses that stand for those of the catalogue, which not every cloud keeps reachable from outside. */
  readonly endpoints?: Partial<Readonly<Record<Service, string>>>
  /** PEM. */
  readonly certificateAuthority?: string
  /** For a whole answer, retries among it. Default 30 s. */
  readonly timeoutMs?: number
}

export interface Ask {
  readonly method?: HttpAsk['method']
  /** Behind the service's address, beginning with a slash. */
  readonly path: string
  /** What is undefined is left out. */
  readonly query?: Query
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal | undefined
  readonly timeoutMs?: number
  /** Of what is posted and changes nothing, such as what a console says. */
  readonly changes?: false
}
export type Query = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>

/** Few, so that whoever waits for a list soon sees how it begins; a service takes as much longer as it gives more. */
export const firstPageSize = 100
const furtherPageSize = 500

/** A list that a service gives page by page. */
export interface PagesAsk<T extends z.ZodType> {
  readonly path: string
  readonly query?: Query
  /** The name of the list in the answer. */
  readonly key: string
  readonly schema: T
  /** Most that a page holds; a service may give fewer. Default {@link firstPageSize}, then 500. */
  readonly pageSize?: number
  readonly signal?: AbortSignal | undefined
}

/**
 * One way into a cloud: asks its services in the name of its credentials, renews its token where it
 * ends or is revoked, and speaks the highest microversion that both know.
 *
 * What only reads, and what deletes, is asked again where the connection broke or the service said
 * 429, 502, 503 or 504; nothing else ever is. A change that may have been made although its answer did not come is
 * `unanswered`. All errors are `OpenStackError`s.
 */
export interface Session {
  readonly cloud: string
  /** As an application credential has it: it can be {@link within} no other project. */
  readonly ownProjectOnly: boolean
  json<T extends z.ZodType>(service: Service, schema: T, ask: Ask): Promise<z.output<T>>
  /** The same, and which request it was: for what becomes of the answer later. */
  told<T extends z.ZodType>(service: Service, schema: T, ask: Ask): Promise<{ readonly answer: z.output<T>; readonly place: Place }>
  /** Begins a websocket to an address that a service gave, which ends with this session. @throws OpenStackError `bad_answer` where it is none */
  socket(address: string, protocol: string, place: Place): WebSocket
  /** Where only success matters. */
  done(service: Service, ask: Ask): Promise<void>
  /** Pages as they come; leaving the loop asks for no more. */
  pages<T extends z.ZodType>(service: Service, ask: PagesAsk<T>): AsyncGenerator<z.output<T>[], void, void>
  /** A body of any length; the caller reads or destroys it. `timeoutMs` is for silence. */
  download(service: Service, ask: Ask): Promise<{ body: Readable; lengthBytes: number | null }>
  /** Sends a body of any length, once: a refused token ends it. `timeoutMs` is for silence. */
  upload(service: Service, ask: Omit<Ask, 'body'> & { readonly content: Readable }): Promise<void>
  /** Who we are there; signs in where that has not happened yet. */
  whoami(signal?: AbortSignal): Promise<Pick<Token, 'userId' | 'projectId' | 'roles' | 'expiresAt'>>
  /** Of a service that has microversions. @throws OpenStackError `unsupported` where the catalogue has no such service */
  version(service: Versioned, signal?: AbortSignal): Promise<Version>
  /** Signs in, if need be, and says which services there are. */
  services(signal?: AbortSignal): Promise<ReadonlySet<Service>>
  /** The regions of the catalogue. */
  regions(signal?: AbortSignal): Promise<readonly string[]>
  /** Where a service is, by the catalogue. @throws OpenStackError `unsupported` where there is none */
  address(service: Service, signal?: AbortSignal): Promise<string>
  /** The newest version of its API that a service offers, whatever we speak; null where it does not say. */
  offered(service: Service, signal?: AbortSignal): Promise<string | null>
  /** The same user within another project; shares connections with this one. */
  within(project: Named): Session
  /**
   * The same for those who look at something again and again: what they ask for at the same time, or shortly one after
   * the other, is asked once. What was answered before a change through any session of the cloud is not told after it.
   */
  sharing(): Session
}

const defaultTimeoutMs = 30_000
const attempts = 3
const firstPauseMs = 250
/** Longer than that nobody waits before a page: whoever asked is told to come again. */
const longestPauseMs = 10_000
/** How long an answer is shared: people look each 5 s. */
const sharedMs = 2_000
/** A service that takes long for an answer is kept busy by it at most this part of the time, however many look. */
const share = 1 / 5
/** But nobody looks at anything older than the next look is: a service that fails meanwhile is to be seen to. */
const longestSharedMs = 4_000
/** A token that ends sooner may end on its way. */
const marginMs = 60_000
const repeatable = new Set(['GET', 'HEAD', 'DELETE'])
const services: readonly Service[] = ['identity', 'compute', 'placement', 'image', 'network', 'volume']

/** Asks nothing yet. `close` ends what is under way with `cancelled`. */
export function createSession(connection: CloudConnection): Session & { close(): Promise<void> } {
  const address = connection.authUrl.replace(/\/+$/, '')
  if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol))
    throw new EngineError('invalid', `not an address of Keystone: ${connection.authUrl}`)
  const http = createHttp(connection.name, connection.certificateAuthority)
  const shared: Shared = { http, connection, authUrl: address.endsWith('/v3') ? address : `${address}/v3`, versions: new Map(), changes: 0 }
  return { ...sessionOf(shared, connection.credentials), close: () => http.close() }
}

interface Shared {
  readonly http: Http
  readonly connection: CloudConnection
  readonly authUrl: string
  /** By the address of the document that tells them. */
  readonly versions: Map<string, Promise<Version>>
  /** How many changes have ended, whatever came of them. */
  changes: number
}

/** An answer that several are given. */
interface SharedRead {
  readonly answer: Promise<HttpAnswer<Buffer>>
  /** How many changes had ended when it was asked for. */
  readonly changes: number
  /** By the clock of `performance`. */
  until: number
}

/** @param home of which it is within another project */
function sessionOf(shared: Shared, credentials: Credentials, home?: Session): Session {
  const { http, connection } = shared
  const cloud = connection.name
  let current: Token | null = null
  let signingIn: Promise<Token> | null = null

  /** Many may ask at once: one signs in for all, and nobody's leaving ends it for the others. */
  const token = (signal: AbortSignal | undefined): Promise<Token> => {
    refuseAborted(signal)
    if (current !== null && current.expiresAt.getTime() - marginMs > Date.now()) return Promise.resolve(current)
    signingIn ??= signIn(shared, credentials)
      .catch(async (error: unknown) => {
        throw home === undefined || !('user' in credentials) ? error : await closed(error, home, credentials.project)
      })
      .then((fresh) => (current = fresh))
      .finally(() => {
        signingIn = null
      })
    return untilAborted(signingIn, signal)
  }
  const forget = (refused: Token): void => {
    // Somebody else may have signed in anew meanwhile.
    if (current === refused) current = null
  }

  const placed = (service: Service, held: Token): Endpoint =>
    endpointOf(
      held,
      service,
      {
        region: connection.region,
        interface: connection.interface ?? 'public',
        override: connection.endpoints?.[service] ?? (service === 'identity' ? shared.authUrl : undefined),
      },
      { cloud, service, requestId: 'before any request' },
    )

  const versionAt = (service: Versioned, { versions: address }: Endpoint, held: Token): Promise<Version> => {
    let known = shared.versions.get(address)
    if (known === undefined) {
      known = patiently(http, {
        service,
        method: 'GET',
        url: new URL(address),
        headers: { 'x-auth-token': held.secret },
        timeoutMs: connection.timeoutMs ?? defaultTimeoutMs,
      }).then((answer) => {
        if (answer.status !== 200 && answer.status !== 300) throw refusal(answer.place, answer.status, answer.body)
        return agreed(service, parsed(versionsSchema, answer), answer.place)
      })
      shared.versions.set(address, known)
      // What went wrong now need not go wrong again.
      known.catch(() => shared.versions.delete(address))
    }
    return known
  }

  /** A refused token was revoked, or ended before its time: what was asked has not begun, so it is asked once more. */
  const renewed = async <T>(signal: AbortSignal | undefined, asked: (held: Token) => Promise<T>): Promise<T> => {
    const held = await token(signal)
    try {
      return await asked(held)
    } catch (error) {
      if (!(error instanceof OpenStackError) || error.status !== 401) throw error
      forget(held)
      return asked(await token(signal))
    }
  }

  /** What is sent, and by which token: what has to be asked for it may find out that a token is refused. */
  const prepared = (service: Service, ask: Ask): Promise<{ held: Token; asked: HttpAsk }> =>
    renewed(ask.signal, async (held) => ({ held, asked: await preparedWith(service, ask, held) }))
  const preparedWith = async (service: Service, ask: Ask, held: Token): Promise<HttpAsk> => {
    const endpoint = placed(service, held)
    const version = hasVersions(service) ? versionHeaders(service, await untilAborted(versionAt(service, endpoint, held), ask.signal)) : {}
    const url = new URL(endpoint.base + ask.path)
    for (const [name, value] of Object.entries(ask.query ?? {})) {
      if (value !== undefined) for (const one of [value].flat()) url.searchParams.append(name, String(one))
    }
    return {
      service,
      method: ask.method ?? 'GET',
      url,
      headers: { ...version, ...(ask.body !== undefined && { 'content-type': 'application/json' }), ...ask.headers, 'x-auth-token': held.secret },
      ...(ask.body !== undefined && { body: JSON.stringify(ask.body) }),
      signal: ask.signal,
      timeoutMs: ask.timeoutMs ?? connection.timeoutMs ?? defaultTimeoutMs,
    }
  }

  const authorized = async <Body>(
    service: Service,
    ask: Ask,
    send: (ask: HttpAsk) => Promise<HttpAnswer<Body>>,
    drop: (body: Body) => void,
  ): Promise<HttpAnswer<Body>> => {
    const { held, asked } = await prepared(service, ask)
    const answer = await send(asked)
    if (answer.status !== 401) return answer
    drop(answer.body)
    forget(held)
    return send((await prepared(service, ask)).asked)
  }
  const send = async (service: Service, ask: Ask): Promise<HttpAnswer<Buffer>> => {
    try {
      const answer = await authorized(
        service,
        ask,
        (one) => (mayChange(ask) ? orUnanswered(patiently(http, one)) : patiently(http, one)),
        () => undefined,
      )
      if (answer.status >= 300) throw refusal(answer.place, answer.status, answer.body, mayChange(ask))
      return answer
    } finally {
      if (mayChange(ask)) shared.changes += 1
    }
  }

  const reads = new Map<string, SharedRead>()
  const sendShared = (service: Service, { signal, ...ask }: Ask): Promise<HttpAnswer<Buffer>> => {
    if ((ask.method ?? 'GET') !== 'GET') return send(service, { ...ask, signal })
    refuseAborted(signal)
    const key = JSON.stringify([service, ask])
    const known = reads.get(key)
    if (known !== undefined && known.changes === shared.changes && performance.now() < known.until) return untilAborted(known.answer, signal)
    const began = performance.now()
    // Nobody's leaving ends it for the others.
    const read: SharedRead = { answer: send(service, ask), changes: shared.changes, until: Number.POSITIVE_INFINITY }
    reads.set(key, read)
    const forget = () => {
      if (reads.get(key) === read) reads.delete(key)
    }
    read.answer.then(() => {
      const now = performance.now()
      const keptMs = Math.min(longestSharedMs, Math.max(sharedMs, (now - began) * (1 / share - 1)))
      read.until = now + keptMs
      setTimeout(forget, keptMs).unref()
    }, forget)
    return untilAborted(read.answer, signal)
  }

  const ownProjectOnly = 'applicationCredential' in credentials
  const sessionBy = (ask: typeof send): Session => ({
    cloud,
    ownProjectOnly,
    json: async (service, schema, one) => parsed(schema, await ask(service, one)),
    async told(service, schema, one) {
      const answer = await ask(service, one)
      return { answer: parsed(schema, answer), place: answer.place }
    },
    socket(address, protocol, place) {
      const url = URL.canParse(address) ? new URL(address) : null
      // What it names stays out: there may be a token in it.
      if (url === null || !/^wss?:$/.test(url.protocol) || url.hash !== '') throw new OpenStackError('bad_answer', 'the address is none of a websocket', place)
      return http.socket(url, protocol)
    },
    async done(service, one) {
      await ask(service, one)
    },
    async *pages(service, { path, query, key, schema, pageSize, signal }) {
      let next: Query | null = { ...query, limit: pageSize ?? firstPageSize }
      const seen = new Set<string>()
      while (next !== null) {
        const answer: HttpAnswer<Buffer> = await ask(service, { path, query: next, signal })
        const { rows, link } = pageOf(key, schema, answer)
        if (rows.length > 0) yield rows
        if (link === null) return
        // The address is the service's view of itself; what counts is where it goes on.
        const marker = new URL(link, 'http://next').searchParams.get('marker')
        if (marker === null || seen.has(marker)) throw new OpenStackError('bad_answer', `${path}: the list leads nowhere: ${link}`, answer.place)
        seen.add(marker)
        next = { ...query, limit: pageSize ?? furtherPageSize, marker }
      }
    },
    async download(service, one) {
      const answer = await authorized(
        service,
        { ...one, headers: { accept: '*/*', ...one.headers } },
        (sent) => http.open(sent),
        (body) => body.destroy(),
      )
      if (answer.status !== 200)
        throw refusal(answer.place, answer.status, answer.status === 204 ? Buffer.from('there is nothing yet') : await wholeOf(answer.body))
      const length = Number(answer.headers['content-length'])
      return { body: answer.body, lengthBytes: Number.isSafeInteger(length) ? length : null }
    },
    async upload(service, { content, ...one }) {
      try {
        const { held, asked } = await prepared(service, one)
        const answer = await http.send({ ...asked, headers: { ...asked.headers, 'content-type': 'application/octet-stream' }, body: content })
        if (answer.status === 401) forget(held)
        if (answer.status >= 300) throw refusal(answer.place, answer.status, answer.body)
      } finally {
        content.destroy()
        shared.changes += 1
      }
    },
    async whoami(signal) {
      const { userId, projectId, roles, expiresAt } = await token(signal)
      return { userId, projectId, roles, expiresAt }
    },
    version: (service, signal) => renewed(signal, (held) => untilAborted(versionAt(service, placed(service, held), held), signal)),
    async services(signal) {
      const held = await token(signal)
      return new Set(
        services.filter((service) => {
          try {
            placed(service, held)
            return true
          } catch (error) {
            if (isEngineError(error, 'unsupported')) return false
            throw error
          }
        }),
      )
    },
    async regions(signal) {
      const { catalogue } = await token(signal)
      const named = catalogue.flatMap(({ endpoints }) => endpoints.flatMap(({ region_id, region }) => region_id ?? region ?? []))
      return [...new Set(named)].sort()
    },
    async address(service, signal) {
      return placed(service, await token(signal)).base
    },
    offered: (service, signal) =>
      renewed(signal, async (held) => {
        const answer = await patiently(http, {
          service,
          method: 'GET',
          url: new URL(overview(service, placed(service, held).versions)),
          headers: { 'x-auth-token': held.secret },
          signal,
          timeoutMs: connection.timeoutMs ?? defaultTimeoutMs,
        })
        if (answer.status !== 200 && answer.status !== 300) throw refusal(answer.place, answer.status, answer.body)
        return newest(parsed(offeredSchema, answer))
      }),
    within(project) {
      if ('applicationCredential' in credentials) throw new EngineError('unsupported', `${cloud}: an application credential is for its own project only`)
      const { domain: _, ...rest } = credentials
      const there = sessionOf(shared, { ...rest, project }, home ?? sessionBy(send))
      return ask === send ? there : there.sharing()
    },
    sharing: () => sessionBy(sendShared),
  })
  return sessionBy(send)
}

/** Keystone says the same of a project that it lets nobody into and of a wrong password: whoever is let in elsewhere knows which. */
async function closed(error: unknown, home: Session, project: Named | undefined): Promise<unknown> {
  if (!(error instanceof OpenStackError) || error.status !== 401 || project === undefined || !('id' in project)) return error
  try {
    const found = z.object({ project: z.object({ enabled: z.boolean().nullish() }) })
    const { enabled } = (await home.json('identity', found, { path: `/projects/${encodeURIComponent(project.id)}` })).project
    return error.as('unauthorized', { project: enabled === false ? 'disabled' : 'role' })
  } catch (failure) {
    return isEngineError(failure, 'not_found') && /could not find project/i.test(failure.message) ? error.as('unauthorized', { project: 'gone' }) : error
  }
}

/** Where nobody was reached nothing was changed; where somebody was, it may have been. */
async function orUnanswered<T>(sent: Promise<T>): Promise<T> {
  try {
    return await sent
  } catch (error) {
    if (!(error instanceof OpenStackError) || error.kind !== 'unreachable' || neverSent(error.cause)) throw error
    throw error.as('unanswered')
  }
}
const neverSent = (cause: unknown): boolean =>
  cause instanceof Error && 'code' in cause && /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/.test(String(cause.code))

const mayChange = ({ method = 'GET', changes }: Ask): boolean => method !== 'GET' && method !== 'HEAD' && changes !== false

const identityOf = (credentials: Credentials) =>
  'applicationCredential' in credentials
    ? { identity: { methods: ['application_credential'], application_credential: credentials.applicationCredential } }
    : {
        identity: { methods: ['password'], password: { user: { ...credentials.user, password: credentials.password } } },
        ...(credentials.project !== undefined
          ? { scope: { project: credentials.project } }
          : credentials.domain !== undefined
            ? { scope: { domain: credentials.domain } }
            : {}),
      }

/** Identity API v3: `POST /v3/auth/tokens`. */
async function signIn({ http, connection, authUrl }: Shared, credentials: Credentials): Promise<Token> {
  const answer = await patiently(
    http,
    {
      service: 'identity',
      method: 'POST',
      url: new URL(`${authUrl}/auth/tokens`),
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ auth: identityOf(credentials) }),
      timeoutMs: connection.timeoutMs ?? defaultTimeoutMs,
    },
    // Signing in twice does no harm.
    true,
  )
  if (answer.status !== 201) {
    const refused = refusal(answer.place, answer.status, answer.body)
    // Keystone says so of an application credential that was deleted; any other 404 is not Keystone's.
    if (/could not find application credential/i.test(refused.message))
      throw new OpenStackError('unauthorized', 'the application credential does not exist any more', answer.place, { status: answer.status, cause: refused })
    throw refused
  }
  const { token } = parsed(tokenSchema, answer)
  const secret = answer.headers['x-subject-token']
  if (typeof secret !== 'string' || secret === '') throw new OpenStackError('bad_answer', 'an answer without a token', answer.place, { status: answer.status })
  return {
    secret,
    expiresAt: new Date(token.expires_at),
    userId: token.user.id,
    projectId: token.project?.id ?? null,
    roles: (token.roles ?? []).map(({ name }) => name),
    catalogue: token.catalog ?? [],
  }
}

/** Asks again what may be asked again, a few times and no longer than `timeoutMs` in all. */
async function patiently(http: Http, ask: HttpAsk, mayRepeat = repeatable.has(ask.method)): Promise<HttpAnswer<Buffer>> {
  const until = Date.now() + ask.timeoutMs
  for (let attempt = 1; ; attempt++) {
    const last = !mayRepeat || attempt === attempts
    let pauseMs = firstPauseMs * 2 ** (attempt - 1) * (0.75 + Math.random() / 2)
    try {
      const answer = await http.send({ ...ask, timeoutMs: Math.max(1, until - Date.now()) })
      // The first one got there, and only its answer did not come back.
      if (attempt > 1 && ask.method === 'DELETE' && (answer.status === 404 || (await isUnderWay(http, ask, answer.status, until))))
        return { ...answer, status: 204, body: Buffer.alloc(0) }
      if (last || ![429, 502, 503, 504].includes(answer.status)) return answer
      pauseMs = retryAfterMs(answer.headers['retry-after']) ?? pauseMs
      if (pauseMs > longestPauseMs || Date.now() + pauseMs >= until) return answer
    } catch (error) {
      if (last || !isEngineError(error, 'unreachable') || Date.now() + pauseMs >= until) throw error
    }
    await pause(pauseMs, ask.signal)
  }
}

const deletion = z.record(z.string(), z.object({ status: z.enum(['deleting', 'deleted']) }))

/** Cinder refuses to delete what it deletes already, in the words that it has for what something builds on: its state tells them apart. */
async function isUnderWay(http: Http, ask: HttpAsk, status: number, until: number): Promise<boolean> {
  if (ask.service !== 'volume' || (status !== 400 && status !== 409)) return false
  const url = new URL(ask.url)
  url.search = ''
  try {
    const { body: _, ...look } = ask
    const answer = await http.send({ ...look, url, method: 'GET', timeoutMs: Math.max(1, until - Date.now()) })
    return answer.status === 404 || (answer.status === 200 && deletion.safeParse(jsonOf(answer)).success)
  } catch (error) {
    // Nobody knows: then what was said stands.
    if (isEngineError(error) && error.kind !== 'cancelled') return false
    throw error
  }
}

/** Seconds, or a date. */
function retryAfterMs(value: string | string[] | undefined): number | null {
  if (typeof value !== 'string') return null
  const ms = /^\d+$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - Date.now()
  return Number.isNaN(ms) ? null : Math.max(0, ms)
}

function jsonOf({ body, status, place }: HttpAnswer<Buffer>): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    // Neither what it said nor the parser's words, which quote it: it may be a password, or the address of a console.
    throw new OpenStackError('bad_answer', 'the answer is not JSON', place, { status })
  }
}

function parsed<T extends z.ZodType>(schema: T, answer: HttpAnswer<Buffer>): z.output<T> {
  const result = schema.safeParse(jsonOf(answer))
  if (!result.success) throw nonsense(result.error, '', answer)
  return result.data
}
const nonsense = (error: z.ZodError, what: string, { place, status }: HttpAnswer<Buffer>): OpenStackError =>
  new OpenStackError('bad_answer', `an unknown answer${what}: ${z.prettifyError(error).replace(/\s+/g, ' ').slice(0, 500)}`, place, { cause: error, status })

const links = z.array(z.object({ rel: z.string(), href: z.string() })).nullish()
const onward = z
  .object({ next: z.string().nullish().catch(null), links: z.object({ next: z.string().nullish() }).nullish().catch(null) })
  .transform(({ next, links }) => next ?? links?.next ?? null)
const object = z.record(z.string(), z.unknown())

/** Nova, Neutron and Cinder tell the next page by `<key>_links`, Glance by `next`, Keystone by `links.next`. */
function pageOf<T extends z.ZodType>(key: string, schema: T, answer: HttpAnswer<Buffer>): { rows: z.output<T>[]; link: string | null } {
  const page = object.safeParse(jsonOf(answer))
  if (!page.success) throw nonsense(page.error, '', answer)
  const list = z.array(z.unknown()).safeParse(page.data[key])
  if (!list.success) throw nonsense(list.error, ` for ${key}`, answer)
  const rows = list.data.map((row, at) => {
    const result = schema.safeParse(row)
    if (!result.success) throw nonsense(result.error, ` for ${key}[${at}]`, answer)
    return result.data
  })
  const own = links.safeParse(page.data[`${key}_links`])
  if (!own.success) throw nonsense(own.error, ` for ${key}_links`, answer)
  return { rows, link: own.data?.find(({ rel }) => rel === 'next')?.href ?? onward.parse(page.data) }
}

async function wholeOf(body: Readable): Promise<Buffer> {
  const parts: Buffer[] = []
  for await (const part of body as AsyncIterable<Buffer>) if (parts.length < 64) parts.push(part)
  return Buffer.concat(parts)
}

/** All of a list that has to be known whole; where pages can be shown as they come, take them so. */
export async function all<T>(pages: AsyncIterable<readonly T[]>): Promise<T[]> {
  const rows: T[] = []
  for await (const page of pages) for (const row of page) rows.push(row)
  return rows
}

/** What one of several lists came to. */
export type Gathered<T> = { readonly rows: T[]; readonly error: null } | { readonly rows: null; readonly error: EngineError }

/** Several lists at once: a service that is down takes its own list away, and no other. */
export async function gather<const Lists extends Readonly<Record<string, AsyncIterable<readonly unknown[]>>>>(
  lists: Lists,
): Promise<{ [Name in keyof Lists]: Gathered<Lists[Name] extends AsyncIterable<readonly (infer T)[]> ? T : never> }> {
  const gathered = await Promise.all(
    Object.entries(lists).map(async ([name, pages]) => {
      try {
        return [name, { rows: await all(pages), error: null }] as const
      } catch (error) {
        if (!(error instanceof EngineError) || error.kind === 'cancelled') throw error
        return [name, { rows: null, error }] as const
      }
    }),
  )
  // What was put in by a name comes out by it: TypeScript does not follow that through entries.
  return Object.fromEntries(gathered) as never
}
