import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Provider, type Configuration } from 'oidc-provider'

/** What an account of the provider says of its owner. */
export interface ProviderAccount {
  readonly sub: string
  readonly preferred_username?: string
  readonly name?: string
  readonly email?: string
  readonly email_verified?: boolean
  readonly phone_number?: string
  readonly phone_number_verified?: boolean
}

export interface RunningProvider {
  readonly issuer: string
  readonly client: { readonly id: string; readonly secret: string }
  /** Somebody to sign in there by their `sub`. */
  add(account: ProviderAccount): void
  /** What it says of how people signed in, from now on. */
  says(amr: readonly string[]): void
  /** Nobody answers any more; whom it knows stays. */
  close(): Promise<void>
  /** Answers again, at the same address. */
  open(): Promise<void>
}

/** Of the people who signed in at `/interaction/…`: a page with one field, as plain as can be. */
const page = (uid: string): string =>
  `<!doctype html><html lang="en"><title>Provider</title><form method="post" action="/interaction/${uid}"><label>Account <input name="account"></label><button name="go" value="yes">Sign in</button><button name="go" value="no">Cancel</button></form>`

/**
 * A real OpenID provider (oidc-provider, certified) on this machine, with one client.
 * @param redirectUris of the client; it may be told later
 */
export async function startProvider(
  options: { port?: number; redirectUris?: string[]; postLogoutRedirectUris?: string[] } = {},
): Promise<RunningProvider & { allow(redirectUri: string): void }> {
  const accounts = new Map<string, ProviderAccount>()
  let amr: readonly string[] = []
  const redirects = [...(options.redirectUris ?? [])]
  const client = { id: 'zhisuan', secret: 'a-secret-of-the-tests-that-is-long-enough' }
  let handle: (request: IncomingMessage, response: ServerResponse) => void = (_, response) => void response.end()
  const server = createServer((request, response) => handle(request, response))
  server.listen(options.port ?? 0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const issuer = `http://127.0.0.1:${port}`

  const configuration: Configuration = {
    clients: [
      {
        client_id: client.id,
        client_secret: client.secret,
        // One that is never used: the others are told later, as they hold an id of ours.
        redirect_uris: ['http://127.0.0.1/never'],
        post_logout_redirect_uris: options.postLogoutRedirectUris ?? [],
        response_types: ['code'],
        grant_types: ['authorization_code'],
      },
    ],
    claims: {
      openid: ['sub', 'amr'],
      profile: ['preferred_username', 'name'],
      email: ['email', 'email_verified'],
      phone: ['phone_number', 'phone_number_verified'],
    },
    findAccount: async (_context, sub) => {
      const account = accounts.get(sub)
      return account === undefined ? undefined : { accountId: sub, claims: async () => ({ ...account }) }
    },
    // Whoever signs in there has agreed to all.
    loadExistingGrant: async (context) => {
      const { client: asking, session, provider: own } = context.oidc
      const grant = new own.Grant({ accountId: session?.accountId ?? '', clientId: asking?.clientId ?? '' })
      grant.addOIDCScope('openid profile email phone')
      await grant.save()
      return grant
    },
    interactions: { url: (_context, interaction) => `/interaction/${interaction.uid}` },
    features: {
      devInteractions: { enabled: false },
      rpInitiatedLogout: {
        enabled: true,
        // As a page that sends itself: whoever came from the platform has agreed there.
        logoutSource: (context, form) => {
          context.body = `<!doctype html><html lang="en"><title>Sign out</title>${form}<button form="op.logoutForm" name="logout" value="yes">Sign out</button>`
        },
      },
    },
    pkce: { required: () => true },
    ttl: { Session: 3600, Interaction: 600, Grant: 3600, AccessToken: 600, IdToken: 600, AuthorizationCode: 60 },
    cookies: { keys: ['of-the-tests'] },
    conformIdTokenClaims: false,
  }
  const provider = new Provider(issuer, configuration)
  provider.on('server_error', (_context, error) => {
    throw error
  })
  provider.Client.prototype.redirectUriAllowed = (uri: string) => redirects.includes(uri)
  const answer = provider.callback()

  const interact = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { uid, prompt } = await provider.interactionDetails(request, response)
    if (request.method !== 'POST') {
      response.setHeader('content-type', 'text/html; charset=utf-8')
      response.end(page(uid))
      return
    }
    let body = ''
    for await (const chunk of request) body += String(chunk)
    const typed = new URLSearchParams(body)
    const accountId = typed.get('account') ?? ''
    const refused = typed.get('go') === 'no' || !accounts.has(accountId) || prompt.name !== 'login'
    await provider.interactionFinished(
      request,
      response,
      refused ? { error: 'access_denied', error_description: 'the person did not want to' } : { login: { accountId, amr: [...amr] } },
      { mergeWithLastSubmission: false },
    )
  }
  handle = (request, response) => {
    if (request.url?.startsWith('/interaction/') !== true) return void answer(request, response)
    interact(request, response).catch((error: unknown) => {
      response.statusCode = 500
      response.end(String(error))
    })
  }

  return {
    issuer,
    client,
    add: (account) => void accounts.set(account.sub, account),
    says: (values) => {
      amr = values
    },
    allow: (redirectUri) => void redirects.push(redirectUri),
    async close() {
      if (!server.listening) return
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
    async open() {
      server.listen(port, '127.0.0.1')
      await once(server, 'listening')
    },
  }
}

/** Signs somebody in there as a browser does, and answers where the provider leads back to. `cancel`: they do not want to. */
export async function signInThere(url: string, account: string, options: { cancel?: boolean } = {}): Promise<URL> {
  const jar = new Map<string, string>()
  let at = new URL(url)
  let form: URLSearchParams | null = null
  for (let steps = 0; steps < 10; steps++) {
    const response: Response = await fetch(at, {
      redirect: 'manual',
      headers: { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(form !== null && { method: 'POST', body: form }),
    })
    form = null
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
      jar.set(name, value)
    }
    const location = response.headers.get('location')
    const text = await response.text()
    if (location === null) {
      if (!text.includes('/interaction/')) throw new Error(`the provider answered ${response.status}: ${text}`)
      form = new URLSearchParams({ account, go: options.cancel === true ? 'no' : 'yes' })
      continue
    }
    const next = new URL(location, at)
    if (next.origin !== at.origin) return next
    at = next
  }
  throw new Error('the provider leads nowhere')
}
