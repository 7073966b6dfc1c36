import { randomUUID } from 'node:crypto'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import { eipPools, eips } from '@zhisuan/contract/nextstack/eip'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { call, refused, send } from '../../../testing/call.ts'
import { makeOrganisation, someone } from '../../../testing/people.ts'
import { networkStage, type NetworkStage } from '../vpc/testing.ts'

let stage: NetworkStage
beforeAll(async () => {
  stage = await networkStage()
})
afterAll(() => stage.app.close())

const params = (pool: { id: string }, token = stage.admin.token) => ({ token, params: { id: pool.id } })
const body = (wish: object = {}) => ({ cloud_id: stage.cloud_id, name: `pool-${randomUUID()}`, ranges: [stage.outsideRange(4)], ...wish })
const refuse = (wish: object) => refused(stage.app, eipPools.create, { token: stage.admin.token, body: body(wish) })
const update = (pool: { id: string; name: string }, wish: object) => send(stage.app, eipPools.update, { ...params(pool), body: { name: pool.name, ...wish } })

describe('a pool', () => {
  it('is made of ranges, in order, without what is excluded', async () => {
    const { app, admin, cloud_id } = stage
    const made = await call(app, eipPools.create, {
      token: admin.token,
      body: {
        cloud_id,
        name: '电信',
        description: '一号线',
        ranges: [
          { from: '192.0.2.100', to: '192.0.2.109' },
          { from: '192.0.2.10', to: '192.0.2.10' },
        ],
        excluded: ['192.0.2.101', '192.0.2.101', '192.0.2.200'],
      },
    })
    expect(made).toEqual({
      id: expect.any(String),
      cloud_id,
      name: '电信',
      description: '一号线',
      ranges: [
        { from: '192.0.2.10', to: '192.0.2.10' },
        { from: '192.0.2.100', to: '192.0.2.109' },
      ],
      excluded: ['192.0.2.101', '192.0.2.200'],
      public: true,
      organisations: [],
      max_bandwidth_mbps: null,
      limits_bandwidth: true,
      address_count: 10,
      address_used: 0,
      created_at: expect.any(String),
    })
    expect(await call(app, eipPools.get, params(made))).toEqual(made)
  })

  it.each([
    ['ranges', { ranges: [] }],
    ['ranges.0.to', { ranges: [{ from: '192.0.2.9', to: '192.0.2.8' }] }],
    ['ranges.0.from', { ranges: [{ from: '192.0.2', to: '192.0.2.8' }] }],
    ['excluded.0', { excluded: ['x'] }],
    ['organisation_ids', { public: false }],
    ['max_bandwidth_mbps', { max_bandwidth_mbps: 0 }],
    ['name', { name: '' }],
  ])('is refused with a wrong %s', async (field, wish) => {
    expect(await refuse(wish)).toMatchObject({ code: 90001, fields: [{ field }] })
  })

  it('is refused with a taken name or range, an absent organisation or cloud', async () => {
    const { createPool, createVpc } = stage
    const pool = await createPool(10)
    const [range] = pool.ranges
    expect(await refuse({ name: pool.name })).toMatchObject({ status: 400, code: 94140, fields: [{ field: 'name' }] })
    expect(await refuse({ ranges: [stage.outsideRange(2), { from: range?.to ?? '', to: range?.to ?? '' }] })).toMatchObject({
      status: 400,
      code: 94131,
      message: `地址段与地址池“${pool.name}”重叠`,
      fields: [{ field: 'ranges' }],
    })
    expect(
      await refuse({
        name: '自身',
        ranges: [
          { from: '192.0.2.50', to: '192.0.2.60' },
          { from: '192.0.2.60', to: '192.0.2.61' },
        ],
      }),
    ).toMatchObject({ code: 94131, message: expect.stringContaining('自身') })
    const vpc = await createVpc()
    expect(await refuse({ ranges: [{ from: vpc.gateway.replace(/1$/, '250'), to: vpc.gateway.replace(/1$/, '251') }] })).toMatchObject({
      status: 400,
      code: 94142,
      message: expect.stringContaining(`“${vpc.name}”重叠`),
    })
    const nobody = randomUUID()
    expect(await refuse({ public: false, organisation_ids: [nobody] })).toMatchObject({ code: 94167, fields: [{ field: 'organisation_ids' }] })
    expect((await refuse({ cloud_id: randomUUID() })).code).toBe(90006)
    const elsewhere = await stage.addCloud()
    expect(
      (await send(stage.app, eipPools.create, { token: stage.admin.token, body: body({ cloud_id: elsewhere.cloud_id, name: pool.name, ranges: pool.ranges }) }))
        .status,
    ).toBe(201)
    await call(stage.app, clouds.action, { token: stage.admin.token, params: { id: elsewhere.cloud_id }, body: { action: 'maintenance' } })
    expect((await refuse({ cloud_id: elsewhere.cloud_id })).code).toBe(12005)
  })

  it('of ten with overlapping ranges at once is one', async () => {
    const { app, admin } = stage
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        send(app, eipPools.create, { token: admin.token, body: body({ ranges: [{ from: `192.0.2.${220 + index}`, to: '192.0.2.240' }] }) }),
      ),
    )
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(answers.filter(({ status }) => status !== 201).map(({ body }) => (body as { code: number }).code)).toEqual(Array(9).fill(94131))
  })
})

