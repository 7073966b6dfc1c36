import { z } from 'zod'
import { stackTransitional } from '@zhisuan/contract/aos/stack'
import { platformScope } from '../../../platform/auth/actor.ts'
import { Refusal } from '../../../platform/errors.ts'
import type { Tx } from '../../../platform/db/database.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { Suspendable } from '../../../platform/module.ts'
import { servicesOf } from './service.store.ts'
import type { StackOperations } from './stack.operations.ts'
import * as store from './stack.store.ts'

/** Names of the services that ran. */
const ran = z.array(z.string())

/** Applications, as a suspension stops and starts them: of each the services that run, so that those that somebody stopped stay so. */
export function createStackSuspension(
  platform: Pick<Platform, 'operations' | 'secrets'>,
  { operations }: { operations: Pick<StackOperations, 'start' | 'stop'> },
): Suspendable {
  const act = async (tx: Tx, id: string, action: 'start' | 'stop', services: string[]): Promise<string> => {
    const row = await store.lockStack(tx, platformScope, id)
    if (row === undefined) throw new Refusal('notFound')
    const operation = await platform.operations.begin(tx, operations[action], {
      resource_id: id,
      bp_id: row.bp_id,
      actor: null,
      input: { action, service: null, services, started: {} },
    })
    await store.updateStack(tx, platform.secrets, id, { status: 'updating', error_text: null })
    return operation
  }
  /** Held; null where it is gone. @throws Refusal 95003, 90010 */
  const settled = async (tx: Tx, id: string) => {
    const row = await store.lockStack(tx, platformScope, id)
    if (row === undefined || row.edge_gone) return null
    if (!row.edge.online) throw new Refusal('edgeOffline', { values: { name: row.edge.name } })
    if (row.shown_status === 'unknown') throw new Refusal('dockerUnavailable', { values: { name: row.edge.name } })
    if (stackTransitional.includes(row.shown_status)) throw new Refusal('stateForbids')
    return row
  }
  return {
    stoppedBy: 'stop_containers',
    running: store.runningOf,
    stop: async (tx, id) => {
      if ((await settled(tx, id)) === null) return null
      const services = (await servicesOf(tx, id)).filter(({ running }) => running > 0).map(({ name }) => name)
      return services.length === 0 ? null : { operation_id: await act(tx, id, 'stop', services), detail: services }
    },
    start: async (tx, id, detail) => {
      if ((await settled(tx, id)) === null) return 'gone'
      const wanted = ran.parse(detail ?? [])
      const there = (await servicesOf(tx, id)).filter(({ name }) => wanted.includes(name))
      if (there.length === 0) return 'gone'
      const services = there.filter(({ running }) => running === 0).map(({ name }) => name)
      return services.length === 0 ? 'running' : { operation_id: await act(tx, id, 'start', services) }
    },
  }
}
