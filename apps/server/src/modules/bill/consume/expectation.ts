import { toMinor } from '@zhisuan/contract/bill/money'
import type { Tx } from '../../../platform/db/database.ts'
import { readTariff } from '../catalogue/catalogue.store.ts'
import { createTariff, type Tariff, type Terms } from '../catalogue/tariff.ts'
import * as store from './consume.store.ts'
import { foresee } from './forecast.ts'
import { beginOf, dayOf, monthPlus } from './months.ts'

/** What of an organisation is asked about: a project, a product, or everything. */
export interface Part {
  readonly project_id: string | null
  readonly product_id: string | null
}

/** What of prices is of one product; the rest costs nothing. */
function ofProduct({ at, spans }: Tariff, productId: string): Tariff {
  const only = (terms: Terms | null): Terms | null => (terms?.sku.product_id === productId ? terms : null)
  return { at: (wish, moment) => only(at(wish, moment)), spans: (wish) => spans(wish).map((span) => ({ ...span, terms: only(span.terms) })) }
}

/**
 * What the month of a moment is expected to come to, of each part: what is rated, and what is used
 * now until its end; of everything also what was paid in advance.
 * @param tx in which everything is read as of one moment: rating goes on meanwhile
 */
export async function expectedOf(tx: Tx, bpId: string, at: Date, parts: readonly Part[]): Promise<bigint[]> {
  const scope = { bp_id: bpId }
  const month = dayOf(at.getTime()).slice(0, 7)
  const tariff = createTariff(await readTariff(tx, 'hour'))
  const { rows } = await store.inUse(tx, scope)
  const next = beginOf(monthPlus(month, 1))
  const expected: bigint[] = []
  for (const { project_id, product_id } of parts) {
    const used =
      project_id !== null
        ? await store.sumOf(tx, scope, month, 'project', project_id)
        : product_id !== null
          ? await store.sumOf(tx, scope, month, 'product', product_id)
          : toMinor(await store.totalOf(tx, scope, month))
    const { current } = foresee({
      tariff: product_id === null ? tariff : ofProduct(tariff, product_id),
      inUse: project_id === null ? rows : rows.filter((row) => row.project_id === project_id),
      now: Math.floor(at.getTime() / 1000),
      // Of the month after nobody asks.
      months: [beginOf(month), next, next],
      used,
      usedOf: new Map(),
      history: [],
    })
    const prepaid = project_id === null && product_id === null ? await store.prepaidIn(tx, scope, month) : 0n
    expected.push(current.expected + prepaid)
  }
  return expected
}
