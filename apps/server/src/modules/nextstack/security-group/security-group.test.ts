import { randomUUID } from 'node:crypto'
import { allCalls } from '@zhisuan/contract/calls'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import { quotas } from '@zhisuan/contract/nextstack/quota'
import { inOrder, ruleTemplates, securityGroups, type SecurityRule } from '@zhisuan/contract/nextstack/security-group'
import { vpcs } from '@zhisuan/contract/nextstack/vpc'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { call, refused, send } from '../../../testing/call.ts'
import { someone } from '../../../testing/people.ts'
import { networkStage, type NetworkStage } from '../vpc/testing.ts'

let stage: NetworkStage
beforeAll(async () => {
  stage = await networkStage()
})
afterEach(() => stage.engine.recover())
afterAll(() => stage.app.close())

const params = (group: { id: string }, token = stage.owner.token) => ({ token, params: { id: group.id } })
const refuse = (wish: object, token = stage.owner.token) =>
  refused(stage.app, securityGroups.create, { token, body: { cloud_id: stage.cloud_id, name: `group-${randomUUID()}`, ...wish } })
const rule = (wish: Partial<SecurityRule> = {}): SecurityRule => ({
  direction: 'ingress',
  action: 'allow',
  protocol: 'tcp',
  ports: '22',
  remote: '0.0.0.0/0',
  description: '',
  ...wish,
})
const setRules = (group: { id: string }, revision: number, rules: SecurityRule[], token = stage.owner.token) =>
  call(stage.app, securityGroups.setRules, { ...params(group, token), body: { revision, rules } })

describe('creating', () => {
  it('makes a group that guards nothing yet', async () => {
    const { app, owner, cloud_id } = stage
    const made = await call(app, securityGroups.create, { token: owner.token, body: { cloud_id, name: '数据库', description: '内网' } })
    expect(made).toEqual({
      id: expect.any(String),
      name: '数据库',
      description: '内网',
      bp_id: owner.bp_id,
      bp_name: expect.stringMatching(/^org-/),
      created_by: owner.name,
      created_at: expect.any(String),
      updated_at: expect.any(String),
      cloud_id,
      status: 'active',
      error: null,
      rules: [],
      revision: 1,
      vm_count: 0,
      vpc_count: 0,
    })
    expect(await stage.getGroup(made.id)).toEqual({ ...made, vms: [], vpcs: [] })
  })

  it.each(Object.keys(ruleTemplates) as (keyof typeof ruleTemplates)[])('from the template %s', async (template) => {
    expect((await stage.createGroup({ template })).rules).toEqual(ruleTemplates[template])
  })

  it('with rules of one’s own, in full', async () => {
    const { rules } = await stage.createGroup({ rules: [{ direction: 'egress', protocol: 'icmp', remote: '192.0.2.1' }] })
    expect(rules).toEqual([{ direction: 'egress', action: 'allow', protocol: 'icmp', ports: '', remote: '192.0.2.1/32', description: '' }])
  })

  it.each([
    ['name', { name: '' }],
    ['rules.0.ports', { rules: [{ direction: 'ingress', protocol: 'tcp', ports: '99999' }] }],
    ['rules.0.ports', { rules: [{ direction: 'ingress', protocol: 'icmp', ports: '80' }] }],
    ['rules.0.remote', { rules: [{ direction: 'ingress', protocol: 'tcp', remote: '10.1.0.5/24' }] }],
    ['rules.0.direction', { rules: [{ direction: 'both', protocol: 'tcp' }] }],
    ['rules', { rules: Array.from({ length: 101 }, () => ({ direction: 'ingress', protocol: 'tcp' })) }],
    ['template', { template: 'everything' }],
  ])('refuses %s: it names the field', async (field, wish) => {
    expect(await refuse(wish)).toMatchObject({ code: 90001, fields: [{ field }] })
  })

  it('refuses a taken name, an absent cloud, one in maintenance, and more than the quota', async () => {
    const { app, admin, createGroup, stranger } = stage
    const { name } = await createGroup()
    expect(await refuse({ name })).toMatchObject({ status: 400, code: 94112, fields: [{ field: 'name' }] })
    expect(await createGroup({ name }, stranger.token)).toMatchObject({ name })
    expect(await refuse({ cloud_id: randomUUID() })).toMatchObject({ status: 404, code: 90006 })
    const { cloud_id } = await stage.addCloud()
    await call(app, clouds.action, { token: admin.token, params: { id: cloud_id }, body: { action: 'maintenance' } })
    expect((await refuse({ cloud_id })).code).toBe(12005)
    const person = await someone(app)
    await call(app, quotas.set, { token: admin.token, params: { bp_id: person.bp_id ?? '' }, body: { limits: { security_groups: 0 } } })
    expect((await refuse({}, person.token)).code).toBe(94030)
    const nobody = await someone(app, { kind: 4, organisation: null })
    expect((await refuse({}, nobody.token)).code).toBe(3000)
  })
})

