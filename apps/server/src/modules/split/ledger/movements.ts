import { sql, type Generated, type Selectable } from 'kysely'
import { migration, type Migrations, type Sql, type Tx } from '../../../platform/db/database.ts'
import { insertsInto } from '../../../platform/db/rows.ts'
import { uuidv7 } from '../../../platform/ids.ts'

/**
 * Where money of a split is, or was. `consumption`: what users paid, from which all of it comes, so below 0. `platform`: what the
 * platform keeps. `pending`: what a party is to have of a statement that is not confirmed. `payable`: what it is owed.
 * `transit`: asked to be paid. `paid`: paid. `difference`: what was written off.
 */
export type SplitAccount = 'consumption' | 'platform' | 'pending' | 'payable' | 'transit' | 'paid' | 'difference'
export type MovementKind = 'stated' | 'confirmed' | 'noted' | 'asked' | 'done' | 'failed' | 'returned' | 'withdrawn' | 'writtenOff' | 'wasPaid' | 'wasNotPaid'

interface MovementTable {
  id: string
  /** Null of what nobody of ours had to do with. */
  provider_id: string | null
  kind: MovementKind
  /** The same key again is refused by the database: what it says happened once. */
  key: string
  run_id: string | null
  note: string
  created_by_name: string
  at: Generated<Date>
}
interface EntryTable {
  id: Generated<number>
  movement_id: string
  provider_id: string | null
  /** Of what is an agent's, which are parties of their contract only. */
  contract_id: string | null
  /** The party of the contract, as its terms count them: 1 is the provider. Null: the account is nobody's. */
  party: number | null
  account: SplitAccount
  /** Minor units; all of a movement are 0 together. */
  amount: string
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    split_movements: MovementTable
    split_entries: EntryTable
  }
}

/** Of the parties of a contract. */
export const providerParty = 1

export const movementMigrations: Migrations = {
  '20261201_41_split_movements': migration(`
    create table split_movements (
      id uuid primary key,
      provider_id uuid references market_providers,
      kind text not null check (kind in ('stated', 'confirmed', 'noted', 'asked', 'done', 'failed', 'returned', 'withdrawn', 'writtenOff')),
      key text not null,
      run_id uuid references split_runs,
      note text not null,
      created_by_name text not null,
      at timestamptz not null default now(),
      constraint split_movements_key unique (key)
    );
    create index split_movements_provider on split_movements (provider_id, at);
    create table split_entries (
      id bigint generated always as identity primary key,
      movement_id uuid not null references split_movements,
      provider_id uuid references market_providers,
      contract_id uuid references split_contracts,
      party bigint,
      account text not null check (account in ('consumption', 'platform', 'pending', 'payable', 'transit', 'paid', 'difference')),
      amount numeric(38, 0) not null check (amount <> 0)
    );
    create index split_entries_movement on split_entries (movement_id);
    create index split_entries_account on split_entries (provider_id, account, party);

    -- What was split before movements were kept.
    insert into split_movements (id, provider_id, kind, key, run_id, note, created_by_name, at)
      select gen_random_uuid(), provider_id, kind, kind || ' ' || run.id, run.id, coalesce(case kind when 'noted' then paid_reference end, ''),
        coalesce(case kind when 'stated' then created_by_name when 'confirmed' then confirmed_by else paid_by end, ''),
        coalesce(case kind when 'stated' then created_at when 'confirmed' then confirmed_at else paid_at end, created_at)
      from split_runs as run, unnest(array['stated', 'confirmed', 'noted']) as kind
      where (kind = 'stated' or status = 'paid' or (kind = 'confirmed' and status = 'confirmed'))
        and exists (select from unnest(amounts[(case kind when 'stated' then 1 else 2 end):]) as amount where amount <> 0);
    insert into split_entries (movement_id, provider_id, account, amount)
      select movement.id, run.provider_id, 'consumption', -run.base
      from split_movements as movement join split_runs as run on run.id = movement.run_id
      where movement.kind = 'stated' and run.base <> 0;
    insert into split_entries (movement_id, provider_id, account, amount)
      select movement.id, run.provider_id, 'platform', run.amounts[1]
      from split_movements as movement join split_runs as run on run.id = movement.run_id
      where movement.kind = 'stated' and run.amounts[1] <> 0;
    insert into split_entries (movement_id, provider_id, contract_id, party, account, amount)
      select movement.id, run.provider_id, run.contract_id, share.number - 1, way.account, way.sign * share.amount
      from split_movements as movement
      join split_runs as run on run.id = movement.run_id
      join (values ('stated', 'pending', 1), ('confirmed', 'pending', -1), ('confirmed', 'payable', 1), ('noted', 'payable', -1), ('noted', 'paid', 1))
        as way (kind, account, sign) on way.kind = movement.kind
      cross join unnest(run.amounts) with ordinality as share (amount, number)
      where share.number > 1 and share.amount <> 0;

    -- Double entry: checked when the transaction ends, so that entries may be written one by one.
    create function split_movement_balances() returns trigger language plpgsql as $$
    declare
      movement uuid := case when tg_table_name = 'split_entries' then (to_jsonb(new) ->> 'movement_id')::uuid else (to_jsonb(new) ->> 'id')::uuid end;
      entries integer;
      total numeric;
    begin
      select count(*), sum(amount) into entries, total from split_entries where movement_id = movement;
      if entries < 2 or total <> 0 then
        raise exception 'movement % does not balance', movement;
      end if;
      if (select at from split_movements where id = movement) <> now() then
        raise exception 'movement % is closed', movement;
      end if;
      return null;
    end $$;
    create constraint trigger split_entries_balance after insert on split_entries
      deferrable initially deferred for each row execute function split_movement_balances();
    create constraint trigger split_movements_balance after insert on split_movements
      deferrable initially deferred for each row execute function split_movement_balances();
    create function split_movements_are_append_only() returns trigger language plpgsql as $$
    begin
      raise exception 'movements are append-only: correct one with another';
    end $$;
    create trigger split_movements_are_append_only before update or delete or truncate on split_entries
      for each statement execute function split_movements_are_append_only();
    create trigger split_movements_are_append_only before update or delete or truncate on split_movements
      for each statement execute function split_movements_are_append_only();
  `),
}

