import { randomUUID } from 'node:crypto'
import { accounts } from '@zhisuan/contract/bill/account'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused } from '../../../testing/call.ts'
import { someone } from '../../../testing/people.ts'

let app: TestApp
beforeAll(async () => {
  app = await testApp()
})
afterAll(() => app.close())

describe('bill.account.get', () => {
  it('answers a tenant with the exact balance of his organisation', async () => {
    const tenant = await someone(app, { kind: 3 })
    const id = tenant.bp_id ?? ''
    expect(await call(app, accounts.get, { params: { id }, token: tenant.token })).toEqual({ id, balance: '0.00' })
  })

  it('does not know another organisation', async () => {
    const [one, other] = [await someone(app), await someone(app)]
    expect(await refused(app, accounts.get, { params: { id: other.bp_id ?? '' }, token: one.token })).toMatchObject({ status: 404, code: 90006 })
    expect(await refused(app, accounts.get, { params: { id: randomUUID() }, token: one.token })).toMatchObject({ status: 404, code: 90006 })
  })
})
