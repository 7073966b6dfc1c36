import { createHash } from 'node:crypto'
import { compileConditions, type Condition } from '@zhisuan/contract/policy/condition'
import { compilePolicies } from '@zhisuan/contract/policy/evaluate'
import { accessKeyLimits } from '@zhisuan/contract/ums/access-key'
import { LRUCache } from 'lru-cache'
import type { Actor } from '../../../platform/auth/actor.ts'
import { isSignedBy, signatureMismatch, type RequestSignature } from '../../../platform/auth/signature.ts'
import { Refusal } from '../../../platform/errors.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { Actors } from '../session/actors.ts'
import { hashOf } from '../session/tokens.ts'
import { couldBeSecret } from './access-key.secret.ts'
import * as store from './access-key.store.ts'

/** When and from where a key was used is noted at most so often. */
const noteEveryMs = 60_000

/** A secret as it is good: whom it stands for, and until when. */
interface Proof {
  readonly actor: Actor
  readonly until: number
  /** What requests are signed with; null for a token. */
  readonly key: string | null
}
interface Standing {
  readonly actor: Actor
  readonly proofs: readonly Proof[]
  readonly expiresAt: number
  readonly networks: readonly Condition[]
}

/** Where the secret of a key belongs, see {@link Platform.secrets}. */
export const placeOf = (secretId: string): string => `ums.access-key:${secretId}`

const timeOf = (moment: Date | null): number => moment?.getTime() ?? Infinity

export type AccessKeys = ReturnType<typeof createAccessKeys>