/** One row of a movement; what is 0 is left out. */
export interface Entry {
  readonly account: SplitAccount
  readonly amount: bigint
  readonly contract_id?: string
  readonly party?: number
}
type Movement = Pick<Selectable<MovementTable>, 'provider_id' | 'kind' | 'key' | 'run_id' | 'note'> & { readonly by: string }

/** Moves money, in the transaction in which that happens. The database refuses what is not 0 together. */
export async function post(tx: Tx, { by, ...movement }: Movement, entries: readonly Entry[]): Promise<void> {
  const moving = entries.filter(({ amount }) => amount !== 0n)
  if (moving.length === 0) return
  const id = uuidv7()
  await insertsInto('split_movements')(tx, { ...movement, id, created_by_name: by })
  await insertsInto('split_entries')(
    tx,
    moving.map(({ account, amount, contract_id = null, party = null }) => ({
      movement_id: id,
      provider_id: movement.provider_id,
      contract_id,
      party,
      account,
      amount: String(amount),
    })),
  )
}

interface Shared {
  readonly id: string
  readonly provider_id: string
  readonly contract_id: string
}
const partiesOf = ({ contract_id }: Shared, amounts: readonly bigint[], account: SplitAccount, sign: bigint): Entry[] =>
  amounts.flatMap((amount, party) => (party === 0 ? [] : [{ account, amount: sign * amount, contract_id, party }]))

/** A month was split: what its users paid is the platform's, and what the others are to have. */
export const postStated = (tx: Tx, run: Shared, base: bigint, amounts: readonly bigint[], by: string): Promise<void> =>
  post(tx, { provider_id: run.provider_id, kind: 'stated', key: `stated ${run.id}`, run_id: run.id, note: '', by }, [
    { account: 'consumption', amount: -base },
    { account: 'platform', amount: amounts[0] ?? 0n },
    ...partiesOf(run, amounts, 'pending', 1n),
  ])

/** Its statement was confirmed: what the others are to have, they are owed. */
export const postConfirmed = (tx: Tx, run: Shared, amounts: readonly bigint[], by: string): Promise<void> =>
  post(tx, { provider_id: run.provider_id, kind: 'confirmed', key: `confirmed ${run.id}`, run_id: run.id, note: '', by }, [
    ...partiesOf(run, amounts, 'pending', -1n),
    ...partiesOf(run, amounts, 'payable', 1n),
  ])

/** It was paid by hand, or what was left of it: once more where a payout of it came back. @param amounts what each party was paid, the platform nothing */
export const postNoted = (tx: Tx, run: Shared, amounts: readonly bigint[], about: { note: string; by: string }): Promise<void> =>
  post(tx, { provider_id: run.provider_id, kind: 'noted', key: `noted ${uuidv7()}`, run_id: run.id, ...about }, [
    ...partiesOf(run, amounts, 'payable', -1n),
    ...partiesOf(run, amounts, 'paid', 1n),
  ])

/** Minor units; of a provider itself, not of the agents of its contracts. */
export interface ProviderBalances {
  readonly pending: bigint
  readonly payable: bigint
  readonly transit: bigint
  readonly paid: bigint
}
export async function balancesOf(on: Sql, providerId: string): Promise<ProviderBalances> {
  const rows = await on
    .selectFrom('split_entries')
    .select(['account', sql<string>`sum(amount)::text`.as('amount')])
    .where('provider_id', '=', providerId)
    .where('party', '=', providerParty)
    .groupBy('account')
    .execute()
  const of = (account: SplitAccount): bigint => BigInt(rows.find((row) => row.account === account)?.amount ?? '0')
  return { pending: of('pending'), payable: of('payable'), transit: of('transit'), paid: of('paid') }
}
