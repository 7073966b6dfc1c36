import { randomUUID } from 'node:crypto'
import { changes } from '@zhisuan/contract/change'
import type { PolicyDocument } from '@zhisuan/contract/policy/document'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { jsonb } from '../../../platform/db/jsonb.ts'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call } from '../../../testing/call.ts'
import { someone, type Person, type SignedIn } from '../../../testing/people.ts'
import { allow, deny, isDenied, keeping, policyOf, someName } from '../../../testing/policies.ts'
import { liveUpdatesMigrations, withLiveUpdates } from './live-updates.migration.ts'

let app: TestApp
let admin: Person & SignedIn
let person: Person & SignedIn
beforeAll(async () => {
  app = await testApp()
  admin = await someone(app, { kind: 1 })
  person = await someone(app)
})
afterAll(() => app.close())

describe('who may wait for changes', () => {
  it('is whoever works with containers, also where a policy denies all of nextStack', async () => {
    const kept = keeping(app)
    await kept.give(admin, await kept.makePolicy(admin, [deny('nextstack.*')]), { user_id: person.id })
    expect((await call(app, changes.wait, { token: person.token })).kinds).toContain('cis.container')
    await kept.give(admin, await kept.makePolicy(admin, [deny('sys.change.wait')]), { user_id: person.id })
    expect(await isDenied(app, person, changes.wait)).toBe(true)
  })
})

describe('a policy from when waiting for changes was a call of nextStack', () => {
  it('names the call as it is called now', () => {
    expect(withLiveUpdates(policyOf(deny(['nextstack.change.wait', 'nextstack.vm.*'])))).toEqual(policyOf(deny(['sys.change.wait', 'nextstack.vm.*'])))
    expect(withLiveUpdates(policyOf(allow('nextstack.change.*', { Resource: 'zrn:nextstack:${zs:OrganisationId}:change/*' })))).toEqual(
      policyOf(allow('sys.change.*', { Resource: 'zrn:sys:${zs:OrganisationId}:change/*' })),
    )
    expect(withLiveUpdates(policyOf(allow('nextstack.changes.list')))).toEqual(policyOf(allow('nextstack.changes.list')))
  })
  it('goes on allowing it where it allowed all of nextStack, under the same conditions', () => {
    const Condition = { IpAddress: { 'zs:SourceIp': '192.0.2.0/24' } }
    expect(withLiveUpdates(policyOf(allow('nextstack.*', { Resource: 'zrn:nextstack:*', Condition })))).toEqual(
      policyOf(allow('nextstack.*', { Resource: 'zrn:nextstack:*', Condition }), allow('sys.change.wait', { Condition })),
    )
    for (const same of [policyOf(allow('*')), policyOf(allow('nextstack.vm.*')), policyOf(deny('nextstack.*'))]) expect(withLiveUpdates(same)).toEqual(same)
  })
  it('is carried over in the database, also where it bounds an access key', async () => {
    const { db } = app.platform
    const { id } = await keeping(app).makePolicy(admin, [allow('nextstack.vm.*')])
    const old: PolicyDocument = policyOf(allow('nextstack.change.wait'))
    await db
      .updateTable('policy_versions')
      .set({ document: jsonb(old) as never })
      .where('policy_id', '=', id)
      .execute()
    const key = randomUUID()
    await db
      .insertInto('access_keys')
      .values({ id: key, user_id: person.id, name: someName(), scheme: 'bearer', status: 'active', networks: [], document: jsonb(old), created_at: new Date() })
      .execute()
    for (const migrate of Object.values(liveUpdatesMigrations)) await db.transaction().execute(migrate)
    const now = policyOf(allow('sys.change.wait'))
    expect(await db.selectFrom('policy_versions').select('document').where('policy_id', '=', id).executeTakeFirst()).toEqual({ document: now })
    expect(await db.selectFrom('access_keys').select('document').where('id', '=', key).executeTakeFirst()).toEqual({ document: now })
  })
})
