import { sql, type Generated, type Selectable } from 'kysely'
import { migration, type Migrations, type Sql, type Tx } from '../db/database.ts'

/** What is stored, once each, however many things refer to it: they do so by `references byte_contents`, so the database knows. */
interface ByteContentTable {
  sha256: string
  size_bytes: number
  created_at: Generated<Date>
}
/** What comes in. */
interface ByteUploadTable {
  id: string
  /** Whose it is: whoever takes what was received. */
  taker: string
  bp_id: string | null
  project_id: string | null
  user_id: string
  size_bytes: number
  /** As the sender announced it. */
  sha256: string | null
  /** Bytes that are on disk for sure. */
  offset_bytes: Generated<number>
  /** Who writes: whoever has an older number has been overtaken. */
  lease: Generated<number>
  /** Which server the last lease was given at. */
  writer: string | null
  /** Whether servers have taken it over from one another: the one before may have it open still, and no other can close it there. */
  handed_over: Generated<boolean>
  status: 'uploading' | 'verifying' | 'done' | 'failed'
  error: string | null
  /** What its taker knows of it. */
  wish: unknown
  created_at: Generated<Date>
  updated_at: Generated<Date>
  expires_at: Date
}
/**
 * What an organisation keeps, with what is on its way; one row without an organisation is for all who have none. Of each of its
 * projects a row of its own, which counts in the organisation's too.
 */
interface ByteAccountTable {
  bp_id: string | null
  project_id: string | null
  used_bytes: Generated<number>
}
/** Contents that something referred to and does not any more: whether nothing else does is found out. */
interface ByteReleasedTable {
  sha256: string
  /** Not looked at before: while its bytes are being kept nothing refers to it yet. */
  due_at: Generated<Date>
}
declare module '../db/database.ts' {
  interface Tables {
    byte_contents: ByteContentTable
    byte_uploads: ByteUploadTable
    byte_accounts: ByteAccountTable
    byte_released: ByteReleasedTable
  }
}

export const byteMigrations: Migrations = {
  '20261128_80_bytes': migration(`
    create table byte_contents (
      sha256 text primary key check (sha256 ~ '^[0-9a-f]{64}$'),
      size_bytes bigint not null check (size_bytes >= 0),
      created_at timestamptz not null default now()
    );
    create table byte_uploads (
      id uuid primary key,
      taker text not null,
      bp_id uuid,
      user_id uuid not null,
      size_bytes bigint not null check (size_bytes >= 0),
      sha256 text,
      offset_bytes bigint not null default 0 check (offset_bytes >= 0 and offset_bytes <= size_bytes),
      lease bigint not null default 0,
      status text not null default 'uploading' check (status in ('uploading', 'verifying', 'done', 'failed')),
      error text,
      wish jsonb not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      expires_at timestamptz not null
    );
    create index byte_uploads_expires on byte_uploads (expires_at);
    create index byte_uploads_user on byte_uploads (user_id, created_at);
    create table byte_accounts (
      bp_id uuid,
      used_bytes bigint not null default 0 check (used_bytes >= 0),
      quota_bytes bigint,
      unique nulls not distinct (bp_id)
    );
    create table byte_released (sha256 text primary key);
  `),
  '20261128_90_byte_quotas': migration(`
    -- Limits are those of all else by now: of one organisation, or of all that have none of their own.
    insert into quota_defaults (resource, most)
    select 'file_bytes', nullif(value::bigint, 0) * 1073741824 from configs where key = 'file_quota_gb'
    on conflict do nothing;
    delete from configs where key = 'file_quota_gb';
    insert into quotas (bp_id, resource, most)
    select bp_id, 'file_bytes', quota_bytes from byte_accounts where quota_bytes is not null and bp_id in (select id from organisations)
    on conflict do nothing;
    alter table byte_accounts drop column quota_bytes;
  `),
  '20261201_10_byte_projects': migration(`
    alter table byte_accounts add column project_id uuid references projects on delete cascade;
    alter table byte_accounts drop constraint byte_accounts_bp_id_key;
    alter table byte_accounts add constraint byte_accounts_owner unique nulls not distinct (bp_id, project_id);
    alter table byte_uploads add column project_id uuid;
  `),
  '20261201_17_byte_released_due': migration(`
    alter table byte_released add column due_at timestamptz not null default now();
  `),
  '20261202_33_byte_upload_writers': migration(`
    alter table byte_uploads add column writer uuid, add column handed_over boolean not null default false;
  `),
}