describe('changing a pool', () => {
  it('keeps within it what is given out', async () => {
    const { app, owner, createPool } = stage
    const pool = await createPool(1, { ranges: [{ from: '192.0.2.130', to: '192.0.2.139' }] })
    const { items } = await call(app, eips.allocate, { token: owner.token, body: { pool_id: pool.id, address: '192.0.2.135' } })
    const outside = { status: 400, body: { code: 94132, message: '已分配的地址192.0.2.135不能移出地址池', fields: [{ field: 'ranges' }] } }
    expect(await update(pool, { ranges: [{ from: '192.0.2.130', to: '192.0.2.134' }] })).toMatchObject(outside)
    expect(await update(pool, { ranges: pool.ranges, excluded: ['192.0.2.135'] })).toMatchObject(outside)
    expect(await call(app, eipPools.get, params(pool))).toEqual({ ...pool, address_used: 1 })
    const narrow = await update(pool, { name: '新名', ranges: [{ from: '192.0.2.135', to: '192.0.2.136' }], max_bandwidth_mbps: 10 })
    expect(narrow.body).toMatchObject({ name: '新名', address_count: 2, address_used: 1, max_bandwidth_mbps: 10 })
    expect((await refused(app, eipPools.delete, params(pool))).code).toBe(94133)
    await call(app, eips.release, { token: owner.token, params: { id: items[0]?.id ?? '' } })
    await call(app, eipPools.delete, params(pool))
    expect((await refused(app, eipPools.get, params(pool))).code).toBe(90006)
    expect((await refused(app, eips.allocate, { token: owner.token, body: { pool_id: pool.id } })).code).toBe(90006)
  })

  it('and taking from it at once leave nothing outside', async () => {
    const { app, owner, createPool } = stage
    for (let round = 0; round < 5; round++) {
      const pool = await createPool(2)
      const [{ from, to } = { from: '', to: '' }] = pool.ranges
      const [changed, taken] = await Promise.all([
        update(pool, { ranges: [{ from, to: from }] }),
        send(app, eips.allocate, { token: owner.token, body: { pool_id: pool.id, address: to } }),
      ])
      expect([
        [200, 400],
        [400, 201],
      ]).toContainEqual([changed.status, taken.status])
    }
  })

  it('is refused with what another has', async () => {
    const [one, other] = [await stage.createPool(2), await stage.createPool(2)]
    expect(await update(one, { name: other.name, ranges: one.ranges })).toMatchObject({ status: 400, body: { code: 94140 } })
    expect(await update(one, { ranges: other.ranges })).toMatchObject({ status: 400, body: { code: 94131, message: expect.stringContaining(other.name) } })
    expect((await update({ id: randomUUID(), name: 'x' }, { ranges: one.ranges })).status).toBe(404)
  })
})

describe('who sees what', () => {
  it('tenants see which pools they may take from and how much is free, not which addresses', async () => {
    const { app, owner, stranger, createPool } = stage
    const theirs = await createPool(4, { public: false, organisation_ids: [stranger.bp_id ?? '', await makeOrganisation(app)], description: '机房' })
    const list = (token: string) => call(app, eipPools.list, { token, query: { keyword: theirs.name } })
    expect((await list(owner.token)).total).toBe(0)
    expect(await list(stranger.token)).toEqual({ total: 1, items: [{ ...theirs, description: '', ranges: [], excluded: [], organisations: [] }] })
    expect((await list(stage.admin.token)).items).toEqual([theirs])
    expect(theirs.organisations).toHaveLength(2)
    expect((await list((await someone(app, { kind: 4, organisation: null })).token)).total).toBe(0)
    for (const declared of [eipPools.get, eipPools.delete, eipPools.occupancy])
      expect((await refused(app, declared, params(theirs, stranger.token))).code).toBe(3000)
    await update(theirs, { ranges: theirs.ranges, public: true })
    expect((await list(owner.token)).total).toBe(1)
  })

  it('administrators see every address and who has it, in pages', async () => {
    const { app, owner, createPool, createVpc, addVm, settledEip } = stage
    const pool = await createPool(1, {
      ranges: [
        { from: '192.0.2.150', to: '192.0.2.154' },
        { from: '192.0.2.160', to: '192.0.2.164' },
      ],
      excluded: ['192.0.2.151'],
    })
    const { items } = await call(app, eips.allocate, { token: owner.token, body: { pool_id: pool.id, count: 2 } })
    await call(app, eips.bind, { token: owner.token, params: { id: items[1]?.id ?? '' }, body: { kind: 'vm', target_id: (await addVm(await createVpc())).id } })
    await settledEip(items[1]?.id ?? '')
    const page = (page_num: number, page_size: number) => call(app, eipPools.occupancy, { ...params(pool), query: { page_num, page_size } })
    const bp_name = items[0]?.bp_name
    expect(await page(1, 4)).toEqual({
      total: 10,
      items: [
        { address: '192.0.2.150', state: 'allocated', eip_id: items[0]?.id, bp_name },
        { address: '192.0.2.151', state: 'excluded', eip_id: null, bp_name: null },
        { address: '192.0.2.152', state: 'bound', eip_id: items[1]?.id, bp_name },
        { address: '192.0.2.153', state: 'free', eip_id: null, bp_name: null },
      ],
    })
    expect((await page(2, 4)).items.map(({ address }) => address)).toEqual(['192.0.2.154', '192.0.2.160', '192.0.2.161', '192.0.2.162'])
    expect((await page(3, 4)).items.map(({ address }) => address)).toEqual(['192.0.2.163', '192.0.2.164'])
    expect(await page(9, 4)).toEqual({ total: 10, items: [] })
  })
})
