import { bindRefusal } from '@zhisuan/contract/cis/binds'
import { type Container, type ContainerSpec, type containers, type Deployment, type deployments, type Placement } from '@zhisuan/contract/cis/container'
import type { BodyOf, QueryOf, ResponseOf } from '@zhisuan/contract/define'
import { errors } from '@zhisuan/contract/errors'
import { authoredBy, refuseOwnerless, scopeOf, type Actor, type Scope } from '../../../platform/auth/actor.ts'
import { iso, isoOrNull, type Tx } from '../../../platform/db/database.ts'
import { shapedPage } from '../../../platform/db/page.ts'
import { refusing } from '../../../platform/db/refusing.ts'
import { found, Refusal } from '../../../platform/errors.ts'
import { createHistory } from '../../../platform/history.ts'
import { toRefusal } from '../../../platform/http/problems.ts'
import { idsOf, uuidv7 } from '../../../platform/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { EdgeReach, ReachedEdge } from '../../ecrm/edge/edge.reach.ts'
import type { RefusedByNode } from '../../ecrm/edge/edge.refusals.ts'
import { setUses, shareConfigs } from '../config/config.store.ts'
import { configsOf } from './container.body.ts'
import { publishedPorts, statsOf } from './container.docker.ts'
import type { ContainerOperations } from './container.operations.ts'
import { conflict, type Holder, type Wanted } from './container.ports.ts'
import { sealSpec, openSpec } from './container.seal.ts'
import { refuseUnlessContainerAllows, statusCodeOf } from './container.state.ts'
import * as store from './container.store.ts'
import type { ShownContainer } from './container.store.ts'
import * as deployed from './deployment.store.ts'
import type { ShownDeployment } from './deployment.store.ts'

type Calls = typeof containers
type Node = Awaited<ReturnType<EdgeReach['choose']>>[number]

const nameTaken = (node: string) => ({
  containers_name: (cause: unknown) => new Refusal('containerNameTaken', { field: 'name', values: { node }, cause }),
})

export type ContainerService = ReturnType<typeof createContainers>

/** How long a node may take to say which ports are taken. */
const lookMs = 5_000

