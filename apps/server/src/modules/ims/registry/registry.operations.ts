import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import type { KeptState } from '@zhisuan/contract/agent/kept'
import { found, Refusal } from '../../../platform/errors.ts'
import type { Kept } from '../../../platform/kept/kept.ts'
import type { OperationDefinition } from '../../../platform/operations.ts'
import type { Platform } from '../../../platform/platform.ts'
import { keptConnection } from './registry.connection.ts'
import type { RegistryEndpoints } from './registry.endpoint.ts'
import { wantedCollector } from './program.ts'
import * as store from './registry.store.ts'

const nothing = z.object({})
const collectInput = z.object({ program_id: z.uuid() })
type CollectInput = z.output<typeof collectInput>
/** The new certificate's authority and end, which count once the program has it. */
const updateInput = z.object({
  connection: keptConnection,
  tls_kind: z.enum(['ours', 'given']),
  ends_at: z.iso.datetime(),
  /** What it was before: one that was deactivated stays so. Begun by an older server it says nothing. */
  status: z.enum(['active', 'deactive']).default('active'),
})

/** So long nobody pushes, at most. */
const collectingMs = 60_000
/** Its node has to have begun by then: what it may take, and this, is within the time above. */
const beginMs = 8_000
const lookEveryMs = 300

export type RegistryOperations = ReturnType<typeof createRegistryOperations>

