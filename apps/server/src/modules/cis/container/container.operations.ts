import { containerSpec, type ContainerSpec } from '@zhisuan/contract/cis/container'
import type { Docker } from '@zhisuan/engines/docker/types'
import { isEngineError } from '@zhisuan/engines/errors'
import { z } from 'zod'
import { platformScope } from '../../../platform/auth/actor.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { Refusal } from '../../../platform/errors.ts'
import type { OperationDefinition, OperationStep, StepContext } from '../../../platform/operations.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { EdgeReach, ReachedEdge } from '../../ecrm/edge/edge.reach.ts'
import type { WorkOnNode } from '../../ecrm/edge/edge.work.ts'
import type { Pulling } from './container.pull.ts'
import { putFiles } from '../config/config.files.ts'
import { setUses } from '../config/config.store.ts'
import { bodyOf, configsOf, dockerName, sharedName, volumeName } from './container.body.ts'
import { anonymousVolumes, madeOn, observe } from './container.docker.ts'
import { openSpec, sealSpec } from './container.seal.ts'
import * as store from './container.store.ts'
import type { ContainerRow } from './container.store.ts'
import { dropEmptyDeployment } from './deployment.store.ts'

const nothing = z.object({})
const action = z.discriminatedUnion('action', [
  z.object({ action: z.literal('start') }),
  z.object({ action: z.literal('stop'), timeout_seconds: z.int() }),
  z.object({ action: z.literal('restart'), timeout_seconds: z.int(), started_at: z.string().nullable() }),
  z.object({ action: z.literal('kill'), signal: z.string() }),
  z.object({ action: z.literal('rename'), name: z.string() }),
])
const renewal = z.object({ spec: containerSpec, generation: z.int(), was_running: z.boolean() })

export type ContainerOperations = ReturnType<typeof createContainerOperations>

interface At {
  readonly row: ContainerRow
  readonly docker: Docker
  readonly node: ReachedEdge['row']
  readonly signal: AbortSignal
}

/**
 * The long work on containers. On Docker a container is known by labels that name our row and its
 * generation: a step that is run again finds what it made, and makes nothing twice.
 */
