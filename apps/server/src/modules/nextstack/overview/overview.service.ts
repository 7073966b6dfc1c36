import {
  overviewKinds,
  type OverviewAlarm,
  type OverviewCounts,
  type OverviewEvent,
  type TrendRange,
  type TrendSample,
} from '@zhisuan/contract/nextstack/overview'
import { z } from 'zod'
import type { Scope } from '../../../platform/auth/actor.ts'
import { iso, isoOrNull } from '../../../platform/db/database.ts'
import { defineJob, handleJob, type JobHandler } from '../../../platform/jobs.ts'
import { namesNow } from '../../../platform/kinds.ts'
import type { Platform } from '../../../platform/platform.ts'
import { shownStatus } from '../../../platform/history.ts'
import * as store from './overview.store.ts'
import type { EventRow, StatusCount } from './overview.store.ts'

/** Samples are so far apart, on the even minute. */
const sampleEveryMs = 600_000
/** A little longer than the longest range that is shown. */
const samplesKeptMs = 31 * 24 * 3_600_000
/** Failures younger than this come first. */
const failedFirstMs = 24 * 3_600_000

export type OverviewService = ReturnType<typeof createOverview>

export const sampleOverviewJob = defineJob({ name: 'nextstack.overview.sample', input: z.object({}), concurrency: 1, schedule: '*/10 * * * *' })

/** What there is, in short: for the first page of the console. */
export function createOverview({ db, operations, now, kinds }: Pick<Platform, 'db' | 'operations' | 'now' | 'kinds'>) {
  const alarmsOf = async (scope: Scope, counted: readonly StatusCount[]): Promise<OverviewAlarm[]> => {
    const [clouds, hosts] = await Promise.all([store.cloudsInTrouble(db, scope), 'everything' in scope ? store.hostsInTrouble(db) : []])
    return [
      ...clouds.map(({ id, name, health }) => ({ type: 'cloud' as const, id, name, health })),
      ...hosts.map(({ id, name, cloud_name, status }) => ({
        type: 'host' as const,
        id,
        name,
        cloud_name,
        status: status === 'gone' ? ('gone' as const) : ('offline' as const),
      })),
      ...counted.flatMap(({ kind, status, count }) =>
        status === 'error' || status === 'lost' ? [{ type: 'resource' as const, kind, status: status as 'error' | 'lost', count }] : [],
      ),
    ]
  }

  /** Under the names they have now; of what was deleted, under its last known one. */
  const shapeEvents = async (rows: readonly EventRow[]): Promise<OverviewEvent[]> => {
    const named = await Promise.all(
      [...Map.groupBy(rows, ({ resource_type }) => resource_type)].map(([kind, of]) =>
        namesNow(
          db,
          kinds().get(kind) ?? {},
          of.map(({ resource_id }) => resource_id),
        ),
      ),
    )
    const known = new Map(named.flat().map((one) => [one.id, one]))
    return rows.map((row) => ({
      id: row.id,
      kind: row.kind,
      resource: kinds().get(row.resource_type)?.page?.kind ?? row.resource_type,
      resource_id: known.get(row.resource_id)?.page_id ?? row.resource_id,
      resource_name: known.get(row.resource_id)?.name ?? row.resource_name,
      exists: known.has(row.resource_id),
      status: shownStatus(row),
      error: operations.said(row).error,
      actor_name: row.actor_name,
      bp_name: row.bp_name,
      created_at: iso(row.created_at),
      finished_at: isoOrNull(row.finished_at),
    }))
  }

  const takeSample = async (): Promise<void> => {
    const at = now().getTime()
    await store.takeSample(db, new Date(at - (at % sampleEveryMs)))
    await store.forgetSamples(db, new Date(at - samplesKeptMs))
  }

  return {
    async get(scope: Scope): Promise<{ resources: OverviewCounts[]; promised: { cpu_cores: number; memory_bytes: number }; alarms: OverviewAlarm[] }> {
      const counted = await store.countStatuses(db, kinds(), scope)
      const sum = (of: 'cpu_cores' | 'memory_bytes'): number => counted.reduce((all, one) => all + one[of], 0)
      const resources = overviewKinds.map((kind) => {
        const statuses = counted.filter((one) => one.kind === kind).map(({ status, count }) => ({ status, count }))
        return { kind, total: statuses.reduce((all, { count }) => all + count, 0), statuses }
      })
      return { resources, promised: { cpu_cores: sum('cpu_cores'), memory_bytes: sum('memory_bytes') }, alarms: await alarmsOf(scope, counted) }
    },

    async events(scope: Scope, limit: number): Promise<{ items: OverviewEvent[] }> {
      const [failed, newest] = await Promise.all([
        store.failedSince(db, kinds(), scope, new Date(now().getTime() - failedFirstMs), Math.ceil(limit / 2)),
        store.newestEvents(db, kinds(), scope, limit),
      ])
      const first = new Set(failed.map(({ id }) => id))
      return { items: await shapeEvents([...failed, ...newest.filter(({ id }) => !first.has(id))].slice(0, limit)) }
    },

    async trends(scope: Scope, range: TrendRange): Promise<{ since: string | null; items: TrendSample[] }> {
      const at = now()
      const [since, items, current] = await Promise.all([store.firstSample(db), store.samples(db, scope, range, at), store.totals(db, scope)])
      return { since: isoOrNull(since), items: [...items, { at: iso(at), ...current }] }
    },

    takeSample,
    jobHandler: handleJob(sampleOverviewJob, takeSample) satisfies JobHandler,
  }
}
