import type { Config, configs } from '@zhisuan/contract/cis/container'
import type { BodyOf, QueryOf } from '@zhisuan/contract/define'
import { authoredBy, refuseOwnerless, scopeOf, type Actor, type Scope } from '../../../platform/auth/actor.ts'
import { iso, type Sql, type Tx } from '../../../platform/db/database.ts'
import { shapedPage } from '../../../platform/db/page.ts'
import { refusing } from '../../../platform/db/refusing.ts'
import { found, Refusal } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import { readable } from '../../../platform/secrets.ts'
import { openContent, sealContent } from './config.files.ts'
import * as store from './config.store.ts'

type Calls = typeof configs

export type ConfigService = ReturnType<typeof createConfigs>

/** How many things of other modules use a config. */
export type ConfigUses = (on: Sql, configId: string) => Promise<number>

/** @param parts.bring has new text brought to a node, when the transaction commits */
export function createConfigs(platform: Pick<Platform, 'db' | 'secrets'>, parts: { bring: (tx: Tx, edgeId: string) => Promise<void> }) {
  const { db, secrets } = platform
  const others: ConfigUses[] = []

  /** Among others: one that cannot be read is shown without its content. */
  const shapeOf = (row: store.ShownConfig): Config => readable(() => shape(row), shapeWith(row, ''))
  const shape = (row: store.ShownConfig): Config => shapeWith(row, openContent(secrets, row))
  const shapeWith = (row: store.ShownConfig, content: string): Config => ({
    id: row.id,
    name: row.name,
    description: row.description,
    bp_id: row.bp_id,
    content,
    revision: row.revision,
    used_by: row.used_by,
    created_by: row.created_by_name,
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
  })
  const taken = { container_configs_name: ['configNameTaken', 'name'] } as const

  const make = async (actor: Actor, { name, description, content }: BodyOf<Calls['put']>): Promise<string> => {
    refuseOwnerless(scopeOf(actor))
    const id = uuidv7()
    await db.transaction().execute((tx) =>
      store.insertConfig(tx, {
        id,
        bp_id: actor.bp_id,
        name,
        description,
        content: sealContent(secrets, id, content),
        ...authoredBy(actor),
      }),
    )
    return id
  }
  const change = async (actor: Actor, id: string, body: BodyOf<Calls['put']>): Promise<void> => {
    await db.transaction().execute(async (tx) => {
      const row = found(await store.lockConfig(tx, scopeOf(actor), id))
      if (body.revision !== undefined && body.revision !== row.revision) throw new Refusal('changedMeanwhile', { field: 'revision' })
      await store.changeConfig(tx, id, { name: body.name, description: body.description, content: sealContent(secrets, id, body.content) })
      if (body.restart) await store.wishRestart(tx, id)
      for (const edgeId of await store.nodesWith(tx, id)) await parts.bring(tx, edgeId)
    })
  }

  return {
    /** Whoever gives configs to something else says so. */
    usedBy: (uses: ConfigUses): void => void others.push(uses),

    /** What configs hold, by id, for whoever deploys something with them. @throws Refusal `configUnknown` where the scope does not show one */
    async contents(on: Sql, scope: Scope, ids: readonly string[]): Promise<ReadonlyMap<string, { name: string; content: string; revision: number }>> {
      const rows = await Promise.all([...new Set(ids)].map((id) => store.getConfig(on, scope, id)))
      return new Map(
        rows.map((row) => {
          if (row === undefined) throw new Refusal('configUnknown')
          return [row.id, { name: row.name, content: openContent(secrets, row), revision: row.revision }]
        }),
      )
    },

    list: (actor: Actor, query: QueryOf<Calls['list']>) => shapedPage(store.listConfigs(db, scopeOf(actor), query), shapeOf),

    async put(actor: Actor, body: BodyOf<Calls['put']>): Promise<Config> {
      return refusing(taken, async () => {
        const id = body.id ?? (await make(actor, body))
        if (body.id !== undefined) await change(actor, body.id, body)
        return shape(found(await store.getConfig(db, scopeOf(actor), id)))
      })
    },

    delete: (actor: Actor, id: string): Promise<void> =>
      db.transaction().execute(async (tx) => {
        found(await store.lockConfig(tx, scopeOf(actor), id))
        let count = await store.usesOf(tx, id)
        for (const uses of others) count += await uses(tx, id)
        if (count > 0) throw new Refusal('configInUse', { values: { count } })
        await store.deleteConfig(tx, id)
      }),
  }
}
