import type { consumes, MonthOverview, ResourceMonth, UsageForecast, UsageLineShape } from '@zhisuan/contract/bill/consume'
import { billMonth } from '@zhisuan/contract/bill/consume'
import { meterNames } from '@zhisuan/contract/bill/meter'
import { toDecimal, toMinor } from '@zhisuan/contract/bill/money'
import type { BodyOf, QueryOf, ResponseOf } from '@zhisuan/contract/define'
import type { ExportLink } from '@zhisuan/contract/exports'
import { kindText } from '@zhisuan/contract/kindTexts'
import { z } from 'zod'
import { scopeOf, type Actor, type Scope } from '../../../platform/auth/actor.ts'
import { iso, isoOrNull } from '../../../platform/db/database.ts'
import { readOn } from '../../../platform/db/page.ts'
import { found, Refusal } from '../../../platform/errors.ts'
import { fileDay, offerExport } from '../../../platform/exports.ts'
import type { Platform } from '../../../platform/platform.ts'
import { organisationOf } from '../arrears/standing.store.ts'
import { fractionText } from '../catalogue/quote.ts'
import { readTariff } from '../catalogue/catalogue.store.ts'
import { createTariff, formulaOf } from '../catalogue/tariff.ts'
import * as store from './consume.store.ts'
import { consumeTexts as texts } from './consume.texts.ts'
import { foresee, type Expectation } from './forecast.ts'
import { beginOf, dayOf, monthPlus } from './months.ts'

type Calls = typeof consumes

/** So many resources are named in an overview, and so many of everything else. */
const topResources = 10
const mostShares = 1_000
const linesAtOnce = 1_000
/** So many complete days tell how much a day differs from the one before. */
const historyDays = 30
const dayMs = 86_400_000

/** What of their scope somebody asks about. @throws Refusal 404 for another organisation */
function narrowed(actor: Actor, bpId: string | undefined): Scope {
  const scope = scopeOf(actor)
  if (bpId === undefined) return scope
  if ('everything' in scope || ('bp_id' in scope && scope.bp_id === bpId)) return { bp_id: bpId }
  throw new Refusal('notFound', { field: 'bp_id' })
}

const filters = z.object({
  month: billMonth.optional(),
  day: z.iso.date().optional(),
  resource_id: z.string().optional(),
  product_id: z.string().optional(),
  project_id: z.string().optional(),
  meter: z.enum(meterNames).optional(),
})

export type ConsumeService = ReturnType<typeof createConsumes>

