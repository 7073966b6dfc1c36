import type { Deployment, deployments } from '@zhisuan/contract/cis/container'
import type { QueryOf } from '@zhisuan/contract/define'
import { scopeOf, type Actor } from '../../../platform/auth/actor.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { shapedPage } from '../../../platform/db/page.ts'
import { found } from '../../../platform/errors.ts'
import type { Platform } from '../../../platform/platform.ts'
import { shape, shapeDeployment } from './container.shape.ts'
import * as store from './container.store.ts'
import type { ShownContainer } from './container.store.ts'
import * as deployed from './deployment.store.ts'

type Calls = typeof deployments

/** Containers that were made at once, on several nodes. */
export function createDeployments(
  { db, secrets }: Pick<Platform, 'db' | 'secrets'>,
  { remove }: { remove: (tx: Tx, actor: Actor, row: ShownContainer) => Promise<void> },
) {
  return {
    list: (actor: Actor, query: QueryOf<Calls['list']>) =>
      shapedPage(deployed.listDeployments(db, scopeOf(actor), query), (row) => shapeDeployment(secrets, row)),

    async instances(actor: Actor, id: string, query: QueryOf<Calls['instances']>) {
      const scope = scopeOf(actor)
      found(await deployed.getDeployment(db, scope, id))
      return shapedPage(store.listContainers(db, scope, { ...query, deployment_id: id }), shape)
    },

    /** All of its containers, or none: where one cannot be removed now, it says so. */
    delete: (actor: Actor, id: string): Promise<Deployment> =>
      db.transaction().execute(async (tx) => {
        const scope = scopeOf(actor)
        const deployment = found(await deployed.getDeployment(tx, scope, id))
        for (const row of await store.lockContainersOf(tx, scope, id)) if (row.shown_status !== 'deleting') await remove(tx, actor, row)
        return { ...shapeDeployment(secrets, deployment), status: 'deleting' }
      }),
  }
}
