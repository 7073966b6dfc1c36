import type { ServiceStatus } from '@zhisuan/contract/middleware/service'
import { z } from 'zod'
import type { Tx } from '../../../platform/db/database.ts'
import { found, type Refusal } from '../../../platform/errors.ts'
import type { Kept, KeptNodes } from '../../../platform/kept/kept.ts'
import type { OperationDefinition, StepContext } from '../../../platform/operations.ts'
import type { Platform } from '../../../platform/platform.ts'
import { inSession, placeOfSecret, takes } from './service.sessions.ts'
import * as store from './service.store.ts'
import type { ServiceRow } from './service.store.ts'

const nothing = z.object({})
type Nothing = z.output<typeof nothing>
const updateInput = z.object({ memory_mb: z.int(), connections_most: z.int() })
const passwordInput = z.object({ password: z.string() })
type PasswordInput = z.output<typeof passwordInput>

/** A data folder is prepared and databases recover from whatever happened to them before they answer. */
const healthyWithinMs = 300_000

export type ServiceOperations = ReturnType<typeof createServiceOperations>

/** Databases and caches that are made, started and stopped, told to work otherwise, given another password, taken away. */
export function createServiceOperations(
  { db, secrets }: Pick<Platform, 'db' | 'secrets'>,
  { kept, reach, work }: { kept: Kept } & Pick<KeptNodes, 'reach' | 'work'>,
) {
  const own = ({ resource_id }: { resource_id: string }): string => resource_id
  /** `after`: what it is where it succeeded, and where it did not. */
  const settle = async (tx: Tx, id: string, refusal: Refusal | null, after: readonly [well: ServiceStatus, failed: ServiceStatus]): Promise<void> => {
    await kept.settle(tx, id, refusal)
    const program = await kept.get(tx, id)
    const version = /(\d+\.\d+(?:\.\d+)?)/.exec(program?.program_version ?? '')?.[1]
    const status = after[refusal === null ? 0 : 1]
    await store.updateService(tx, id, {
      status,
      error: refusal?.message ?? null,
      ...(version !== undefined && { version }),
      ...(refusal === null && { health: status === 'active' ? 'reachable' : 'unknown', health_message: null }),
    })
  }
  const rowOf = async ({ resource_id }: StepContext<PasswordInput>): Promise<ServiceRow> => found(await store.showService(db, resource_id))
  const options = { healthyWithinMs }

  const create: OperationDefinition<Nothing> = {
    kind: 'middleware.service.create',
    input: nothing,
    steps: kept.steps.install<Nothing>(own, options),
    undo: kept.undoInstall(own),
    ended: (tx, { resource_id }, refusal) => settle(tx, resource_id, refusal, ['active', 'error']),
  }
  const update: OperationDefinition<z.output<typeof updateInput>> = {
    kind: 'middleware.service.update',
    input: updateInput,
    steps: kept.steps.change(own, options),
    ended: async (tx, { resource_id, input }, refusal) => {
      if (refusal === null) await store.updateService(tx, resource_id, input)
      await settle(tx, resource_id, refusal, ['active', 'active'])
    },
  }
  const start: OperationDefinition<Nothing> = {
    kind: 'middleware.service.start',
    input: nothing,
    steps: kept.steps.start<Nothing>(own, options),
    ended: (tx, { resource_id }, refusal) => settle(tx, resource_id, refusal, ['active', 'active']),
  }
  const stop: OperationDefinition<Nothing> = {
    kind: 'middleware.service.stop',
    input: nothing,
    steps: kept.steps.stop<Nothing>(own),
    ended: (tx, { resource_id }, refusal) => settle(tx, resource_id, refusal, ['stopped', 'active']),
  }
  const restart: OperationDefinition<Nothing> = {
    kind: 'middleware.service.restart',
    input: nothing,
    steps: kept.steps.restart<Nothing>(own, options),
    ended: (tx, { resource_id }, refusal) => settle(tx, resource_id, refusal, ['active', 'active']),
  }
  const password: OperationDefinition<PasswordInput> = {
    kind: 'middleware.service.password',
    input: passwordInput,
    steps: [
      {
        name: 'password',
        run: async (context) => {
          const { input, signal } = context
          const row = await rowOf(context)
          await work(row.node_id, signal, async ({ tunnel }) => {
            // It may have been taken by the time before.
            if (await takes(tunnel, { ...row, password: input.password }, signal)) return
            const password = secrets.open(row.secret, placeOfSecret('secret', row.id))
            await inSession(tunnel, { ...row, password }, (session) => session.setPassword(input.password), signal)
          })
        },
        reached: async (context) => {
          const row = await rowOf(context)
          const { tunnel } = await reach(row.node_id)
          return takes(tunnel, { ...row, password: context.input.password }, context.signal)
        },
      },
    ],
    ended: async (tx, { resource_id, input }, refusal) => {
      await store.updateService(tx, resource_id, {
        status: 'active',
        error: refusal?.message ?? null,
        // Else it may have it all the same: both are tried by whoever asks next.
        ...(refusal === null && { secret: secrets.seal(input.password, placeOfSecret('secret', resource_id)), secret_next: null }),
      })
    },
  }
  const remove: OperationDefinition<Nothing> = {
    kind: 'middleware.service.delete',
    input: nothing,
    steps: kept.steps.uninstall(own, { data: true }),
    ended: async (tx, { resource_id }, refusal) => {
      if (refusal !== null) return settle(tx, resource_id, refusal, ['error', 'error'])
      await kept.settle(tx, resource_id, null)
      await store.removeService(tx, resource_id)
    },
  }
  return { create, update, start, stop, restart, password, remove }
}
