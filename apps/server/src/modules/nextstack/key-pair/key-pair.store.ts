import type { keyPairs } from '@zhisuan/contract/nextstack/key-pair'
import type { QueryOf } from '@zhisuan/contract/define'
import { sql, type Selectable, type SelectQueryBuilder, type Updateable } from 'kysely'
import type { Scope } from '../../../platform/auth/actor.ts'
import { migration, type Migrations, type Sql, type Tables, type Tx } from '../../../platform/db/database.ts'
import { matching, orderOf, pageOf } from '../../../platform/db/page.ts'
import type { QuotaCounter } from '../quota/quota.service.ts'
import { within } from '../../../platform/db/scope.ts'
import { insertsInto } from '../../../platform/db/rows.ts'
import type { OwnedTable } from '../../../platform/resource.shape.ts'

interface KeyPairTable extends OwnedTable {
  algorithm: string
  public_key: string
  fingerprint: string
  fingerprint_md5: string
  generated: boolean
}
/** Which keys an instance was given. */
interface VmKeyPairTable {
  vm_id: string
  key_pair_id: string
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    key_pairs: KeyPairTable
    vm_key_pairs: VmKeyPairTable
  }
}
export type KeyPairRow = Selectable<KeyPairTable>
export type ShownKeyPair = KeyPairRow & { bp_name: string | null; vm_count: number }

export const keyPairMigrations: Migrations = {
  '20261123_00_13_key_pairs': migration(`
    create table key_pairs (
      id uuid primary key,
      bp_id uuid,
      name text not null,
      description text not null,
      algorithm text not null,
      public_key text not null,
      fingerprint text not null,
      fingerprint_md5 text not null,
      generated boolean not null,
      -- What the keyword filter looks through.
      search text generated always as (name || ' ' || fingerprint || ' ' || fingerprint_md5) stored,
      created_by uuid,
      created_by_name text not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create unique index key_pairs_name on key_pairs (coalesce(bp_id, '00000000-0000-0000-0000-000000000000'), name);
    create unique index key_pairs_key on key_pairs (coalesce(bp_id, '00000000-0000-0000-0000-000000000000'), fingerprint);
    create index key_pairs_newest on key_pairs (created_at, id);
    create index key_pairs_newest_bp on key_pairs (bp_id, created_at, id);
    create index key_pairs_by_name on key_pairs (name, id);
    create index key_pairs_by_name_bp on key_pairs (bp_id, name, id);
    create index key_pairs_by_algorithm on key_pairs (algorithm, id);
    create index key_pairs_by_algorithm_bp on key_pairs (bp_id, algorithm, id);
    create index key_pairs_search on key_pairs using gin (search gin_trgm_ops);
    create table vm_key_pairs (
      vm_id uuid not null references vms on delete cascade,
      key_pair_id uuid not null references key_pairs on delete cascade,
      primary key (vm_id, key_pair_id)
    );
    create index vm_key_pairs_key on vm_key_pairs (key_pair_id);
  `),
}

export const keyPairCounter: QuotaCounter = {
  resources: ['key_pairs'],
  count: async (on, { bp_id, project_id }) => {
    // Keys are the organisation's: no project has any.
    if (project_id !== null) return { key_pairs: 0 }
    const { count } = await on
      .selectFrom('key_pairs')
      .select(sql<number>`count(*)`.as('count'))
      .$if(bp_id !== null, (q) => q.where('bp_id', '=', bp_id))
      .executeTakeFirstOrThrow()
    return { key_pairs: count }
  },
}

const visible = (on: Sql, scope: Scope) => on.selectFrom('key_pairs').where(within(scope, 'key_pairs.bp_id'))

const shown = <T>(query: SelectQueryBuilder<Tables, 'key_pairs', T>) =>
  query
    .leftJoin('organisations', 'organisations.id', 'key_pairs.bp_id')
    .selectAll('key_pairs')
    .select(['organisations.name as bp_name', sql<number>`(select count(*) from vm_key_pairs where key_pair_id = key_pairs.id)`.as('vm_count')])

