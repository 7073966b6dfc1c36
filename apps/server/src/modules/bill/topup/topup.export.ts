import { topups as calls, type Topup } from '@zhisuan/contract/bill/topup'
import type { BodyOf } from '@zhisuan/contract/define'
import type { ExportLink } from '@zhisuan/contract/exports'
import { scopeOf, type Actor } from '../../../platform/auth/actor.ts'
import { readOn } from '../../../platform/db/page.ts'
import { fileDay, offerExport } from '../../../platform/exports.ts'
import type { Platform } from '../../../platform/platform.ts'
import { shapeTopup } from './topup.service.ts'
import * as store from './topup.store.ts'
import { topupTexts as texts } from './topup.texts.ts'

const rowsAtOnce = 1_000

/** Top-ups as a file, the oldest first. */
export function createTopupExport({
  db,
  now,
  downloads,
}: Pick<Platform, 'db' | 'now' | 'downloads'>): (actor: Actor, asked: BodyOf<typeof calls.export>) => ExportLink {
  const link = offerExport<Topup, store.TopupFilters>(downloads, {
    kind: 'topups',
    wish: calls.export.body.omit({ format: true }),
    name: () => `${texts.file}-${fileDay(now())}`,
    columns: [
      { title: texts.created, cell: ({ created_at }) => ({ moment: new Date(created_at) }) },
      { title: texts.owner, cell: ({ owner }) => owner.name },
      { title: texts.method, cell: ({ method }) => texts.methods[method] },
      { title: texts.channel, cell: ({ channel }) => channel?.name ?? null },
      { title: texts.status, cell: ({ status }) => texts.statuses[status] },
      { title: texts.amount, cell: ({ amount }) => ({ amount }) },
      { title: texts.received, cell: ({ received }) => (received === null ? null : { amount: received }) },
      { title: texts.code, cell: ({ code }) => code },
      { title: texts.reference, cell: ({ reference }) => reference },
      { title: texts.note, cell: ({ note }) => note },
      { title: texts.by, cell: ({ created_by }) => created_by },
      { title: texts.confirmedBy, cell: ({ confirmed_by }) => confirmed_by },
      { title: texts.ended, cell: ({ ended_at }) => (ended_at === null ? null : { moment: new Date(ended_at) }) },
      { title: texts.movement, cell: ({ transaction_id }) => transaction_id },
    ],
    rows: async function* (scope, filters) {
      for await (const rows of readOn<store.PlacedTopup>((last) => store.oldestTopups(db, scope, filters, last, rowsAtOnce, now()))) yield rows.map(shapeTopup)
    },
  })
  return (actor, { format, ...filters }) => link(actor, scopeOf(actor), format, filters)
}
