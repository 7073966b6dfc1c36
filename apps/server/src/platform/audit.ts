import type { Generated } from 'kysely'
import { uuidv7 } from './ids.ts'
import type { Db } from './db/database.ts'
import { migration, type Migrations } from './db/database.ts'
import type { AuditEntry } from './http/bind.ts'

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
}
declare module './db/database.ts' {
  interface Tables {
    audit_log: AuditTable
  }
}

export const auditMigrations: Migrations = {
  '20261121_00_audit': migration(`
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
      code integer not null
    );
    create index audit_log_at on audit_log (at desc);
    create index audit_log_object on audit_log (object_id, at desc) where object_id is not null;
  `),
}

/** Appends to the audit log: who asked for what, and what came of it. Payloads are not kept: they hold secrets. */
export const createAudit = (db: Db) => async (entry: AuditEntry): Promise<void> => {
  await db
    .insertInto('audit_log')
    .values({
      id: uuidv7(),
      call: entry.call,
      actor_id: entry.actor?.user_id ?? null,
      actor_name: entry.actor?.name ?? null,
      bp_id: entry.actor?.bp_id ?? null,
      object_id: entry.object_id,
      request_id: entry.request_id,
      ip: entry.ip,
      code: entry.code,
    })
    .execute()
}
