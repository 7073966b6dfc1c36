import { computeNetworks, computePorts } from '@zhisuan/contract/compute/network'
import { computeSecurityGroups as calls, type ComputeSecurityGroup, type ComputeSecurityRule } from '@zhisuan/contract/compute/security-group'
import type { BodyInput } from '@zhisuan/contract/define'
import { errors } from '@zhisuan/contract/errors'
import type { Problem } from '@zhisuan/contract/problem'
import { all } from '@zhisuan/engines/openstack/session'
import { ownName } from '@zhisuan/engines/openstack/testing'
import { cloudIsThere } from '@zhisuan/engines/openstack/local'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call, send } from '../../../testing/call.ts'
import { directly, forgetProjects, items, knowOpenStack, lines } from '../../../testing/openstack.ts'
import { makeOrganisation, someone } from '../../../testing/people.ts'

const nobodys = 'aaaaaaaa-0000-4000-8000-000000000000'

describe.runIf(cloudIsThere)('security groups', () => {
  let app: TestApp
  let cloud_id: string
  let admin: string
  let tenant: string
  let stranger: string
  const direct = directly()
  beforeAll(async () => {
    app = await testApp()
    cloud_id = await knowOpenStack(app)
    admin = (await someone(app, { kind: 1 })).token
    tenant = (await someone(app, { kind: 4, roles: ['TENANT'], organisation: await makeOrganisation(app) })).token
    stranger = (await someone(app, { kind: 4, roles: ['TENANT'], organisation: await makeOrganisation(app) })).token
  })
  afterAll(async () => {
    await forgetProjects(app, cloud_id)
    await direct.close()
    await app.close()
  })

  const params = (id = '') => ({ cloud_id, id })
  const make = (body: Partial<BodyInput<typeof calls.create>> = {}, token = tenant): Promise<ComputeSecurityGroup> =>
    call(app, calls.create, { token, params: params(), body: { name: ownName('group'), ...body } })
  const look = (id: string, token = tenant) => call(app, calls.get, { token, params: params(id) })
  const add = (id: string, rule: Record<string, unknown>, token = tenant) =>
    send(app, calls.addRule, { token, params: params(id), body: { direction: 'ingress', ...rule } })
  const remove = (...ids: string[]) => Promise.all(ids.map((id) => call(app, calls.delete, { token: tenant, params: params(id) })))
  const refused = (answer: { status: number; body: unknown }, name: keyof typeof errors, field?: string): Problem => {
    const problem = answer.body as Problem
    expect(problem.code, JSON.stringify(problem)).toBe(errors[name].code)
    expect(answer.status).toBe(errors[name].status)
    if (field !== undefined) expect(problem.fields?.map((each) => each.field)).toContain(field)
    return problem
  }
  const plain = {
    version: 4,
    protocol: null,
    port_from: null,
    port_to: null,
    icmp_type: null,
    icmp_code: null,
    remote_cidr: null,
    remote_group_id: null,
    description: '',
  }

  it('one is made of a template, described, renamed and deleted', async () => {
    const group = await make({ template: 'web', description: '网站' })
    // What Neutron lets out of itself, and the template.
    expect(group).toMatchObject({ description: '网站', rule_count: 5, port_count: 0, remote_group_ids: [], changeable: true })
    const { rules } = await look(group.id)
    const inward = rules.filter(({ direction }) => direction === 'ingress').map((rule) => ({ ...rule, id: '' }))
    expect(inward).toHaveLength(3)
    for (const port of [80, 443])
      expect(inward).toContainEqual({
        ...plain,
        id: '',
        direction: 'ingress',
        protocol: 'tcp',
        port_from: port,
        port_to: port,
        remote_cidr: '0.0.0.0/0',
        description: 'HTTP, HTTPS',
      })
    expect(inward).toContainEqual({ ...plain, id: '', direction: 'ingress', protocol: 'icmp', remote_cidr: '0.0.0.0/0', description: 'ping' })
    expect(
      rules
        .filter(({ direction }) => direction === 'egress')
        .map(({ version }) => version)
        .toSorted(),
    ).toEqual([4, 6])
    for (const [template, count] of [
      ['none', 2],
      ['ssh', 3],
      ['all', 3],
    ] as const) {
      const other = await make({ template })
      expect(other.rule_count).toBe(count)
      await remove(other.id)
    }

    const renamed = await call(app, calls.update, { token: tenant, params: params(group.id), body: { name: '前端 网站', description: '' } })
    expect(renamed).toMatchObject({ name: '前端 网站', description: '', rule_count: 5 })
    expect((await items(app, calls.list, { token: tenant, params: params() })).find(({ id }) => id === group.id)).toEqual(renamed)
    await remove(group.id)
    refused(await send(app, calls.get, { token: tenant, params: params(group.id) }), 'notFound')
  })

  it('half of one is not made', async () => {
    const before = await make()
    const project = before.keystone_project_id ?? ''
    const count = (await items(app, calls.list, { token: tenant, params: params() })).reduce((sum, group) => sum + group.rule_count, 0)
    await direct.network.quotas.set(project, { security_group_rule: count + 3 })
    const name = ownName('half')
    refused(await send(app, calls.create, { token: tenant, params: params(), body: { name, template: 'web' } }), 'computeSecurityGroupQuota', 'name')
    expect(await all(direct.network.securityGroups.list({ name }))).toEqual([])
    await direct.network.quotas.set(project, { security_group_rule: count })
    refused(await add(before.id, { protocol: 'tcp', port_from: 22 }), 'computeSecurityGroupQuota', 'protocol')
    await direct.network.quotas.set(project, { security_group_rule: 100, security_group: 2 })
    refused(await send(app, calls.create, { token: tenant, params: params(), body: { name } }), 'computeSecurityGroupQuota', 'name')
    await direct.network.quotas.set(project, { security_group: 100 })
    await remove(before.id)
  })

  it('the default group is told, described and given rules, but stays as it is called', async () => {
    const own = await make()
    const group = (await items(app, calls.list, { token: tenant, params: params() })).find(({ name }) => name === 'default')
    if (group === undefined) throw new Error('there is none')
    // Its rules name itself.
    expect(group).toMatchObject({ rule_count: 4, remote_group_ids: [group.id] })
    expect((await look(group.id)).names).toMatchObject({ [group.id]: 'default' })
    for (const token of [tenant, admin]) {
      refused(await send(app, calls.delete, { token, params: params(group.id) }), 'computeSecurityGroupDefault')
      refused(await send(app, calls.update, { token, params: params(group.id), body: { name: 'x' } }), 'computeSecurityGroupDefault', 'name')
    }
    expect(await call(app, calls.update, { token: tenant, params: params(group.id), body: { name: 'default', description: '默认' } })).toMatchObject({
      name: 'default',
      description: '默认',
    })
    refused(await send(app, calls.update, { token: tenant, params: params(own.id), body: { name: 'default' } }), 'computeSecurityGroupDefault', 'name')
    refused(await send(app, calls.create, { token: tenant, params: params(), body: { name: 'default' } }), 'computeSecurityGroupDefault', 'name')
    await remove(own.id)
  })

  it('rules of each kind are added as they were wished for, and removed', async () => {
    const [group, other] = [await make(), await make()]
    const wishes: [Record<string, unknown>, Partial<ComputeSecurityRule>][] = [
      [
        { protocol: 'tcp', port_from: 22, remote_cidr: '10.0.0.0/8', description: '运维' },
        { protocol: 'tcp', port_from: 22, port_to: 22, remote_cidr: '10.0.0.0/8', description: '运维' },
      ],
      [
        { protocol: 'udp', port_from: 8000, port_to: 8100, remote_cidr: '192.0.2.7' },
        { protocol: 'udp', port_from: 8000, port_to: 8100, remote_cidr: '192.0.2.7/32' },
      ],
      [
        { version: 6, protocol: 'tcp', port_from: 443, remote_cidr: '2001:db8::/32' },
        { version: 6, remote_cidr: '2001:db8::/32' },
      ],
      [{ version: 6, protocol: 'tcp', port_from: 80, remote_cidr: '2001:db8::7' }, { remote_cidr: '2001:db8::7/128' }],
      [
        { protocol: 'icmp', icmp_type: 8, icmp_code: 0 },
        { protocol: 'icmp', icmp_type: 8, icmp_code: 0, port_from: null },
      ],
      [
        { version: 6, protocol: 'icmpv6', icmp_type: 128 },
        { version: 6, protocol: 'icmpv6', icmp_type: 128, icmp_code: null },
      ],
      [{ protocol: '47' }, { protocol: '47' }],
      [
        { protocol: '132', port_from: 5000, port_to: 5010 },
        { port_from: 5000, port_to: 5010 },
      ],
      [{ remote_group_id: other.id }, { protocol: null, remote_group_id: other.id }],
      [
        { direction: 'egress', protocol: 'tcp', port_from: 25, remote_cidr: '10.9.0.0/16' },
        { direction: 'egress', port_to: 25 },
      ],
    ]
    const made: string[] = []
    for (const [wish, expected] of wishes) {
      const { status, body } = await add(group.id, wish)
      expect(status, JSON.stringify([wish, body])).toBe(201)
      expect(body).toMatchObject(expected)
      made.push((body as ComputeSecurityRule).id)
    }
    const shown = await look(group.id)
    expect(shown.rules).toHaveLength(2 + wishes.length)
    for (const [index, id] of made.entries()) expect(shown.rules.find((rule) => rule.id === id)).toMatchObject(wishes[index]?.[1] ?? {})
    expect(shown).toMatchObject({ remote_group_ids: [other.id], names: { [other.id]: other.name } })
    for (const security_group_rule_id of made) await call(app, calls.removeRule, { token: tenant, params: { ...params(group.id), security_group_rule_id } })
    const rest = await look(group.id)
    expect(rest.rules).toHaveLength(2)
    refused(await send(app, calls.removeRule, { token: tenant, params: { ...params(group.id), security_group_rule_id: made[0] ?? '' } }), 'notFound')
    // A rule is removed by its own group only.
    refused(await send(app, calls.removeRule, { token: tenant, params: { ...params(other.id), security_group_rule_id: rest.rules[0]?.id ?? '' } }), 'notFound')

    // Who goes takes along the rules that name them.
    await add(group.id, { remote_group_id: other.id })
    await remove(other.id)
    expect((await look(group.id)).rules).toHaveLength(2)
    await remove(group.id)
  })

  it('rules that do not fit together, or name what is not there, are refused at their field', async () => {
    const group = await make()
    const cases: [Record<string, unknown>, string, (keyof typeof errors)?][] = [
      [{ direction: 'sideways' }, 'direction'],
      [{ protocol: 'http' }, 'protocol'],
      [{ protocol: '256' }, 'protocol'],
      [{ protocol: 'tcp', port_from: 0 }, 'port_from'],
      [{ protocol: 'tcp', port_from: 1, port_to: 65536 }, 'port_to'],
      [{ protocol: 'tcp', port_from: 9, port_to: 8 }, 'port_to'],
      [{ protocol: 'tcp', port_to: 8 }, 'port_from'],
      [{ port_from: 80 }, 'port_from'],
      [{ protocol: '47', port_from: 80 }, 'port_from'],
      [{ protocol: 'tcp', icmp_type: 8 }, 'icmp_type'],
      [{ protocol: 'icmp', icmp_code: 8 }, 'icmp_type'],
      [{ protocol: 'icmp', icmp_type: 256 }, 'icmp_type'],
      [{ protocol: 'icmp', version: 6 }, 'version'],
      [{ protocol: 'icmpv6' }, 'version'],
      [{ remote_cidr: '10.0.0.5/8' }, 'remote_cidr'],
      [{ remote_cidr: 'example.org' }, 'remote_cidr'],
      [{ remote_cidr: '2001:db8::/32' }, 'remote_cidr'],
      [{ remote_cidr: '10.0.0.0/8', remote_group_id: group.id }, 'remote_group_id'],
      [{ remote_group_id: nobodys }, 'remote_group_id', 'computeGroupMissing'],
      [{ remote_group_id: 'nothing' }, 'remote_group_id', 'computeGroupMissing'],
    ]
    for (const [rule, field, name = 'fieldsInvalid'] of cases) refused(await add(group.id, rule), name, field)
    expect((await look(group.id)).rules).toHaveLength(2)
    await remove(group.id)
  })

  it('the same rule is there once, also where it is said otherwise, and where it is added at once', async () => {
    const group = await make()
    const rule = { protocol: 'tcp', port_from: 4444, remote_cidr: '0.0.0.0/0' }
    const answers = await Promise.all([1, 2, 3, 4, 5].map(() => add(group.id, rule)))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 400, 400, 400, 400])
    for (const answer of answers.filter(({ status }) => status === 400)) refused(answer, 'computeRuleExists', 'protocol')
    refused(await add(group.id, { ...rule, protocol: '6', description: '又一次' }), 'computeRuleExists', 'protocol')
    refused(await add(group.id, { ...rule, port_to: 4444 }), 'computeRuleExists', 'protocol')
    expect((await look(group.id)).rules).toHaveLength(3)
    // Of another direction it is another rule; who waited was not in the way of who came later.
    expect((await add(group.id, { ...rule, direction: 'egress' })).status).toBe(201)
    await remove(group.id)
  })

  it('what guards a port is counted, and stays while it does so', async () => {
    const group = await make()
    const network = await call(app, computeNetworks.create, {
      token: tenant,
      params: params(),
      body: { name: ownName('net'), subnet: { cidr: '10.63.0.0/24' } },
    })
    const ports = await Promise.all(
      [1, 2].map((number) =>
        call(app, computePorts.create, {
          token: tenant,
          params: params(),
          body: { name: `${group.name}-${number}`, network_id: network.id, security_group_ids: [group.id] },
        }),
      ),
    )
    expect((await look(group.id)).port_count).toBe(2)
    expect((await items(app, calls.list, { token: tenant, params: params() })).find(({ id }) => id === group.id)?.port_count).toBe(2)
    const problem = refused(await send(app, calls.delete, { token: tenant, params: params(group.id) }), 'computeSecurityGroupInUse')
    for (const port of ports) expect(problem.message).toContain(port.name)
    for (const { id } of ports) await call(app, computePorts.delete, { token: tenant, params: params(id) })
    await remove(group.id)
    await call(app, computeNetworks.delete, { token: tenant, params: params(network.id) })
  })

  it('nothing of one organisation is there for another: not in a list, not by an id, not in a body', async () => {
    const group = await make()
    const security_group_rule_id = (await look(group.id)).rules[0]?.id ?? ''
    for (const own of [false, true]) {
      const theirs = own ? await make({}, stranger) : null
      const told = JSON.stringify(await lines(app, calls.list, { token: stranger, params: params() }))
      for (const hidden of [group.id, group.name]) expect(told).not.toContain(hidden)
      const of = { token: stranger, params: params(group.id) }
      for (const answer of [
        await send(app, calls.get, of),
        await send(app, calls.update, { ...of, body: { description: 'x' } }),
        await send(app, calls.delete, of),
        await add(group.id, { protocol: 'tcp', port_from: 22 }, stranger),
        await send(app, calls.removeRule, { token: stranger, params: { ...params(group.id), security_group_rule_id } }),
      ])
        refused(answer, 'notFound')
      if (theirs === null) continue
      refused(await add(theirs.id, { remote_group_id: group.id }, stranger), 'computeGroupMissing', 'remote_group_id')
      await call(app, calls.delete, { token: stranger, params: params(theirs.id) })
    }
    // Administrators see and change all, in the project of each.
    expect((await items(app, calls.list, { token: admin, params: params() })).map(({ id }) => id)).toContain(group.id)
    const { status, body } = await add(group.id, { protocol: 'tcp', port_from: 22 }, admin)
    expect(status).toBe(201)
    expect((await look(group.id)).rules.map(({ id }) => id)).toContain((body as ComputeSecurityRule).id)
    await remove(group.id)
  })
})
