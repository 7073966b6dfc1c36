import type { ShareLimits } from '@zhisuan/contract/ecrm/edge'
import type { Stack, stacks, StackStatus } from '@zhisuan/contract/aos/stack'
import type { QueryOf } from '@zhisuan/contract/define'
import { sql, type Generated, type Selectable, type SelectQueryBuilder, type Updateable } from 'kysely'
import { jsonObjectFrom } from 'kysely/helpers/postgres'
import type { Scope } from '../../../platform/auth/actor.ts'
import { migration, type Migrations, type Sql, type Tables, type Tx } from '../../../platform/db/database.ts'
import { asked, matching, orderOf, pageWithTotal, paged } from '../../../platform/db/page.ts'
import { within } from '../../../platform/db/scope.ts'
import { layOutAnew, rewriteRows } from '../../../platform/db/rewriting.ts'
import { rowsOf } from '../../../platform/db/rows.ts'
import { readable, type Secrets } from '../../../platform/secrets.ts'

/** As it is recorded: whether what is settled runs, its containers tell. */
type RecordedStatus = Extract<StackStatus, 'deploying' | 'updating' | 'rolling_back' | 'deleting' | 'error'> | 'settled'

interface StackTable {
  id: string
  deployment_id: string
  edge_id: string
  bp_id: string | null
  name: string
  /** What compose calls it: the only one of that name wherever it runs. */
  project: string
  status: RecordedStatus
  /** The newest that was asked for. */
  revision: number
  /** The newest that compose on the node took; null before there is one. */
  deployed_revision: Generated<number | null>
  /** Counts looks at its containers: who looked before does not overwrite it. */
  looks: Generated<number>
  /** Sealed, as is the next: compose says what it read. See {@link openSaid}. */
  error_text: string | null
  /** The end of what compose said; empty before that. */
  output: Generated<string>
  created_by: string | null
  created_by_name: string
  created_at: Generated<Date>
  updated_at: Generated<Date>
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    stacks: StackTable
  }
}
export type StackRow = Selectable<StackTable>
export type ShownStack = Omit<StackRow, 'status'> & {
  shown_status: StackStatus
  edge: Stack['edge']
  edge_bp_id: string | null
  edge_share_limits: ShareLimits | null
  /** Its node was sent away and does not come back with what it had. */
  edge_gone: boolean
  deployment: Stack['deployment']
  template: Stack['template']
  revision_count: number
  service_count: number
  running_services: number
}

export const stackMigrations: Migrations = {
  '20261123_00_42_stacks': migration(`
    create table stacks (
      id uuid primary key,
      deployment_id uuid not null references stack_deployments,
      edge_id uuid not null constraint stacks_edge references edges,
      bp_id uuid,
      name text not null,
      project text not null unique,
      status text not null,
      revision integer not null,
      deployed_revision integer,
      looks integer not null default 0,
      error_text text,
      output text not null default '',
      search text generated always as (name || ' ' || project || ' ' || id::text) stored,
      created_by uuid,
      created_by_name text not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create index stacks_deployment on stacks (deployment_id);
    create index stacks_on_edge on stacks (edge_id);
    create index stacks_newest on stacks (created_at, id);
    create index stacks_newest_bp on stacks (bp_id, created_at, id);
    create index stacks_search on stacks using gin (search gin_trgm_ops);
    -- That it was looked at is no change.
    create trigger stacks_tell_stack after insert or delete on stacks for each row execute function tell_change('aos.stack');
    create trigger stacks_tell_stack_changed after update on stacks for each row when (to_jsonb(old) - 'looks' is distinct from to_jsonb(new) - 'looks') execute function tell_change('aos.stack');
    create trigger stack_deployments_tell_stack after insert or update or delete on stack_deployments for each row execute function tell_change('aos.stack');
  `),
}

/** Seals what lay in clear. */
export const sealedStackMigrations = (secrets: Secrets): Migrations => ({
  '20261126_74_stacks_sealed': async (tx) => {
    await rewriteRows(
      tx,
      'stacks',
      sql<{ id: string } & Said>`select id, error_text, output from stacks where error_text is not null or output <> ''`,
      ({ id, ...said }) => {
        const { error_text = null, output = '' } = sealSaid(secrets, id, said)
        return sql`update stacks set error_text = ${error_text}, output = ${output} where id = ${id}`
      },
    )
    await layOutAnew(tx, 'stacks', 'output')
  },
})

