import { createHmac, createSign, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What a provider says other than it should. */
export interface ProviderLie {
  /** Instead of what its tokens say else; undefined leaves a claim out. */
  readonly claims?: Readonly<Record<string, unknown>>
  readonly alg?: 'RS256' | 'none' | 'HS256'
  readonly kid?: string
  readonly key?: KeyObject
  readonly noIdToken?: boolean
  /** Of the token endpoint. */
  readonly status?: number
  readonly location?: string
  readonly longAnswer?: boolean
  /** Instead of what its document says else. */
  readonly metadata?: Readonly<Record<string, unknown>>
  /** No document at all. */
  readonly noDocument?: boolean
  readonly keys?: readonly unknown[]
}

const url = (value: unknown): string => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')

/** A provider that says whatever a test has it say, and else the truth of one account. */
export async function startLiar(client: { id: string; secret: string }) {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const jwk = { ...publicKey.export({ format: 'jwk' }), kid: 'own', use: 'sig', alg: 'RS256' }
  let lie: ProviderLie = {}
  let nonce = ''
  let sub = 'account-of-the-liar'
  /** What was asked of it, by path. */
  const asked: string[] = []
  /** What clients said who they are with. */
  const secrets: string[] = []

  const token = (): string => {
    const now = Math.floor(Date.now() / 1000)
    const header = url({ alg: lie.alg ?? 'RS256', kid: lie.kid ?? 'own', typ: 'JWT' })
    const payload = url({ iss: issuer, sub, aud: client.id, nonce, iat: now, exp: now + 300, ...lie.claims })
    const text = `${header}.${payload}`
    if (lie.alg === 'none') return `${text}.`
    if (lie.alg === 'HS256') return `${text}.${createHmac('sha256', client.secret).update(text).digest('base64url')}`
    return `${text}.${createSign('sha256')
      .update(text)
      .sign(lie.key ?? privateKey, 'base64url')}`
  }

  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost')
    asked.push(pathname)
    const [kind, credentials = ''] = (request.headers.authorization ?? '').split(' ')
    if (kind === 'Basic') secrets.push(decodeURIComponent(Buffer.from(credentials, 'base64').toString()))
    request.on('data', (chunk) => secrets.push(decodeURIComponent(String(chunk))))
    const json = (body: unknown, status = 200): void => {
      response.writeHead(status, { 'content-type': 'application/json', ...(lie.location !== undefined && pathname === '/token' && { location: lie.location }) })
      response.end(JSON.stringify(body))
    }
    if (pathname === '/.well-known/openid-configuration' && lie.noDocument !== true) {
      return json({
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/jwks`,
        response_types_supported: ['code'],
        id_token_signing_alg_values_supported: ['RS256'],
        code_challenge_methods_supported: ['S256'],
        authorization_response_iss_parameter_supported: true,
        ...lie.metadata,
      })
    }
    if (pathname === '/jwks') return json({ keys: lie.keys ?? [jwk] })
    if (pathname === '/token') {
      if (lie.longAnswer === true) return json({ access_token: 'x'.repeat(2 ** 21), token_type: 'Bearer' })
      if (lie.status !== undefined) return json({ error: 'server_error' }, lie.status)
      return json({ access_token: 'an-access-token', token_type: 'Bearer', expires_in: 300, ...(lie.noIdToken !== true && { id_token: token() }) })
    }
    return json({}, 404)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  return {
    issuer,
    client,
    asked,
    secrets,
    /** From now on. */
    tells(told: ProviderLie, account = 'account-of-the-liar') {
      lie = told
      sub = account
    },
    /** As if somebody had signed in there: where it leads back to. */
    leadBack(authorization: string, iss: string | null = issuer): URL {
      const { searchParams } = new URL(authorization)
      nonce = searchParams.get('nonce') ?? ''
      const back = new URL(searchParams.get('redirect_uri') ?? '')
      back.searchParams.set('code', 'a-code')
      back.searchParams.set('state', searchParams.get('state') ?? '')
      if (iss !== null) back.searchParams.set('iss', iss)
      return back
    },
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}
