import type { Service, services } from '@zhisuan/contract/aos/stack'
import type { BodyOf, ResponseOf } from '@zhisuan/contract/define'
import { scopeOf, type Actor, type Scope } from '../../../platform/auth/actor.ts'
import type { Db, Tx } from '../../../platform/db/database.ts'
import { found } from '../../../platform/errors.ts'
import type { ServiceContainers } from '../../cis/container/service.containers.ts'
import { getService, servicesOf, type ShownService } from './service.store.ts'
import { shapeService } from './stack.shape.ts'
import { refuseUnlessStackAllows } from './stack.state.ts'
import * as store from './stack.store.ts'
import type { ShownStack } from './stack.store.ts'
import type { StackWork } from './stack.work.ts'

/** What a stack is made of, each by itself. */
export function createServices(db: Db, parts: { work: Pick<StackWork, 'act' | 'scale'>; containers: Pick<ServiceContainers, 'list'> }) {
  const { work, containers } = parts

  const serviceOf = async (scope: Scope, id: string): Promise<{ service: ShownService; stack: ShownStack }> => {
    const service = found(await getService(db, scope, id))
    return { service, stack: found(await store.getStack(db, scope, service.stack_id)) }
  }
  const onService = async (actor: Actor, id: string, change: (tx: Tx, stack: ShownStack, service: ShownService) => Promise<void>): Promise<Service> => {
    const scope = scopeOf(actor)
    const { service } = await serviceOf(scope, id)
    await db.transaction().execute(async (tx) => change(tx, found(await store.lockStack(tx, scope, service.stack_id)), service))
    const after = await serviceOf(scope, id)
    return shapeService(after.stack, after.service)
  }

  return {
    async list(actor: Actor, id: string): Promise<ResponseOf<(typeof services)['list']>> {
      const row = found(await store.getStack(db, scopeOf(actor), id))
      const items = (await servicesOf(db, id)).map((service) => shapeService(row, service))
      return { total: items.length, items }
    },

    action: (actor: Actor, id: string, body: BodyOf<(typeof services)['action']>): Promise<Service> =>
      onService(actor, id, async (tx, stack, service) => {
        if (body.action === 'scale') return work.scale(tx, actor, stack, service, body.replicas)
        // One that runs is stopped and one that stands is started, whatever the others do.
        refuseUnlessStackAllows(stack, 'update')
        await work.act(tx, actor, stack, body.action, service)
      }),

    /** None of it until the stack is updated. */
    delete: (actor: Actor, id: string): Promise<Service> => onService(actor, id, (tx, stack, service) => work.scale(tx, actor, stack, service, 0)),

    async instances(actor: Actor, id: string): Promise<ResponseOf<(typeof services)['instances']>> {
      const scope = scopeOf(actor)
      await serviceOf(scope, id)
      return containers.list(scope, id)
    },
  }
}
