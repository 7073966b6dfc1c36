import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Refusal } from '../../../platform/errors.ts'
import type { Authorising } from '../../../platform/http/bind.ts'
import { toRefusal } from '../../../platform/http/problems.ts'
import { errors } from '@zhisuan/contract/errors'
import { tokenPath } from '../registry/registry.service.ts'
import type { TokenAsk, TokenService } from './token.service.ts'

/** What stands behind `Basic`; null where nothing does. @throws Refusal where it is none */
function loginOf(header: string | undefined): TokenAsk['login'] {
  if (header === undefined) return null
  const [, encoded] = /^basic\s+([A-Za-z0-9+/=]+)$/i.exec(header) ?? []
  const text = encoded === undefined ? '' : Buffer.from(encoded, 'base64').toString('utf8')
  const colon = text.indexOf(':')
  if (colon < 0) throw new Refusal('passwordMismatch')
  return { username: text.slice(0, colon), password: text.slice(colon + 1) }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
const scopeOf = (value: unknown): TokenAsk['scope'] =>
  typeof value === 'string' ? value : Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : undefined

/** By the codes that programs know (distribution-spec, "Error Codes"), in our words. */
const codeOf = (status: number): string => (status === 401 ? 'UNAUTHORIZED' : status === 429 ? 'TOOMANYREQUESTS' : status >= 500 ? 'UNAVAILABLE' : 'DENIED')

/** Where registries send programs for a token: `GET` with Basic, or `POST` of a form, as containerd does. */
export function serveTokens(http: FastifyInstance, service: TokenService, { tags }: Pick<Authorising, 'tags'>): void {
  const answer = async (request: FastifyRequest, reply: FastifyReply, ask: () => TokenAsk): Promise<FastifyReply> => {
    reply.header('cache-control', 'no-store')
    try {
      return await reply.send(await service.issue(ask(), request, tags))
    } catch (thrown) {
      const refusal = toRefusal(thrown)
      const { status } = errors[refusal.refusal]
      if (status >= 500) request.log.error({ err: thrown }, 'a token for a registry')
      if (status === 401) reply.header('www-authenticate', 'Basic realm="zhisuan"')
      return reply.code(status).send({ errors: [{ code: codeOf(status), message: refusal.message }] })
    }
  }
  const rateLimit = { max: 600, timeWindow: 60_000 }

  http.get<{ Querystring: Record<string, unknown> }>(tokenPath, { config: { rateLimit } }, (request, reply) =>
    answer(request, reply, () => ({
      service: textOf(request.query['service']),
      scope: scopeOf(request.query['scope']),
      login: loginOf(request.headers.authorization),
    })),
  )
  void http.register(async (within) => {
    within.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string', bodyLimit: 65_536 }, (_request, body, done) =>
      done(null, new URLSearchParams(String(body))),
    )
    within.post<{ Body: unknown }>(tokenPath, { config: { rateLimit } }, (request, reply) =>
      answer(request, reply, () => {
        const form = request.body instanceof URLSearchParams ? request.body : new URLSearchParams()
        // Refresh tokens are none of ours; who is told so asks by GET.
        if (form.get('grant_type') !== 'password') throw new Refusal('requestInvalid')
        return {
          service: form.get('service') ?? '',
          scope: form.getAll('scope'),
          login: { username: form.get('username') ?? '', password: form.get('password') ?? '' },
        }
      }),
    )
  })
}
