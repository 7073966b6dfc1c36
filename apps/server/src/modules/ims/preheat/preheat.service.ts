import { preheatCan, type preheats, type Preheat, type PreheatWish, type thirdRegistries } from '@zhisuan/contract/ims/preheat'
import type { BodyOf, QueryOf, ResponseOf } from '@zhisuan/contract/define'
import { sql } from 'kysely'
import { authoredBy, refuseOwnerless, scopeOf, type Actor } from '../../../platform/auth/actor.ts'
import { iso, isoOrNull } from '../../../platform/db/database.ts'
import { matching, pageWithTotal, paged, shapedPage } from '../../../platform/db/page.ts'
import { found, Refusal, refuseUnless } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { Asking, RefuseAlso } from '../imageRights.ts'
import { getRegistry } from '../registry/registry.store.ts'
import type { ThirdService } from '../third/third.service.ts'
import { asksOfPreheat } from './preheat.rights.ts'
import * as store from './preheat.store.ts'

type Calls = typeof preheats
/** Whence. */
type From = { readonly registry_id: string; readonly third_registry_id: null } | { readonly registry_id: null; readonly third_registry_id: string }

export type PreheatService = ReturnType<typeof createPreheats>

/** Orders to bring images to nodes before somebody needs them there. */
export function createPreheats(
  { db, now }: Pick<Platform, 'db' | 'now'>,
  parts: {
    third: Pick<ThirdService, 'read' | 'refuseOwn'>
    refuseAlso: RefuseAlso
    begin: () => void
    letGo: (preheatId: string) => void
  },
) {
  const shape = (row: store.ShownPreheat): Preheat => ({
    id: row.id,
    registry: row.registry_id === null ? null : { id: row.registry_id, name: row.registry_name ?? '' },
    third_registry: row.third_registry_id === null ? null : { id: row.third_registry_id, name: row.third_registry_name ?? '' },
    images: row.images,
    status: row.status,
    node_count: row.node_count,
    done_count: row.done_count,
    failed_count: row.failed_count,
    away_count: row.away_count,
    at_once: row.at_once,
    starts_at: iso(row.starts_at),
    started_at: isoOrNull(row.started_at),
    ended_at: isoOrNull(row.ended_at),
    created_by: row.created_by_name,
    created_at: iso(row.created_at),
  })
  const get = async (actor: Actor, id: string): Promise<Preheat> => shape(found(await store.showPreheat(db, scopeOf(actor), id)))

  /** Those that are named, and those that region and labels all fit. @throws Refusal at the field that is wrong */
  const chosen = async (actor: Actor, { node_ids, region_id, labels }: PreheatWish['nodes']): Promise<{ id: string; bp_id: string | null }[]> => {
    const all = () => store.nodesFor(db, scopeOf(actor)).select(['edges.id', 'edges.bp_id'])
    const named = node_ids.length === 0 ? [] : await all().where('edges.id', 'in', node_ids).execute()
    if (named.length < new Set(node_ids).size) throw new Refusal('preheatNodeUnknown', { field: 'nodes.node_ids' })
    const wanted = labels.map((label) => {
      const at = label.indexOf('=')
      return at < 0 ? { key: label } : { key: label.slice(0, at), value: label.slice(at + 1) }
    })
    const fitting =
      region_id === undefined && labels.length === 0
        ? []
        : await all()
            .$if(region_id !== undefined, (query) =>
              query.where('edges.site_id', 'in', (eb) =>
                eb
                  .selectFrom('sites')
                  .select('sites.id')
                  .where('sites.region_id', '=', region_id ?? ''),
              ),
            )
            .where(sql<boolean>`edges.labels @> ${JSON.stringify(wanted)}::jsonb`)
            .execute()
    const nodes = [...new Map([...named, ...fitting].map((one) => [one.id, one])).values()]
    if (nodes.length === 0) throw new Refusal('preheatNoNodes', { field: 'nodes' })
    return nodes
  }

  const begin = async ({ actor, context }: Asking, wish: PreheatWish, address: string, from: From, nodes: readonly { id: string }[]): Promise<Preheat> => {
    const id = uuidv7()
    const images = [...new Set(wish.images.map(({ repository, tag }) => `${address}/${repository}:${tag}`))]
    // Which nodes a region or a label means nobody knew before.
    await parts.refuseAlso(
      actor,
      asksOfPreheat(
        from,
        images,
        nodes.map((node) => node.id),
      ),
      context,
    )
    await db.transaction().execute(async (tx) => {
      await store.insertPreheat(tx, {
        id,
        bp_id: 'bp_id' in scopeOf(actor) ? actor.bp_id : null,
        ...from,
        images,
        status: 'waiting',
        at_once: wish.at_once,
        starts_at: wish.starts_at === undefined ? now() : new Date(wish.starts_at),
        started_at: null,
        ended_at: null,
        ordered_by: actor.user_id,
        ...authoredBy(actor),
      })
      await store.insertTargets(
        tx,
        nodes.flatMap((node) =>
          images.map((image) => ({
            id: uuidv7(),
            preheat_id: id,
            edge_id: node.id,
            image,
            state: 'waiting' as const,
            layers: '[]',
            total_bytes: null,
            error: null,
            next_at: null,
            claimed_until: null,
            ended_at: null,
          })),
        ),
      )
    })
    parts.begin()
    return get(actor, id)
  }

  const listNodes = async (actor: Actor, query: QueryOf<Calls['nodes']>) => {
    const filtered = store
      .nodesFor(db, scopeOf(actor))
      .leftJoin('sites', 'sites.id', 'edges.site_id')
      .leftJoin('regions', 'regions.id', 'sites.region_id')
      .where(matching(query.keyword, 'edges.name'))
      .$if(query.region_id !== undefined, (all) => all.where('regions.id', '=', query.region_id ?? ''))
    const page = paged(
      filtered.select([
        'edges.id',
        'edges.name',
        'edges.status',
        'edges.docker_away',
        'edges.labels',
        'regions.id as region_id',
        'regions.name as region_name',
      ]),
      query,
      { by: { name: 'edges.name' }, fallback: 'name', id: 'edges.id' },
    )
    return shapedPage(pageWithTotal(page, filtered, query), (row) => ({
      id: row.id,
      name: row.name,
      online: row.status === 'online',
      docker: !row.docker_away,
      region: row.region_id === null ? null : { id: row.region_id, name: row.region_name ?? '' },
      labels: row.labels.map(({ key, value }) => `${key}=${value}`),
    }))
  }

  return {
    async nodes(actor: Actor, id: string, query: QueryOf<Calls['nodes']>): Promise<ResponseOf<Calls['nodes']>> {
      found(await getRegistry(db, id))
      return listNodes(actor, query)
    },
    ownNodes: async (actor: Actor, query: QueryOf<(typeof thirdRegistries)['nodes']>): Promise<ResponseOf<(typeof thirdRegistries)['nodes']>> =>
      listNodes(actor, query),

    list: (actor: Actor, query: QueryOf<Calls['list']>) => shapedPage(store.listPreheats(db, scopeOf(actor), query), shape),

    async get(actor: Actor, id: string): Promise<ResponseOf<Calls['get']>> {
      const row = await get(actor, id)
      const targets = await store.targetsOf(db, id)
      return {
        ...row,
        targets: targets.map((one) => ({
          id: one.id,
          node: { id: one.edge_id, name: one.node_name },
          image: one.image,
          state: one.state,
          done_bytes: one.done_bytes,
          total_bytes: one.total_bytes,
          layers: one.layers,
          error: one.error,
          attempts: one.attempts,
          ended_at: isoOrNull(one.ended_at),
        })),
      }
    },

    async create(asking: Asking, id: string, body: BodyOf<Calls['create']>): Promise<Preheat> {
      const registry = found(await getRegistry(db, id))
      if (registry.status !== 'active') throw new Refusal('registryUnknown')
      return begin(asking, body, registry.address, { registry_id: id, third_registry_id: null }, await chosen(asking.actor, body.nodes))
    },

    async createThird(asking: Asking, id: string, body: BodyOf<Calls['createThird']>): Promise<Preheat> {
      const { actor } = asking
      refuseOwnerless(scopeOf(actor))
      const registry = await parts.third.read(actor, id)
      // It may have become one of ours since it was named.
      await parts.third.refuseOwn(registry.url)
      const nodes = await chosen(actor, body.nodes)
      // Whoever has a node sees what its Docker is told.
      if (registry.username !== null && nodes.some(({ bp_id }) => bp_id !== registry.bp_id)) throw new Refusal('registryThirdForeign', { field: 'nodes' })
      return begin(asking, body, registry.address, { registry_id: null, third_registry_id: id }, nodes)
    },

    async retry({ actor, context }: Asking, id: string): Promise<Preheat> {
      const preheat = found(await store.showPreheat(db, scopeOf(actor), id))
      const again = (await store.targetsOf(db, id)).filter(({ state }) => state === 'failed' || state === 'cancelled')
      const [images, nodeIds] = [again.map(({ image }) => image), [...new Set(again.map(({ edge_id }) => edge_id))]]
      await parts.refuseAlso(actor, asksOfPreheat(preheat, images, nodeIds), context)
      await db.transaction().execute(async (tx) => {
        refuseUnless(preheatCan.retry, found(await store.lockPreheat(tx, scopeOf(actor), id)))
        await store.retry(tx, id, actor.user_id, now())
      })
      parts.begin()
      return get(actor, id)
    },

    /** Cancelled where it is under way; and forgotten, unless it is to be kept. All or none. */
    async remove(actor: Actor, { ids, keep }: QueryOf<Calls['delete']>): Promise<void> {
      await db.transaction().execute(async (tx) => {
        for (const id of ids.toSorted()) {
          const row = found(await store.lockPreheat(tx, scopeOf(actor), id))
          if (row.status === 'waiting' || row.status === 'running') await store.cancel(tx, id, now())
          if (!keep) await store.deletePreheat(tx, id)
        }
      })
      for (const id of ids) parts.letGo(id)
    },
  }
}
