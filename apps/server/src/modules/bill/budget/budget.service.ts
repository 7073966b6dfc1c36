import type { Budget, budgets as calls } from '@zhisuan/contract/bill/budget'
import { floored, toDecimal, toMinor } from '@zhisuan/contract/bill/money'
import type { BodyOf, QueryOf, ResponseOf } from '@zhisuan/contract/define'
import { scopeOf, type Actor } from '../../../platform/auth/actor.ts'
import { iso, isUniqueViolation, type Sql, type Tx } from '../../../platform/db/database.ts'
import { found, Refusal } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import { organisationOf } from '../arrears/standing.store.ts'
import type { NoticeService } from '../notice/notice.service.ts'
import * as store from './budget.store.ts'
import type { ShownBudget } from './budget.store.ts'

type Given = BodyOf<typeof calls.update>

export type BudgetService = ReturnType<typeof createBudgets>

const percentOf = ({ spent, amount }: Pick<ShownBudget, 'spent' | 'amount'>): number => Number((BigInt(spent) * 100n) / BigInt(amount))

/** What months may cost, and who is told when they come near it. */
export function createBudgets({ db, now }: Pick<Platform, 'db' | 'now'>, parts: { notices: Pick<NoticeService, 'tell'> }) {
  /** @throws Refusal 404 for another organisation, or for none */
  const ownerOf = (actor: Actor, bpId: string | null | undefined): string => {
    const scope = scopeOf(actor)
    const own = 'bp_id' in scope ? scope.bp_id : null
    const wanted = bpId ?? own
    if (wanted === null || (!('everything' in scope) && wanted !== own)) throw new Refusal('notFound', { field: 'bp_id' })
    return wanted
  }
  /** @throws Refusal 96041 */
  const checkScope = async (on: Sql, bpId: string, { project_id, product_id }: Given): Promise<void> => {
    if (project_id !== null && product_id !== null) throw new Refusal('budgetScopeUnknown', { field: 'product_id' })
    if (project_id !== null && !(await store.projectsOf(on, bpId)).some(({ id }) => id === project_id)) throw new Refusal('budgetScopeUnknown', { field: 'project_id' })
    if (product_id !== null && !(await store.allProducts(on)).some(({ id }) => id === product_id)) throw new Refusal('budgetScopeUnknown', { field: 'product_id' })
  }
  const given = ({ name, amount, project_id, product_id, thresholds }: Given) => ({ name, amount: String(toMinor(amount)), project_id, product_id, thresholds })
  const named = async <T>(act: (tx: Tx) => Promise<T>): Promise<T> => {
    try {
      return await db.transaction().execute(act)
    } catch (error) {
      if (isUniqueViolation(error, 'budgets_name')) throw new Refusal('budgetNameTaken', { field: 'name', cause: error })
      throw error
    }
  }
  /** Tells the thresholds that were reached and not yet told in this month; of several at once the highest. */
  const tellReached = async (tx: Tx, budget: ShownBudget): Promise<void> => {
    const percent = percentOf(budget)
    const fresh: number[] = []
    for (const threshold of budget.thresholds) if (threshold <= percent && (await store.insertAlert(tx, budget.id, threshold, now()))) fresh.push(threshold)
    const highest = fresh.at(-1)
    if (highest === undefined) return
    const values = { name: budget.name, percent: highest, amount: floored(toDecimal(BigInt(budget.amount))), spent: floored(toDecimal(BigInt(budget.spent))) }
    await parts.notices.tell(tx, { id: budget.bp_id, name: budget.bp_name ?? '' }, 'budget', { budget: values })
  }

  return {
    /** An organisation's use has changed. */
    async used(tx: Tx, bpId: string): Promise<void> {
      for (const budget of await store.budgetsOf(tx, bpId, now())) await tellReached(tx, budget)
    },

    async list(actor: Actor, query: QueryOf<typeof calls.list>): Promise<ResponseOf<typeof calls.list>> {
      if (query.bp_id !== undefined) ownerOf(actor, query.bp_id)
      const { total, rows } = await store.listBudgets(db, scopeOf(actor), query, now())
      return { total, items: rows.map(shape) }
    },

    async scopes(actor: Actor, query: QueryOf<typeof calls.scopes>): Promise<ResponseOf<typeof calls.scopes>> {
      const bpId = ownerOf(actor, query.bp_id)
      return { projects: await store.projectsOf(db, bpId), products: await store.allProducts(db) }
    },

    /** @throws Refusal 404, 96040, 96041 */
    create: (actor: Actor, { bp_id, ...body }: BodyOf<typeof calls.create>): Promise<Budget> =>
      named(async (tx) => {
        const [owner, id] = [ownerOf(actor, bp_id), uuidv7()]
        found(await organisationOf(tx, owner))
        await checkScope(tx, owner, body)
        await store.insertBudget(tx, { id, bp_id: owner, created_by_name: actor.name, ...given(body) })
        // A month that is beyond it already is told at once.
        await tellReached(tx, found(await store.getBudget(tx, scopeOf(actor), id, now())))
        return shape(found(await store.getBudget(tx, scopeOf(actor), id, now())))
      }),

    /** @throws Refusal 404, 96040, 96041 */
    update: (actor: Actor, id: string, body: Given): Promise<Budget> =>
      named(async (tx) => {
        const scope = scopeOf(actor)
        const before = found(await store.getBudget(tx, scope, id, now()))
        await checkScope(tx, before.bp_id, body)
        const after = given(body)
        await store.updateBudget(tx, scope, id, after)
        if (after.amount !== before.amount || after.project_id !== before.project_id || after.product_id !== before.product_id) await store.forgetAlerts(tx, id)
        await tellReached(tx, found(await store.getBudget(tx, scope, id, now())))
        return shape(found(await store.getBudget(tx, scope, id, now())))
      }),

    async delete(actor: Actor, id: string): Promise<void> {
      if (!(await store.deleteBudget(db, scopeOf(actor), id))) throw new Refusal('notFound')
    },
  }
}

const shape = (row: ShownBudget): Budget => ({
  id: row.id,
  organisation: { id: row.bp_id, name: row.bp_name ?? '' },
  name: row.name,
  amount: toDecimal(BigInt(row.amount)),
  project: row.project_id === null ? null : { id: row.project_id, name: row.project_name ?? '' },
  product: row.product_id === null ? null : { id: row.product_id, name: row.product_name ?? '' },
  thresholds: row.thresholds,
  month: row.month,
  spent: toDecimal(BigInt(row.spent)),
  percent: percentOf(row),
  reached: row.reached.map(({ percent, at }) => ({ percent, at: iso(new Date(at)) })),
  created_by: row.created_by_name,
  created_at: iso(row.created_at),
})
