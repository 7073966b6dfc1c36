import type { BodyOf, QueryOf } from '@zhisuan/contract/define'
import type { Flavor, FlavorVm, flavors } from '@zhisuan/contract/nextstack/flavor'
import { platformScope, scopeOf, type Actor, type Scope } from '../../../platform/auth/actor.ts'
import { iso, type Db, type Sql } from '../../../platform/db/database.ts'
import { shapedPage } from '../../../platform/db/page.ts'
import { refusing } from '../../../platform/db/refusing.ts'
import { found, Refusal } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import { beyondHosts, reachFor } from '../host/host.reach.ts'
import * as store from './flavor.store.ts'
import type { FlavorRow, ShownFlavor } from './flavor.store.ts'

type Calls = typeof flavors

export type FlavorService = ReturnType<typeof createFlavors>

/**
 * The size that somebody chose for an instance. In the transaction that uses it: until that ends
 * nobody deletes it.
 * @throws Refusal `flavorMissing` where there is none that the scope may choose
 */
export async function flavorFor(on: Sql, scope: Scope, id: string): Promise<FlavorRow> {
  const flavor = await store.shareFlavor(on, scope, id)
  if (flavor === undefined) throw new Refusal('flavorMissing', { field: 'flavor_id' })
  return flavor
}

export function createFlavors(parts: { db: Db }) {
  const { db } = parts

  const shownToAdministrators = async (id: string): Promise<Flavor> => shape(found(await store.getShown(db, platformScope, id)), true)
  const save = async (id: string, body: BodyOf<Calls['create']>, write: 'insert' | 'update'): Promise<Flavor> => {
    const row = {
      name: body.name,
      description: body.description,
      cpu_cores: body.cpu_cores,
      memory_bytes: body.memory_bytes,
      disk_bytes: body.disk_bytes,
      gpu_model: body.gpu?.model ?? null,
      gpu_count: body.gpu?.count ?? null,
      public: body.public,
    }
    await refusing({ flavors_name_key: ['flavorNameTaken', 'name'] }, () =>
      db.transaction().execute(async (tx) => {
        if (write === 'insert') await store.insertFlavor(tx, { id, ...row })
        else if (!(await store.updateFlavor(tx, id, row))) throw new Refusal('notFound')
        const missing = await store.setOrganisations(tx, id, body.public ? [] : [...new Set(body.organisation_ids)])
        if (missing !== null) throw new Refusal('organisationMissing', { field: 'organisation_ids', values: { name: missing } })
      }),
    )
    return shownToAdministrators(id)
  }

  return {
    async list(actor: Actor, query: QueryOf<Calls['list']>): Promise<{ total: number; items: Flavor[] }> {
      const scope = scopeOf(actor)
      const hosts = await reachFor(db, scope, query)
      return shapedPage(store.listFlavors(db, scope, query), (row) => {
        const flavor = shape(row, 'everything' in scope)
        return { ...flavor, beyond: beyondHosts(hosts, flavor) }
      })
    },

    async get(actor: Actor, id: string): Promise<Flavor> {
      const scope = scopeOf(actor)
      return shape(found(await store.getShown(db, scope, id)), 'everything' in scope)
    },

    create: (body: BodyOf<Calls['create']>): Promise<Flavor> => save(uuidv7(), body, 'insert'),

    /** Instances that have it keep what they were made with. */
    update: (id: string, body: BodyOf<Calls['update']>): Promise<Flavor> => save(id, body, 'update'),

    /** @throws Refusal 94020 */
    async delete(id: string): Promise<void> {
      await db.transaction().execute(async (tx) => {
        found(await store.lockFlavor(tx, id))
        const count = await store.countVms(tx, id)
        if (count > 0) throw new Refusal('flavorInUse', { values: { count } })
        await store.deleteFlavor(tx, id)
      })
    },

    async vms(id: string, query: QueryOf<Calls['vms']>): Promise<{ total: number; items: FlavorVm[] }> {
      found(await store.getFlavor(db, id))
      return store.listVms(db, id, query)
    },
  }
}

/** @param internals who else has it, and how many: for administrators */
const shape = (row: ShownFlavor, internals: boolean): Flavor => ({
  id: row.id,
  name: row.name,
  description: row.description,
  cpu_cores: row.cpu_cores,
  memory_bytes: row.memory_bytes,
  disk_bytes: row.disk_bytes,
  gpu: row.gpu_model === null || row.gpu_count === null ? null : { model: row.gpu_model, count: row.gpu_count },
  public: row.public,
  organisations: internals ? row.organisations : [],
  vm_count: internals ? row.vm_count : 0,
  beyond: null,
  created_at: iso(row.created_at),
})
