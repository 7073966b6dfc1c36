import { firewallGroups, firewallPolicies, firewallRules, firewallServices, type FirewallPolicy, type FirewallRule } from '@zhisuan/contract/compute/firewall'
import type { BodyInput } from '@zhisuan/contract/define'
import { errors } from '@zhisuan/contract/errors'
import type { Problem } from '@zhisuan/contract/problem'
import { createFirewallCloud, type FirewallCloud } from '@zhisuan/engines/openstack/firewallTesting'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call, send } from '../../../testing/call.ts'
import { items, knowCloud, lines } from '../../../testing/openstack.ts'
import { makeOrganisation, someone } from '../../../testing/people.ts'

const nobodys = 'aaaaaaaa-0000-4000-8000-000000000000'

/** The real cloud of the tests has no FWaaS: this one keeps the rules of its API reference, and a Keystone that keeps projects apart. */
describe('firewalls of a cloud that has FWaaS v2', () => {
  let app: TestApp
  let cloud: FirewallCloud
  let cloud_id: string
  let admin: string
  let tenant: string
  let stranger: string
  /** The tenant's network. */
  let plugged: ReturnType<FirewallCloud['furnish']>
  let foreign: ReturnType<FirewallCloud['furnish']>
  let next = 0
  const newName = (what: string): string => `${what}-${++next}`
  const at = (id = '') => ({ cloud_id, id })
  const makeRule = (more: Partial<BodyInput<typeof firewallRules.create>> = {}, token = tenant): Promise<FirewallRule> =>
    call(app, firewallRules.create, { token, params: at(), body: { name: newName('rule'), action: 'allow', protocol: 'tcp', ...more } })
  const makePolicy = (more: Partial<BodyInput<typeof firewallPolicies.create>> = {}, token = tenant): Promise<FirewallPolicy> =>
    call(app, firewallPolicies.create, { token, params: at(), body: { name: newName('policy'), ...more } })
  const makeGroup = (more: Partial<BodyInput<typeof firewallGroups.create>> = {}, token = tenant) =>
    send(app, firewallGroups.create, { token, params: at(), body: { name: newName('firewall'), ...more } })
  const madeGroup = async (more: Partial<BodyInput<typeof firewallGroups.create>> = {}, token = tenant) => {
    const { status, body } = await makeGroup(more, token)
    expect(status, JSON.stringify(body)).toBe(201)
    return firewallGroups.create.response.parse(body)
  }
  const refused = (answer: { status: number; body: unknown }, name: keyof typeof errors, field?: string): Problem => {
    const problem = answer.body as Problem
    expect(problem.code, JSON.stringify(problem)).toBe(errors[name].code)
    expect(answer.status).toBe(errors[name].status)
    if (field !== undefined) expect(problem.fields?.map((one) => one.field)).toContain(field)
    return problem
  }

  beforeAll(async () => {
    app = await testApp()
    cloud = await createFirewallCloud()
    cloud_id = await knowCloud(app, cloud.registration)
    admin = (await someone(app, { kind: 1 })).token
    tenant = (await someone(app, { kind: 4, roles: ['TENANT'], organisation: await makeOrganisation(app) })).token
    stranger = (await someone(app, { kind: 4, roles: ['TENANT'], organisation: await makeOrganisation(app) })).token
    const projectOf = async (token: string): Promise<string> => (await makeRule({}, token)).keystone_project_id ?? ''
    plugged = cloud.furnish(await projectOf(tenant), '前端')
    foreign = cloud.furnish(await projectOf(stranger), '别家')
  })
  afterAll(async () => {
    await app.close()
    await cloud.close()
  })
  beforeEach(() => cloud.settle())

  it('the cloud says that it has them', async () => {
    expect(await call(app, firewallServices.get, { token: tenant, params: at() })).toEqual({ available: true })
  })

  it('rules are made, changed, switched and deleted, and say in which policies they are', async () => {
    const rule = await makeRule({ description: '办公网', source_address: '203.0.113.0/24', destination_port: '8000-8010' })
    expect(rule).toMatchObject({
      action: 'allow',
      protocol: 'tcp',
      version: 4,
      source_address: '203.0.113.0/24',
      source_port: null,
      destination_port: '8000-8010',
      enabled: true,
      shared: false,
      policy_ids: [],
      changeable: true,
    })
    expect(cloud.rows('firewall_rules').find(({ id }) => id === rule.id)).toMatchObject({ destination_port: '8000:8010' })
    const change = (body: BodyInput<typeof firewallRules.update>) => send(app, firewallRules.update, { token: tenant, params: at(rule.id), body })
    expect((await change({ name: '网页', action: 'reject', destination_port: '443', source_address: null, enabled: false })).body).toMatchObject({
      name: '网页',
      action: 'reject',
      destination_port: '443',
      source_address: null,
      enabled: false,
    })
    // What stays counts as well.
    refused(await change({ protocol: null }), 'fieldsInvalid', 'destination_port')
    refused(await change({ source_address: '2001:db8::/64' }), 'fieldsInvalid', 'source_address')
    expect((await change({ protocol: 'icmp', destination_port: null, version: 6, source_address: '2001:db8::/64' })).body).toMatchObject({
      protocol: 'icmp',
      version: 6,
      source_address: '2001:db8::/64',
      destination_port: null,
    })
    refused(
      await send(app, firewallRules.create, { token: tenant, params: at(), body: { name: 'x', action: 'allow', destination_port: '22' } }),
      'fieldsInvalid',
      'destination_port',
    )

    const policy = await makePolicy({ rule_ids: [rule.id] })
    const told = await lines(app, firewallRules.list, { token: tenant, params: at() })
    expect(told.flatMap(({ items: some = [] }) => some).find(({ id }) => id === rule.id)).toMatchObject({ policy_ids: [policy.id] })
    expect(Object.assign({}, ...told.map(({ names }) => names ?? {}))).toMatchObject({ [policy.id]: policy.name })
    expect(refused(await send(app, firewallRules.delete, { token: tenant, params: at(rule.id) }), 'computeFirewallRuleInUse').message).toContain(policy.name)
    await call(app, firewallPolicies.delete, { token: tenant, params: at(policy.id) })
    await call(app, firewallRules.delete, { token: tenant, params: at(rule.id) })
    refused(await change({ name: 'x' }), 'notFound')
  })

  it('policies hold rules in order: put in at a place, moved, taken out; what changes is audited no more', async () => {
    const [a, b, c] = [await makeRule(), await makeRule(), await makeRule()]
    const policy = await makePolicy({ rule_ids: [a.id, b.id], audited: true })
    expect(policy).toMatchObject({ rule_ids: [a.id, b.id], audited: true, default: false, group_ids: [] })
    const insert = (rule_id: string, after: string | null) =>
      send(app, firewallPolicies.insertRule, { token: tenant, params: at(policy.id), body: { rule_id, after } })
    expect((await insert(c.id, a.id)).body).toMatchObject({ rule_ids: [a.id, c.id, b.id], audited: false })
    refused(await insert(c.id, null), 'fieldsInvalid', 'rule_id')
    refused(await insert(nobodys, null), 'computeFirewallRuleMissing', 'rule_id')
    const d = await makeRule()
    refused(await insert(d.id, nobodys), 'changedMeanwhile')
    expect((await insert(d.id, null)).body).toMatchObject({ rule_ids: [d.id, a.id, c.id, b.id] })
    const order = (rule_ids: string[], was: string[]) => send(app, firewallPolicies.setRules, { token: tenant, params: at(policy.id), body: { rule_ids, was } })
    expect((await order([b.id, a.id, c.id, d.id], [d.id, a.id, c.id, b.id])).body).toMatchObject({ rule_ids: [b.id, a.id, c.id, d.id] })
    refused(await order([a.id, b.id, c.id, d.id], [d.id, a.id, c.id, b.id]), 'changedMeanwhile')
    refused(await order([a.id, a.id], [b.id, a.id, c.id, d.id]), 'fieldsInvalid', 'rule_ids')
    refused(await order([a.id, nobodys], [b.id, a.id, c.id, d.id]), 'computeFirewallRuleMissing', 'rule_ids')
    const remove = (rule_id: string) => send(app, firewallPolicies.removeRule, { token: tenant, params: at(policy.id), body: { rule_id } })
    expect((await remove(d.id)).body).toMatchObject({ rule_ids: [b.id, a.id, c.id] })
    refused(await remove(d.id), 'computeFirewallRuleMissing', 'rule_id')
    const update = (body: BodyInput<typeof firewallPolicies.update>) => send(app, firewallPolicies.update, { token: tenant, params: at(policy.id), body })
    expect((await update({ name: '对外', audited: true })).body).toMatchObject({ name: '对外', audited: true })
    expect((await update({ description: '说明' })).body).toMatchObject({ audited: false, description: '说明' })
    await call(app, firewallRules.update, { token: tenant, params: at(a.id), body: { enabled: false } })
    refused(await update({ name: 'default ingress' }), 'fieldsInvalid', 'name')

    const group = await madeGroup({ egress_policy_id: policy.id })
    expect((await items(app, firewallPolicies.list, { token: tenant, params: at() })).find(({ id }) => id === policy.id)).toMatchObject({
      group_ids: [group.id],
      rule_ids: [b.id, a.id, c.id],
    })
    expect(refused(await send(app, firewallPolicies.delete, { token: tenant, params: at(policy.id) }), 'computeFirewallPolicyInUse').message).toContain(
      group.name,
    )
    await call(app, firewallGroups.delete, { token: tenant, params: at(group.id) })
    await call(app, firewallPolicies.delete, { token: tenant, params: at(policy.id) })
  })

  it('of what two change at once nothing is lost: both put in, one order stands, ports of both', async () => {
    const rules = await Promise.all([1, 2, 3, 4].map(() => makeRule()))
    const [a = '', b = '', c = '', d = ''] = rules.map(({ id }) => id)
    const policy = await makePolicy({ rule_ids: [a, b] })
    const put = await Promise.all(
      [c, d].map((rule_id) => send(app, firewallPolicies.insertRule, { token: tenant, params: at(policy.id), body: { rule_id, after: null } })),
    )
    expect(put.map(({ status }) => status)).toEqual([200, 200])
    const was = (await items(app, firewallPolicies.list, { token: tenant, params: at() })).find(({ id }) => id === policy.id)?.rule_ids ?? []
    expect(was.toSorted()).toEqual([a, b, c, d].toSorted())
    const orders = [was.toReversed(), [...was.slice(1), was[0] ?? '']]
    const set = await Promise.all(
      orders.map((rule_ids) => send(app, firewallPolicies.setRules, { token: tenant, params: at(policy.id), body: { rule_ids, was } })),
    )
    expect(set.map(({ status }) => status).toSorted()).toEqual([200, 409])
    for (const answer of set.filter(({ status }) => status === 409)) refused(answer, 'changedMeanwhile')
    expect(orders).toContainEqual(cloud.rows('firewall_policies').find(({ id }) => id === policy.id)?.['firewall_rules'])

    const group = await madeGroup()
    const added = await Promise.all(
      [plugged.router, plugged.instance].map(async (port) => ({
        port,
        answer: await send(app, firewallGroups.addPorts, { token: tenant, params: at(group.id), body: { port_ids: [port] } }),
      })),
    )
    const done = added.filter(({ answer }) => answer.status === 200).map(({ port }) => port)
    for (const { answer } of added.filter((one) => one.answer.status !== 200)) refused(answer, 'computeFirewallPending')
    expect(done.length).toBeGreaterThan(0)
    expect(cloud.rows('firewall_groups').find(({ id }) => id === group.id)?.['ports']).toEqual(expect.arrayContaining(done))
    await call(app, firewallGroups.removePorts, { token: tenant, params: at(group.id), body: { port_ids: done } })
    await call(app, firewallGroups.delete, { token: tenant, params: at(group.id) })
    await call(app, firewallPolicies.delete, { token: tenant, params: at(policy.id) })
  })

  it('firewalls go through their states, and are not deleted while they filter', async () => {
    const policy = await makePolicy({ rule_ids: [(await makeRule()).id] })
    const group = await madeGroup({ ingress_policy_id: policy.id, description: '前端' })
    expect(group).toMatchObject({
      status: 'inactive',
      enabled: true,
      shared: false,
      default: false,
      ingress_policy_id: policy.id,
      egress_policy_id: null,
      port_ids: [],
      changeable: true,
    })
    const change = (body: BodyInput<typeof firewallGroups.update>) => send(app, firewallGroups.update, { token: tenant, params: at(group.id), body })
    const add = (port_ids: string[]) => send(app, firewallGroups.addPorts, { token: tenant, params: at(group.id), body: { port_ids } })
    const remove = () => send(app, firewallGroups.delete, { token: tenant, params: at(group.id) })
    expect((await add([plugged.router, plugged.instance])).body).toMatchObject({ status: 'active', port_ids: [plugged.router, plugged.instance] })
    expect(refused(await remove(), 'computeFirewallActive').message).toContain('2')
    expect((await change({ enabled: false })).body).toMatchObject({ status: 'down', enabled: false })
    refused(await remove(), 'computeFirewallActive')
    expect((await change({ name: '边界', ingress_policy_id: null, egress_policy_id: policy.id, enabled: true })).body).toMatchObject({
      name: '边界',
      ingress_policy_id: null,
      egress_policy_id: policy.id,
      status: 'active',
    })
    refused(await change({ ingress_policy_id: nobodys }), 'computeFirewallPolicyMissing', 'ingress_policy_id')
    refused(await change({ egress_policy_id: nobodys }), 'computeFirewallPolicyMissing', 'egress_policy_id')
    refused(await change({ name: 'default' }), 'fieldsInvalid', 'name')

    // While hosts are told of a change nothing else can be.
    cloud.dawdle()
    expect((await change({ description: '新' })).body).toMatchObject({ status: 'pending_update' })
    refused(await change({ enabled: false }), 'computeFirewallPending')
    refused(await add([plugged.other]), 'computeFirewallPending')
    refused(await remove(), 'computeFirewallPending')
    refused(
      await send(app, firewallPolicies.insertRule, { token: tenant, params: at(policy.id), body: { rule_id: (await makeRule()).id, after: null } }),
      'computeFirewallPending',
    )
    cloud.settle()

    expect(
      await call(app, firewallGroups.removePorts, { token: tenant, params: at(group.id), body: { port_ids: [plugged.router, plugged.instance] } }),
    ).toMatchObject({ status: 'inactive', port_ids: [] })
    expect((await remove()).status).toBe(204)
    refused(await remove(), 'notFound')
    await call(app, firewallPolicies.delete, { token: tenant, params: at(policy.id) })
  })

  it('only ports of routers and instances of the project come under a firewall, each under one', async () => {
    const group = await madeGroup({ port_ids: [plugged.instance] })
    expect(group.status).toBe('active')
    const before = cloud.rows('firewall_groups').length
    const refusedPort = async (port: string, message?: string): Promise<void> => {
      const problem = refused(await makeGroup({ port_ids: [port] }), message === undefined ? 'computePortMissing' : 'fieldsInvalid', 'port_ids')
      if (message !== undefined) expect(problem.fields?.[0]?.message).toBe(message)
    }
    await refusedPort(plugged.instance, '端口已在其他防火墙中，请先从那里移除')
    await refusedPort(plugged.free, '只能选择路由器接口和实例的端口')
    await refusedPort(nobodys)
    await refusedPort(foreign.instance)
    refused(await makeGroup({ ingress_policy_id: nobodys }), 'computeFirewallPolicyMissing', 'ingress_policy_id')
    // Nothing is left of what was refused.
    expect(cloud.rows('firewall_groups')).toHaveLength(before)
    refused(
      await send(app, firewallGroups.addPorts, { token: admin, params: at(group.id), body: { port_ids: [foreign.instance] } }),
      'computePortMissing',
      'port_ids',
    )
    await call(app, firewallGroups.removePorts, { token: tenant, params: at(group.id), body: { port_ids: [plugged.instance] } })
    await call(app, firewallGroups.delete, { token: tenant, params: at(group.id) })
  })

  it('the default firewall of a project stays, and takes ports only', async () => {
    const group = (await items(app, firewallGroups.list, { token: tenant, params: at() })).find((one) => one.default)
    expect(group).toMatchObject({ name: 'default', status: 'inactive' })
    const id = group?.id ?? ''
    refused(await send(app, firewallGroups.delete, { token: tenant, params: at(id) }), 'computeFirewallDefault')
    refused(await send(app, firewallGroups.delete, { token: admin, params: at(id) }), 'computeFirewallDefault')
    refused(await send(app, firewallGroups.update, { token: tenant, params: at(id), body: { enabled: false } }), 'computeFirewallDefault')
    expect(await call(app, firewallGroups.addPorts, { token: tenant, params: at(id), body: { port_ids: [plugged.other] } })).toMatchObject({
      status: 'active',
      port_ids: [plugged.other],
    })
    await call(app, firewallGroups.removePorts, { token: tenant, params: at(id), body: { port_ids: [plugged.other] } })
    const policy = (await items(app, firewallPolicies.list, { token: tenant, params: at() })).find((one) => one.default)
    expect(policy?.group_ids).toEqual([id])
    refused(await send(app, firewallPolicies.update, { token: tenant, params: at(policy?.id), body: { name: 'x' } }), 'computeFirewallDefault')
  })

  it('what is everybody’s is made and changed by platform-level people, and used by all', async () => {
    refused(
      await send(app, firewallRules.create, { token: tenant, params: at(), body: { name: 'x', action: 'deny', shared: true } }),
      'computePlatformOnly',
      'shared',
    )
    refused(await send(app, firewallPolicies.create, { token: tenant, params: at(), body: { name: 'x', shared: true } }), 'computePlatformOnly', 'shared')
    refused(await makeGroup({ shared: true }), 'computePlatformOnly', 'shared')
    const secret = await makeRule({}, admin)
    refused(
      await send(app, firewallPolicies.create, { token: admin, params: at(), body: { name: 'x', shared: true, rule_ids: [secret.id] } }),
      'fieldsInvalid',
      'rule_ids',
    )
    const plain = await makePolicy({ rule_ids: [secret.id] }, admin)
    refused(await send(app, firewallPolicies.update, { token: admin, params: at(plain.id), body: { shared: true } }), 'fieldsInvalid', 'shared')
    const rule = await makeRule({ shared: true }, admin)
    const policy = await makePolicy({ shared: true, rule_ids: [rule.id] }, admin)
    const nobody = (await someone(app, { kind: 4, roles: ['TENANT'], organisation: await makeOrganisation(app) })).token
    // Who has no project on the cloud sees the same as who has one.
    for (const token of [tenant, nobody]) {
      expect((await items(app, firewallPolicies.list, { token, params: at() })).find(({ id }) => id === policy.id)).toMatchObject({
        shared: true,
        changeable: false,
      })
      expect((await items(app, firewallRules.list, { token, params: at() })).find(({ id }) => id === rule.id)).toMatchObject({
        shared: true,
        changeable: false,
        policy_ids: [policy.id],
      })
    }
    refused(await send(app, firewallPolicies.update, { token: tenant, params: at(policy.id), body: { name: 'x' } }), 'noPermission')
    refused(await send(app, firewallRules.delete, { token: tenant, params: at(rule.id) }), 'noPermission')
    const mine = await makePolicy({ rule_ids: [rule.id] })
    const group = await madeGroup({ ingress_policy_id: policy.id })
    refused(await send(app, firewallPolicies.update, { token: admin, params: at(policy.id), body: { shared: false } }), 'stateForbids')
    // A shared firewall of another's is seen without their ports.
    expect(await call(app, firewallGroups.addPorts, { token: tenant, params: at(group.id), body: { port_ids: [plugged.router] } })).toMatchObject({
      port_ids: [plugged.router],
    })
    expect(await call(app, firewallGroups.update, { token: admin, params: at(group.id), body: { shared: true } })).toMatchObject({ shared: true })
    expect((await items(app, firewallGroups.list, { token: stranger, params: at() })).find(({ id }) => id === group.id)).toMatchObject({
      changeable: false,
      port_ids: [],
    })
    await call(app, firewallGroups.removePorts, { token: admin, params: at(group.id), body: { port_ids: [plugged.router] } })
    await call(app, firewallGroups.delete, { token: admin, params: at(group.id) })
    await call(app, firewallPolicies.delete, { token: tenant, params: at(mine.id) })
    for (const id of [policy.id, plain.id]) await call(app, firewallPolicies.delete, { token: admin, params: at(id) })
    for (const id of [rule.id, secret.id]) await call(app, firewallRules.delete, { token: admin, params: at(id) })
  })

  it('nothing of one organisation is there for another: not in a list, not by an id, not in a body', async () => {
    const rule = await makeRule()
    const policy = await makePolicy({ rule_ids: [rule.id] })
    const group = await madeGroup({ ingress_policy_id: policy.id, port_ids: [plugged.instance] })
    const nobody = (await someone(app, { kind: 4, roles: ['TENANT'], organisation: await makeOrganisation(app) })).token
    for (const token of [stranger, nobody]) {
      for (const list of [firewallGroups.list, firewallPolicies.list, firewallRules.list] as const) {
        const told = JSON.stringify(await lines(app, list, { token, params: at() }))
        for (const hidden of [rule.id, rule.name, policy.id, policy.name, group.id, group.name, plugged.instance]) expect(told).not.toContain(hidden)
      }
      const answers = [
        await send(app, firewallGroups.update, { token, params: at(group.id), body: { name: 'x' } }),
        await send(app, firewallGroups.addPorts, { token, params: at(group.id), body: { port_ids: [foreign.instance] } }),
        await send(app, firewallGroups.removePorts, { token, params: at(group.id), body: { port_ids: [plugged.instance] } }),
        await send(app, firewallGroups.delete, { token, params: at(group.id) }),
        await send(app, firewallPolicies.update, { token, params: at(policy.id), body: { name: 'x' } }),
        await send(app, firewallPolicies.insertRule, { token, params: at(policy.id), body: { rule_id: rule.id } }),
        await send(app, firewallPolicies.removeRule, { token, params: at(policy.id), body: { rule_id: rule.id } }),
        await send(app, firewallPolicies.setRules, { token, params: at(policy.id), body: { rule_ids: [], was: [rule.id] } }),
        await send(app, firewallPolicies.delete, { token, params: at(policy.id) }),
        await send(app, firewallRules.update, { token, params: at(rule.id), body: { enabled: false } }),
        await send(app, firewallRules.delete, { token, params: at(rule.id) }),
      ]
      for (const answer of answers) refused(answer, 'notFound')
    }
    refused(await makeGroup({ egress_policy_id: policy.id }, stranger), 'computeFirewallPolicyMissing', 'egress_policy_id')
    refused(await makeGroup({ port_ids: [plugged.router] }, stranger), 'computePortMissing', 'port_ids')
    refused(
      await send(app, firewallPolicies.create, { token: stranger, params: at(), body: { name: 'x', rule_ids: [rule.id] } }),
      'computeFirewallRuleMissing',
      'rule_ids',
    )
    // Platform-level people see all, and change it within its project.
    expect((await items(app, firewallGroups.list, { token: admin, params: at() })).find(({ id }) => id === group.id)).toMatchObject({
      port_ids: [plugged.instance],
      changeable: true,
    })
    expect(await call(app, firewallGroups.removePorts, { token: admin, params: at(group.id), body: { port_ids: [plugged.instance] } })).toMatchObject({
      status: 'inactive',
      keystone_project_id: group.keystone_project_id,
    })
  })

  it('a cloud without the service says so, and is asked for nothing further', async () => {
    const bare = await createFirewallCloud({ firewall: false })
    try {
      const params = { cloud_id: await knowCloud(app, bare.registration), id: nobodys }
      expect(await call(app, firewallServices.get, { token: tenant, params })).toEqual({ available: false })
      for (const list of [firewallGroups.list, firewallPolicies.list, firewallRules.list] as const)
        refused(await send(app, list, { token: tenant, params }), 'computeFirewallMissing')
      refused(await send(app, firewallRules.create, { token: tenant, params, body: { name: 'x', action: 'deny' } }), 'computeFirewallMissing')
      refused(await send(app, firewallGroups.delete, { token: tenant, params }), 'computeFirewallMissing')
      expect(bare.asked.some((one) => one.includes('/fwaas/') && !one.startsWith('GET'))).toBe(false)
      expect(bare.projects()).toEqual([])
    } finally {
      await bare.close()
    }
  })
})
