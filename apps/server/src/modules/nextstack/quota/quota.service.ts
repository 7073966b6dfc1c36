import type { BodyOf, QueryOf } from '@zhisuan/contract/define'
import { quotaResources, type Quota, type QuotaLine, type QuotaResource, type quotas } from '@zhisuan/contract/nextstack/quota'
import { quotaTexts } from '@zhisuan/contract/texts'
import { scopeOf, type Actor } from '../../../platform/auth/actor.ts'
import type { Db, Sql, Tx } from '../../../platform/db/database.ts'
import { found, Refusal } from '../../../platform/errors.ts'
import * as store from './quota.store.ts'
import type { Limits, Owner } from './quota.store.ts'

/** How much a resource's tables hold; `bp_id` null counts all organisations together. */
export interface QuotaCounter {
  readonly resources: readonly QuotaResource[]
  count(on: Sql, of: { bp_id: string | null; project_id: string | null }): Promise<Partial<Record<QuotaResource, number>>>
}

/**
 * What begins to cost by the hour. Snapshots do too, but are often made by their schedule, and of what is paid for:
 * nobody is to be without them because their balance went below what new things ask for.
 */
const byTheHour: ReadonlySet<QuotaResource> = new Set([
  'vms',
  'cpu_cores',
  'memory_bytes',
  'gpus',
  'volumes',
  'volume_bytes',
  'backup_bytes',
  'eips',
  'images',
  'image_bytes',
])

export type QuotaService = ReturnType<typeof createQuotas>

