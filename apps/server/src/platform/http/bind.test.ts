import { changes } from '@zhisuan/contract/change'
import { configs } from '@zhisuan/contract/sys/sys'
import { auth } from '@zhisuan/contract/ums/auth'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testApp, type TestApp } from '../../testing/app.ts'
import { call, send } from '../../testing/call.ts'
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

  it.each([
    ['a table of more keys than any call takes', `{${Array.from({ length: 1_001 }, (_, index) => `"k${index}":1`).join()}}`, 90028],
    ['more values than any call takes', `[${'1,'.repeat(100_001)}1]`, 90028],
    ['as many keys as there may be, each a colon', `{${Array.from({ length: 1_000 }, (_, index) => `"k:{,${index}":":"`).join()}}`, 90001],
    ['many tables of few keys', `[${Array.from({ length: 2_000 }, () => '{"a":1,"b":[{"c":1}]}').join()}]`, 90001],
  ])('and sends %s is answered so', async (_, payload, code) => {
    const answer = await app.http.inject({ method: 'POST', url: configs.set.path, headers, payload })
    expect(answer.json()).toMatchObject({ code })
  })
})

it('a token is told by its scheme in any case, as HTTP has it', async () => {
  const { token } = await someone(app, { kind: 1 })
  const ask = async (authorization: string) => (await app.http.inject({ method: 'GET', url: configs.list.path, headers: { authorization } })).statusCode
  expect(await Promise.all(['Bearer', 'bearer', 'BEARER', 'bearer  '].map((scheme) => ask(`${scheme} ${token}`)))).toEqual([200, 200, 200, 200])
  expect(await Promise.all(['Basic', 'bearer,', ''].map((scheme) => ask(`${scheme} ${token}`)))).toEqual([401, 401, 401])
})

it('a question that is kept open ends with the session that asked it', async () => {
  const person = await someone(app)
  const { cursor } = await call(app, changes.wait, { token: person.token })
  const asked = send(app, changes.wait, { token: person.token, query: { after: cursor } })
  const other = await someone(app)
  const { cursor: others } = await call(app, changes.wait, { token: other.token })
  const stays = send(app, changes.wait, { token: other.token, query: { after: others } })
  await expect.poll(() => app.platform.openStreams.sessions().size).toBe(2)
  expect((await send(app, auth.logout, { token: person.token })).status).toBe(204)
  expect(await asked).toMatchObject({ status: 401, body: { code: 90008 } })
  expect(app.platform.openStreams.sessions().size).toBe(1)
  await send(app, auth.logout, { token: other.token })
  await stays
})
