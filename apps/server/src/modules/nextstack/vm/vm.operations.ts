import type { VmStatus } from '@zhisuan/contract/nextstack/vm'
import type { ComputeEngine, Instance } from '@zhisuan/engines/compute'
import { isEngineError } from '@zhisuan/engines/errors'
import { z } from 'zod'
import { platformScope } from '../../../platform/auth/actor.ts'
import type { Db, Tx } from '../../../platform/db/database.ts'
import { Refusal } from '../../../platform/errors.ts'
import type { OperationDefinition, StepContext } from '../../../platform/operations.ts'
import type { CloudService } from '../../cmp/cloud/cloud.service.ts'
import * as store from './vm.store.ts'
import type { Address, VmRow } from './vm.store.ts'

/** How a person gets in: what the create and rebuild calls take. */
const accessInput = z.object({
  password: z.string().optional(),
  ssh_public_key: z.string().optional(),
  user_data: z.string().optional(),
  /** Whether the image reads user data; else password and key are put in place by us. */
  cloud_init: z.boolean(),
})
export type AccessInput = z.output<typeof accessInput>

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

/** What the engine says, in our terms. */
export function statusOf(instance: Pick<Instance, 'power'>): VmStatus {
  switch (instance.power) {
    case 'running':
    case 'stopped':
    case 'paused':
    case 'starting':
    case 'stopping':
      return instance.power
    case 'error':
    case 'unknown':
      return 'error'
  }
}

export const addressesOf = (instance: Instance): Address[] => instance.addresses.map(({ family, address }) => ({ family, address }))

/** How an instance is recognised as ours on the engine. */
export const tagsOf = (vmId: string): Record<string, string> => ({ vm_id: vmId })

