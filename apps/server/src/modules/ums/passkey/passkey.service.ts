import type { BodyOf, ResponseOf } from '@zhisuan/contract/define'
import { passkeysMax, type assertion, type attestation, type Passkey, type passkeys as calls } from '@zhisuan/contract/ums/passkey'
import type { z } from 'zod'
import type { Actor } from '../../../platform/auth/actor.ts'
import { iso, isoOrNull, type Tx } from '../../../platform/db/database.ts'
import { noted, unrecorded } from '../../../platform/db/recording.ts'
import { refusing } from '../../../platform/db/refusing.ts'
import { found, Refusal } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { Proof } from '../session/proof.ts'
import type { Client } from '../session/guesses.ts'
import type { SessionService, Tokens } from '../session/session.service.ts'
import { refuseLastWayIn } from '../session/ways-in.ts'
import { lockUser } from '../user/user.store.ts'
import * as store from './passkey.store.ts'
import { relyingPartyOf, type RelyingParty } from './relying-party.ts'

type Calls = typeof calls

/** Until a challenge is answered: people look for their phones. */
const challengeMs = 5 * 60_000

const shape = (row: store.PasskeyRow): Passkey => ({
  id: row.id,
  name: row.name,
  synced: row.synced,
  created_at: iso(row.created_at),
  last_used_at: isoOrNull(row.last_used_at),
})

/** Whatever the library throws about an answer says that the answer is no good. */
const orNull = async <T>(verify: () => T | Promise<T>): Promise<T | null> => {
  try {
    return await verify()
  } catch {
    return null
  }
}

/** Loaded by the first who uses a passkey: its certificates are a seventh of all that a server would load at its start. */
const webAuthn = () => import('@simplewebauthn/server')
const helpers = () => import('@simplewebauthn/server/helpers')

/**
 * We ask for no attestation, so a browser hands on none, or one that a device signed for itself.
 * Others would have the library fetch revocation lists from wherever a certificate says.
 */
async function isUnattested(attestationObject: string): Promise<boolean> {
  const { decodeAttestationObject, isoBase64URL } = await helpers()
  const decoded = decodeAttestationObject(isoBase64URL.toBuffer(attestationObject))
  const fmt = decoded.get('fmt')
  return fmt === 'none' || (fmt === 'packed' && decoded.get('attStmt').get('x5c') === undefined)
}

export type PasskeyService = ReturnType<typeof createPasskeys>

