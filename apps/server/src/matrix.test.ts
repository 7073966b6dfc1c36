import { allCalls } from '@zhisuan/contract/calls'
import type { Call } from '@zhisuan/contract/define'
import { mayAccess, roles, type Role } from '@zhisuan/contract/roles'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testApp, type TestApp } from './testing/app.ts'
import { send } from './testing/call.ts'
import { makeUser, signIn } from './testing/people.ts'

/** What refuses somebody for who he is, rather than for what he asks. */
const denied = new Set([90007, 90008, 3000])

const params = (call: Call): Record<string, string> =>
  Object.fromEntries(
    [...call.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => [
      name,
      name === 'phone' ? '13912345678' : name === 'email' ? 'somebody@example.com' : '018f0000-0000-7000-8000-000000000000',
    ]),
  )
const codeOf = (answer: { body: unknown }): number | null => {
  const { body } = answer
  return typeof body === 'object' && body !== null && 'code' in body && typeof body.code === 'number' ? body.code : null
}

describe('permission matrix: who may make which call, as declared', () => {
  let app: TestApp
  beforeAll(async () => {
    app = await testApp()
  })
  afterAll(() => app.close())

  const ask = (call: Call, token: string | undefined) => send(app, call, { params: params(call), ...(token !== undefined && { token }) })

  it.each(allCalls.map((call) => [call.id, call] as const))('%s without a token', async (_, call) => {
    const code = codeOf(await ask(call, undefined))
    if (call.access === 'public') expect(denied).not.toContain(code)
    else expect(code).toBe(90007)
  })

  it('a made-up token stands for nobody', async () => {
    for (const call of allCalls) {
      if (call.access !== 'public') expect(codeOf(await ask(call, 'a'.repeat(43)))).toBe(90008)
    }
  })

  it('an expired token stands for nobody', async () => {
    const person = await makeUser(app, { kind: 0 })
    const { token } = await signIn(app, person)
    app.clock.advance(16 * 60_000)
    for (const call of allCalls) {
      if (call.access !== 'public') expect(codeOf(await ask(call, token))).toBe(90008)
    }
  })

  it.each(roles)('%s', async (role: Role) => {
    const kind = role === 'ADMIN' ? 1 : 4
    const person = await makeUser(app, { kind, roles: [role] })
    for (const call of allCalls) {
      // Anew each time: some of the calls end the session.
      const { token } = await signIn(app, person).catch(async () => signIn(app, await makeUser(app, { kind, roles: [role] })))
      const code = codeOf(await ask(call, token))
      const may = mayAccess(call.access, { kind, roles: [role] })
      if (may) expect(denied, `${call.id} for ${role}`).not.toContain(code)
      else expect(code, `${call.id} for ${role}`).toBe(3000)
    }
  })
})