/** Registries that the platform runs: made, given another certificate, freed of what was deleted, taken away. */
export function createRegistryOperations(
  { db, now }: Pick<Platform, 'db' | 'now'>,
  { endpoints, kept, reconcile }: { endpoints: RegistryEndpoints; kept: Kept; reconcile: (id: string) => Promise<void> },
) {
  const own = ({ resource_id }: { resource_id: string }): string => resource_id
  const failedWith = (refusal: Refusal | null): string | null => refusal?.message ?? null

  const create: OperationDefinition<z.output<typeof nothing>> = {
    kind: 'ims.registry.create',
    input: nothing,
    steps: [
      ...kept.steps.install<z.output<typeof nothing>>(own),
      {
        name: 'reach',
        reached: 'ours',
        run: async ({ resource_id }) => {
          const row = found(await store.getRegistry(db, resource_id))
          const look = await endpoints.tryToKeep(endpoints.connectionOf(row), row.name)
          await store.recordRegistry(db, row, endpoints.healthOf(look))
        },
      },
    ],
    undo: kept.undoInstall(own),
    ended: async (tx, { resource_id }, refusal) => {
      await kept.settle(tx, resource_id, refusal)
      await store.updateRegistry(tx, resource_id, { status: refusal === null ? 'active' : 'error', error: failedWith(refusal) })
      await endpoints.tell(tx, resource_id)
    },
  }

  const update: OperationDefinition<z.output<typeof updateInput>> = {
    kind: 'ims.registry.update',
    input: updateInput,
    steps: kept.steps.change(own),
    ended: async (tx, { resource_id, input }, refusal) => {
      await kept.settle(tx, resource_id, refusal)
      await store.updateRegistry(tx, resource_id, {
        status: input.status,
        error: failedWith(refusal),
        ...(refusal === null && {
          connection: endpoints.seal(resource_id, input.connection),
          certificate_authority: input.connection.certificate_authority,
          tls_kind: input.tls_kind,
          tls_ends_at: new Date(input.ends_at),
        }),
      })
      await endpoints.tell(tx, resource_id)
    },
  }

  const remove: OperationDefinition<z.output<typeof nothing>> = {
    kind: 'ims.registry.delete',
    input: nothing,
    steps: kept.steps.uninstall(own, { data: true }),
    ended: async (tx, { resource_id }, refusal) => {
      await kept.settle(tx, resource_id, refusal)
      if (refusal === null) await store.forgetRegistry(tx, resource_id)
      else await store.updateRegistry(tx, resource_id, { status: 'error', error: refusal.message })
      await endpoints.tell(tx, resource_id)
    },
  }

  const collector = ({ input }: { input: CollectInput }): string => input.program_id
  const [preflight, place, start] = kept.steps.install<CollectInput>(collector)
  const [uninstall] = kept.steps.uninstall<CollectInput>(collector, { data: false })
  if (preflight === undefined || place === undefined || start === undefined || uninstall === undefined) throw new Error('steps of what is kept are missing')

  const ended = async (id: string, signal: AbortSignal): Promise<KeptState> => {
    for (;;) {
      const { observed } = await kept.look(id)
      if (observed !== null && (observed.process.state === 'ended' || observed.process.state === 'failed')) return observed
      await sleep(lookEveryMs, undefined, { signal })
    }
  }

  const collect: OperationDefinition<CollectInput> = {
    kind: 'ims.registry.collect',
    input: collectInput,
    steps: [
      {
        name: 'prepare',
        reached: 'ours',
        run: async ({ resource_id, input }) => {
          if ((await kept.get(db, input.program_id)) !== undefined) return
          // What somebody deleted there and nobody heard of is put back first: its parts would go.
          if ((await store.getRegistry(db, resource_id))?.status === 'active') await reconcile(resource_id)
          const { node_id, observed } = await kept.look(resource_id)
          const path = observed?.data_path ?? null
          if (path === null) throw new Refusal('registryBusy')
          await db
            .transaction()
            .execute((tx) => kept.want(tx, { id: input.program_id, node_id, owner: { kind: 'ims.registry', id: resource_id }, wanted: wantedCollector(path) }))
        },
      },
      preflight,
      place,
      {
        ...start,
        run: async (context) => {
          const { resource_id, signal } = context
          // Nobody has a token to push by from here on.
          const at = now()
          if (!(await store.claimQuiet(db, resource_id, at, new Date(at.getTime() + collectingMs)))) throw await notQuiet(resource_id)
          await start.run({ ...context, signal: AbortSignal.any([signal, AbortSignal.timeout(beginMs)]) })
        },
      },
      {
        name: 'collect',
        reached: 'looks',
        run: async ({ input, signal }) => {
          const { process, last_words } = await ended(input.program_id, AbortSignal.any([signal, AbortSignal.timeout(collectingMs)]))
          if (process.exit_code === 0) return
          // timeout(1) ends it, and itself, so.
          if (process.exit_code === 124 || process.exit_code === 137 || process.exit_signal === 'SIGKILL') throw new Refusal('registryCollectUnfinished')
          throw new Refusal('engineFailed', { detail: [process.error ?? '', ...last_words.slice(-5)].join('\n') })
        },
      },
      {
        ...uninstall,
        run: async (context) => {
          await store.updateRegistry(db, context.resource_id, { collecting_until: null })
          await db.transaction().execute((tx) => kept.leave(tx, context.input.program_id))
          await uninstall.run(context)
        },
      },
    ],
    ended: async (tx, { resource_id, input }, refusal) => {
      if (refusal === null) await kept.settle(tx, input.program_id, null)
      // Taken away as soon as its node is there; the data are the registry's.
      else if ((await kept.get(tx, input.program_id)) !== undefined) await kept.abandon(tx, input.program_id)
      const at = now()
      await store.updateRegistry(tx, resource_id, {
        error: failedWith(refusal),
        ...(refusal === null && { collecting_until: null, collected_at: at, collectable_bytes: 0 }),
      })
    },
  }

  const notQuiet = async (id: string): Promise<Refusal> => {
    const { push_until } = found(await store.getRegistry(db, id))
    return new Refusal('registryNotQuiet', { values: { seconds: Math.max(1, Math.ceil(((push_until?.getTime() ?? 0) - now().getTime()) / 1_000)) } })
  }

  return { create, update, remove, collect, notQuiet }
}
