import { prometheusSettings } from '@zhisuan/contract/omc/monitor'
import { z } from 'zod'
import type { Tx } from '../../../platform/db/database.ts'
import { found, type Refusal } from '../../../platform/errors.ts'
import type { Kept } from '../../../platform/kept/kept.ts'
import type { OperationDefinition, OperationStep } from '../../../platform/operations.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { PrometheusEndpoints } from './integration.endpoint.ts'
import * as store from './integration.store.ts'

const nothing = z.object({})
type Nothing = z.output<typeof nothing>
/** What counts once the program works so. */
const updateInput = z.object({ settings: prometheusSettings })

export type IntegrationOperations = ReturnType<typeof createIntegrationOperations>

/** Components that the platform runs: made, made anew, told to work otherwise, taken away. */
export function createIntegrationOperations({ db, now }: Pick<Platform, 'db' | 'now'>, { endpoints, kept }: { endpoints: PrometheusEndpoints; kept: Kept }) {
  const own = ({ resource_id }: { resource_id: string }): string => resource_id

  /** That it answers us, too, and not only its node. */
  const reach: OperationStep<Nothing> = {
    name: 'reach',
    reached: 'ours',
    run: async ({ resource_id }) => {
      const row = found(await store.getIntegration(db, resource_id))
      if (row.component === 'prometheus') {
        const look = await endpoints.tryToKeep(endpoints.connectionOf(row), row.name)
        await store.recordIntegration(db, row, { ...endpoints.healthOf(look), version: look.version })
      } else {
        const version = /version (\S+)/.exec((await kept.get(db, resource_id))?.program_version ?? '')?.[1] ?? null
        await store.recordIntegration(db, row, { health: 'reachable', health_message: null, checked_at: now(), version })
      }
    },
  }
  const settle = async (tx: Tx, id: string, refusal: Refusal | null, failed: 'active' | 'error'): Promise<void> => {
    await kept.settle(tx, id, refusal)
    await store.updateIntegration(tx, id, { status: refusal === null ? 'active' : failed, error: refusal?.message ?? null })
    await endpoints.tell(tx, id)
  }

  const create: OperationDefinition<Nothing> = {
    kind: 'omc.integration.create',
    input: nothing,
    steps: [...kept.steps.install<Nothing>(own), reach],
    undo: kept.undoInstall(own),
    ended: (tx, { resource_id }, refusal) => settle(tx, resource_id, refusal, 'error'),
  }
  const reinstall: OperationDefinition<Nothing> = {
    kind: 'omc.integration.reinstall',
    input: nothing,
    steps: [...kept.steps.uninstall<Nothing>(own, { data: false }), ...kept.steps.install<Nothing>(own), reach],
    ended: (tx, { resource_id }, refusal) => settle(tx, resource_id, refusal, 'error'),
  }
  const update: OperationDefinition<z.output<typeof updateInput>> = {
    kind: 'omc.prometheus.update',
    resource_type: 'omc.integration',
    input: updateInput,
    steps: kept.steps.change(own),
    ended: async (tx, { resource_id, input }, refusal) => {
      if (refusal === null) await store.updateIntegration(tx, resource_id, { settings: JSON.stringify(input.settings) })
      await settle(tx, resource_id, refusal, 'active')
    },
  }
  const uninstall: OperationDefinition<Nothing> = {
    kind: 'omc.integration.uninstall',
    input: nothing,
    steps: kept.steps.uninstall(own, { data: true }),
    ended: async (tx, { resource_id }, refusal) => {
      if (refusal !== null) return settle(tx, resource_id, refusal, 'error')
      await kept.settle(tx, resource_id, null)
      await store.removeIntegration(tx, resource_id)
      await endpoints.tell(tx, resource_id)
    },
  }
  return { create, reinstall, update, uninstall }
}
