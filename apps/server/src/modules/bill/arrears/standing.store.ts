import type { Standing, StandingChange, standings as calls } from '@zhisuan/contract/bill/arrears'
import { toDecimal } from '@zhisuan/contract/bill/money'
import type { QueryOf } from '@zhisuan/contract/define'
import { sql } from 'kysely'
import { iso, isoOrNull, type Sql, type Tx } from '../../../platform/db/database.ts'
import { matching, paged, pageWithTotal } from '../../../platform/db/page.ts'
import { idsOf } from '../../../platform/ids.ts'
import { availableOf } from '../ledger/ledger.service.ts'
import { standings } from '../ledger/ledger.store.ts'
import type { StandingRow, SuspensionRow } from './arrears.migrations.ts'
import type { Next } from './standing.rules.ts'

/** Organisations whose standing may be otherwise by now. */
export async function toLookAt(on: Sql, now: Date, limit: number): Promise<string[]> {
  const { rows } = await sql<{ owner_id: string }>`
    select owner_id from (select owner_id from standing_checks order by id limit ${limit}) as checks
    union
    select owner_id from (select owner_id from account_standings where due_at <= ${now} order by due_at limit ${limit}) as due
  `.execute(on)
  return rows.map(({ owner_id }) => owner_id)
}

/** What somebody holds for longer is looked at the next time: others are not to wait for them. */
export const waitBriefly = async (tx: Tx): Promise<void> => {
  await sql`set local lock_timeout = '2s'`.execute(tx)
}

/** Forgets what asked for a look; before the balances are read. */
export const takeChecks = async (tx: Tx, ownerId: string): Promise<void> => {
  await tx.deleteFrom('standing_checks').where('owner_id', '=', ownerId).execute()
}

/** The name of an organisation; undefined for the accounts of the platform's own people. */
export const organisationOf = (on: Sql, id: string): Promise<{ id: string; name: string } | undefined> =>
  on.selectFrom('organisations').select(['id', 'name']).where('id', '=', id).executeTakeFirst()

/** Held against everybody who starts something, and made where there is none. */
export async function lockStanding(tx: Tx, ownerId: string, now: Date): Promise<StandingRow & { fresh: boolean }> {
  const made = await tx
    .insertInto('account_standings')
    .values({ owner_id: ownerId, state: 'normal', since: now, arrears_since: null, grace_until: null, warned: false, due_at: null })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  const row = await tx.selectFrom('account_standings').selectAll().where('owner_id', '=', ownerId).forUpdate().executeTakeFirstOrThrow()
  return { ...row, fresh: made.numInsertedOrUpdatedRows === 1n }
}

/** Its state, which stays until the transaction ends. Undefined where it never was other than normal. */
export const shareStanding = (tx: Tx, ownerId: string): Promise<Pick<StandingRow, 'state'> | undefined> =>
  tx.selectFrom('account_standings').select('state').where('owner_id', '=', ownerId).forShare().executeTakeFirst()

export const setStanding = async (tx: Tx, ownerId: string, next: Next & { since?: Date }): Promise<void> => {
  await tx.updateTable('account_standings').set(next).where('owner_id', '=', ownerId).execute()
}

export const insertChange = async (
  tx: Tx,
  change: { owner_id: string; from_state: StandingRow['state']; to_state: StandingRow['state']; balance: bigint; grace_until: Date | null; at: Date },
): Promise<void> => {
  await tx
    .insertInto('standing_changes')
    .values({ ...change, balance: String(change.balance) })
    .execute()
}

const shown = (on: Sql) =>
  on
    .selectFrom('organisations')
    .leftJoin('account_standings as standing', 'standing.owner_id', 'organisations.id')
    .leftJoin('suspensions as suspension', (join) => join.onRef('suspension.owner_id', '=', 'organisations.id').on('suspension.phase', '<>', 'ended'))
    .select([
      'organisations.id',
      'organisations.name',
      sql<StandingRow['state']>`coalesce(standing.state, 'normal')`.as('state'),
      'standing.since',
      'standing.arrears_since',
      'standing.grace_until',
      'suspension.phase',
      sql<string>`(select least_balance from arrears_policies where bp_id = organisations.id or bp_id is null order by bp_id nulls last limit 1)`.as(
        'least_balance',
      ),
      sql<number>`(select count(*) from suspended_resources as one where one.suspension_id = suspension.id and one.state in ('stopped', 'stopping', 'starting'))::int`.as(
        'stopped',
      ),
      sql<number>`(select count(*) from suspended_resources as one where one.suspension_id = suspension.id and one.error_text is not null and one.state in ('stopping', 'starting'))::int`.as(
        'failing',
      ),
    ])
type ShownStanding = Awaited<ReturnType<ReturnType<typeof shown>['executeTakeFirstOrThrow']>>

async function shapeAll(on: Sql, rows: readonly ShownStanding[]): Promise<Standing[]> {
  const known = await standings(on, idsOf(rows))
  return rows.map(({ id, name, state, since, arrears_since, grace_until, phase, least_balance, stopped, failing }) => {
    const funds = known.get(id) ?? { balances: {}, creditLimit: 0n }
    return {
      id,
      organisation: { id, name },
      state,
      since: isoOrNull(since),
      arrears_since: isoOrNull(arrears_since),
      grace_until: isoOrNull(grace_until),
      arrears: toDecimal(-(funds.balances.receivable ?? 0n)),
      available: toDecimal(availableOf(funds)),
      least_balance: toDecimal(BigInt(least_balance)),
      suspension: phase === null || phase === 'ended' ? null : { phase, stopped, failing },
    }
  })
}

const order = { by: { name: 'organisations.name', since: 'standing.since', grace_until: 'standing.grace_until' }, fallback: 'name', id: 'organisations.id' }

export async function listStandings(on: Sql, query: QueryOf<typeof calls.list>): Promise<{ total: number; items: Standing[] }> {
  const filtered = shown(on)
    .where(matching(query.keyword, 'organisations.name'))
    .$if(query.state !== undefined, (q) => q.where(sql<boolean>`coalesce(standing.state, 'normal') = ${query.state ?? ''}`))
  const { total, rows } = await pageWithTotal(paged(filtered, query, order), filtered, query)
  return { total, items: await shapeAll(on, rows) }
}

export const getStanding = async (on: Sql, id: string): Promise<Standing | undefined> =>
  (await shapeAll(on, await shown(on).where('organisations.id', '=', id).execute()))[0]

export async function listChanges(on: Sql, id: string, query: QueryOf<typeof calls.history>): Promise<{ total: number; items: StandingChange[] }> {
  const filtered = on.selectFrom('standing_changes').where('owner_id', '=', id)
  const { total, rows } = await pageWithTotal(paged(filtered.selectAll(), query, { by: { id: 'id' }, fallback: '-id', id: 'id' }), filtered, query)
  return {
    total,
    items: rows.map((row) => ({
      id: row.id,
      from: row.from_state,
      to: row.to_state,
      at: iso(row.at),
      balance: toDecimal(BigInt(row.balance)),
      grace_until: isoOrNull(row.grace_until),
    })),
  }
}

/** The one that has not ended, held. */
export const lockSuspension = (tx: Tx, ownerId: string): Promise<SuspensionRow | undefined> =>
  tx.selectFrom('suspensions').selectAll().where('owner_id', '=', ownerId).where('phase', '<>', 'ended').forUpdate().executeTakeFirst()