/** Whom access keys stand for: remembered as sessions are, and forgotten on every server at once. */
export function createAccessKeys({ db, secrets, now, log }: Pick<Platform, 'db' | 'secrets' | 'now' | 'log'>, actors: Actors) {
  const tokens = actors.remembering<Standing>()
  const signers = actors.remembering<Standing>()
  const noted = new LRUCache<string, number>({ max: 50_000 })

  // What was opened with a key, such as a terminal, ends with the rights of whose it is.
  actors.watch((gone) => {
    if ('session' in gone) return
    store.stoppedKeys(db, gone).then(
      (ids) => ids.forEach((session) => actors.forget({ session })),
      (error: unknown) => log.warn({ err: error }, 'what was opened with access keys could not be ended'),
    )
  })

  /** Told only to who proved that they have its secret. @throws Refusal 1134, 1135, 91012, 91202, 91203 */
  const refuseUnlessGood = (row: store.HeldAccessKey): void => {
    if (row.user_status !== 'active') throw new Refusal('userDisabled')
    if (row.bp_status === 'frozen') throw new Refusal('organisationFrozen')
    if (row.status !== 'active') throw new Refusal('accessKeyDisabled')
  }

  const standingOf = async (row: store.HeldAccessKey, secretsOf: readonly { since: Date; until: number; key: string | null }[]): Promise<Standing> => {
    const actor = await actors.actorOf(
      {
        ...row,
        session_id: row.id,
        session_since: new Date(0),
        authenticated_by: 'access_key',
        second_factor_at: null,
        // A key is a secret of its own: that a password has to be changed says nothing of it.
        must_change_password: false,
      },
      { id: row.id, name: row.key_name, within: row.document === null ? null : compilePolicies([{ id: `access-key:${row.id}`, document: row.document }]) },
    )
    return {
      actor,
      proofs: secretsOf.map(({ since, until, key }) => ({ actor: { ...actor, session_since: since }, until, key })),
      expiresAt: timeOf(row.expires_at),
      networks: row.networks.length === 0 ? [] : compileConditions({ IpAddress: { 'zs:SourceIp': row.networks } }),
    }
  }

  const noteUse = (id: string, ip: string): void => {
    const at = now()
    const before = new Date(at.getTime() - noteEveryMs)
    if ((noted.get(id) ?? 0) > before.getTime()) return
    noted.set(id, at.getTime())
    // Nobody waits for it, and nothing hangs on it.
    store.noteUse(db, id, at, ip, before).catch((error: unknown) => log.warn({ err: error }, 'the use of an access key was not noted'))
  }

  /** What changes while a key is remembered: the time, and where it comes from. @throws Refusal 91201, 91203, 91204 */
  const admit = (standing: Standing, proof: Proof | undefined, ip: string): Actor => {
    const at = now().getTime()
    if (proof === undefined || proof.until <= at) throw new Refusal('accessKeyInvalid')
    if (standing.expiresAt <= at) throw new Refusal('accessKeyExpired')
    if (!standing.networks.every((condition) => condition.isMet({ 'zs:SourceIp': ip }))) throw new Refusal('accessKeyElsewhere', { values: { address: ip } })
    return proof.actor
  }
  const use = (actor: Actor, ip: string): Actor => {
    noteUse(actor.session_id, ip)
    return actor
  }

  const signing = async (row: store.HeldAccessKey): Promise<{ id: string; since: Date; until: number; key: string }[]> =>
    (await store.signingSecrets(db, row.id)).flatMap(({ id, sealed, created_at, ends_at }) =>
      sealed === null ? [] : [{ id, since: created_at, until: timeOf(ends_at), key: secrets.open(sealed, placeOf(id)) }],
    )

  return {
    /**
     * At once, without a promise, where the token is remembered.
     * @throws Refusal 1135, 91012, 91201 to 91204
     */
    ofToken(token: string, ip: string): Actor | Promise<Actor> {
      if (!couldBeSecret(token)) throw new Refusal('accessKeyInvalid')
      const hash = hashOf(token)
      const key = hash.toString('latin1')
      const known = tokens.get(key)
      if (known !== undefined) return use(admit(known, known.proofs[0], ip), ip)
      return tokens
        .read(key, async () => {
          const row = await store.findByHash(db, hash)
          if (row === undefined) throw new Refusal('accessKeyInvalid')
          refuseUnlessGood(row)
          return standingOf(row, [{ since: row.secret_at, until: timeOf(row.ends_at), key: null }])
        })
        .then((standing) => {
          if (standing === null) throw new Refusal('accessKeyInvalid')
          return use(admit(standing, standing.proofs[0], ip), ip)
        })
    },

    /**
     * Each is good once, on whichever server.
     * @throws Refusal 1135, 91012, 91202 to 91204, 91207 to 91209
     */
    async ofSignature(signature: RequestSignature, ip: string): Promise<Actor> {
      const at = now().getTime() / 1000
      const { keyId, created, expires, nonce } = signature
      if (created < at - accessKeyLimits.signatureAgeSeconds || created > at + accessKeyLimits.signatureSkewSeconds || (expires !== null && expires <= at))
        throw new Refusal('signatureStale')
      const isProved = ({ key, until }: { key: string | null; until: number }): boolean => key !== null && until > now().getTime() && isSignedBy(signature, key)
      const standing =
        signers.get(keyId) ??
        (await signers.read(keyId, async () => {
          const row = isId(keyId) ? await store.findById(db, keyId) : undefined
          const all = row === undefined ? [] : await signing(row)
          if (row === undefined || !all.some(isProved)) throw signatureMismatch()
          refuseUnlessGood(row)
          return standingOf(row, all)
        }))
      const proof = standing?.proofs.find(isProved)
      if (standing == null || proof === undefined) throw signatureMismatch()
      const actor = admit(standing, proof, ip)
      if (!(await store.spendNonce(db, { access_key_id: keyId, hash: createHash('sha256').update(nonce).digest(), created_at: now() })))
        throw new Refusal('signatureReplayed')
      return use(actor, ip)
    },

    /** For what was opened with a key before; null where the key is no good any more. */
    async actorOf(id: string): Promise<Actor | null> {
      const row = await store.findById(db, id)
      if (row === undefined || timeOf(row.expires_at) <= now().getTime()) return null
      try {
        refuseUnlessGood(row)
      } catch (error) {
        if (error instanceof Refusal) return null
        throw error
      }
      return (await standingOf(row, [])).actor
    },

    /** No server takes a request that is older than its nonce, whatever their clocks say. */
    clean: (): Promise<void> => store.clean(db, now(), new Date(now().getTime() - 3 * accessKeyLimits.signatureAgeSeconds * 1000)),
  }
}

const isId = (text: string): boolean => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text)
