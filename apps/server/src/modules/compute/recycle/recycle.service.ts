import { recycledCan, type RecycledInstance } from '@zhisuan/contract/compute/recycled'
import type { Server } from '@zhisuan/engines/openstack/compute'
import type { Query } from '@zhisuan/engines/openstack/session'
import { z } from 'zod'
import { platformScope, scopeOf, type Actor } from '../../../platform/auth/actor.ts'
import { iso, isoOrNull } from '../../../platform/db/database.ts'
import { jsonb } from '../../../platform/db/jsonb.ts'
import { refusing } from '../../../platform/db/refusing.ts'
import { found, Refusal } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import { defineJob, handleJob } from '../../../platform/jobs.ts'
import type { OperationDefinition } from '../../../platform/operations.ts'
import type { Platform } from '../../../platform/platform.ts'
import { openedServer } from '../instance/instance.ground.ts'
import { flavorOf } from '../instance/instance.shape.ts'
import { linesOf, merged, type Pages } from '../../../platform/lines.ts'
import { meterBeforeEnd } from '../metering/metering.service.ts'
import type { Tenancy, View } from '../tenancy/tenancy.service.ts'
import { changeableOf, namesOfPlaces } from '../view.ts'
import type { RecycleOperations } from './recycle.operations.ts'
import * as store from './recycle.store.ts'
import type { RecycledRow } from './recycle.store.ts'

const usualDays = 7
const dayMs = 24 * 3600_000

/** Each quarter of an hour: nobody counts on the minute of a purge. */
export const purgeDueJob = defineJob({ name: 'compute.recycled.purgeDue', input: z.object({}), concurrency: 1, schedule: '*/15 * * * *' })

export type RecycleBin = ReturnType<typeof createRecycleBin>

