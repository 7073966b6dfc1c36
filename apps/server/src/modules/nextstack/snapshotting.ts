import type { PersonOf } from '../../platform/auth/later.ts'
import type { Migrations } from '../../platform/db/database.ts'
import type { Handler } from '../../platform/http/handler.ts'
import type { AnyOperation } from '../../platform/operations.ts'
import type { Platform } from '../../platform/platform.ts'
import type { CloudService } from '../cmp/cloud/cloud.service.ts'
import type { Observer } from './follow/follow.ts'
import type { QuotaService } from './quota/quota.service.ts'
import { createScheduleRunner } from './snapshot/schedule.runner.ts'
import { createScheduleService } from './snapshot/schedule.service.ts'
import { scheduleMigrations } from './snapshot/schedule.store.ts'
import { createSnapshotObserver } from './snapshot/snapshot.observer.ts'
import { createSnapshotOperations } from './snapshot/snapshot.operations.ts'
import { snapshotRoutes } from './snapshot/snapshot.routes.ts'
import { createSnapshotService } from './snapshot/snapshot.service.ts'
import { snapshotMigrations } from './snapshot/snapshot.store.ts'
import type { VmService } from './vm/vm.service.ts'

export const snapshottingMigrations: Migrations = { ...snapshotMigrations, ...scheduleMigrations }

/** Snapshots of instances, made by people and by the clock. */
export function createSnapshotting(
  platform: Pick<Platform, 'db' | 'operations' | 'now' | 'log' | 'pause' | 'kinds'>,
  others: { clouds: CloudService; quotas: QuotaService; vms: Pick<VmService, 'clone'>; personOf: PersonOf },
): {
  handlers: readonly Handler[]
  operations: readonly AnyOperation[]
  observer: Observer
  /** Runs schedules. */
  runner: { start(): void; stop(): Promise<void> }
} {
  const { db } = platform
  const operations = createSnapshotOperations({ db, clouds: others.clouds, operations: platform.operations })
  const snapshots = createSnapshotService(platform, { ...others, operations })
  return {
    handlers: snapshotRoutes(snapshots, createScheduleService(platform)),
    operations: [operations.create, operations.restore, operations.delete],
    observer: createSnapshotObserver({ db }),
    runner: createScheduleRunner(platform, { clouds: others.clouds, snapshots, personOf: others.personOf }),
  }
}