interface Said {
  readonly error_text: string | null
  readonly output: string
}
const place = (column: keyof Said, id: string): string => `stacks.${column}:${id}`
const sealSaid = (secrets: Secrets, id: string, { error_text, output }: Partial<Said>): Partial<Said> => ({
  ...(error_text !== undefined && { error_text: error_text === null ? null : secrets.seal(error_text, place('error_text', id)) }),
  ...(output !== undefined && { output: output === '' ? '' : secrets.seal(output, place('output', id)) }),
})
/** What compose said, and what is said of it. */
export const openSaid = (secrets: Secrets, { id, error_text, output }: Pick<StackRow, 'id' | keyof Said>): Said => ({
  error_text: error_text === null ? null : readable(() => secrets.open(error_text, place('error_text', id)), null),
  output: output === '' ? '' : readable(() => secrets.open(output, place('output', id)), ''),
})

/** What is said of a stack: what is done to it, or how its containers are where somebody can see them. */
const shownStatus = sql<StackStatus>`case
  when stacks.status <> 'settled' then stacks.status
  when edges.status <> 'online' or edges.docker_away then 'unknown'
  when counts.running = 0 then 'stopped'
  when counts.running_services = counts.services then 'running'
  else 'degraded' end`

const visible = (on: Sql, scope: Scope) =>
  on
    .selectFrom('stacks')
    .innerJoin('edges', 'edges.id', 'stacks.edge_id')
    .innerJoinLateral(
      (of) =>
        of
          .selectFrom('stack_services')
          .innerJoinLateral(
            (inner) =>
              inner
                .selectFrom('containers')
                .whereRef('containers.service_id', '=', 'stack_services.id')
                .select(sql<number>`count(*) filter (where containers.status = 'running')`.as('running'))
                .as('own'),
            (join) => join.onTrue(),
          )
          .whereRef('stack_services.stack_id', '=', 'stacks.id')
          .select([
            sql<number>`count(*)`.as('services'),
            sql<number>`count(*) filter (where own.running >= stack_services.replicas)`.as('running_services'),
            sql<number>`coalesce(sum(own.running), 0)`.as('running'),
          ])
          .as('counts'),
      (join) => join.onTrue(),
    )
    .where(within(scope, 'stacks.bp_id'))

type Counts = { counts: { services: number; running_services: number; running: number } }
const shown = <T>(query: SelectQueryBuilder<Tables & Counts, 'stacks' | 'edges' | 'counts', T>) =>
  query.selectAll('stacks').select((of) => [
    shownStatus.as('shown_status'),
    sql<ShownStack['edge']>`jsonb_build_object('id', edges.id, 'name', edges.name, 'online', edges.status = 'online')`.as('edge'),
    'edges.bp_id as edge_bp_id',
    'edges.share_limits as edge_share_limits',
    sql<boolean>`edges.status = 'unbound'`.as('edge_gone'),
    // Its foreign key says that there is one.
    jsonObjectFrom(
      of
        .selectFrom('stack_deployments')
        .whereRef('stack_deployments.id', '=', 'stacks.deployment_id')
        .select(['stack_deployments.id', 'stack_deployments.name']),
    )
      .$notNull()
      .as('deployment'),
    sql<ShownStack['template']>`(select template from stack_revisions where stack_id = stacks.id and stack_revisions.revision = stacks.revision)`.as(
      'template',
    ),
    sql<number>`(select count(*) from stack_revisions where stack_id = stacks.id)`.as('revision_count'),
    'counts.services as service_count',
    sql<number>`case when edges.status = 'online' and not edges.docker_away then counts.running_services else 0 end`.as('running_services'),
  ])

const order = orderOf('stacks', '-created_at', 'name', 'status', 'created_at', 'updated_at')

export async function listStacks(
  on: Sql,
  scope: Scope,
  query: Omit<QueryOf<typeof stacks.list>, 'edge_id' | 'status'> &
    Partial<Pick<QueryOf<typeof stacks.list>, 'edge_id' | 'status'>> & { deployment_id?: string },
): Promise<{ total: number; rows: ShownStack[] }> {
  const filtered = visible(on, scope)
    .where(asked(query, 'stacks', 'edge_id', 'deployment_id'))
    .$if(query.status !== undefined, (q) => q.where(sql<boolean>`${shownStatus} = ${query.status ?? ''}`))
    .where(matching(query.keyword, 'stacks.search'))
  return pageWithTotal(paged(shown(filtered), query, order), filtered, query)
}

export const getStack = (on: Sql, scope: Scope, id: string): Promise<ShownStack | undefined> =>
  shown(visible(on, scope).where('stacks.id', '=', id)).executeTakeFirst()

export const getStacks = (on: Sql, scope: Scope, ids: readonly string[]): Promise<ShownStack[]> =>
  ids.length === 0
    ? Promise.resolve([])
    : shown(visible(on, scope).where('stacks.id', 'in', [...ids]))
        .orderBy('edges.name')
        .execute()

