import type { VmStatus } from '@zhisuan/contract/nextstack/vm'
import type { ComputeEngine, Instance, PowerState } from '@zhisuan/engines/compute'
import { isEngineError } from '@zhisuan/engines/errors'
import { platformScope } from '../../../platform/auth/actor.ts'
import type { Db } from '../../../platform/db/database.ts'
import { jsonb } from '../../../platform/db/jsonb.ts'
import { Refusal } from '../../../platform/errors.ts'
import type { OperationStep, Reached, StepContext } from '../../../platform/operations.ts'
import type { CloudService } from '../../cmp/cloud/cloud.service.ts'
import * as store from './vm.store.ts'
import type { Address, VmRow } from './vm.store.ts'

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

export const isCancelled = ({ refusal }: Refusal): boolean => refusal === 'operationCancelled'

/** What to say of the instance: that somebody cancelled is nothing wrong with it. */
export const errorOf = (refusal: Refusal | null): string | null => (refusal === null || isCancelled(refusal) ? null : refusal.message)

/** What steps of all long work have in common whose resource is an instance. */
export function createVmSteps(parts: { db: Db; clouds: Pick<CloudService, 'engine'> }) {
  const { db, clouds } = parts

  const open = async (context: StepContext<unknown>): Promise<{ vm: VmRow; engine: ComputeEngine }> => {
    const vm = await store.getVm(db, platformScope, context.resource_id)
    // Its cloud was removed by force while the operation waited.
    if (vm === undefined) throw new Refusal('vmGone')
    return { vm, engine: await clouds.engine(vm.cloud_id) }
  }

  /** Step on the engine, with the row at hand. */
  const step = <Input>(
    name: string,
    reached: Exclude<Reached<Input>, Function> | ((engine: ComputeEngine, vm: VmRow, context: StepContext<Input>) => Promise<boolean>),
    act: (engine: ComputeEngine, vm: VmRow, context: StepContext<Input>) => Promise<void>,
  ): OperationStep<Input> => ({
    name,
    reached:
      typeof reached === 'string'
        ? reached
        : async (context) => {
            const { vm, engine } = await open(context)
            return reached(engine, vm, context)
          },
    run: async (context: StepContext<Input>) => {
      const { vm, engine } = await open(context)
      await act(engine, vm, context)
    },
  })
  /** One that may be left half way: what it does is taken back by its operation's `undo`. */
  const cancellableStep: typeof step = (...about) => ({ ...step(...about), cancellable: true })

  /** Whether it has this power state. */
  const isNow =
    (power: PowerState) =>
    async (engine: ComputeEngine, vm: VmRow, { signal }: StepContext<unknown>): Promise<boolean> =>
      (await engine.instances.get(vm.engine_name, { signal }))?.power === power

  /** Writes down what the engine has now, for whoever decides the status next. */
  const observe = async (engine: ComputeEngine, vm: VmRow, context: StepContext<unknown>): Promise<void> => {
    const instance = await engine.instances.get(vm.engine_name, { signal: context.signal })
    if (instance === null) await store.updateVm(db, vm.id, { observed: 'lost' })
    else {
      await store.updateVm(db, vm.id, {
        observed: statusOf(instance),
        addresses: jsonb(addressesOf(instance)),
        node: instance.location ?? vm.node,
      })
    }
  }
  /** Once: where the engine does not answer, what was last known stands until it does. */
  const observeAfterFailure = async (context: StepContext<unknown>): Promise<void> => {
    const { vm, engine } = await open(context)
    try {
      await observe(engine, vm, context)
    } catch (error) {
      if (context.signal.aborted || !isEngineError(error)) throw error
      context.log.warn({ err: error }, 'the engine does not say how the instance is')
    }
  }

  return { open, step, cancellableStep, isNow, observe, observeAfterFailure }
}