export function createPasskeys(
  { db, config, now }: Pick<Platform, 'db' | 'config' | 'now'>,
  parts: { sessions: Pick<SessionService, 'signInAs'>; prove: Proof; title: () => Promise<string> },
) {
  const relyingParty = relyingPartyOf(config)
  const ours = (): RelyingParty => {
    if (relyingParty === null) throw new Refusal('passkeysUnavailable')
    return relyingParty
  }

  const keepChallenge = async (challenge: string, userId: string | null): Promise<void> => {
    await store.keepChallenge(db, { challenge, user_id: userId, expires_at: new Date(now().getTime() + challengeMs) })
  }
  /** Whatever comes of the answer, its challenge was good once. @returns null where it was not asked, or too long ago */
  const spendChallenge = async (clientDataJSON: string, userId: string | null): Promise<string | null> => {
    const { decodeClientDataJSON } = await helpers()
    const data = await orNull(() => decodeClientDataJSON(clientDataJSON))
    if (typeof data?.challenge !== 'string' || !/^[\w-]{16,256}$/.test(data.challenge) || data.crossOrigin === true) return null
    const { challenge } = data
    return (await unrecorded(() => store.useChallenge(db, challenge, userId, now()))) ? challenge : null
  }

  const verifyNew = async ({ id, origin }: RelyingParty, userId: string, credential: z.output<typeof attestation>) => {
    const expectedChallenge = await spendChallenge(credential.response.clientDataJSON, userId)
    if (expectedChallenge === null) return null
    return orNull(async () => {
      if (!(await isUnattested(credential.response.attestationObject))) return null
      const { verifyRegistrationResponse } = await webAuthn()
      const { verified, registrationInfo } = await verifyRegistrationResponse({
        response: { id: credential.id, rawId: credential.rawId, type: credential.type, response: credential.response, clientExtensionResults: {} },
        expectedChallenge,
        expectedOrigin: origin,
        expectedRPID: id,
        requireUserVerification: true,
      })
      // The id outside is what the browser says, the one inside what the authenticator does.
      return verified && registrationInfo.credential.id === credential.id ? registrationInfo : null
    })
  }

  /** @returns the passkey that answered, and its counter; null where the answer proves nothing */
  const verifyUse = async (
    { id, origin }: RelyingParty,
    credential: z.output<typeof assertion>,
  ): Promise<{ row: store.PasskeyRow; counter: number } | null> => {
    const expectedChallenge = await spendChallenge(credential.response.clientDataJSON, null)
    if (expectedChallenge === null) return null
    const row = await store.findByCredential(db, credential.id)
    if (row === undefined) return null
    const { userHandle, ...response } = credential.response
    // Whose it says it is: the one that we told it at its making.
    if (userHandle != null && Buffer.from(userHandle, 'base64url').toString() !== row.user_id) return null
    return orNull(async () => {
      const { verifyAuthenticationResponse } = await webAuthn()
      const { verified, authenticationInfo } = await verifyAuthenticationResponse({
        response: { id: credential.id, rawId: credential.rawId, type: credential.type, response, clientExtensionResults: {} },
        expectedChallenge,
        expectedOrigin: origin,
        expectedRPID: id,
        requireUserVerification: true,
        // Its counter is compared where it is kept, so that of two uses at once one is refused.
        credential: { id: row.credential_id, publicKey: new Uint8Array(row.public_key), counter: 0 },
      })
      return verified ? { row, counter: authenticationInfo.newCounter } : null
    })
  }

  return {
    available: relyingParty !== null,

    async list(actor: Actor): Promise<ResponseOf<Calls['list']>> {
      const items = (await store.passkeysOf(db, actor.user_id)).map(shape)
      return { total: items.length, items }
    },

    /** @throws Refusal 1120, 1136, 91125, 91129, 91130 */
    async begin(actor: Actor, { password }: BodyOf<Calls['begin']>): Promise<ResponseOf<Calls['begin']>> {
      const { id } = ours()
      await parts.prove(actor, password)
      const known = await store.passkeysOf(db, actor.user_id)
      if (known.length >= passkeysMax) throw new Refusal('passkeysFull')
      const title = await parts.title()
      const { generateRegistrationOptions } = await webAuthn()
      const options = await generateRegistrationOptions({
        rpName: title,
        rpID: id,
        userName: actor.name,
        userDisplayName: actor.name,
        userID: new TextEncoder().encode(actor.user_id),
      })
      await keepChallenge(options.challenge, actor.user_id)
      return {
        rp: { id, name: title },
        user: options.user,
        challenge: options.challenge,
        pubKeyCredParams: options.pubKeyCredParams.map(({ alg }) => ({ alg, type: 'public-key' as const })),
        timeout: challengeMs,
        excludeCredentials: known.map(({ credential_id }) => ({ id: credential_id, type: 'public-key' as const })),
        authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
        attestation: 'none',
      }
    },

    /** Whoever answers the challenge has proved themselves when they got it. @throws Refusal 91127, 91129, 91130 */
    async create(actor: Actor, { name, credential }: BodyOf<Calls['create']>): Promise<Passkey> {
      const made = await verifyNew(ours(), actor.user_id, credential)
      if (made === null) throw new Refusal('passkeyInvalid')
      return refusing({ [store.credentialIndex]: 'passkeyInvalid' }, () =>
        db.transaction().execute(async (tx) => {
          // One at a time, so that they are counted.
          found(await lockUser(tx, actor.user_id))
          if ((await store.passkeysOf(tx, actor.user_id)).length >= passkeysMax) throw new Refusal('passkeysFull')
          return shape(
            await store.insertPasskey(tx, {
              id: uuidv7(),
              user_id: actor.user_id,
              credential_id: made.credential.id,
              public_key: Buffer.from(made.credential.publicKey),
              counter: made.credential.counter,
              synced: made.credentialBackedUp,
              name,
            }),
          )
        }),
      )
    },

    rename: async (actor: Actor, id: string, { name }: BodyOf<Calls['rename']>): Promise<Passkey> =>
      shape(found(await store.renamePasskey(db, actor.user_id, id, name))),

    /** @throws Refusal 1120, 1136, 91125, 91131 */
    async remove(actor: Actor, id: string, { password }: BodyOf<Calls['remove']>): Promise<void> {
      await parts.prove(actor, password)
      await db.transaction().execute(async (tx) => {
        const user = found(await lockUser(tx, actor.user_id))
        if (!(await store.deletePasskey(tx, actor.user_id, id))) throw new Refusal('notFound')
        await refuseLastWayIn(tx, user)
      })
    },

    async challenge(): Promise<ResponseOf<Calls['challenge']>> {
      const { id } = ours()
      const { generateAuthenticationOptions } = await webAuthn()
      const { challenge } = await generateAuthenticationOptions({ rpID: id })
      await keepChallenge(challenge, null)
      return { challenge, rpId: id, timeout: challengeMs, userVerification: 'required' }
    },

    /** The device asked who uses it, so this is both factors. @throws Refusal 1134, 1135, 91012, 91126, 91128, 91130 */
    async signIn({ credential }: BodyOf<Calls['signIn']>, client: Client): Promise<Tokens> {
      const use = await verifyUse(ours(), credential)
      if (use === null) throw new Refusal('passkeyMismatch')
      return db.transaction().execute(async (tx) => {
        const user = await lockUser(tx, use.row.user_id)
        if (user === undefined) throw new Refusal('passkeyMismatch')
        noted({ tried: { user_id: user.id, name: user.name ?? '', bp_id: user.bp_id } })
        if (!(await store.recordUse(tx, use.row.id, use.counter, now()))) throw new Refusal('passkeyCopied')
        return parts.sessions.signInAs(tx, user, client, { by: 'passkey', second: true })
      })
    },

    /** For one who lost the device that has them. */
    reset: (tx: Tx, userId: string): Promise<void> => store.deletePasskeysOf(tx, userId),

    clean: (): Promise<void> => store.deleteChallengesBefore(db, now()),
  }
}
