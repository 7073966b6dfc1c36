import { rentals as calls } from '@zhisuan/contract/market/rental'
import type { Sold, SoldResource } from '../../../platform/module.ts'
import type { RentalRow } from '../market.tables.ts'
import type { RentalService } from './rental.service.ts'

/** How machines are paid in advance. What was quoted is of one offer: no other takes its place. */
export const sellsRentals = (rentals: Pick<RentalService, 'create' | 'find'>): Sold => ({
  call: calls.create,
  make: async (actor, body, recorded) => {
    await rentals.create(actor, { ...calls.create.body.parse(body), alternatives: false }, (tx, made) => recorded(tx, [sold(made)]))
  },
  find: async (on, scope, id) => {
    const row = await rentals.find(on, scope, id)
    return row === undefined || row.status === 'released' || row.status === 'releasing' ? undefined : sold(row)
  },
})

/** What is stopped and paid by the second has no cards: it is paid in advance once it runs. */
const sold = (row: RentalRow): SoldResource => ({
  id: row.id,
  name: row.name,
  bp_id: row.bp_id,
  usage: { [`market.card/${row.offer_id}`]: row.count, [`market.disk/${row.offer_id}`]: row.disk_bytes },
  state:
    row.status === 'placing' || row.status === 'starting'
      ? 'coming'
      : row.status === 'running' || (row.prepaid_until !== null && row.status !== 'failed')
        ? 'there'
        : 'broken',
  error: row.error_text,
})