/** Where instances lie that were deleted, until they are restored or their time is over. */
export function createRecycleBin(platform: Pick<Platform, 'db' | 'now' | 'operations' | 'log'>, parts: { tenancy: Tenancy; operations: RecycleOperations }) {
  const { db, now } = platform
  const { tenancy, operations } = parts

  const retention = async (cloudId: string): Promise<{ days: number }> => ({ days: (await store.retentionOf(db, cloudId)) ?? usualDays })

  /** One of our rows goes on to its next state. Nothing where Nova keeps it, and not we. */
  const begin = (actor: Actor, cloudId: string, id: string, how: 'restore' | 'purge'): Promise<RecycledInstance | null> =>
    db.transaction().execute(async (tx) => {
      const row = await store.lockRecycled(tx, scopeOf(actor), cloudId, id)
      if (row === undefined) return null
      if (!(recycledCan[how] as readonly string[]).includes(row.status)) throw new Refusal('recycledNotNow')
      const status = how === 'restore' ? 'restoring' : 'purging'
      await store.updateRecycled(tx, row.id, { status, error_text: null })
      await platform.operations.begin(tx, operations[how] as OperationDefinition<object>, { resource_id: row.id, bp_id: row.bp_id, actor, input: {} })
      return shape({ ...row, status, error_text: null })
    })

  /** One that the cloud itself keeps: it goes on by itself once it is told. */
  const kept = async (view: View, id: string, how: 'restore' | 'forceDelete'): Promise<RecycledInstance> => {
    const { one, cloud } = await changeableOf(view, ({ compute }) => compute.servers.get(id))
    // Another's row, or an instance that lies in no bin.
    if (one.state !== 'soft_deleted') throw new Refusal('notFound')
    await cloud.compute.servers.act(id, how)
    return { ...keptShape(one), status: how === 'restore' ? 'restoring' : 'purging' }
  }

  const goesOn = async (actor: Actor, cloudId: string, id: string, how: 'restore' | 'purge'): Promise<RecycledInstance> => {
    // First: a cloud that may not be changed says so before anything is begun.
    const view = await tenancy.viewForChange(actor, cloudId)
    return (await begin(actor, cloudId, id, how)) ?? kept(view, id, how === 'restore' ? 'restore' : 'forceDelete')
  }

  /** What Nova keeps is told to administrators only, so of a tenant's projects it is asked by name. */
  const softDeleted = async function* (view: View, ours: ReadonlySet<string>, signal: AbortSignal): AsyncGenerator<RecycledInstance[]> {
    const list = (of: Query): Pages<Server> => view.administrator.compute.servers.list({ ...of, status: 'SOFT_DELETED', soft_deleted: true }, signal)
    const mine = new Set(view.places.map(({ keystoneId }) => keystoneId))
    for await (const page of view.everything
      ? list(view.allTenants)
      : merged(view.places.map(({ keystoneId }) => list({ all_tenants: 1, project_id: keystoneId })))) {
      yield page
        .filter(({ id, state, projectId }) => state === 'soft_deleted' && !ours.has(id) && (view.everything || mine.has(projectId ?? '')))
        .map(keptShape)
    }
  }

  return {
    async recycle(actor: Actor, cloudId: string, id: string): Promise<RecycledInstance> {
      const { view, one, place } = await openedServer({ db, tenancy }, actor, cloudId, id, 'recycle')
      await meterBeforeEnd(platform, cloudId, view.administrator, id)
      const { days } = await retention(cloudId)
      const row: RecycledRow = {
        id: uuidv7(),
        cloud_id: cloudId,
        instance_id: id,
        name: one.name,
        keystone_id: place?.keystoneId ?? null,
        bp_id: place?.owner?.bp_id ?? null,
        status: 'recycling',
        ran: one.state === 'running',
        flavor: flavorOf(one),
        floating_ips: null,
        error_text: null,
        recycled_by: actor.name,
        recycled_at: now(),
        until: new Date(now().getTime() + days * dayMs),
      }
      await refusing({ recycled_instances_once: 'instanceRecycled' }, () =>
        db.transaction().execute(async (tx) => {
          await store.insertRecycled(tx, { ...row, flavor: row.flavor && jsonb(row.flavor), floating_ips: null })
          await platform.operations.begin(tx, operations.recycle, { resource_id: row.id, bp_id: row.bp_id, actor, input: {} })
        }),
      )
      return shape(row)
    },

    async *list(actor: Actor, cloudId: string, requestId: string, signal: AbortSignal) {
      const view = await tenancy.view(actor, cloudId)
      const [rows, ids] = await Promise.all([store.recycledOf(db, scopeOf(actor), cloudId), store.recycledIds(db, cloudId)])
      const pages = async function* (): AsyncGenerator<RecycledInstance[]> {
        yield rows.map(shape)
        yield* softDeleted(view, ids, signal)
      }
      yield* linesOf({ items: pages(), names: [namesOfPlaces(view)], requestId })
    },

    restore: (actor: Actor, cloudId: string, id: string) => goesOn(actor, cloudId, id, 'restore'),
    purge: (actor: Actor, cloudId: string, id: string) => goesOn(actor, cloudId, id, 'purge'),

    async retention(actor: Actor, cloudId: string): Promise<{ days: number }> {
      await tenancy.view(actor, cloudId)
      return retention(cloudId)
    },
    async setRetention(actor: Actor, cloudId: string, days: number): Promise<{ days: number }> {
      if (!(await tenancy.view(actor, cloudId)).everything) throw new Refusal('noPermission')
      await store.setRetention(db, cloudId, days)
      return { days }
    },

    job: purgeDueJob,
    jobHandler: handleJob(purgeDueJob, async (_, { signal }) => {
      for (const { cloud_id, instance_id } of await store.dueForPurge(db, now())) {
        if (signal.aborted) return
        await db
          .transaction()
          .execute(async (tx) => {
            const row = found(await store.lockRecycled(tx, platformScope, cloud_id, instance_id))
            // Restored, or purged by hand, since.
            if (row.status !== 'recycled' || row.until > now()) return
            await store.updateRecycled(tx, row.id, { status: 'purging', error_text: null })
            await platform.operations.begin(tx, operations.purge, { resource_id: row.id, bp_id: row.bp_id, actor: null, input: {} })
          })
          .catch((error: unknown) => {
            // One that went meanwhile, or is being worked on, does not keep the others waiting.
            if (!(error instanceof Refusal)) throw error
          })
      }
    }),
  }
}

const shape = (row: RecycledRow): RecycledInstance => ({
  id: row.instance_id,
  name: row.name,
  status: row.status,
  kept_by: 'console',
  ran: row.ran,
  flavor: row.flavor,
  floating_ips: (row.floating_ips ?? []).map(({ address }) => address),
  error: row.error_text,
  recycled_by: row.recycled_by,
  recycled_at: iso(row.recycled_at),
  until: iso(row.until),
  keystone_project_id: row.keystone_id,
})

const keptShape = (server: Server): RecycledInstance => ({
  id: server.id,
  name: server.name,
  status: 'recycled',
  kept_by: 'cloud',
  ran: server.launchedAt !== null,
  flavor: flavorOf(server),
  floating_ips: [],
  error: null,
  recycled_by: '',
  recycled_at: isoOrNull(server.updatedAt),
  until: null,
  keystone_project_id: server.projectId,
})
