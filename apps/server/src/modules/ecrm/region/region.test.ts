import { randomUUID } from 'node:crypto'
import { edges } from '@zhisuan/contract/ecrm/edge'
import { lookups, regions, sites } from '@zhisuan/contract/ecrm/region'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused } from '../../../testing/call.ts'
import { someone, type Person, type SignedIn } from '../../../testing/people.ts'
import { register } from '../testing.ts'

let app: TestApp
let admin: Person & SignedIn
let owner: Person & SignedIn
let stranger: Person & SignedIn

beforeAll(async () => {
  app = await testApp()
  admin = await someone(app, { kind: 1 })
  owner = await someone(app)
  stranger = await someone(app)
})
afterAll(() => app.close())

const region = (wish: object = {}) => call(app, regions.create, { token: admin.token, body: { name: `r-${randomUUID()}`, ...wish } })
const site = (region_id: string, wish: object = {}) => call(app, sites.create, { token: admin.token, body: { name: `s-${randomUUID()}`, region_id, ...wish } })

describe('regions', () => {
  it('are made, changed, listed and deleted', async () => {
    const made = await region({ description: '北方' })
    expect(made).toMatchObject({ nation: 'CN', nation_name: '中国', site_count: 0, edge_count: 0, description: '北方' })
    const params = { id: made.id }
    const name = `r-${randomUUID()}`
    expect(await call(app, regions.update, { token: admin.token, params, body: { name, nation: 'SG' } })).toMatchObject({
      name,
      nation: 'SG',
      nation_name: '新加坡',
      description: '',
    })
    expect(await call(app, regions.list, { token: owner.token, query: { keyword: name } })).toMatchObject({ total: 1, items: [{ id: made.id }] })
    expect(await call(app, regions.list, { token: owner.token, query: { keyword: name, nation: 'CN' } })).toMatchObject({ total: 0 })
    await call(app, regions.delete, { token: admin.token, params })
    expect(await refused(app, regions.delete, { token: admin.token, params })).toMatchObject({ status: 404 })
    expect(await refused(app, regions.update, { token: admin.token, params, body: { name } })).toMatchObject({ status: 404 })
  })

  it('are refused with a name that is taken, a nation that is none, and by who may not', async () => {
    const { name } = await region()
    const refuse = (body: object, token = admin.token) => refused(app, regions.create, { token, body })
    expect(await refuse({ name })).toMatchObject({ code: 95007, fields: [{ field: 'name' }] })
    expect(await refuse({ name: 'x', nation: 'XX' })).toMatchObject({ code: 90001, fields: [{ field: 'nation' }] })
    expect(await refuse({ name: 'x' }, owner.token)).toMatchObject({ code: 3000 })
  })

  it('stay while sites are in them', async () => {
    const made = await region()
    await site(made.id, { divisions: ['110000'] })
    expect(await refused(app, regions.delete, { token: admin.token, params: { id: made.id } })).toMatchObject({
      code: 95008,
      message: expect.stringContaining('1个站点'),
    })
    expect(await refused(app, regions.update, { token: admin.token, params: { id: made.id }, body: { name: made.name, nation: 'SG' } })).toMatchObject({
      code: 95011,
    })
  })
})