export function createQuotas(parts: {
  db: Db
  counters: readonly QuotaCounter[]
  /** Whether anything may be made for an organisation at all. @throws Refusal 24011, 24018, 96043 */
  mayMake: (tx: Tx, bpId: string, what: 'costs' | 'free') => Promise<void>
}) {
  const { db } = parts

  const used = async (
    on: Sql,
    of: { bp_id: string | null; project_id: string | null },
    only: readonly QuotaResource[] = quotaResources,
  ): Promise<Partial<Record<QuotaResource, number>>> => {
    const counters = parts.counters.filter(({ resources }) => resources.some((resource) => only.includes(resource)))
    // One after the other: a transaction has one connection.
    const counts: Partial<Record<QuotaResource, number>> = {}
    for (const counter of counters) Object.assign(counts, await counter.count(on, of))
    return counts
  }
  /** Projects have no defaults: the organisation's limits hold for them together. */
  const limitsOf = async (on: Sql, owner: Owner): Promise<{ own: Limits; all: Limits }> => {
    const own = await store.ownLimits(on, owner)
    return { own, all: owner.project_id === null ? { ...(await store.defaultLimits(on)), ...own } : own }
  }
  const linesOf = async (on: Sql, owner: Owner): Promise<QuotaLine[]> => {
    const [{ own, all }, counts] = [await limitsOf(on, owner), await used(on, owner)]
    return quotaResources.map((resource) => ({ resource, used: counts[resource] ?? 0, limit: all[resource] ?? null, own: resource in own }))
  }
  const quotaOf = async (organisation: { id: string; name: string }, project: { id: string; name: string } | null): Promise<Quota> => ({
    bp_id: organisation.id,
    bp_name: organisation.name,
    project_id: project?.id ?? null,
    project_name: project?.name ?? null,
    lines: await linesOf(db, { bp_id: organisation.id, project_id: project?.id ?? null }),
  })
  const named = async (bpId: string, projectId: string | null) => ({
    organisation: found(await store.getOrganisation(db, bpId)),
    project: projectId === null ? null : found(await store.getProject(db, bpId, projectId)),
  })

  return {
    used,

    /**
     * Makes sure that so much more is allowed, in the transaction that adds it: until that ends
     * nobody else of the organisation takes from it. What belongs to no organisation is not counted.
     * @throws Refusal `quotaExceeded`, 24011, 24018, 96043
     */
    async take(tx: Tx, of: { bp_id: string | null; project_id: string | null }, more: Partial<Record<QuotaResource, number>>): Promise<void> {
      const { bp_id } = of
      if (bp_id === null) return
      const wanted = quotaResources.filter((resource) => (more[resource] ?? 0) > 0)
      if (wanted.length > 0) await parts.mayMake(tx, bp_id, wanted.some((resource) => byTheHour.has(resource)) ? 'costs' : 'free')
      await store.lockQuota(tx, bp_id)
      const owners: Owner[] = [{ bp_id, project_id: null }, ...(of.project_id === null ? [] : [{ bp_id, project_id: of.project_id }])]
      for (const owner of owners) {
        const { all } = await limitsOf(tx, owner)
        const limited = quotaResources.filter((resource) => (more[resource] ?? 0) > 0 && (all[resource] ?? null) !== null)
        if (limited.length === 0) continue
        const counts = await used(tx, owner, limited)
        for (const resource of limited) {
          const most = all[resource] ?? 0
          const has = counts[resource] ?? 0
          if (has + (more[resource] ?? 0) <= most) continue
          throw new Refusal('quotaExceeded', { values: { resource: quotaTexts[resource], limit: amount(resource, most), used: amount(resource, has) } })
        }
      }
    },

    /** How much of it an organisation may have in all, or one of its projects; null: no limit. */
    limit: async (on: Sql, bpId: string, resource: QuotaResource, projectId: string | null = null): Promise<number | null> =>
      (await limitsOf(on, { bp_id: bpId, project_id: projectId })).all[resource] ?? null,

    /** Whether somebody may have more of what no quota counts, and costs. @throws Refusal 24011, 24018, 96043 */
    async mayGrow(tx: Tx, { bp_id }: { bp_id: string | null }): Promise<void> {
      if (bp_id !== null) await parts.mayMake(tx, bp_id, 'costs')
    },

    /**
     * Whose something is that an actor makes: their organisation's, and the project's where they name one.
     * @throws Refusal `projectMissing`
     */
    async ownerOf(tx: Tx, actor: Actor, projectId: string | null): Promise<{ bp_id: string | null; project_id: string | null }> {
      if (projectId === null) return { bp_id: actor.bp_id, project_id: null }
      if (actor.bp_id === null || (await store.getProject(tx, actor.bp_id, projectId)) === undefined)
        throw new Refusal('projectMissing', { field: 'project_id' })
      return { bp_id: actor.bp_id, project_id: projectId }
    },

    async mine(actor: Actor, projectId: string | undefined): Promise<{ lines: QuotaLine[] }> {
      const scope = scopeOf(actor)
      if ('bp_id' in scope) {
        const { project } = await named(scope.bp_id, projectId ?? null)
        return { lines: await linesOf(db, { bp_id: scope.bp_id, project_id: project?.id ?? null }) }
      }
      const counts = 'everything' in scope ? await used(db, { bp_id: null, project_id: null }) : {}
      return { lines: quotaResources.map((resource) => ({ resource, used: counts[resource] ?? 0, limit: null, own: false })) }
    },

    async list(query: QueryOf<typeof quotas.list>): Promise<{ total: number; items: Quota[] }> {
      const { total, rows } = await store.listOrganisations(db, query)
      return { total, items: await Promise.all(rows.map((row) => quotaOf(row, null))) }
    },

    async get(bpId: string, projectId: string | undefined): Promise<Quota> {
      const { organisation, project } = await named(bpId, projectId ?? null)
      return quotaOf(organisation, project)
    },

    async set(bpId: string, body: BodyOf<typeof quotas.set>): Promise<Quota> {
      const { organisation, project } = await named(bpId, body.project_id)
      await db.transaction().execute(async (tx) => {
        await store.lockQuota(tx, bpId)
        await store.setLimits(tx, { bp_id: bpId, project_id: body.project_id }, body.limits)
      })
      return quotaOf(organisation, project)
    },

    async defaults(): Promise<{ limits: Limits }> {
      return { limits: await store.defaultLimits(db) }
    },

    async setDefaults(limits: Limits): Promise<{ limits: Limits }> {
      await db.transaction().execute((tx) => store.setDefaults(tx, limits))
      return { limits: await store.defaultLimits(db) }
    },
  }
}

/** `10`, or `64 GB`. */
const amount = (resource: QuotaResource, number: number): string =>
  resource.endsWith('_bytes') ? `${Math.round((number / 2 ** 30) * 100) / 100} GB` : String(number)
