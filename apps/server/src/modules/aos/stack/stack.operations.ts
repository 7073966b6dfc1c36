import type { Docker } from '@zhisuan/engines/docker/types'
import { z } from 'zod'
import { platformScope } from '../../../platform/auth/actor.ts'
import type { Sql, Tx } from '../../../platform/db/database.ts'
import { Refusal } from '../../../platform/errors.ts'
import type { OperationDefinition, OperationStep, StepContext } from '../../../platform/operations.ts'
import type { Platform } from '../../../platform/platform.ts'
import { idsOf } from '../../../platform/ids.ts'
import type { ConfigService } from '../../cis/config/config.service.ts'
import type { ServiceContainers } from '../../cis/container/service.containers.ts'
import type { EdgeReach, ReachedEdge } from '../../ecrm/edge/edge.reach.ts'
import type { UsualRefusal } from '../../ecrm/edge/edge.refusals.ts'
import type { WorkOnNode } from '../../ecrm/edge/edge.work.ts'
import type { Composer } from '../compose/compose.apart.ts'
import type { ComposeService } from '../compose/compose.service.ts'
import { fileForNode } from '../compose/compose.node.ts'
import { judged } from '../compose/compose.ts'
import { recordStackConfig } from './config.store.ts'
import { dropEmptyDeployment } from './deployment.store.ts'
import { getRevision } from './revision.store.ts'
import { deleteServices, serviceRowsOf } from './service.store.ts'
import { runCompose } from './stack.compose.ts'
import * as store from './stack.store.ts'
import type { StackRow } from './stack.store.ts'
import { projectLabel, serviceLabel, type StackWatch } from './stack.watch.ts'

const nothing = z.object({})
const applied = z.object({ revision: z.int() })
const action = z.object({
  action: z.enum(['start', 'stop', 'restart']),
  /** Null: the whole stack. */
  service: z.string().nullable(),
  /** Only these of it. */
  services: z.array(z.string()).nullable().default(null),
  /** When its containers were started, as it was known when a restart was asked for. */
  started: z.record(z.string(), z.string().nullable()),
})
type Action = z.output<typeof action>

/** So many containers are acted on at once. */
const atOnce = 8

export type StackOperations = ReturnType<typeof createStackOperations>

interface At {
  readonly row: StackRow
  readonly edge: ReachedEdge
  readonly signal: AbortSignal
}

/**
 * The long work on stacks. Compose compares what is with what is wanted, so each step may be run
 * again; on the node its work goes on when the server is gone, and is followed when it is back.
 */
