import { join } from 'node:path'
import pino from 'pino'
import { migrations } from '../../apps/server/src/app.ts'
import { createMetering } from '../../apps/server/src/modules/bill/metering/metering.service.ts'
import { createRating } from '../../apps/server/src/modules/bill/rating/rating.service.ts'
import { ensureDatabase, migrate, openDatabase } from '../../apps/server/src/platform/db/database.ts'
import { startEmbeddedPostgres } from '../../apps/server/src/platform/db/embedded.ts'
import { consumes } from '@zhisuan/contract/bill/consume'
import { asAdministrator, startServer } from '../support/server.ts'
import type { Figure } from './main.ts'
import { percentile, timed } from './stats.ts'

const resources = 2_000
const hours = 500
const count = resources * hours
const runs = 200
const organisation = '00000000-0000-4000-8000-000000000001'
const month = '2026-10'
const begin = Date.parse(`${month}-01T00:00:00+08:00`) / 1000

/** A million intervals of one organisation rated, then what it is shown of them. The price changes in between, and a discount holds for a part of the time. */
export async function benchBilling(data: string): Promise<Figure[]> {
  const postgres = await startEmbeddedPostgres(join(data, 'database'))
  await ensureDatabase(postgres.url('postgres'), 'bench')
  const url = postgres.url('bench')
  const database = openDatabase(url, { poolSize: 4, log: pino({ level: 'error' }) })
  try {
    const { db, pool } = database
    await migrate(db, migrations)
    await pool.query(`
      insert into bill_categories (id, name, description) values ('00000000-0000-4000-8000-00000000000a', 'bench', '');
      insert into bill_products (id, category_id, name, description) select gen_random_uuid(), '00000000-0000-4000-8000-00000000000a', meter, '' from unnest(array['vm.vcpu', 'eip.bandwidth']) as meter;
      insert into bill_skus (id, product_id, name, meter, variant) select gen_random_uuid(), id, name, name, '' from bill_products;
      insert into bill_prices (id, sku_id, period, tiers, effective_from, created_by_name)
        select gen_random_uuid(), id, 'hour', '[{"above":0,"price":"6300000"},{"above":5,"price":"24800000"}]'::jsonb, to_timestamp(${begin} + step), '' from bill_skus cross join unnest(array[0, 1000000]) as step;
      insert into bill_discounts (id, name, fraction, bp_id, effective_from, effective_to, created_by_name)
        values (gen_random_uuid(), 'bench', 8500, '${organisation}', to_timestamp(${begin} + 360000), to_timestamp(${begin} + 1200000), '');
      insert into metered_resources (id, type, name, bp_id, rated_until, rate_to)
        select gen_random_uuid(), 'vm', 'vm-' || n, '${organisation}', to_timestamp(${begin}), to_timestamp(${begin} + ${hours} * 3600) from generate_series(1, ${resources}) as n;
    `)
    await pool.query(`
      insert into usage_intervals (resource_id, meter, variant, bp_id, project_id, quantity, "from", "to")
      select id, case when name < 'vm-5' then 'vm.vcpu' else 'eip.bandwidth' end, '', bp_id, null, 1 + n % 16, to_timestamp(${begin} + n * 3600 + n % 7), to_timestamp(${begin} + (n + 1) * 3600)
      from metered_resources cross join generate_series(0, ${hours - 1}) as n
    `)
    await pool.query('vacuum analyze')
    const rating = createRating({ db, now: () => new Date(), metering: createMetering({ db }) })
    const ratedSeconds = (await timed(() => rating.rate(begin + hours * 3_600))) / 1000
    await rating.post()
    const { rows } = await pool.query<{ count: number }>('select count(*) as count from usage_lines where voided_at is null')
    // Where the price changes within an hour, an interval has two lines.
    if ((rows[0]?.count ?? 0) < count) throw new Error(`only ${rows[0]?.count} lines`)
    await pool.query('vacuum analyze')

    const server = await startServer(data, { DATABASE_URL: url, LOCAL_CLOUD: 'sandbox', LOG_LEVEL: 'error', ZHISUAN_ENV: 'production' })
    const overviewMs: number[] = []
    try {
      const client = await asAdministrator(server)
      const ask = async (): Promise<void> => {
        const { total } = await client.call(consumes.summary, { query: { month, bp_id: organisation } })
        if (!(Number(total) > 0)) throw new Error(`nothing was billed: ${total}`)
      }
      for (let warm = 0; warm < 20; warm++) await ask()
      for (let run = 0; run < runs; run++) overviewMs.push(await timed(ask))
    } finally {
      await server.stop()
    }
    const p95 = percentile(overviewMs, 0.95)
    return [
      { name: `rating ${count.toLocaleString('en')} usage intervals`, ours: `${ratedSeconds.toFixed(1)} s`, floor: '60 s', value: ratedSeconds / 60, bar: '≤ 1', met: ratedSeconds <= 60 },
      { name: `month overview of an organisation with ${count.toLocaleString('en')} lines, p95`, ours: `${p95.toFixed(1)} ms`, floor: '100 ms', value: p95 / 100, bar: '≤ 1', met: p95 <= 100 },
    ]
  } finally {
    await database.close()
    await postgres.stop()
  }
}
