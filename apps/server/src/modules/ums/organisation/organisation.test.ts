import { randomUUID } from 'node:crypto'
import { organisations } from '@zhisuan/contract/ums/user'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused } from '../../../testing/call.ts'
import { makeOrganisation, makeUser, someone } from '../../../testing/people.ts'

let app: TestApp
beforeAll(async () => {
  app = await testApp()
})
afterAll(() => app.close())

describe('the list of organisations', () => {
  it('shows a tenant their own, with how many are in it', async () => {
    const tenant = await someone(app)
    await makeUser(app, { kind: 4, organisation: tenant.bp_id })
    const gone = await makeUser(app, { kind: 4, organisation: tenant.bp_id })
    await app.platform.db.updateTable('users').set({ deleted_at: new Date(), name: null }).where('id', '=', gone.id).execute()
    await makeOrganisation(app)
    const list = await call(app, organisations.list, { token: tenant.token, query: {} })
    expect(list.total).toBe(1)
    expect(list.items).toMatchObject([{ id: tenant.bp_id, kind: 'company', status: 'active', user_count: 2 }])
  })

  it('shows one without an organisation nothing', async () => {
    const nobody = await someone(app, { kind: 4, organisation: null })
    expect(await call(app, organisations.list, { token: nobody.token, query: {} })).toEqual({ total: 0, items: [] })
  })

  it('shows administrators all, by name, state and page', async () => {
    const admin = await someone(app, { kind: 0 })
    const mark = randomUUID()
    for (const n of [1, 2, 3]) await makeOrganisation(app, { name: `list-${mark}-${n}`, status: n === 2 ? 'frozen' : 'active' })
    const names = async (query: Parameters<typeof call<typeof organisations.list>>[2]['query']) =>
      (await call(app, organisations.list, { token: admin.token, query: { keyword: mark, sort: 'name', ...query } })).items.map(({ name }) => name.slice(-1))
    expect(await names({})).toEqual(['1', '2', '3'])
    expect(await names({ sort: '-name' })).toEqual(['3', '2', '1'])
    expect(await names({ status: 'frozen' })).toEqual(['2'])
    expect(await names({ page_size: 2, page_num: 2 })).toEqual(['3'])
    expect(await names({ keyword: '_' })).toEqual([])
    expect(await refused(app, organisations.list, { token: admin.token, query: { page_size: 0 } })).toMatchObject({
      status: 400,
      code: 90001,
      fields: [{ field: 'page_size' }],
    })
  })
})
