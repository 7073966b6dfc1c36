import type * as contract from '@zhisuan/contract/bill/catalogue'
import { meters, type Meter } from '@zhisuan/contract/bill/meter'
import type { ResponseOf } from '@zhisuan/contract/define'
import { iso, isoOrNull } from '../../../platform/db/database.ts'
import type { Platform } from '../../../platform/platform.ts'
import * as store from './catalogue.store.ts'
import { shapePlace } from './sku.service.ts'
import { createTariff, type Tariff } from './tariff.ts'

/** When within a stretch of time nothing prices a meter by the hour. */
function gapsOf(tariff: Tariff, meter: Meter, variant: string, since: number, until: number): store.Gap[] {
  const spans = tariff.spans({ meter, variant, bp_id: '', period: 'hour' })
  const [first] = spans
  const none = first === undefined ? [{ from: since, to: until }] : [{ from: since, to: first.from }, ...spans.filter(({ terms }) => terms === null)]
  return none.map(({ from, to }) => ({ meter, variant, from: Math.max(from, since), to: Math.min(to, until) })).filter(({ from, to }) => from < to)
}

/** What was used in these days and had no price by the hour. */
export async function listUnpriced({ db, now }: Pick<Platform, 'db' | 'now'>, days: number): Promise<ResponseOf<typeof contract.unpriced.list>> {
  const at = Math.floor(now().getTime() / 1000)
  const since = at - days * 86_400
  const tariff = createTariff(await store.readTariff(db, 'hour'))
  // Whether something has a price does not depend on who uses it.
  const gaps = (await store.metersUsed(db, since)).flatMap(({ meter, variant }) => gapsOf(tariff, meter, variant, since, at))
  const uses = await store.useWithin(db, gaps, at)
  const places = (await store.skuPlaces(db, {})).map(shapePlace)
  const items = uses.map(({ meter, variant, organisations, resources, quantity_seconds, first_at, last_at }) => ({
    id: `${meter}/${variant}`,
    meter,
    variant,
    organisation_count: organisations,
    resource_count: resources,
    unit_hours: quantity_seconds / meters[meter].perUnit / 3600,
    first_at: iso(first_at),
    last_at: isoOrNull(last_at),
    sku: places.find((sku) => sku.meter === meter && sku.variant === variant) ?? places.find((sku) => sku.meter === meter && sku.variant === '') ?? null,
  }))
  return { total: items.length, items }
}
