import type { BodyOf, QueryOf, ResponseOf } from '@zhisuan/contract/define'
import { fieldTexts } from '@zhisuan/contract/texts'
import {
  accessKeyCan,
  accessKeyLimits,
  type AccessKey,
  type accessKeys as calls,
  type AccessKeyScheme,
  type AccessKeyStatus,
} from '@zhisuan/contract/ums/access-key'
import { scopeOf, type Actor } from '../../../platform/auth/actor.ts'
import { readDocument } from '../../../platform/auth/rules.ts'
import { iso, isoOrNull, type Tx } from '../../../platform/db/database.ts'
import { shapedPage } from '../../../platform/db/page.ts'
import { found, Refusal, refuseUnless } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { Actors } from '../session/actors.ts'
import type { Proof } from '../session/proof.ts'
import { hashOf } from '../session/tokens.ts'
import type { KeepService } from '../user/keep.service.ts'
import { isKept } from '../user/keep.store.ts'
import { lockUser } from '../user/user.store.ts'
import { hintOf, newSecret } from './access-key.secret.ts'
import * as store from './access-key.store.ts'
import { placeOf } from './access-keys.ts'

type Calls = typeof calls

export type AccessKeyService = ReturnType<typeof createAccessKeyService>

/** Access keys as people keep them, their own and, as administrators, others'. */
export function createAccessKeyService(
  { db, bus, secrets, now }: Pick<Platform, 'db' | 'bus' | 'secrets' | 'now'>,
  parts: { actors: Actors; prove: Proof; keep: Pick<KeepService, 'lock'> },
) {
  const { actors, prove, keep } = parts

  const shape = (row: store.ShownAccessKey): AccessKey => ({
    id: row.id,
    name: row.name,
    scheme: row.scheme,
    status: row.status,
    hint: row.hint,
    rotated_at: iso(row.rotated_at),
    previous_until: isoOrNull(row.previous_until),
    expires_at: isoOrNull(row.expires_at),
    networks: row.networks,
    document: row.document,
    created_at: iso(row.created_at),
    last_used_at: isoOrNull(row.last_used_at),
    last_used_ip: row.last_used_ip,
  })
  const get = async (userId: string, id: string): Promise<AccessKey> => shape(found(await store.getAccessKey(db, userId, id, now())))
  const listOf = async (userId: string): Promise<ResponseOf<Calls['list']>> => {
    const items = (await store.accessKeysOf(db, userId, now())).map(shape)
    return { total: items.length, items }
  }

  const futureOf = (moment: string | null): Date | null => {
    if (moment === null) return null
    const at = new Date(moment)
    if (at <= now()) throw new Refusal('fieldsInvalid', { fields: [{ field: 'expires_at', message: fieldTexts.moment }] })
    return at
  }

  const giveSecret = async (tx: Tx, accessKeyId: string, scheme: AccessKeyScheme): Promise<string> => {
    const [id, secret] = [uuidv7(), newSecret(scheme)]
    const kept = scheme === 'bearer' ? { hash: hashOf(secret), sealed: null } : { hash: null, sealed: secrets.seal(secret, placeOf(id)) }
    await store.insertSecret(tx, { id, access_key_id: accessKeyId, ...kept, hint: hintOf(secret), created_at: now(), ends_at: null })
    return secret
  }

  /** Within a transaction that holds the key; every server knows when it resolves. */
  const change = async <T>(
    userId: string,
    id: string,
    how: (tx: Tx, key: NonNullable<Awaited<ReturnType<typeof store.lockAccessKey>>>) => Promise<T>,
    before: (tx: Tx) => Promise<unknown> = async () => undefined,
  ): Promise<T> => {
    const answer = await db.transaction().execute(async (tx) => {
      await before(tx)
      const done = await how(tx, found(await store.lockAccessKey(tx, userId, id)))
      await actors.tell(tx, { session: id })
      return done
    })
    actors.forget({ session: id })
    await bus.everyoneTold(db)
    return answer
  }
  const setStatus = async (
    userId: string,
    id: string,
    action: 'enable' | 'disable' | 'block' | 'unblock',
    status: AccessKeyStatus,
    before?: (tx: Tx) => Promise<unknown>,
  ): Promise<AccessKey> => {
    await change(
      userId,
      id,
      (tx, key) => {
        refuseUnless(accessKeyCan[action], key)
        return store.updateAccessKey(tx, id, { status })
      },
      before,
    )
    return get(userId, id)
  }
  /** Somebody whom one keeps. @throws Refusal 404, 3000 */
  const kept = (actor: Actor, userId: string) => (tx: Tx) => keep.lock(tx, actor, userId)

  return {
    list: (actor: Actor) => listOf(actor.user_id),

    /** @throws Refusal 1120, 1136, 91101, 91125, 91206 */
    async create(actor: Actor, { password, scheme, document, expires_at, ...body }: BodyOf<Calls['create']>): Promise<ResponseOf<Calls['create']>> {
      const id = uuidv7()
      const row = {
        ...body,
        id,
        user_id: actor.user_id,
        scheme,
        status: 'active' as const,
        document: document == null ? null : readDocument(document),
        expires_at: futureOf(expires_at),
        last_used_at: null,
        last_used_ip: null,
        created_at: now(),
      }
      await prove(actor, password)
      const secret = await db.transaction().execute(async (tx) => {
        // Of two that come at once, each counts the other.
        await lockUser(tx, actor.user_id)
        if ((await store.countAccessKeys(tx, actor.user_id)) >= accessKeyLimits.perPerson)
          throw new Refusal('accessKeysFull', { values: { limit: accessKeyLimits.perPerson } })
        await store.insertAccessKey(tx, row)
        return giveSecret(tx, id, scheme)
      })
      return { key: await get(actor.user_id, id), secret }
    },

    /** @throws Refusal 91101 */
    async update(actor: Actor, id: string, { document, expires_at, ...body }: BodyOf<Calls['update']>): Promise<AccessKey> {
      const read = document == null ? null : readDocument(document)
      await change(actor.user_id, id, (tx, key) => {
        // One that has run out keeps its end while something else is changed.
        const unchanged = expires_at !== null && key.expires_at?.getTime() === Date.parse(expires_at)
        return store.updateAccessKey(tx, id, { ...body, document: read, expires_at: unchanged ? key.expires_at : futureOf(expires_at) })
      })
      return get(actor.user_id, id)
    },

    /** @throws Refusal 90010 */
    act: (actor: Actor, id: string, { action }: BodyOf<Calls['action']>) => setStatus(actor.user_id, id, action, action === 'enable' ? 'active' : 'disabled'),

    /** @throws Refusal 1120, 1136, 90010, 91125 */
    async rotate(actor: Actor, id: string, { overlap_seconds, password }: BodyOf<Calls['rotate']>): Promise<ResponseOf<Calls['rotate']>> {
      await prove(actor, password)
      const secret = await change(actor.user_id, id, async (tx, key) => {
        refuseUnless(accessKeyCan.rotate, key)
        await store.endSecrets(tx, id, overlap_seconds === 0 ? null : new Date(now().getTime() + overlap_seconds * 1000))
        return giveSecret(tx, id, key.scheme)
      })
      return { key: await get(actor.user_id, id), secret }
    },

    remove: (actor: Actor, id: string): Promise<void> => change(actor.user_id, id, (tx) => store.deleteAccessKey(tx, id)),

    async listOf(actor: Actor, userId: string): Promise<ResponseOf<Calls['of']>> {
      found((await isKept(db, scopeOf(actor), userId)) ? userId : undefined)
      return listOf(userId)
    },
    all: (actor: Actor, query: QueryOf<Calls['all']>): Promise<ResponseOf<Calls['all']>> =>
      shapedPage(store.listAccessKeys(db, scopeOf(actor), query, now()), (row) => ({
        ...shape(row),
        user: { id: row.user_id, name: row.user_name ?? '', nickname: row.user_nickname },
      })),
    block: (actor: Actor, userId: string, id: string) => setStatus(userId, id, 'block', 'blocked', kept(actor, userId)),
    unblock: (actor: Actor, userId: string, id: string) => setStatus(userId, id, 'unblock', 'disabled', kept(actor, userId)),
    removeOf: (actor: Actor, userId: string, id: string): Promise<void> => change(userId, id, (tx) => store.deleteAccessKey(tx, id), kept(actor, userId)),
  }
}
