import { decisions } from '@zhisuan/contract/iam/decision'
import { grants } from '@zhisuan/contract/iam/grant'
import { policies } from '@zhisuan/contract/iam/policy'
import { resourceTypes, services } from '@zhisuan/contract/iam/service'
import { organisations, users } from '@zhisuan/contract/ums/user'
import type { BodyInput } from '@zhisuan/contract/define'
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused, send } from '../../../testing/call.ts'
import { someone, type Person, type SignedIn } from '../../../testing/people.ts'
import { allow, deny, isDenied, keeping, policyOf, someName } from '../../../testing/policies.ts'

type Someone = Person & SignedIn
let app: TestApp
let admin: Someone
beforeAll(async () => {
  app = await testApp()
  admin = await someone(app, { kind: 1 })
})
afterAll(() => app.close())

const by = () => keeping(app)
/** A name that no other service of these tests has. */
const someService = (): string => `erp-${randomBytes(6).toString('hex')}`
const content = {
  name: '进销存',
  actions: [
    { name: 'invoice.approve', level: 'write', description: '批准发票' },
    { name: 'invoice.read', level: 'read' },
    { name: 'file.read', level: 'read' },
  ],
  condition_keys: [{ name: 'Amount', type: 'number', description: '金额' }],
} satisfies Omit<BodyInput<typeof services.create>, 'id'>
const makeService = (keeper: SignedIn, more: Partial<BodyInput<typeof services.create>> = {}) =>
  call(app, services.create, { token: keeper.token, body: { id: someService(), ...content, ...more } })
const company = async () => {
  const boss = await someone(app)
  return { boss, member: await someone(app, { kind: 4, organisation: boss.bp_id }) }
}
const decide = (asker: SignedIn, id: string, body: BodyInput<typeof decisions.decide>) =>
  call(app, decisions.decide, { token: asker.token, params: { id }, body })
const refuseDecide = (asker: SignedIn, id: string, body: object) => refused(app, decisions.decide, { token: asker.token, params: { id }, body })

