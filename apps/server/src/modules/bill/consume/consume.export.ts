import { billMonth, type consumes, type UsageLineShape } from '@zhisuan/contract/bill/consume'
import { meterNames } from '@zhisuan/contract/bill/meter'
import type { BodyOf } from '@zhisuan/contract/define'
import type { ExportLink } from '@zhisuan/contract/exports'
import { kindText } from '@zhisuan/contract/kindTexts'
import { z } from 'zod'
import type { Actor, Scope } from '../../../platform/auth/actor.ts'
import { readOn } from '../../../platform/db/page.ts'
import { fileDay, offerExport } from '../../../platform/exports.ts'
import type { Platform } from '../../../platform/platform.ts'
import { narrowed } from './consume.scope.ts'
import * as store from './consume.store.ts'
import { consumeTexts as texts } from './consume.texts.ts'
import { placeOf, shapeLine } from './line.service.ts'

type Calls = typeof consumes

const linesAtOnce = 1_000

const filters = z.object({
  month: billMonth.optional(),
  day: z.iso.date().optional(),
  resource_id: z.string().optional(),
  product_id: z.string().optional(),
  project_id: z.string().optional(),
  meter: z.enum(meterNames).optional(),
})

/** What was consumed as files: lines of usage, the oldest first, and months. */
export function createConsumeExports({ db, now, downloads }: Pick<Platform, 'db' | 'now' | 'downloads'>) {
  /** Each organisation's by itself, from its oldest line on. */
  async function* allLines(scope: Scope, asked: store.LineFilters): AsyncGenerator<readonly UsageLineShape[]> {
    for (const bpId of await store.payers(db, scope, asked)) {
      for await (const rows of readOn<store.ShownLine>((last) => store.oldestLines(db, bpId, asked, last === null ? null : placeOf(last), linesAtOnce)))
        yield rows.map(shapeLine)
    }
  }
  const linkToLines = offerExport<UsageLineShape, store.LineFilters>(downloads, {
    kind: 'usage-lines',
    wish: filters,
    name: ({ day, month }) => [texts.lines.file, day ?? month ?? fileDay(now())].join('-'),
    columns: [
      { title: texts.lines.from, cell: ({ from }) => ({ moment: new Date(from) }) },
      { title: texts.lines.seconds, cell: ({ seconds }) => seconds },
      { title: texts.lines.organisation, cell: ({ organisation }) => organisation.name },
      { title: texts.lines.project, cell: ({ project }) => project?.name ?? null },
      { title: texts.lines.resource, cell: ({ resource }) => resource.name },
      { title: texts.lines.resourceType, cell: ({ resource }) => kindText(resource.type) },
      { title: texts.lines.resourceId, cell: ({ resource }) => resource.id },
      { title: texts.lines.product, cell: ({ product }) => product.name },
      { title: texts.lines.sku, cell: ({ sku }) => sku.name },
      { title: texts.lines.meter, cell: ({ meter }) => meter },
      { title: texts.lines.variant, cell: ({ variant }) => variant },
      { title: texts.lines.quantity, cell: ({ formula }) => formula.parts.reduce((sum, { units }) => sum + Number(units), 0) },
      { title: texts.lines.fraction, cell: ({ formula }) => ({ amount: formula.fraction }) },
      { title: texts.lines.discount, cell: ({ discount }) => discount?.name ?? null },
      { title: texts.lines.priceFrom, cell: ({ price }) => ({ moment: new Date(price.effective_from) }) },
      { title: texts.lines.formula, cell: formulaText },
      { title: texts.lines.amount, cell: ({ amount }) => ({ amount }) },
    ],
    rows: allLines,
  })
  const linkToMonth = offerExport<store.MonthRow, { month: string }>(downloads, {
    kind: 'usage-month',
    wish: z.object({ month: billMonth }),
    name: ({ month }) => `${texts.month.file}-${month}`,
    columns: [
      { title: texts.month.dimension, cell: ({ dimension }) => texts.month.dimensions[dimension] },
      { title: texts.month.organisation, cell: ({ organisation_name }) => organisation_name },
      { title: texts.month.key, cell: ({ dimension, name }) => (dimension === 'project' && name === '' ? texts.month.noProject : name) },
      { title: texts.month.type, cell: ({ type }) => kindText(type) },
      { title: texts.month.id, cell: ({ dimension, key }) => (dimension === 'day' ? null : key) },
      { title: texts.month.amount, cell: ({ amount }) => ({ amount }) },
    ],
    rows: (scope, { month }) => store.monthRows(db, scope, month),
  })

  return {
    lines: (actor: Actor, { format, bp_id, ...asked }: BodyOf<Calls['export']>): ExportLink => linkToLines(actor, narrowed(actor, bp_id), format, asked),
    month: (actor: Actor, { format, bp_id, month }: BodyOf<Calls['exportMonth']>): ExportLink => linkToMonth(actor, narrowed(actor, bp_id), format, { month }),
  }
}

/** In numbers, for a person to compute it again: `(2 × 0.10 + 4 × 0.05) × 3600 ÷ 3600 × 0.85`. */
function formulaText({ formula: { parts, seconds, fraction } }: UsageLineShape): string {
  const sum = parts.map(({ units, price }) => `${units} × ${price}`).join(' + ')
  return `${parts.length > 1 ? `(${sum})` : sum} × ${seconds} ÷ 3600 × ${fraction}`
}
