import { randomUUID } from 'node:crypto'
import { allCalls } from '@zhisuan/contract/calls'
import { policyLanguage } from '@zhisuan/contract/policy/document'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { testApp, type TestApp } from './testing/app.ts'
import { refused, send } from './testing/call.ts'
import { makeOrganisation, someone, type Person, type SignedIn } from './testing/people.ts'

/** What tenants can make, and say of whose it shall be. */
const creating = allCalls.filter(
  ({ id, body, access }) =>
    id.endsWith('.create') &&
    body instanceof z.ZodObject &&
    'bp_id' in body.shape &&
    access !== 'public' &&
    (access === 'all' || access.includes('TENANT_ADMIN')),
)

/** A body of each that is right but for that. */
const bodies: Readonly<Record<string, () => Readonly<Record<string, unknown>>>> = {
  'ums.user.create': () => ({ username: `u-${randomUUID()}` }),
  'ums.invitation.create': () => ({}),
  'ums.identityProvider.create': () => ({ name: `p-${randomUUID()}`, issuer: 'https://login.example.com', client_id: 'zhisuan' }),
  'bill.budget.create': () => ({ name: `b-${randomUUID()}`, amount: '100' }),
  'iam.policy.create': () => ({
    name: `p-${randomUUID()}`,
    document: { Version: policyLanguage, Statement: [{ Effect: 'Allow', Action: 'nextstack.vm.list', Resource: '*' }] },
  }),
  'iam.role.create': () => ({ name: `r-${randomUUID()}`, base: 'TENANT' }),
  'iam.project.create': () => ({ name: `p-${randomUUID()}`, key: `k${randomUUID().slice(0, 8)}` }),
  'iam.service.create': () => ({ id: `s${randomUUID().slice(0, 8)}`, name: 's', actions: [{ name: 'thing.read', level: 'read' }] }),
}

describe('whose a new thing shall be', () => {
  let app: TestApp
  let boss: Person & SignedIn
  beforeAll(async () => {
    app = await testApp()
    boss = await someone(app)
  })
  afterAll(() => app.close())

  it('is asked by these calls', () => {
    expect(creating.map(({ id }) => id).sort()).toEqual(Object.keys(bodies).sort())
  })

  it.each(creating.map((call) => [call.id, call] as const))('%s refuses another’s organisation, as one that is not there', async (id, call) => {
    const body = bodies[id]?.()
    for (const bp_id of [await makeOrganisation(app), randomUUID()]) {
      expect(await refused(app, call, { token: boss.token, body: { ...body, bp_id } })).toMatchObject({ status: 404, fields: [{ field: 'bp_id' }] })
    }
    const made = await send(app, call, { token: boss.token, body: { ...body, bp_id: boss.bp_id } })
    expect(made.status, JSON.stringify(made.body)).toBe(call.status)
  })
})
