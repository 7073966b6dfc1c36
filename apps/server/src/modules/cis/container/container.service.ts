import type { Container, ContainerAction, ContainerSpec, containers, Placement } from '@zhisuan/contract/cis/container'
import type { BodyOf, QueryOf, ResponseOf } from '@zhisuan/contract/define'
import { authoredBy, refuseOwnerless, scopeOf, type Actor, type Scope } from '../../../platform/auth/actor.ts'
import { isoOrNull, type Tx } from '../../../platform/db/database.ts'
import { shapedPage } from '../../../platform/db/page.ts'
import { refusing } from '../../../platform/db/refusing.ts'
import { found, Refusal } from '../../../platform/errors.ts'
import { createHistory } from '../../../platform/history.ts'
import { idsOf, uuidv7 } from '../../../platform/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { StandingService } from '../../bill/arrears/standing.service.ts'
import type { ImageAuth } from '../../ims/imageAuth.ts'
import type { EdgeReach, ReachedEdge } from '../../ecrm/edge/edge.reach.ts'
import type { RefusedByNode } from '../../ecrm/edge/edge.refusals.ts'
import { setUses, shareConfigs } from '../config/config.store.ts'
import { configsOf } from './container.body.ts'
import { statsOf } from './container.docker.ts'
import { createFit, type Share } from './container.fit.ts'
import type { ContainerOperations } from './container.operations.ts'
import { sealSpec, openSpec } from './container.seal.ts'
import { shape } from './container.shape.ts'
import { refuseUnlessContainerAllows } from './container.state.ts'
import * as store from './container.store.ts'
import type { ShownContainer } from './container.store.ts'
import { createDeployments } from './deployment.service.ts'
import * as deployed from './deployment.store.ts'

type Calls = typeof containers

const nameTaken = (node: string) => ({
  containers_name: (cause: unknown) => new Refusal('containerNameTaken', { field: 'name', values: { node }, cause }),
})

export type ContainerService = ReturnType<typeof createContainers>

