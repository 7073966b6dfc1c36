import { Readable } from 'node:stream'
import rateLimit from '@fastify/rate-limit'
import { allCalls } from '@zhisuan/contract/calls'
import type { Call, Tags } from '@zhisuan/contract/define'
import type { Context } from '@zhisuan/contract/policy/pattern'
import '@zhisuan/contract/validation'
import { mayAccess } from '@zhisuan/contract/roles'
import type { FastifyInstance, FastifyRequest, RequestPayload } from 'fastify'
import { z } from 'zod'
import { scopeOf, type Actor, type Scope } from '../auth/actor.ts'
import { readCredential, type Credential } from '../auth/credential.ts'
import { decideAlso, decideCall, isDecidedByBody, type ReadOwner } from '../auth/rules.ts'
import { checkDigest, signatureUnsupported } from '../auth/signature.ts'
import { Refusal } from '../errors.ts'
import { createHeld } from '../held.ts'
import type { OpenStreams } from '../openStreams.ts'
import type { Changing } from './changing.ts'
import './entry.ts'
import type { Handler } from './handler.ts'
import { serializerOf } from './schema.ts'
import { createShared } from './shared.ts'
import { Windows } from './windows.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set before the handler from what the request brings; null where that is nothing. */
    actor: Actor | null
    /** Of a signed request, what was signed of its body: checked as it is read. */
    signedBody: { readonly digest: string | null } | null
  }
  interface FastifyContextConfig {
    call?: Call
  }
}

export interface BindOptions {
  /**
   * Whom it stands for; null where that is nobody any more.
   * @throws Refusal where there is more to say of it
   */
  authenticate(credential: Credential, ip: string): Promise<Actor | null> | Actor | null
  /** Those of something that the scope sees; none of what has none or is not there. For policies that ask. */
  tags(scope: Scope, kind: string, id: string): Promise<Tags>
  /** The id of what something belongs to, for calls that act on that: see `Call.also`. */
  owner: ReadOwner
  /** What ends with the session that asked for it. */
  openStreams: Pick<OpenStreams, 'addWait'>
  /** Makes calls that change something, with their entries in the audit log: see Call.audit. */
  changing: Changing
  /** Parse answers against their declaration too: in tests and development. */
  checkResponses: boolean
}

/** What decides whether a request may be made. */
export type Authorising = Pick<BindOptions, 'authenticate' | 'tags' | 'owner'>

/**
 * Serves the declared calls. The order is one and the same for each: rate limit, authenticated,
 * role, policies, parsed, handler, audited, serialized by the declared schema.
 * @throws where a handler's call is not in the contract, or two handlers serve one call
 */
