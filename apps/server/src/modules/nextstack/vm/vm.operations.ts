import type { VmStatus } from '@zhisuan/contract/nextstack/vm'
import type { ComputeEngine } from '@zhisuan/engines/compute'
import { isEngineError } from '@zhisuan/engines/errors'
import { z } from 'zod'
import { platformScope } from '../../../platform/auth/actor.ts'
import type { Db, Tx } from '../../../platform/db/database.ts'
import { jsonb } from '../../../platform/db/jsonb.ts'
import { Refusal } from '../../../platform/errors.ts'
import type { OperationDefinition, StepContext } from '../../../platform/operations.ts'
import type { CloudService } from '../../cmp/cloud/cloud.service.ts'
import { placed } from '../host/host.place.ts'
import { refusedAs } from '../refusedAs.ts'
import type { VpcMembers } from '../vpc/vpc.members.ts'
import { createVmSteps, errorOf, isCancelled } from './vm.steps.ts'
import * as store from './vm.store.ts'
import type { VmRow } from './vm.store.ts'

/** How a person gets in: what the create and rebuild calls take. */
const accessInput = z.object({
  password: z.string().optional(),
  ssh_public_keys: z.array(z.string()),
  user_data: z.string().optional(),
  /** Whether the image reads user data; else password and key are put in place by us. */
  cloud_init: z.boolean(),
})
export type AccessInput = z.output<typeof accessInput>
const createInput = accessInput.extend({
  /** Begins as this instead of as its image; by the engine's names. */
  copy_of: z.object({ instance: z.string(), snapshot: z.string() }).nullable().default(null),
})
export type CreateInput = z.output<typeof createInput>

const nothing = z.object({})
const force = z.object({ force: z.boolean() })
const size = z.object({
  flavor_id: z.uuid(),
  flavor_name: z.string(),
  cpu_cores: z.int(),
  memory_bytes: z.int(),
  disk_bytes: z.int(),
})
const rebuildInput = accessInput.extend({ image_fingerprint: z.string(), image_name: z.string(), was_running: z.boolean() })

export type VmOperations = ReturnType<typeof createVmOperations>

/** Status while each operation runs. */
export const statusDuring = {
  create: 'creating',
  start: 'starting',
  stop: 'stopping',
  restart: 'restarting',
  resize: 'resizing',
  rebuild: 'rebuilding',
  delete: 'deleting',
} as const satisfies Record<string, VmStatus>

/** How an instance is recognised as ours on the engine. */
export const tagsOf = (vmId: string): Record<string, string> => ({ vm_id: vmId })

