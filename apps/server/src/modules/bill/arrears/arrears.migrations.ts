import type { StandingState, suspendedStates } from '@zhisuan/contract/bill/arrears'
import type { Kind } from '@zhisuan/contract/kind'
import type { Generated, Selectable } from 'kysely'
import { migration, type Migrations } from '../../../platform/db/database.ts'

interface ArrearsPolicyTable {
  /** Null: the platform's. */
  bp_id: string | null
  /** Minor units, as text: see ledger.store.ts. */
  low_balance: string
  least_balance: string
  grace_hours: number
  warning_hours: number
  suspends: boolean
  stop_vms: boolean
  stop_containers: boolean
  refuse_new: boolean
  resume: boolean
  updated_by_name: string
  updated_at: Date | null
}
interface StandingCheckTable {
  id: Generated<number>
  owner_id: string
}
interface AccountStandingTable {
  owner_id: string
  state: StandingState
  since: Date
  arrears_since: Date | null
  grace_until: Date | null
  /** Of these arrears it was told that the suspension is near. */
  warned: boolean
  /** When time alone may change it. */
  due_at: Date | null
}
interface StandingChangeTable {
  id: Generated<number>
  owner_id: string
  from_state: StandingState
  to_state: StandingState
  balance: string
  grace_until: Date | null
  at: Date
}
interface SuspensionTable {
  id: string
  owner_id: string
  phase: 'suspending' | 'suspended' | 'resuming' | 'ended'
  /** When it is to be looked at next. */
  look_at: Date
  began_at: Date
  ended_at: Date | null
}
interface SuspendedResourceTable {
  suspension_id: string
  kind: Kind
  resource_id: string
  name: string
  state: (typeof suspendedStates)[number]
  /** The last that was begun for it; null where none could be. */
  operation_id: string | null
  /** What its module has to know to start again what it stopped. */
  detail: unknown
  tries: number
  error_text: string | null
  retry_at: Date
  updated_at: Date
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    arrears_policies: ArrearsPolicyTable
    standing_checks: StandingCheckTable
    account_standings: AccountStandingTable
    standing_changes: StandingChangeTable
    suspensions: SuspensionTable
    suspended_resources: SuspendedResourceTable
  }
}
export type PolicyRow = Selectable<ArrearsPolicyTable>
export type StandingRow = Selectable<AccountStandingTable>
export type SuspensionRow = Selectable<SuspensionTable>
export type SuspendedRow = Selectable<SuspendedResourceTable>

/** Topic on the bus: there are standings to look at. */
export const standingTopic = 'bill.standing'

export const arrearsMigrations: Migrations = {
  '20261128_24_least_balance': migration('alter table arrears_policies add column least_balance numeric(38, 0) not null default 0 check (least_balance >= 0)'),
  '20261123_00_56_arrears': migration(`
    create table arrears_policies (
      bp_id uuid references organisations on delete cascade,
      low_balance numeric(38, 0) not null check (low_balance >= 0),
      grace_hours integer not null,
      warning_hours integer not null,
      suspends boolean not null,
      stop_vms boolean not null,
      stop_containers boolean not null,
      refuse_new boolean not null,
      resume boolean not null,
      updated_by_name text not null,
      updated_at timestamptz,
      constraint arrears_policies_one unique nulls not distinct (bp_id)
    );
    insert into arrears_policies values (null, 100 * 10^8, 72, 24, true, true, true, true, true, '', null);

    -- Whose standing is to be derived anew. A movement adds a row of its own, so whoever takes rows
    -- away has seen the movements of just those.
    create table standing_checks (
      id bigint generated always as identity primary key,
      owner_id uuid not null
    );
    create index standing_checks_owner on standing_checks (owner_id);

    create function standing_to_check() returns trigger language plpgsql as $$
    begin
      insert into standing_checks (owner_id) values (new.owner_id);
      perform pg_notify('zhisuan', '${standingTopic} -');
      return null;
    end $$;
    create trigger ledger_transactions_check_standing after insert on ledger_transactions
      for each row execute function standing_to_check();
    create trigger ledger_accounts_check_standing after insert or update of lowest on ledger_accounts
      for each row when (new.account = 'credit') execute function standing_to_check();

    -- Whoever starts or makes something shares the row; whoever changes it waits for them.
    create table account_standings (
      owner_id uuid primary key references accounts,
      state text not null check (state in ('normal', 'low', 'arrears', 'suspended')),
      since timestamptz not null,
      arrears_since timestamptz,
      grace_until timestamptz,
      warned boolean not null default false,
      due_at timestamptz,
      check ((arrears_since is not null) = (state in ('arrears', 'suspended')))
    );
    create index account_standings_due on account_standings (due_at) where due_at is not null;
    create index account_standings_state on account_standings (state, owner_id);

    create table standing_changes (
      id bigint generated always as identity primary key,
      owner_id uuid not null references accounts,
      from_state text not null,
      to_state text not null check (to_state <> from_state),
      balance numeric(38, 0) not null,
      grace_until timestamptz,
      at timestamptz not null
    );
    create index standing_changes_owner on standing_changes (owner_id, id);

    create table suspensions (
      id uuid primary key,
      owner_id uuid not null references accounts,
      phase text not null check (phase in ('suspending', 'suspended', 'resuming', 'ended')),
      look_at timestamptz not null,
      began_at timestamptz not null,
      ended_at timestamptz
    );
    create unique index suspensions_one on suspensions (owner_id) where phase <> 'ended';
    create index suspensions_look on suspensions (look_at) where phase <> 'ended';
    create index suspensions_owner on suspensions (owner_id, began_at);

    create table suspended_resources (
      suspension_id uuid not null references suspensions,
      kind text not null,
      resource_id uuid not null,
      name text not null,
      state text not null check (state in ('stopping', 'stopped', 'starting', 'started', 'left')),
      operation_id uuid,
      detail jsonb,
      tries integer not null,
      error_text text,
      retry_at timestamptz not null,
      updated_at timestamptz not null,
      primary key (suspension_id, kind, resource_id)
    );
  `),
}
