import { budgets } from '@zhisuan/contract/bill/budget'
import { handle, type Handler } from '../../../platform/http/handler.ts'
import type { BudgetService } from './budget.service.ts'

export const budgetRoutes = (service: BudgetService): Handler[] => [
  handle(budgets.list, ({ actor, query }) => service.list(actor, query)),
  handle(budgets.scopes, ({ actor, query }) => service.scopes(actor, query)),
  handle(budgets.create, ({ actor, body }) => service.create(actor, body)),
  handle(budgets.update, ({ actor, params, body }) => service.update(actor, params.id, body)),
  handle(budgets.delete, ({ actor, params }) => service.delete(actor, params.id)),
]
