import { decisions } from '@zhisuan/contract/iam/decision'
import { edges } from '@zhisuan/contract/ecrm/edge'
import { vms } from '@zhisuan/contract/nextstack/vm'
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testApp, type TestApp } from '../../testing/app.ts'
import { call, refused } from '../../testing/call.ts'
import { signIn, someone, type Person, type SignedIn } from '../../testing/people.ts'
import { allow, deny, isDenied, keeping } from '../../testing/policies.ts'

let app: TestApp
let admin: Person & SignedIn
beforeAll(async () => {
  // One proxy of ours stands before the server.
  app = await testApp({ TRUST_PROXY: '1' })
  admin = await someone(app, { kind: 1 })
})
afterAll(() => app.close())

const somewhere = { params: { id: randomUUID() }, body: {} }

describe('conditions of a real call', () => {
  it('a second factor, and how long ago it was proved', async () => {
    const member = await someone(app, { kind: 4, roles: ['TENANT'], organisation: (await someone(app)).bp_id })
    await keeping(app).give(
      admin,
      await keeping(app).makePolicy(admin, [
        deny('nextstack.vm.stop', { Condition: { NumericGreaterThan: { 'zs:MfaAge': 900 } } }),
        deny('nextstack.vm.stop', { Condition: { BoolIfExists: { 'zs:MfaPresent': 'false' } } }),
      ]),
      { user_id: member.id },
    )
    const provedAgo = async (seconds: number | null): Promise<boolean> => {
      const session = { ...member, ...(await signIn(app, member)) }
      if (seconds !== null)
        await app.platform.db
          .updateTable('sessions')
          .set({ second_factor_at: new Date(Date.now() - seconds * 1000) })
          .where('user_id', '=', member.id)
          .execute()
      return isDenied(app, session, vms.stop, somewhere)
    }
    expect([await provedAgo(null), await provedAgo(5), await provedAgo(1000)]).toEqual([true, false, true])
  })

  it('an address, as the trusted proxy tells it and nobody else', async () => {
    const member = await someone(app)
    await keeping(app).give(
      admin,
      await keeping(app).makePolicy(admin, [deny('nextstack.vm.list', { Condition: { NotIpAddress: { 'zs:SourceIp': '192.0.2.0/24' } } })]),
      { user_id: member.id },
    )
    const from = async (forwarded: string): Promise<number> =>
      (
        await app.http.inject({
          url: vms.list.path,
          remoteAddress: '10.0.0.1',
          headers: { authorization: `Bearer ${member.token}`, 'x-forwarded-for': forwarded },
        })
      ).statusCode
    expect([await from('192.0.2.7'), await from('198.51.100.7')]).toEqual([200, 403])
    // What the client itself wrote stands before what the proxy saw.
    expect(await from('192.0.2.7, 198.51.100.7')).toBe(403)
    expect(await isDenied(app, member, vms.list, { ip: '192.0.2.7' })).toBe(false)
  })

  it('the time', async () => {
    const member = await someone(app)
    const hour = 3_600_000
    const at = (ms: number): string => new Date(Date.now() + ms).toISOString()
    const denying = async (from: number, to: number) =>
      keeping(app).makePolicy(admin, [
        deny('nextstack.vm.list', { Condition: { DateGreaterThan: { 'zs:CurrentTime': at(from) }, DateLessThan: { 'zs:CurrentTime': at(to) } } }),
      ])
    await keeping(app).give(admin, await denying(hour, 2 * hour), { user_id: member.id })
    expect(await isDenied(app, member, vms.list)).toBe(false)
    await keeping(app).give(admin, await denying(-hour, hour), { user_id: member.id })
    expect(await isDenied(app, member, vms.list)).toBe(true)
  })

  it('when and how one signed in', async () => {
    const member = await someone(app)
    const old = await keeping(app).makePolicy(admin, [
      deny('nextstack.vm.list', { Condition: { DateGreaterThan: { 'zs:TokenIssueTime': new Date(Date.now() + 60_000).toISOString() } } }),
      allow('nextstack.vm.list'),
      deny('nextstack.vm.get', { Condition: { StringEquals: { 'zs:AuthenticatedBy': 'password' } } }),
    ])
    await keeping(app).give(admin, old, { user_id: member.id })
    expect([await isDenied(app, member, vms.list), await isDenied(app, member, vms.get, somewhere)]).toEqual([false, true])
  })
})