/** The long work on instances. Engines are called here and nowhere else in this folder but for reading. */
export function createVmOperations(parts: {
  db: Db
  clouds: Pick<CloudService, 'engine'>
  members: Pick<VpcMembers, 'whenReady' | 'shownOf' | 'stays' | 'gone'>
}) {
  const { db, members } = parts

  const { open, step, cancellableStep, isNow, observe, observeAfterFailure } = createVmSteps(parts)

  /** Ends with what was asked for, or after a failure with what really is. */
  const endsAs =
    (target: VmStatus) =>
    async (tx: Tx, context: StepContext<unknown>, refusal: Refusal | null): Promise<void> => {
      if (refusal === null) {
        // Off it has none: its page would say so only after the next look at all.
        await store.updateVm(tx, context.resource_id, {
          status: target,
          observed: target,
          error_text: null,
          ...(target === 'stopped' && { addresses: jsonb([]) }),
        })
        return
      }
      const vm = await store.lockVm(tx, platformScope, context.resource_id)
      if (vm === undefined) return
      await store.updateVm(tx, vm.id, { status: vm.observed ?? 'error', error_text: errorOf(refusal) })
    }

  /** The engine has it no longer. The row is held before what its network has of it. */
  const removed = async (tx: Tx, id: string): Promise<void> => {
    if ((await store.lockVm(tx, platformScope, id)) === undefined) return
    await members.gone(tx, id)
    await store.deleteVm(tx, id)
  }

  const powerOff = async (engine: ComputeEngine, vm: VmRow, { input, signal }: StepContext<z.output<typeof force>>): Promise<void> => {
    try {
      await engine.instances.stop(vm.engine_name, { force: input.force, signal })
    } catch (error) {
      // The engine did its part: it is the guest that stays up.
      if (!input.force && isEngineError(error, 'failed')) throw new Refusal('guestIgnoresShutdown', { cause: error })
      throw error
    }
  }

  const giveAccess = async (engine: ComputeEngine, vm: VmRow, access: AccessInput, signal: AbortSignal): Promise<void> => {
    if (access.cloud_init) return
    if (access.ssh_public_keys.length > 0) {
      await engine.instances.writeFile(
        vm.engine_name,
        { path: '/root/.ssh/authorized_keys', content: Buffer.from(access.ssh_public_keys.map((key) => `${key}\n`).join('')), mode: 0o600, uid: 0, gid: 0 },
        { signal },
      )
    }
    if (access.password !== undefined) {
      const { exitCode, stderr } = await engine.instances.exec(
        vm.engine_name,
        { command: ['chpasswd'], input: Buffer.from(`root:${access.password}\n`) },
        { signal },
      )
      if (exitCode !== 0) throw new Refusal('guestPasswordFailed', { cause: new Error(stderr.toString()) })
    }
  }

  const create: OperationDefinition<CreateInput> = {
    kind: 'nextstack.vm.create',
    input: createInput,
    steps: [
      cancellableStep('create', 'partly', async (engine, vm, { input, signal }) => {
        const userData = input.cloud_init ? cloudInitOf(input) : undefined
        const hostname = hostnameOf(vm.name)
        const place = (await members.shownOf(db, [vm.id])).get(vm.id)
        if (place !== undefined) await members.whenReady(place.vpc.id, signal)
        const spec = {
          name: vm.engine_name,
          type: vm.type,
          imageFingerprint: vm.image_fingerprint,
          cpuCores: vm.cpu_cores,
          memoryBytes: vm.memory_bytes,
          diskBytes: vm.disk_bytes,
          network: vm.network,
          ...(place !== undefined && { address: place.address, guarded: true }),
          tags: tagsOf(vm.id),
          description: vm.name,
          ...(hostname !== null && { hostname }),
          ...(await placed(db, vm)),
          ...(input.copy_of !== null && { copyOf: input.copy_of }),
          ...(userData !== undefined && { userData }),
        }
        await refusedAs({ invalid: 'vmRefused' }, () => engine.instances.create(spec, { signal }))
      }),
      cancellableStep('start', isNow('running'), (engine, vm, { signal }) => engine.instances.start(vm.engine_name, { signal })),
      cancellableStep('access', 'unseen', (engine, vm, { input, signal }) => giveAccess(engine, vm, input, signal)),
    ],
    undo: async (context) => {
      const { vm, engine } = await open(context)
      const made = await engine.instances.get(vm.engine_name, { signal: context.signal })
      // Where the name is somebody else's, nothing of ours is there. Where it is nobody's, the engine may be about to make it.
      if (made === null || made.tags['vm_id'] === vm.id) await engine.instances.delete(vm.engine_name, { signal: context.signal })
    },
    ended: async (tx, context, refusal) => {
      if (refusal === null) await store.updateVm(tx, context.resource_id, { status: 'running', observed: 'running', error_text: null })
      // Its record was made by what was cancelled, too.
      else if (isCancelled(refusal)) await removed(tx, context.resource_id)
      // What could not be taken back is half made, whatever the engine says of it.
      else await store.updateVm(tx, context.resource_id, { status: 'error', observed: null, node: null, error_text: refusal.message })
    },
  }

  const start: OperationDefinition<object> = {
    kind: 'nextstack.vm.start',
    input: nothing,
    steps: [step('start', isNow('running'), (engine, vm, { signal }) => engine.instances.start(vm.engine_name, { signal }))],
    look: observeAfterFailure,
    ended: endsAs('running'),
  }

  const stop: OperationDefinition<z.output<typeof force>> = {
    kind: 'nextstack.vm.stop',
    input: force,
    steps: [step('stop', isNow('stopped'), powerOff)],
    look: observeAfterFailure,
    ended: endsAs('stopped'),
  }

  const restart: OperationDefinition<z.output<typeof force>> = {
    kind: 'nextstack.vm.restart',
    input: force,
    steps: [
      // Two steps, so that one who comes back after a crash does not restart twice.
      step('stop', isNow('stopped'), powerOff),
      step('start', isNow('running'), (engine, vm, { signal }) => engine.instances.start(vm.engine_name, { signal })),
    ],
    look: observeAfterFailure,
    ended: endsAs('running'),
  }

  const resize: OperationDefinition<z.output<typeof size>> = {
    kind: 'nextstack.vm.resize',
    input: size,
    steps: [
      step(
        'resize',
        async (engine, vm, { input, signal }) => {
          const now = await engine.instances.get(vm.engine_name, { signal })
          return now?.cpuCores === input.cpu_cores && now.memoryBytes === input.memory_bytes && now.diskBytes === input.disk_bytes
        },
        (engine, vm, { input, signal }) => {
          const then = { cpuCores: input.cpu_cores, memoryBytes: input.memory_bytes, diskBytes: input.disk_bytes }
          return refusedAs({ invalid: 'vmRefused' }, () => engine.instances.resize(vm.engine_name, then, { signal }))
        },
      ),
      step('observe', 'ours', observe),
    ],
    look: observeAfterFailure,
    ended: async (tx, context, refusal) => {
      const vm = await store.lockVm(tx, platformScope, context.resource_id)
      if (vm === undefined) return
      await store.updateVm(tx, vm.id, {
        status: vm.observed ?? 'error',
        error_text: errorOf(refusal),
        ...(refusal === null && context.input),
      })
    },
  }

  const rebuild: OperationDefinition<z.output<typeof rebuildInput>> = {
    kind: 'nextstack.vm.rebuild',
    input: rebuildInput,
    steps: [
      cancellableStep('stop', isNow('stopped'), (engine, vm, { signal }) => engine.instances.stop(vm.engine_name, { force: true, signal })),
      step('rebuild', 'unseen', async (engine, vm, { input, signal }) => {
        const userData = input.cloud_init ? cloudInitOf(input) : undefined
        const hostname = hostnameOf(vm.name)
        const then = { imageFingerprint: input.image_fingerprint, ...(userData !== undefined && { userData }), ...(hostname !== null && { hostname }) }
        // Somebody started it, or made a snapshot of it, on the engine.
        await refusedAs({ invalid: 'stateForbids' }, () => engine.instances.rebuild(vm.engine_name, then, { signal }))
      }),
      step('start', isNow('running'), (engine, vm, { signal }) => engine.instances.start(vm.engine_name, { signal })),
      step('access', 'unseen', (engine, vm, { input, signal }) => giveAccess(engine, vm, input, signal)),
      step('observe', 'partly', async (engine, vm, context) => {
        if (!context.input.was_running) await engine.instances.stop(vm.engine_name, { force: true, signal: context.signal })
        await observe(engine, vm, context)
      }),
    ],
    undo: async (context, refusal) => {
      const { vm, engine } = await open(context)
      // The disk is as it was, so it can run as it did.
      if (isCancelled(refusal) && context.input?.was_running === true) await engine.instances.start(vm.engine_name, { signal: context.signal })
      await observeAfterFailure(context)
    },
    ended: async (tx, context, refusal) => {
      const vm = await store.lockVm(tx, platformScope, context.resource_id)
      if (vm === undefined) return
      await store.updateVm(tx, vm.id, {
        status: vm.observed ?? 'error',
        error_text: errorOf(refusal),
        ...(refusal === null && { image_fingerprint: context.input.image_fingerprint, image_name: context.input.image_name }),
      })
    },
  }

  const remove: OperationDefinition<object> = {
    kind: 'nextstack.vm.delete',
    input: nothing,
    steps: [
      step(
        'delete',
        async (engine, vm, { signal }) => (await engine.instances.get(vm.engine_name, { signal })) === null,
        (engine, vm, { signal }) => engine.instances.delete(vm.engine_name, { signal }),
      ),
    ],
    look: observeAfterFailure,
    ended: async (tx, context, refusal) => {
      if (refusal === null) return removed(tx, context.resource_id)
      await endsAs('error')(tx, context, refusal)
      await members.stays(tx, context.resource_id)
    },
  }

  return { create, start, stop, restart, resize, rebuild, delete: remove }
}