export function createStackOperations(
  platform: Pick<Platform, 'db' | 'secrets'>,
  parts: {
    edges: Pick<EdgeReach, 'reach'>
    workOnNode: WorkOnNode
    usualRefusal: UsualRefusal
    configs: Pick<ConfigService, 'contents'>
    containers: Pick<ServiceContainers, 'record' | 'releaseShare' | 'pullWithAccount' | 'refuseOthers'>
    watch: Pick<StackWatch, 'look'>
    composer: Pick<Composer, 'prepare'>
  },
) {
  const { db, secrets } = platform
  const { edges, workOnNode, usualRefusal, configs, containers, watch, composer } = parts

  const at = async (context: StepContext<unknown>, act: (at: At) => Promise<void>): Promise<void> => {
    const row = await store.getStackRow(db, context.resource_id)
    if (row === undefined) throw new Refusal('notFound')
    await workOnNode(edges.reach, row.edge_id, context.signal, (edge) => act({ row, edge, signal: context.signal }))
  }
  const step = <Input>(name: string, act: (at: At, context: StepContext<Input>) => Promise<void>): OperationStep<Input> => ({
    name,
    reached: 'unseen',
    run: (context: StepContext<Input>) => at(context, (here) => act(here, context)),
  })
  const look = <Input>() => step<Input>('look', ({ row, edge, signal }) => watch.look(edge.docker, row.id, signal))
  const told = (row: StackRow) => (output: string) => store.updateStack(db, secrets, row.id, { output })

  const preparedOf = async (on: Sql, row: StackRow, revision: number) => {
    const found = await getRevision(on, secrets, row.id, revision)
    if (found === null) throw new Refusal('revisionUnknown')
    const { compose, values, configs: files } = found.content
    // Whoever asked for it was judged then.
    const given = new Map(Object.entries(values))
    return { files, values: given, ...(await composer.prepare(compose, given, judged(files))) }
  }
  /**
   * A revision as its node gets it, and which texts of configs are in it.
   * @param empty for what only goes: its configs may be gone before it
   */
  const orderOf = async (
    row: StackRow,
    revision: number,
    { empty = false, pulled = new Set<string>() }: { empty?: boolean; pulled?: ReadonlySet<string> } = {},
  ) => {
    const { files, values, root, services } = await preparedOf(db, row, revision)
    const contents = await configs.contents(db, platformScope, empty ? [] : files.map(({ config_id }) => config_id))
    const beside = new Map(files.map(({ path, config_id }) => [path, contents.get(config_id)?.content ?? '']))
    return {
      services,
      contents,
      order: {
        file: fileForNode(root, { stack_id: row.id, files: beside, values, pulled }),
        files: [...beside].map(([path, content]) => ({ path, content_base64: Buffer.from(content).toString('base64') })),
      },
    }
  }

  /** What compose would be refused, as it signs in nowhere. A node keeps no account of ours. @returns which images are there now */
  const pullFor = async (
    row: StackRow,
    { docker, row: node }: ReachedEdge,
    services: readonly ComposeService[],
    signal: AbortSignal,
  ): Promise<ReadonlySet<string>> => {
    for (const image of new Set(services.flatMap(({ replicas, pull, image: one }) => (replicas > 0 && pull === 'never' ? [one] : []))))
      await containers.refuseOthers({ docker, node, signal }, image, row.bp_id)
    const wanted = Map.groupBy(
      services.filter(({ replicas, pull }) => replicas > 0 && pull !== 'never'),
      ({ image }) => image,
    )
    const pulled = new Set<string>()
    for (const [image, all] of wanted) {
      const anew = all.some(({ pull }) => pull === 'always')
      if (await containers.pullWithAccount({ docker, node, signal }, image, row.bp_id, anew)) pulled.add(image)
    }
    return pulled
  }

  const apply = (kind: string): OperationDefinition<z.output<typeof applied>> => ({
    kind,
    input: applied,
    steps: [
      step('compose', async ({ row, edge, signal }, { input }) => {
        const pulled = await pullFor(row, edge, (await preparedOf(db, row, input.revision)).services, signal)
        const { order, contents, services } = await orderOf(row, input.revision, { pulled })
        // As many as their rows say, which may have been scaled since; those that are no more of the file go by themselves.
        const rows = (await serviceRowsOf(db, row.id)).filter(({ name }) => services.some((service) => service.name === name))
        const scale = Object.fromEntries(rows.map(({ name, replicas }) => [name, replicas]))
        await runCompose(edge, { project: row.project, action: 'up', ...order, scale }, { signal, say: told(row), usualRefusal })
        for (const [config_id, { revision }] of contents) await recordStackConfig(db, { stack_id: row.id, config_id, revision })
      }),
      look(),
    ],
    ended: async (tx, { resource_id, input }, refusal) => {
      const row = await store.getStackRow(tx, resource_id)
      if (row === undefined) return
      if (refusal !== null) return store.updateStack(tx, secrets, row.id, { status: 'error', error_text: refusal.message })
      await store.updateStack(tx, secrets, row.id, { status: 'settled', error_text: null, deployed_revision: input.revision })
      const { services } = await preparedOf(tx, row, input.revision)
      await forget(tx, row, (name) => !services.some((service) => service.name === name))
    },
  })

  /** Services that are no more, with what was known of their containers. */
  const forget = async (tx: Tx, row: StackRow, gone: (name: string) => boolean): Promise<void> => {
    const services = (await serviceRowsOf(tx, row.id)).filter(({ name }) => gone(name))
    for (const service of services)
      await containers.record(tx, { ...service, edge_id: row.edge_id, bp_id: row.bp_id, created_by: row.created_by, created_by_name: row.created_by_name }, [])
    await deleteServices(tx, idsOf(services))
  }

  const act = (kind: string): OperationDefinition<Action> => ({
    kind,
    input: action,
    steps: [
      step('act', async ({ row, edge: { docker }, signal }, { input }) => {
        const all = await docker.containers.list({
          all: true,
          labels: [`${projectLabel}=${row.project}`, ...(input.service === null ? [] : [`${serviceLabel}=${input.service}`])],
          signal,
        })
        const meant = all.filter(({ labels }) => input.services === null || input.services.includes(labels[serviceLabel] ?? ''))
        await inParts(meant, async ({ id, state }) => {
          if (input.action === 'start' && state !== 'running') await docker.containers.start(id, { signal })
          if (input.action === 'stop' && (state === 'running' || state === 'restarting' || state === 'paused')) await docker.containers.stop(id, { signal })
          if (input.action !== 'restart') return
          const { startedAt } = await docker.containers.inspect(id, { signal })
          // Started since it was asked for: it was restarted before the server was killed.
          if (state !== 'running' || !(id in input.started) || (startedAt?.toISOString() ?? null) === input.started[id])
            await docker.containers.restart(id, { signal })
        })
      }),
      look(),
    ],
    ended: (tx, { resource_id }, refusal) => store.updateStack(tx, secrets, resource_id, { status: 'settled', error_text: refusal?.message ?? null }),
  })

  /** Containers with what they wrote where nobody named a volume for it. */
  const removeContainers = async (docker: Docker, project: string, signal: AbortSignal): Promise<void> => {
    const all = await docker.containers.list({ all: true, labels: [`${projectLabel}=${project}`], signal })
    await inParts(all, async ({ id, state }) => {
      if (state === 'running') await docker.containers.stop(id, { signal })
      await docker.containers.remove(id, { force: true, volumes: true, signal })
    })
  }

  const removal: OperationDefinition<object> = {
    kind: 'aos.stack.delete',
    input: nothing,
    steps: [
      step('down', async ({ row, edge, signal }) => {
        const { docker } = edge
        const down = (order: object) => runCompose(edge, { project: row.project, action: 'down', ...order }, { signal, say: told(row), usualRefusal })
        await removeContainers(docker, row.project, signal)
        // By the file that is there, of which it is what it is; and by ours, for a node that lost it.
        await down({})
        if (row.deployed_revision !== null) {
          // One of before that is no longer let pass is no reason for it to stay.
          const ours = await orderOf(row, row.deployed_revision, { empty: true }).catch((error: unknown) => {
            if (error instanceof Refusal && error.refusal === 'composeInvalid') return null
            throw error
          })
          if (ours !== null) await down(ours.order)
        }
        await removeContainers(docker, row.project, signal)
        for (const { name } of await docker.volumes.list({ labels: [`${projectLabel}=${row.project}`], signal })) await docker.volumes.remove(name, { signal })
      }),
    ],
    ended: async (tx, { resource_id }, refusal) => {
      const row = await store.getStackRow(tx, resource_id)
      if (row === undefined) return
      if (refusal !== null) return store.updateStack(tx, secrets, row.id, { status: 'error', error_text: refusal.message })
      await dropStack(tx, row)
    },
  }

  /** What is known of a stack goes; what is on its node stays. */
  const dropStack = async (tx: Tx, row: StackRow): Promise<void> => {
    await forget(tx, row, () => true)
    await containers.releaseShare(tx, row.id)
    await store.deleteStack(tx, row.id)
    await dropEmptyDeployment(tx, row.deployment_id)
  }

  return {
    create: apply('aos.stack.create'),
    update: apply('aos.stack.update'),
    rollback: apply('aos.stack.rollback'),
    scale: apply('aos.stack.scale'),
    start: act('aos.stack.start'),
    stop: act('aos.stack.stop'),
    restart: act('aos.stack.restart'),
    delete: removal,
    dropStack,
  }
}

async function inParts<T>(all: readonly T[], act: (one: T) => Promise<void>): Promise<void> {
  for (let first = 0; first < all.length; first += atOnce) await Promise.all(all.slice(first, first + atOnce).map(act))
}
