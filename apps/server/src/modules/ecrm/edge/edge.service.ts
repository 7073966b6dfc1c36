import type { BodyOf, QueryOf, ResponseOf } from '@zhisuan/contract/define'
import { edgeCan, type Edge, type edges, type Enrolment } from '@zhisuan/contract/ecrm/edge'
import { authoredBy, refuseOwnerless, scopeOf, type Actor, type Scope } from '../../../platform/auth/actor.ts'
import type { Sql, Tx } from '../../../platform/db/database.ts'
import { refusing } from '../../../platform/db/refusing.ts'
import { found, Refusal, refuseUnless } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import { keepSite } from '../site/site.store.ts'
import { fingerprintOf } from './edge.enrolment.ts'
import type { EdgeMetrics } from './edge.minutes.ts'
import { dropTopic } from './presence.ts'
import { shapeEdge } from './edge.shape.ts'
import * as store from './edge.store.ts'
import type { EnrolmentService } from './enrolment.service.ts'

type Calls = typeof edges
type Changes = Parameters<typeof store.updateEdge>[2]

export type EdgeService = ReturnType<typeof createEdges>

/** Nodes: what they are called, where they are, what may be put on them. */
export function createEdges(
  platform: Pick<Platform, 'db' | 'bus' | 'now' | 'modules'>,
  parts: {
    metrics: Pick<EdgeMetrics, 'last' | 'of' | 'forget'>
    enrolments: Pick<EnrolmentService, 'issue'>
    upgradesOf: (on: Sql, ids: readonly string[]) => Promise<ReadonlyMap<string, Edge['upgrade']>>
  },
) {
  const { db, bus, now } = platform
  const { metrics, enrolments } = parts
  /** How many containers of ours each has. */
  const countContents = async (on: Sql, ids: readonly string[]): Promise<ReadonlyMap<string, number>> => {
    const counts = new Map<string, number>()
    for (const { contentsOfNode } of platform.modules())
      for (const [id, count] of (await contentsOfNode?.count(on, ids)) ?? []) counts.set(id, (counts.get(id) ?? 0) + count)
    return counts
  }

  /** Whose they are. */
  const ownersOn = async (on: Sql, id: string): Promise<readonly { readonly bp_id: string | null; readonly count: number }[]> =>
    (await Promise.all(platform.modules().map(({ contentsOfNode }) => contentsOfNode?.owners(on, id) ?? []))).flat()

  const shapes = async (on: Sql, scope: Scope, rows: readonly store.ShownEdge[]): Promise<Edge[]> => {
    const ids = rows.map(({ id }) => id)
    const [counts, upgrades] = [await countContents(on, ids), await parts.upgradesOf(on, ids)]
    return rows.map((row) =>
      shapeEdge(row, {
        containers: counts.get(row.id) ?? 0,
        metrics: metrics.last(row.id),
        upgrade: upgrades.get(row.id) ?? null,
        now: now(),
        everything: 'everything' in scope,
      }),
    )
  }
  const get = async (scope: Scope, id: string): Promise<Edge> => {
    const [shape] = await shapes(db, scope, [found(await store.getEdge(db, scope, id))])
    return found(shape)
  }
  const refuseSite = async (tx: Tx, siteId: string | null): Promise<void> => {
    if (siteId !== null && !(await keepSite(tx, siteId))) throw new Refusal('siteUnknown', { field: 'site_id' })
  }
  const taken = { edges_name: ['edgeNameTaken', 'name'] } as const

  /** Changes one node under its lock. */
  const change = async (
    actor: Actor,
    id: string,
    may: readonly Edge['status'][],
    make: (row: store.EdgeRow, tx: Tx) => Changes | Promise<Changes>,
  ): Promise<Edge> => {
    const scope = scopeOf(actor)
    await db.transaction().execute(async (tx) => {
      const [row] = await store.lockEdges(tx, scope, [id])
      refuseUnless(may, found(row))
      await store.updateEdge(tx, id, await make(found(row), tx))
    })
    return get(scope, id)
  }

  return {
    async list(actor: Actor, query: QueryOf<Calls['list']>): Promise<ResponseOf<Calls['list']>> {
      const scope = scopeOf(actor)
      const { total, rows } = await store.listEdges(db, scope, query)
      return { total, items: await shapes(db, scope, rows) }
    },

    async get(actor: Actor, id: string): Promise<ResponseOf<Calls['get']>> {
      const scope = scopeOf(actor)
      const row = found(await store.getEdge(db, scope, id))
      const [shape] = await shapes(db, scope, [row])
      return { ...found(shape), facts: row.facts, metrics: metrics.last(id), fingerprint: row.public_key === null ? null : fingerprintOf(row.public_key) }
    },

    async metrics(actor: Actor, id: string, { minutes }: QueryOf<Calls['metrics']>): Promise<ResponseOf<Calls['metrics']>> {
      found(await store.getEdge(db, scopeOf(actor), id))
      return metrics.of(id, minutes)
    },

    async create(actor: Actor, body: BodyOf<Calls['create']>, reachedAt: string): Promise<ResponseOf<Calls['create']>> {
      const scope = scopeOf(actor)
      refuseOwnerless(scope)
      const id = uuidv7()
      const { columns, enrolment } = enrolments.issue(reachedAt)
      await refusing(taken, () =>
        db.transaction().execute(async (tx) => {
          await refuseSite(tx, body.site_id)
          await store.insertEdge(tx, {
            id,
            bp_id: actor.bp_id,
            name: body.name,
            description: body.description,
            site_id: body.site_id,
            binding: 'pending',
            confirm: body.confirm,
            labels: JSON.stringify(body.labels),
            taints: JSON.stringify(body.taints),
            ...columns,
            ...authoredBy(actor),
          })
        }),
      )
      return { edge: await get(scope, id), enrolment }
    },

    /** A new token; the former one ends. */
    async renew(actor: Actor, id: string, reachedAt: string): Promise<Enrolment> {
      const { columns, enrolment } = enrolments.issue(reachedAt)
      await change(actor, id, edgeCan.enrol, () => columns)
      return enrolment
    },

    async update(actor: Actor, id: string, body: BodyOf<Calls['update']>): Promise<Edge> {
      return refusing(taken, () =>
        change(actor, id, edgeCan.edit, async (_row, tx) => {
          await refuseSite(tx, body.site_id)
          return body
        }),
      )
    },

    mark: (actor: Actor, id: string, body: BodyOf<Calls['mark']>): Promise<Edge> =>
      change(actor, id, edgeCan.edit, (row) => ({ labels: JSON.stringify(body.labels ?? row.labels), taints: JSON.stringify(body.taints ?? row.taints) })),

    /** What runs there for others keeps a node where it is, and shared with them. */
    async share(actor: Actor, id: string, { share_limits, ...body }: BodyOf<Calls['share']>): Promise<Edge> {
      const missing = await store.missingOrganisation(db, [...body.shared_bp_ids, ...(body.bp_id === null ? [] : [body.bp_id])])
      if (missing !== null) throw new Refusal('organisationMissing', { field: missing === body.bp_id ? 'bp_id' : 'shared_bp_ids', values: { name: missing } })
      return refusing(taken, () =>
        change(actor, id, edgeCan.edit, async (row, tx) => {
          const may = (bpId: string | null): boolean =>
            bpId === body.bp_id || (body.shared_with === 'all' && bpId !== null) || (body.shared_with === 'named' && body.shared_bp_ids.includes(bpId ?? ''))
          const left = (await ownersOn(tx, row.id)).filter(({ bp_id }) => !may(bp_id)).reduce((sum, { count }) => sum + count, 0)
          if (left > 0) throw new Refusal('edgeHasOthers', { values: { count: left } })
          return { ...body, share_limits: share_limits === null ? null : JSON.stringify(share_limits) }
        }),
      )
    },

    activate: (actor: Actor, id: string, activation: 'active' | 'deactive'): Promise<Edge> => change(actor, id, edgeCan.activate, () => ({ activation })),

    confirm: (actor: Actor, id: string): Promise<Edge> => change(actor, id, edgeCan.confirm, () => ({ binding: 'bound' })),

    /** All of them or none. Their agents are sent away, on whichever server they are. */
    async unbind(actor: Actor, ids: readonly string[]): Promise<{ items: Edge[] }> {
      const scope = scopeOf(actor)
      const wanted = [...new Set(ids)]
      await db.transaction().execute(async (tx) => {
        const rows = await store.lockEdges(tx, scope, wanted)
        if (rows.length < wanted.length) throw new Refusal('notFound')
        for (const row of rows) refuseUnless(edgeCan.unbind, row)
        for (const { id, name, status } of rows) {
          const node = { id, name, online: status === 'online', byPlatform: 'everything' in scope }
          for (const { nodeLeaves } of platform.modules()) await nodeLeaves?.(tx, node)
          await store.updateEdge(tx, id, { binding: 'unbound', public_key: null, token_hash: null, token_expires_at: null, server_id: null })
          await bus.publish(tx, dropTopic, id)
        }
      })
      return { items: await shapes(db, scope, await store.getEdges(db, scope, wanted)) }
    },

    /** What runs on it goes on; an agent that still comes is refused. */
    async delete(actor: Actor, id: string): Promise<void> {
      await db.transaction().execute(async (tx) => {
        const [row] = await store.lockEdges(tx, scopeOf(actor), [id])
        refuseUnless(edgeCan.delete, found(row))
        const count = (await countContents(tx, [id])).get(id) ?? 0
        if (count > 0) throw new Refusal('edgeHasContainers', { values: { count } })
        await store.deleteEdge(tx, id)
        await bus.publish(tx, dropTopic, id)
      })
      metrics.forget(id)
    },
  }
}