/** Whose bytes are: an organisation's, or, within it, a project's. */
export interface ByteOwner {
  readonly bp_id: string | null
  readonly project_id: string | null
}

export type UploadRow = Selectable<ByteUploadTable>
const wishes = (wish: object) => sql<boolean>`wish @> ${JSON.stringify(wish)}::jsonb`

export const insertUploads = async (
  tx: Tx,
  rows: readonly (Pick<UploadRow, 'id' | 'taker' | 'bp_id' | 'project_id' | 'user_id' | 'size_bytes' | 'sha256' | 'expires_at'> & { readonly wish: object })[],
): Promise<void> => {
  await tx
    .insertInto('byte_uploads')
    .values(rows.map((row) => ({ ...row, wish: JSON.stringify(row.wish), error: null, writer: null, status: 'uploading' })))
    .execute()
}
/** Which of these there are. */
export async function uploadsAmong(on: Sql, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await on
    .selectFrom('byte_uploads')
    .select('id')
    .where(sql<boolean>`id::text = any(${ids}::text[])`)
    .execute()
  return new Set(rows.map(({ id }) => id))
}
export const getUpload = (on: Sql, id: string): Promise<UploadRow | undefined> =>
  on.selectFrom('byte_uploads').selectAll().where('id', '=', id).executeTakeFirst()
export const lockUpload = (tx: Tx, id: string): Promise<UploadRow | undefined> =>
  tx.selectFrom('byte_uploads').selectAll().where('id', '=', id).forUpdate().executeTakeFirst()
/** Of somebody all that have not ended. */
export const lockUploadsOf = (tx: Tx, userId: string): Promise<UploadRow[]> =>
  tx.selectFrom('byte_uploads').selectAll().where('user_id', '=', userId).where('status', 'in', ['uploading', 'verifying']).orderBy('id').forUpdate().execute()
/** All of one taker that have not ended and whose wish says this. */
export const lockUploadsFor = (tx: Tx, taker: string, wish: object): Promise<UploadRow[]> =>
  tx
    .selectFrom('byte_uploads')
    .selectAll()
    .where('taker', '=', taker)
    .where(wishes(wish))
    .where('status', 'in', ['uploading', 'verifying'])
    .orderBy('id')
    .forUpdate()
    .execute()
/** One’s own, the oldest first: those that go on, and those that failed since. */
export const uploadsOf = (on: Sql, taker: string, userId: string, failedSince: Date, wish: object = {}): Promise<UploadRow[]> =>
  on
    .selectFrom('byte_uploads')
    .selectAll()
    .where('taker', '=', taker)
    .where('user_id', '=', userId)
    .where(wishes(wish))
    .where((where) =>
      where.or([where('status', 'in', ['uploading', 'verifying']), where.and([where('status', '=', 'failed'), where('updated_at', '>', failedSince)])]),
    )
    .orderBy('created_at')
    .orderBy('id')
    .limit(1_000)
    .execute()
export const updateUpload = async (on: Sql, id: string, changes: Partial<Pick<UploadRow, 'status' | 'error' | 'expires_at'>>): Promise<void> => {
  await on
    .updateTable('byte_uploads')
    .set({ ...changes, updated_at: sql`now()` })
    .where('id', '=', id)
    .execute()
}
export const deleteUpload = async (on: Sql, id: string): Promise<void> => {
  await on.deleteFrom('byte_uploads').where('id', '=', id).execute()
}
/** Those of somebody whose bytes have not come, of one model or the like: what their wish says of them. */
export const waitingUploads = (on: Sql, { taker, user_id, wish }: { taker: string; user_id: string; wish: object }): Promise<UploadRow[]> =>
  on
    .selectFrom('byte_uploads')
    .selectAll()
    .where('taker', '=', taker)
    .where('user_id', '=', user_id)
    .where('status', '=', 'uploading')
    .where(wishes(wish))
    .execute()
