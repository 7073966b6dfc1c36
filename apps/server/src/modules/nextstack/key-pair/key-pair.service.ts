import type { BodyOf, QueryOf, ResponseOf } from '@zhisuan/contract/define'
import type { KeyPair, keyPairs } from '@zhisuan/contract/nextstack/key-pair'
import { authoredBy, refuseOwnerless, scopeOf, type Actor, type Scope } from '../../../platform/auth/actor.ts'
import type { Db, Sql, Tx } from '../../../platform/db/database.ts'
import { shapedPage } from '../../../platform/db/page.ts'
import { refusing } from '../../../platform/db/refusing.ts'
import { found, Refusal } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { QuotaService } from '../quota/quota.service.ts'
import { shapeOwned } from '../../../platform/resource.shape.ts'
import { fingerprintsOf, generateKey, parsePublicKey, publicLine, type PublicKey } from './key-pair.ssh.ts'
import * as store from './key-pair.store.ts'
import type { ShownKeyPair } from './key-pair.store.ts'

type Calls = typeof keyPairs

export type KeyPairService = ReturnType<typeof createKeyPairs>

/**
 * The public keys that somebody chose for an instance, in their order. In the transaction that uses
 * them: until that ends nobody deletes them.
 * @throws Refusal `keyPairMissing` where the scope does not show one
 */
export async function publicKeysOf(on: Sql, scope: Scope, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return []
  const rows = new Map((await store.shareKeyPairs(on, scope, ids)).map(({ id, public_key }) => [id, public_key]))
  return [...new Set(ids)].map((id) => {
    const key = rows.get(id)
    if (key === undefined) throw new Refusal('keyPairMissing', { field: 'key_pair_ids' })
    return key
  })
}

/** The public half of one, by who sees it. @throws Refusal `keyPairMissing` */
export async function publicKeyOf(on: Sql, scope: Scope, id: string): Promise<string> {
  const row = await store.getKeyPair(on, scope, id)
  if (row === undefined) throw new Refusal('keyPairMissing', { field: 'key_pair_id' })
  return row.public_key
}

/** Records which keys an instance was given. */
export async function remember(tx: Tx, vmId: string, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await store.insertVmKeys(tx, vmId, ids)
}

/** The keys that an instance was given, as far as they are there still. */
export const keyPairsOf = (tx: Tx, vmId: string): Promise<string[]> => store.keysOfVm(tx, vmId)

export function createKeyPairs(parts: { db: Db; quotas: Pick<QuotaService, 'take'> }) {
  const { db, quotas } = parts

  const get = async (scope: Scope, id: string): Promise<ShownKeyPair> => found(await store.getKeyPair(db, scope, id))
  const readKey = (line: string): PublicKey => {
    const key = parsePublicKey(line)
    if (key === null) throw new Refusal('publicKeyInvalid', { field: 'public_key' })
    return key
  }
  const nameTaken = { key_pairs_name: ['keyPairNameTaken', 'name'] } as const
  const taken = (bpId: string | null, fingerprint: string) => ({
    ...nameTaken,
    key_pairs_key: async (cause: unknown) =>
      new Refusal('keyPairExists', { field: 'public_key', values: { name: (await store.nameOfKey(db, bpId, fingerprint)) ?? '' }, cause }),
  })

  return {
    list: (actor: Actor, query: QueryOf<Calls['list']>) => shapedPage(store.listKeyPairs(db, scopeOf(actor), query), shape),

    async get(actor: Actor, id: string): Promise<ResponseOf<Calls['get']>> {
      const scope = scopeOf(actor)
      return { ...shape(await get(scope, id)), vms: await store.vmsOf(db, scope, id) }
    },

    /** The private half of one that is made here is in this answer, and nowhere else. */
    async create(actor: Actor, body: BodyOf<Calls['create']>): Promise<ResponseOf<Calls['create']>> {
      const scope = scopeOf(actor)
      refuseOwnerless(scope)
      const { public_key } = body
      const made = public_key === undefined ? await generateKey(body.algorithm, body.name) : null
      const key = made?.open ?? readKey(public_key ?? '')
      const { sha256, md5 } = fingerprintsOf(key.blob)
      const id = uuidv7()
      await refusing(taken(actor.bp_id, sha256), () =>
        db.transaction().execute(async (tx) => {
          await quotas.take(tx, { bp_id: actor.bp_id, project_id: null }, { key_pairs: 1 })
          await store.insertKeyPair(tx, {
            id,
            bp_id: actor.bp_id,
            name: body.name,
            description: body.description,
            algorithm: key.algorithm,
            public_key: publicLine(key),
            fingerprint: sha256,
            fingerprint_md5: md5,
            generated: made !== null,
            ...authoredBy(actor),
          })
        }),
      )
      return { ...shape(await get(scope, id)), private_key: made?.secret ?? null }
    },

    async update(actor: Actor, id: string, body: BodyOf<Calls['update']>): Promise<KeyPair> {
      const scope = scopeOf(actor)
      await refusing(nameTaken, async () => {
        if (!(await store.updateKeyPair(db, scope, id, body))) throw new Refusal('notFound')
      })
      return shape(await get(scope, id))
    },

    /** In instances that have it, it stays. */
    async delete(actor: Actor, id: string): Promise<void> {
      if (!(await store.deleteKeyPair(db, scopeOf(actor), id))) throw new Refusal('notFound')
    },
  }
}

const shape = (row: ShownKeyPair): KeyPair => ({
  ...shapeOwned(row),
  algorithm: row.algorithm,
  fingerprint: row.fingerprint,
  fingerprint_md5: row.fingerprint_md5,
  public_key: row.public_key,
  generated: row.generated,
  vm_count: row.vm_count,
})
