import type { StackDeployment, stackDeployments } from '@zhisuan/contract/aos/stack'
import type { QueryOf, ResponseOf } from '@zhisuan/contract/define'
import { scopeOf, type Actor } from '../../../platform/auth/actor.ts'
import { shapedPage } from '../../../platform/db/page.ts'
import { found } from '../../../platform/errors.ts'
import { idsOf } from '../../../platform/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import * as deployed from './deployment.store.ts'
import { shape, shapeDeployment } from './stack.shape.ts'
import * as store from './stack.store.ts'
import type { StackWork } from './stack.work.ts'

type Calls = typeof stackDeployments

/** Stacks that were made at once, on several nodes. */
export function createDeployments({ db, secrets }: Pick<Platform, 'db' | 'secrets'>, { work }: { work: Pick<StackWork, 'remove'> }) {
  return {
    async list(actor: Actor, query: QueryOf<Calls['list']>): Promise<ResponseOf<Calls['list']>> {
      const scope = scopeOf(actor)
      const { total, rows } = await deployed.listDeployments(db, scope, query)
      const own = Map.groupBy(await store.getStacksOf(db, scope, idsOf(rows)), ({ deployment_id }) => deployment_id)
      return { total, items: rows.map((row) => shapeDeployment(row, own.get(row.id) ?? [])) }
    },

    async get(actor: Actor, id: string): Promise<StackDeployment> {
      const scope = scopeOf(actor)
      return shapeDeployment(found(await deployed.getDeployment(db, scope, id)), await store.getStacksOf(db, scope, [id]))
    },

    async stacks(actor: Actor, id: string, query: QueryOf<Calls['stacks']>): Promise<ResponseOf<Calls['stacks']>> {
      const scope = scopeOf(actor)
      found(await deployed.getDeployment(db, scope, id))
      return shapedPage(store.listStacks(db, scope, { ...query, deployment_id: id }), (row) => shape(secrets, row))
    },

    /** All of its stacks, or none: where one cannot be taken down now, it says so. */
    delete: (actor: Actor, id: string): Promise<StackDeployment> =>
      db.transaction().execute(async (tx) => {
        const scope = scopeOf(actor)
        const deployment = found(await deployed.getDeployment(tx, scope, id))
        const own = await store.lockStacksOf(tx, scope, id)
        for (const row of own) if (row.shown_status !== 'deleting') await work.remove(tx, actor, row)
        return { ...shapeDeployment(deployment, own), status: 'deleting' }
      }),
  }
}