/** The long work on instances. Engines are called here and nowhere else in this folder but for reading. */
export function createVmOperations(parts: { db: Db; clouds: Pick<CloudService, 'engine'> }) {
  const { db, clouds } = parts

  const open = async (context: StepContext<unknown>): Promise<{ vm: VmRow; engine: ComputeEngine }> => {
    const vm = await store.getVm(db, platformScope, context.resource_id)
    // Its cloud was removed by force while the operation waited.
    if (vm === undefined) throw new Refusal('vmGone')
    return { vm, engine: await clouds.engine(vm.cloud_id) }
  }

  /** Step on the engine, with the row at hand. */
  const step =
    <Input>(name: string, act: (engine: ComputeEngine, vm: VmRow, context: StepContext<Input>) => Promise<void>) => ({
      name,
      run: async (context: StepContext<Input>) => {
        const { vm, engine } = await open(context)
        await act(engine, vm, context)
      },
    })

  /** Writes down what the engine has now, for whoever decides the status next. */
  const observe = async (engine: ComputeEngine, vm: VmRow, context: StepContext<unknown>): Promise<void> => {
    const instance = await engine.instances.get(vm.engine_name, { signal: context.signal })
    if (instance === null) await store.updateVm(db, vm.id, { observed: 'lost' })
    else {
      await store.updateVm(db, vm.id, {
        observed: statusOf(instance),
        addresses: JSON.stringify(addressesOf(instance)) as unknown as Address[],
        node: instance.location,
      })
    }
  }
  const observeAfterFailure = async (context: StepContext<unknown>): Promise<void> => {
    const { vm, engine } = await open(context)
    await observe(engine, vm, context)
  }

  /** Ends with what was asked for, or after a failure with what really is. */
  const endsAs =
    (target: VmStatus) =>
    async (tx: Tx, context: StepContext<unknown>, refusal: Refusal | null): Promise<void> => {
      if (refusal === null) {
        await store.updateVm(tx, context.resource_id, { status: target, observed: target, error_text: null })
        return
      }
      const vm = await store.lockVm(tx, platformScope, context.resource_id)
      if (vm === undefined) return
      await store.updateVm(tx, vm.id, { status: vm.observed ?? 'error', error_text: refusal.message })
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
    if (access.ssh_public_key !== undefined) {
      await engine.instances.writeFile(
        vm.engine_name,
        { path: '/root/.ssh/authorized_keys', content: Buffer.from(`${access.ssh_public_key}\n`), mode: 0o600, uid: 0, gid: 0 },
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

  const create: OperationDefinition<AccessInput> = {
    kind: 'nextstack.vm.create',
    resource_type: 'vm',
    input: accessInput,
    steps: [
      step('create', async (engine, vm, { input, signal }) => {
        const userData = input.cloud_init ? cloudInitOf(input) : undefined
        await engine.instances.create(
          {
            name: vm.engine_name,
            type: vm.type,
            imageFingerprint: vm.image_fingerprint,
            cpuCores: vm.cpu_cores,
            memoryBytes: vm.memory_bytes,
            diskBytes: vm.disk_bytes,
            network: vm.network,
            tags: tagsOf(vm.id),
            description: vm.name,
            ...(userData !== undefined && { userData }),
          },
          { signal },
        )
      }),
      step('start', (engine, vm, { signal }) => engine.instances.start(vm.engine_name, { signal })),
      step('access', (engine, vm, { input, signal }) => giveAccess(engine, vm, input, signal)),
    ],
    undo: async (context) => {
      const { vm, engine } = await open(context)
      const made = await engine.instances.get(vm.engine_name, { signal: context.signal })
      // Where the name is somebody else's, nothing of ours is there.
      if (made?.tags['vm_id'] === vm.id) await engine.instances.delete(vm.engine_name, { signal: context.signal })
    },
    ended: async (tx, context, refusal) => {
      await (refusal === null
        ? store.updateVm(tx, context.resource_id, { status: 'running', observed: 'running', error_text: null })
        : store.updateVm(tx, context.resource_id, { status: 'error', error_text: refusal.message }))
    },
  }

  const start: OperationDefinition<object> = {
    kind: 'nextstack.vm.start',
    resource_type: 'vm',
    input: nothing,
    steps: [step('start', (engine, vm, { signal }) => engine.instances.start(vm.engine_name, { signal }))],
    undo: observeAfterFailure,
    ended: endsAs('running'),
  }

  const stop: OperationDefinition<z.output<typeof force>> = {
    kind: 'nextstack.vm.stop',
    resource_type: 'vm',
    input: force,
    steps: [
      step('stop', powerOff),
    ],
    undo: observeAfterFailure,
    ended: endsAs('stopped'),
  }

  const restart: OperationDefinition<z.output<typeof force>> = {
    kind: 'nextstack.vm.restart',
    resource_type: 'vm',
    input: force,
    steps: [
      // Two steps, so that one who comes back after a crash does not restart twice.
      step('stop', powerOff),
      step('start', (engine, vm, { signal }) => engine.instances.start(vm.engine_name, { signal })),
    ],
    undo: observeAfterFailure,
    ended: endsAs('running'),
  }

  const resize: OperationDefinition<z.output<typeof size>> = {
    kind: 'nextstack.vm.resize',
    resource_type: 'vm',
    input: size,
    steps: [
      step('resize', (engine, vm, { input, signal }) =>
        engine.instances.resize(
          vm.engine_name,
          { cpuCores: input.cpu_cores, memoryBytes: input.memory_bytes, diskBytes: input.disk_bytes },
          { signal },
        ),
      ),
      step('observe', observe),
    ],
    undo: observeAfterFailure,
    ended: async (tx, context, refusal) => {
      const vm = await store.lockVm(tx, platformScope, context.resource_id)
      if (vm === undefined) return
      await store.updateVm(tx, vm.id, {
        status: vm.observed ?? 'error',
        error_text: refusal?.message ?? null,
        ...(refusal === null && context.input),
      })
    },
  }

  const rebuild: OperationDefinition<z.output<typeof rebuildInput>> = {
    kind: 'nextstack.vm.rebuild',
    resource_type: 'vm',
    input: rebuildInput,
    steps: [
      step('stop', (engine, vm, { signal }) => engine.instances.stop(vm.engine_name, { force: true, signal })),
      step('rebuild', async (engine, vm, { input, signal }) => {
        const userData = input.cloud_init ? cloudInitOf(input) : undefined
        await engine.instances.rebuild(
          vm.engine_name,
          { imageFingerprint: input.image_fingerprint, ...(userData !== undefined && { userData }) },
          { signal },
        )
      }),
      step('start', (engine, vm, { signal }) => engine.instances.start(vm.engine_name, { signal })),
      step('access', (engine, vm, { input, signal }) => giveAccess(engine, vm, input, signal)),
      step('observe', async (engine, vm, context) => {
        if (!context.input.was_running) await engine.instances.stop(vm.engine_name, { force: true, signal: context.signal })
        await observe(engine, vm, context)
      }),
    ],
    undo: observeAfterFailure,
    ended: async (tx, context, refusal) => {
      const vm = await store.lockVm(tx, platformScope, context.resource_id)
      if (vm === undefined) return
      await store.updateVm(tx, vm.id, {
        status: vm.observed ?? 'error',
        error_text: refusal?.message ?? null,
        ...(refusal === null && { image_fingerprint: context.input.image_fingerprint, image_name: context.input.image_name }),
      })
    },
  }

  const remove: OperationDefinition<object> = {
    kind: 'nextstack.vm.delete',
    resource_type: 'vm',
    input: nothing,
    steps: [step('delete', (engine, vm, { signal }) => engine.instances.delete(vm.engine_name, { signal }))],
    undo: observeAfterFailure,
    ended: async (tx, context, refusal) => {
      await (refusal === null ? store.deleteVm(tx, context.resource_id) : endsAs('error')(tx, context, refusal))
    },
  }

  return { create, start, stop, restart, resize, rebuild, delete: remove }
}

/** User data that carries password and key too, for images that run cloud-init. A script of the person's own stands alone. */
export function cloudInitOf(access: Omit<AccessInput, 'cloud_init'>): string | undefined {
  const { password, ssh_public_key, user_data } = access
  if (password === undefined && ssh_public_key === undefined) return user_data
  // JSON is YAML: nothing a person types can break out of its string.
  const lines = ['#cloud-config']
  if (password !== undefined) {
    lines.push(`chpasswd: ${JSON.stringify({ expire: false, users: [{ name: 'root', password, type: 'text' }] })}`, 'ssh_pwauth: true')
  }
  if (ssh_public_key !== undefined) lines.push(`ssh_authorized_keys: ${JSON.stringify([ssh_public_key])}`)
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
