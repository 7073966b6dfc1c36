import type { KeystoneProjectProblem } from '@zhisuan/contract/compute/project'
import { sql, type Generated, type Selectable } from 'kysely'
import type { Scope } from '../../../platform/auth/actor.ts'
import { migration, type Migrations, type Sql, type Tx } from '../../../platform/db/database.ts'
import { within } from '../../../platform/db/scope.ts'

interface KeystoneProjectTable {
  cloud_id: string
  /** Keystone's. */
  keystone_id: string
  bp_id: string
  /** Null: the organisation's own. */
  project_id: string | null
  created_at: Generated<Date>
  /** As the last look saw it; null of one that is as it should be. */
  problem: KeystoneProjectProblem | null
  /** When a look first saw it so. */
  problem_since: Date | null
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    keystone_projects: KeystoneProjectTable
  }
}
export type KeystoneProjectRow = Selectable<KeystoneProjectTable>
/** Which project is whose. */
export type OwnedProject = Pick<KeystoneProjectRow, 'cloud_id' | 'keystone_id' | 'bp_id' | 'project_id'>

export const tenancyMigrations: Migrations = {
  // Owners are no foreign keys: what is left on a cloud is known to have been somebody's after they went.
  '20261123_00_65_keystone_projects': migration(`
    create table keystone_projects (
      cloud_id uuid not null references clouds,
      keystone_id text not null,
      bp_id uuid not null,
      project_id uuid,
      created_at timestamptz not null default now(),
      primary key (cloud_id, keystone_id),
      constraint keystone_projects_owner unique nulls not distinct (cloud_id, bp_id, project_id)
    );
    create index keystone_projects_bp on keystone_projects (bp_id, cloud_id);
  `),
  '20261126_91_keystone_project_problems': migration(`
    alter table keystone_projects
      add column problem text check (problem in ('disabled', 'deleted', 'roleless')),
      add column problem_since timestamptz,
      add constraint keystone_projects_problem_since check ((problem is null) = (problem_since is null));
  `),
}

/** Whose: an organisation's as a whole, or one of its projects'. */
export interface Owner {
  readonly bp_id: string
  readonly project_id: string | null
}
export interface NamedKeystoneProject extends KeystoneProjectRow {
  /** Null where the owner is gone. */
  readonly bp_name: string | null
  readonly project_name: string | null
}

export const keystoneProjects = (on: Sql, scope: Scope, cloudId: string): Promise<NamedKeystoneProject[]> =>
  on
    .selectFrom('keystone_projects')
    .where(within(scope, 'keystone_projects.bp_id'))
    .where('cloud_id', '=', cloudId)
    .leftJoin('organisations', 'organisations.id', 'keystone_projects.bp_id')
    .leftJoin('projects', 'projects.id', 'keystone_projects.project_id')
    .selectAll('keystone_projects')
    .select(['organisations.name as bp_name', 'projects.name as project_name'])
    .orderBy('keystone_projects.created_at')
    .execute()

export const keystoneProjectOf = (on: Sql, cloudId: string, owner: Owner): Promise<KeystoneProjectRow | undefined> =>
  on
    .selectFrom('keystone_projects')
    .selectAll()
    .where('cloud_id', '=', cloudId)
    .where('bp_id', '=', owner.bp_id)
    .where('project_id', 'is not distinct from', owner.project_id)
    .executeTakeFirst()