/** What a guest is called by the name that people gave it: what RFC 1123 allows of it; null where that is no name. */
export function hostnameOf(name: string): string | null {
  const label = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 63)
    .replaceAll(/^-+|-+$/g, '')
  return /[a-z]/.test(label) ? label : null
}

/** User data that carries password and key too, for images that run cloud-init. A script of the person's own stands alone. */
export function cloudInitOf(access: Omit<AccessInput, 'cloud_init'>): string | undefined {
  const { password, ssh_public_keys, user_data } = access
  if (password === undefined && ssh_public_keys.length === 0) return user_data
  // JSON is YAML: nothing a person types can break out of its string.
  const lines = ['#cloud-config']
  if (password !== undefined) {
    lines.push(`chpasswd: ${JSON.stringify({ expire: false, users: [{ name: 'root', password, type: 'text' }] })}`, 'ssh_pwauth: true')
  }
  if (ssh_public_keys.length > 0) lines.push(`ssh_authorized_keys: ${JSON.stringify(ssh_public_keys)}`)
  const ours = `${lines.join('\n')}\n`
  if (user_data === undefined) return ours
  return multipart([ours, user_data])
}

/** MIME multipart user data, as cloud-init reads it: several parts, each with its own kind. */
function multipart(parts: readonly string[]): string {
  const boundary = 'zhisuan-user-data'
  const body = parts.map((part) => {
    const kind = part.startsWith('#!') ? 'text/x-shellscript' : 'text/cloud-config'
    const merge = kind === 'text/cloud-config' ? '\nMerge-Type: list(append)+dict(recurse_array,no_replace)+str()' : ''
    return `--${boundary}\nContent-Type: ${kind}; charset="utf-8"\nContent-Transfer-Encoding: base64${merge}\n\n${Buffer.from(part).toString('base64')}\n`
  })
  return `Content-Type: multipart/mixed; boundary="${boundary}"\nMIME-Version: 1.0\n\n${body.join('')}--${boundary}--\n`
}
