import { z } from 'zod'
import { byId, defineCall, empty, listOf, moment } from '../define.ts'
import { fieldTexts } from '../texts.ts'
import { passwordTyped, plainLine } from '../validation.ts'
import { accessToken } from './auth.ts'

const base = '/api/ums/v1/users/current/passkeys'

/** Binary values of WebAuthn travel so: RFC 4648, section 5, without padding. */
const base64url = (most: number) =>
  z
    .string(fieldTexts.format)
    .min(1, fieldTexts.format)
    .max(most, fieldTexts.format)
    .regex(/^[A-Za-z0-9_-]+$/, fieldTexts.format)

const credentialId = base64url(1400)
const passkeyName = z
  .string(fieldTexts.contentRequired)
  .trim()
  .min(1, fieldTexts.contentRequired)
  .max(64, fieldTexts.contentTooLong)
  .regex(plainLine, fieldTexts.controlCharacters)

export const passkey = z.object({
  id: z.uuid(),
  name: z.string(),
  /** Kept by a password manager or an account of the maker's, so that it is on several devices. */
  synced: z.boolean(),
  created_at: moment,
  last_used_at: moment.nullable(),
})
export type Passkey = z.output<typeof passkey>

/** `PublicKeyCredentialCreationOptionsJSON` of WebAuthn: what the browser is handed to make a passkey. */
const creationOptions = z.object({
  rp: z.object({ id: z.string(), name: z.string() }),
  user: z.object({ id: z.string(), name: z.string(), displayName: z.string() }),
  challenge: z.string(),
  pubKeyCredParams: z.array(z.object({ alg: z.int(), type: z.literal('public-key') })),
  /** Milliseconds. */
  timeout: z.int(),
  excludeCredentials: z.array(z.object({ id: z.string(), type: z.literal('public-key') })),
  authenticatorSelection: z.object({ residentKey: z.literal('required'), requireResidentKey: z.literal(true), userVerification: z.literal('required') }),
  attestation: z.literal('none'),
})

/** `PublicKeyCredentialRequestOptionsJSON`: names nobody, the person chooses among their passkeys. */
const requestOptions = z.object({
  challenge: z.string(),
  rpId: z.string(),
  /** Milliseconds until the challenge is no good any more. */
  timeout: z.int(),
  userVerification: z.literal('required'),
})

const authenticatorAttachment = z.enum(['platform', 'cross-platform']).nullish()

/** `RegistrationResponseJSON`: what the browser answers. */
export const attestation = z.object({
  id: credentialId,
  rawId: credentialId,
  type: z.literal('public-key'),
  response: z.object({ clientDataJSON: base64url(4096), attestationObject: base64url(65_536) }),
  authenticatorAttachment,
})
/** `AuthenticationResponseJSON`. */
export const assertion = z.object({
  id: credentialId,
  rawId: credentialId,
  type: z.literal('public-key'),
  response: z.object({ clientDataJSON: base64url(4096), authenticatorData: base64url(8192), signature: base64url(8192), userHandle: base64url(128).nullish() }),
  authenticatorAttachment,
})

/**
 * Passkeys: discoverable WebAuthn credentials. The device verifies who uses one (by finger, face or
 * code), so signing in with one proves two factors. They belong to the host of the platform's
 * public address; without such an address there are none (91130).
 */
export const passkeys = {
  list: defineCall({ id: 'ums.passkey.list', method: 'GET', path: base, summary: 'One’s passkeys', access: 'all', response: listOf(passkey), always: true }),
  /** Takes the password, or a session of the last ten minutes. Refused with 1120, 91125, 91129, 91130. */
  begin: defineCall({
    id: 'ums.passkey.begin',
    method: 'POST',
    path: `${base}/registration`,
    summary: 'What the browser needs to make a passkey',
    access: 'all',
    perMinute: 20,
    body: z.object({ password: passwordTyped.optional() }),
    response: creationOptions,
    always: true,
  }),
  /** Refused with 91127, 91129, 91130. */
  create: defineCall({
    id: 'ums.passkey.create',
    method: 'POST',
    path: base,
    summary: 'Keep the passkey that the browser made',
    access: 'all',
    status: 201,
    perMinute: 20,
    body: z.object({ name: passkeyName, credential: attestation }),
    response: passkey,
    always: true,
  }),
  rename: defineCall({
    id: 'ums.passkey.rename',
    method: 'PUT',
    path: `${base}/{id}`,
    summary: 'Call a passkey something else',
    access: 'all',
    params: byId,
    body: z.object({ name: passkeyName }),
    response: passkey,
  }),
  /** Takes the password, or a session of the last ten minutes. Refused with 1120, 91125, 91131. */
  remove: defineCall({
    id: 'ums.passkey.remove',
    method: 'POST',
    path: `${base}/{id}/removal`,
    summary: 'Forget a passkey: nobody signs in with it any more',
    access: 'all',
    perMinute: 20,
    params: byId,
    body: z.object({ password: passwordTyped.optional() }),
    response: empty,
  }),
  /** Says nothing of anybody. Refused with 91130. */
  challenge: defineCall({
    id: 'ums.passkey.challenge',
    method: 'POST',
    path: '/api/ums/v1/auth/passkey/challenges',
    summary: 'What the browser needs to sign in with a passkey; good once',
    access: 'public',
    audit: false,
    perMinute: 60,
    response: requestOptions,
    always: true,
  }),
  /** Refused with 1134, 1135, 91012, 91126, 91128, 91130. */
  signIn: defineCall({
    id: 'ums.passkey.signIn',
    method: 'POST',
    path: '/api/ums/v1/auth/passkey/tokens',
    summary: 'Sign in with a passkey',
    access: 'public',
    perMinute: 30,
    body: z.object({ credential: assertion }),
    response: accessToken,
    always: true,
  }),
} as const

/** How many one may have. */
export const passkeysMax = 20
