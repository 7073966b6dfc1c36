import { z } from 'zod'
import type { CallOptions } from '../compute.ts'
import { isEngineError } from '../errors.ts'
import { find } from './objects.ts'
import { powerOf, type LxdInstance } from './parse.ts'
import type { Transport } from './transport.ts'
import type { Edit } from './update.ts'

/**
 * Setting an instance back to a snapshot, the engine overwrites its configuration and devices.
 * What it had is kept on the engine meanwhile, in a profile that nobody uses: so whoever was
 * killed in the middle and asks again can still give it back.
 */
const texts = z.record(z.string(), z.string())
const plan = z.object({
  instance: z.string(),
  uuid: z.string(),
  at: z.number(),
  /** Whether it ran, and is to be started again. */
  running: z.boolean(),
  /** What it had. */
  config: texts,
  devices: z.record(z.string(), texts),
  description: z.string(),
  profiles: z.array(z.string()),
  /** What the snapshot had, told by its {@link essence}. */
  snapshot: z.string(),
})
export type RestorePlan = z.output<typeof plan>

const planKey = 'user.zhisuan-restore'
const profile = z.object({ config: texts.nullish() })
/** Later than this, a stopped instance was not stopped by us. */
const resumedWithinMs = 24 * 3_600_000

const pathOf = (name: string): string => `/1.0/profiles/${encodeURIComponent(`zhisuan-restore-${name}`)}`

/** What the engine notes: belongs to what is on the disk, but for who the machine is. */
const ofDisk = /^(volatile|image)\./
const identity = /^volatile\.(uuid|uuid\.generation|cloud-init\.instance-id|[^.]+\.hwaddr)$/

type Described = Pick<LxdInstance, 'config' | 'devices'>
const sorted = <T>(texts: Readonly<Record<string, T>> | null | undefined): [string, T][] =>
  Object.entries(texts ?? {}).sort(([one], [other]) => (one < other ? -1 : 1))
/** What somebody wants of an instance, without what the engine notes of it. */
const essence = ({ config, devices }: Described): string =>
  JSON.stringify([sorted(config).filter(([key]) => !ofDisk.test(key)), sorted(devices).map(([name, device]) => [name, sorted(device)])])

const uuidOf = (raw: Described): string => raw.config?.['volatile.uuid'] ?? ''

export const planOf = (raw: LxdInstance, snapshot: Described): RestorePlan => ({
  instance: raw.name,
  uuid: uuidOf(raw),
  at: Date.now(),
  running: powerOf(raw.status_code) !== 'stopped',
  config: raw.config ?? {},
  devices: raw.devices ?? {},
  description: raw.description ?? '',
  profiles: raw.profiles ?? [],
  snapshot: essence(snapshot),
})

/** Of one who was killed: if what the instance has now is the snapshot's, or nothing was changed since but its power. */
export async function resumedPlan(transport: Transport, raw: LxdInstance, options: CallOptions): Promise<RestorePlan | null> {
  const kept = (await find(transport, pathOf(raw.name), profile, 'profile', options))?.raw.config?.[planKey]
  if (kept === undefined) return null
  const found = plan.safeParse(asJson(kept)).data
  if (found === undefined || found.uuid !== uuidOf(raw)) return null
  const now = essence(raw)
  if (now !== found.snapshot && now !== essence(found)) return null
  const recent = Date.now() - found.at < resumedWithinMs
  return { ...found, running: powerOf(raw.status_code) !== 'stopped' || (found.running && recent) }
}

function asJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

export async function keepPlan(transport: Transport, kept: RestorePlan, options: CallOptions): Promise<void> {
  const body = { description: 'What an instance has while it is set back to a snapshot', config: { [planKey]: JSON.stringify(kept) }, devices: {} }
  try {
    await transport.ask('/1.0/profiles', { method: 'POST', body: { name: `zhisuan-restore-${kept.instance}`, ...body }, signal: options.signal })
  } catch (error) {
    if (!isEngineError(error, 'conflict')) throw error
    await transport.ask(pathOf(kept.instance), { method: 'PUT', body, signal: options.signal })
  }
}

export async function forgetPlan(transport: Transport, kept: RestorePlan, options: CallOptions): Promise<void> {
  try {
    await transport.ask(pathOf(kept.instance), { method: 'DELETE', signal: options.signal })
  } catch (error) {
    if (!isEngineError(error, 'not_found')) throw error
  }
}

export function putBack(raw: LxdInstance, kept: RestorePlan): Edit | null {
  if (essence(raw) === essence(kept) && (raw.description ?? '') === kept.description) return null
  const had = Object.entries(kept.config).filter(([key]) => !ofDisk.test(key) || identity.test(key))
  const has = Object.entries(raw.config ?? {}).filter(([key]) => ofDisk.test(key))
  return { config: { ...Object.fromEntries(has), ...Object.fromEntries(had) }, devices: kept.devices, description: kept.description, profiles: kept.profiles }
}
