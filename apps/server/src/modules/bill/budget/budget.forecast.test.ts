import { randomUUID } from 'node:crypto'
import { budgets } from '@zhisuan/contract/bill/budget'
import { categories, products, skus } from '@zhisuan/contract/bill/catalogue'
import { toDecimal, toMinor } from '@zhisuan/contract/bill/money'
import { notices } from '@zhisuan/contract/bill/notice'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClock, testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused } from '../../../testing/call.ts'
import { makeOrganisation, someone, type Person, type SignedIn } from '../../../testing/people.ts'
import { createMetering } from '../metering/metering.service.ts'
import { recordEvent } from '../metering/metering.store.ts'
import { createNotices } from '../notice/notice.service.ts'
import { createRating } from '../rating/rating.service.ts'
import { createBudgets } from './budget.service.ts'

const hour = 3_600_000
const day = 24 * hour
const wait = { interval: 30 }
type Who = Person & SignedIn

let app: TestApp
/** Another server on the same database. */
let other: TestApp
let admin: Who
/** The first moment of a month of Beijing; it is the eleventh day of that month. */
let begin: number
let days: number
let priced: string
const clock = createClock()
beforeAll(async () => {
  app = await testApp({}, { clock })
  other = await testApp({ DATABASE_URL: app.databaseUrl }, { clock })
  const today = new Date(clock.now().getTime() + 8 * hour)
  begin = Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + 1) - 8 * hour
  days = new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + 2, 0)).getUTCDate()
  const early = await someone(app, { kind: 1 })
  const category = await call(app, categories.create, { token: early.token, body: { name: 'computing' } })
  priced = (await call(app, products.create, { token: early.token, body: { name: 'instances', category_id: category.id } })).id
  const sku = await call(app, skus.create, { token: early.token, body: { product_id: priced, name: 'cores', meter: 'vm.vcpu' } })
  await call(app, skus.setPrice, {
    token: early.token,
    params: { id: sku.id },
    body: { period: 'hour', tiers: [{ above: 0, price: '1' }], effective_from: new Date(begin).toISOString() },
  })
  clock.advance(begin - clock.now().getTime() + 10 * day + hour / 2)
  // People sign in after that: nobody's session lasts so long.
  admin = await someone(app, { kind: 1 })
})
afterAll(async () => {
  await other.close()
  await app.close()
})

const uses = (bp_id: string, resource_id: string, at: number, cores: number, project_id: string | null = null) =>
  recordEvent(app.platform.db, {
    id: randomUUID(),
    resource_type: 'nextstack.vm',
    resource_id,
    resource_name: 'vm',
    bp_id,
    project_id,
    at: at / 1000,
    revision: 1,
    usage: cores === 0 ? {} : { 'vm.vcpu': cores },
  })
const rate = () => createRating({ db: app.platform.db, now: app.platform.now, metering: createMetering(app.platform) }).run()
/** The job's work, on one server. */
function foreseeing(on: TestApp): () => Promise<void> {
  const told = createNotices(
    on.platform,
    { text: (kind, _, { budget }) => `${kind} ${budget?.percent}%`, signed: (text) => text, send: () => null },
    async () => undefined,
  )
  return createBudgets(on.platform, { notices: told }).foreseeAll
}
const told = async (bp_id: string) =>
  (await call(app, notices.list, { token: admin.token, query: { kind: 'budgetForecast', bp_id, page_size: 100 } })).items.map(({ text }) => text).toReversed()
/** Whichever of the servers told it. */
const hundred = expect.stringMatching(/(^|\D)100%/)
const list = async (who: Who) => (await call(app, budgets.list, { token: who.token })).items
type Given = Partial<{ amount: string; forecast_thresholds: number[]; project_id: string | null; product_id: string | null; bp_id: string }>
const create = (who: Who, body: Given = {}) =>
  call(app, budgets.create, { token: who.token, body: { name: `b-${randomUUID()}`, amount: '100', thresholds: [1000], ...body } })
/** It was looked at after it was made. */
const foreseen = (who: Who, id: string) =>
  expect
    .poll(async () => (await list(who)).find((one) => one.id === id)?.forecast, wait)
    .not.toBeNull()
    .then(async () => (await list(who)).find((one) => one.id === id))

