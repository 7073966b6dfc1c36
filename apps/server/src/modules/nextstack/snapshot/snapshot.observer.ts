import type { Snapshot } from '@zhisuan/engines/storage'
import { isEngineError } from '@zhisuan/engines/errors'
import type { Db } from '../../../platform/db/database.ts'
import { idsOf, uuidv7 } from '../../../platform/ids.ts'
import type { FollowedCloud, Observer } from '../follow/follow.ts'
import * as store from './snapshot.store.ts'
import type { KnownSnapshot, Watched } from './snapshot.store.ts'

/** How many instances are asked for their snapshots at once. */
const atOnce = 8
/** Of more than these, a look at everything sees only instances with snapshots; that another gets one is told by events. */
const few = 200

/** Keeps what we know of snapshots true: those that somebody makes on the engine appear, those that go there are lost. It never changes the engine. */
export function createSnapshotObserver({ db }: { db: Db }): Observer {
  const look = async ({ engine, signal }: FollowedCloud, vm: Watched, rows: readonly KnownSnapshot[]): Promise<void> => {
    const there = await engine.instances.snapshots.list(vm.engine_name, { signal }).catch((error: unknown) => {
      if (isEngineError(error, 'not_found')) return []
      throw error
    })
    const byName = new Map(there.map((one) => [one.name, one]))
    for (const row of rows) {
      const seen = compare(row, byName.get(row.engine_name))
      if (seen === 'gone') await store.forgetSeen(db, row)
      else if (seen !== null) await store.recordSeen(db, row, seen)
      byName.delete(row.engine_name)
    }
    const names = new Set(rows.map(({ name }) => name))
    for (const { name, sizeBytes, createdAt } of byName.values()) {
      await store.adopt(db, vm, { id: uuidv7(), name: freeName(name, names), engine_name: name, size_bytes: sizeBytes, created_at: createdAt })
    }
  }

  return {
    name: 'snapshots',
    concerns(event) {
      if (event.type === 'object') return event.kind === 'instance-snapshot' ? event.within : null
      // With an instance go its snapshots.
      return event.type === 'instance' && event.action.includes('delete') ? event.name : null
    },
    async look(cloud, names) {
      // Rows first: whatever changes after this has another revision, and wins.
      const vms = await store.watched(db, cloud.id, names, few)
      const rows = Map.groupBy(await store.snapshotsOf(db, idsOf(vms)), ({ vm_id }) => vm_id)
      const failed: unknown[] = []
      for (let from = 0; from < vms.length; from += atOnce) {
        const looks = await Promise.allSettled(vms.slice(from, from + atOnce).map((vm) => look(cloud, vm, rows.get(vm.id) ?? [])))
        failed.push(...looks.flatMap((one) => (one.status === 'rejected' ? [one.reason] : [])))
      }
      // One that cannot be looked at keeps no other from it.
      if (failed.length > 0) throw failed[0]
    },
  }
}

/** What to record of one; null where nothing differs, or its operation tells. */
export function compare(
  row: Pick<KnownSnapshot, 'status' | 'size_bytes' | 'foreign_made'>,
  seen: Pick<Snapshot, 'sizeBytes'> | undefined,
): { status: 'available' | 'lost'; size_bytes: number | null } | 'gone' | null {
  if (row.status !== 'available' && row.status !== 'lost') return null
  if (seen === undefined) {
    if (row.foreign_made) return 'gone'
    return row.status === 'lost' ? null : { status: 'lost', size_bytes: row.size_bytes }
  }
  const size = seen.sizeBytes ?? row.size_bytes
  return row.status === 'available' && size === row.size_bytes ? null : { status: 'available', size_bytes: size }
}

/** As the engine calls it, if none of the instance's is called so. */
function freeName(name: string, taken: Set<string>): string {
  let free = name
  for (let number = 2; taken.has(free); number++) free = `${name}-${number}`
  taken.add(free)
  return free
}
