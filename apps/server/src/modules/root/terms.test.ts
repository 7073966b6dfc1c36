import { terms } from '@zhisuan/contract/root/terms'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testApp, type TestApp } from '../../testing/app.ts'
import { refused, send } from '../../testing/call.ts'

let app: TestApp
beforeAll(async () => {
  app = await testApp()
})
afterAll(() => app.close())

describe('the terms of service', () => {
  it('are there for everybody, and for no cache', async () => {
    const answer = await send(app, terms.get, { query: { time: '1700000000000' } })
    expect(answer.status).toBe(200)
    expect(answer.headers['cache-control']).toBe('no-store')
    const text = terms.get.response.parse(answer.body)
    expect(text.sections.length).toBeGreaterThan(3)
    expect(text.sections.every(({ heading, paragraphs }) => heading !== '' && paragraphs.length > 0)).toBe(true)
  })

  it('take a time that could be one', async () => {
    expect((await refused(app, terms.get, { query: { time: 'x'.repeat(33) } })).code).toBe(90001)
  })
})
