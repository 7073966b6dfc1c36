import { z } from 'zod'
import { byId, defineCall, empty, listOf, moment } from '../define.ts'
import { keepers } from '../roles.ts'
import { fieldTexts } from '../texts.ts'
import { passwordTyped, plainLine } from '../validation.ts'
import { accessToken } from './auth.ts'
import { otp } from './second-factor.ts'

const line = (most: number) =>
  z.string(fieldTexts.contentRequired).trim().min(1, fieldTexts.contentRequired).max(most).regex(plainLine, fieldTexts.controlCharacters)
const word = (most: number) => line(most).regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/, fieldTexts.format)

/**
 * Which claims of a provider say what of a person. A phone counts only beside a true
 * `phone_number_verified`, a mailbox beside a true `email_verified` (OpenID Connect Core, 5.1).
 */
export const claimNames = z.object({
  username: word(128).default('preferred_username'),
  email: word(128).default('email'),
  phone: word(128).default('phone_number'),
  display_name: word(128).default('name'),
})

/**
 * Who may link an account of the provider to one that is there:
 * - `nobody`
 * - `owner`: who is signed in, their own
 * - `email`: that, and by itself where the provider has verified the mailbox of somebody of the
 *   provider's organisation; never of one who runs the platform
 */
export const linkings = ['nobody', 'owner', 'email'] as const

const settings = {
  name: line(64),
  enabled: z.boolean().default(false),
  client_id: line(256),
  scopes: z.array(word(128)).max(20).default(['openid', 'profile', 'email']),
  claims: claimNames.prefault({}),
  linking: z.enum(linkings).default('owner'),
  /** Whether somebody whom nobody here knows becomes a member of {@link bp_id}. */
  creates_people: z.boolean().default(false),
  bp_id: z.uuid().nullable().default(null),
  /** What a person made so may do; null leaves it to the organisation's administrators. */
  role: z.literal('TENANT').nullable().default('TENANT'),
  /** Where there are some, only accounts whose verified mailbox is in one of them are taken. */
  email_domains: z
    .array(
      line(253)
        .toLowerCase()
        .regex(/^(?!-)[a-z0-9-]+(\.[a-z0-9-]+)+$/, fieldTexts.emailDomain),
    )
    .max(100)
    .default([]),
  /** Values of `amr` or `acr` that say that the provider has asked for a second factor; without them it is asked for here. */
  mfa_values: z.array(word(128)).max(20).default([]),
  /** Whether signing out here leads to the provider's end_session_endpoint. */
  ends_session: z.boolean().default(false),
}

