import { accounts } from '@zhisuan/contract/bill/account'
import { handle, type Handler } from '../../../platform/http/handler.ts'
import type { AccountService } from './account.service.ts'

export const accountRoutes = (service: AccountService): Handler[] => [
  handle(accounts.list, ({ query }) => service.list(query)),
  handle(accounts.get, ({ actor, params }) => service.get(actor, params.id)),
  handle(accounts.wallet, ({ actor, params }) => service.wallet(actor, params.id)),
  handle(accounts.entries, ({ actor, params, query }) => service.entries(actor, params.id, query)),
  handle(accounts.exportEntries, ({ actor, params, body }) => service.exportEntries(actor, params.id, body)),
  handle(accounts.charge, ({ actor, params, body }) => service.charge(actor, params.id, body)),
  handle(accounts.adjust, ({ actor, params, body }) => service.adjust(actor, params.id, body)),
  handle(accounts.setCreditLimit, ({ actor, params, body }) => service.setCreditLimit(actor, params.id, body)),
]
