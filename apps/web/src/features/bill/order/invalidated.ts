import { accounts } from '@zhisuan/contract/bill/account'
import { orders, prepaids } from '@zhisuan/contract/bill/order'

/** What is no longer true after something was done to an order. */
export const invalidatedByOrder = [orders.list, orders.get, prepaids.get, accounts.wallet, accounts.get]