/** Nothing where somebody else has said the same just before. */
export const insertKeystoneProject = async (on: Sql, row: OwnedProject): Promise<void> => {
  await on
    .insertInto('keystone_projects')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

export const projectOfOrganisation = (on: Sql, owner: Owner): Promise<{ id: string } | undefined> =>
  on.selectFrom('projects').select('id').where('id', '=', owner.project_id).where('bp_id', '=', owner.bp_id).executeTakeFirst()

/**
 * It becomes somebody else's: whose row it was is gone.
 * @param before whose it was when it was looked at: null for nobody's
 * @returns false where somebody else was faster
 */
export async function setKeystoneProject(on: Sql, row: OwnedProject, before: Owner | null): Promise<boolean> {
  const { bp_id, project_id } = row
  const set = await on
    .insertInto('keystone_projects')
    .values(row)
    .onConflict((conflict) =>
      before === null
        ? conflict.columns(['cloud_id', 'keystone_id']).doNothing()
        : conflict
            .columns(['cloud_id', 'keystone_id'])
            .doUpdateSet({ bp_id, project_id, created_at: sql`now()` })
            .where('keystone_projects.bp_id', '=', before.bp_id)
            .where('keystone_projects.project_id', 'is not distinct from', before.project_id),
    )
    .returning('keystone_id')
    .executeTakeFirst()
  return set !== undefined
}

/** @returns the one that there was */
export const deleteKeystoneProject = (on: Sql, cloudId: string, keystoneId: string): Promise<KeystoneProjectRow | undefined> =>
  on.deleteFrom('keystone_projects').where('cloud_id', '=', cloudId).where('keystone_id', '=', keystoneId).returningAll().executeTakeFirst()

/** All of a cloud, with what is known to be wrong. */
export const knownProjects = (on: Sql, cloudId: string): Promise<Pick<KeystoneProjectRow, 'keystone_id' | 'problem'>[]> =>
  on.selectFrom('keystone_projects').select(['keystone_id', 'problem']).where('cloud_id', '=', cloudId).execute()

/**
 * Records how projects are.
 * @returns those that were otherwise, and how
 */
export async function setProblems(
  tx: Tx,
  cloudId: string,
  seen: readonly Pick<KeystoneProjectRow, 'keystone_id' | 'problem'>[],
  since: Date,
): Promise<(OwnedProject & { problem: KeystoneProjectProblem | null; was: KeystoneProjectProblem | null })[]> {
  const { rows } = await sql<OwnedProject & { problem: KeystoneProjectProblem | null; was: KeystoneProjectProblem | null }>`
    with told as (select * from jsonb_to_recordset(${JSON.stringify(seen)}::jsonb) as told (keystone_id text, problem text)),
    had as (
      select of.keystone_id, of.problem from keystone_projects as of join told using (keystone_id)
      where of.cloud_id = ${cloudId} and of.problem is distinct from told.problem
      for update of of
    )
    update keystone_projects as of set problem = told.problem, problem_since = case when told.problem is not null then ${since}::timestamptz end
    from told join had using (keystone_id)
    where of.cloud_id = ${cloudId} and of.keystone_id = told.keystone_id
    returning of.cloud_id, of.keystone_id, of.bp_id, of.project_id, of.problem, had.problem as was
  `.execute(tx)
  return rows
}

/** What a cloud, and an organisation if it is there still, are called. */
export async function namesOf(on: Sql, cloudId: string, bpId: string): Promise<{ cloud: string; organisation: string | null }> {
  const cloud = await on.selectFrom('clouds').select('name').where('id', '=', cloudId).executeTakeFirst()
  const organisation = await on.selectFrom('organisations').select('name').where('id', '=', bpId).executeTakeFirst()
  return { cloud: cloud?.name ?? cloudId, organisation: organisation?.name ?? null }
}

/** What is wrong with projects on clouds of ours, the longest first. */
export const projectTroubles = (on: Sql, { cloud_id, bp_id }: { cloud_id?: string | undefined; bp_id?: string | undefined }) =>
  on
    .selectFrom('keystone_projects as of')
    .innerJoin('clouds', 'clouds.id', 'of.cloud_id')
    .leftJoin('organisations', 'organisations.id', 'of.bp_id')
    .leftJoin('projects', 'projects.id', 'of.project_id')
    .select(['of.cloud_id', 'clouds.name as cloud_name', 'of.keystone_id', 'organisations.id as bp_id', 'organisations.name as bp_name'])
    .select(['projects.id as project_id', 'projects.name as project_name'])
    .select(['of.problem', 'of.problem_since'])
    .$narrowType<{ problem: KeystoneProjectProblem; problem_since: Date }>()
    .where('clouds.deleted_at', 'is', null)
    .where('of.problem', 'is not', null)
    .$if(cloud_id !== undefined, (q) => q.where('of.cloud_id', '=', cloud_id ?? ''))
    .$if(bp_id !== undefined, (q) => q.where('of.bp_id', '=', bp_id ?? ''))
    .orderBy('of.problem_since')
    .orderBy('of.keystone_id')
    .execute()

export const organisationWithId = (on: Sql, id: string): Promise<{ id: string } | undefined> =>
  on.selectFrom('organisations').select('id').where('id', '=', id).executeTakeFirst()

export const organisationNamed = (on: Sql, name: string): Promise<{ id: string } | undefined> =>
  on.selectFrom('organisations').select('id').where('name', '=', name).executeTakeFirst()

export const projectNamed = (on: Sql, bpId: string, name: string): Promise<{ id: string } | undefined> =>
  on.selectFrom('projects').select('id').where('bp_id', '=', bpId).where('name', '=', name).executeTakeFirst()

export const forgetKeystoneProjects = async (on: Sql, cloudId: string): Promise<void> => {
  await on.deleteFrom('keystone_projects').where('cloud_id', '=', cloudId).execute()
}