export const getStacksOf = (on: Sql, scope: Scope, deploymentIds: readonly string[]): Promise<ShownStack[]> =>
  deploymentIds.length === 0 ? Promise.resolve([]) : shown(visible(on, scope).where('stacks.deployment_id', 'in', [...deploymentIds])).execute()

/** Held against other changes until the transaction ends. */
export const lockStack = (tx: Tx, scope: Scope, id: string): Promise<ShownStack | undefined> =>
  shown(visible(tx, scope).where('stacks.id', '=', id))
    .forUpdate('stacks')
    .executeTakeFirst()

export const lockStacksOf = (tx: Tx, scope: Scope, deploymentId: string): Promise<ShownStack[]> =>
  shown(visible(tx, scope).where('stacks.deployment_id', '=', deploymentId))
    .orderBy('stacks.id')
    .forUpdate('stacks')
    .execute()

/** Of whomever it is: for who works on it. */
export const getStackRow = (on: Sql, id: string): Promise<StackRow | undefined> => on.selectFrom('stacks').selectAll().where('id', '=', id).executeTakeFirst()

/** Of an organisation, those that something runs of, and those that are being changed. */
export async function runningOf(on: Sql, bpId: string): Promise<{ id: string; name: string; passing: boolean }[]> {
  const rows = await on
    .selectFrom('stacks')
    .select((of) => [
      'stacks.id',
      'stacks.name',
      'stacks.status',
      of
        .exists(
          of
            .selectFrom('stack_services')
            .innerJoin('containers', 'containers.service_id', 'stack_services.id')
            .whereRef('stack_services.stack_id', '=', 'stacks.id')
            .where('containers.status', 'in', ['running', 'restarting']),
        )
        .as('runs'),
    ])
    .where('bp_id', '=', bpId)
    .where('status', '<>', 'deleting')
    .orderBy('id')
    .execute()
  return rows
    .filter(({ runs, status }) => runs === true || (status !== 'settled' && status !== 'error'))
    .map(({ id, name, status }) => ({ id, name, passing: status !== 'settled' && status !== 'error' }))
}

const rows = rowsOf('stacks', 'updated_at')
export const { insert: insertStack, remove: deleteStack } = rows

/** @param changes in clear */
export const updateStack = (on: Sql, secrets: Secrets, id: string, changes: Omit<Updateable<StackTable>, keyof Said> & Partial<Said>): Promise<void> =>
  rows.update(on, id, { ...changes, ...sealSaid(secrets, id, changes) })

/** Those of a node, or some of them by their projects. */
export const stacksOn = (on: Sql, edgeId: string, projects: readonly string[] | null): Promise<StackRow[]> =>
  on
    .selectFrom('stacks')
    .selectAll()
    .where('edge_id', '=', edgeId)
    .$if(projects !== null, (q) => q.where('project', 'in', [...(projects ?? [])]))
    .execute()

/** False where somebody recorded a look meanwhile: what was seen before that counts no more. Held until the transaction ends. */
export const takeLook = async (tx: Tx, { id, looks }: Pick<StackRow, 'id' | 'looks'>): Promise<boolean> => {
  const { numUpdatedRows } = await tx
    .updateTable('stacks')
    .set({ looks: looks + 1 })
    .where('id', '=', id)
    .where('looks', '=', looks)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Which nodes have stacks and are there now. */
export const nodesWithStacks = async (on: Sql): Promise<string[]> =>
  (
    await on
      .selectFrom('edges')
      .select('id')
      .where('status', '=', 'online')
      .where(({ exists, selectFrom }) => exists(selectFrom('stacks').select('id').whereRef('stacks.edge_id', '=', 'edges.id')))
      .execute()
  ).map(({ id }) => id)

/** Stacks without any container, by node: the others are counted by their containers. */
/** Whose stacks are on a node. */
export const ownersOnEdge = (on: Sql, edgeId: string): Promise<{ bp_id: string | null; count: number }[]> =>
  on
    .selectFrom('stacks')
    .select(['bp_id', sql<number>`count(*)::int`.as('count')])
    .where('edge_id', '=', edgeId)
    .groupBy('bp_id')
    .execute()

export async function countByEdge(on: Sql, edgeIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
  if (edgeIds.length === 0) return new Map()
  const rows = await on
    .selectFrom('stacks')
    .select(['edge_id', sql<number>`count(*)`.as('count')])
    .where('edge_id', 'in', [...edgeIds])
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('containers')
            .innerJoin('stack_services', 'stack_services.id', 'containers.service_id')
            .select('containers.id')
            .whereRef('stack_services.stack_id', '=', 'stacks.id'),
        ),
      ),
    )
    .groupBy('edge_id')
    .execute()
  return new Map(rows.map(({ edge_id, count }) => [edge_id, count]))
}