/** What was used and what it cost, from the sums that its lines keep; and what is to be expected. */
export function createConsumes({ db, now, downloads }: Pick<Platform, 'db' | 'now' | 'downloads'>) {
  /** Each organisation's by itself, from its oldest line on. */
  async function* allLines(scope: Scope, asked: store.LineFilters): AsyncGenerator<readonly UsageLineShape[]> {
    for (const bpId of await store.payers(db, scope, asked)) {
      for await (const rows of readOn<store.ShownLine>((last) => store.oldestLines(db, bpId, asked, last === null ? null : placeOf(last), linesAtOnce)))
        yield rows.map(shape)
    }
  }
  /** Whose it was, of the asker's: whose it is now, and where, is not theirs to know. @throws Refusal 404 where it never cost them anything */
  const formerOwner = async (scope: Scope, resourceId: string): Promise<ResourceMonth['organisation']> => {
    if (!('bp_id' in scope) || !(await store.wasUsed(db, scope, resourceId))) throw new Refusal('notFound')
    return { id: scope.bp_id, name: (await organisationOf(db, scope.bp_id))?.name ?? '' }
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
    async summary(actor: Actor, { month, bp_id }: QueryOf<Calls['summary']>): Promise<MonthOverview> {
      const scope = narrowed(actor, bp_id)
      const shares = (dimension: store.Dimension, limit = mostShares) => store.sharesOf(db, scope, month, dimension, limit)
      const [total, previous_total, prepaid, days, products, byDay, projects, resources, resource_count] = await Promise.all([
        store.totalOf(db, scope, month),
        store.totalOf(db, scope, monthPlus(month, -1)),
        store.prepaidIn(db, scope, month),
        shares('day'),
        shares('product'),
        shares('dayProduct', 31 * mostShares),
        shares('project'),
        'bp_id' in scope ? store.greatest(db, scope.bp_id, month, topResources) : shares('resource', topResources),
        store.countResources(db, scope, month),
      ])
      const [productNames, projectNames, resourceNames] = await Promise.all([
        store.productNames(
          db,
          products.map(({ key }) => key),
        ),
        store.projectNames(
          db,
          projects.map(({ key }) => key).filter((key) => key !== ''),
        ),
        store.resourceNames(
          db,
          resources.map(({ key }) => key),
        ),
      ])
      return {
        month,
        total,
        previous_total,
        prepaid: toDecimal(prepaid),
        days: days.map(({ key, amount }) => ({ day: key, amount })),
        products: products.map(({ key, amount }) => ({ id: key, name: productNames.get(key)?.name ?? '', amount })),
        products_by_day: byDay.map(({ key, amount }) => ({ day: key.slice(0, 10), product_id: key.slice(11), amount })),
        projects: projects.map(({ key, amount }) => ({ id: key === '' ? null : key, name: projectNames.get(key)?.name ?? '', amount })),
        resources: resources.map(({ key, amount }) => ({
          id: key,
          name: resourceNames.get(key)?.name ?? '',
          type: resourceNames.get(key)?.type ?? '',
          amount,
        })),
        resource_count,
      }
    },

    monthly: async (actor: Actor, query: QueryOf<Calls['monthly']>): Promise<ResponseOf<Calls['monthly']>> => ({
      items: await store.months(db, narrowed(actor, query.bp_id), query.months),
    }),

    async forecast(actor: Actor, { bp_id }: QueryOf<Calls['forecast']>): Promise<UsageForecast> {
      const scope = narrowed(actor, bp_id)
      const at = now().getTime()
      const month = dayOf(at).slice(0, 7)
      const [tariff, used, { rows, ratedUntil }, costs] = await Promise.all([
        readTariff(db, 'hour'),
        store.totalOf(db, scope, month),
        store.inUse(db, scope),
        store.daysSince(db, scope, dayOf(at - (historyDays + 1) * dayMs)),
      ])
      // What is rated to the end of the day before is complete.
      const rated = ratedUntil === null ? at : Math.min(at, ratedUntil * 1000)
      const history = completeDays(costs, rated)
      const foreseen = foresee({
        tariff: createTariff(tariff),
        inUse: rows,
        now: Math.floor(at / 1000),
        months: [beginOf(month), beginOf(monthPlus(month, 1)), beginOf(monthPlus(month, 2))],
        used: toMinor(used),
        usedOf: costs,
        history,
      })
      return {
        month,
        next_month: monthPlus(month, 1),
        rated_until: iso(new Date(rated)),
        used,
        hourly: toDecimal(foreseen.hourly),
        current: shapeExpectation(foreseen.current),
        next: shapeExpectation(foreseen.next),
        days_known: history.length,
        days: foreseen.days.map(({ day, amount }) => ({ day, amount: toDecimal(amount) })),
        changes: foreseen.changes,
      }
    },

    async resources(actor: Actor, query: QueryOf<Calls['resources']>): Promise<ResponseOf<Calls['resources']>> {
      const { total, rows } = await store.listResources(db, narrowed(actor, query.bp_id), query, monthPlus(query.month, -1))
      return {
        total,
        items: rows.map(({ key, name, type, bp_id, organisation_name, amount, previous }) => ({
          id: key,
          name,
          type,
          organisation: { id: bp_id, name: organisation_name },
          amount: toDecimal(BigInt(amount)),
          previous_amount: toDecimal(BigInt(previous)),
        })),
      }
    },

    /** @throws Refusal 404 for what never cost the actor anything */
    async resource(actor: Actor, id: string, { month }: QueryOf<Calls['resource']>): Promise<ResourceMonth> {
      const scope = scopeOf(actor)
      const { bp_id, organisation_name, ...resource } = found(await store.getResource(db, id))
      const organisation = { id: bp_id, name: organisation_name }
      const shown =
        'everything' in scope || ('bp_id' in scope && scope.bp_id === bp_id)
          ? { resource, organisation }
          : { resource: { ...resource, cloud_id: null }, organisation: await formerOwner(scope, id) }
      const [total, previous_total, hours] = await Promise.all([
        store.amountOfResource(db, scope, id, month),
        store.amountOfResource(db, scope, id, monthPlus(month, -1)),
        store.hoursOfResource(db, scope, id, month),
      ])
      return {
        ...shown,
        month,
        total: total ?? '0.00',
        previous_total: previous_total ?? '0.00',
        meters: [...Map.groupBy(hours, ({ meter, variant, sku_id }) => `${meter}/${variant} ${sku_id}`).values()].flatMap((of) => {
          const [first] = of
          if (first === undefined) return []
          const { meter, variant, sku_id, sku_name } = first
          return [
            {
              meter,
              variant,
              sku: { id: sku_id, name: sku_name },
              seconds: of.reduce((sum, { seconds }) => sum + seconds, 0),
              amount: toDecimal(of.reduce((sum, { amount }) => sum + BigInt(amount), 0n)),
              hours: of.map(({ hour, amount }) => ({ from: iso(hour), amount: toDecimal(BigInt(amount)) })),
            },
          ]
        }),
      }
    },

    async list(actor: Actor, { bp_id, limit, after, ...asked }: QueryOf<Calls['list']>): Promise<ResponseOf<Calls['list']>> {
      const scope = narrowed(actor, bp_id)
      const [from = 0, id = 0] = after?.split('.').map(Number) ?? []
      const [rows, amount] = await Promise.all([
        store.newestLines(db, scope, asked, after === undefined ? null : { from, id }, limit + 1),
        store.keptSum(db, scope, asked),
      ])
      const last = rows.length > limit ? rows[limit - 1] : undefined
      return { items: rows.slice(0, limit).map(shape), next: last === undefined ? null : `${placeOf(last).from}.${last.id}`, amount }
    },

    export: (actor: Actor, { format, bp_id, ...asked }: BodyOf<Calls['export']>): ExportLink => linkToLines(narrowed(actor, bp_id), format, asked),
    exportMonth: (actor: Actor, { format, bp_id, month }: BodyOf<Calls['exportMonth']>): ExportLink => linkToMonth(narrowed(actor, bp_id), format, { month }),
  }
}