describe('sites', () => {
  it('lie in a region and its divisions', async () => {
    const { id, name } = await region()
    const made = await site(id, { divisions: ['440000', '440300', '440305'], address: '科技园', longitude: 113.9, latitude: 22.5 })
    expect(made).toMatchObject({
      region: { id, name },
      divisions: [
        { code: '440000', name: '广东省' },
        { code: '440300', name: '深圳市' },
        { code: '440305', name: '南山区' },
      ],
      longitude: 113.9,
      edge_count: 0,
      gateway_count: 0,
    })
    expect(await call(app, sites.update, { token: admin.token, params: { id: made.id }, body: { name: made.name, region_id: id } })).toMatchObject({
      divisions: [],
      address: '',
      longitude: null,
    })
    expect(await call(app, sites.list, { token: owner.token, query: { region_id: id } })).toMatchObject({ total: 1 })
  })

  it('are refused where the place is none', async () => {
    const { id } = await region()
    const abroad = await region({ nation: 'SG' })
    const refuse = (body: object) => refused(app, sites.create, { token: admin.token, body: { name: `s-${randomUUID()}`, region_id: id, ...body } })
    expect(await refuse({ region_id: randomUUID() })).toMatchObject({ code: 95026 })
    expect(await refuse({ divisions: ['440000', '110101'] })).toMatchObject({ code: 95011, fields: [{ field: 'divisions' }] })
    expect(await refuse({ divisions: ['440300'] })).toMatchObject({ code: 95011 })
    expect(await refuse({ divisions: ['440000'], region_id: abroad.id })).toMatchObject({ code: 95011 })
    expect(await refuse({ longitude: 1 })).toMatchObject({ code: 90001, fields: [{ field: 'latitude' }] })
    const { name } = await site(id)
    expect(await refuse({ name })).toMatchObject({ code: 95009 })
  })

  it('stay while nodes are in them, and count of these what one may see', async () => {
    const { id } = await region()
    const { id: siteId } = await site(id)
    const { edge } = await register(app, owner.token, { site_id: siteId })
    expect(edge).toMatchObject({ site: { id: siteId }, region: { id } })
    const counts = async (token: string) => (await call(app, sites.list, { token, query: { region_id: id } })).items.map(({ edge_count }) => edge_count)
    expect([await counts(owner.token), await counts(stranger.token), await counts(admin.token)]).toEqual([[1], [0], [1]])
    expect(await call(app, edges.list, { token: owner.token, query: { region_id: id } })).toMatchObject({ total: 1 })
    expect(await refused(app, sites.delete, { token: admin.token, params: { id: siteId } })).toMatchObject({ code: 95010 })
    await call(app, edges.delete, { token: owner.token, params: { id: edge.id } })
    await call(app, sites.delete, { token: admin.token, params: { id: siteId } })
    expect(await refused(app, sites.delete, { token: admin.token, params: { id: siteId } })).toMatchObject({ status: 404 })
  })
})

describe('looking up', () => {
  it('nations: those of ISO 3166-1, this one first', async () => {
    const { items } = await call(app, lookups.nations, { token: owner.token })
    expect(items).toHaveLength(249)
    expect(items[0]).toEqual({ code: 'CN', name: '中国' })
    expect(items.every(({ name }) => /\p{Script=Han}/u.test(name))).toBe(true)
  })

  it('divisions: provinces, and what is below one', async () => {
    const below = async (b: string, a = 'CN') => (await call(app, lookups.divisions, { token: owner.token, params: { a, b } })).items
    const provinces = await below('0')
    expect(provinces).toHaveLength(34)
    expect(provinces[0]).toEqual({ code: '110000', name: '北京市', leaf: false })
    expect(await below('440300')).toContainEqual({ code: '440305', name: '南山区', leaf: true })
    expect(await below('440305')).toEqual([])
    expect(await below('0', 'SG')).toEqual([])
    expect(await refused(app, lookups.divisions, { token: owner.token, params: { a: 'CN', b: '999999' } })).toMatchObject({ status: 404 })
  })

  it('labels and taints that are in use in the own organisation', async () => {
    const key = `k${randomUUID().slice(0, 8)}`
    await register(app, owner.token, { labels: [{ key, value: 'A' }], taints: [{ key, value: '', effect: 'NoSchedule' }] })
    const ask = async (call_: typeof lookups.labelInputs | typeof lookups.taintInputs, x: string, token = owner.token) =>
      (await call(app, call_, { token, params: { x } })).items
    expect(await ask(lookups.labelInputs, key.toUpperCase())).toEqual([`${key}=A`])
    expect(await ask(lookups.taintInputs, key.slice(0, 4))).toContain(`${key}=:NoSchedule`)
    expect(await ask(lookups.labelInputs, key, stranger.token)).toEqual([])
    expect(await ask(lookups.labelInputs, '%')).toEqual([])
  })

  it('names that are free', async () => {
    const { name } = await region()
    const { edge } = await register(app, owner.token)
    const ask = async (kind: 'ecrm.region' | 'ecrm.edge' | 'ecrm.site', text: string, token = owner.token) =>
      (await call(app, lookups.uniqueness, { token, body: { kind, name: text } })).unique
    expect(await ask('ecrm.region', name)).toBe(false)
    expect(await ask('ecrm.site', name)).toBe(true)
    expect(await ask('ecrm.edge', edge.name)).toBe(false)
    expect(await ask('ecrm.edge', edge.name, stranger.token)).toBe(true)
  })
})
