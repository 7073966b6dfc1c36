import type { Volume as EngineVolume } from '@zhisuan/engines/storage'
import type { Db } from '../../../platform/db/database.ts'
import { idsOf } from '../../../platform/ids.ts'
import type { FollowedCloud, Observer } from '../follow/follow.ts'
import * as snapshots from './volume-snapshot.store.ts'
import { factsOf, isOurs } from './volume.facts.ts'
import * as store from './volume.store.ts'
import type { VolumeFacts } from './volume.store.ts'

type Row = Awaited<ReturnType<typeof store.restingOfCloud>>[number]

/** How many volumes are asked about at once. */
const atOnce = 8
/** Of more volumes than these a look at everything leaves their snapshots out: what changes there is told by events. */
const snapshotsLookedThrough = 2_000

/** Keeps what we know of volumes and their snapshots true to the engine. It never changes that. */
export function createVolumeObserver({ db }: { db: Db }): Observer {
  const record = async (cloudId: string, rows: readonly Row[], there: ReadonlyMap<string, EngineVolume>): Promise<void> => {
    const vms = await store.vmsByEngineName(db, cloudId, [...new Set([...there.values()].flatMap(({ attached }) => attached.map(({ instance }) => instance)))])
    const seen = rows.flatMap((row) => {
      const facts = factsOf(row, there.get(keyOf(row.pool, row.engine_name)), vms)
      return differs(row, facts) ? [{ id: row.id, revision: row.revision, ...facts }] : []
    })
    if (seen.length > 0) await store.recordObservations(db, seen)
  }

  const recordSnapshots = async ({ engine, signal }: FollowedCloud, rows: readonly Row[]): Promise<void> => {
    const known = Map.groupBy(await snapshots.restingOf(db, idsOf(rows)), ({ volume_id }) => volume_id)
    const { volumes } = engine.storage
    await some(
      rows.filter(({ id }) => known.has(id)),
      async (row) => {
        const there = new Set((await volumes.snapshots.list({ pool: row.pool, volume: row.engine_name }, { signal })).map(({ name }) => name))
        for (const { id, engine_name, status } of known.get(row.id) ?? []) {
          const now = there.has(engine_name) ? 'available' : 'lost'
          if (now !== status) await snapshots.recordSnapshot(db, id, status, now)
        }
      },
    )
  }

  return {
    name: 'volumes',
    concerns(event) {
      // Which of its disks changed no event says.
      if (event.type === 'instance') return /updated|deleted|renamed/.test(event.action) ? event.name : null
      if (event.type !== 'object' || event.within === null) return null
      if (event.kind === 'volume') return keyOf(event.within, event.name)
      return event.kind === 'volume-snapshot' ? event.within : null
    },
    async look(cloud, names) {
      const { id, engine, signal } = cloud
      const { volumes } = engine.storage
      const only = names === null ? null : await named(cloud, names)
      // Rows first: whatever an operation changes after this has another revision, and wins.
      const rows = await store.restingOfCloud(db, id, only)
      if (rows.length === 0) return
      const found =
        only === null
          ? await volumes.list(undefined, { signal })
          : (await some(rows, (row) => volumes.get({ pool: row.pool, volume: row.engine_name }, { signal }))).filter((volume) => volume !== null)
      const there = new Map(found.map((volume) => [keyOf(volume.pool, volume.volume), volume]))
      await record(id, rows, there)
      const asked =
        names === null ? (rows.length <= snapshotsLookedThrough ? rows : []) : rows.filter((row) => names.includes(keyOf(row.pool, row.engine_name)))
      await recordSnapshots(
        cloud,
        asked.filter((row) => {
          const volume = there.get(keyOf(row.pool, row.engine_name))
          return volume !== undefined && isOurs(volume, row.id)
        }),
      )
    },
  }
}

/** Of instances that changed: what they have now, and what they had. */
async function named({ engine, signal }: FollowedCloud, names: readonly string[]): Promise<{ volumes: string[]; instances: string[] }> {
  const instances = names.filter((name) => !name.includes('/'))
  const volumes = names.filter((name) => name.includes('/')).map((name) => name.slice(name.indexOf('/') + 1))
  const attached = await some(instances, (instance) => engine.storage.volumes.attachedTo(instance, { signal }))
  return { volumes: [...volumes, ...attached.flat().map(({ volume }) => volume)], instances }
}

const keyOf = (pool: string, volume: string): string => `${pool}/${volume}`

/** Whether there is something to record. One that failed to be made is to be deleted, whatever is left of it. */
function differs(row: Row, facts: VolumeFacts): boolean {
  if (row.observed === null) return false
  return (
    row.observed !== facts.observed ||
    row.status !== facts.observed ||
    row.vm_id !== facts.vm_id ||
    row.path !== facts.path ||
    row.size_bytes !== facts.size_bytes ||
    row.used_bytes !== facts.used_bytes ||
    row.node !== facts.node
  )
}

/** A few at a time. */
async function some<T, R>(list: readonly T[], ask: (one: T) => Promise<R>): Promise<R[]> {
  const answers: R[] = []
  for (let from = 0; from < list.length; from += atOnce) answers.push(...(await Promise.all(list.slice(from, from + atOnce).map(ask))))
  return answers
}
