import type { Instance } from '@zhisuan/engines/compute'
import type { Db } from '../../../platform/db/database.ts'
import type { Platform } from '../../../platform/platform.ts'
import { repeat, type FollowedCloud, type Observer } from '../follow/follow.ts'
import { sampleEveryMs, type Metrics } from './vm.metrics.ts'
import { addressesOf, statusOf } from './vm.steps.ts'
import * as store from './vm.store.ts'
import type { Address, Observation } from './vm.store.ts'

/** A started instance gets its address some time later, and no event tells of it. */
const addressLooksMs = [1_000, 2_000, 4_000, 8_000, 16_000]
/** Above this many instances on one cloud, usage is sampled only while somebody looks at charts. */
const sampledAlways = 2_000

/** Keeps what we know of instances true, and samples what they use. It never changes the engine. */
export function createVmSync(parts: Pick<Platform, 'pause'> & { db: Db; metrics: Metrics }): Observer {
  const { db, metrics, pause } = parts

  /** Compares rows with what the engine has. */
  const compare = async ({ id, engine }: FollowedCloud, names: readonly string[] | null): Promise<void> => {
    // Rows first: whatever an operation changes after this has another revision, and wins.
    // What is being made or removed is its operation's to tell of, and the engine is busy with it.
    const rows = (await store.rowsOfCloud(db, id, names)).filter(({ status }) => names === null || (status !== 'creating' && status !== 'deleting'))
    if (rows.length === 0) return
    const instances =
      names === null
        ? await engine.instances.list()
        : (await Promise.all(rows.map((row) => engine.instances.get(row.engine_name)))).filter((instance) => instance !== null)
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

  const sample = async ({ id, engine, signal }: FollowedCloud): Promise<void> => {
    const few = ((await store.countByCloud(db, [id])).get(id) ?? 0) <= sampledAlways
    if (few || metrics.watches(id)) metrics.record(id, await engine.instances.usage({ signal }))
  }

  return {
    name: 'instances',
    concerns: (event) => (event.type === 'instance' ? event.name : null),
    look: compare,
    later: (event) => (event.type === 'instance' && /start|restart|resume|create/.test(event.action) ? addressLooksMs : []),
    // The next sample comes soon: one that fails leaves a gap, nothing else.
    beside: (cloud) => repeat(sampleEveryMs, cloud.signal, () => sample(cloud).catch(() => undefined), pause),
    left: (id) => metrics.forget(id),
  }
}

type Row = Awaited<ReturnType<typeof store.rowsOfCloud>>[number]

/** What to record of a row; null where nothing differs. */
export function look(row: Pick<Row, 'id' | 'status' | 'observed' | 'addresses' | 'node' | 'revision'>, instance: Instance | undefined): Observation | null {
  // It failed to be made: what may be left of it is not what was asked for, and to be deleted.
  if (row.status === 'error' && row.observed === null) return null
  if (instance === undefined) {
    // Not there yet, or being removed: its operation tells. Nor does one that failed to be made come to be lost.
    if (row.observed === null || row.status === 'creating' || row.status === 'deleting' || row.status === 'error') return null
    if (row.observed === 'lost' && row.status === 'lost') return null
    return { id: row.id, revision: row.revision, observed: 'lost', addresses: [], node: null }
  }
  const observed = statusOf(instance)
  const addresses = addressesOf(instance)
  // An engine of one host names no place: then it is the one that was chosen.
  const node = instance.location ?? row.node
  const same = row.observed === observed && row.status === observed && row.node === node && sameAddresses(row.addresses, addresses)
  return same ? null : { id: row.id, revision: row.revision, observed, addresses, node }
}

const sameAddresses = (left: readonly Address[], right: readonly Address[]): boolean =>
  left.length === right.length && left.every((one, index) => one.address === right[index]?.address)
