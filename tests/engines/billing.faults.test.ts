import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { accounts } from '@zhisuan/contract/bill/account'
import { arrearsPolicies, standings } from '@zhisuan/contract/bill/arrears'
import { categories, products, skus } from '@zhisuan/contract/bill/catalogue'
import { orders, type OrderDetail } from '@zhisuan/contract/bill/order'
import { paymentChannels, topups } from '@zhisuan/contract/bill/topup'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import { flavors } from '@zhisuan/contract/nextstack/flavor'
import { images, networks, vms } from '@zhisuan/contract/nextstack/vm'
import { volumes } from '@zhisuan/contract/nextstack/volume'
import { users } from '@zhisuan/contract/ums/user'
import pg from 'pg'
import pino from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { orderClockJob } from '../../apps/server/src/modules/bill/order/order.runner.ts'
import { rateUsageJob } from '../../apps/server/src/modules/bill/rating/rating.service.ts'
import { notifyPath } from '../../apps/server/src/modules/bill/topup/channel.service.ts'
import { ensureDatabase, openDatabase, type Database } from '../../apps/server/src/platform/db/database.ts'
import { startEmbeddedPostgres, type EmbeddedPostgres } from '../../apps/server/src/platform/db/embedded.ts'
import { createJobs, type Jobs } from '../../apps/server/src/platform/jobs.ts'
import { startGateway, type TestGateway } from '../../apps/server/src/testing/payment-gateway.ts'
import { register } from '../browser/people.ts'
import { temporaryFolder, type TemporaryFolder } from '../support/folder.ts'
import { asAdministrator, Client, startServer, until, type RunningServer } from '../support/server.ts'

const gib = 2 ** 30
/** What everybody begins with, and what a volume costs a month. */
const funds = 20
const volumePrice = 5
const names = ['payer', 'renewer', 'refunder', 'buyer', 'absent', 'topper', 'dry'] as const
type Name = (typeof names)[number]
interface Tenant {
  readonly client: Client
  readonly id: string
  readonly bp_id: string
}

/**
 * A server that is killed (-9) in the middle of everything that moves money, or stops and starts
 * things for the want of it. Where: a table or row that is held makes whoever comes there stay in
 * the middle of their transaction; operations are killed at their steps. Each test is one life of
 * the server, and goes on where the one before was killed.
 */
