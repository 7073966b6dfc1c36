import type { Budget, budgets as calls } from '@zhisuan/contract/bill/budget'
import { floored, toDecimal, toMinor } from '@zhisuan/contract/bill/money'
import type { BodyOf, QueryOf, ResponseOf } from '@zhisuan/contract/define'
import { z } from 'zod'
import { scopeOf, type Actor } from '../../../platform/auth/actor.ts'
import { iso, type Sql, type Tx } from '../../../platform/db/database.ts'
import { shapedPage, readOn } from '../../../platform/db/page.ts'
import { refusing } from '../../../platform/db/refusing.ts'
import { found, Refusal } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import { defineJob, handleJob } from '../../../platform/jobs.ts'
import type { Platform } from '../../../platform/platform.ts'
import { organisationOf } from '../arrears/standing.store.ts'
import { expectedOf } from '../consume/expectation.ts'
import type { NoticeService } from '../notice/notice.service.ts'
import * as store from './budget.store.ts'
import type { ShownBudget } from './budget.store.ts'

type Given = BodyOf<typeof calls.update>

export type BudgetService = ReturnType<typeof createBudgets>

/** Some minutes after the hour that was over has been rated; or soon, for one organisation whose budgets were changed. */
export const forecastBudgetsJob = defineJob({
  name: 'bill.budget.forecast',
  input: z.object({ bp_id: z.uuid().optional() }),
  concurrency: 1,
  schedule: '20 * * * *',
})
const atOnce = 500

/** Of the amount, rounded down. */
const percentOf = (part: string, { amount }: Pick<ShownBudget, 'amount'>): number => Number((BigInt(part) * 100n) / BigInt(amount))

