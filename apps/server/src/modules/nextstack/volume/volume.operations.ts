import type { ComputeEngine } from '@zhisuan/engines/compute'
import { isEngineError } from '@zhisuan/engines/errors'
import type { Volume as EngineVolume, VolumeName } from '@zhisuan/engines/storage'
import { z } from 'zod'
import { platformScope } from '../../../platform/auth/actor.ts'
import type { Db, Tx } from '../../../platform/db/database.ts'
import { Refusal } from '../../../platform/errors.ts'
import type { AnyOperation, OperationDefinition, OperationStep, Reached, StepContext } from '../../../platform/operations.ts'
import type { CloudService } from '../../cmp/cloud/cloud.service.ts'
import { hostFor } from '../host/host.store.ts'
import { refusedAs } from '../refusedAs.ts'
import type { BackupFiles } from './volume-backup.files.ts'
import { getBackupRow } from './volume-backup.store.ts'
import { deleteSnapshotsOf, getSnapshotSource } from './volume-snapshot.store.ts'
import { deviceOf, factsOf, isOurs, tagsOf } from './volume.facts.ts'
import * as store from './volume.store.ts'
import type { VolumeRow } from './volume.store.ts'

const nothing = z.object({})
const place = z.object({ vm_id: z.uuid(), path: z.string().nullable() })
const createInput = z.object({ attach: place.nullable() })
const force = z.object({ force: z.boolean() })
const size = z.object({ size_bytes: z.int() })
const snapshot = z.object({ snapshot: z.string() })

export type VolumeOperations = ReturnType<typeof createVolumeOperations>

/** A volume with what it lives on, for a step. */
export interface VolumeWork {
  volume: VolumeRow
  engine: ComputeEngine
  /** On the engine. */
  name: VolumeName
}

