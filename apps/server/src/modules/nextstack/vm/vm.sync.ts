import { setTimeout as sleep } from 'node:timers/promises'
import type { ComputeEngine, Instance } from '@zhisuan/engines/compute'
import type { Logger } from 'pino'
import type { Db } from '../../../platform/db/database.ts'
import type { CloudService } from '../../cmp/cloud/cloud.service.ts'
import { sampleEveryMs, type Metrics } from './vm.metrics.ts'
import { addressesOf, statusOf } from './vm.operations.ts'
import * as store from './vm.store.ts'
import type { Address, Observation } from './vm.store.ts'

/** Everything is read again this often, whatever the events said: what was missed is found. */
const fullSyncEveryMs = 60_000
/** Events of one instance come in bursts; they are answered by one look. */
const gatherMs = 50
/** A started instance gets its address some time later, and no event tells of it. */
const addressLooksMs = [1_000, 2_000, 4_000, 8_000, 16_000]
/** Above this many instances on one cloud, usage is sampled only while somebody looks at charts. */
const sampledAlways = 2_000

/**
 * Keeps what we know of instances true: follows each cloud's event stream, reads everything when
 * the stream was cut and once a minute, and records the difference. It never changes the engine.
 */
export function createVmSync(parts: { db: Db; clouds: CloudService; metrics: Metrics; log: Logger }) {
  const { db, clouds, metrics, log } = parts
  const following = new Map<string, { engine: ComputeEngine; stop: AbortController }>()
  const stopping = new AbortController()

  /** Compares rows with what the engine has. `names` null means all there are. */
  const compare = async (cloudId: string, engine: ComputeEngine, names: readonly string[] | null): Promise<void> => {
    // Rows first: whatever an operation changes after this has another revision, and wins.
    const rows = await store.rowsOfCloud(db, cloudId, names)
    if (rows.length === 0) return
    const instances =
      names === null
        ? await engine.instances.list()
        : (await Promise.all(names.map((name) => engine.instances.get(name)))).filter((instance) => instance !== null)
    const byName = new Map(instances.map((instance) => [instance.name, instance]))
    const seen: Observation[] = []
    for (const row of rows) {
      const instance = byName.get(row.engine_name)
      // What bears the name of one of ours and is somebody else's tells nothing of ours.
      const observation = look(row, instance?.tags['vm_id'] === row.id ? instance : undefined)
      if (observation !== null) seen.push(observation)
    }
    if (seen.length > 0) await store.recordObservations(db, seen)
  }

  const follow = async (cloudId: string, engine: ComputeEngine, signal: AbortSignal): Promise<void> => {
    const waiting = new Set<string>()
    let everything = false
    let gathering: Promise<void> | null = null
    const gather = (): void => {
      gathering ??= (async () => {
        await sleep(gatherMs, undefined, { signal })
        const names = everything ? null : [...waiting]
        everything = false
        waiting.clear()
        gathering = null
        await compare(cloudId, engine, names)
      })().catch((error: unknown) => {
        gathering = null
        if (!signal.aborted) log.warn({ err: error, cloud: cloudId }, 'looking at instances')
      })
    }
    const lookAgain = (name: string): void => {
      for (const delay of addressLooksMs) {
        const timer = setTimeout(() => {
          waiting.add(name)
          gather()
        }, delay)
        timer.unref()
        signal.addEventListener('abort', () => clearTimeout(timer), { once: true })
      }
    }
    for await (const event of engine.events({ signal })) {
      if (event.type === 'connected') everything = true
      else {
        waiting.add(event.name)
        if (/start|restart|resume|create/.test(event.action)) lookAgain(event.name)
      }
      gather()
    }
  }

  /** Runs something every so often until the cloud is no longer followed. */
  const repeat = async (everyMs: number, signal: AbortSignal, what: string, run: () => Promise<void>): Promise<void> => {
    while (!signal.aborted) {
      await sleep(everyMs, undefined, { signal }).catch(() => undefined)
      if (signal.aborted) return
      await run().catch((error: unknown) => {
        if (!signal.aborted) log.debug({ err: error }, what)
      })
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
      metrics.forget(id)
    }
    for (const [id, engine] of engines) {
      if (following.has(id) || stopping.signal.aborted) continue
      const stop = new AbortController()
      following.set(id, { engine, stop })
      const signal = AbortSignal.any([stop.signal, stopping.signal])
      follow(id, engine, signal).catch((error: unknown) => log.error({ err: error, cloud: id }, 'following a cloud'))
      void repeat(fullSyncEveryMs, signal, 'full look at instances', () => compare(id, engine, null))
      void repeat(sampleEveryMs, signal, 'sampling usage', async () => {
        const few = ((await store.countByCloud(db, [id])).get(id) ?? 0) <= sampledAlways
        if (few || metrics.watches(id)) metrics.record(id, await engine.instances.usage({ signal }))
      })
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

type Row = Awaited<ReturnType<typeof store.rowsOfCloud>>[number]

/** What to record of a row; null where nothing differs. */
export function look(row: Pick<Row, 'id' | 'status' | 'observed' | 'addresses' | 'node' | 'revision'>, instance: Instance | undefined): Observation | null {
  if (instance === undefined) {
    // Not there yet, or being removed: its operation tells. Nor does one that failed to be made come to be lost.
    if (row.observed === null || row.status === 'creating' || row.status === 'deleting' || row.status === 'error') return null
    if (row.observed === 'lost' && row.status === 'lost') return null
    return { id: row.id, revision: row.revision, observed: 'lost', addresses: [], node: null }
  }
  const observed = statusOf(instance)
  const addresses = addressesOf(instance)
  const same =
    row.observed === observed && row.status === observed && row.node === instance.location && sameAddresses(row.addresses, addresses)
  return same ? null : { id: row.id, revision: row.revision, observed, addresses, node: instance.location }
}

const sameAddresses = (left: readonly Address[], right: readonly Address[]): boolean =>
  left.length === right.length && left.every((one, index) => one.address === right[index]?.address)