describe('a budget by what its month is expected to come to', () => {
  it('tells soon after it was made what it will be reached by, and shows it', async () => {
    const tenant = await someone(app)
    await uses(tenant.bp_id ?? '', randomUUID(), begin + 9 * day, 1)
    await rate()
    const { id, forecast } = await create(tenant, { forecast_thresholds: [1000, 400, 100] })
    expect(forecast).toBeNull()
    // A yuan an hour from the tenth day on.
    const expected = (days - 9) * 24
    expect(await foreseen(tenant, id)).toMatchObject({
      forecast_thresholds: [100, 400, 1000],
      forecast: { amount: `${expected}.00`, percent: expected },
      forecast_reached: [{ percent: 100 }, { percent: 400 }],
      spent: '24.00',
      reached: [],
    })
    expect(await told(tenant.bp_id ?? '')).toEqual([expect.stringContaining(`预计本月共用${expected}.00元（目前已用24.00元），达到预算100.00元的400%`)])
    expect(
      (await refused(app, budgets.update, { token: tenant.token, params: { id }, body: { name: 'x', amount: '1', forecast_thresholds: [50, 50] } })).fields,
    ).toMatchObject([{ field: 'forecast_thresholds' }])
    // Another amount is another budget.
    await call(app, budgets.update, { token: tenant.token, params: { id }, body: { name: 'x', amount: '10000', forecast_thresholds: [1] } })
    await expect.poll(async () => (await told(tenant.bp_id ?? '')).length, wait).toBe(2)
    expect(await list(tenant)).toMatchObject([{ forecast: { percent: Math.floor(expected / 100) }, forecast_reached: [{ percent: 1 }] }])
  })

  it('counts its project or its product only', async () => {
    const tenant = await someone(app)
    const bpId = tenant.bp_id ?? ''
    const project = (await call(app, budgets.scopes, { token: tenant.token })).projects[0]?.id ?? ''
    const category = await call(app, categories.create, { token: admin.token, body: { name: randomUUID().slice(0, 20) } })
    const another = await call(app, products.create, { token: admin.token, body: { name: randomUUID().slice(0, 20), category_id: category.id } })
    await uses(bpId, randomUUID(), begin + 10 * day, 1)
    await uses(bpId, randomUUID(), begin + 10 * day, 2, project)
    await rate()
    const cores = async (body: Given): Promise<string> =>
      toDecimal(toMinor((await foreseen(tenant, (await create(tenant, body)).id))?.forecast?.amount ?? '') / BigInt((days - 10) * 24))
    expect([await cores({}), await cores({ project_id: project }), await cores({ product_id: priced }), await cores({ product_id: another.id })]).toEqual([
      '3.00',
      '2.00',
      '3.00',
      '0.00',
    ])
  })

  it('tells each threshold once in a month, whatever comes and goes, on however many servers', async () => {
    const tenant = await someone(app)
    const [bpId, vm] = [tenant.bp_id ?? '', randomUUID()]
    const { id } = await create(tenant, { forecast_thresholds: [100] })
    expect(await foreseen(tenant, id)).toMatchObject({ forecast: { amount: '0.00', percent: 0 }, forecast_reached: [] })
    const [here, there] = [foreseeing(app), foreseeing(other)]
    const now = clock.now().getTime()
    const look = async (): Promise<readonly string[]> => {
      await rate()
      await Promise.all([here(), there(), here(), there()])
      return told(bpId)
    }
    // It would be reached, and is not any more when somebody looks.
    await uses(bpId, vm, now - 60 * 60_000, 1)
    await uses(bpId, vm, now - 30 * 60_000, 0)
    expect(await look()).toEqual([])
    await uses(bpId, vm, now - 20 * 60_000, 1)
    expect(await look()).toEqual([hundred])
    await uses(bpId, vm, now - 10 * 60_000, 0)
    expect(await look()).toHaveLength(1)
    expect((await list(tenant))[0]?.forecast?.percent).toBe(0)
    await uses(bpId, vm, now - 5 * 60_000, 1)
    expect(await look()).toHaveLength(1)
    expect(await list(tenant)).toMatchObject([{ forecast_reached: [{ percent: 100 }] }])
  })

  it('is told once where a look was cut off again and again, beside another', async () => {
    const owners = await Promise.all(Array.from({ length: 15 }, () => makeOrganisation(app)))
    for (const bp_id of owners) {
      await create(admin, { bp_id, forecast_thresholds: [50, 100] })
      await uses(bp_id, randomUUID(), begin + 10 * day, 1)
    }
    // What was made has been looked at, while nothing was used.
    await expect.poll(async () => (await app.platform.database.pool.query('select from budgets where forecast is null')).rowCount, wait).toBe(0)
    await rate()
    const killer = new pg.Client({ connectionString: app.databaseUrl })
    await killer.connect()
    const state = { working: true, cut: 0 }
    const killing = (async () => {
      while (state.working && state.cut < 10) {
        const { rowCount } = await killer.query(
          `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'zhisuan' and query ilike '%budget%' and state <> 'idle' limit 1`,
        )
        state.cut += rowCount ?? 0
      }
    })()
    const until = async (look: () => Promise<void>): Promise<void> => {
      for (;;) {
        try {
          return await look()
        } catch {
          // Whoever was cut off comes back.
        }
      }
    }
    await Promise.all([until(foreseeing(app)), until(foreseeing(other))])
    state.working = false
    await killing
    await killer.end()
    await foreseeing(app)()
    expect(await Promise.all(owners.map(told))).toEqual(owners.map(() => [hundred]))
  })

  it('is told again in the next month', async () => {
    const bpId = await makeOrganisation(app)
    await create(admin, { bp_id: bpId, forecast_thresholds: [100] })
    await uses(bpId, randomUUID(), begin + 10 * day, 1)
    await rate()
    await foreseeing(app)()
    expect(await told(bpId)).toHaveLength(1)
    clock.advance(begin + days * day + day - clock.now().getTime())
    admin = await someone(app, { kind: 1 })
    const ofThem = async () => (await call(app, budgets.list, { token: admin.token, query: { bp_id: bpId } })).items[0]
    // What was expected of the month before says nothing of this one.
    expect(await ofThem()).toMatchObject({ forecast: null, forecast_reached: [] })
    await rate()
    await foreseeing(app)()
    expect(await told(bpId)).toHaveLength(2)
    expect(await ofThem()).toMatchObject({ forecast: { percent: expect.any(Number) }, forecast_reached: [{ percent: 100 }] })
  })
})
