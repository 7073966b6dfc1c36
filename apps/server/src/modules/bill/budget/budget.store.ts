import type { budgets as calls } from '@zhisuan/contract/bill/budget'
import { billingZone } from '@zhisuan/contract/bill/meter'
import type { QueryOf } from '@zhisuan/contract/define'
import { sql, type Generated, type RawBuilder, type Selectable } from 'kysely'
import { jsonArrayFrom } from 'kysely/helpers/postgres'
import type { Scope } from '../../../platform/auth/actor.ts'
import { migration, type Migrations, type Sql, type Tx } from '../../../platform/db/database.ts'
import { asked, matching, orderOf, pageWithTotal, paged } from '../../../platform/db/page.ts'
import { within } from '../../../platform/db/scope.ts'
import { insertsInto } from '../../../platform/db/rows.ts'
import { spentOnOrders } from '../ledger/ledger.store.ts'

interface BudgetTable {
  id: string
  bp_id: string
  name: string
  /** Minor units, as text: see ledger.store.ts. */
  amount: string
  project_id: string | null
  product_id: string | null
  thresholds: number[]
  forecast_thresholds: number[]
  /** What its month is expected to come to, as of `forecast_at`. */
  forecast: string | null
  forecast_at: Date | null
  created_by_name: string
  created_at: Generated<Date>
}
interface BudgetAlertTable {
  budget_id: string
  /** Its first day. */
  month: string
  /** What reached it: what was used, or what is expected. */
  basis: 'spent' | 'forecast'
  percent: number
  at: Date
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    budgets: BudgetTable
    budget_alerts: BudgetAlertTable
  }
}
export type BudgetRow = Selectable<BudgetTable>

export const budgetMigrations: Migrations = {
  '20261123_00_58_budgets': migration(`
    create table budgets (
      id uuid primary key,
      bp_id uuid not null references organisations on delete cascade,
      name text not null,
      amount numeric(38, 0) not null check (amount > 0),
      project_id uuid,
      product_id uuid,
      thresholds integer[] not null,
      forecast_thresholds integer[] not null default '{}',
      forecast numeric(38, 0),
      forecast_at timestamptz,
      created_by_name text not null,
      created_at timestamptz not null default now(),
      constraint budgets_forecast check ((forecast is null) = (forecast_at is null)),
      constraint budgets_name unique (bp_id, name),
      check (project_id is null or product_id is null)
    );
    -- What was told: each threshold once in a month.
    create table budget_alerts (
      budget_id uuid not null references budgets on delete cascade,
      month date not null,
      basis text not null check (basis in ('spent', 'forecast')),
      percent integer not null,
      at timestamptz not null,
      primary key (budget_id, month, basis, percent)
    );
  `),
}

/** The first day of the month that a moment is in, in Beijing. */
const monthAt = (now: Date | RawBuilder<unknown>) => sql<string>`date_trunc('month', ${now}::timestamptz at time zone ${billingZone})::date`

/** Budgets with what was used of each in the month of a moment; of everything with what was paid in advance, which belongs to no project and no product. */
const shown = (on: Sql, now: Date) =>
  on
    .selectFrom('budgets as budget')
    .leftJoin('organisations', 'organisations.id', 'budget.bp_id')
    .leftJoin('projects as project', 'project.id', 'budget.project_id')
    .leftJoin('bill_products as product', 'product.id', 'budget.product_id')
    .selectAll('budget')
    .select((of) => [
      'organisations.name as bp_name',
      'project.name as project_name',
      'product.name as product_name',
      sql<string>`to_char(${monthAt(now)}, 'YYYY-MM')`.as('month'),
      sql<string>`coalesce((
        select sums.amount from usage_sums as sums
        where sums.bp_id = budget.bp_id and sums.month = ${monthAt(now)}
          and sums.dimension = case when budget.project_id is not null then 'project' when budget.product_id is not null then 'product' else 'month' end
          and sums.key = coalesce(budget.project_id::text, budget.product_id::text, '')
      ), 0) + case when budget.project_id is null and budget.product_id is null then ${spentOnOrders(sql<boolean>`movement.owner_id = budget.bp_id`, monthAt(now))} else 0 end`.as(
        'spent',
      ),
      // What was expected of another month says nothing of this one.
      sql<string | null>`case when ${monthAt(sql`budget.forecast_at`)} = ${monthAt(now)} then budget.forecast end`.as('expected'),
      jsonArrayFrom(
        of
          .selectFrom('budget_alerts as alert')
          .select(['alert.basis', 'alert.percent', 'alert.at'])
          .whereRef('alert.budget_id', '=', 'budget.id')
          .where('alert.month', '=', monthAt(now))
          .orderBy('alert.percent'),
      ).as('reached'),
    ])
