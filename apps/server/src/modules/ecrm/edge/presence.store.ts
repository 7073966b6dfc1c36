import type { DockerTrouble } from '@zhisuan/contract/ecrm/edge'
import { sql } from 'kysely'
import type { Sql, Tx } from '../../../platform/db/database.ts'

/** A server that was not heard of for so long is gone, and with it its tunnels. */
const lostAfter = sql`interval '8 seconds'`

/** Says that this run of a server is there. */
export const tellServer = async (on: Sql, serverId: string): Promise<void> => {
  await on
    .insertInto('edge_servers')
    .values({ id: serverId, seen_at: sql`now()` })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ seen_at: sql`now()` }))
    .execute()
}

/** This run ends: its nodes are offline at once. */
export const forgetServer = async (on: Sql, serverId: string): Promise<void> => {
  await on
    .updateTable('edges')
    .set({ server_id: null, seen_at: sql`now()` })
    .where('server_id', '=', serverId)
    .execute()
  await on.deleteFrom('edge_servers').where('id', '=', serverId).execute()
}

/** No other server can be there: whatever was said before is past. */
export const forgetServers = async (on: Sql): Promise<void> => {
  await on.updateTable('edges').set({ server_id: null }).where('server_id', 'is not', null).execute()
  await on.deleteFrom('edge_servers').execute()
}

/** Nodes whose server was killed are offline. */
export async function dropLost(on: Sql): Promise<void> {
  await sql`
    update edges set server_id = null, seen_at = coalesce((select seen_at from edge_servers where edge_servers.id = edges.server_id), edges.seen_at)
    where server_id is not null and not exists (select from edge_servers where edge_servers.id = edges.server_id and edge_servers.seen_at > now() - ${lostAfter})`.execute(
    on,
  )
  await sql`delete from edge_servers where seen_at < now() - interval '1 hour'`.execute(on)
}

/** Rows are locked in this order everywhere, so that nobody waits for whom they hold up. */
const held = (ids: readonly string[]) => sql`held as (select id from edges where id = any(${ids}::uuid[]) order by id for update)`

/** @param versions of the agents that have come, by node; @returns those of them that may be there: others were unbound meanwhile */
export async function setConnected(on: Sql, serverId: string, versions: ReadonlyMap<string, string>): Promise<ReadonlySet<string>> {
  const ids = [...versions.keys()]
  const { rows } = await sql<{ id: string }>`
    with ${held(ids)}
    update edges set server_id = ${serverId}, agent_version = came.version, seen_at = now(), away_told = false
    from held join unnest(${ids}::uuid[], ${[...versions.values()]}::text[]) as came (id, version) on came.id = held.id
    where edges.id = held.id and edges.binding in ('unconfirmed', 'bound')
    returning edges.id`.execute(on)
  return new Set(rows.map(({ id }) => id))
}

/** Not where another server has them meanwhile. */
export const setDisconnected = async (on: Sql, serverId: string, ids: readonly string[]): Promise<void> => {
  await sql`with ${held(ids)} update edges set server_id = null, seen_at = now() from held where edges.id = held.id and edges.server_id = ${serverId}`.execute(
    on,
  )
}

/** Nodes in use that are away since before then, each once for each time. Of very many some are left for the next time. */
export async function takeAway(tx: Tx, before: Date): Promise<{ id: string; bp_id: string | null; name: string; seen_at: Date }[]> {
  const { rows } = await sql<{ id: string; bp_id: string | null; name: string; seen_at: Date }>`
    with held as (
      select id from edges where id in (
        select id from edges where status = 'offline' and not away_told and activation = 'active' and seen_at < ${before} order by seen_at limit 500
      ) order by id for update
    )
    update edges set away_told = true from held
    where edges.id = held.id and edges.status = 'offline' and not edges.away_told
    returning edges.id, edges.bp_id, edges.name, edges.seen_at`.execute(tx)
  return rows
}

/** Nodes that are said to be connected here. */
export const connectedTo = async (on: Sql, serverId: string): Promise<string[]> =>
  (await on.selectFrom('edges').select('id').where('server_id', '=', serverId).execute()).map(({ id }) => id)

/** @param troubles null where Docker answers; @returns the nodes of which that was not known */
export const setDocker = async (on: Sql, troubles: ReadonlyMap<string, DockerTrouble | null>): Promise<ReadonlySet<string>> => {
  const { rows } = await sql<{ id: string }>`
    with said as (select id, trouble from unnest(${[...troubles.keys()]}::uuid[], ${[...troubles.values()]}::text[]) as said (id, trouble)),
      held as (
        select edges.id, said.trouble from edges join said on said.id = edges.id
        where edges.docker_away is distinct from (said.trouble is not null) or edges.docker_trouble is distinct from said.trouble
        order by edges.id for update of edges
      )
    update edges set docker_away = held.trouble is not null, docker_trouble = held.trouble from held where edges.id = held.id returning edges.id`.execute(on)
  return new Set(rows.map(({ id }) => id))
}

/**
 * Most nodes are the same as the last time, and nobody has to be told of that.
 * @param facts JSON by node
 */
export const setFacts = async (on: Sql, facts: ReadonlyMap<string, string>): Promise<void> => {
  await sql`
    with said as (select id, facts::jsonb from unnest(${[...facts.keys()]}::uuid[], ${[...facts.values()]}::text[]) as said (id, facts)),
      held as (select edges.id, said.facts from edges join said on said.id = edges.id where edges.facts is distinct from said.facts order by edges.id for update of edges)
    update edges set facts = held.facts from held where edges.id = held.id`.execute(on)
}
