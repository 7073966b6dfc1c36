import { createHash } from 'node:crypto'
import type { CallOptions } from '../compute.ts'
import { EngineError, isEngineError } from '../errors.ts'
import { pause, untilAborted } from '../signals.ts'
import type { VolumeName } from '../storage.ts'
import { find } from './objects.ts'
import { settle } from './operations.ts'
import { sameTexts, tagsOf } from './tags.ts'
import type { Transport } from './transport.ts'
import { configWith, standInPrefix, touchesVolume, volume, volumePath, type LxdVolume } from './volumes.parse.ts'

export interface NewVolume extends VolumeName {
  description: string
  tags: Readonly<Record<string, string>>
}

/** A stand-in that stays this long while nothing runs on it is what a killed caller left. */
const leftAfter = { looks: 20, everyMs: 100 }

export const findVolume = async (transport: Transport, name: VolumeName, options: CallOptions): Promise<LxdVolume | null> =>
  (await find(transport, volumePath(name), volume, 'volume', options))?.raw ?? null

/** Whether it is there already, as the caller's; another's throws `conflict`. */
export async function isMade(transport: Transport, spec: NewVolume, options: CallOptions): Promise<boolean> {
  const raw = await findVolume(transport, spec, options)
  if (raw !== null && !sameTexts(tagsOf(raw.config), spec.tags)) throw new EngineError('conflict', `${spec.volume} exists and is not ours`)
  return raw !== null
}

/**
 * Makes volumes that take time to make: under another name, which is changed when they are whole.
 * So nobody sees half of one or takes it for the whole, and whoever was killed and asks again
 * finds what they left.
 */
export function createBeside(transport: Transport): (spec: NewVolume, make: (standIn: VolumeName) => Promise<void>, options: CallOptions) => Promise<void> {
  const leaving = new Map<string, Promise<void>>()

  const remove = async (standIn: VolumeName, options: CallOptions): Promise<void> => {
    await settle(transport, standIn.volume, options, touchesVolume)
    try {
      await transport.ask(volumePath(standIn), { method: 'DELETE', signal: options.signal, waits: true, timeoutMs: 600_000 })
    } catch (error) {
      if (!isEngineError(error, 'not_found')) throw error
    }
  }
  /** Goes on when the caller has gone: the engine cannot cancel what it began. */
  const leave = (standIn: VolumeName): void => {
    const key = JSON.stringify(standIn)
    const gone = remove(standIn, {})
      .catch(() => undefined)
      .finally(() => leaving.delete(key))
    leaving.set(key, gone)
  }
  /** Waits for whoever makes it at this moment; whether they made it. What they left is removed. */
  const madeByAnother = async (spec: NewVolume, standIn: VolumeName, options: CallOptions): Promise<boolean> => {
    await untilAborted(leaving.get(JSON.stringify(standIn)) ?? Promise.resolve(), options.signal)
    for (let looks = 0; looks < leftAfter.looks; looks++) {
      if (await isMade(transport, spec, options)) return true
      if ((await findVolume(transport, standIn, options)) === null) return isMade(transport, spec, options)
      if (await settle(transport, standIn.volume, options, touchesVolume)) looks = 0
      await pause(leftAfter.everyMs, options.signal)
    }
    await remove(standIn, options)
    return false
  }

  /** Gives it its tags, then its name. */
  const finish = async (spec: NewVolume, standIn: VolumeName, options: CallOptions): Promise<void> => {
    const raw = await findVolume(transport, standIn, options)
    if (raw === null) throw new EngineError('busy', `${spec.volume} was deleted while it was made`)
    const body = { description: spec.description, config: configWith(raw.config, spec.tags) }
    await transport.ask(volumePath(standIn), { method: 'PUT', body, signal: options.signal })
    await transport.ask(volumePath(standIn), { method: 'POST', body: { name: spec.volume }, signal: options.signal, waits: true })
  }

  return async (spec, make, options) => {
    const standIn = { pool: spec.pool, volume: `${standInPrefix}${createHash('sha256').update(spec.volume).digest('hex').slice(0, 24)}` }
    if (await madeByAnother(spec, standIn, options)) return
    let made = false
    try {
      await make(standIn)
      made = true
      await finish(spec, standIn, options)
    } catch (error) {
      const aborted = options.signal?.aborted === true
      // What the engine fails to make it undoes itself.
      if (made || aborted) leave(standIn)
      const taken = isEngineError(error, 'conflict') || (error instanceof EngineError && /already (exists|in use)/i.test(error.message))
      if (!taken || aborted) throw error
      // Somebody else was quicker: with the stand-in, or with the name.
      if (await madeByAnother(spec, standIn, options)) return
      throw new EngineError('busy', `${spec.volume} is being made by another`, { cause: error })
    }
  }
}