/** What months may cost, and who is told when they come near it. */
export function createBudgets({ db, now, jobs, log }: Pick<Platform, 'db' | 'now' | 'jobs' | 'log'>, parts: { notices: Pick<NoticeService, 'tell'> }) {
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
    if (project_id !== null && !(await store.projectsOf(on, bpId)).some(({ id }) => id === project_id))
      throw new Refusal('budgetScopeUnknown', { field: 'project_id' })
    if (product_id !== null && !(await store.isProduct(on, product_id))) throw new Refusal('budgetScopeUnknown', { field: 'product_id' })
  }
  const given = ({ amount, ...rest }: Given) => ({ ...rest, amount: String(toMinor(amount)) })
  const named = <T>(act: (tx: Tx) => Promise<T>): Promise<T> => refusing({ budgets_name: ['budgetNameTaken', 'name'] }, () => db.transaction().execute(act))
  const shown = (minor: string): string => floored(toDecimal(BigInt(minor)))
  /** Tells the thresholds that were reached and not yet told in this month; of several at once the highest. */
  const tellReached = async (tx: Tx, budget: ShownBudget, basis: 'spent' | 'forecast', at: Date): Promise<void> => {
    const reached = basis === 'spent' ? budget.spent : budget.expected
    if (reached === null) return
    const percent = percentOf(reached, budget)
    const fresh: number[] = []
    for (const threshold of basis === 'spent' ? budget.thresholds : budget.forecast_thresholds)
      if (threshold <= percent && (await store.insertAlert(tx, budget.id, basis, threshold, at))) fresh.push(threshold)
    const highest = fresh.at(-1)
    if (highest === undefined) return
    const values = { name: budget.name, percent: highest, amount: shown(budget.amount), spent: shown(budget.spent) }
    await parts.notices.tell(
      tx,
      { id: budget.bp_id, name: budget.bp_name ?? '' },
      basis === 'spent' ? 'budget' : 'budgetForecast',
      { budget: { ...values, ...(basis === 'forecast' && { forecast: shown(reached) }) } },
      { kind: 'bill.budget', id: budget.id, name: budget.name },
    )
  }

  /** Writes down what an organisation's budgets are expected to come to, and tells what they reach by that. */
  const foreseeOf = async (bpId: string): Promise<void> => {
    const at = now()
    // All of one moment, while rating goes on: what it has just rated must not be counted twice.
    const { budgets, expected } = await db
      .transaction()
      .setIsolationLevel('repeatable read')
      .execute(async (tx) => {
        const rows = await store.budgetsOf(tx, bpId, at)
        return { budgets: rows, expected: rows.length === 0 ? [] : await expectedOf(tx, bpId, at, rows) }
      })
    for (const [index, budget] of budgets.entries()) {
      await db.transaction().execute(async (tx) => {
        if (!(await store.setForecast(tx, budget, expected[index] ?? 0n, at))) return
        // Its amount may have been changed meanwhile.
        await tellReached(tx, found(await store.getBudget(tx, { bp_id: bpId }, budget.id, at)), 'forecast', at)
      })
    }
  }
  const foreseeAll = async (signal?: AbortSignal): Promise<void> => {
    let failed: unknown = null
    for await (const page of readOn<string>((last) => store.withBudgets(db, last ?? '00000000-0000-0000-0000-000000000000', atOnce))) {
      for (const bpId of page) {
        if (signal?.aborted === true) return
        await foreseeOf(bpId).catch((error: unknown) => {
          // The others are not kept waiting; the job is tried again.
          failed = error
          log.error({ err: error, organisation: bpId }, 'foreseeing budgets')
        })
      }
    }
    if (failed !== null) throw failed
  }

  return {
    foreseeAll,
    jobHandler: handleJob(forecastBudgetsJob, ({ bp_id }, { signal }) => (bp_id === undefined ? foreseeAll(signal) : foreseeOf(bp_id))),

    /** An organisation's use has changed. */
    async used(tx: Tx, bpId: string): Promise<void> {
      for (const budget of await store.budgetsOf(tx, bpId, now())) await tellReached(tx, budget, 'spent', now())
    },

    async list(actor: Actor, query: QueryOf<typeof calls.list>): Promise<ResponseOf<typeof calls.list>> {
      if (query.bp_id !== undefined) ownerOf(actor, query.bp_id)
      return shapedPage(store.listBudgets(db, scopeOf(actor), query, now()), shape)
    },

    async scopes(actor: Actor, query: QueryOf<typeof calls.scopes>): Promise<ResponseOf<typeof calls.scopes>> {
      const bpId = ownerOf(actor, query.bp_id)
      return { projects: await store.projectsOf(db, bpId), products: await store.productsOf(db, bpId) }
    },

    /** @throws Refusal 404, 96040, 96041 */
    create: (actor: Actor, { bp_id, ...body }: BodyOf<typeof calls.create>): Promise<Budget> =>
      named(async (tx) => {
        const [owner, id] = [ownerOf(actor, bp_id), uuidv7()]
        found(await organisationOf(tx, owner))
        await checkScope(tx, owner, body)
        await store.insertBudget(tx, { id, bp_id: owner, created_by_name: actor.name, ...given(body) })
        // A month that is beyond it already is told at once.
        await tellReached(tx, found(await store.getBudget(tx, scopeOf(actor), id, now())), 'spent', now())
        await jobs.send(tx, forecastBudgetsJob, { bp_id: owner })
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
        await tellReached(tx, found(await store.getBudget(tx, scope, id, now())), 'spent', now())
        await jobs.send(tx, forecastBudgetsJob, { bp_id: before.bp_id })
        return shape(found(await store.getBudget(tx, scope, id, now())))
      }),

    async delete(actor: Actor, id: string): Promise<void> {
      if (!(await store.deleteBudget(db, scopeOf(actor), id))) throw new Refusal('notFound')
    },
  }
}

const reachedBy = ({ reached }: ShownBudget, by: 'spent' | 'forecast'): Budget['reached'] =>
  reached.filter(({ basis }) => basis === by).map(({ percent, at }) => ({ percent, at: iso(new Date(at)) }))

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
  percent: percentOf(row.spent, row),
  reached: reachedBy(row, 'spent'),
  forecast_thresholds: row.forecast_thresholds,
  forecast:
    row.expected === null || row.forecast_at === null
      ? null
      : { amount: toDecimal(BigInt(row.expected)), percent: percentOf(row.expected, row), at: iso(row.forecast_at) },
  forecast_reached: reachedBy(row, 'forecast'),
  created_by: row.created_by_name,
  created_at: iso(row.created_at),
})
