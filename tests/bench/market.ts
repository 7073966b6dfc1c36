import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { offers } from '@zhisuan/contract/market/offer'
import { providers } from '@zhisuan/contract/market/provider'
import { rentals } from '@zhisuan/contract/market/rental'
import { configs } from '@zhisuan/contract/sys/sys'
import pg from 'pg'
import { startEmbeddedPostgres } from '../../apps/server/src/platform/db/embedded.ts'
import { register, someAddress } from '../browser/people.ts'
import { asAdministrator, Client, startServer } from '../support/server.ts'
import type { Figure } from './main.ts'
import { percentile, timed } from './stats.ts'

const nodes = 1_250
const cardsOfEach = 8
const rented = 200
const listed = { perSecond: 200, seconds: 10 }
const most = 50
const model = 'NVIDIA H100'
const gib = 2 ** 30

/** Renting among 10,000 cards, and what everybody is shown of them. The nodes are rows: what is timed is the platform. */
export async function benchMarket(data: string): Promise<Figure[]> {
  const postgres = await startEmbeddedPostgres(join(data, 'database'))
  const admin = new pg.Client({ connectionString: postgres.url('postgres') })
  await admin.connect()
  await admin.query('create database bench')
  await admin.end()
  const url = postgres.url('bench')
  const server = await startServer(data, { DATABASE_URL: url, LOCAL_CLOUD: 'none', LOG_LEVEL: 'fatal', TRUST_PROXY: '1' })
  const sql = new pg.Client({ connectionString: url })
  await sql.connect()
  const member = async (name: string): Promise<Client> => {
    const account = await register(server.url, name, `${name}-org`)
    const client = new Client(server.url, someAddress())
    await client.signIn(account.username, account.password)
    return client
  }
  try {
    const administrator = await asAdministrator(server)
    const owner = await member('bench-owner')
    const { id: provider } = await owner.call(providers.create, { body: { name: '机柜主', contact: '13800000000' } })
    await administrator.call(configs.set, { body: { key: 'market_hours_ahead', value: '0' } })
    await administrator.call(providers.review, { params: { id: provider }, body: { action: 'verify' } })
    // Nodes of a server that nobody looks for.
    await sql.query(`insert into edge_servers (id, seen_at) values ('00000000-0000-4000-8000-000000000000', now() + interval '1 day')`)
    await sql.query(
      `with made as (
         insert into edges (id, bp_id, name, description, binding, confirm, labels, taints, server_id, created_by_name)
         select gen_random_uuid(), (select bp_id from market_providers where id = $1), 'node-' || n, '', 'bound', 'auto', '{}', '[]', '00000000-0000-4000-8000-000000000000', ''
         from generate_series(1, $2::int) as n returning id, bp_id, name
       ), tested as (
         insert into market_nodes (id, bp_id, name, listed, tested_at, test_passed) select id, bp_id, name, true, now(), true from made returning id
       )
       insert into market_cards (id, edge_id, uuid, "index", model, memory_bytes, driver, cuda)
       select gen_random_uuid(), tested.id, 'GPU-' || tested.id || '-' || n, n, $4, 85899345920, '550.54.15', '12.4' from tested, generate_series(0, $3::int - 1) as n`,
      [provider, nodes, cardsOfEach, model],
    )
    await sql.query('vacuum analyze')
    const terms = { card_model: model, most_cards: cardsOfEach, cpus_per_card: 1, memory_bytes_per_card: gib, disk_bytes_per_card: gib }
    const offer = await owner.call(offers.create, { body: { ...terms, card_price: '10', disk_price: '0.01', stopped_disk_price: '0.005' } })
    await administrator.call(offers.decide, { params: { id: offer.id }, body: { accept: true } })

    const renters = await Promise.all(['bench-a', 'bench-b', 'bench-c', 'bench-d'].map(member))
    const placing: number[] = []
    for (let index = 0; index < rented; index++) {
      const renter = renters[index % renters.length]
      if (renter === undefined) throw new Error('nobody rents')
      const body = { name: `m${index}`, offer_id: offer.id, image: 'app:1', count: 1 + (index % cardsOfEach), alternatives: false }
      placing.push(await timed(() => renter.call(rentals.create, { body })))
    }

    const showing: Promise<number>[] = []
    for (let tick = 0; tick < listed.perSecond * listed.seconds; tick++) {
      const headers = someAddress()
      showing.push(
        timed(async () => {
          const answer = await fetch(`${server.url}${offers.browse.path}?count=2`, { headers })
          if (answer.status !== 200) throw new Error(await answer.text())
          await answer.arrayBuffer()
        }),
      )
      await sleep(1_000 / listed.perSecond)
    }
    const figure = (name: string, times: readonly number[]): Figure => {
      const p95 = percentile(times, 0.95)
      return { name: `${name}, p95`, ours: `${p95.toFixed(1)} ms`, floor: `${most} ms`, value: p95 / most, bar: `≤ ${most} ms`, met: p95 <= most }
    }
    return [
      figure(`renting a machine among ${nodes * cardsOfEach} cards`, placing),
      figure(`what everybody is shown of ${nodes * cardsOfEach} cards, ${listed.perSecond} times a second`, await Promise.all(showing)),
    ]
  } finally {
    await sql.end()
    await server.stop()
    await postgres.stop()
  }
}
