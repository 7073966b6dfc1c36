import rateLimit from '@fastify/rate-limit'
import { allCalls } from '@zhisuan/contract/calls'
import type { Call } from '@zhisuan/contract/define'
import '@zhisuan/contract/validation'
import { mayAccess } from '@zhisuan/contract/roles'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { scopeOf, type Actor, type Scope } from '../auth/actor.ts'
import { Refusal } from '../errors.ts'
import type { Handler } from './handler.ts'
import { serializerSchema } from './schema.ts'
import { createShared } from './shared.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set before the handler from the bearer token; null without one. */
    actor: Actor | null
  }
  interface FastifyContextConfig {
    call?: Call
  }
}

export interface BindOptions {
  /** Whom a token belongs to; null where it does not stand for anybody any more. */
  authenticate(token: string): Promise<Actor | null> | Actor | null
  /** Written before the answer goes out; see Call.audit. */
  audit(entry: AuditEntry): Promise<void>
  /** Parse answers against their declaration too: in tests and development. */
  checkResponses: boolean
}

export interface AuditEntry {
  call: string
  actor: Actor | null
  /** The id in the path, where there is one. */
  object_id: string | null
  request_id: string
  ip: string
  /** 0 for success, else the code of the refusal. */
  code: number
}

/**
 * Serves the declared calls. The order is one and the same for each: rate limit, authenticated,
 * role, parsed, handler, audited, serialized by the declared schema.
 * @throws where a handler's call is not in the contract, or two handlers serve one call
 */
export async function bindCalls(app: FastifyInstance, handlers: readonly Handler[], options: BindOptions): Promise<void> {
  const declared = new Set(allCalls)
  const bound = new Set<Call>()
  app.decorateRequest('actor', null)
  await app.register(rateLimit, {
    global: false,
    errorResponseBuilder: (_request, context) => new Refusal('tooManyRequests', { values: { seconds: Math.ceil(context.ttl / 1000) } }),
  })

  const share = createShared<string>()
  const check = (call: Call, answer: unknown): unknown => {
    if (options.checkResponses) parse(call.response, answer, 'response')
    return answer
  }

  for (const handler of handlers) {
    const { call } = handler
    if (!declared.has(call)) throw new Error(`${call.id} is served but not in the contract`)
    if (bound.has(call)) throw new Error(`${call.id} has two handlers`)
    if (handler.shared && call.method !== 'GET') throw new Error(`${call.id} changes something, so its answer cannot be shared`)
    bound.add(call)
    const hasBody = call.method !== 'GET' && call.method !== 'DELETE'

    app.route({
      method: call.method,
      url: call.path.replace(/\{(\w+)\}/g, ':$1'),
      config: {
        call,
        ...(call.perMinute !== undefined && { rateLimit: { max: call.perMinute, timeWindow: 60_000 } }),
      },
      schema: call.status === 204 ? {} : { response: { [call.status]: serializerSchema(call.response) } },
      onRequest: async (request) => {
        await authorise(request, call, options.authenticate)
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
        // What handle() bound fits the declaration; here the kinds of all calls meet.
        const input = { params, query, body, actor: request.actor, request, reply } as Parameters<typeof handler.run>[0]
        const answer = check(call, await handler.run(input))
        if (call.audit) await options.audit(auditEntry(request, call, 0))
        reply.code(call.status)
        return call.status === 204 ? null : answer
      },
    })
  }
}

export const auditEntry = (request: FastifyRequest, call: Call, code: number): AuditEntry => ({
  call: call.id,
  actor: request.actor,
  object_id: objectId(request.params),
  request_id: request.id,
  ip: request.ip,
  code,
})

function objectId(params: unknown): string | null {
  if (typeof params !== 'object' || params === null || !('id' in params)) return null
  return typeof params.id === 'string' ? params.id.slice(0, 64) : null
}

/** The one place that decides whether a request may reach its handler. */
async function authorise(request: FastifyRequest, call: Call, authenticate: BindOptions['authenticate']): Promise<void> {
  const header = request.headers.authorization
  if (header?.startsWith('Bearer ') === true) request.actor = await authenticate(header.slice(7))
  if (call.access === 'public') return
  if (request.actor === null) throw new Refusal(header === undefined ? 'tokenMissing' : 'tokenInvalid')
  if (request.actor.must_change_password && !call.always) throw new Refusal('initialPasswordUnchanged')
  if (!mayAccess(call.access, request.actor)) throw new Refusal('noPermission')
}

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
