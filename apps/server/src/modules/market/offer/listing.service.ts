import { toDecimal, toMinor } from '@zhisuan/contract/bill/money'
import type { QueryOf, ResponseOf } from '@zhisuan/contract/define'
import { offerPeriods, stoppedDays, type Listing, type OfferPeriod, type offers } from '@zhisuan/contract/market/offer'
import type { Platform } from '../../../platform/platform.ts'
import { listedOffers, listedStock, type ListedOffer, type NodeStock } from './offer.store.ts'
import { hourly, inAdvance, shownTerms } from './offer.terms.ts'

type Browse = (typeof offers)['browse']

/** After that it is looked at anew; whoever asks meanwhile is shown what was so before. Whoever rents is told what is so then. */
const rememberMs = 1_000
/** What is older is shown to nobody. */
const shownMostMs = 5_000

const versionOf = (text: string): number => {
  const [major = 0, minor = 0] = text.split('.').map(Number)
  return major * 1_000 + minor
}
/** What all drivers of its cards run: the oldest of them. Null where one does not say. */
const cudaOf = ({ cudas }: ListedOffer): string | null =>
  cudas.reduce<string | null>(
    (oldest, cuda) => (oldest === null || cuda === null ? null : versionOf(cuda) < versionOf(oldest) ? cuda : oldest),
    cudas[0] ?? null,
  )

const decimalOrNull = (amount: bigint | null): string | null => (amount === null ? null : toDecimal(amount))

/** What everybody is shown of the market, from one look for all who ask within a second. */
export function createListings({ db }: Pick<Platform, 'db'>) {
  let shown: { readonly at: number; readonly rows: readonly ListedOffer[] } | null = null
  let looking: Promise<readonly ListedOffer[]> | null = null
  const look = async (): Promise<readonly ListedOffer[]> => {
    const at = performance.now()
    const [offers, stock] = await Promise.all([listedOffers(db), listedStock(db)])
    const rows = withStock(offers, stock)
    shown = { at, rows }
    return rows
  }
  const all = (): Promise<readonly ListedOffer[]> => {
    const age = shown === null ? Number.POSITIVE_INFINITY : performance.now() - shown.at
    if (age > rememberMs) {
      looking ??= look().finally(() => {
        looking = null
      })
      // Whoever does not wait for it does not hear that it failed; the next who asks looks again.
      looking.catch(() => undefined)
    }
    return shown !== null && age <= shownMostMs ? Promise.resolve(shown.rows) : (looking ?? look())
  }

  return {
    /** All that is listed, with how much of it is there. */
    all,
    async browse(query: QueryOf<Browse>): Promise<ResponseOf<Browse>> {
      const { count } = query
      const rows = (await all()).map((row) => ({ row, ...hourly(row, count), cuda: cudaOf(row) }))
      const keyword = query.keyword?.toLowerCase() ?? ''
      const fits = ({ row, cuda, running }: (typeof rows)[number]): boolean =>
        row.most_cards >= count &&
        (keyword === '' || `${row.card_model} ${row.provider_name}`.toLowerCase().includes(keyword)) &&
        (query.card_model === undefined || row.card_model === query.card_model) &&
        (query.memory_bytes === undefined || row.card_memory_bytes >= query.memory_bytes) &&
        (query.region_id === undefined || row.regions.some(({ id }) => id === query.region_id)) &&
        (query.mode === undefined || isOf(row, query.mode)) &&
        (query.cuda === undefined || (cuda !== null && versionOf(cuda) >= versionOf(query.cuda))) &&
        (query.price === undefined || running <= toMinor(query.price)) &&
        (query.free !== true || row.free_together >= count)
      const found = rows.filter(fits).toSorted(orderBy(query.sort))
      const from = (query.page_num - 1) * query.page_size
      return {
        total: found.length,
        items: found.slice(from, from + query.page_size).map(({ row, running, stopped, cuda }) => shape(row, cuda, { count, running, stopped })),
        facets: facetsOf(rows),
        stopped_days: stoppedDays,
      }
    },
  }
}