const order = orderOf('key_pairs', '-created_at', 'name', 'algorithm', 'created_at')

export async function listKeyPairs(on: Sql, scope: Scope, query: QueryOf<typeof keyPairs.list>): Promise<{ total: number; rows: ShownKeyPair[] }> {
  const filtered = visible(on, scope).where(matching(query.keyword, 'key_pairs.search'))
  return pageOf(filtered, query, order, (ids) => shown(on.selectFrom('key_pairs').where('key_pairs.id', 'in', ids)))
}

export const getKeyPair = (on: Sql, scope: Scope, id: string): Promise<ShownKeyPair | undefined> =>
  shown(visible(on, scope).where('key_pairs.id', '=', id)).executeTakeFirst()

export const namesOfKeys = (on: Sql, scope: Scope): Promise<Pick<KeyPairRow, 'id' | 'name'>[]> => visible(on, scope).select(['id', 'name']).execute()

/** Held until the transaction ends, so that none is deleted while it is put into an instance. */
export const shareKeyPairs = (on: Sql, scope: Scope, ids: readonly string[]): Promise<Pick<KeyPairRow, 'id' | 'public_key'>[]> =>
  visible(on, scope)
    .select(['id', 'public_key'])
    .where('id', 'in', [...ids])
    .forKeyShare()
    .execute()

/** Which of the organisation's has this key. */
export const nameOfKey = async (on: Sql, bpId: string | null, fingerprint: string): Promise<string | undefined> =>
  (await on.selectFrom('key_pairs').select('name').where('bp_id', 'is not distinct from', bpId).where('fingerprint', '=', fingerprint).executeTakeFirst())?.name

/** Who registered this key in an organisation; null where nobody there did. */
export const personOfKey = async (on: Sql, bpId: string, fingerprint: string): Promise<string | null> =>
  (await on.selectFrom('key_pairs').select('created_by').where('bp_id', '=', bpId).where('fingerprint', '=', fingerprint).executeTakeFirst())?.created_by ??
  null

export const insertKeyPair = insertsInto('key_pairs')

/** False where the scope shows none. */
export const updateKeyPair = async (on: Sql, scope: Scope, id: string, changes: Updateable<KeyPairTable>): Promise<boolean> => {
  const { numUpdatedRows } = await on
    .updateTable('key_pairs')
    .set({ ...changes, updated_at: sql`now()` })
    .where('id', '=', id)
    .where(within(scope, 'key_pairs.bp_id'))
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** False where the scope shows none. */
export const deleteKeyPair = async (on: Sql, scope: Scope, id: string): Promise<boolean> =>
  (await on.deleteFrom('key_pairs').where('id', '=', id).where(within(scope, 'key_pairs.bp_id')).executeTakeFirst()).numDeletedRows > 0n

/** As many as a page names; how many there are in all the key itself says. */
const vmsNamed = 1000

export const vmsOf = (on: Sql, scope: Scope, id: string): Promise<{ id: string; name: string }[]> =>
  on
    .selectFrom('vm_key_pairs')
    .innerJoin('vms', 'vms.id', 'vm_key_pairs.vm_id')
    .where('vm_key_pairs.key_pair_id', '=', id)
    .where(within(scope, 'vms.bp_id'))
    .select(['vms.id', 'vms.name'])
    .orderBy('vms.name')
    .limit(vmsNamed)
    .execute()

export const insertVmKeys = async (tx: Tx, vmId: string, ids: readonly string[]): Promise<void> => {
  await tx
    .insertInto('vm_key_pairs')
    .values(ids.map((key_pair_id) => ({ vm_id: vmId, key_pair_id })))
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** Held until the transaction ends. */
export const keysOfVm = async (tx: Tx, vmId: string): Promise<string[]> =>
  (await tx.selectFrom('vm_key_pairs').select('key_pair_id').where('vm_id', '=', vmId).forShare().execute()).map(({ key_pair_id }) => key_pair_id)