describe('billing, with the server killed in the middle', () => {
  let data: TemporaryFolder
  let postgres: EmbeddedPostgres
  let database: Database
  let jobs: Jobs
  let url: string
  let port = '0'
  let server: RunningServer
  let gateway: TestGateway
  let admin: Client
  const tenants = {} as Record<Name, Tenant>

  const start = async (fate?: string): Promise<void> => {
    server = await startServer(data.path, { DATABASE_URL: url, LOCAL_CLOUD: 'sandbox', TRUST_PROXY: '1', PORT: port }, fate)
    port = new URL(server.url).port
  }
  /** For what it takes up by itself: it dies at that point, perhaps before it listens. */
  const startToDie = async (point: string): Promise<void> => {
    await start(point).then(
      async () => expect(await server.ended).toBe('SIGKILL'),
      (error: unknown) => expect(String(error)).toContain('ended before it listened'),
    )
  }
  const kill = async (): Promise<void> => {
    server.process.kill('SIGKILL')
    await server.ended
  }
  const query = async <Row extends object>(text: string, values: readonly unknown[] = []): Promise<Row[]> =>
    (await database.pool.query<Row>(text, [...values])).rows
  const send = (job: typeof rateUsageJob): Promise<void> => database.db.transaction().execute((tx) => jobs.send(tx, job, {}))

  const held: pg.Client[] = []
  /** Keeps everybody else out until it is let go of; `waiting` of them stand in the middle of a transaction then. */
  const hold = async (text: string, values: readonly unknown[] = []) => {
    const client = new pg.Client({ connectionString: url })
    held.push(client)
    await client.connect()
    await client.query('begin')
    await client.query(text, [...values])
    const [me] = (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows
    const waiting = async (): Promise<number> =>
      (
        await query<{ count: number }>(
          `select count(*)::int as count from pg_stat_activity where $1 = any(pg_blocking_pids(pid)) and application_name = 'zhisuan'`,
          [me?.pid],
        )
      )[0]?.count ?? 0
    return {
      reached: (count = 1) => until(async () => (await waiting()) >= count, `${count} to wait for ${text}`),
      letGo: async () => {
        await client.query('rollback')
        await client.end()
      },
    }
  }
  const holdTable = (table: string, mode = 'share row exclusive') => hold(`lock table ${table} in ${mode} mode`)

  /** What has to hold whenever somebody looks, whoever was killed. */
  const sound = async (): Promise<void> => {
    expect(await query(`select transaction_id from ledger_entries group by transaction_id having sum(amount) <> 0 or count(*) < 2`)).toEqual([])
    expect(
      await query(
        `select owner_id, account from ledger_accounts left join ledger_entries using (owner_id, account) group by owner_id, account having max(balance) <> coalesce(sum(amount), 0)`,
      ),
    ).toEqual([])
    // What is held is held for an order that is paid and not delivered.
    expect(
      await query(`
        select accounts.owner_id from accounts
        left join lateral (select sum(balance) as held from ledger_accounts where owner_id = accounts.owner_id and account = 'held') as ledger on true
        left join lateral (select sum(amount) as waiting from bill_orders where bp_id = accounts.owner_id and status = 'paid') as orders on true
        where coalesce(held, 0) <> coalesce(waiting, 0)
      `),
    ).toEqual([])
    // A top-up is confirmed, and only then, by one movement of its own.
    expect(
      await query(
        `select topups.id from topups left join ledger_transactions as movement on movement.id = topups.transaction_id where (topups.status = 'confirmed') <> (movement.kind is not distinct from 'topup')`,
      ),
    ).toEqual([])
  }
  const movements = async (of: Name): Promise<string[]> =>
    (await query<{ kind: string }>(`select kind from ledger_transactions where owner_id = $1 order by at, id`, [tenants[of].bp_id])).map(({ kind }) => kind)
  const wallet = async (of: Name): Promise<{ funds: number; held: number; arrears: number }> => {
    const { funds: paidIn, held, arrears } = await admin.call(accounts.wallet, { params: { id: tenants[of].bp_id } })
    return { funds: Number(paidIn), held: Number(held), arrears: Number(arrears) }
  }
  const order = (of: Name): Promise<OrderDetail> => tenants[of].client.call(orders.get, { params: { id: orderIds[of] ?? '' } })
  const orderIds: Partial<Record<Name, string>> = {}
  const pay = (of: Name) => tenants[of].client.call(orders.pay, { params: { id: orderIds[of] ?? '' } })
  const refund = (of: Name) => tenants[of].client.call(orders.refund, { params: { id: orderIds[of] ?? '' } })
  const charge = (of: Name, amount: number, key: string) =>
    admin.call(accounts.charge, { params: { id: tenants[of].bp_id }, body: { amount: String(amount), key } })
  /** What is asked of a server that dies gets no answer. */
  const unanswered = (asked: Promise<unknown>): Promise<void> =>
    asked.then(
      () => expect.fail('the server lived'),
      () => undefined,
    )

  let cloud_id: string
  let resources: Record<'payer' | 'renewer' | 'refunder', string>
  let payment: Record<string, string>
  let channel: string
  const notify = async (): Promise<string> => {
    const answer = await fetch(new URL(notifyPath(channel), server.url), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(gateway.message({ ...payment, status: 'paid', trade_id: 'trade-1' })),
    })
    return ((await answer.json()) as { result: string }).result
  }
  /** Of the organisation that runs dry: what ran, and what somebody had stopped. */
  let ran: string[]
  let stood: string
  const standing = () => admin.call(standings.get, { params: { id: tenants.dry.bp_id } })
  const vmStatus = async (id: string) => (await tenants.dry.client.call(vms.get, { params: { id } })).status

  beforeAll(async () => {
    data = temporaryFolder('billing-faults')
    postgres = await startEmbeddedPostgres(join(data.path, 'database'), ['fsync=off', 'shared_buffers=16MB'])
    await ensureDatabase(postgres.url('postgres'), 'billing')
    url = postgres.url('billing')
    await start()
    const log = pino({ level: 'silent' })
    database = openDatabase(url, { poolSize: 3, log })
    jobs = await createJobs(url, log)
    admin = await asAdministrator(server)
    for (const name of names) {
      const { username, password } = await register(server.url, `${name}-${randomUUID().slice(0, 8)}`, name)
      const client = new Client(server.url)
      await client.signIn(username, password)
      const { id, bp_id } = await client.call(users.current)
      tenants[name] = { client, id, bp_id: bp_id ?? '' }
    }
    cloud_id = (await admin.call(clouds.list)).clouds[0]?.cloud_id ?? ''
    const category = await admin.call(categories.create, { body: { name: 'all' } })
    const product = await admin.call(products.create, { body: { name: 'all', category_id: category.id } })
    // In the past, so that they hold at once, and for what was used before.
    const prices = { 'volume.size': ['month', volumePrice / 10], 'eip.bandwidth': ['hour', 1] } as const
    for (const [meter, [period, price]] of Object.entries(prices)) {
      const { id } = await admin.call(skus.create, { body: { product_id: product.id, name: meter, meter: meter as keyof typeof prices } })
      await query(
        `insert into bill_prices (id, sku_id, period, tiers, effective_from, created_by_name) values (gen_random_uuid(), $1, $2, $3, now() - interval '3 days', '')`,
        [id, period, JSON.stringify([{ above: 0, price: String(price * 1e8) }])],
      )
    }

    const keys = { sign_type: 'HMAC-SHA256', key: 'a-secret-of-both-sides', gateway_public_key: '' } as const
    gateway = await startGateway(keys, 'm-1', () => new Date())
    channel = (await admin.call(paymentChannels.create, { body: { name: 'gateway', enabled: true, gateway: gateway.url, merchant_id: 'm-1', ...keys } })).id
  })
  afterAll(async () => {
    // What a test that failed still holds would keep the server.
    for (const client of held) await client.end()
    await server?.stop()
    await jobs?.stop()
    await database?.close()
    await gateway?.close()
    await postgres?.stop()
    data?.remove()
  })

  const volumeBody = (name: string) => ({ cloud_id, name, size_bytes: 10 * gib })
  const orderFor = async (of: Name, what: { resource_id: string; auto_renew?: boolean } | { create: ReturnType<typeof volumeBody> }): Promise<void> => {
    orderIds[of] = (await tenants[of].client.call(orders.create, { body: { resource_type: 'nextstack.volume', period: 'month', ...what } })).id
  }

  it('what was under way never was', async () => {
    for (const name of ['payer', 'renewer', 'refunder', 'buyer'] as const) await charge(name, funds, randomUUID())
    const make = async (of: Name): Promise<string> => {
      const { id } = await tenants[of].client.call(volumes.create, { body: volumeBody(of) })
      await until(async () => (await tenants[of].client.call(volumes.get, { params: { id } })).status === 'available', 'the volume')
      return id
    }
    resources = { payer: await make('payer'), renewer: await make('renewer'), refunder: await make('refunder') }
    await orderFor('payer', { resource_id: resources.payer })
    await orderFor('renewer', { resource_id: resources.renewer, auto_renew: true })
    await pay('renewer')
    await orderFor('refunder', { resource_id: resources.refunder })
    await pay('refunder')
    await orderFor('buyer', { create: volumeBody('bought') })
    const { url: page } = await tenants.topper.client.call(topups.pay, { body: { channel_id: channel, amount: '12.34' } })
    const { order_id = '', amount = '' } = gateway.visit(page)
    payment = { order_id, amount }
    await admin.call(arrearsPolicies.setException, {
      params: { id: tenants.dry.bp_id },
      body: { low_balance: '0', grace_hours: 0, warning_hours: 0, suspends: true, stop_vms: true, stop_containers: true, refuse_new: true, resume: true },
    })
    const { client } = tenants.dry
    const cloud = { query: { cloud_id } }
    const image = (await client.call(images.list, { query: { cloud_id, type: 'container' } })).items.find(({ name }) => name === 'busybox')
    const [network] = (await client.call(networks.list, cloud)).items
    const [flavor] = (await client.call(flavors.list)).items
    const { items } = await client.call(vms.create, {
      body: {
        cloud_id,
        name: 'dry',
        count: 3,
        type: 'container',
        image_fingerprint: image?.fingerprint,
        network: network?.name,
        flavor_id: flavor?.id,
        password: 'Fault-test-1',
      },
    })
    const is = (id: string, status: string) => until(async () => (await vmStatus(id)) === status, `${id} to be ${status}`)
    for (const { id } of items) await is(id, 'running')
    ;[stood = '', ...ran] = items.map(({ id }) => id)
    await client.call(vms.stop, { params: { id: stood }, body: {} })
    await is(stood, 'stopped')
    // Twenty hours of one Mbps, at one yuan, that nobody can pay.
    await send(rateUsageJob)
    // Rating waits for whoever changes what it has not heard of yet: so it has heard of the rest.
    await until(async () => (await query(`select id from usage_events where not settled`)).length === 0, 'the events')
    const resource = randomUUID()
    for (const [hoursAgo, usage] of [
      [30, { 'eip.bandwidth': 1 }],
      [10, {}],
    ] as const) {
      await query(
        `insert into usage_events (id, resource_type, resource_id, resource_name, bp_id, at, usage) values (gen_random_uuid(), 'nextstack.eip', $1, 'eip', $2, date_trunc('hour', now()) - $3 * interval '1 hour', $4)`,
        [resource, tenants.dry.bp_id, hoursAgo, usage],
      )
    }

    const entries = await holdTable('ledger_entries')
    const lines = await holdTable('usage_lines')
    await query(`update prepaid_resources set renew_at = now() where resource_id = $1`, [resources.renewer])
    const asked = [pay('payer'), refund('refunder'), notify(), charge('absent', funds, resources.payer)].map(unanswered)
    await send(orderClockJob)
    await send(rateUsageJob)
    await entries.reached(5)
    await lines.reached()
    await kill()
    await Promise.all(asked)
    await entries.letGo()
    await lines.letGo()

    await sound()
    expect(await query(`select id from usage_lines`)).toEqual([])
    for (const [of, kinds] of Object.entries({
      payer: ['topup'],
      renewer: ['topup', 'hold', 'capture'],
      refunder: ['topup', 'hold', 'capture'],
      absent: [],
      topper: [],
      dry: [],
    }))
      expect(await movements(of as Name), of).toEqual(kinds)
    expect(await query(`select status from topups where method = 'online'`)).toEqual([{ status: 'waiting' }])
  })

  it('what is asked for again happens once, and what had happened unheard not again', async () => {
    await start('bill.order.deliver:make:before')
    expect(await order('payer')).toMatchObject({ status: 'unpaid' })
    expect(await pay('payer')).toMatchObject({ status: 'delivered' })
    for (let times = 0; times < 2; times++) await charge('absent', funds, resources.payer)
    expect([await notify(), await notify()]).toEqual(['success', 'success'])
    expect(await wallet('topper')).toMatchObject({ funds: 12.34 })
    // The renewal was ordered when the server died, and is paid when its time comes again.
    expect(await query(`select status from bill_orders where resource_id = $1 and kind <> 'onDemand' order by number`, [resources.renewer])).toEqual([
      { status: 'delivered' },
      { status: 'unpaid' },
    ])
    await query(`update prepaid_resources set renew_at = now() where resource_id = $1`, [resources.renewer])
    await send(orderClockJob)
    await until(async () => (await wallet('renewer')).funds === funds - 2 * volumePrice, 'the renewal')

    const postings = await holdTable('usage_postings')
    await send(rateUsageJob)
    await postings.reached()
    // Refunded and paid, and it does not matter whether they who asked were answered: the delivery begins, and dies.
    const asked = [refund('refunder').catch(() => undefined)]
    await until(async () => (await query(`select id from bill_orders where id = $1 and status = 'refunded'`, [orderIds.refunder])).length === 1, 'the refund')
    asked.push(pay('buyer').catch(() => undefined))
    expect(await server.ended).toBe('SIGKILL')
    await Promise.all(asked)
    await postings.letGo()

    await sound()
    expect(await query<{ amount: string }>(`select sum(amount)::text as amount from usage_lines where voided_at is null`)).toEqual([{ amount: '2000000000' }])
    expect(await movements('dry')).toEqual([])
    expect(await movements('buyer')).toEqual(['topup', 'hold'])
  })

  it('goes on with deliveries and suspensions, and is killed in their middle', async () => {
    // It takes up the delivery by itself, and perhaps dies before it listens.
    await startToDie('bill.order.deliver:make:after')
    await sound()
    expect(await query(`select id from bill_orders where id = $1 and status = 'paid' and resource_id is not null`, [orderIds.buyer])).toHaveLength(1)

    const [spans, stops] = [await holdTable('prepaid_spans'), await holdTable('suspended_resources')]
    await start()
    await spans.reached()
    // It was given back when nobody heard of it.
    await expect(refund('refunder')).rejects.toThrow('90010')
    await orderFor('absent', { create: volumeBody('never') })
    const quota = await hold(`select pg_advisory_xact_lock(hashtextextended('quota ' || $1, 11))`, [tenants.absent.bp_id])
    await pay('absent')
    await quota.reached()
    // What was rated is posted, nobody can pay it, and what runs is about to be stopped.
    await send(rateUsageJob)
    await stops.reached()
    expect(new Set(await movements('dry'))).toEqual(new Set(['usage']))
    await kill()
    await Promise.all([spans, stops, quota].map(({ letGo }) => letGo()))
    await sound()
    expect(await query(`select resource_id from suspended_resources`)).toEqual([])
  })

  it('gives back what cannot be delivered, and starts again what was stopped', async () => {
    // Whoever ordered may not sign in any more.
    await query(`update users set status = 'disabled' where id = $1`, [tenants.absent.id])
    const account = await hold(`select from accounts where owner_id = $1 for update`, [tenants.absent.bp_id])
    await start()
    await account.reached()
    await until(async () => (await order('buyer')).status === 'delivered', 'the delivery')
    await until(async () => (await standing()).suspension?.phase === 'suspended', 'the suspension')
    for (const id of ran) expect(await vmStatus(id)).toBe('stopped')
    const starts = await holdTable('suspended_resources')
    await charge('dry', 30, randomUUID())
    await starts.reached()
    await kill()
    await Promise.all([account, starts].map(({ letGo }) => letGo()))
    await sound()

    await startToDie('nextstack.vm.start:start:after')
    await sound()
  })

  it('ends as if nothing had been', async () => {
    await start()
    await until(async () => (await standing()).state === 'normal' && (await standing()).suspension === null, 'the resumption')
    for (const id of ran) expect(await vmStatus(id)).toBe('running')
    expect(await vmStatus(stood)).toBe('stopped')
    // By the platform each was stopped once and started once.
    expect(
      await query(`select kind, count(*)::int as times from operations where bp_id = $1 and actor_id is null group by resource_id, kind order by kind`, [
        tenants.dry.bp_id,
      ]),
    ).toEqual(['start', 'start', 'stop', 'stop'].map((verb) => ({ kind: `nextstack.vm.${verb}`, times: 1 })))
    expect(await wallet('dry')).toMatchObject({ funds: 10, arrears: 0 })

    expect((await tenants.buyer.client.call(volumes.list, { query: { keyword: 'bought' } })).total).toBe(1)
    expect(await query(`select id from volumes where name = 'never'`)).toEqual([])
    expect(await query(`select status, refunded = amount as whole from bill_orders where id = $1`, [orderIds.absent])).toEqual([
      { status: 'refunded', whole: true },
    ])
    const all: Record<Exclude<Name, 'dry'>, string[]> = {
      payer: ['topup', 'hold', 'capture'],
      renewer: ['topup', 'hold', 'capture', 'hold', 'capture'],
      refunder: ['topup', 'hold', 'capture', 'refund'],
      buyer: ['topup', 'hold', 'capture'],
      absent: ['topup', 'hold', 'release'],
      topper: ['topup'],
    }
    for (const [of, kinds] of Object.entries(all)) expect(await movements(of as Name), of).toEqual(kinds)
    // One for each day on which something was used; what they come to is what the wallet says.
    const days = await query(
      `select distinct (line."from" at time zone 'Asia/Shanghai')::date from usage_lines as line where bp_id = $1 and voided_at is null`,
      [tenants.dry.bp_id],
    )
    expect(await movements('dry')).toEqual([...days.map(() => 'usage'), 'topup'])
    for (const of of ['payer', 'buyer'] as const) expect(await wallet(of)).toMatchObject({ funds: funds - volumePrice, held: 0 })
    expect(await wallet('absent')).toMatchObject({ funds, held: 0 })
    const { refunded_amount } = await order('refunder')
    expect(await wallet('refunder')).toMatchObject({ funds: Number((funds - volumePrice + Number(refunded_amount)).toFixed(8)), held: 0 })
    // Of what is paid in advance nothing overlaps, and nothing was paid twice.
    expect(
      await query(
        `select one.order_id from prepaid_spans as one join prepaid_spans as other on other.resource_id = one.resource_id and other.order_id <> one.order_id and other."from" < one."to" and one."from" < other."to"`,
      ),
    ).toEqual([])
    // Of what was paid by the hour one order each, however often it was settled, and by whichever life of the server.
    expect(await query(`select resource_id, count(*)::int as times from bill_orders where kind = 'onDemand' group by resource_id having count(*) > 1`)).toEqual(
      [],
    )
    expect(await query(`select status from bill_orders where resource_id = $1 and kind = 'onDemand'`, [resources.renewer])).toEqual([{ status: 'charging' }])
    await sound()
  })
})