export type Lease = Pick<UploadRow, 'lease' | 'offset_bytes' | 'size_bytes'>
/**
 * Takes it over from whoever writes it. Undefined where nothing is to be written any more, or not there.
 * @param server that it is written at
 * @param where `at` where it goes on, and only where it is that far; `from` where it begins anew, whatever came before
 */
export const leaseUpload = (on: Sql, id: string, server: string, where: { readonly at: number } | { readonly from: number }): Promise<Lease | undefined> =>
  on
    .updateTable('byte_uploads')
    .set({
      lease: sql`lease + 1`,
      updated_at: sql`now()`,
      writer: server,
      handed_over: sql`handed_over or (lease > 0 and writer is distinct from ${server}::uuid)`,
      ...('from' in where && { offset_bytes: where.from }),
    })
    .where('id', '=', id)
    .where('at' in where ? sql<boolean>`offset_bytes = ${where.at}` : sql<boolean>`true`)
    .where('status', '=', 'uploading')
    .returning(['lease', 'offset_bytes', 'size_bytes'])
    .executeTakeFirst()
/**
 * @param last what is answered now has to outlive a power cut; of what comes between, a lost commit only says less than is on disk
 * @returns false where somebody has taken it over, or it has ended
 */
export const commitOffset = async (on: Sql, id: string, lease: number, offset: number, last: boolean): Promise<boolean> => {
  const { numUpdatedRows } = await on
    .updateTable('byte_uploads')
    .set({ offset_bytes: offset, updated_at: sql`now()` })
    .where('id', '=', id)
    .where('lease', '=', lease)
    .where('status', '=', 'uploading')
    .where(last ? sql<boolean>`true` : sql<boolean>`set_config('synchronous_commit', 'off', true) is not null`)
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}
/** All bytes are there, or it is over: no writer is the one any more. */
export const closeLease = async (tx: Tx, id: string): Promise<void> => {
  await tx
    .updateTable('byte_uploads')
    .set({ lease: sql`lease + 1`, updated_at: sql`now()` })
    .where('id', '=', id)
    .execute()
}
/** Whether somebody's lease is still the last one. */
export const holdsLease = async (on: Sql, id: string, lease: number): Promise<boolean> =>
  (await on.selectFrom('byte_uploads').select('id').where('id', '=', id).where('lease', '=', lease).where('status', '=', 'uploading').executeTakeFirst()) !==
  undefined
/** Bytes that are announced and have not come, and those of copies that are to be made: they have their place on the disk. */
export const toCome = async (on: Sql): Promise<number> =>
  Number(
    (
      await on
        .selectFrom('byte_uploads')
        .select(sql<string>`coalesce(sum(size_bytes - offset_bytes + case when handed_over then size_bytes else 0 end), 0)`.as('bytes'))
        .where('status', 'in', ['uploading', 'verifying'])
        .executeTakeFirstOrThrow()
    ).bytes,
  )
export const expiredUploads = (on: Sql, at: Date): Promise<UploadRow[]> =>
  on.selectFrom('byte_uploads').selectAll().where('expires_at', '<', at).where('status', '!=', 'verifying').orderBy('expires_at').limit(500).execute()
/** Whose last byte was the last thing that a killed server did. */
export const wholeUploads = (on: Sql): Promise<{ id: string }[]> =>
  on.selectFrom('byte_uploads').select('id').where('status', '=', 'uploading').whereRef('offset_bytes', '=', 'size_bytes').execute()

/**
 * Not verified although their last byte came a while ago: who was at it was killed, or the queue gave it up.
 * @param small of those no larger a minute is long, of others what the queue takes for its tries
 */
export const unverifiedUploads = (on: Sql, small: number): Promise<{ id: string; size_bytes: number }[]> =>
  on
    .selectFrom('byte_uploads')
    .select(['id', 'size_bytes'])
    .where('status', '=', 'verifying')
    .where(sql<boolean>`updated_at < now() - case when size_bytes <= ${small} then interval '1 minute' else interval '10 minutes' end`)
    .orderBy('updated_at')
    .limit(500)
    .execute()