/** Each offer with what is there of it; those of which nothing is are not shown. */
function withStock(offers: Awaited<ReturnType<typeof listedOffers>>, stock: readonly NodeStock[]): ListedOffer[] {
  const byKind = Map.groupBy(stock, ({ provider_id, model }) => `${provider_id} ${model}`)
  return offers.flatMap((offer) => {
    const nodes = (byKind.get(`${offer.provider_id} ${offer.card_model}`) ?? []).filter(({ edge_id }) => offer.edge_id === null || edge_id === offer.edge_id)
    const [first] = nodes
    if (first === undefined) return []
    const regions = new Map(nodes.flatMap(({ region_id, region_name }) => (region_id === null ? [] : [[region_id, region_name ?? ''] as const])))
    return [
      {
        ...offer,
        card_memory_bytes: Math.max(...nodes.map(({ memory_bytes }) => memory_bytes)),
        cudas: [...new Set(nodes.flatMap(({ cudas }) => cudas))],
        driver: nodes.reduce((oldest, { driver }) => (driver < oldest ? driver : oldest), first.driver),
        regions: [...regions].map(([id, name]) => ({ id, name })),
        total_cards: nodes.reduce((sum, { total }) => sum + total, 0),
        free_cards: nodes.reduce((sum, { free }) => sum + free, 0),
        free_together: Math.max(...nodes.map(({ free }) => free)),
      },
    ]
  })
}

const isOf = (row: ListedOffer, mode: NonNullable<QueryOf<Browse>['mode']>): boolean =>
  mode === 'onDemand' || mode === 'interruptible' ? row.mode === mode : row[`${mode}_price`] !== null

interface Priced {
  readonly row: ListedOffer
  readonly running: bigint
  readonly cuda: string | null
}
/** Cheapest first, where nothing else is asked for; what cannot be told apart stays in one order. */
function orderBy(sort: QueryOf<Browse>['sort'] = 'price'): (one: Priced, other: Priced) => number {
  const sign = sort.startsWith('-') ? -1 : 1
  const by: Readonly<Record<string, (one: Priced, other: Priced) => number>> = {
    price: (one, other) => (one.running < other.running ? -1 : Number(one.running > other.running)),
    free: (one, other) => one.row.free_cards - other.row.free_cards,
    memory: (one, other) => one.row.card_memory_bytes - other.row.card_memory_bytes,
    model: (one, other) => (one.row.card_model < other.row.card_model ? -1 : Number(one.row.card_model > other.row.card_model)),
  }
  const compare = by[sort.replace('-', '')]
  return (one, other) => sign * (compare?.(one, other) ?? 0) || (one.row.id < other.row.id ? -1 : 1)
}

/** Of all that is listed, whatever was asked for. Cards of which there are several offers count with each: the most that one has. */
function facetsOf(rows: readonly Priced[]): ResponseOf<Browse>['facets'] {
  const models = Map.groupBy(rows, ({ row }) => row.card_model)
  const regions = new Map<string, { id: string; name: string; total: number; free: number }>()
  for (const { row } of rows)
    for (const { id, name } of row.regions) {
      const before = regions.get(id) ?? { id, name, total: 0, free: 0 }
      regions.set(id, { ...before, total: Math.max(before.total, row.total_cards), free: Math.max(before.free, row.free_cards) })
    }
  return {
    models: [...models].map(([model, of]) => {
      const byProvider = [...Map.groupBy(of, ({ row }) => row.provider_id).values()]
      const sum = (part: 'total_cards' | 'free_cards'): number => byProvider.reduce((all, some) => all + Math.max(...some.map(({ row }) => row[part])), 0)
      return { model, total: sum('total_cards'), free: sum('free_cards') }
    }),
    regions: [...regions.values()],
    cudas: [...new Set(rows.flatMap(({ cuda }) => (cuda === null ? [] : [cuda])))].toSorted((one, other) => versionOf(other) - versionOf(one)),
  }
}

const shape = (row: ListedOffer, cuda: string | null, { count, running, stopped }: { count: number; running: bigint; stopped: bigint }): Listing => ({
  id: row.id,
  provider: { id: row.provider_id, name: row.provider_name },
  ...shownTerms(row),
  card_memory_bytes: row.card_memory_bytes,
  cuda,
  driver: row.driver,
  regions: row.regions,
  total_cards: row.total_cards,
  free_cards: row.free_cards,
  free_together: row.free_together,
  starts: row.orders === 0 ? null : { orders: row.orders, running: row.running, median_ms: row.median_ms, p95_ms: row.p95_ms },
  asked: {
    count,
    running: toDecimal(running),
    stopped: toDecimal(stopped),
    ...(Object.fromEntries(offerPeriods.map((period) => [period, decimalOrNull(inAdvance(row, count, period))])) as Record<OfferPeriod, string | null>),
  },
})
