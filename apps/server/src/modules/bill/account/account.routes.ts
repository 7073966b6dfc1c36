import { accounts } from '@zhisuan/contract/bill/account'
import { handle, type Handler } from '../../../platform/http/handler.ts'
import type { AccountService } from './account.service.ts'

export const accountRoutes = (service: AccountService): Handler[] => [handle(accounts.get, ({ actor, params }) => service.get(actor, params.id))]