/** The long work on volumes. Engines are called here and nowhere else in this folder but for reading. */
export function createVolumeOperations(parts: { db: Db; clouds: Pick<CloudService, 'engine'>; files: BackupFiles }) {
  const { db, clouds, files } = parts

  const open = async (context: StepContext<unknown>): Promise<VolumeWork> => {
    const volume = await store.getVolume(db, platformScope, context.resource_id)
    // Its cloud was removed by force while the operation waited.
    if (volume === undefined) throw new Refusal('volumeGone')
    return { volume, engine: await clouds.engine(volume.cloud_id), name: { pool: volume.pool, volume: volume.engine_name } }
  }
  const step = <Input>(
    name: string,
    reached: Exclude<Reached<Input>, Function> | ((now: EngineVolume | null, context: StepContext<Input>, work: VolumeWork) => boolean),
    act: (work: VolumeWork, context: StepContext<Input>) => Promise<void>,
  ): OperationStep<Input> => ({
    name,
    reached:
      typeof reached === 'string'
        ? reached
        : async (context) => {
            const work = await open(context)
            return reached(await work.engine.storage.volumes.get(work.name, { signal: context.signal }), context, work)
          },
    run: async (context: StepContext<Input>) => act(await open(context), context),
  })

  /** Writes down what the engine has now, for whoever decides the status next. */
  const observe = async ({ volume, engine, name }: VolumeWork, signal: AbortSignal): Promise<void> => {
    const there = await engine.storage.volumes.get(name, { signal })
    const vms = await store.vmsByEngineName(db, volume.cloud_id, there?.attached.map(({ instance }) => instance) ?? [])
    await store.updateVolume(db, volume.id, factsOf(volume, there, vms))
  }
  const observing = <Input>(): OperationStep<Input> => step('observe', 'ours', (work, { signal }) => observe(work, signal))
  /** Once: where the engine does not answer, what was last known stands until it does. */
  const observeAfterFailure = async (context: StepContext<unknown>): Promise<void> => {
    try {
      await observe(await open(context), context.signal)
    } catch (error) {
      if (context.signal.aborted || !isEngineError(error)) throw error
      context.log.warn({ err: error }, 'the engine does not say how the volume is')
    }
  }
  /** Ends as the engine was last seen to have it. */
  const settle = async (tx: Tx, id: string, refusal: Refusal | null): Promise<void> => {
    const volume = await store.lockVolume(tx, platformScope, id)
    if (volume === undefined) return
    await store.updateVolume(tx, id, {
      status: volume.observed ?? 'error',
      ...(volume.observed !== 'in_use' && { vm_id: null, path: null }),
      growing_to: null,
      error_text: refusal?.message ?? null,
    })
  }
  const settles: OperationDefinition<unknown>['ended'] = (tx, { resource_id }, refusal) => settle(tx, resource_id, refusal)

  /** Makes it as it was asked for; one that is there is left as it is. */
  const make = async ({ volume, engine, name }: VolumeWork, signal: AbortSignal): Promise<void> => {
    const { volumes } = engine.storage
    // In a cluster, where the instance is that it is for.
    const vm = volume.vm_id === null ? undefined : await store.getVmOf(db, platformScope, volume.vm_id)
    const host = vm && (await hostFor(db, vm))
    const spec = { ...name, description: volume.name, tags: tagsOf(volume.id), ...(host !== undefined && { host }) }
    if (volume.source_backup_id !== null) {
      const backup = await getBackupRow(db, volume.source_backup_id)
      if (backup?.sha256 === null || backup === undefined) throw new Refusal('backupUnreadable')
      await refusedAs({ invalid: 'backupUnreadable', exhausted: 'poolExhausted' }, async () =>
        volumes.import(spec, files.read(backup.id, backup.sha256 ?? ''), { signal }),
      )
      // The backup says how large it was.
      await refusedAs({ exhausted: 'poolExhausted' }, () => volumes.grow(name, volume.size_bytes, { signal }))
      return
    }
    const source = volume.source_snapshot_id === null ? undefined : await getSnapshotSource(db, volume.source_snapshot_id)
    if (source === undefined && volume.source_snapshot_id !== null) throw new Refusal('notFound')
    const whole = {
      ...spec,
      content: volume.content,
      sizeBytes: volume.size_bytes,
      ...(source !== undefined && { copyOf: { volume: source.volume, snapshot: source.snapshot } }),
    }
    await refusedAs({ exhausted: 'poolExhausted', invalid: 'volumeRefused' }, () => volumes.create(whole, { signal }))
  }

  const attachTo = async ({ volume, engine, name }: VolumeWork, to: z.output<typeof place>, signal: AbortSignal): Promise<void> => {
    const vm = await store.getVmOf(db, platformScope, to.vm_id)
    if (vm === undefined) throw new Refusal('vmGone')
    const at = { instance: vm.engine_name, device: deviceOf(volume.id), path: to.path }
    await refusedAs({ conflict: 'volumePathTaken', invalid: 'volumeAttachRefused' }, () => engine.storage.volumes.attach(name, at, { signal }))
  }

  const isAttached = (now: EngineVolume | null, _: unknown, { volume }: VolumeWork): boolean =>
    now?.attached.some(({ device }) => device === deviceOf(volume.id)) ?? false

  const create: OperationDefinition<z.output<typeof createInput>> = {
    kind: 'nextstack.volume.create',
    input: createInput,
    steps: [
      step('create', 'partly', async (work, { signal }) => {
        await make(work, signal)
        // From here on it is there, whatever comes of attaching it.
        await store.updateVolume(db, work.volume.id, { observed: 'available' })
      }),
      step('attach', 'partly', async (work, { input, signal }) => {
        if (input.attach !== null) await attachTo(work, input.attach, signal)
      }),
      observing(),
    ],
    undo: async (context) => {
      const { volume, engine, name } = await open(context)
      if (volume.observed !== null) return observeAfterFailure(context)
      const made = await engine.storage.volumes.get(name, { signal: context.signal })
      // Where the name is somebody else's, nothing of ours is there. Where it is nobody's, the engine may be about to make it.
      if (made === null || isOurs(made, volume.id)) await engine.storage.volumes.delete(name, { signal: context.signal })
    },
    ended: settles,
  }

  const attach: OperationDefinition<object> = {
    kind: 'nextstack.volume.attach',
    input: nothing,
    steps: [
      step('attach', isAttached, async (work, { signal }) => {
        const { vm_id, path } = work.volume
        if (vm_id === null) throw new Refusal('vmGone')
        await attachTo(work, { vm_id, path }, signal)
      }),
      observing(),
    ],
    look: observeAfterFailure,
    ended: settles,
  }

  const detach: OperationDefinition<z.output<typeof force>> = {
    kind: 'nextstack.volume.detach',
    input: force,
    steps: [
      step(
        'detach',
        (now) => now?.attached.length === 0,
        async ({ engine, name }, { input, signal }) => {
          const { volumes } = engine.storage
          // Wherever it is: somebody may have attached it by hand, too.
          for (const { instance, device } of (await volumes.get(name, { signal }))?.attached ?? []) {
            await refusedAs({ busy: 'volumeBusy' }, () => volumes.detach(name, { instance, device, force: input.force }, { signal }))
          }
        },
      ),
      observing(),
    ],
    look: observeAfterFailure,
    ended: settles,
  }

  const grow: OperationDefinition<z.output<typeof size>> = {
    kind: 'nextstack.volume.grow',
    input: size,
    steps: [
      step(
        'grow',
        (now, { input }) => (now?.sizeBytes ?? 0) >= input.size_bytes,
        ({ engine, name }, { input, signal }) =>
          refusedAs({ busy: 'volumeInUse', exhausted: 'poolExhausted', invalid: 'volumeShrink' }, () =>
            engine.storage.volumes.grow(name, input.size_bytes, { signal }),
          ),
      ),
      observing(),
    ],
    look: observeAfterFailure,
    ended: settles,
  }

  const restore: OperationDefinition<z.output<typeof snapshot>> = {
    kind: 'nextstack.volume.restore',
    input: snapshot,
    steps: [
      step('restore', 'unseen', ({ engine, name }, { input, signal }) =>
        refusedAs({ busy: 'volumeInUse', exhausted: 'poolExhausted' }, () => engine.storage.volumes.snapshots.restore(name, input.snapshot, { signal })),
      ),
      observing(),
    ],
    look: observeAfterFailure,
    ended: settles,
  }

  const remove: OperationDefinition<object> = {
    kind: 'nextstack.volume.delete',
    input: nothing,
    steps: [
      step(
        'delete',
        (now, _, { volume }) => now === null || !isOurs(now, volume.id),
        async ({ volume, engine, name }, { signal }) => {
          const there = await engine.storage.volumes.get(name, { signal })
          if (there !== null && isOurs(there, volume.id)) await refusedAs({ busy: 'volumeAttached' }, () => engine.storage.volumes.delete(name, { signal }))
        },
      ),
    ],
    look: observeAfterFailure,
    ended: async (tx, { resource_id }, refusal) => {
      if (refusal !== null) return settle(tx, resource_id, refusal)
      await deleteSnapshotsOf(tx, resource_id)
      await store.deleteVolume(tx, resource_id)
    },
  }

  return {
    create,
    attach,
    detach,
    grow,
    restore,
    delete: remove,
    definitions: [create, attach, detach, grow, restore, remove] as readonly AnyOperation[],
    // For other work on volumes.
    step,
    observing,
    observeAfterFailure,
    settle,
  }
}
