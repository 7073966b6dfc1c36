import type { ContainerSpec, ContainerStatus } from '@zhisuan/contract/cis/container'
import { platformScope, scopeOf, type Actor } from '../../../platform/auth/actor.ts'
import type { Sql, Tx } from '../../../platform/db/database.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { Docker } from '@zhisuan/engines/docker/types'
import { z } from 'zod'
import type { EdgeReach } from '../../ecrm/edge/edge.reach.ts'
import type { ContainerService } from './container.service.ts'
import type { ContainerOperations } from './container.operations.ts'
import { volumeName } from './container.body.ts'
import { madeOn } from './container.docker.ts'
import { openSpec, sealSpec } from './container.seal.ts'
import { refuseUnlessContainerAllows } from './container.state.ts'
import * as store from './container.store.ts'

/** What is to be made of a machine that is rented. */
export interface RentedMachine {
  readonly id: string
  readonly rental_id: string
  readonly bp_id: string
  readonly created_by: string | null
  readonly created_by_name: string
  readonly edge_id: string
  readonly name: string
  /** Without ports and binds, with limits: it runs on somebody else's node. */
  readonly spec: ContainerSpec & { readonly cpu_limit: number; readonly memory_limit_bytes: number }
  /** By uuid. */
  readonly cards: readonly string[]
}

/** How one is. */
export interface RentedState {
  readonly id: string
  readonly status: ContainerStatus
  readonly node: { readonly online: boolean }
  readonly cards: readonly string[]
  readonly error: string | null
  /** The step of what is being done to it; null while nothing is. */
  readonly step: string | null
}

export type RentedContainers = ReturnType<typeof createRentedContainers>

/**
 * Machines that are rented in the market, as containers: made, started, stopped and removed by the same operations as all
 * others, but begun only by who rents them out. All in the caller's transaction.
 */
export function createRentedContainers(
  platform: Pick<Platform, 'db' | 'secrets' | 'operations'>,
  { operations, reach, reached }: { operations: ContainerOperations; reach: EdgeReach['reach']; reached: ContainerService['reached'] },
) {
  const { db, secrets } = platform

  return {
    async place(tx: Tx, actor: Actor | null, machine: RentedMachine): Promise<void> {
      const { spec, cards, ...row } = machine
      await store.holdPorts(tx, [row.edge_id])
      await store.insertContainer(tx, {
        ...row,
        spec: sealSpec(secrets, row.id, spec),
        image: spec.image,
        ports: '[]',
        status: 'creating',
        cards: [...cards],
        shared_cpu: spec.cpu_limit,
        shared_memory_bytes: spec.memory_limit_bytes,
      })
      await platform.operations.begin(tx, operations.create, { resource_id: row.id, bp_id: row.bp_id, actor, input: {} })
    },

    /** None where it is gone. @param ids containers */
    async states(on: Sql, ids: readonly string[]): Promise<ReadonlyMap<string, RentedState>> {
      const rows = await store.getContainers(on, platformScope, ids)
      const steps = await store.openSteps(on, ids)
      return new Map(
        rows.map((row) => [
          row.id,
          { id: row.id, status: row.shown_status, node: row.edge, cards: row.cards ?? [], error: row.error_text, step: steps.get(row.id) ?? null },
        ]),
      )
    },

    /**
     * Removes from the Docker of a node what is left there of machines that are rows no longer, with their disks.
     * @param of says which of these were machines, and the disk of each where nothing else has it
     */
    async clear(
      edgeId: string,
      of: (ids: readonly string[]) => Promise<readonly { readonly id: string; readonly disk: { readonly name: string; readonly bp_id: string } | null }[]>,
    ): Promise<void> {
      const { docker } = await reach(platformScope, edgeId)
      const made = await madeOn(docker, null)
      const rows = await store.getContainers(
        db,
        platformScope,
        made.map(({ id }) => id),
      )
      const left = made.filter(({ id }) => !rows.some((row) => row.id === id))
      const machines = await of(left.map(({ id }) => id).filter((id) => z.uuid().safeParse(id).success))
      for (const { id, disk } of machines) {
        for (const one of left) if (one.id === id) await docker.containers.remove(one.docker_id, { force: true, volumes: true })
        if (disk !== null) await docker.volumes.remove(volumeName(disk.name, disk.bp_id))
      }
    },

    /** The operation that it began. @throws Refusal 90010, 95003 where it cannot be done now */
    async stop(tx: Tx, actor: Actor | null, id: string): Promise<string | null> {
      const row = await store.lockContainer(tx, platformScope, id)
      if (row === undefined) return null
      refuseUnlessContainerAllows(row, 'stop')
      await store.updateContainer(tx, id, { error_text: null })
      return platform.operations.begin(tx, operations.stop, { resource_id: id, bp_id: row.bp_id, actor, input: { action: 'stop', timeout_seconds: 10 } })
    },

    /** For who enters it otherwise than by its page. @throws Refusal 404, 90010, 95003 */
    async enter(actor: Actor, id: string): Promise<{ docker: Docker; docker_id: string }> {
      const { docker_id, node } = await reached(scopeOf(actor), id, 'terminal')
      return { docker: node.docker, docker_id }
    },

    /** How busy it is: 1 is one processor whole. Null where nobody can tell. */
    async cpu(id: string): Promise<number | null> {
      const row = await store.getContainerRow(db, id)
      if (row === undefined || row.docker_id === null) return null
      try {
        const { docker } = await reach(platformScope, row.edge_id)
        return (await docker.containers.stats(row.docker_id)).cpu
      } catch {
        return null
      }
    },

    /**
     * With these cards: the same ones, and it goes on as it was; others, and it is made anew around its disk.
     * @throws Refusal 90010, 95003
     */
    async start(tx: Tx, actor: Actor | null, id: string, cards: readonly string[]): Promise<void> {
      const row = await store.lockContainer(tx, platformScope, id)
      if (row === undefined) return
      refuseUnlessContainerAllows(row, 'start')
      const same = cards.length === row.cards?.length && cards.every((card) => row.cards?.includes(card))
      const request = { resource_id: id, bp_id: row.bp_id, actor }
      if (same) await platform.operations.begin(tx, operations.start, { ...request, input: { action: 'start' } })
      else
        await platform.operations.begin(tx, operations.rebuild, {
          ...request,
          input: { spec: openSpec(secrets, row), generation: row.generation + 1, was_running: true },
        })
      await store.updateContainer(tx, id, { error_text: null, ...(!same && { status: 'creating', cards: [...cards] }) })
    },

    /** Removes it with its disk; false where that cannot be done yet. */
    async remove(tx: Tx, actor: Actor | null, id: string): Promise<boolean> {
      const row = await store.lockContainer(tx, platformScope, id)
      if (row === undefined) return true
      if (row.shown_status === 'deleting' || (await store.openSteps(tx, [id])).has(id)) return false
      if (!row.edge.online) {
        // Of a node that was sent away nothing comes back.
        if (row.shown_status !== 'lost') return false
        await store.deleteContainer(tx, id)
        return true
      }
      if (row.shown_status === 'unknown' || row.shown_status === 'creating') return false
      await platform.operations.begin(tx, operations.delete, { resource_id: id, bp_id: row.bp_id, actor, input: {} })
      await store.updateContainer(tx, id, { status: 'deleting', error_text: null })
      return false
    },
  }
}
