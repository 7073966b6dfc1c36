import { z } from 'zod'
import type { CallOptions, InstanceSnapshots } from '../compute.ts'
import { EngineError, isEngineError } from '../errors.ts'
import { checkSnapshotName } from '../storage.checks.ts'
import { find } from './objects.ts'
import { change, settle, whenFree } from './operations.ts'
import { dateOf, instance, parse, powerOf, type LxdInstance } from './parse.ts'
import { forgetPlan, keepPlan, planOf, putBack, resumedPlan, type RestorePlan } from './restores.ts'
import type { Transport } from './transport.ts'
import { updateInstance } from './update.ts'

const texts = z.record(z.string(), z.string())
const snapshot = z.object({
  name: z.string(),
  created_at: z.string().nullish(),
  size: z.number().nullish(),
  config: texts.nullish(),
  devices: z.record(z.string(), texts).nullish(),
  expanded_devices: z.record(z.string(), texts).nullish(),
})
export type LxdSnapshot = z.output<typeof snapshot>

const pathOf = (name: string): string => `/1.0/instances/${encodeURIComponent(name)}`
const snapshotPath = (name: string, of: string): string => `${pathOf(name)}/snapshots/${encodeURIComponent(of)}`

export const findSnapshot = async (transport: Transport, name: string, of: string, options: CallOptions): Promise<LxdSnapshot | null> =>
  (await find(transport, snapshotPath(name, of), snapshot, 'snapshot', options))?.raw ?? null

export function createSnapshots(
  transport: Transport,
  power: { start(name: string, options: CallOptions): Promise<void>; kill(name: string, options: CallOptions): Promise<void> },
): InstanceSnapshots {
  const found = async (name: string, options: CallOptions): Promise<LxdInstance> => {
    const one = await find(transport, pathOf(name), instance, 'instance', options)
    if (one === null) throw new EngineError('not_found', `no instance ${name}`)
    return one.raw
  }

  return {
    async list(name, options = {}) {
      const { metadata } = await transport.ask(`${pathOf(name)}/snapshots`, { query: { recursion: '1' }, signal: options.signal })
      return parse(z.array(snapshot), metadata, 'snapshots').map((raw) => ({
        name: raw.name.split('/').at(-1) ?? raw.name,
        createdAt: dateOf(raw.created_at),
        // Drivers that cannot measure say -1.
        sizeBytes: raw.size === undefined || raw.size === null || raw.size < 0 ? null : raw.size,
      }))
    },

    async create(name, of, options = {}) {
      checkSnapshotName(of)
      await settle(transport, name, options)
      if ((await findSnapshot(transport, name, of, options)) !== null) return
      try {
        await change(transport, `${pathOf(name)}/snapshots`, { method: 'POST', body: { name: of, stateful: false } }, options)
      } catch (error) {
        if (options.signal?.aborted === true || !isEngineError(error, 'conflict', 'busy', 'failed')) throw error
        // Asked for twice at a time.
        await settle(transport, name, options)
        if ((await findSnapshot(transport, name, of, options)) === null) throw error
      }
    },

    /** The engine would set back limits, tags and devices too, and attach volumes that were detached since. */
    async restore(name, of, options = {}) {
      await settle(transport, name, options)
      const [raw, then] = await Promise.all([found(name, options), findSnapshot(transport, name, of, options)])
      if (then === null) throw new EngineError('not_found', `no snapshot ${of} of ${name}`)
      const plan = (await resumedPlan(transport, raw, options)) ?? planOf(raw, then)
      await keepPlan(transport, plan, options)
      if (powerOf(raw.status_code) !== 'stopped') await power.kill(name, options)
      try {
        await change(transport, pathOf(name), { method: 'PUT', body: { restore: of } }, options)
      } catch (error) {
        // It may be under way still, for whoever asks again.
        if (options.signal?.aborted !== true && !isEngineError(error, 'unreachable', 'unanswered')) await end(name, plan, options).catch(() => undefined)
        throw error
      }
      await end(name, plan, options)
    },

    async delete(name, of, options = {}) {
      const remove = async (): Promise<void> => {
        try {
          await change(transport, snapshotPath(name, of), { method: 'DELETE' }, options)
        } catch (error) {
          if (!isEngineError(error, 'not_found')) throw error
        }
      }
      await whenFree(remove, () => settle(transport, name, options), options.signal)
    },
  }

  /** Gives it back what it had, and its power. */
  async function end(name: string, plan: RestorePlan, options: CallOptions): Promise<void> {
    await updateInstance(transport, name, (raw) => putBack(raw, plan), options)
    if (plan.running) await power.start(name, options)
    await forgetPlan(transport, plan, options)
  }
}