export async function bindCalls(app: FastifyInstance, handlers: readonly Handler[], options: BindOptions): Promise<void> {
  const declared = new Set(allCalls)
  const bound = new Set<Call>()
  app.decorateRequest('actor', null)
  app.decorateRequest('signedBody', null)
  app.decorateRequest('note', null)
  app.addHook('preParsing', checkSignedBody)
  // The specified client says JSON with every request, also where it sends nothing: that reads as an absent body.
  const json = app.getDefaultJsonParser('error', 'error')
  app.removeContentTypeParser('application/json')
  app.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (request, body, done) => {
    const refusal = unreadable(body)
    if (refusal !== null) done(new Refusal(refusal))
    else if (body === '') done(null, undefined)
    else void json(request, body, done)
  })
  await app.register(rateLimit, {
    global: false,
    store: Windows,
    errorResponseBuilder: (_request, context) => new Refusal('tooManyRequests', { values: { seconds: Math.ceil(context.ttl / 1000) } }),
  })

  const share = createShared<string>()
  const held = createHeld('streams')
  const check = (call: Call, answer: unknown): unknown => {
    if (options.checkResponses) parse(call.response, answer, 'response')
    return answer
  }

  for (const handler of handlers) {
    const { call } = handler
    if (!declared.has(call)) throw new Error(`${call.id} is served but not in the contract`)
    if (bound.has(call)) throw new Error(`${call.id} has two handlers`)
    if (handler.shared && call.method !== 'GET') throw new Error(`${call.id} changes something, so its answer cannot be shared`)
    if ((handler.lines === true) !== call.lines) throw new Error(`${call.id} is declared to answer ${call.lines ? 'in lines' : 'at once'}`)
    bound.add(call)
    const hasBody = call.method !== 'GET' && call.method !== 'DELETE'
    const write = serializerOf(call.response)

    app.route({
      method: call.method,
      url: call.path.replace(/\{(\w+)\}/g, ':$1'),
      config: {
        call,
        ...(call.perMinute !== undefined && { rateLimit: { max: call.perMinute, timeWindow: 60_000 } }),
      },
      ...(call.status !== 204 && { schema: { response: { [call.status]: {} } }, serializerCompiler: () => write }),
      onRequest: async (request) => {
        await authorise(request, call, options)
      },
      handler: async (request, reply) => {
        if (handler.shared) {
          // Refused above where the call wants somebody.
          const scope: Scope = request.actor === null ? { nothing: true } : scopeOf(request.actor)
          const answer = await share(`${Object.entries(scope).join()} ${request.url}`, async () => {
            const params = parse(call.params, request.params, 'params')
            const query = parse(call.query, request.query, 'query')
            const input = { params, query, scope } as Parameters<typeof handler.run>[0]
            return reply.serialize(check(call, await handler.run(input))) as string
          })
          return reply.type('application/json; charset=utf-8').send(answer)
        }
        const params = parse(call.params, request.params, 'params')
        const query = parse(call.query, request.query, 'query')
        // An absent body reads as an empty object: the missing fields are then named one by one.
        const body = hasBody ? parse(call.body, request.body ?? {}, 'body') : {}
        if (request.actor !== null) await decideByBody(request, request.actor, call, { params, body }, options)
        if (handler.lines === true) {
          if (request.actor !== null) reply.raw.once('close', held.take(request.actor.user_id))
          const left = new AbortController()
          reply.raw.once('close', () => left.abort(new Error('nobody reads any more')))
          if (request.actor !== null) {
            const { session_id } = request.actor
            reply.raw.once('close', options.openStreams.addWait({ session_id, end: (why) => void ((why === 'session' || call.events) && reply.raw.destroy()) }))
          }
          const input = { params, query, body, actor: request.actor, request, reply, signal: left.signal } as Parameters<typeof handler.run>[0]
          const lines = await begun(handler.run(input))
          const said = reply.getSerializationFunction(String(call.status))
          const written = (line: unknown): string =>
            said === undefined ? JSON.stringify(check(call, line)) : said(check(call, line) as Record<string, unknown>)
          // Whatever stands between shall neither keep nor gather what is said.
          if (call.events) void reply.header('cache-control', 'no-store').header('x-accel-buffering', 'no')
          return reply
            .type(`${call.events ? 'text/event-stream' : 'application/x-ndjson'}; charset=utf-8`)
            .send(Readable.from(call.events ? eventTexts(lines, written) : texts(lines, written)))
        }
        // What handle() bound fits the declaration; here the kinds of all calls meet.
        const input = { params, query, body, actor: request.actor, request, reply } as Parameters<typeof handler.run>[0]
        const answer = check(call, await options.changing(request, reply, call, { params, query, body }, async () => handler.run(input)))
        reply.code(call.status)
        return call.status === 204 ? null : answer
      },
    })
  }
}

/** With the first line there: until then, what fails can still be answered as a refusal. */
async function begun(lines: AsyncIterable<unknown>): Promise<AsyncIterable<unknown>> {
  const iterator = lines[Symbol.asyncIterator]()
  let first: IteratorResult<unknown> | null = await iterator.next()
  const next = async (): Promise<IteratorResult<unknown>> => {
    const line = first ?? (await iterator.next())
    first = null
    return line
  }
  return { [Symbol.asyncIterator]: () => ({ next, return: async () => (await iterator.return?.()) ?? { done: true, value: undefined } }) }
}