describe('rules', () => {
  it('reach every network that the group guards, as a whole or by an instance', async () => {
    const { createGroup, createVpc, addVm, settledVpc, onEngine, app, getGroup, engine } = stage
    const group = await createGroup()
    const [whole, member, other] = [await createVpc(), await createVpc(), await createVpc()]
    await call(app, vpcs.setSecurityGroups, { ...params(whole), body: { security_group_ids: [group.id] } })
    const vm = await addVm(member, { groups: [group.id] })
    for (const vpc of [whole, member]) await settledVpc(vpc.id)
    const gate = engine.hold('networks.acls.apply')
    const changed = await setRules(group, 1, [rule(), rule({ direction: 'egress', action: 'drop', protocol: 'udp', ports: '53' })])
    expect(changed).toMatchObject({ status: 'applying', revision: 2, vm_count: 1, vpc_count: 1 })
    await gate.reached
    gate.open()
    for (const vpc of [whole, member]) await settledVpc(vpc.id)
    expect(await getGroup(group.id)).toMatchObject({ status: 'active', vms: [{ id: vm.id, name: vm.name }], vpcs: [{ id: whole.id, name: whole.name }] })
    expect((await onEngine(whole)).acl).toMatchObject({
      ingress: [{ destination: [whole.cidr], destinationPorts: ['22'] }],
      egress: [{ action: 'drop', source: [whole.cidr] }],
    })
    expect((await onEngine(member)).acl).toMatchObject({ ingress: [{ destination: [`${vm.address}/32`] }], egress: [{ source: [`${vm.address}/32`] }] })
    expect((await onEngine(other)).acl?.ingress).toEqual([])
  })

  it('that two change at once are those of one; the other is told', async () => {
    const group = await stage.createGroup()
    const answers = await Promise.all(
      ['80', '443'].map((ports) => send(stage.app, securityGroups.setRules, { ...params(group), body: { revision: 1, rules: [rule({ ports })] } })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 409])
    expect(answers.find(({ status }) => status === 409)?.body).toMatchObject({ code: 90012 })
    const won = answers.find(({ status }) => status === 202)?.body
    expect(await stage.getGroup(group.id)).toMatchObject({ revision: 2, rules: (won as { rules: unknown }).rules })
    expect((await setRules(group, 2, [])).rules).toEqual([])
  })

  it('that are wrong change nothing', async () => {
    const group = await stage.createGroup({ template: 'ssh' })
    expect(await refused(stage.app, securityGroups.setRules, { ...params(group), body: { revision: 1, rules: [rule({ ports: '1-0' })] } })).toMatchObject({
      code: 90001,
      fields: [{ field: 'rules.0.ports' }],
    })
    expect(await stage.getGroup(group.id)).toMatchObject({ revision: 1, rules: ruleTemplates.ssh })
  })

  it('given to an instance in the moment in which they change are the changed ones', async () => {
    const { createGroup, createVpc, addVm, settledVpc, onEngine } = stage
    const vpc = await createVpc()
    for (let round = 0; round < 5; round++) {
      const group = await createGroup()
      const [vm] = await Promise.all([addVm(vpc, { groups: [group.id] }), setRules(group, 1, [rule({ ports: '8080' })])])
      await settledVpc(vpc.id)
      const guarding = (await onEngine(vpc)).acl?.ingress.filter(({ destination }) => destination.includes(`${vm.address}/32`))
      expect(guarding).toMatchObject([{ destinationPorts: ['8080'] }])
    }
  })

  it('that an engine does not take show as an error, until they are taken', async () => {
    const { createGroup, createVpc, settledVpc, engine, app, getGroup, onEngine } = stage
    const [group, vpc] = [await createGroup(), await createVpc()]
    await call(app, vpcs.setSecurityGroups, { ...params(vpc), body: { security_group_ids: [group.id] } })
    await settledVpc(vpc.id)
    engine.fail('failed', { method: 'networks.acls.apply' })
    await setRules(group, 1, [rule()])
    expect(await settledVpc(vpc.id)).toMatchObject({ status: 'error', error: expect.stringContaining('云平台执行失败') })
    expect(await getGroup(group.id)).toMatchObject({ status: 'error', error: expect.stringContaining('云平台执行失败') })
    engine.recover()
    await setRules(group, 2, [rule({ ports: '443' })])
    expect(await settledVpc(vpc.id)).toMatchObject({ status: 'active', error: null })
    expect(await getGroup(group.id)).toMatchObject({ status: 'active', error: null })
    expect((await onEngine(vpc)).acl?.ingress).toMatchObject([{ destinationPorts: ['443'] }])
  })

  it('are looked at in the order drop, reject, allow', () => {
    expect(inOrder([rule(), rule({ action: 'reject' }), rule({ action: 'drop' })]).map(({ action }) => action)).toEqual(['drop', 'reject', 'allow'])
  })
})

