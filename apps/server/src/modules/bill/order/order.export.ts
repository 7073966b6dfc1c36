import { orders as calls } from '@zhisuan/contract/bill/order'
import type { BodyOf } from '@zhisuan/contract/define'
import type { ExportLink } from '@zhisuan/contract/exports'
import { kindText } from '@zhisuan/contract/kindTexts'
import { scopeOf, type Actor } from '../../../platform/auth/actor.ts'
import { readOn } from '../../../platform/db/page.ts'
import { fileDay, offerExport } from '../../../platform/exports.ts'
import type { Platform } from '../../../platform/platform.ts'
import { shapeOrder } from './order.shape.ts'
import * as store from './order.store.ts'
import { orderTexts as texts } from './order.texts.ts'

const rowsAtOnce = 1_000
const momentOf = (text: string | null | undefined) => (text == null ? null : { moment: new Date(text) })

/** Orders as a file, the oldest first. */
export function createOrderExport({
  db,
  now,
  downloads,
}: Pick<Platform, 'db' | 'now' | 'downloads'>): (actor: Actor, asked: BodyOf<typeof calls.export>) => ExportLink {
  const wish = calls.export.body.omit({ format: true })
  const link = offerExport<ReturnType<typeof shapeOrder>, store.OrderFilters>(downloads, {
    kind: 'orders',
    wish,
    name: () => `${texts.file}-${fileDay(now())}`,
    columns: [
      { title: texts.number, cell: ({ number }) => number },
      { title: texts.organisation, cell: ({ bp_name }) => bp_name },
      { title: texts.kind, cell: ({ kind }) => texts.kinds[kind] },
      { title: texts.status, cell: ({ status }) => texts.statuses[status] },
      { title: texts.resource, cell: ({ resource }) => resource.name },
      { title: texts.resourceType, cell: ({ resource }) => kindText(resource.type) },
      { title: texts.resourceId, cell: ({ resource }) => resource.id },
      { title: texts.term, cell: ({ count, period, kind }) => (kind === 'onDemand' ? null : `${count} ${texts.periods[period]}`) },
      { title: texts.listAmount, cell: ({ list_amount }) => ({ amount: list_amount }) },
      { title: texts.amount, cell: ({ amount }) => ({ amount }) },
      { title: texts.refunded, cell: ({ refunded_amount }) => (refunded_amount === null ? null : { amount: refunded_amount }) },
      { title: texts.from, cell: ({ covers }) => momentOf(covers?.from) },
      { title: texts.to, cell: ({ covers }) => momentOf(covers?.to) },
      { title: texts.autoRenew, cell: ({ auto_renew }) => (auto_renew ? texts.on : texts.off) },
      { title: texts.by, cell: ({ created_by }) => created_by || texts.platform },
      { title: texts.created, cell: ({ created_at }) => momentOf(created_at) },
      { title: texts.paid, cell: ({ paid_at }) => momentOf(paid_at) },
      { title: texts.error, cell: ({ error }) => error },
    ],
    rows: async function* (scope, filters) {
      for await (const rows of readOn<store.PlacedOrder>((last) => store.oldestOrders(db, scope, filters, last, rowsAtOnce, now()))) yield rows.map(shapeOrder)
    },
  })
  return (actor, { format, ...filters }) => link(actor, scopeOf(actor), format, filters)
}
