import { createHash, randomUUID } from 'node:crypto'
import { printedLines, splitContracts, splitRuns, type SplitTerms } from '@zhisuan/contract/split/contract'
import { splitFigures, splitProviders } from '@zhisuan/contract/split/provider'
import { accounts } from '@zhisuan/contract/bill/account'
import { toMinor } from '@zhisuan/contract/bill/money'
import { messages } from '@zhisuan/contract/sys/message'
import { allCalls } from '@zhisuan/contract/calls'
import type { BodyInput } from '@zhisuan/contract/define'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testApp, type TestApp } from '../../testing/app.ts'
import { textsOfPdf } from '../../testing/pdf.ts'
import { call, refused } from '../../testing/call.ts'
import { someone, type Person, type SignedIn } from '../../testing/people.ts'
import { chargeUsage } from '../../modules/bill/testing.ts'
import { nextPeriod } from './split.service.ts'

type Somebody = Person & SignedIn
type Terms = BodyInput<typeof splitContracts.create>['terms']

describe('the split centre', () => {
  let app: TestApp
  let keeper: Somebody
  let payer: Somebody

  const twoParties = [
    { kind: 'platform', name: '平台' },
    { kind: 'provider', name: '供应商' },
  ] satisfies SplitTerms['parties']
  const terms = (more: Partial<Terms> = {}): Terms => ({ parties: twoParties, steps: [{ above: '0', parts: [300_000, 700_000] }], ...more })
  /** A provider with somebody who is bound to it. */
  const makeProvider = async (): Promise<{ id: string; person: Somebody }> => {
    const id = randomUUID()
    const owner = await someone(app)
    await sql`insert into market_providers (id, bp_id, name, contact, description, status, created_by_name) values (${id}, ${owner.bp_id}, ${`p-${id}`}, 'x', '', 'verified', '')`.execute(
      app.platform.db,
    )
    const person = await someone(app, { kind: 4, roles: ['PROVIDER'], organisation: null })
    await call(app, splitProviders.bind, { token: keeper.token, params: { id }, body: { user_id: person.id } })
    return { id, person }
  }
  /** An hour of use of its machines, that cost so much. */
  const used = async (providerId: string, at: string, yuan: string, more: { model?: string; meter?: string; bp_id?: string } = {}): Promise<number> => {
    const { rows } = await sql<{ id: number }>`
      insert into usage_lines (resource_id, bp_id, product_id, sku_id, price_id, "from", quantity, seconds, fraction, meter, variant, amount, attributes)
      values (${randomUUID()}, ${more.bp_id ?? payer.bp_id}, ${randomUUID()}, ${randomUUID()}, ${randomUUID()}, ${new Date(at)}, 1, 3600, 10000, ${more.meter ?? 'market.card'}, 'o', ${String(toMinor(yuan))},
        ${JSON.stringify({ provider_id: providerId, cards: [{ uuid: 'GPU-1', model: more.model ?? 'A100' }] })}::jsonb)
      returning id
    `.execute(app.platform.db)
    return rows[0]?.id ?? 0
  }
  const signed = async (providerId: string, from: string, of: Terms = terms()): Promise<string> => {
    const { id } = await call(app, splitContracts.create, {
      token: keeper.token,
      body: { name: `c-${randomUUID().slice(0, 8)}`, provider_id: providerId, from, terms: of },
    })
    await call(app, splitContracts.sign, { token: keeper.token, params: { id } })
    return id
  }
  const split = (contract_id: string, period: string, by = keeper) => call(app, splitRuns.create, { token: by.token, body: { contract_id, period } })
  const linesOf = async (id: string, by = keeper) => (await call(app, splitRuns.lines, { token: by.token, params: { id }, query: { page_size: 100 } })).items
  const amounts = (run: { shares: readonly { amount: string }[] }) => run.shares.map(({ amount }) => amount)

  beforeAll(async () => {
    app = await testApp()
    keeper = await someone(app, { kind: 4, roles: ['OPERATION_SUPPORTER'], organisation: null })
    payer = await someone(app)
  })
  afterAll(() => app.close())

  it('shares out a month once, to the last unit, and states it to the provider alone', async () => {
    const [{ id, person }, other] = [await makeProvider(), await makeProvider()]
    const contract = await signed(id, '2026-01')
    // Of Beijing's month: the last hour of it, and the first of the next.
    for (const [at, yuan] of [
      ['2026-01-10T00:00:00+08:00', '6.45'],
      ['2026-01-31T23:00:00+08:00', '0.00000001'],
      ['2026-02-01T00:00:00+08:00', '100'],
    ] as const)
      await used(id, at, yuan)
    await used(other.id, '2026-01-10T00:00:00+08:00', '5')
    const run = await split(contract, '2026-01')
    expect(run).toMatchObject({ base: '6.45000001', line_count: 2, late_count: 0, adjustment: '0.00', previous_hash: null })
    expect(amounts(run).reduce((sum, amount) => sum + toMinor(amount), 0n)).toBe(toMinor(run.base))
    expect(amounts(run)).toEqual(['1.935', '4.51500001'])
    expect(await refused(app, splitRuns.create, { token: keeper.token, body: { contract_id: contract, period: '2026-01' } })).toMatchObject({ code: 26012 })
    expect((await call(app, messages.list, { token: person.token, query: {} })).items).toMatchObject([{ kind: 'split.statement', about: { id: run.id } }])
    expect((await call(app, splitRuns.list, { token: person.token, query: {} })).items.map((one) => one.id)).toEqual([run.id])
    expect((await linesOf(run.id, person)).map(({ base }) => base)).toEqual(['6.45', '0.00000001'])
    // Another provider's is not there, in no way.
    for (const declared of [splitRuns.get, splitRuns.lines, splitRuns.confirm])
      expect(await refused(app, declared, { token: other.person.token, params: { id: run.id }, query: {} } as never)).toMatchObject({ status: 404 })
    expect((await call(app, splitRuns.list, { token: other.person.token, query: { provider_id: id } })).total).toBe(0)
    expect((await call(app, splitProviders.list, { token: other.person.token })).items.map((one) => one.id)).toEqual([other.id])
    expect((await call(app, splitFigures.mine, { token: other.person.token, query: { days: 366 } })).amount).toBe('5.00')
    for (const declared of [splitContracts.list, splitFigures.get])
      expect(await refused(app, declared, { token: person.token, query: {} } as never)).toMatchObject({ status: 403 })
  })

  it('is done once by many at once', async () => {
    const { id } = await makeProvider()
    const contract = await signed(id, '2026-01')
    await used(id, '2026-01-10T00:00:00+08:00', '1')
    const done = await Promise.all(
      Array.from({ length: 4 }, () =>
        split(contract, '2026-01').then(
          () => 'done',
          (error: Error) => /"code":(\d+)/.exec(error.message)?.[1],
        ),
      ),
    )
    expect(done.toSorted()).toEqual(['26012', '26012', '26012', 'done'])
    expect(
      (await app.platform.db.selectFrom('split_lines').select('id').where('period', '=', '2026-01').where('payer', '=', '').execute()).length,
    ).toBeLessThanOrEqual(1)
  })

  it('goes by months in their order, and by none that is not over', async () => {
    const { id } = await makeProvider()
    const contract = await signed(id, '2026-01')
    const ask = (period: string) => refused(app, splitRuns.create, { token: keeper.token, body: { contract_id: contract, period } })
    expect(await ask('2026-02')).toMatchObject({ code: 98203, message: expect.stringContaining('2026-01') as string })
    expect(await ask('2025-12')).toMatchObject({ code: 98202 })
    expect(await ask('2999-01')).toMatchObject({ status: 400 })
    const thisMonth = new Date(Date.now() + 8 * 3_600_000).toISOString().slice(0, 7)
    expect(await ask(thisMonth)).toMatchObject({ code: 98201 })
    await split(contract, '2026-01')
    await call(app, splitContracts.end, { token: keeper.token, params: { id: contract }, body: { after: '2026-01' } })
    // What came late to its months is shared out still, and nothing of later ones.
    await used(id, '2026-01-20T00:00:00+08:00', '10')
    await used(id, '2026-02-20T00:00:00+08:00', '20')
    expect(await split(contract, '2026-02')).toMatchObject({ base: '10.00', late_count: 1 })
    expect(nextPeriod('2026-12')).toBe('2027-01')
  })

  it('takes what comes late and what is given back by the terms of its own month; what was stated stays', async () => {
    const { id } = await makeProvider()
    const contract = await signed(
      id,
      '2026-01',
      terms({
        steps: [
          { above: '0', parts: [300_000, 700_000] },
          { above: '50', parts: [200_000, 800_000] },
        ],
      }),
    )
    const early = await used(id, '2026-01-10T00:00:00+08:00', '100')
    const january = await split(contract, '2026-01')
    expect(amounts(january)).toEqual(['20.00', '80.00'])
    // February has other terms.
    await call(app, splitContracts.amend, {
      token: keeper.token,
      params: { id: contract },
      body: { from: '2026-02', terms: terms({ steps: [{ above: '0', parts: [500_000, 500_000] }] }) },
    })
    await call(app, splitContracts.sign, { token: keeper.token, params: { id: contract } })
    await used(id, '2026-01-20T00:00:00+08:00', '10')
    await used(id, '2026-02-03T00:00:00+08:00', '1')
    const february = await split(contract, '2026-02')
    expect(february).toMatchObject({ base: '11.00', late_count: 1, version: 2, previous_hash: january.hash })
    expect(amounts(february)).toEqual(['2.50', '8.50'])
    // Rated anew: the line of January is none any more, and nothing stands for it.
    await app.platform.db.updateTable('usage_lines').set({ voided_at: new Date() }).where('id', '=', early).execute()
    const march = await split(contract, '2026-03')
    expect(march).toMatchObject({ base: '-100.00' })
    expect(amounts(march)).toEqual(['-20.00', '-80.00'])
    const [refund] = await linesOf(march.id)
    expect(refund).toMatchObject({ kind: 'refund', original_id: `2026-01/${(await linesOf(january.id))[0]?.id}`, version: 1 })
    expect(amounts(await call(app, splitRuns.get, { token: keeper.token, params: { id: january.id } }))).toEqual(['20.00', '80.00'])
    // All together what is used, by its terms.
    expect((await split(contract, '2026-04')).line_count).toBe(0)
  })

  it('heeds floor and cap of a month, also when something comes late to it', async () => {
    const { id } = await makeProvider()
    const contract = await signed(id, '2026-01', terms({ floor: '10', cap: '20' }))
    await used(id, '2026-01-10T00:00:00+08:00', '10')
    const january = await split(contract, '2026-01')
    expect(january).toMatchObject({ base: '10.00', adjustment: '3.00' })
    expect(amounts(january)).toEqual(['0.00', '10.00'])
    // 7 and 35 are 42: the floor's 3 go back, and what is above 20.
    await used(id, '2026-01-11T00:00:00+08:00', '50')
    const february = await split(contract, '2026-02')
    expect((await linesOf(february.id)).filter(({ kind }) => kind === 'adjustment').map(({ amounts: of }) => of)).toEqual(
      expect.arrayContaining([
        ['25.00', '-25.00'],
        ['-10.00', '10.00'],
      ]),
    )
    expect(toMinor(amounts(january)[1] ?? '') + toMinor(amounts(february)[1] ?? '')).toBe(toMinor('30'))
  })

  it('leaves out what its user has not paid, until they have', async () => {
    const { id } = await makeProvider()
    const contract = await signed(id, '2026-01')
    const debtor = await someone(app)
    await used(id, '2026-01-10T00:00:00+08:00', '10', { bp_id: debtor.bp_id ?? '' })
    await chargeUsage(app.platform.db, debtor.bp_id ?? '', '10')
    expect((await split(contract, '2026-01')).base).toBe('0.00')
    const admin = await someone(app, { kind: 1 })
    await call(app, accounts.charge, { token: admin.token, params: { id: debtor.bp_id ?? '' }, body: { amount: '10', key: randomUUID() } })
    expect(await split(contract, '2026-02')).toMatchObject({ base: '10.00', late_count: 1 })
  })

  it('shows the hours that figures are of with card, machine and order, to a provider its own', async () => {
    const [{ id, person }, other] = [await makeProvider(), await makeProvider()]
    const yesterday = new Date(Math.floor(Date.now() / 3_600_000 - 24) * 3_600_000)
    const line = await used(id, yesterday.toISOString(), '12.50000001', { model: 'H200' })
    await used(other.id, yesterday.toISOString(), '1')
    const { resource_id } = await app.platform.db.selectFrom('usage_lines').select('resource_id').where('id', '=', line).executeTakeFirstOrThrow()
    const order = randomUUID()
    await sql`insert into bill_orders (id, bp_id, kind, status, resource_type, resource_id, resource_name, period, count, auto_renew, automatic, quote, usage, amount, expires_at, created_by_name, created_at)
      values (${order}, ${payer.bp_id}, 'onDemand', 'charging', 'market.rental', ${resource_id}, 'train-1', 'hour', 1, false, false, '{}', '{}', 0, now(), '', now())`.execute(
      app.platform.db,
    )
    const lines = async (by: Somebody, query: Record<string, string> = {}) => (await call(app, splitFigures.lines, { token: by.token, query })).items
    const [own, ...none] = await lines(person)
    expect(none).toEqual([])
    expect(own).toMatchObject({
      from: yesterday.toISOString(),
      provider: { id },
      model: 'H200',
      cards: ['GPU-1'],
      order: { id: order, number: order.slice(-8).toUpperCase() },
      amount: '12.50000001',
    })
    expect((await lines(keeper, { provider_id: id }))[0]?.order?.number).toMatch(/^\d+$/)
    expect(await lines(person, { provider_id: other.id })).toEqual([])
    expect((await lines(keeper, { provider_id: other.id })).map(({ amount }) => amount)).toEqual(['1.00'])
    const day = new Date(yesterday.getTime() + 8 * 3_600_000).toISOString().slice(0, 10)
    expect(await lines(keeper, { provider_id: id, model: 'H200', day })).toHaveLength(1)
    expect(await lines(keeper, { provider_id: id, day: '2020-01-01' })).toEqual([])
    expect(await lines(keeper, { provider_id: id, model: 'A100' })).toEqual([])
    expect((await call(app, splitFigures.mine, { token: person.token, query: {} })).amount).toBe('12.50000001')
    expect(await refused(app, splitFigures.lines, { token: payer.token, query: {} })).toMatchObject({ status: 403 })
  })

  it('has one contract for each use of a month, whichever of two is signed first', async () => {
    const { id } = await makeProvider()
    const written = async (from: string, more: Partial<Terms> = {}) =>
      (
        await call(app, splitContracts.create, {
          token: keeper.token,
          body: { name: `c-${randomUUID().slice(0, 8)}`, provider_id: id, from, terms: terms(more) },
        })
      ).id
    const sign = (contract: string) => refused(app, splitContracts.sign, { token: keeper.token, params: { id: contract } })
    const first = await signed(id, '2026-01', terms({ models: ['A100'] }))
    expect(await sign(await written('2026-05'))).toMatchObject({ code: 98231 })
    expect(await sign(await written('2026-05', { models: ['A100', 'H200'] }))).toMatchObject({ code: 98231 })
    await signed(id, '2026-05', terms({ models: ['H200'] }))
    // Behind the end of the one another may begin.
    await call(app, splitContracts.end, { token: keeper.token, params: { id: first }, body: { after: '2026-04' } })
    expect(await sign(await written('2026-04', { models: ['A100'] }))).toMatchObject({ code: 98231 })
    await signed(id, '2026-05', terms({ models: ['A100'] }))
    const [one, other] = [await makeProvider(), await written('2026-09', { models: ['L40S'] })]
    const twin = await written('2026-09', { models: ['L40S'] })
    const both = await Promise.all(
      [other, twin].map((contract) =>
        call(app, splitContracts.sign, { token: keeper.token, params: { id: contract } }).then(
          () => true,
          () => false,
        ),
      ),
    )
    expect(both.toSorted()).toEqual([false, true])
    await signed(one.id, '2026-01')
  })

  it('reaches each month from its first version on: none that is signed later begins before it', async () => {
    const { id } = await makeProvider()
    const contract = await signed(id, '2026-05')
    await call(app, splitContracts.amend, { token: keeper.token, params: { id: contract }, body: { from: '2026-03', terms: terms() } })
    expect(await refused(app, splitContracts.sign, { token: keeper.token, params: { id: contract } })).toMatchObject({ code: 98232 })
  })

  it('waits until all of its month is rated', async () => {
    const { id } = await makeProvider()
    const contract = await signed(id, '2026-01')
    const resource = randomUUID()
    const { db } = app.platform
    await sql`insert into metered_resources (id, type, name, bp_id, rated_until) values (${resource}, 'market.rental', 'train-1', ${payer.bp_id}, '2026-01-31T22:00:00+08:00')`.execute(
      db,
    )
    await sql`insert into usage_intervals (resource_id, meter, variant, bp_id, quantity, "from", "to", attributes)
      values (${resource}, 'market.card', 'o', ${payer.bp_id}, 1, '2026-01-20T00:00:00+08:00', null, ${JSON.stringify({ provider_id: id })}::jsonb)`.execute(db)
    expect(await refused(app, splitRuns.create, { token: keeper.token, body: { contract_id: contract, period: '2026-01' } })).toMatchObject({ code: 98230 })
    await sql`update metered_resources set rated_until = '2026-02-01T00:00:00+08:00' where id = ${resource}`.execute(db)
    expect((await split(contract, '2026-01')).base).toBe('0.00')
  })

  it('is confirmed by whoever is bound and settles for nobody', async () => {
    const { id, person } = await makeProvider()
    const both = await someone(app, { kind: 4, roles: ['PROVIDER', 'OPERATION_SUPPORTER'], organisation: null })
    expect(await refused(app, splitProviders.bind, { token: keeper.token, params: { id }, body: { user_id: both.id } })).toMatchObject({
      code: 98233,
      fields: [{ field: 'user_id' }],
    })
    const run = await split(await signed(id, '2026-01'), '2026-01')
    // Without a binding it is not there for them, whatever they see as who settles.
    expect(await refused(app, splitRuns.confirm, { token: both.token, params: { id: run.id } })).toMatchObject({ status: 404 })
    // Who was given the other role afterwards confirms nothing either.
    await sql`insert into user_roles (user_id, role) values (${person.id}, 'OPERATION_SUPPORTER')`.execute(app.platform.db)
    const again = await someone(app, { kind: 4, roles: ['PROVIDER', 'OPERATION_SUPPORTER'], organisation: null })
    await sql`insert into split_accounts (user_id, provider_id) values (${again.id}, ${id})`.execute(app.platform.db)
    expect(await refused(app, splitRuns.dispute, { token: again.token, params: { id: run.id }, body: { reason: 'x' } })).toMatchObject({ code: 98233 })
  })

  it('tells a provider nothing of others, by no call and by no number', async () => {
    const [one, other] = [await makeProvider(), await makeProvider()]
    const [mine, theirs] = [await signed(one.id, '2026-01'), await signed(other.id, '2026-01')]
    await used(one.id, '2026-01-10T00:00:00+08:00', '1')
    await used(one.id, new Date(Math.floor(Date.now() / 3_600_000 - 24) * 3_600_000).toISOString(), '2')
    const own = await split(mine, '2026-01')
    await used(other.id, '2026-01-10T00:00:00+08:00', '1')
    const foreign = await split(theirs, '2026-01')
    const { token } = one.person
    // Whatever has an id in its address, of all that a provider may call, with each id of another's.
    const reads = allCalls.filter(
      ({ id, access, path }) => id.startsWith('split.') && Array.isArray(access) && access.includes('PROVIDER') && path.includes('{id}'),
    )
    expect(reads.length).toBeGreaterThan(4)
    const { password } = one.person
    const bodies: Readonly<Record<string, object>> = {
      'split.run.dispute': { reason: 'x' },
      'split.run.export': { format: 'csv' },
      'split.bankDetail.create': { holder: '东数算力', bank: '工商银行', account: '6222000011112222', password },
      'split.bankDetail.approve': { password },
    }
    for (const declared of reads)
      for (const id of [foreign.id, other.id, theirs])
        expect(await refused(app, declared, { token, params: { id }, query: {}, body: bodies[declared.id] } as never), `${declared.id} of ${id}`).toMatchObject(
          {
            status: 404,
          },
        )

    const all = async () => {
      const { path } = await call(app, splitRuns.export, { token, params: { id: own.id }, body: { format: 'csv' } })
      return JSON.stringify([
        await call(app, splitRuns.list, { token, query: {} }),
        await call(app, splitRuns.list, { token, query: { provider_id: other.id } }),
        await call(app, splitRuns.lines, { token, params: { id: own.id }, query: {} }),
        await call(app, splitProviders.list, { token }),
        await call(app, splitFigures.mine, { token, query: {} }),
        await call(app, splitFigures.lines, { token, query: {} }),
        (await app.http.inject(path)).payload,
      ])
    }
    const before = await all()
    for (const at of ['2026-01-11T00:00:00+08:00', '2026-02-11T00:00:00+08:00']) await used(other.id, at, '100')
    await used(other.id, new Date(Math.floor(Date.now() / 3_600_000 - 24) * 3_600_000).toISOString(), '200')
    await split(theirs, '2026-02')
    expect(await all()).toBe(before)
    // What comes next counts on from its own, and not from what all have.
    await used(one.id, '2026-02-10T00:00:00+08:00', '1')
    const next = await split(mine, '2026-02')
    expect((await linesOf(next.id, one.person)).map(({ id }) => id)).toEqual(['1'])
    expect(before).not.toMatch(/"number":"\d+"/)
  })

  it('keeps amounts exact that are no number of a computer', async () => {
    const { id } = await makeProvider()
    const contract = await signed(id, '2026-01')
    await used(id, '2026-01-10T00:00:00+08:00', '123456789012345.12345679')
    const run = await split(contract, '2026-01')
    expect(amounts(run)).toEqual(['37037036703703.53703704', '86419752308641.58641975'])
    expect((await linesOf(run.id))[0]?.amounts).toEqual(amounts(run))
  })

  it('owes no floor for months behind its contract’s end', async () => {
    const { id } = await makeProvider()
    const contract = await signed(id, '2026-01', terms({ floor: '10' }))
    expect(await split(contract, '2026-01')).toMatchObject({ adjustment: '10.00' })
    await call(app, splitContracts.end, { token: keeper.token, params: { id: contract }, body: { after: '2026-01' } })
    expect(await split(contract, '2026-02')).toMatchObject({ adjustment: '0.00', line_count: 0 })
  })

  it('shares out only what its terms are of', async () => {
    const { id } = await makeProvider()
    const contract = await signed(id, '2026-01', terms({ models: ['H200'], meters: ['market.card'] }))
    await used(id, '2026-01-10T00:00:00+08:00', '10')
    await used(id, '2026-01-10T00:00:00+08:00', '20', { model: 'H200' })
    await used(id, '2026-01-10T00:00:00+08:00', '40', { model: 'H200', meter: 'market.disk' })
    expect((await split(contract, '2026-01')).base).toBe('20.00')
  })

  it('is confirmed or disputed by its provider, answered, and paid by another than who split it', async () => {
    const { id, person } = await makeProvider()
    const contract = await signed(id, '2026-01')
    const run = await split(contract, '2026-01')
    const at = (by: Somebody) => ({ token: by.token, params: { id: run.id } })
    expect(await refused(app, splitRuns.confirm, at(keeper))).toMatchObject({ status: 403 })
    expect(await refused(app, splitRuns.pay, { ...at(keeper), body: { reference: 'B-0001' } })).toMatchObject({ code: 90010 })
    expect(await call(app, splitRuns.dispute, { ...at(person), body: { reason: '少算了一台' } })).toMatchObject({ status: 'disputed', dispute: '少算了一台' })
    expect(await call(app, splitRuns.answer, { ...at(keeper), body: { text: '那台当月未出租' } })).toMatchObject({ status: 'stated', answer: '那台当月未出租' })
    expect(await call(app, splitRuns.confirm, at(person))).toMatchObject({ status: 'confirmed', confirmed_by: person.name })
    expect(await refused(app, splitRuns.pay, { ...at(keeper), body: { reference: 'B-0001' } })).toMatchObject({ code: 98207 })
    const admin = await someone(app, { kind: 1 })
    expect(await call(app, splitRuns.pay, { ...at(admin), body: { reference: 'B-0001' } })).toMatchObject({ status: 'paid', paid_by: admin.name })
    expect(await refused(app, splitRuns.dispute, { ...at(person), body: { reason: 'x' } })).toMatchObject({ code: 90010 })
  })

  it('has statements whose hashes are a chain that anybody can check', async () => {
    const { id, person } = await makeProvider()
    const contract = await signed(id, '2026-01')
    await used(id, '2026-01-10T00:00:00+08:00', '10')
    await used(id, '2026-02-10T00:00:00+08:00', '20')
    let previous = ''
    for (const period of ['2026-01', '2026-02']) {
      const run = await split(contract, period)
      const { path } = await call(app, splitRuns.export, { token: person.token, params: { id: run.id }, body: { format: 'csv' } })
      const file = (await app.http.inject(path)).rawPayload
      expect(file.toString()).toContain('供应商（元）')
      expect(createHash('sha256').update(previous).update(file).digest('hex')).toBe(run.hash)
      previous = run.hash
      const { path: sheet } = await call(app, splitRuns.export, { token: person.token, params: { id: run.id }, body: { format: 'xlsx' } })
      expect((await app.http.inject(sheet)).rawPayload.subarray(0, 2).toString()).toBe('PK')
      // On paper the same digits stand.
      const { path: printed } = await call(app, splitRuns.export, { token: person.token, params: { id: run.id }, body: { format: 'pdf' } })
      const said = textsOfPdf((await app.http.inject(printed)).rawPayload).join('\n')
      for (const text of [period, run.hash, run.previous_hash ?? '', ...run.shares.map(({ amount }) => amount)]) expect(said).toContain(text)
      const { items } = await call(app, splitRuns.lines, { token: person.token, params: { id: run.id }, query: {} })
      for (const { base, amounts } of items) for (const amount of [base, ...amounts]) expect(said).toContain(amount)
    }
  })

  it('is of ten thousand lines, too, and its parties stay who they are', async () => {
    const { id } = await makeProvider()
    const contract = await signed(id, '2026-01')
    await sql`
      insert into usage_lines (resource_id, bp_id, product_id, sku_id, price_id, "from", quantity, seconds, fraction, meter, variant, amount, attributes)
      select gen_random_uuid(), ${payer.bp_id}, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), ${new Date('2026-01-10T00:00:00+08:00')}, 1, 3600, 10000, 'market.card', 'o', 100000000,
        ${JSON.stringify({ provider_id: id, cards: [{ uuid: 'GPU-1', model: 'A100' }] })}::jsonb from generate_series(1, 10000)
    `.execute(app.platform.db)
    expect(await split(contract, '2026-01')).toMatchObject({ base: '10000.00', line_count: 10_000 })
    // On paper stand the first of them, what each has of all, and how many are left to the other files.
    const [run] = (await call(app, splitRuns.list, { token: keeper.token, query: { provider_id: id } })).items
    const { path } = await call(app, splitRuns.export, { token: keeper.token, params: { id: run?.id ?? '' }, body: { format: 'pdf' } })
    const printed = textsOfPdf((await app.http.inject(path)).rawPayload).join('\n')
    expect(printed).toContain(`其余${10_000 - printedLines}行`)
    for (const amount of ['10000.00', '3000.00', '7000.00']) expect(printed).toContain(amount)
    const parties = [twoParties[0], { kind: 'provider', name: '别人' }] as typeof twoParties
    expect(
      await refused(app, splitContracts.amend, { token: keeper.token, params: { id: contract }, body: { from: '2026-02', terms: terms({ parties }) } }),
    ).toMatchObject({ code: 98206 })
  })

  it('tries terms on a month that is past, beside what counted then', async () => {
    const { id } = await makeProvider()
    await used(id, '2026-01-10T00:00:00+08:00', '100')
    await signed(id, '2026-01')
    const answer = await call(app, splitContracts.try, {
      token: keeper.token,
      body: { provider_id: id, period: '2026-01', terms: terms({ steps: [{ above: '0', parts: [100_000, 900_000] }], cap: '80' }) },
    })
    expect(answer).toMatchObject({
      tried: { base: '100.00', line_count: 1, adjustment: '-10.00', shares: [{ amount: '20.00' }, { amount: '80.00' }] },
      present: { shares: [{ amount: '30.00' }, { amount: '70.00' }] },
    })
  })

  it.each<[string, Partial<Terms>, string]>([
    ['parts that are no whole', { steps: [{ above: '0', parts: [300_000, 699_999] }] }, 'terms.steps.0.parts'],
    ['a part for nobody', { steps: [{ above: '0', parts: [300_000, 300_000, 400_000] }] }, 'terms.steps.0.parts'],
    [
      'steps that go down',
      {
        steps: [
          { above: '0', parts: [300_000, 700_000] },
          { above: '0', parts: [300_000, 700_000] },
        ],
      },
      'terms.steps.1.above',
    ],
    ['a first step that is not the first', { steps: [{ above: '5', parts: [300_000, 700_000] }] }, 'terms.steps.0.above'],
    ['a cap below the floor', { floor: '10', cap: '5' }, 'terms.cap'],
    [
      'no provider',
      {
        parties: [
          { kind: 'platform', name: 'a' },
          { kind: 'agent', name: 'b' },
        ],
      },
      'terms.parties',
    ],
  ])('has no contract with %s', async (_, more, field) => {
    const { id } = await makeProvider()
    expect(
      await refused(app, splitContracts.create, { token: keeper.token, body: { name: 'wrong', provider_id: id, from: '2026-01', terms: terms(more) } }),
    ).toMatchObject({
      fields: [{ field }],
    })
  })

  it('binds an account to one provider, and settles with none that is disabled', async () => {
    const [{ id, person }, other] = [await makeProvider(), await makeProvider()]
    expect(await refused(app, splitProviders.bind, { token: keeper.token, params: { id: other.id }, body: { user_id: person.id } })).toMatchObject({
      code: 26004,
      fields: [{ field: 'user_id' }],
    })
    expect(await refused(app, splitProviders.bind, { token: keeper.token, params: { id }, body: { user_id: payer.id } })).toMatchObject({ code: 98208 })
    const contract = await signed(id, '2026-01')
    await sql`update market_providers set status = 'disabled' where id = ${id}`.execute(app.platform.db)
    expect(await refused(app, splitRuns.create, { token: keeper.token, body: { contract_id: contract, period: '2026-01' } })).toMatchObject({ code: 26018 })
    await call(app, splitProviders.unbind, { token: keeper.token, params: { id, user_id: person.id } })
    expect((await call(app, splitProviders.list, { token: person.token })).total).toBe(0)
  })
})
