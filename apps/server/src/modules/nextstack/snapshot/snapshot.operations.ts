import type { ComputeEngine } from '@zhisuan/engines/compute'
import { isEngineError } from '@zhisuan/engines/errors'
import { z } from 'zod'
import { platformScope, type Actor } from '../../../platform/auth/actor.ts'
import type { Db, Tx } from '../../../platform/db/database.ts'
import { Refusal } from '../../../platform/errors.ts'
import type { OperationDefinition, Operations, StepContext } from '../../../platform/operations.ts'
import type { CloudService } from '../../cmp/cloud/cloud.service.ts'
import { createVmSteps, errorOf, isCancelled } from '../vm/vm.steps.ts'
import * as vms from '../vm/vm.store.ts'
import type { VmRow } from '../vm/vm.store.ts'
import * as schedules from './schedule.store.ts'
import * as store from './snapshot.store.ts'
import type { SnapshotRow } from './snapshot.store.ts'

const nothing = z.object({})

export type SnapshotOperations = ReturnType<typeof createSnapshotOperations>

/**
 * The long work on snapshots. Making one and setting back to one are operations of the instance:
 * nothing else is done to it meanwhile, and which snapshot it is is told by the one that is being
 * made or set back to. Deleting is an operation of the snapshot, so that many go at once.
 */
export function createSnapshotOperations(parts: { db: Db; clouds: Pick<CloudService, 'engine'>; operations: Pick<Operations, 'begin'> }) {
  const { db } = parts
  const { open, step, cancellableStep, observe, observeAfterFailure } = createVmSteps(parts)

  /** The snapshot that the instance's operation is about. */
  const inWork = async (vm: VmRow): Promise<SnapshotRow> => {
    const snapshot = await store.snapshotInWork(db, vm.id)
    if (snapshot === undefined) throw new Refusal('notFound')
    return snapshot
  }
  const measure = async (engine: ComputeEngine, vm: VmRow, { signal }: StepContext<object>): Promise<void> => {
    const snapshot = await inWork(vm)
    const made = (await engine.instances.snapshots.list(vm.engine_name, { signal })).find(({ name }) => name === snapshot.engine_name)
    await store.updateSnapshot(db, snapshot.id, { size_bytes: made?.sizeBytes ?? null })
  }

  const create: OperationDefinition<object> = {
    kind: 'nextstack.snapshot.create',
    resource_type: 'nextstack.vm',
    input: nothing,
    steps: [
      cancellableStep('create', 'partly', async (engine, vm, { signal }) =>
        engine.instances.snapshots.create(vm.engine_name, (await inWork(vm)).engine_name, { signal }),
      ),
      step('measure', 'ours', measure),
    ],
    undo: async (context) => {
      const { vm, engine } = await open(context)
      await engine.instances.snapshots.delete(vm.engine_name, (await inWork(vm)).engine_name, { signal: context.signal })
    },
    ended: async (tx, { resource_id }, refusal) => {
      // The instance before its snapshots, as everybody locks them.
      await vms.updateVm(tx, resource_id, {})
      const snapshot = await store.snapshotInWork(tx, resource_id)
      if (snapshot === undefined) return
      const { schedule_id } = snapshot
      if (refusal === null) await store.updateSnapshot(tx, snapshot.id, { status: 'available', error_text: null })
      // What the clock began tells of its failure once, and leaves no heap of them; what was cancelled was taken back.
      else if (schedule_id !== null || isCancelled(refusal)) await store.deleteSnapshot(tx, snapshot.id)
      else await store.updateSnapshot(tx, snapshot.id, { status: 'error', error_text: refusal.message })
      if (schedule_id !== null) await scheduled(tx, schedule_id, refusal)
    },
  }

  /** What a schedule's run came to; of what it made before, the oldest go. */
  const scheduled = async (tx: Tx, id: string, refusal: Refusal | null): Promise<void> => {
    const schedule = await schedules.lockSchedule(tx, platformScope, id)
    if (schedule === undefined) return
    await schedules.updateSchedule(tx, id, { last_error: errorOf(refusal) })
    if (refusal !== null) return
    for (const snapshot of await store.beyondKept(tx, id, schedule.keep)) {
      // Deleted the next time.
      if (!(await store.isCopied(tx, { id: snapshot.id }))) await beginDelete(tx, snapshot, null)
    }
  }

  const restore: OperationDefinition<object> = {
    kind: 'nextstack.snapshot.restore',
    resource_type: 'nextstack.vm',
    input: nothing,
    steps: [
      step('restore', 'unseen', async (engine, vm, { signal }) =>
        engine.instances.snapshots.restore(vm.engine_name, (await inWork(vm)).engine_name, { signal }),
      ),
      step('observe', 'ours', observe),
    ],
    look: observeAfterFailure,
    ended: async (tx, { resource_id }, refusal) => {
      const vm = await vms.lockVm(tx, platformScope, resource_id)
      if (vm === undefined) return
      await vms.updateVm(tx, vm.id, { status: vm.observed ?? 'error', error_text: errorOf(refusal) })
      const snapshot = await store.snapshotInWork(tx, vm.id)
      if (snapshot !== undefined) await store.updateSnapshot(tx, snapshot.id, { status: 'available', error_text: errorOf(refusal) })
    },
  }

  /** Null where it went with its instance. */
  const placeOf = async (id: string): Promise<{ engine: ComputeEngine; instance: string; snapshot: string } | null> => {
    const snapshot = await store.getSnapshot(db, platformScope, id)
    const vm = snapshot && (await vms.getVm(db, platformScope, snapshot.vm_id))
    if (snapshot === undefined || vm === undefined) return null
    return { engine: await parts.clouds.engine(vm.cloud_id), instance: vm.engine_name, snapshot: snapshot.engine_name }
  }

  const remove: OperationDefinition<object> = {
    kind: 'nextstack.snapshot.delete',
    input: nothing,
    steps: [
      {
        name: 'delete',
        reached: async ({ resource_id, signal }) => {
          const there = await placeOf(resource_id)
          if (there === null) return true
          return (await there.engine.instances.snapshots.list(there.instance, { signal })).every(({ name }) => name !== there.snapshot)
        },
        run: async ({ resource_id, signal }) => {
          const there = await placeOf(resource_id)
          if (there === null) return
          try {
            await there.engine.instances.snapshots.delete(there.instance, there.snapshot, { signal })
          } catch (error) {
            if (!isEngineError(error, 'not_found')) throw error
          }
        },
      },
    ],
    ended: async (tx, { resource_id }, refusal) => {
      if (refusal === null) await store.deleteSnapshot(tx, resource_id)
      else await store.updateSnapshot(tx, resource_id, { status: 'error', error_text: refusal.message })
    },
  }

  /** Records that a snapshot goes, and begins it. The instance is held, and so is the snapshot. */
  const beginDelete = async (tx: Tx, snapshot: SnapshotRow, actor: Pick<Actor, 'user_id' | 'name'> | null): Promise<void> => {
    await parts.operations.begin(tx, remove, {
      resource_id: snapshot.id,
      of: { id: snapshot.vm_id, part: snapshot.name },
      bp_id: snapshot.bp_id,
      actor,
      input: {},
    })
    await store.updateSnapshot(tx, snapshot.id, { status: 'deleting', error_text: null })
  }

  return { create, restore, delete: remove, beginDelete }
}