describe('a service of somebody’s own', () => {
  it('is made with actions, whose kinds of resources come with them, changed, and deleted', async () => {
    const { boss } = await company()
    const made = await makeService(boss, { bp_id: null })
    expect(made).toMatchObject({
      built_in: false,
      name: '进销存',
      bp_id: boss.bp_id,
      condition_keys: [{ key: `${made.id}:Amount`, type: 'number', description: '金额' }],
    })
    expect(made.actions[0]).toEqual({
      id: `${made.id}.invoice.approve`,
      summary: '批准发票',
      level: 'write',
      resource_type: `${made.id}.invoice`,
      method: null,
      path: null,
      roles: expect.any(Array),
      allowed_by: [],
    })
    const kinds = async () => (await call(app, resourceTypes.list, { token: boss.token })).items.filter(({ service }) => service === made.id)
    expect(await kinds()).toMatchObject([
      { type: 'file', pattern: '{id}', built_in: false },
      { type: 'invoice', name: `zrn:${made.id}:{organisation}:invoice/{id}` },
    ])
    const file = { token: boss.token, params: { id: `${made.id}.file` } }
    expect(await call(app, resourceTypes.update, { ...file, body: { pattern: '{bucket}/{id}', description: '附件' } })).toMatchObject({
      name: `zrn:${made.id}:{organisation}:file/{bucket}/{id}`,
      description: '附件',
    })
    expect(await refused(app, resourceTypes.delete, file)).toMatchObject({ code: 91164, message: expect.stringContaining(`${made.id}.file.read`) })
    await call(app, services.update, {
      token: boss.token,
      params: { id: made.id },
      body: { ...content, name: '进销存二', actions: content.actions.slice(0, 2) },
    })
    await call(app, resourceTypes.delete, file)
    expect((await kinds()).map(({ type }) => type)).toEqual(['invoice'])
    expect(await call(app, resourceTypes.create, { token: boss.token, body: { service: made.id, type: 'ledger' } })).toMatchObject({
      id: `${made.id}.ledger`,
      actions: [],
    })
    expect(await refused(app, resourceTypes.create, { token: boss.token, body: { service: made.id, type: 'ledger' } })).toMatchObject({
      code: 91163,
      fields: [{ field: 'type' }],
    })
    await call(app, services.delete, { token: boss.token, params: { id: made.id } })
    expect(await refused(app, services.get, { token: boss.token, params: { id: made.id } })).toMatchObject({ status: 404 })
    expect(await kinds()).toEqual([])
  })

  it('has a name that nobody else’s has, and that none of ours has or will have', async () => {
    const { boss } = await company()
    const made = await makeService(admin)
    for (const id of [made.id, 'nextstack', 'iam', 'ims', 'zs'])
      expect(await refused(app, services.create, { token: boss.token, body: { id, ...content } })).toMatchObject({ code: 91160, fields: [{ field: 'id' }] })
    expect(await refused(app, services.create, { token: boss.token, body: { id: 'Erp', ...content } })).toMatchObject({
      code: 90001,
      fields: [{ field: 'id' }],
    })
    for (const [field, more] of [
      ['actions', { actions: [] }],
      ['actions.0.name', { actions: [{ name: 'approve', level: 'write' }] }],
      ['actions', { actions: [content.actions[0], content.actions[0]] }],
      ['condition_keys.0.name', { condition_keys: [{ name: 'a b', type: 'text' }] }],
    ] as const) {
      expect(
        (await refused(app, services.create, { token: boss.token, body: { id: someService(), ...content, ...more } })).fields?.map((one) => one.field),
      ).toContain(field)
    }
    expect(await refused(app, services.update, { token: admin.token, params: { id: 'nextstack' }, body: content })).toMatchObject({ code: 91162 })
    expect(await refused(app, resourceTypes.delete, { token: admin.token, params: { id: 'nextstack.vm' } })).toMatchObject({ code: 91162 })
  })

  it('of another organisation does not exist; the platform’s is seen by all and kept by its administrators', async () => {
    const [{ boss }, { boss: stranger }] = [await company(), await company()]
    const [own, platforms] = [await makeService(boss), await makeService(admin)]
    for (const [what, input] of [
      [services.get, {}],
      [services.update, { body: content }],
      [services.delete, {}],
    ] as const)
      expect((await send(app, what, { token: stranger.token, params: { id: own.id }, ...input })).status, what.id).toBe(404)
    expect((await send(app, resourceTypes.get, { token: stranger.token, params: { id: `${own.id}.invoice` } })).status).toBe(404)
    expect(await refused(app, resourceTypes.create, { token: stranger.token, body: { service: own.id, type: 'ledger' } })).toMatchObject({ status: 404 })
    expect((await call(app, services.list, { token: stranger.token })).items.map(({ id }) => id)).not.toContain(own.id)
    expect(await call(app, services.get, { token: stranger.token, params: { id: platforms.id } })).toMatchObject({ bp_id: null })
    expect(await isDenied(app, stranger, services.update, { params: { id: platforms.id }, body: content })).toBe(true)
    // Nor can a policy of the other be about it.
    expect(
      await refused(app, policies.create, { token: stranger.token, body: { name: someName(), document: policyOf(allow(`${own.id}.invoice.read`)) } }),
    ).toMatchObject({ code: 91101 })
    await by().makePolicy(stranger, [allow(`${platforms.id}.invoice.read`)])
  })

  it('is named by policies, which keep what they name', async () => {
    const { boss } = await company()
    const made = await makeService(boss)
    const check = async (...statements: Parameters<typeof policyOf>): Promise<string[]> =>
      (await call(app, policies.check, { token: boss.token, body: { document: policyOf(...statements) } })).problems.map(({ message }) => message)
    expect(
      await check(allow(`${made.id}.invoice.*`, { Resource: `zrn:${made.id}:*:invoice/1`, Condition: { NumericLessThan: { [`${made.id}:Amount`]: 1000 } } })),
    ).toEqual([])
    expect(await check(allow(`${made.id}.invoice.pay`))).toEqual(['没有这样的操作'])
    expect(await check(allow('*', { Resource: `zrn:${made.id}:*:bill/1` }))).toEqual(['该服务没有这样的资源类型'])
    expect(await check(allow('*', { Resource: 'zrn:nextstack:*:vmm/1' }))).toEqual(['该服务没有这样的资源类型'])
    expect(await check(allow('*', { Condition: { IpAddress: { [`${made.id}:Amount`]: '10.0.0.0/8' } } }))).toEqual(['该运算符不能比较这个条件键'])
    expect(await check(allow('*', { Condition: { NumericLessThan: { [`${made.id}:Weight`]: 1 } } }))).toEqual(['没有这样的条件键'])

    const [byAction, byKey, byName] = [
      await by().makePolicy(boss, [allow(`${made.id}.invoice.approve`)]),
      await by().makePolicy(boss, [allow('nextstack.vm.list', { Condition: { NumericLessThan: { [`${made.id}:Amount`]: 1 } } })]),
      await by().makePolicy(boss, [allow('*', { Resource: `zrn:${made.id}:*:file/1` })]),
    ]
    const to = { token: boss.token, params: { id: made.id } }
    const deletion = await refused(app, services.delete, to)
    expect(deletion).toMatchObject({ code: 91161 })
    for (const { name } of [byAction, byKey, byName]) expect(deletion.message).toContain(name)
    const without = await refused(app, services.update, { ...to, body: { ...content, actions: content.actions.slice(1) } })
    expect(without.message).toContain(byAction.name)
    expect(without.message).not.toContain(byKey.name)
    expect((await refused(app, services.update, { ...to, body: { ...content, condition_keys: [] } })).message).toContain(byKey.name)
    // What no policy names goes; nothing of a refused change stays.
    expect((await call(app, services.get, to)).actions).toHaveLength(3)
    await call(app, services.update, { ...to, body: { ...content, actions: content.actions.slice(0, 2) } })
    expect((await refused(app, resourceTypes.delete, { token: boss.token, params: { id: `${made.id}.file` } })).message).toContain(byName.name)
    for (const { id } of [byAction, byKey, byName]) await call(app, policies.delete, { token: boss.token, params: { id } })
    await call(app, services.delete, to)
  })

  it('is not deleted while somebody writes a policy about it at the same moment', async () => {
    const { boss } = await company()
    for (let time = 0; time < 5; time++) {
      const made = await makeService(boss)
      const body = { name: someName(), document: policyOf(allow(`${made.id}.invoice.read`)) }
      const [written, deleted] = await Promise.all([
        send(app, policies.create, { token: boss.token, body }),
        send(app, services.delete, { token: boss.token, params: { id: made.id } }),
      ])
      expect([written.status, deleted.status].sort()).toEqual(written.status === 201 ? [201, 400] : [204, 400])
    }
  })
})

