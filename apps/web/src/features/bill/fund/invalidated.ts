import { accounts } from '@zhisuan/contract/bill/account'
import { invoices, invoiceTitles } from '@zhisuan/contract/bill/invoice'
import { paymentChannels, topups } from '@zhisuan/contract/bill/topup'
import type { Call } from '@zhisuan/contract/define'

/** What is no longer true where money came in, or is to. */
export const invalidatedByTopup: readonly Call[] = [topups.list, topups.get, accounts.list, accounts.get, accounts.wallet, accounts.entries]
export const invalidatedByChannel: readonly Call[] = [paymentChannels.list, topups.ways]
export const invalidatedByInvoice: readonly Call[] = [invoices.list, invoices.get, invoices.available]
export const invalidatedByTitle: readonly Call[] = [invoiceTitles.list]