describe('tags', () => {
  it('of a thing, and those that a request would give it', async () => {
    const member = await someone(app)
    const add = (name: string, env: string) => call(app, edges.create, { token: member.token, body: { name, labels: [{ key: 'env', value: env }] } })
    const [{ edge: test }, { edge: production }] = [await add('试验', 'test'), await add('生产', 'production')]
    const document = [
      deny(['ecrm.edge.update', 'ecrm.edge.unbind'], { Condition: { StringEquals: { 'zs:ResourceTag/env': 'production' } } }),
      deny(['ecrm.edge.create', 'ecrm.edge.mark'], { Condition: { StringEquals: { 'zs:RequestTag/env': 'production' } } }),
    ]
    await keeping(app).give(admin, await keeping(app).makePolicy(admin, document), { user_id: member.id })
    const rename = ({ id }: { id: string }) => isDenied(app, member, edges.update, { params: { id }, body: { name: '改名' } })
    expect([await rename(test), await rename(production)]).toEqual([false, true])
    // In a body, each of them counts.
    const unbind = (...ids: string[]) => isDenied(app, member, edges.unbind, { body: { ids } })
    expect([await unbind(test.id), await unbind(test.id, production.id)]).toEqual([false, true])
    const mark = (body: object) => isDenied(app, member, edges.mark, { params: { id: test.id }, body })
    expect([
      await mark({ labels: [{ key: 'env', value: 'production' }] }),
      await mark({ labels: [{ key: 'env', value: 'staging' }] }),
      await mark({ taints: [] }),
    ]).toEqual([true, false, false])
    expect(await isDenied(app, member, edges.create, { body: { name: '另一台', labels: [{ key: 'env', value: 'production' }] } })).toBe(true)
    // The next request sees what the last one made of it.
    await call(app, edges.mark, { token: admin.token, params: { id: test.id }, body: { labels: [{ key: 'env', value: 'production' }] } })
    expect(await rename(test)).toBe(true)
    // What is nobody's, or another's, has no tags that would tell of it.
    const stranger = await someone(app)
    await keeping(app).give(admin, await keeping(app).makePolicy(admin, document), { user_id: stranger.id })
    for (const id of [production.id, randomUUID(), 'none'])
      expect(await refused(app, edges.update, { token: stranger.token, params: { id }, body: { name: '改名' } })).toMatchObject({ status: 404 })
  })
})

describe('what one is refused whatever one asks', () => {
  const own = async (who: SignedIn) => new Map((await call(app, decisions.own, { token: who.token })).items.map((one) => [one.action, one]))
  const member = async () => someone(app, { kind: 4, roles: ['TENANT'], organisation: (await someone(app)).bp_id })

  it('is told with the statement, before and when it is refused', async () => {
    const person = await member()
    const policy = await keeping(app).makePolicy(admin, [
      allow('nextstack.vm.list'),
      deny('nextstack.vm.create', { Sid: 'NoNew' }),
      deny('nextstack.vm.delete'),
    ])
    await keeping(app).give(admin, policy, { user_id: person.id })
    const told = await own(person)
    const by = { policy_id: policy.id, index: 1, sid: 'NoNew' }
    expect(told.get(vms.create.id)).toEqual({ action: vms.create.id, outcome: 'explicitDeny', by: { ...by, policy_name: policy.name } })
    expect(told.get(vms.delete.id)).toMatchObject({ outcome: 'explicitDeny' })
    expect(told.has(vms.list.id)).toBe(false)
    expect(await refused(app, vms.create, { token: person.token, body: {} })).toMatchObject({
      code: 3000,
      refused: { action: vms.create.id, outcome: 'explicitDeny', by },
    })
  })

  it('is nothing that hangs on circumstances, or on what it is about', async () => {
    const person = await member()
    const here = `zrn:nextstack:${person.bp_id}:vm`
    const policy = await keeping(app).makePolicy(admin, [
      deny('nextstack.vm.create', { Condition: { Bool: { 'zs:MfaPresent': 'false' } } }),
      deny('nextstack.vm.delete', { Resource: `${here}/${randomUUID()}` }),
      deny('nextstack.volume.create', { Resource: `zrn:nextstack:${person.bp_id}:volume/*` }),
    ])
    await keeping(app).give(admin, policy, { user_id: person.id })
    expect([...(await own(person)).keys()]).toEqual(['nextstack.volume.create'])
  })

  it('is what no policy of theirs allows, and what a boundary leaves out', async () => {
    const boss = await someone(app)
    const role = await keeping(app).makeRole(admin)
    await keeping(app).give(admin, await keeping(app).makePolicy(admin, [allow('nextstack.vm.list')]), { role_id: role.id })
    const person = await someone(app, { kind: 4, roles: [], organisation: boss.bp_id })
    await keeping(app).addMember(admin, role, person.id)
    expect((await own(person)).get(vms.create.id)).toEqual({ action: vms.create.id, outcome: 'implicitDeny', by: null })
    expect((await own(person)).has(vms.list.id)).toBe(false)
    await keeping(app).bound(admin, { user_id: boss.id }, await keeping(app).makePolicy(admin, [allow('iam.*')]))
    expect((await own(boss)).get(vms.create.id)).toMatchObject({ outcome: 'outsideBoundary' })
    expect((await own(await someone(app, { kind: 0 }))).size).toBe(0)
  })
})
