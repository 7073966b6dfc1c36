import type { Call } from '@zhisuan/contract/define'
import { errorByCode } from '@zhisuan/contract/errors'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { someIp, testApp, type TestApp } from './testing/app.ts'
import { makeUser, signIn, type Person } from './testing/people.ts'

/** Everything that is not what a call expects. */
const nonsense = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom(null, [], {}, '', 0, -1, 1e308, '\u0000', '𝒳', 'undefined', "'; drop table vms; --", '../../etc/passwd', '<script>'),
)

/** Each of these calls with what it does not expect. */
export function malformedInput(calls: readonly Call[]): void {
  let app: TestApp
  let person: Person
  beforeAll(async () => {
    app = await testApp()
    person = await makeUser(app, { kind: 0 })
  })
  afterAll(() => app.close())

  it.each(calls.map((call) => [call.id, call] as const))('%s answers with a refusal of the catalogue, never a failure', async (_, call) => {
    const { token } = await signIn(app, person)
    const field = fc.constantFrom(
      'id',
      'name',
      'page_num',
      'page_size',
      'sort',
      'keyword',
      'password',
      'cloud_id',
      'connection',
      'labels',
      'phone',
      'code',
      'count',
      'x',
    )
    const request = fc.record({
      part: fc.string({ maxLength: 40 }),
      query: fc.dictionary(field, fc.string({ maxLength: 40 }), { maxKeys: 4 }),
      body: fc.oneof(
        nonsense.map((value) => JSON.stringify(value) ?? ''),
        fc.dictionary(field, nonsense, { maxKeys: 6 }).map((value) => JSON.stringify(value)),
        fc.constant('{"a":'),
        fc.string(),
      ),
      type: fc.constantFrom('application/json', 'application/json', 'application/json', 'text/plain', 'multipart/form-data', ''),
    })
    await fc.assert(
      fc.asyncProperty(request, async ({ part, query, body, type }) => {
        const path = call.path.replace(/\{\w+\}/g, () => encodeURIComponent(part))
        const hasBody = call.method !== 'GET'
        const response = await app.http.inject({
          method: call.method,
          url: `${path}?${new URLSearchParams(query)}`,
          remoteAddress: someIp(),
          headers: { authorization: `Bearer ${token}`, ...(hasBody && type !== '' && { 'content-type': type }) },
          ...(hasBody && { payload: body }),
        })
        expect(response.statusCode, `${response.body} for ${body}`).toBeLessThan(500)
        expect(response.body).not.toMatch(/\bat .+\(.+:\d+:\d+\)|node_modules|\.ts:\d+/)
        if (response.statusCode >= 400) {
          const problem = response.json<{ code: number; message: string; request_id: string }>()
          expect(errorByCode.has(problem.code)).toBe(true)
          expect(problem.message).not.toBe('')
          expect(problem.request_id).not.toBe('')
        }
      }),
      { numRuns: 25 },
    )
  })

  /** As deep as files, documents and tables may be, also where they come as a text; and what contains itself. */
  const nested = (times: number): string => `${'['.repeat(times)}1${']'.repeat(times)}`
  const endless = [nested(40_000), JSON.stringify(nested(4_000)), JSON.stringify('a: &a [*a]')]
  it('that is nested without end is refused by all, too', async () => {
    for (const call of calls) {
      if (!(call.body instanceof z.ZodObject)) continue
      // Some of them end it.
      const { token } = await signIn(app, person)
      const fields = Object.keys(call.body.shape)
      for (const value of endless) {
        const response = await app.http.inject({
          method: call.method,
          url: call.path.replace(/\{\w+\}/g, 'x'),
          remoteAddress: someIp(),
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          payload: fields.length === 0 ? value : `{${fields.map((field) => `${JSON.stringify(field)}:${value}`).join()}}`,
        })
        expect(response.statusCode, `${call.id}: ${response.body}`).toBeLessThan(500)
      }
    }
  })
}
