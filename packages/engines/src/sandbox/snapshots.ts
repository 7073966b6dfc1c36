import type { z } from 'zod'
import type { InstanceSnapshots } from '../compute.ts'
import { EngineError } from '../errors.ts'
import { checkSnapshotName } from '../storage.checks.ts'
import { bytesOn, copyOf, type Disk, type kept } from './disk.ts'
import type { Parts } from './parts.ts'

export type Snapshots = Readonly<Record<string, z.output<typeof kept>>>

/** What is taken snapshots of. */
export interface Roots {
  /** Throws `not_found`. */
  must(name: string): Disk & { diskBytes: number; snapshots: Snapshots }
  find(name: string): { snapshots: Snapshots } | undefined
  keep(name: string, snapshots: Snapshots): void
  /** Sets the root disk back, of a running one as by a kill and a start. */
  setBack(name: string, to: Disk): void
}

export function mustHaveSnapshot(name: string, snapshots: Snapshots, snapshot: string): z.output<typeof kept> {
  const then = snapshots[snapshot]
  if (then === undefined) throw new EngineError('not_found', `no snapshot ${snapshot} of ${name}`)
  return then
}

export const createSandboxSnapshots = ({ enter, work, tell }: Parts, now: () => Date, roots: Roots): InstanceSnapshots => ({
  async list(name, call) {
    await enter(call)
    return Object.entries(roots.must(name).snapshots).map(([each, then]) => ({ name: each, createdAt: new Date(then.createdAt), sizeBytes: bytesOn(then) }))
  },
  async create(name, snapshot, call) {
    await work(call)
    checkSnapshotName(snapshot)
    const one = roots.must(name)
    if (one.snapshots[snapshot] !== undefined) return
    roots.keep(name, { ...one.snapshots, [snapshot]: { ...copyOf(one), createdAt: now().getTime(), sizeBytes: one.diskBytes } })
    tell('instance-snapshot', snapshot, 'instance-snapshot-created', name)
  },
  async restore(name, snapshot, call) {
    await work(call)
    roots.setBack(name, copyOf(mustHaveSnapshot(name, roots.must(name).snapshots, snapshot)))
  },
  async delete(name, snapshot, call) {
    await work(call)
    const { [snapshot]: gone, ...rest } = roots.find(name)?.snapshots ?? {}
    if (gone === undefined) return
    roots.keep(name, rest)
    tell('instance-snapshot', snapshot, 'instance-snapshot-deleted', name)
  },
})
