import { sql } from 'kysely'
import { migration, type Migrations, type Sql } from '../../../platform/db/database.ts'
import { pack, type Minutes } from './edge.metrics.ts'

interface EdgeMinutesTable {
  edge_id: string
  /** The last of these minutes. */
  until: Date
  /** Averages, see `pack`. */
  data: Buffer
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    edge_minutes: EdgeMinutesTable
  }
}

export const edgeMinutesMigrations: Migrations = {
  '20261123_00_47_edge_minutes': migration(`
    create table edge_minutes (
      edge_id uuid not null references edges on delete cascade,
      until timestamptz not null,
      data bytea not null,
      primary key (edge_id, until)
    );
    create index edge_minutes_until on edge_minutes (until);
  `),
}

const keptMs = 24 * 60 * 60_000

/** Nodes that are gone by now are left out. */
export const insertMinutes = async (on: Sql, minutes: readonly Minutes[]): Promise<void> => {
  const ids = minutes.map(({ edgeId }) => edgeId)
  const untils = minutes.map(({ averages }) => averages.at(-1)?.at)
  const packs = minutes.map(({ averages }) => pack(averages))
  await sql`
    insert into edge_minutes (edge_id, until, data)
    select said.* from unnest(${ids}::uuid[], ${untils}::timestamptz[], ${packs}::bytea[]) as said (edge_id, until, data) join edges on edges.id = said.edge_id
    on conflict do nothing`.execute(on)
}

/** In order; the first one may begin before. */
export const minutesOf = async (on: Sql, edgeId: string, since: Date): Promise<Buffer[]> =>
  (await on.selectFrom('edge_minutes').select('data').where('edge_id', '=', edgeId).where('until', '>=', since).orderBy('until').execute()).map(
    ({ data }) => data,
  )

export const deleteMinutes = async (on: Sql, now: Date): Promise<void> => {
  await on
    .deleteFrom('edge_minutes')
    .where('until', '<', new Date(now.getTime() - keptMs))
    .execute()
}
