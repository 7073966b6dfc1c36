import { join } from 'node:path'
import pino from 'pino'
import { createModules } from '../../apps/server/src/app.ts'
import { createMetering } from '../../apps/server/src/modules/bill/metering/metering.service.ts'
import { createRating } from '../../apps/server/src/modules/bill/rating/rating.service.ts'
import { readConfig } from '../../apps/server/src/platform/config.ts'
import { ensureDatabase } from '../../apps/server/src/platform/db/database.ts'
import { startEmbeddedPostgres } from '../../apps/server/src/platform/db/embedded.ts'
import { openPlatform } from '../../apps/server/src/platform/platform.ts'
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

/**
 * A million intervals of one organisation rated, then what it is shown of them. The price changes
 * in between, a discount holds for a part of the time, and of each second resource something is
 * paid in advance, twice: until within an hour, and from there to the end.
 */
export async function benchBilling(data: string): Promise<Figure[]> {
  const postgres = await startEmbeddedPostgres(join(data, 'database'))
  await ensureDatabase(postgres.url('postgres'), 'bench')
  const url = postgres.url('bench')
  const platform = await openPlatform(readConfig({ ZHISUAN_ENV: 'test', DATABASE_URL: url, DATABASE_POOL_SIZE: '4' }), pino({ level: 'error' }))
  try {
    const { db, pool } = platform.database
    await platform.compose(createModules(platform).modules)
    await pool.query(`
      insert into bill_categories (id, name, description) values ('00000000-0000-4000-8000-00000000000a', 'bench', '');
      insert into bill_products (id, category_id, name, description) select gen_random_uuid(), '00000000-0000-4000-8000-00000000000a', meter, '' from unnest(array['vm.vcpu', 'eip.bandwidth']) as meter;
      insert into bill_skus (id, product_id, name, meter, variant) select gen_random_uuid(), id, name, name, '' from bill_products;
      insert into bill_prices (id, sku_id, period, tiers, effective_from, created_by_name)
        select gen_random_uuid(), id, 'hour', '[{"above":0,"price":"6300000"},{"above":5,"price":"24800000"}]'::jsonb, to_timestamp(${begin} + step), '' from bill_skus cross join unnest(array[0, 1000000]) as step;
      insert into bill_discounts (id, name, fraction, bp_id, effective_from, effective_to, created_by_name)
        values (gen_random_uuid(), 'bench', 8500, '${organisation}', to_timestamp(${begin} + 360000), to_timestamp(${begin} + 1200000), '');
      insert into metered_resources (id, type, name, bp_id, rated_until, rate_to)
        select gen_random_uuid(), 'nextstack.vm', 'vm-' || n, '${organisation}', to_timestamp(${begin}), to_timestamp(${begin} + ${hours} * 3600) from generate_series(1, ${resources}) as n;
    `)
    await pool.query(`
      insert into usage_intervals (resource_id, meter, variant, bp_id, project_id, quantity, "from", "to")
      select id, case when name < 'vm-5' then 'vm.vcpu' else 'eip.bandwidth' end, '', bp_id, null, 2 + n % 16, to_timestamp(${begin} + n * 3600 + n % 7), to_timestamp(${begin} + (n + 1) * 3600)
      from metered_resources cross join generate_series(0, ${hours - 1}) as n
    `)
    // Less than is used, so that every interval has its line.
    await pool.query(`
      insert into prepaid_spans (order_id, resource_id, "from", "to", usage)
      select gen_random_uuid(), id, to_timestamp(${begin} + part * 777777), to_timestamp(${begin} + (part + 1) * 777777), jsonb_build_object('vm.vcpu', 1, 'eip.bandwidth', 1)
      from metered_resources cross join unnest(array[0, 1]) as part where right(name, 1) in ('0', '2', '4', '6', '8')
    `)
    await pool.query('vacuum analyze')
    const rating = createRating({ db, now: () => new Date(), metering: createMetering({ db }) })
    const ratedSeconds = (await timed(() => rating.rate(begin + hours * 3_600))) / 1000
    await rating.post()
    const { rows } = await pool.query<{ count: number; discounted: number; beyond: number }>(`
      select count(*) as count, count(*) filter (where discount_id is not null) as discounted, count(*) filter (where line.quantity < used.quantity) as beyond
      from usage_lines as line join usage_intervals as used on used.resource_id = line.resource_id and date_trunc('hour', used."from", 'UTC') = date_trunc('hour', line."from", 'UTC') where voided_at is null
    `)
    const [lines] = rows
    // Where the price changes within an hour, or what is paid in advance, an interval has two lines.
    if (lines === undefined || lines.count < count || lines.discounted < count / 3 || lines.beyond < 0.4 * count)
      throw new Error(`other lines than those: ${JSON.stringify(lines)}`)
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
      {
        name: `rating ${count.toLocaleString('en')} usage intervals`,
        ours: `${ratedSeconds.toFixed(1)} s`,
        floor: '60 s',
        value: ratedSeconds / 60,
        bar: '≤ 1',
        met: ratedSeconds <= 60,
      },
      {
        name: `month overview of an organisation with ${count.toLocaleString('en')} lines, p95`,
        ours: `${p95.toFixed(1)} ms`,
        floor: '100 ms',
        value: p95 / 100,
        bar: '≤ 1',
        met: p95 <= 100,
      },
    ]
  } finally {
    await platform.close()
    await postgres.stop()
  }
}