describe('a decision for an application', () => {
  it('follows the policies of whoever is asked about: allowed, denied, by resource, condition and boundary', async () => {
    const { boss, member } = await company()
    const { id } = await makeService(boss)
    const may = async (action: string, resource?: string, context?: Record<string, string>) =>
      (
        await decide(boss, id, {
          user_id: member.id,
          action: `${id}.${action}`,
          ...(resource !== undefined && { resource }),
          ...(context !== undefined && { context }),
        })
      ).outcome
    expect(await may('invoice.read')).toBe('implicitDeny')
    await by().give(
      boss,
      await by().makePolicy(boss, [
        allow(`${id}.invoice.read`),
        allow(`${id}.invoice.approve`, {
          Resource: `zrn:${id}:\${zs:OrganisationId}:invoice/7`,
          Condition: { NumericLessThan: { [`${id}:Amount`]: 1000 }, IpAddress: { 'zs:SourceIp': '10.0.0.0/8' } },
        }),
      ]),
      { user_id: member.id },
    )
    expect(await may('invoice.read')).toBe('allowed')
    const near = { [`${id}:Amount`]: '999', 'zs:SourceIp': '10.1.2.3' }
    expect(await may('invoice.approve', '7', near)).toBe('allowed')
    expect(await may('invoice.approve', '8', near)).toBe('implicitDeny')
    expect(await may('invoice.approve', '7', { ...near, [`${id}:Amount`]: '1000' })).toBe('implicitDeny')
    expect(await may('invoice.approve', '7', { ...near, 'zs:SourceIp': '192.0.2.1' })).toBe('implicitDeny')
    expect(await decide(boss, id, { user_id: member.id, action: `${id}.invoice.read`, resource: '7' })).toEqual({
      allowed: true,
      outcome: 'allowed',
      resource: `zrn:${id}:${boss.bp_id ?? ''}:invoice/7`,
    })
    await by().bound(admin, { user_id: member.id }, await by().makePolicy(admin, [allow('nextstack.*')]))
    expect(await may('invoice.read')).toBe('outsideBoundary')
    await by().bound(admin, { user_id: member.id }, null)
    await by().give(admin, await by().makePolicy(admin, [deny(`${id}.*`)]), { user_id: member.id })
    expect(await may('invoice.read')).toBe('explicitDeny')
  })

  it('is no for who may not sign in', async () => {
    const { boss, member } = await company()
    const { id } = await makeService(boss)
    await by().give(boss, await by().makePolicy(boss, [allow(`${id}.*`)]), { user_id: member.id })
    const ask = { user_id: member.id, action: `${id}.invoice.read` }
    await call(app, users.action, { token: boss.token, params: { id: member.id }, body: { action: 'disable' } })
    expect(await decide(boss, id, ask)).toMatchObject({ allowed: false, outcome: 'inactive' })
    await call(app, users.action, { token: boss.token, params: { id: member.id }, body: { action: 'enable' } })
    expect(await decide(boss, id, ask)).toMatchObject({ allowed: true })
    await call(app, organisations.action, { token: admin.token, params: { id: boss.bp_id ?? '' }, body: { action: 'freeze' } })
    expect(await decide(admin, id, ask)).toMatchObject({ allowed: false, outcome: 'inactive' })
  })

  it('is told to who keeps the service, and to who is permitted to, of that service', async () => {
    const [{ boss, member }, { boss: stranger, member: foreign }] = [await company(), await company()]
    const [{ id }, other, platforms] = [await makeService(boss), await makeService(boss), await makeService(admin)]
    const ask = (service: string, user_id = member.id) => ({ params: { id: service }, body: { user_id, action: `${service}.invoice.read` } })
    // A tenant is not allowed by their role alone.
    expect(await isDenied(app, member, decisions.decide, ask(id))).toBe(true)
    await by().give(boss, await by().makePolicy(boss, [allow('iam.decision.decide', { Resource: `zrn:iam:*:decision/${id}` })]), { user_id: member.id })
    expect(await decide(member, id, ask(id).body)).toMatchObject({ allowed: false })
    expect(await isDenied(app, member, decisions.decide, ask(other.id))).toBe(true)
    expect((await send(app, decisions.decide, { token: stranger.token, ...ask(id, foreign.id) })).status).toBe(404)
    expect(await refuseDecide(boss, id, ask(id, foreign.id).body)).toMatchObject({ status: 404, fields: [{ field: 'user_id' }] })
    // An application of the platform's asks as the platform.
    expect(await isDenied(app, boss, decisions.decide, ask(platforms.id))).toBe(true)
    expect(await decide(admin, platforms.id, ask(platforms.id, foreign.id).body)).toMatchObject({ allowed: false })
  })

  it('refuses what the service does not have', async () => {
    const { boss, member } = await company()
    const { id } = await makeService(boss)
    await call(app, resourceTypes.update, { token: boss.token, params: { id: `${id}.file` }, body: { pattern: '{bucket}/{id}' } })
    const about = { user_id: member.id, action: `${id}.file.read` }
    expect(await refuseDecide(boss, id, { ...about, action: `${id}.file.burn` })).toMatchObject({ status: 404, fields: [{ field: 'action' }] })
    expect(await refuseDecide(boss, id, { ...about, action: 'nextstack.vm.list' })).toMatchObject({ status: 404, fields: [{ field: 'action' }] })
    expect(await refuseDecide(boss, id, { ...about, resource: 'one' })).toMatchObject({
      code: 90001,
      fields: [{ field: 'resource', message: '须写作 {bucket}/{id}' }],
    })
    for (const resource of ['a/*', 'a/b c', 'a/${zs:UserId}', ''])
      expect(await refuseDecide(boss, id, { ...about, resource }), resource).toMatchObject({ code: 90001, fields: [{ field: 'resource' }] })
    expect(await refuseDecide(boss, id, { ...about, context: { 'zs:UserKind': '0' } })).toMatchObject({
      code: 90001,
      fields: [{ field: 'context.zs:UserKind' }],
    })
    expect(await decide(boss, id, { ...about, resource: 'a/b', context: { 'zs:ResourceTag/team': 'x' } })).toMatchObject({
      resource: `zrn:${id}:${boss.bp_id ?? ''}:file/a/b`,
    })
    expect(await refuseDecide(boss, 'nextstack', { ...about, action: 'nextstack.vm.list' })).toMatchObject({ status: 404 })
  })

  it('is explained, and found by who may', async () => {
    const { boss, member } = await company()
    const { id } = await makeService(boss)
    await by().give(boss, await by().makePolicy(boss, [allow(`${id}.invoice.read`)]), { user_id: member.id })
    expect(await call(app, decisions.explain, { token: boss.token, body: { user_id: member.id, action: `${id}.invoice.read` } })).toMatchObject({
      outcome: 'allowed',
    })
    expect(
      (await call(app, decisions.who, { token: boss.token, query: { action: `${id}.invoice.read`, allowed: 'true' } })).items.map(({ user }) => user.id),
    ).toEqual([member.id])
  })

  it('is given by who keeps people, unless it is kept from themselves', async () => {
    const { boss, member } = await company()
    const { id } = await makeService(boss)
    const policy = await by().makePolicy(boss, [allow(`${id}.*`)])
    await by().give(admin, await by().makePolicy(admin, [deny(`${id}.invoice.approve`)]), { user_id: boss.id })
    expect(await refused(app, grants.create, { token: boss.token, body: { policy_id: policy.id, user_id: member.id } })).toMatchObject({
      code: 91106,
      message: expect.stringContaining(`${id}.invoice.approve`),
    })
    await by().give(boss, await by().makePolicy(boss, [allow(`${id}.invoice.read`)]), { user_id: member.id })
  })
})