async function* texts(lines: AsyncIterable<unknown>, said: (line: unknown) => string): AsyncGenerator<string> {
  for await (const line of lines) yield `${said(line)}\n`
}

const placed = z.object({ cursor: z.int(), event: z.unknown() })

/** As server-sent events; one that says nothing only tells the client where it is. */
async function* eventTexts(lines: AsyncIterable<unknown>, said: (line: unknown) => string): AsyncGenerator<string> {
  for await (const line of lines) {
    const { cursor, event } = placed.parse(line)
    yield event === null ? `id: ${cursor}\n\n` : `id: ${cursor}\ndata: ${said(line)}\n\n`
  }
}

/** Deeper than anything that a call takes; schemas and whatever walks through a body would run out of stack. */
const deepest = 100
/** More than any call takes: what reading a body costs follows from how many values are in it, and from the keys of its tables most. */
const valuesMax = 100_000
const keysMax = 1_000

/** Why a text is not even read as JSON; null where it is. In one look at each character. Whoever takes less than a call may say so. */
export function unreadable(
  json: string,
  most: { values: number; keys: number } = { values: valuesMax, keys: keysMax },
): 'bodyMalformed' | 'bodyTooMany' | null {
  let [values, inText] = [0, false]
  /** Keys of each table that is open; of a list none are counted. */
  const keys: number[] = []
  for (let at = 0; at < json.length; at++) {
    const character = json[at]
    if (inText) {
      if (character === '\\') at++
      else if (character === '"') inText = false
    } else if (character === '"') inText = true
    else if (character === '[' || character === '{') {
      if (keys.length >= deepest) return 'bodyMalformed'
      keys.push(0)
      values++
    } else if (character === ']' || character === '}') keys.pop()
    else if (character === ',') values++
    else if (character === ':') {
      const count = (keys.pop() ?? 0) + 1
      if (count > most.keys) return 'bodyTooMany'
      keys.push(count)
    }
    if (values > most.values) return 'bodyTooMany'
  }
  return null
}

/** Reads the body of a signed request whole, before anything else does: what is not what was signed reaches nobody. */
async function checkSignedBody(request: FastifyRequest, _reply: unknown, payload: RequestPayload): Promise<RequestPayload> {
  const { signedBody } = request
  if (signedBody === null) return payload
  // What reads its body by itself would find nothing left.
  if (request.routeOptions.config.call === undefined) throw signatureUnsupported()
  const chunks: Buffer[] = []
  let length = 0
  // Not destroyed: whoever sends too much is still told so.
  for await (const chunk of payload.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > request.routeOptions.bodyLimit) throw new Refusal('bodyTooLarge')
    chunks.push(chunk)
  }
  const body = Buffer.concat(chunks)
  checkDigest(signedBody.digest, body)
  return Object.assign(Readable.from([body], { objectMode: false }), { receivedEncodedLength: length })
}

/** A call as far as it is decided whether it may be made. */
type Decidable = Pick<Call, 'id' | 'access' | 'always' | 'personal' | 'subjects' | 'subjectId' | 'requestTags' | 'also'>

/** The one place that decides whether a request may reach its handler. */
export async function authorise(request: FastifyRequest, call: Decidable, options: Authorising): Promise<void> {
  await identify(request, call, options)
  await permit(request, call, options)
}

/** Who it is: the first half of {@link authorise}, for whoever has to look first what the call is about. */
export async function identify(request: FastifyRequest, call: Pick<Call, 'personal'>, options: Pick<Authorising, 'authenticate'>): Promise<void> {
  const credential = readCredential(request)
  if (credential !== null) {
    request.actor = await options.authenticate(credential, request.ip)
    if ('signature' in credential) request.signedBody = credential.signature
    if (call.personal && request.actor?.access_key != null) throw new Refusal('accessKeyPersonal')
  }
}