export type ShownBudget = Awaited<ReturnType<ReturnType<typeof shown>['executeTakeFirstOrThrow']>>

const order = orderOf('budget', 'name', 'name', 'created_at')

export async function listBudgets(on: Sql, scope: Scope, query: QueryOf<typeof calls.list>, now: Date): Promise<{ total: number; rows: ShownBudget[] }> {
  const filtered = shown(on, now)
    .where(within(scope, 'budget.bp_id'))
    .where(asked(query, 'budget', 'bp_id'))
    .where(matching(query.keyword, 'budget.name'))
  return pageWithTotal(paged(filtered, query, order), filtered, query)
}

export const getBudget = (on: Sql, scope: Scope, id: string, now: Date): Promise<ShownBudget | undefined> =>
  shown(on, now).where(within(scope, 'budget.bp_id')).where('budget.id', '=', id).executeTakeFirst()

export const budgetsOf = (on: Sql, bpId: string, now: Date): Promise<ShownBudget[]> =>
  shown(on, now).where('budget.bp_id', '=', bpId).orderBy('budget.id').execute()

type Given = Pick<BudgetRow, 'name' | 'amount' | 'project_id' | 'product_id' | 'thresholds' | 'forecast_thresholds'>

export const insertBudget = insertsInto('budgets')

export const updateBudget = async (on: Sql, scope: Scope, id: string, changes: Given): Promise<boolean> =>
  (await on.updateTable('budgets').set(changes).where(within(scope, 'bp_id')).where('id', '=', id).executeTakeFirst()).numUpdatedRows > 0n

export const deleteBudget = async (on: Sql, scope: Scope, id: string): Promise<boolean> =>
  (await on.deleteFrom('budgets').where(within(scope, 'bp_id')).where('id', '=', id).executeTakeFirst()).numDeletedRows > 0n

/** False where it was told before. */
export const insertAlert = async (tx: Tx, budgetId: string, basis: BudgetAlertTable['basis'], percent: number, now: Date): Promise<boolean> =>
  (
    await tx
      .insertInto('budget_alerts')
      .values({ budget_id: budgetId, month: monthAt(now), basis, percent, at: now })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirst()
  ).numInsertedOrUpdatedRows === 1n

/** Somebody changed what it is about: thresholds of this month are told anew, and something else is expected. */
export const forgetAlerts = async (on: Sql, budgetId: string): Promise<void> => {
  await on.deleteFrom('budget_alerts').where('budget_id', '=', budgetId).execute()
  await on.updateTable('budgets').set({ forecast: null, forecast_at: null }).where('id', '=', budgetId).execute()
}

export const projectsOf = (on: Sql, bpId: string): Promise<{ id: string; name: string }[]> =>
  on.selectFrom('projects').select(['id', 'name']).where('bp_id', '=', bpId).orderBy('name').limit(1000).execute()
/** Of which the organisation's months had any, or its budgets are. */
export const productsOf = (on: Sql, bpId: string): Promise<{ id: string; name: string }[]> =>
  on
    .selectFrom('bill_products as product')
    .select(['product.id', 'product.name'])
    .where((of) =>
      of.or([
        of(sql<string>`product.id::text`, 'in', of.selectFrom('usage_sums').select('key').where('bp_id', '=', bpId).where('dimension', '=', 'product')),
        of(
          'product.id',
          'in',
          of
            .selectFrom('budgets')
            .select(sql<string>`product_id`.as('id'))
            .where('bp_id', '=', bpId)
            .where('product_id', 'is not', null),
        ),
      ]),
    )
    .orderBy('product.name')
    .limit(1000)
    .execute()
export const isProduct = async (on: Sql, id: string): Promise<boolean> =>
  (await on.selectFrom('bill_products').select('id').where('id', '=', id).executeTakeFirst()) !== undefined

/** Those that have budgets, from one on. */
export const withBudgets = async (on: Sql, after: string, limit: number): Promise<string[]> =>
  (await on.selectFrom('budgets').select('bp_id').distinct().where('bp_id', '>', after).orderBy('bp_id').limit(limit).execute()).map(({ bp_id }) => bp_id)

/** What is expected of a budget as of a moment. False where it is about something else by now, or a later look knows more. */
export const setForecast = async (
  tx: Tx,
  { id, project_id, product_id }: Pick<BudgetRow, 'id' | 'project_id' | 'product_id'>,
  forecast: bigint,
  at: Date,
): Promise<boolean> =>
  (
    await tx
      .updateTable('budgets')
      .set({ forecast: String(forecast), forecast_at: at })
      .where('id', '=', id)
      .where(
        sql<boolean>`project_id is not distinct from ${project_id} and product_id is not distinct from ${product_id} and (forecast_at is null or forecast_at <= ${at})`,
      )
      .executeTakeFirst()
  ).numUpdatedRows > 0n
