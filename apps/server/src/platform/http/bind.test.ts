import { configs } from '@zhisuan/contract/sys/sys'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testApp, type TestApp } from '../../testing/app.ts'
import { someone } from '../../testing/people.ts'

let app: TestApp
let headers: Record<string, string>
beforeAll(async () => {
  app = await testApp()
  headers = { authorization: `Bearer ${(await someone(app, { kind: 1 })).token}`, 'content-type': 'application/json' }
})
afterAll(() => app.close())

describe('a request that says JSON', () => {
  it('and sends nothing has no body', async () => {
    const answer = await app.http.inject({ method: 'DELETE', url: `${configs.reset.path}?key=title`, headers })
    expect([answer.statusCode, answer.body]).toEqual([204, ''])
  })

  it('and sends nothing where something is wanted is told which fields', async () => {
    const answer = await app.http.inject({ method: 'POST', url: configs.set.path, headers })
    expect(answer.statusCode).toBe(400)
    expect(answer.json()).toMatchObject({ code: 90001, fields: [{ field: 'key' }, { field: 'value' }] })
  })

  it.each(['{', '{"__proto__": {}}', 'null x'])('and sends %s is refused', async (payload) => {
    const answer = await app.http.inject({ method: 'POST', url: configs.set.path, headers, payload })
    expect([answer.statusCode, answer.json<{ code: number }>().code]).toEqual([400, 90002])
  })
})