/** Whether they may: the second half of {@link authorise}. What the call is about is named by `params`, as its own path would. */
export async function permit(request: FastifyRequest, call: Decidable, options: Authorising, params: unknown = request.params): Promise<void> {
  if (call.access === 'public') return
  if (request.actor === null) throw new Refusal(request.headers.authorization === undefined ? 'tokenMissing' : 'tokenInvalid')
  if (request.actor.must_change_password && !call.always) throw new Refusal('initialPasswordUnchanged')
  if (!mayAccess(call.access, request.actor)) throw new Refusal('noPermission', { refused: { action: call.id, outcome: 'role', by: null } })
  // What is in a body is not known yet: such a call is decided once it is read.
  if (!isDecidedByBody(request.actor.rules, call)) await refuseUnlessAllowed(request, call, { params }, options)
}

/** By policies. What a person needs to get on at all, such as leaving, is not theirs to say. */
async function refuseUnlessAllowed(
  request: FastifyRequest,
  call: Decidable,
  input: { params: unknown; body?: unknown },
  { tags, owner }: Pick<BindOptions, 'tags' | 'owner'>,
): Promise<void> {
  const { actor } = request
  if (actor === null || isFree(call)) return
  const decision = await decideCall(actor, call, input, contextOf(actor, request), (kind, id) => tags(scopeOf(actor), kind, id), owner)
  if (decision.outcome !== 'allowed') throw denied(decision)
}

/** What could not be decided before: where the body names what the call is about all of it, else what it does besides. */
async function decideByBody(
  request: FastifyRequest,
  actor: Actor,
  call: Call,
  input: { params: unknown; body: unknown },
  { tags, owner }: Pick<BindOptions, 'tags' | 'owner'>,
): Promise<void> {
  if (isDecidedByBody(actor.rules, call)) return refuseUnlessAllowed(request, call, input, { tags, owner })
  if (call.also === undefined || isFree(call)) return
  const refused = await decideAlso(actor, call, input, contextOf(actor, request), (kind, id) => tags(scopeOf(actor), kind, id), owner)
  if (refused !== null) throw denied(refused)
}

const isFree = ({ always, access }: Pick<Call, 'always' | 'access'>): boolean => always || access === 'public'

function denied({ action, outcome, by }: Awaited<ReturnType<typeof decideCall>>): Refusal {
  return outcome === 'allowed' ? new Refusal('noPermission') : new Refusal('noPermission', { refused: { action, outcome, by } })
}

/** What a request says of itself to policies: policy/keys.ts. */
export const contextOf = (actor: Actor, request: Pick<FastifyRequest, 'ip' | 'headers'>): Context => ({
  'zs:UserId': actor.user_id,
  'zs:UserName': actor.name,
  'zs:UserKind': String(actor.kind),
  ...(actor.bp_id !== null && { 'zs:OrganisationId': actor.bp_id }),
  'zs:SourceIp': request.ip,
  'zs:CurrentTime': new Date().toISOString(),
  'zs:TokenIssueTime': actor.session_since.toISOString(),
  'zs:AuthenticatedBy': actor.authenticated_by,
  'zs:MfaPresent': String(actor.second_factor_at !== null),
  ...(actor.second_factor_at !== null && { 'zs:MfaAge': String(Math.floor((Date.now() - actor.second_factor_at.getTime()) / 1000)) }),
  ...(request.headers['user-agent'] !== undefined && { 'zs:UserAgent': request.headers['user-agent'] }),
})

function parse(schema: z.ZodType, value: unknown, part: 'params' | 'query' | 'body' | 'response'): unknown {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  // Two rules of a field may say the same; a form shows it once.
  const fields = [...new Map(parsed.error.issues.map(({ path, message }) => [`${path.join('.')} ${message}`, { field: path.join('.'), message }])).values()]
  if (part === 'response') throw new Error(`the answer does not fit its declaration: ${JSON.stringify(fields)}`)
  // An id that cannot be one belongs to nothing.
  if (part === 'params' && fields.every(({ field }) => field === 'id' || field.endsWith('_id'))) throw new Refusal('notFound')
  throw new Refusal('fieldsInvalid', { fields })
}