export function createContainers(
  platform: Pick<Platform, 'db' | 'operations' | 'secrets'>,
  parts: { edges: Pick<EdgeReach, 'reach' | 'choose'>; refusedByNode: RefusedByNode; operations: ContainerOperations; otherProgram: string },
) {
  const { db, secrets } = platform
  const { edges, refusedByNode, operations } = parts
  const history = createHistory(platform)

  const shape = (row: ShownContainer): Container => ({
    id: row.id,
    name: row.name,
    bp_id: row.bp_id,
    deployment: row.deployment,
    service: row.service_id === null ? null : { id: row.service_id, name: row.service_name ?? '' },
    edge: row.edge,
    container_id: row.docker_id,
    status: row.shown_status,
    status_code: statusCodeOf(row.shown_status),
    health: row.shown_status === 'running' ? row.health : null,
    exit_code: row.exit_code,
    image: row.image,
    ports: row.ports,
    // What was done to it says more than how it ended.
    error: row.error_text ?? (row.out_of_memory && row.shown_status !== 'running' ? errors.containerOutOfMemory.text : null),
    restart_count: row.restart_count,
    started_at: isoOrNull(row.started_at),
    created_by: row.created_by_name,
    created_at: iso(row.created_at),
  })
  const shapeDeployment = (row: ShownDeployment): Deployment => ({
    id: row.id,
    name: row.name,
    description: row.description,
    bp_id: row.bp_id,
    image: row.image,
    spec: openSpec(secrets, row),
    placement: { edge_ids: row.placement.edge_ids, labels: row.placement.labels },
    instance_count: row.instances,
    running_count: row.running,
    status: deploymentStatus(row),
    error: row.error_text,
    created_by: row.created_by_name,
    created_at: iso(row.created_at),
  })

  const get = async (scope: Scope, id: string): Promise<ShownContainer> => found(await store.getContainer(db, scope, id))

  /** What the ports of a node are taken by, as its Docker says; whoever may not see ours learns no name of them. */
  const takenOnDocker = async (node: Pick<Node, 'id' | 'name'>, except: Except): Promise<Holder[]> => {
    const { docker } = await edges.reach({ everything: true }, node.id)
    try {
      return (await publishedPorts(docker, AbortSignal.timeout(lookMs)))
        .filter((one) => !isExcepted(one, except))
        .map(({ ports, id, project, name }) => ({ ports, name: id === null && project === null ? name : parts.otherProgram }))
    } catch (error) {
      throw refusedByNode(error, node)
    }
  }
  const takenByUs = async (on: Parameters<typeof store.portsOn>[0], scope: Scope, node: Pick<Node, 'id'>, except: Except): Promise<Holder[]> =>
    (await store.portsOn(on, [node.id]))
      .filter((one) => !isExcepted(one, except))
      .map(({ bp_id, name, ports }) => ({ ports, name: 'everything' in scope || ('bp_id' in scope && scope.bp_id === bp_id) ? name : parts.otherProgram }))

  const refuseConflict = (node: { name: string }, wanted: readonly Wanted[], holders: readonly Holder[], field: string): void => {
    const taken = conflict(wanted, holders)
    if (taken !== null) throw new Refusal('portTaken', { field, values: { node: node.name, port: taken.port, name: taken.name } })
  }
  const refuseGpus = (node: Node, gpus: number, field: string): void => {
    if (gpus > 0 && (node.facts?.gpus.length ?? 0) < gpus) throw new Refusal('nodeGpusTooFew', { field, values: { node: node.name } })
  }
  const refuseBinds = (actor: Actor, node: { bp_id: string | null }, spec: ContainerSpec): void => {
    for (const [index, mount] of spec.mounts.entries()) {
      const refusal = mount.type === 'bind' ? bindRefusal(actor, node, mount.host_path) : null
      if (refusal !== null) throw new Refusal('bindMountForbidden', { field: `spec.mounts.${index}` })
    }
  }
  /** Each of them has to be the scope's; held until the transaction ends. */
  const holdConfigs = async (tx: Tx, scope: Scope, spec: ContainerSpec): Promise<void> => {
    const wanted = [...new Set(configsOf(spec).map(({ config_id }) => config_id))]
    if ((await shareConfigs(tx, scope, wanted)).length < wanted.length) throw new Refusal('configUnknown', { field: 'spec.mounts' })
  }

  /** All that is in the way of a node, in words. */
  const problemsOf = async (scope: Scope, node: Node, spec: Pick<ContainerSpec, 'ports' | 'gpus'>): Promise<string[]> => {
    const looks = [
      async () => refuseConflict(node, spec.ports, await takenByUs(db, scope, node, nobody), 'spec.ports'),
      async () => refuseConflict(node, spec.ports, await takenOnDocker(node, nobody), 'spec.ports'),
      async () => refuseGpus(node, spec.gpus, 'spec.gpus'),
    ]
    const said = await Promise.all(
      looks.map((look) =>
        look().then(
          () => null,
          (error: unknown) => {
            const refusal = toRefusal(error)
            if (refusal.refusal === 'unknown') throw error
            return refusal.message
          },
        ),
      ),
    )
    return [...new Set(said.filter((text) => text !== null))]
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

  const removeOne = async (tx: Tx, actor: Actor, row: ShownContainer): Promise<void> => {
    refuseOfStack(row)
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
    /**
     * For whoever else publishes ports of nodes, before anything is made. A node that is away is not asked.
     * @param except what has them already: the services of a stack, and what compose calls it
     * @throws Refusal 95103
     */
    async refuseTakenPorts(
      scope: Scope,
      node: { id: string; name: string; online: boolean },
      wanted: readonly Wanted[],
      except: { project: string; services: readonly string[] } | null,
      field: string,
    ): Promise<void> {
      if (wanted.length === 0) return
      refuseConflict(node, wanted, await takenByUs(db, scope, node, except ?? nobody), field)
      if (node.online) refuseConflict(node, wanted, await takenOnDocker(node, except ?? nobody), field)
    },

    /** For what is asked of a container itself: its row, its node, and what Docker calls it. @throws Refusal 404, 90010, 95003 */
    reached,

    list: (actor: Actor, query: QueryOf<Calls['list']>) => shapedPage(store.listContainers(db, scopeOf(actor), query), shape),

    async get(actor: Actor, id: string): Promise<ResponseOf<Calls['get']>> {
      const row = await get(scopeOf(actor), id)
      return { ...shape(row), spec: row.spec === null ? null : openSpec(secrets, row) }
    },

    async check(actor: Actor, { spec, placement }: BodyOf<Calls['check']>): Promise<ResponseOf<Calls['check']>> {
      const scope = scopeOf(actor)
      const nodes = await edges.choose(scope, placement)
      return { nodes: await Promise.all(nodes.map(async (node) => ({ id: node.id, name: node.name, problems: await problemsOf(scope, node, spec) }))) }
    },

    async deploy(actor: Actor, { name, description, spec, placement }: BodyOf<Calls['deploy']>): Promise<ResponseOf<Calls['deploy']>> {
      const scope = scopeOf(actor)
      refuseOwnerless(scope)
      const nodes = await edges.choose(scope, placement)
      for (const node of nodes) {
        refuseBinds(actor, node, spec)
        refuseGpus(node, spec.gpus, 'spec.gpus')
      }
      // Asked before, and not under the lock: what Docker has beside ours does not wait for it anyway.
      await Promise.all(nodes.map(async (node) => refuseConflict(node, spec.ports, await takenOnDocker(node, nobody), 'spec.ports')))
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
            refuseConflict(node, spec.ports, await takenByUs(tx, scope, node, nobody), 'spec.ports')
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

    async action(actor: Actor, id: string, body: BodyOf<Calls['action']>): Promise<Container> {
      const scope = scopeOf(actor)
      const before = await get(scope, id)
      if (body.action === 'update' || body.action === 'rename') refuseOfStack(before)
      if (body.action === 'update') {
        const [node] = await edges.choose({ everything: true }, onlyOn(before.edge_id)).catch((error: unknown) => {
          // That it takes nothing new is no reason not to change what it has.
          if (error instanceof Refusal && error.refusal === 'edgeDeactive') return []
          throw error
        })
        if (node !== undefined) {
          refuseBinds(actor, node, body.spec)
          refuseGpus(node, body.spec.gpus, 'spec.gpus')
          refuseConflict(node, body.spec.ports, await takenOnDocker(node, { id }), 'spec.ports')
        }
      }
      await refusing(nameTaken(before.edge.name), () =>
        db.transaction().execute(async (tx) => {
          if (body.action === 'update') {
            await holdConfigs(tx, scope, body.spec)
            await store.holdPorts(tx, [before.edge_id])
          }
          const row = found(await store.lockContainer(tx, scope, id))
          refuseUnlessContainerAllows(row, body.action)
          if (!row.edge.online) throw new Refusal('edgeOffline', { values: { name: row.edge.name } })
          const request = { resource_id: id, bp_id: row.bp_id, actor }
          if (body.action !== 'update') {
            await platform.operations.begin(tx, operations[body.action], {
              ...request,
              input: body.action === 'restart' ? { ...body, started_at: isoOrNull(row.started_at) } : body,
            })
            await store.updateContainer(tx, id, body.action === 'rename' ? { name: body.name, error_text: null } : { error_text: null })
            return
          }
          const holders = (await store.portsOn(tx, [row.edge_id])).filter((other) => other.id !== id)
          refuseConflict(
            row.edge,
            body.spec.ports,
            holders.map((other) => ({ ports: other.ports, name: other.bp_id === row.bp_id || 'everything' in scope ? other.name : parts.otherProgram })),
            'spec.ports',
          )
          await platform.operations.begin(tx, operations.update, {
            ...request,
            input: {
              spec: body.spec,
              generation: row.generation + 1,
              was_running: row.shown_status === 'running' || row.shown_status === 'restarting' || row.docker_id === null,
            },
          })
          // Its ports are held from now on; those of before it keeps until the operation ends.
          await store.updateContainer(tx, id, { status: 'creating', error_text: null, ports: JSON.stringify([...row.ports, ...body.spec.ports]) })
          await setUses(tx, id, configsOf(body.spec))
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

    listDeployments: (actor: Actor, query: QueryOf<(typeof deployments)['list']>) =>
      shapedPage(deployed.listDeployments(db, scopeOf(actor), query), shapeDeployment),

    /** Of a service of a stack, for who knows that it is the scope's. */
    ofService: (scope: Scope, serviceId: string) =>
      shapedPage(store.listContainers(db, scope, { page_num: 1, page_size: 1_000, sort: 'name', service_id: serviceId }), shape),

    async instances(actor: Actor, id: string, query: QueryOf<(typeof deployments)['instances']>): Promise<ResponseOf<(typeof deployments)['instances']>> {
      const scope = scopeOf(actor)
      found(await deployed.getDeployment(db, scope, id))
      return shapedPage(store.listContainers(db, scope, { ...query, deployment_id: id }), shape)
    },

    /** All of its containers, or none: where one cannot be removed now, it says so. */
    deleteDeployment: (actor: Actor, id: string): Promise<Deployment> =>
      db.transaction().execute(async (tx) => {
        const scope = scopeOf(actor)
        const deployment = found(await deployed.getDeployment(tx, scope, id))
        for (const row of await store.lockContainersOf(tx, scope, id)) if (row.shown_status !== 'deleting') await removeOne(tx, actor, row)
        return { ...shapeDeployment(deployment), status: 'deleting' }
      }),
  }
}

/** Whose ports are no conflict: of what is to have them. */
interface Except {
  readonly id?: string
  readonly project?: string
  readonly services?: readonly string[]
}
const nobody: Except = {}
const isExcepted = (one: { id: string | null; project?: string | null; service_id?: string | null }, except: Except): boolean =>
  (one.id !== null && one.id === except.id) ||
  (typeof one.project === 'string' && one.project === except.project) ||
  (typeof one.service_id === 'string' && except.services?.includes(one.service_id) === true)

const onlyOn = (edgeId: string): Placement => ({ edge_ids: [edgeId], labels: [], tolerations: [], count: null })

function deploymentStatus({ instances, running, creating, deleting, failed }: ShownDeployment): Deployment['status'] {
  if (deleting > 0) return 'deleting'
  if (creating > 0) return 'deploying'
  if (running === instances) return 'running'
  if (failed === instances) return 'error'
  return running > 0 || failed > 0 ? 'degraded' : 'stopped'
}