export function createContainers(
  platform: Pick<Platform, 'db' | 'operations' | 'secrets' | 'modules'>,
  parts: {
    edges: Pick<EdgeReach, 'reach' | 'choose'>
    refusedByNode: RefusedByNode
    operations: ContainerOperations
    otherProgram: string
    imageAuth: ImageAuth
    mayMake: StandingService['mayMake']
  },
) {
  const { db, secrets } = platform
  const { edges, refusedByNode, operations } = parts
  const fit = createFit(db, parts)
  const history = createHistory(platform)

  const get = async (scope: Scope, id: string): Promise<ShownContainer> => found(await store.getContainer(db, scope, id))

  /** Each of them has to be the scope's; held until the transaction ends. */
  const holdConfigs = async (tx: Tx, scope: Scope, spec: ContainerSpec): Promise<void> => {
    const wanted = [...new Set(configsOf(spec).map(({ config_id }) => config_id))]
    if ((await shareConfigs(tx, scope, wanted)).length < wanted.length) throw new Refusal('configUnknown', { field: 'spec.mounts' })
  }

  const reached = async (
    scope: Scope,
    id: string,
    action: Parameters<typeof refuseUnlessContainerAllows>[1],
  ): Promise<{ row: ShownContainer; docker_id: string; node: ReachedEdge }> => {
    const row = await get(scope, id)
    refuseUnlessContainerAllows(row, action)
    if (row.docker_id === null) throw new Refusal('containerGone')
    return { row, docker_id: row.docker_id, node: await edges.reach({ everything: true }, row.edge_id) }
  }

  /** What a service made is made again by it: only in its stack can it become another, or go. */
  const refuseOfStack = ({ service_id, service_name }: ShownContainer): void => {
    if (service_id !== null) throw new Refusal('containerOfStack', { values: { name: service_name ?? '' } })
  }

  /** What is rented is changed where it is rented, and paid for there. */
  const refuseRented = ({ rental_id }: ShownContainer): void => {
    if (rental_id !== null) throw new Refusal('rentalContainer')
  }

  /** Under the lock of the node's ports. @throws Refusal 98010 where its cards are for others */
  const refuseReserved = async (tx: Tx, node: { id: string; name: string }, gpus: number): Promise<void> => {
    if (gpus === 0) return
    for (const { reservesCards } of platform.modules())
      if ((await reservesCards?.(tx, node.id)) === true) throw new Refusal('nodeCardsReserved', { field: 'spec.gpus', values: { node: node.name } })
  }

  const removeOne = async (tx: Tx, actor: Actor, row: ShownContainer): Promise<void> => {
    refuseOfStack(row)
    refuseRented(row)
    refuseUnlessContainerAllows(row, 'delete')
    // There is nothing left, and nobody to ask: only what we know of it goes.
    if (row.shown_status === 'lost' && !row.edge.online) {
      await store.deleteContainer(tx, row.id)
      await deployed.dropEmptyDeployment(tx, row.deployment_id)
      return
    }
    if (!row.edge.online) throw new Refusal('edgeOffline', { values: { name: row.edge.name } })
    await platform.operations.begin(tx, operations.delete, { resource_id: row.id, bp_id: row.bp_id, actor, input: {} })
    await store.updateContainer(tx, row.id, { status: 'deleting', error_text: null })
  }

  return {
    deployments: createDeployments(platform, { remove: removeOne }),
    refuseTakenPorts: fit.refuseTakenPorts,

    /** For what is asked of a container itself: its row, its node, and what Docker calls it. @throws Refusal 404, 90010, 95003 */
    reached,
    find: get,

    list: (actor: Actor, query: QueryOf<Calls['list']>) => shapedPage(store.listContainers(db, scopeOf(actor), query), shape),

    async get(actor: Actor, id: string): Promise<ResponseOf<Calls['get']>> {
      const row = await get(scopeOf(actor), id)
      return { ...shape(row), spec: row.spec === null ? null : openSpec(secrets, row) }
    },

    async check(actor: Actor, { spec, placement }: BodyOf<Calls['check']>): Promise<ResponseOf<Calls['check']>> {
      const scope = scopeOf(actor)
      const nodes = await edges.choose(scope, placement, { shared: true })
      const by = { scope, bpId: actor.bp_id }
      return { nodes: await Promise.all(nodes.map(async (node) => ({ id: node.id, name: node.name, ...(await fit.problemsOf(by, node, spec)) }))) }
    },

    async deploy(actor: Actor, { name, description, spec, placement }: BodyOf<Calls['deploy']>): Promise<ResponseOf<Calls['deploy']>> {
      const scope = scopeOf(actor)
      refuseOwnerless(scope)
      const nodes = await edges.choose(scope, placement, { shared: true })
      for (const node of nodes) {
        fit.shareOn(actor.bp_id, node, spec)
        fit.refuseBinds(actor, node, spec)
        fit.refuseGpus(node, spec.gpus, 'spec.gpus')
      }
      // Asked before, and not under the lock: what Docker has beside ours does not wait for it anyway.
      await Promise.all(nodes.map(async (node) => fit.refuseConflict(node, spec.ports, await fit.takenOnDocker(node), 'spec.ports')))
      const deployment_id = uuidv7()
      const ids: string[] = []
      const owner = { bp_id: actor.bp_id, ...authoredBy(actor) }
      await refusing({ container_deployments_name: ['deploymentNameTaken', 'name'] }, () =>
        db.transaction().execute(async (tx) => {
          await holdConfigs(tx, scope, spec)
          await store.holdPorts(tx, idsOf(nodes))
          await deployed.insertDeployment(tx, {
            id: deployment_id,
            ...owner,
            name,
            description,
            spec: sealSpec(secrets, deployment_id, spec),
            image: spec.image,
            placement: JSON.stringify(placement),
          })
          for (const node of nodes) {
            fit.refuseConflict(node, spec.ports, await fit.takenByUs(tx, scope, node), 'spec.ports')
            await refuseReserved(tx, node, spec.gpus)
            const share = fit.shareOn(actor.bp_id, node, spec)
            await fit.refuseBeyondShare(tx, actor.bp_id, node, share, null)
            // What one has of a node of others costs by the hour.
            if (share !== null) await parts.mayMake(tx, actor.bp_id)
            const id = uuidv7()
            ids.push(id)
            await refusing(nameTaken(node.name), () =>
              store.insertContainer(tx, {
                id,
                ...owner,
                edge_id: node.id,
                deployment_id,
                name,
                spec: sealSpec(secrets, id, spec),
                image: spec.image,
                ports: JSON.stringify(spec.ports),
                ...share,
                status: 'creating',
              }),
            )
            await setUses(tx, id, configsOf(spec))
            await platform.operations.begin(tx, operations.create, { resource_id: id, bp_id: actor.bp_id, actor, input: {} })
          }
        }),
      )
      return { deployment_id, items: (await store.getContainers(db, scope, ids)).map(shape) }
    },

    async action(actor: Actor, id: string, body: ContainerAction): Promise<Container> {
      const scope = scopeOf(actor)
      const before = await get(scope, id)
      if (body.action === 'update' || body.action === 'rebuild' || body.action === 'rename') refuseOfStack(before)
      // By its rental only, which knows whether it still has its cards.
      refuseRented(before)
      const spec = body.action === 'update' ? body.spec : body.action === 'rebuild' ? openSpec(secrets, before) : null
      let share: { node: Awaited<ReturnType<EdgeReach['choose']>>[number]; wanted: Share | null } | null = null
      if (spec !== null) {
        const [node] = await edges.choose({ everything: true }, onlyOn(before.edge_id)).catch((error: unknown) => {
          // That it takes nothing new is no reason not to change what it has.
          if (error instanceof Refusal && error.refusal === 'edgeDeactive') return []
          throw error
        })
        if (node !== undefined) {
          share = { node, wanted: fit.shareOn(before.bp_id, node, spec) }
          fit.refuseBinds(actor, node, spec)
          fit.refuseGpus(node, spec.gpus, 'spec.gpus')
          fit.refuseConflict(node, spec.ports, await fit.takenOnDocker(node, { id }), 'spec.ports')
        }
      }
      await refusing(nameTaken(before.edge.name), () =>
        db.transaction().execute(async (tx) => {
          if (spec !== null) {
            await holdConfigs(tx, scope, spec)
            await store.holdPorts(tx, [before.edge_id])
          }
          const row = found(await store.lockContainer(tx, scope, id))
          refuseUnlessContainerAllows(row, body.action)
          if (!row.edge.online) throw new Refusal('edgeOffline', { values: { name: row.edge.name } })
          const request = { resource_id: id, bp_id: row.bp_id, actor }
          if (body.action !== 'update' && body.action !== 'rebuild') {
            await platform.operations.begin(tx, operations[body.action], {
              ...request,
              input: body.action === 'restart' ? { ...body, started_at: isoOrNull(row.started_at) } : body,
            })
            await store.updateContainer(tx, id, body.action === 'rename' ? { name: body.name, error_text: null } : { error_text: null })
            return
          }
          const wanted = body.action === 'update' ? body.spec : openSpec(secrets, row)
          await refuseReserved(tx, row.edge, wanted.gpus)
          const holders = (await store.portsOn(tx, [row.edge_id])).filter((other) => other.id !== id)
          fit.refuseConflict(
            row.edge,
            wanted.ports,
            holders.map((other) => ({ ports: other.ports, name: other.bp_id === row.bp_id || 'everything' in scope ? other.name : parts.otherProgram })),
            'spec.ports',
          )
          if (share !== null) await fit.refuseBeyondShare(tx, row.bp_id, share.node, share.wanted, id)
          const { shared_cpu = 0, shared_memory_bytes = 0 } = share?.wanted ?? {}
          if (shared_cpu > (row.shared_cpu ?? 0) || shared_memory_bytes > (row.shared_memory_bytes ?? 0)) await parts.mayMake(tx, row.bp_id)
          await platform.operations.begin(tx, operations[body.action], {
            ...request,
            input: {
              spec: wanted,
              generation: row.generation + 1,
              // What is lost, or never was there, is wanted to run.
              was_running: ['running', 'restarting', 'lost', 'dead'].includes(row.shown_status) || row.docker_id === null,
            },
          })
          // Its ports are held from now on; those of before it keeps until the operation ends.
          await store.updateContainer(tx, id, {
            status: 'creating',
            error_text: null,
            ports: JSON.stringify([...row.ports, ...wanted.ports]),
            ...share?.wanted,
          })
          await setUses(tx, id, configsOf(wanted))
        }),
      )
      return shape(await get(scope, id))
    },

    delete: (actor: Actor, id: string): Promise<Container> =>
      db.transaction().execute(async (tx) => {
        const scope = scopeOf(actor)
        const row = found(await store.lockContainer(tx, scope, id))
        await removeOne(tx, actor, row)
        return shape({ ...row, shown_status: 'deleting' })
      }),

    async operations(actor: Actor, id: string, query: QueryOf<Calls['operations']>): Promise<ResponseOf<Calls['operations']>> {
      await get(scopeOf(actor), id)
      return history.list(id, query)
    },

    async stats(actor: Actor, id: string): Promise<ResponseOf<Calls['stats']>> {
      const { docker_id, node } = await reached(scopeOf(actor), id, 'terminal')
      try {
        return await statsOf(node.docker, docker_id)
      } catch (error) {
        throw refusedByNode(error, node.row)
      }
    },

    /** Whether containers that people deployed use cards of a node. Nobody deploys there until the transaction ends. */
    async usesCards(tx: Tx, edgeId: string): Promise<boolean> {
      await store.holdPorts(tx, [edgeId])
      return (await store.deployedOn(tx, edgeId)).some((row) => row.spec !== null && openSpec(secrets, row).gpus > 0)
    },

    /** Of a service of a stack, for who knows that it is the scope's. */
    ofService: (scope: Scope, serviceId: string) =>
      shapedPage(store.listContainers(db, scope, { page_num: 1, page_size: 1_000, sort: 'name', service_id: serviceId }), shape),
  }
}

const onlyOn = (edgeId: string): Placement => ({ edge_ids: [edgeId], labels: [], tolerations: [], count: null })