/** Nobody else makes or drops this content until the transaction ends. */
export const lockContent = async (tx: Tx, sha256: string): Promise<void> => {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`byte_contents ${sha256}`}, 0))`.execute(tx)
}
/** The same of many, one after the other. */
export const lockContents = async (tx: Tx, sha256s: readonly string[]): Promise<void> => {
  await sql`select pg_advisory_xact_lock(hashtextextended('byte_contents ' || digest, 0))
    from (select digest from unnest(${sha256s}::text[]) with ordinality as asked (digest, number) order by number) as sorted`.execute(tx)
}
export const insertContents = async (tx: Tx, contents: readonly Pick<Selectable<ByteContentTable>, 'sha256' | 'size_bytes'>[]): Promise<void> => {
  await tx
    .insertInto('byte_contents')
    .values([...contents])
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}
/** Since when there are these; what is not there is left out. */
export async function contentsSince(on: Sql, sha256s: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const rows = await on
    .selectFrom('byte_contents')
    .select(['sha256', 'created_at'])
    .where(sql<boolean>`sha256 = any(${sha256s}::text[])`)
    .execute()
  return new Map(rows.map(({ sha256, created_at }) => [sha256, created_at.getTime()]))
}
export const release = async (tx: Tx, sha256s: readonly string[]): Promise<void> => {
  if (sha256s.length === 0) return
  await sql`insert into byte_released (sha256) select distinct unnest(${sha256s}::text[])
    on conflict (sha256) do update set due_at = least(byte_released.due_at, excluded.due_at)`.execute(tx)
}
/** Nothing refers to it yet, and something is about to. */
export const releaseLater = async (tx: Tx, sha256s: readonly string[], at: Date): Promise<void> => {
  await tx
    .insertInto('byte_released')
    .values(sha256s.map((sha256) => ({ sha256, due_at: at })))
    .onConflict((conflict) => conflict.column('sha256').doUpdateSet({ due_at: at }))
    .execute()
}
export const released = (on: Sql): Promise<{ sha256: string }[]> =>
  on
    .selectFrom('byte_released')
    .select('sha256')
    .where(sql<boolean>`due_at <= now()`)
    .limit(1_000)
    .execute()
export const forgetReleased = async (on: Sql, sha256s: readonly string[]): Promise<void> => {
  await on
    .deleteFrom('byte_released')
    .where(sql<boolean>`sha256 = any(${sha256s}::text[])`)
    .execute()
}
export const deleteContent = async (on: Sql, sha256: string): Promise<void> => {
  await on.deleteFrom('byte_contents').where('sha256', '=', sha256).execute()
}

/** What organisations and their projects keep, as quotas count it. */
export const byteCounter = {
  resources: ['file_bytes'] as const,
  count: async (on: Sql, of: { bp_id: string | null; project_id: string | null }): Promise<{ file_bytes: number }> => {
    const all = on
      .selectFrom('byte_accounts')
      .select(sql<number>`coalesce(sum(used_bytes), 0)::bigint`.as('used'))
      .where(sql<boolean>`project_id is not distinct from ${of.project_id}`)
    return { file_bytes: (await (of.bp_id === null ? all : all.where('bp_id', '=', of.bp_id)).executeTakeFirstOrThrow()).used }
  },
}

export type AccountRow = Selectable<ByteAccountTable>
const ofAccount = ({ bp_id, project_id }: ByteOwner) => sql<boolean>`bp_id is not distinct from ${bp_id} and project_id is not distinct from ${project_id}`
/** Held against other changes until the transaction ends. */
export const lockAccount = async (tx: Tx, { bp_id, project_id }: ByteOwner): Promise<AccountRow> => {
  await tx
    .insertInto('byte_accounts')
    .values({ bp_id, project_id })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  return tx.selectFrom('byte_accounts').selectAll().where(ofAccount({ bp_id, project_id })).forUpdate().executeTakeFirstOrThrow()
}
export const getAccount = (on: Sql, owner: ByteOwner): Promise<AccountRow | undefined> =>
  on.selectFrom('byte_accounts').selectAll().where(ofAccount(owner)).executeTakeFirst()
export const addUsed = async (tx: Tx, owner: ByteOwner, bytes: number): Promise<void> => {
  await tx
    .updateTable('byte_accounts')
    .set({ used_bytes: sql`used_bytes + ${bytes}` })
    .where(ofAccount(owner))
    .execute()
}
