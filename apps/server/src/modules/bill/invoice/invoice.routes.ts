import { invoices, invoiceTitles } from '@zhisuan/contract/bill/invoice'
import { handle, type Handler } from '../../../platform/http/handler.ts'
import type { InvoiceService } from './invoice.service.ts'

export const invoiceRoutes = (service: InvoiceService): Handler[] => [
  handle(invoices.list, ({ actor, query }) => service.list(actor, query)),
  handle(invoices.get, ({ actor, params }) => service.get(actor, params.id)),
  handle(invoices.available, ({ actor, query }) => service.available(actor, query)),
  handle(invoices.create, ({ actor, body }) => service.create(actor, body)),
  handle(invoices.withdraw, ({ actor, params }) => service.withdraw(actor, params.id)),
  handle(invoices.issue, ({ actor, params, body }) => service.issue(actor, params.id, body)),
  handle(invoices.reject, ({ actor, params, body }) => service.reject(actor, params.id, body)),
  handle(invoices.void, ({ actor, params, body }) => service.void(actor, params.id, body)),
  handle(invoices.download, ({ actor, params }) => service.download(actor, params.id)),
  handle(invoiceTitles.list, ({ actor }) => service.titles.list(actor)),
  handle(invoiceTitles.create, ({ actor, body }) => service.titles.create(actor, body)),
  handle(invoiceTitles.update, ({ actor, params, body }) => service.titles.update(actor, params.id, body)),
  handle(invoiceTitles.delete, ({ actor, params }) => service.titles.delete(actor, params.id)),
]