describe('lists', () => {
  it('show the organisation’s, by cloud, keyword and what they guard', async () => {
    const { app, createGroup, createVpc, addVm, cloud_id } = stage
    const person = await someone(app)
    const list = (query: object = {}, token = person.token) => call(app, securityGroups.list, { token, query })
    const [one, other] = [await createGroup({ name: 'one-of-two' }, person.token), await createGroup({ name: 'other-of-two' }, person.token)]
    const vpc = await createVpc({}, person.token)
    const vm = await addVm(vpc, { groups: [other.id] })
    await call(app, vpcs.setSecurityGroups, { ...params(vpc, person.token), body: { security_group_ids: [one.id] } })
    expect((await list()).items.map(({ id }) => id)).toEqual([other.id, one.id])
    expect((await list({ sort: 'name', page_size: 1 })).items.map(({ id }) => id)).toEqual([one.id])
    expect((await list({ keyword: 'OTHER' })).items.map(({ id }) => id)).toEqual([other.id])
    expect((await list({ vm_id: vm.id })).items.map(({ id }) => id)).toEqual([other.id])
    expect((await list({ vpc_id: vpc.id, cloud_id })).items.map(({ id }) => id)).toEqual([one.id])
    expect((await list({ cloud_id: randomUUID() })).total).toBe(0)
    expect((await list({ vm_id: vm.id }, stage.stranger.token)).total).toBe(0)
  })
})

describe('a group of another organisation does not exist', () => {
  const ofOne = allCalls.filter(({ id, path }) => id.startsWith('nextstack.securityGroup.') && path.includes('{id}'))
  const bodies: Readonly<Record<string, object>> = {
    'nextstack.securityGroup.update': { name: 'x' },
    'nextstack.securityGroup.setRules': { revision: 1, rules: [] },
  }

  it.each(ofOne.map((declared) => [declared.id, declared] as const))('%s', async (_, declared) => {
    const group = await stage.createGroup({ template: 'ssh' })
    const sent = declared.method === 'GET' || declared.method === 'DELETE' ? {} : { body: bodies[declared.id] ?? {} }
    expect(await refused(stage.app, declared, { ...params(group, stage.stranger.token), ...sent })).toMatchObject({ status: 404, code: 90006 })
    for (const id of [randomUUID(), 'x']) expect(await refused(stage.app, declared, { ...params({ id }), ...sent })).toMatchObject({ status: 404, code: 90006 })
    expect(await stage.getGroup(group.id)).toMatchObject({ name: group.name, revision: 1, rules: ruleTemplates.ssh })
    expect((await send(stage.app, declared, { ...params(group), ...sent })).status).toBe(declared.status)
  })

  it('covers the calls there are', () => {
    expect(ofOne).toHaveLength(4)
  })
})

describe('changing and deleting', () => {
  it('name and description', async () => {
    const { app, createGroup } = stage
    const [group, other] = [await createGroup(), await createGroup()]
    const name = `group-${randomUUID()}`
    expect(await call(app, securityGroups.update, { ...params(group), body: { name, description: '新' } })).toMatchObject({
      name,
      description: '新',
      revision: 1,
    })
    expect(await refused(app, securityGroups.update, { ...params(group), body: { name: other.name } })).toMatchObject({
      code: 94112,
      fields: [{ field: 'name' }],
    })
  })

  it('is refused while it guards something, and done when it does not', async () => {
    const { app, createGroup, createVpc, addVm, inTx, members, deleteVmRow } = stage
    const [group, vpc] = [await createGroup(), await createVpc()]
    const vm = await addVm(vpc, { groups: [group.id] })
    await call(app, vpcs.setSecurityGroups, { ...params(vpc), body: { security_group_ids: [group.id] } })
    expect(await refused(app, securityGroups.delete, params(group))).toMatchObject({
      status: 400,
      code: 94111,
      message: '安全组正在保护2个实例或网络，请先解除',
    })
    await call(app, vpcs.setSecurityGroups, { ...params(vpc), body: { security_group_ids: [] } })
    expect((await refused(app, securityGroups.delete, params(group))).code).toBe(94111)
    await inTx((tx) => members.gone(tx, vm.id))
    await deleteVmRow(vm.id)
    await call(app, securityGroups.delete, params(group))
    expect((await refused(app, securityGroups.get, params(group))).code).toBe(90006)
  })

  it('and giving it to something at once end as one or the other', async () => {
    const { app, createGroup, createVpc } = stage
    const vpc = await createVpc()
    for (let round = 0; round < 5; round++) {
      const group = await createGroup()
      const [removed, given] = await Promise.all([
        send(app, securityGroups.delete, params(group)),
        send(app, vpcs.setSecurityGroups, { ...params(vpc), body: { security_group_ids: [group.id] } }),
      ])
      expect([
        [204, 400],
        [400, 202],
      ]).toContainEqual([removed.status, given.status])
      const code = (answer: { body: unknown }) => (answer.body as { code?: number } | undefined)?.code
      if (removed.status === 204) expect(code(given)).toBe(94113)
      else expect(code(removed)).toBe(94111)
    }
  })
})
