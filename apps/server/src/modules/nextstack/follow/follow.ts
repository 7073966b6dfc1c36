import type { ComputeEngine, EngineEvent } from '@zhisuan/engines/compute'
import type { Logger } from 'pino'
import { gatherLooks } from '../../../platform/looks.ts'
import { pause } from '../../../platform/platform.ts'
import type { CloudService } from '../../cmp/cloud/cloud.service.ts'

/** Everything is looked at again this often, whatever the events said: what was missed is found. */
const everythingEveryMs = 60_000

/** A cloud while it is followed with one and the same engine. */
export interface FollowedCloud {
  readonly id: string
  readonly engine: ComputeEngine
  /** Aborted when the cloud is no longer followed, or its engine was opened anew. */
  readonly signal: AbortSignal
}

/** Keeps rows of some kind true to what engines have. */
export interface Observer {
  /** For the log. */
  readonly name: string
  /** Which object an event is about, by whatever name `look` knows it; null where it is not the observer's. */
  concerns(event: EngineEvent): string | null
  /** Compares these objects with the engine, or all there are (null). Never two looks at one cloud at a time. */
  look(cloud: FollowedCloud, names: readonly string[] | null): Promise<void>
  /** Waits after which an object is looked at once more, for what no event tells. */
  later?(event: EngineEvent): readonly number[]
  /** Goes on beside it for as long as the cloud is followed. */
  beside?(cloud: FollowedCloud): Promise<void>
  /** The cloud is followed no longer. */
  left?(cloudId: string): void
}

/**
 * Follows the engine of each cloud by one subscription that all observers share: whatever changes
 * there, by whomever, shows here. Reads everything when the stream was cut, and once a minute.
 */
export function createFollower(parts: { clouds: Pick<CloudService, 'all' | 'engine' | 'onChange'>; observers: readonly Observer[]; log: Logger }) {
  const { clouds, observers, log } = parts
  const following = new Map<string, { engine: ComputeEngine; stop: AbortController }>()
  const stopping = new AbortController()

  const follow = async (cloud: FollowedCloud): Promise<void> => {
    const { signal } = cloud
    const gatherers = observers.map((observer) => ({
      observer,
      gather: gatherLooks(
        signal,
        (names) => observer.look(cloud, names),
        (error) => log.warn({ err: error, cloud: cloud.id, observer: observer.name }, 'looking at a cloud'),
      ),
    }))
    for (const { observer, gather } of gatherers) {
      void repeat(everythingEveryMs, signal, async () => gather(null))
      void observer.beside?.(cloud).catch((error: unknown) => {
        if (!signal.aborted) log.error({ err: error, cloud: cloud.id, observer: observer.name }, 'beside following a cloud')
      })
    }
    for await (const event of cloud.engine.events({ signal })) {
      for (const { observer, gather } of gatherers) {
        if (event.type === 'connected') {
          gather(null)
          continue
        }
        const name = observer.concerns(event)
        if (name === null) continue
        gather(name)
        for (const delay of observer.later?.(event) ?? []) {
          const timer = setTimeout(() => gather(name), delay).unref()
          signal.addEventListener('abort', () => clearTimeout(timer), { once: true })
        }
      }
    }
  }

  /** Follows the clouds there are now, and no others. */
  const adjust = async (): Promise<void> => {
    const wanted = (await clouds.all()).filter((cloud) => cloud.product === 'nextstack' && cloud.status !== 'offline')
    const engines = new Map<string, ComputeEngine>()
    for (const { id } of wanted) {
      // Removed meanwhile, or its secrets cannot be opened: the others are followed all the same.
      const engine = await clouds.engine(id).catch((error: unknown) => log.warn({ err: error, cloud: id }, 'a cloud that cannot be followed'))
      if (engine !== undefined) engines.set(id, engine)
    }
    for (const [id, { engine, stop }] of following) {
      if (engines.get(id) === engine) continue
      stop.abort()
      following.delete(id)
      for (const observer of observers) observer.left?.(id)
    }
    for (const [id, engine] of engines) {
      if (following.has(id) || stopping.signal.aborted) continue
      const stop = new AbortController()
      following.set(id, { engine, stop })
      follow({ id, engine, signal: AbortSignal.any([stop.signal, stopping.signal]) }).catch((error: unknown) =>
        log.error({ err: error, cloud: id }, 'following a cloud'),
      )
    }
  }

  return {
    async start(): Promise<void> {
      // One after the other, so that what was read last decides.
      let last = adjust()
      clouds.onChange(() => {
        last = last.then(adjust).catch((error: unknown) => log.error({ err: error }, 'adjusting which clouds are followed'))
      })
      await last
    },
    async stop(): Promise<void> {
      stopping.abort()
      await Promise.resolve()
    },
  }
}

/** Runs something every so often until the signal is aborted. */
export async function repeat(everyMs: number, signal: AbortSignal, run: () => Promise<void>, wait = pause): Promise<void> {
  while (!signal.aborted) {
    await wait(everyMs, signal).catch(() => undefined)
    if (!signal.aborted) await run()
  }
}
