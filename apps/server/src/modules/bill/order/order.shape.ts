import { toDecimal } from '@zhisuan/contract/bill/money'
import type { Order } from '@zhisuan/contract/bill/order'
import { iso, isoOrNull } from '../../../platform/db/database.ts'
import type { ShownOrder } from './order.store.ts'

export const shapeOrder = (row: ShownOrder): Order => ({
  id: row.id,
  number: String(row.number),
  bp_id: row.bp_id,
  bp_name: row.bp_name,
  kind: row.kind,
  status: row.status_now,
  resource: { type: row.resource_type, id: row.resource_id, name: row.resource_name },
  period: row.period,
  count: row.count,
  auto_renew: row.auto_renew,
  automatic: row.automatic,
  list_amount: row.quote.list_amount,
  amount: toDecimal(BigInt(row.amount)),
  refunded_amount: row.refunded === null ? null : toDecimal(BigInt(row.refunded)),
  covers: row.covered_from === null || row.covered_to === null ? null : { from: iso(row.covered_from), to: iso(row.covered_to) },
  error: row.error_text,
  expires_at: iso(row.expires_at),
  created_by: row.created_by_name,
  created_at: iso(row.created_at),
  paid_at: isoOrNull(row.paid_at),
})
