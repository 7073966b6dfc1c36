import { allCalls } from '@zhisuan/contract/calls'
import { mayAccess } from '@zhisuan/contract/roles'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testApp, type TestApp } from './testing/app.ts'
import { longBodies, slowAnswers, type Schema } from './testing/longest.ts'
import { someone } from './testing/people.ts'

const changing = allCalls.filter(({ method }) => method !== 'GET' && method !== 'DELETE')

describe('whatever a field of a call has', () => {
  let app: TestApp
  const tokens = new Map<number, string>()
  beforeAll(async () => {
    app = await testApp()
  })
  afterAll(() => app.close())

  const tokenOf = async (kind: 0 | 2, anew: boolean): Promise<string> => {
    const token = anew ? undefined : tokens.get(kind)
    if (token !== undefined) return token
    const made = (await someone(app, { kind })).token
    tokens.set(kind, made)
    return made
  }
  /** What several calls take is refused by each of them alike where it is too long. */
  const refusedBefore = new Set<Schema>()

  it.each(changing.map((call) => [call.id, call] as const))('%s keeps nobody else waiting', async (_, call) => {
    const kind = mayAccess(call.access, { kind: 2, roles: ['TENANT_ADMIN'] }) ? 2 : 0
    expect(await slowAnswers(app, call, (anew) => tokenOf(kind, anew), longBodies(call, refusedBefore))).toEqual([])
  })
})