const placeOf = ({ from, id }: store.ShownLine): store.Place => ({ from: from.getTime() / 1000, id })
const shapeExpectation = ({ expected, low, high }: Expectation): UsageForecast['current'] => ({
  expected: toDecimal(expected),
  low: low === null ? null : toDecimal(low),
  high: high === null ? null : toDecimal(high),
})

/** The days before the one that is being rated, from the first that cost something; those between that cost nothing count. */
function completeDays(costs: ReadonlyMap<string, bigint>, rated: number): bigint[] {
  const days = Array.from({ length: historyDays }, (_, index) => costs.get(dayOf(rated - (historyDays - index) * dayMs)) ?? 0n)
  const first = days.findIndex((amount) => amount > 0n)
  return first === -1 ? [] : days.slice(first)
}

/** In numbers, for a person to compute it again: `(2 × 0.10 + 4 × 0.05) × 3600 ÷ 3600 × 0.85`. */
function formulaText({ formula: { parts, seconds, fraction } }: UsageLineShape): string {
  const sum = parts.map(({ units, price }) => `${units} × ${price}`).join(' + ')
  return `${parts.length > 1 ? `(${sum})` : sum} × ${seconds} ÷ 3600 × ${fraction}`
}

const shape = (row: store.ShownLine): UsageLineShape => ({
  id: row.id,
  organisation: { id: row.bp_id, name: row.organisation_name },
  resource: { id: row.resource_id, type: row.resource_type, name: row.resource_name },
  project: row.project_id === null ? null : { id: row.project_id, name: row.project_name ?? '' },
  product: { id: row.product_id, name: row.product_name },
  sku: { id: row.sku_id, name: row.sku_name },
  meter: row.meter,
  variant: row.variant,
  from: iso(row.from),
  seconds: row.seconds,
  quantity: row.quantity,
  price: { id: row.price_id, effective_from: iso(row.price_from), effective_to: isoOrNull(row.price_to) },
  discount:
    row.discount_id === null || row.discount_from === null
      ? null
      : { id: row.discount_id, name: row.discount_name ?? '', effective_from: iso(row.discount_from), effective_to: isoOrNull(row.discount_to) },
  formula: {
    parts: formulaOf(
      row.meter,
      row.tiers.map(({ above, price }) => ({ above, price: BigInt(price) })),
      row.quantity,
    ),
    seconds: row.seconds,
    fraction: fractionText(row.fraction),
  },
  amount: toDecimal(BigInt(row.amount)),
})