/** Required to be https but for this machine's own in development, which the server decides. */
const issuer = z
  .string(fieldTexts.contentRequired)
  .trim()
  .min(1, fieldTexts.contentRequired)
  .pipe(
    z
      .url({ protocol: /^https?$/, error: fieldTexts.issuer })
      .max(1024)
      .regex(/^[^?#\s@]+$/, fieldTexts.issuer),
  )
/** Absent: the one that is kept, or none. */
const clientSecret = z.string().max(1024).regex(plainLine, fieldTexts.controlCharacters).optional()

export const identityProvider = z.object({
  ...settings,
  id: z.uuid(),
  issuer: z.string(),
  /** The secret itself is never answered. */
  has_secret: z.boolean(),
  /**
   * Whether the organisation {@link bp_id} set it up for its own people. Such a provider is asked at public addresses
   * only, is offered to whoever comes by the organisation's sign-in address, and names nobody but members of it.
   */
  by_organisation: z.boolean(),
  bp_name: z.string().nullable(),
  /** How many people have an account of it linked. */
  people: z.int(),
  /** Where people begin, of an organisation's own; null of the platform's, and while the platform has no public address. */
  sign_in_address: z.string().nullable(),
  /** To be registered with the provider; null while the platform has no public address. */
  redirect_uri: z.string().nullable(),
  post_logout_redirect_uri: z.string().nullable(),
  created_at: moment,
  updated_at: moment,
})
export type IdentityProvider = z.output<typeof identityProvider>

const body = z
  .object({ ...settings, issuer, client_secret: clientSecret })
  .refine((provider) => !provider.creates_people || provider.bp_id !== null, { path: ['bp_id'], error: fieldTexts.organisationForPeople })
export type IdentityProviderInput = z.input<typeof body>

/**
 * What a test of a provider found, in the order of looking:
 * `address` not an address that may be asked; `unreachable`; `answer` no discovery document;
 * `issuer` the document names another; `codeFlow` no authorization code flow; `pkce` no S256;
 * `keys` its keys cannot be read; `client` the client or its secret is refused.
 */
export const providerProblems = ['address', 'unreachable', 'answer', 'issuer', 'codeFlow', 'pkce', 'keys', 'client'] as const

const base = '/api/ums/v1/identity-providers'

/** How many an organisation may set up for itself. */
export const providersOfOrganisationMax = 5

/**
 * OpenID Connect providers that people sign in with: single sign-on. Administrators of the platform keep all;
 * a tenant's keep those of their organisation, in which {@link linkings} `email` and `mfa_values` have no place
 * (91157): who keeps such a provider could be everybody whom it may name.
 */
export const identityProviders = {
  list: defineCall({
    id: 'ums.identityProvider.list',
    method: 'GET',
    path: base,
    summary: 'Identity providers',
    access: keepers,
    response: listOf(identityProvider),
  }),
  get: defineCall({
    id: 'ums.identityProvider.get',
    method: 'GET',
    path: `${base}/{id}`,
    summary: 'One identity provider',
    access: keepers,
    params: byId,
    response: identityProvider,
  }),
  /** `bp_id` of an organisation's own is that organisation. Refused with 91107, 91153, 91155, 91157, 91158, 91159. */
  create: defineCall({
    id: 'ums.identityProvider.create',
    method: 'POST',
    path: base,
    summary: 'Set up an identity provider',
    access: keepers,
    status: 201,
    body,
    response: identityProvider,
  }),
  /** Another issuer needs the secret anew (91154). Refused with 91107, 91153, 91155, 91156, 91157, 91159. */
  update: defineCall({
    id: 'ums.identityProvider.update',
    method: 'PUT',
    path: `${base}/{id}`,
    summary: 'Change an identity provider',
    access: keepers,
    params: byId,
    body,
    response: identityProvider,
  }),
  delete: defineCall({
    id: 'ums.identityProvider.delete',
    method: 'DELETE',
    path: `${base}/{id}`,
    summary: 'Remove an identity provider with all links to it',
    access: keepers,
    params: byId,
    response: empty,
  }),
  test: defineCall({
    id: 'ums.identityProvider.test',
    method: 'POST',
    path: `${base}/test`,
    summary: 'Ask a provider whether one could sign in with it',
    access: keepers,
    perMinute: 30,
    /** `id`: the one whose secret is kept, where none is given and the issuer is the same. */
    body: z.object({ id: z.uuid().optional(), issuer, client_id: settings.client_id, client_secret: clientSecret }),
    response: z.object({
      /** The first thing wrong; null where all is well. */
      problem: z.enum(providerProblems).nullable(),
      /** What was answered, in its own words. */
      detail: z.string().nullable(),
      ends_session: z.boolean(),
    }),
  }),
} as const

export const identity = z.object({
  id: z.uuid(),
  provider_id: z.uuid(),
  provider_name: z.string(),
  /** What the provider calls the account: its mailbox or name there. */
  account: z.string(),
  created_at: moment,
  last_used_at: moment.nullable(),
})
export type Identity = z.output<typeof identity>

const own = '/api/ums/v1/users/current/identities'

/** Accounts of identity providers that one is linked to. */
export const identities = {
  /** `offered`: enabled providers whose accounts one may link, and has not. */
  list: defineCall({
    id: 'ums.identity.list',
    method: 'GET',
    path: own,
    summary: 'One’s linked accounts',
    access: 'all',
    response: listOf(identity).extend({ offered: z.array(z.object({ id: z.uuid(), name: z.string() })) }),
    always: true,
  }),
  /** Takes the password, or a session of the last ten minutes. Refused with 1120, 91125, 91140, 91143, 91145, 91150, 91152. */
  link: defineCall({
    id: 'ums.identity.link',
    method: 'POST',
    path: own,
    summary: 'Where to go to link an account of a provider',
    access: 'all',
    perMinute: 20,
    body: z.object({ provider_id: z.uuid(), password: passwordTyped.optional() }),
    response: z.object({ url: z.string() }),
  }),
  /** Refused with 91131. */
  unlink: defineCall({
    id: 'ums.identity.unlink',
    method: 'DELETE',
    path: `${own}/{id}`,
    summary: 'Forget a linked account',
    access: 'all',
    params: byId,
    response: empty,
  }),
} as const

/** A path of the console's to go to afterwards. */
const returnTo = z
  .string()
  .max(2048)
  .regex(/^\/(?![/\\])[^\\\p{Cc}]*$/u, fieldTexts.format)
  .optional()

export const singleSignOn = {
  /** Refused with 91140, 91143, 91145. The browser gets a cookie that binds the answer to it. */
  begin: defineCall({
    id: 'ums.singleSignOn.begin',
    method: 'POST',
    path: '/api/ums/v1/auth/sso/providers/{id}',
    summary: 'Where to go to sign in with a provider',
    access: 'public',
    audit: false,
    perMinute: 30,
    params: byId,
    body: z.object({ redirect: returnTo }),
    response: z.object({ url: z.string() }),
    always: true,
  }),
  /** After the provider has led back, known by a cookie. Refused with 1134, 1135, 1136, 91012, 91120, 91124, 91141, 91145. After 91120 the same is sent again with `otp`. */
  finish: defineCall({
    id: 'ums.singleSignOn.finish',
    method: 'POST',
    path: '/api/ums/v1/auth/sso/tokens',
    summary: 'Begin the session of whom a provider has named',
    access: 'public',
    perMinute: 30,
    body: z.object({ otp: otp.optional() }),
    response: accessToken,
    always: true,
  }),
  /** Before signing out here. */
  end: defineCall({
    id: 'ums.singleSignOn.end',
    method: 'POST',
    path: '/api/ums/v1/auth/sso/end',
    summary: 'Where to go to sign out with the provider of this session, too',
    access: 'all',
    audit: false,
    response: z.object({ url: z.string().nullable() }),
    always: true,
  }),
} as const

/** What the way back from a provider may be refused with; the login page says it. */
export const singleSignOnRefusals = [
  'userDisabled',
  'userFrozen',
  'userNotActivated',
  'organisationFrozen',
  'tooManyRequests',
  'ssoUnavailable',
  'ssoExpired',
  'ssoFailed',
  'ssoUnreachable',
  'ssoDenied',
  'ssoDisabled',
  'ssoUnknownPerson',
  'ssoEmailUnverified',
  'ssoDomainForbidden',
  'ssoAccountTaken',
  'ssoLinkedAlready',
  'ssoEmailTaken',
  'ssoLinkForbidden',
] as const
