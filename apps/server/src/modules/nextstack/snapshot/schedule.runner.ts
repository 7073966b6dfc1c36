import { snapshots } from '@zhisuan/contract/nextstack/snapshot'
import { vmTransitional } from '@zhisuan/contract/nextstack/vm'
import { platformScope } from '../../../platform/auth/actor.ts'
import { mayStill, type PersonOf } from '../../../platform/auth/later.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { Refusal } from '../../../platform/errors.ts'
import { toRefusal } from '../../../platform/http/problems.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { CloudService } from '../../cmp/cloud/cloud.service.ts'
import { repeat } from '../follow/follow.ts'
import * as vmStore from '../vm/vm.store.ts'
import * as store from './schedule.store.ts'
import type { ScheduleRow } from './schedule.store.ts'
import { nextRun, snapshotNameOf } from './schedule.times.ts'
import type { SnapshotService } from './snapshot.service.ts'
import { isNameTaken } from './snapshot.store.ts'

export const lookEveryMs = 2_000
/** How many are begun by one look. */
const atOnce = 100
/** After this long it is tried again where something else was being done, if the next run does not come before. */
const againMs = 60_000
const passes = new Set<string>(['operationRunning', 'cloudMaintenance', 'cloudOffline', 'databaseUnavailable', 'changedMeanwhile'])

/**
 * Begins the snapshots whose time has come. A run moves the schedule on in the transaction that
 * begins its snapshot: so it is run once, by however many servers, and once also where many were
 * missed.
 */
export function createScheduleRunner(
  platform: Pick<Platform, 'db' | 'now' | 'log' | 'pause' | 'kinds'>,
  parts: { clouds: Pick<CloudService, 'forChange'>; snapshots: Pick<SnapshotService, 'take'>; personOf: PersonOf },
) {
  const { db, now, log, pause } = platform
  const stopping = new AbortController()
  let running: Promise<void> = Promise.resolve()

  /** The schedule, held, if it is due still: somebody may have run or changed it since it was looked for. */
  const lockDue = async (tx: Tx, id: string): Promise<ScheduleRow | undefined> => {
    const schedule = await store.lockSchedule(tx, platformScope, id)
    return schedule?.next_run_at !== null && schedule?.next_run_at !== undefined && schedule.next_run_at <= now() ? schedule : undefined
  }

  /** Whoever wished for it has to be allowed to make a snapshot of this instance now: rights that were taken make nothing any more. */
  const judge = async ({ wished_by, vm_id }: { wished_by: string | null; vm_id: string }): Promise<void> => {
    if (wished_by === null) return
    const actor = await parts.personOf(wished_by)
    if (actor === null || !(await mayStill(platform, actor, snapshots.create, { vm_id }))) throw new Refusal('scheduleNoPerson')
  }

  const begin = async (tx: Tx, due: { id: string; vm_id: string; cloud_id: string }): Promise<void> => {
    await parts.clouds.forChange(tx, due.cloud_id)
    const vm = await vmStore.lockVm(tx, platformScope, due.vm_id)
    const schedule = await lockDue(tx, due.id)
    if (vm === undefined || schedule === undefined) return
    if (vmTransitional.includes(vm.status)) throw new Refusal('operationRunning')
    const moment = now()
    let attempt = 1
    while (await isNameTaken(tx, vm.id, snapshotNameOf(schedule, moment, attempt))) attempt += 1
    await parts.snapshots.take(tx, vm, { name: snapshotNameOf(schedule, moment, attempt), description: '' }, { actor: null, schedule })
    await store.updateSchedule(tx, schedule.id, { last_run_at: moment, next_run_at: nextRun(schedule, moment) })
  }

  const fail = async (tx: Tx, id: string, refusal: Refusal): Promise<void> => {
    const schedule = await lockDue(tx, id)
    if (schedule === undefined) return
    const moment = now()
    const regular = nextRun(schedule, moment)
    const again = new Date(moment.getTime() + againMs)
    await store.updateSchedule(tx, id, {
      last_error: refusal.message,
      ...(passes.has(refusal.refusal) ? { next_run_at: again < regular ? again : regular } : { last_run_at: moment, next_run_at: regular }),
    })
  }

  const runDue = async (): Promise<void> => {
    for (const due of await store.dueSchedules(db, now(), atOnce)) {
      if (stopping.signal.aborted) return
      try {
        await judge(due)
        await db.transaction().execute((tx) => begin(tx, due))
      } catch (error) {
        const refusal = toRefusal(error)
        log[refusal.refusal === 'unknown' ? 'error' : 'info']({ err: error, schedule: due.id }, 'a scheduled snapshot was not begun')
        await db.transaction().execute((tx) => fail(tx, due.id, refusal))
      }
    }
  }

  return {
    start(): void {
      running = repeat(lookEveryMs, stopping.signal, () => runDue().catch((error: unknown) => log.error({ err: error }, 'running snapshot schedules')), pause)
    },
    async stop(): Promise<void> {
      stopping.abort()
      await running
    },
  }
}
