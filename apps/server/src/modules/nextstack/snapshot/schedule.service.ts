import type { BodyOf, QueryOf } from '@zhisuan/contract/define'
import type { SnapshotSchedule, snapshotSchedules } from '@zhisuan/contract/nextstack/snapshot'
import { authoredBy, scopeOf, type Actor, type Scope } from '../../../platform/auth/actor.ts'
import { isoOrNull, type Tx } from '../../../platform/db/database.ts'
import { shapedPage } from '../../../platform/db/page.ts'
import { found, Refusal } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import { shapeOwned } from '../../../platform/resource.shape.ts'
import * as vmStore from '../vm/vm.store.ts'
import * as store from './schedule.store.ts'
import type { ShownSchedule } from './schedule.store.ts'
import { nextRun } from './schedule.times.ts'

type Calls = typeof snapshotSchedules

export type ScheduleService = ReturnType<typeof createScheduleService>

export function createScheduleService({ db, now }: Pick<Platform, 'db' | 'now'>) {
  const shownNow = async (tx: Tx, actor: Actor, id: string): Promise<SnapshotSchedule> => shape(found(await store.getSchedule(tx, scopeOf(actor), id)))
  /** What of a schedule a person says, and what follows from it. */
  const wished = (body: BodyOf<Calls['update']>) => ({
    name: body.name,
    description: body.description,
    rhythm: body.rhythm,
    at: body.at,
    weekday: body.weekday,
    time_zone: body.time_zone,
    keep: body.keep,
    enabled: body.enabled,
    next_run_at: body.enabled ? nextRun(body, now()) : null,
  })

  return {
    list: (scope: Scope, query: QueryOf<Calls['list']>) => shapedPage(store.listSchedules(db, scope, query), shape),

    async create(actor: Actor, body: BodyOf<Calls['create']>): Promise<SnapshotSchedule> {
      return db.transaction().execute(async (tx) => {
        const vm = await vmStore.lockVm(tx, scopeOf(actor), body.vm_id)
        if (vm === undefined) throw new Refusal('notFound', { field: 'vm_id' })
        const id = uuidv7()
        await store.insertSchedule(tx, {
          id,
          cloud_id: vm.cloud_id,
          bp_id: vm.bp_id,
          vm_id: vm.id,
          ...wished(body),
          wished_by: actor.user_id,
          ...authoredBy(actor),
        })
        return shownNow(tx, actor, id)
      })
    },

    /** What went wrong before is forgotten: it may have been this that was changed. */
    async update(actor: Actor, id: string, body: BodyOf<Calls['update']>): Promise<SnapshotSchedule> {
      return db.transaction().execute(async (tx) => {
        found(await store.lockSchedule(tx, scopeOf(actor), id))
        await store.updateSchedule(tx, id, { ...wished(body), wished_by: actor.user_id, last_error: null })
        return shownNow(tx, actor, id)
      })
    },

    async delete(actor: Actor, id: string): Promise<void> {
      if (!(await store.deleteSchedule(db, scopeOf(actor), id))) throw new Refusal('notFound')
    },
  }
}

const shape = (row: ShownSchedule): SnapshotSchedule => ({
  ...shapeOwned(row),
  vm: row.vm,
  rhythm: row.rhythm,
  at: row.at,
  weekday: row.weekday,
  time_zone: row.time_zone,
  keep: row.keep,
  enabled: row.enabled,
  last_run_at: isoOrNull(row.last_run_at),
  last_error: row.last_error,
  next_run_at: isoOrNull(row.next_run_at),
})
