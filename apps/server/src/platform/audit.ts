import type { CompiledQuery, Generated } from 'kysely'
import { uuidv7 } from './ids.ts'
import { migration, type Migrations, type Sql } from './db/database.ts'
import { unrecorded } from './db/recording.ts'
import type { AuditEntry } from './http/entry.ts'

interface AuditTable {
  id: string
  at: Generated<Date>
  call: string
  actor_id: string | null
  actor_name: string | null
  bp_id: string | null
  object_id: string | null
  request_id: string
  ip: string
  code: number
  /** What the actor came with, where that was no session. */
  access_key_id: string | null
  access_key_name: string | null
  /** Given by the database, with the next two: see the migration. */
  number: Generated<number>
  previous: Generated<Buffer>
  hash: Generated<Buffer>
}
declare module './db/database.ts' {
  interface Tables {
    audit_log: AuditTable
  }
}

export const auditMigrations: Migrations = {
  '20261123_00_01_audit': migration(`
    create table audit_log (
      id uuid primary key,
      at timestamptz not null default now(),
      call text not null,
      actor_id uuid,
      actor_name text,
      bp_id uuid,
      object_id text,
      request_id text not null,
      ip text not null,
      code integer not null,
      access_key_id uuid,
      access_key_name text,
      number bigint not null,
      previous bytea not null,
      hash bytea not null
    );
    create index audit_log_at on audit_log (at desc);
    create index audit_log_object on audit_log (object_id, at desc) where object_id is not null;
    create table audit_head (
      only_one boolean primary key default true check (only_one),
      number bigint not null,
      hash bytea not null
    );
    insert into audit_head (number, hash) values (0, sha256('zhisuan'));
    -- What was sealed before there were access keys stays sealed: an entry without one is read as it was.
    create function audit_seal(entry audit_log) returns bytea language sql immutable as $$
      select sha256(entry.previous || convert_to((jsonb_build_array(
        entry.number, entry.id, extract(epoch from entry.at)::text, entry.call, entry.actor_id, entry.actor_name, entry.bp_id,
        entry.object_id, entry.request_id, entry.ip, entry.code
      ) || case when entry.access_key_id is null and entry.access_key_name is null then '[]' else jsonb_build_array(entry.access_key_id, entry.access_key_name) end)::text, 'UTF8'))
    $$;
    create function audit_append() returns trigger language plpgsql as $$
    begin
      update audit_head set number = number + 1 returning number, hash into new.number, new.previous;
      new.hash := audit_seal(new);
      update audit_head set hash = new.hash;
      return new;
    end
    $$;
    create unique index audit_log_number on audit_log (number);
    create index audit_log_bp on audit_log (bp_id, number);
    create index audit_log_actor on audit_log (actor_id, number);
    create index audit_log_call on audit_log (call, number);
    create index audit_log_request on audit_log (request_id);
    create trigger audit_append before insert on audit_log for each row execute function audit_append();
    create function audit_keep() returns trigger language plpgsql as $$
    begin
      raise exception 'the audit log is not changed';
    end
    $$;
    create trigger audit_keep before update or delete or truncate on audit_log for each statement execute function audit_keep();
  `),
}

/** An entry of the audit log, to be written: who asked for what, and what came of it. Payloads are not kept: they hold secrets. */
export const entryQuery = (on: Sql, entry: AuditEntry): CompiledQuery =>
  on
    .insertInto('audit_log')
    .values({
      id: uuidv7(),
      call: entry.call,
      actor_id: entry.actor?.user_id ?? null,
      actor_name: entry.actor?.name ?? null,
      bp_id: entry.actor === null ? entry.bp_id : entry.actor.bp_id,
      object_id: entry.object_id,
      request_id: entry.request_id,
      ip: entry.ip,
      code: entry.code,
      access_key_id: entry.actor?.access_key?.id ?? null,
      access_key_name: entry.actor?.access_key?.name ?? null,
    })
    .compile()

/** Appends to the audit log what has no change of ours beside it, such as a refusal. */
export const createAudit =
  (on: Sql) =>
  async (entry: AuditEntry): Promise<void> => {
    await unrecorded(() => on.executeQuery(entryQuery(on, entry)))
  }