export function createContainerOperations(
  platform: Pick<Platform, 'db' | 'secrets'>,
  parts: { edges: Pick<EdgeReach, 'reach'>; workOnNode: WorkOnNode; pulling: Pulling },
) {
  const { db, secrets } = platform
  const { edges, workOnNode } = parts

  const at = async (context: StepContext<unknown>, act: (at: At) => Promise<void>, image?: string): Promise<void> => {
    const row = await store.getContainerRow(db, context.resource_id)
    if (row === undefined) throw new Refusal('containerGone')
    await workOnNode(
      edges.reach,
      row.edge_id,
      context.signal,
      ({ docker, row: node }) => act({ row, docker, node, signal: context.signal }),
      image ?? row.image,
    )
  }
  const step = <Input>(name: string, act: (at: At, context: StepContext<Input>) => Promise<void>): OperationStep<Input> => ({
    name,
    reached: 'unseen',
    run: (context: StepContext<Input>) => at(context, (here) => act(here, context)),
  })

  const pull = (here: At, image: string): Promise<void> => parts.pulling.pullMissing(here, image, here.row.bp_id)

  /** Made where it is not there, with its files in it; not started. */
  const make = async ({ row, docker, signal }: At, spec: ContainerSpec, generation: number): Promise<string> => {
    const made = await madeOn(docker, row.id, signal)
    const create = async (): Promise<string> => {
      const tenant = row.shared_cpu === null ? null : row.bp_id
      if (tenant !== null) await docker.networks.create(sharedName(tenant), { signal })
      const body = bodyOf(spec, { id: row.id, generation, tenant, cards: row.cards })
      // What the old one wrote where its image asks for a volume, such as a database, goes on in the new one.
      const kept = (await Promise.all(made.map(({ docker_id }) => anonymousVolumes(docker, docker_id, signal))))
        .flat()
        .filter(({ path }) => !spec.mounts.some((mount) => mount.path === path))
      const mounts = [...(body.mounts ?? []), ...kept.map(({ name, path }) => ({ type: 'volume' as const, source: name, path }))]
      return (await docker.containers.create(dockerName(row.name, row.id, generation), { ...body, mounts }, { signal })).id
    }
    const docker_id = made.find((one) => one.generation === generation)?.docker_id ?? (await create())
    await putFiles({ db, secrets, docker, signal }, { id: row.id, docker_id })
    return docker_id
  }
  const record = async ({ row, docker, signal }: At, docker_id: string): Promise<void> => {
    const seen = await observe(docker, docker_id, signal)
    await store.updateContainer(db, row.id, seen ?? { status: 'lost' })
  }
  const remove = async ({ docker, signal }: Pick<At, 'docker' | 'signal'>, docker_id: string): Promise<void> => {
    await docker.containers.remove(docker_id, { force: true, volumes: true, signal })
  }
  const newest = async ({ row, docker, signal }: At): Promise<string> => {
    // One of a service is this one: what compose makes anew has a row of its own.
    if (row.service_id !== null && row.docker_id !== null) return row.docker_id
    const made = (await madeOn(docker, row.id, signal)).toSorted((one, other) => other.generation - one.generation)[0]
    if (made === undefined) throw new Refusal('containerGone')
    return made.docker_id
  }

  const create: OperationDefinition<object> = {
    kind: 'cis.container.create',
    input: nothing,
    steps: [
      step('pull', (here) => pull(here, here.row.image)),
      step('make', async (here) => {
        await make(here, openSpec(secrets, here.row), here.row.generation)
      }),
      step('start', async (here) => {
        const docker_id = await newest(here)
        await here.docker.containers.start(docker_id, { signal: here.signal })
        await record(here, docker_id)
      }),
    ],
    undo: (context) =>
      at(context, async (here) => {
        for (const { docker_id } of await madeOn(here.docker, here.row.id, here.signal)) await remove(here, docker_id)
      }),
    ended: async (tx, { resource_id }, refusal) => {
      await store.updateContainer(tx, resource_id, refusal === null ? { error_text: null } : { status: 'error', docker_id: null, error_text: refusal.message })
    },
  }

  /** A look without patience, at what nobody answered: whether the container is as it was to be, which is then recorded. */
  const cameTrue = async ({ resource_id, input, signal }: StepContext<z.output<typeof action>>): Promise<boolean> => {
    const row = await store.getContainerRow(db, resource_id)
    if (row === undefined) return false
    const { docker, row: node } = await edges.reach(platformScope, row.edge_id)
    const here = { row, docker, node, signal }
    const docker_id = await newest(here)
    const now = await observe(docker, docker_id, signal)
    if (now === null) return false
    const ended = now.status === 'exited' || now.status === 'dead'
    const so =
      input.action === 'start'
        ? now.status === 'running'
        : input.action === 'restart'
          ? now.status === 'running' && (now.started_at?.toISOString() ?? null) !== input.started_at
          : input.action !== 'rename' && ended
    if (so) await record(here, docker_id)
    return so
  }

  /** The same work, by the name of what is done: so that the history tells which it was. */
  const act = (name: z.output<typeof action>['action']): OperationDefinition<z.output<typeof action>> => ({
    kind: `cis.container.${name}`,
    input: action,
    steps: [
      {
        ...step<z.output<typeof action>>('act', async (here, { input }) => {
          const { docker, signal, row } = here
          const docker_id = await newest(here)
          if (input.action === 'start') await docker.containers.start(docker_id, { signal })
          else if (input.action === 'stop') await docker.containers.stop(docker_id, { graceSeconds: input.timeout_seconds, signal })
          else if (input.action === 'restart') {
            // Started since it was asked for: it was restarted before the server was killed.
            const now = await observe(docker, docker_id, signal)
            if (now?.status !== 'running' || (now.started_at?.toISOString() ?? null) === input.started_at)
              await docker.containers.restart(docker_id, { graceSeconds: input.timeout_seconds, signal })
          } else if (input.action === 'kill') {
            await docker.containers.kill(docker_id, { with: input.signal, signal }).catch((error: unknown) => {
              // It has ended already.
              if (!isEngineError(error, 'conflict')) throw error
            })
          } else {
            const name = dockerName(input.name, row.id, row.generation)
            const made = (await madeOn(docker, row.id, signal)).find((one) => one.docker_id === docker_id)
            if (made?.name !== name) await docker.containers.rename(docker_id, name, { signal })
          }
          await record(here, docker_id)
        }),
        reached: cameTrue,
      },
    ],
    ended: async (tx, { resource_id }, refusal) => {
      await store.updateContainer(tx, resource_id, { error_text: refusal?.message ?? null })
    },
  })

  const renewed = (id: string, { spec, generation }: z.output<typeof renewal>) => ({
    spec: sealSpec(secrets, id, spec),
    image: spec.image,
    ports: JSON.stringify(spec.ports),
    generation,
  })

  const renew = (name: 'update' | 'rebuild'): OperationDefinition<z.output<typeof renewal>> => ({
    kind: `cis.container.${name}`,
    input: renewal,
    steps: [
      { name: 'pull', reached: 'unseen', run: (context) => at(context, (here) => pull(here, context.input.spec.image), context.input.spec.image) },
      {
        name: 'make',
        reached: 'unseen',
        run: (context) =>
          at(
            context,
            async (here) => {
              await make(here, context.input.spec, context.input.generation)
            },
            context.input.spec.image,
          ),
      },
      // The old one gives its ports away, and stays until the new one runs.
      step('switch', async (here, { input }) => {
        const made = await madeOn(here.docker, here.row.id, here.signal)
        for (const { docker_id, generation } of made) if (generation !== input.generation) await here.docker.containers.stop(docker_id, { signal: here.signal })
        const docker_id = made.find(({ generation }) => generation === input.generation)?.docker_id
        if (docker_id === undefined) throw new Refusal('containerGone')
        if (input.was_running) await here.docker.containers.start(docker_id, { signal: here.signal })
      }),
      step('retire', async (here, { input }) => {
        const made = await madeOn(here.docker, here.row.id, here.signal)
        for (const { docker_id, generation } of made) if (generation !== input.generation) await remove(here, docker_id)
        // Last: whoever sees that it runs sees only one.
        for (const { docker_id, generation } of made) if (generation === input.generation) await record(here, docker_id)
      }),
    ],
    // Of an input that cannot be read, the row's generation tells which is the old one.
    undo: (context) =>
      at(context, async (here) => {
        const made = await madeOn(here.docker, here.row.id, here.signal)
        const old = made.find(({ generation }) => generation === here.row.generation)
        const now = context.input as z.output<typeof renewal> | undefined
        // The old one had gone already: what took its place stays.
        if (old === undefined && now !== undefined && here.row.docker_id !== null && made.some(({ generation }) => generation === now.generation)) {
          await store.updateContainer(db, here.row.id, renewed(here.row.id, now))
          return
        }
        for (const { docker_id, generation } of made) if (generation !== here.row.generation) await remove(here, docker_id)
        if (old === undefined) {
          if (here.row.docker_id !== null) await store.updateContainer(db, here.row.id, { status: 'lost' })
          return
        }
        // The cards of one that is rented may be somebody else's by now.
        if (here.row.rental_id === null && here.row.docker_id !== null && now?.was_running !== false)
          await here.docker.containers.start(old.docker_id, { signal: here.signal })
        await record(here, old.docker_id)
      }),
    ended: async (tx, { resource_id, input }, refusal) => {
      const row = await tx.selectFrom('containers').selectAll().where('id', '=', resource_id).executeTakeFirst()
      if (row === undefined) return
      if (refusal === null) {
        await store.updateContainer(tx, row.id, { error_text: null, ...renewed(row.id, input) })
        return
      }
      // As it was before. Where the node was away so that nothing could be seen, its return tells.
      const spec = openSpec(secrets, row)
      await setUses(tx, row.id, configsOf(spec))
      await store.updateContainer(tx, row.id, {
        ...(row.status === 'creating' && { status: row.docker_id === null ? 'error' : 'exited' }),
        error_text: refusal.message,
        ports: JSON.stringify(spec.ports),
      })
    },
  })

  const removal: OperationDefinition<object> = {
    kind: 'cis.container.delete',
    input: nothing,
    steps: [
      step('remove', async (here) => {
        for (const { docker_id } of await madeOn(here.docker, here.row.id, here.signal)) {
          const left = await anonymousVolumes(here.docker, docker_id, here.signal)
          await remove(here, docker_id)
          // Those that went on from a former generation are no longer Docker's to remove.
          for (const { name } of left) await here.docker.volumes.remove(name, { signal: here.signal })
        }
        // What is rented goes with its disk.
        if (here.row.rental_id !== null && here.row.spec !== null)
          for (const mount of openSpec(secrets, here.row).mounts)
            if (mount.type === 'volume') await here.docker.volumes.remove(volumeName(mount.name, here.row.bp_id), { signal: here.signal })
      }),
    ],
    ended: async (tx: Tx, { resource_id }, refusal) => {
      const row = await tx.selectFrom('containers').selectAll().where('id', '=', resource_id).executeTakeFirst()
      if (row === undefined) return
      if (refusal !== null) {
        await store.updateContainer(tx, row.id, { status: row.docker_id === null ? 'error' : 'dead', error_text: refusal.message })
        return
      }
      await store.deleteContainer(tx, row.id)
      await dropEmptyDeployment(tx, row.deployment_id)
    },
  }

  return {
    create,
    start: act('start'),
    stop: act('stop'),
    restart: act('restart'),
    kill: act('kill'),
    rename: act('rename'),
    update: renew('update'),
    rebuild: renew('rebuild'),
    delete: removal,
  }
}
