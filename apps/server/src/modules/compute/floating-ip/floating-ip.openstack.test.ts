import { computeFloatingIps as calls, type ComputeFloatingIp } from '@zhisuan/contract/compute/floating-ip'
import { computeInstances } from '@zhisuan/contract/compute/instance'
import { computeNetworks, computePorts, type ComputeNetwork, type ComputePort } from '@zhisuan/contract/compute/network'
import { recycledInstances } from '@zhisuan/contract/compute/recycled'
import { computeRouters } from '@zhisuan/contract/compute/router'
import type { BodyInput } from '@zhisuan/contract/define'
import { errors } from '@zhisuan/contract/errors'
import type { Problem } from '@zhisuan/contract/problem'
import { all } from '@zhisuan/engines/openstack/session'
import { ownName, until } from '@zhisuan/engines/openstack/testing'
import { cloudIsThere } from '@zhisuan/engines/openstack/local'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call, send } from '../../../testing/call.ts'
import { directly, forgetProjects, items, knowOpenStack, lines, makeOutside } from '../../../testing/openstack.ts'
import { makeOrganisation, someone } from '../../../testing/people.ts'

const nobodys = 'aaaaaaaa-0000-4000-8000-000000000000'

describe.runIf(cloudIsThere)('floating IPs', () => {
  let app: TestApp
  let cloud_id: string
  let admin: string
  let tenant: string
  let stranger: string
  /** External networks of this test alone: one with room, one with three addresses. */
  let outside: string
  let narrow: string
  /** Of the tenant: joined to a router that leads to `outside`. */
  let network: ComputeNetwork
  /** Of the tenant, joined to nothing. */
  let alone: ComputeNetwork
  let router_id: string
  let keystoneId: string
  const direct = directly()
  /** Newest first. */
  const undo: (() => Promise<unknown>)[] = []

  const params = (id = '') => ({ cloud_id, id })
  const allocate = (body: Partial<BodyInput<typeof calls.allocate>> = {}, token = tenant) =>
    send(app, calls.allocate, { token, params: params(), body: { network_id: outside, ...body } })
  const one = async (body: Partial<BodyInput<typeof calls.allocate>> = {}, token = tenant): Promise<ComputeFloatingIp> => {
    const [made] = (await call(app, calls.allocate, { token, params: params(), body: { network_id: outside, ...body } })).items
    if (made === undefined) throw new Error('none was made')
    return made
  }
  const bind = (id: string, body: BodyInput<typeof calls.bind>, token = tenant) => send(app, calls.bind, { token, params: params(id), body })
  const release = (...ids: string[]) => Promise.all(ids.map((id) => call(app, calls.release, { token: tenant, params: params(id) })))
  const makePort = (body: Partial<BodyInput<typeof computePorts.create>> = {}, token = tenant): Promise<ComputePort> =>
    call(app, computePorts.create, { token, params: params(), body: { name: ownName('port'), network_id: network.id, ...body } })
  const drop = (...ids: string[]) => Promise.all(ids.map((id) => call(app, computePorts.delete, { token: tenant, params: params(id) })))
  const owned = () => items(app, calls.list, { token: tenant, params: params() })
  const refused = (answer: { status: number; body: unknown }, name: keyof typeof errors, field?: string): void => {
    const problem = answer.body as Problem
    expect(problem.code, JSON.stringify(problem)).toBe(errors[name].code)
    expect(answer.status).toBe(errors[name].status)
    if (field !== undefined) expect(problem.fields?.map((each) => each.field)).toContain(field)
  }
  beforeAll(async () => {
    app = await testApp()
    cloud_id = await knowOpenStack(app)
    admin = (await someone(app, { kind: 1 })).token
    tenant = (await someone(app, { kind: 4, roles: ['TENANT'], organisation: await makeOrganisation(app) })).token
    stranger = (await someone(app, { kind: 4, roles: ['TENANT'], organisation: await makeOrganisation(app) })).token
    outside = await makeOutside(direct, { cidr: '198.51.100.0/24', start: '198.51.100.10', end: '198.51.100.200' })
    undo.unshift(() => direct.network.networks.delete(outside))
    narrow = await makeOutside(direct, { cidr: '203.0.113.0/29', start: '203.0.113.2', end: '203.0.113.4' })
    undo.unshift(() => direct.network.networks.delete(narrow))
    const make = (cidr: string, token = tenant) =>
      call(app, computeNetworks.create, { token, params: params(), body: { name: ownName('net'), subnet: { cidr } } })
    network = await make('10.61.0.0/24')
    alone = await make('10.62.0.0/24')
    keystoneId = network.keystone_project_id ?? ''
    router_id = (
      await call(app, computeRouters.create, {
        token: tenant,
        params: params(),
        body: { name: ownName('router'), gateway: { network_id: outside }, subnet_ids: [network.subnets[0]?.id ?? ''] },
      })
    ).id
  })
  afterAll(async () => {
    await forgetProjects(app, cloud_id)
    for (const one of undo) await one()
    await direct.close()
    await app.close()
  })

  it('one is allocated, bound, moved, unbound, described and released, and told as it is each time', async () => {
    const [first, second] = [await makePort(), await makePort()]
    const ip = await one({ description: '网站入口' })
    expect(ip).toMatchObject({
      address: expect.stringMatching(/^198\.51\.100\./),
      status: 'down',
      network_id: outside,
      bound_to: null,
      description: '网站入口',
      keystone_project_id: keystoneId,
      changeable: true,
    })
    expect(Math.abs(Date.parse(ip.created_at ?? '') - Date.now())).toBeLessThan(600_000)

    const bound = await call(app, calls.bind, { token: tenant, params: params(ip.id), body: { port_id: first.id } })
    expect(bound.bound_to).toEqual({ port_id: first.id, port_name: first.name, instance_id: null, fixed_address: first.addresses[0]?.address, router_id })
    expect((await direct.network.floatingIps.get(ip.id)).portId).toBe(first.id)
    const told = await lines(app, calls.list, { token: tenant, params: params() })
    const listed = told.flatMap(({ items: some = [] }) => some).find(({ id }) => id === ip.id)
    expect(listed).toMatchObject({ bound_to: bound.bound_to, address: ip.address })
    const names = Object.assign({}, ...told.map((line) => line.names ?? {})) as Record<string, string>
    expect(names).toMatchObject({ [outside]: expect.stringContaining('outside'), [router_id]: expect.stringContaining('router') })
    expect(await call(app, calls.get, { token: tenant, params: params(ip.id) })).toMatchObject({
      bound_to: bound.bound_to,
      names: { [outside]: names[outside], [router_id]: names[router_id] },
    })

    const moved = await call(app, calls.bind, { token: tenant, params: params(ip.id), body: { port_id: second.id, from_port_id: first.id } })
    expect(moved.bound_to).toMatchObject({ port_id: second.id, fixed_address: second.addresses[0]?.address })
    expect((await call(app, calls.unbind, { token: tenant, params: params(ip.id), body: { from_port_id: second.id } })).bound_to).toBeNull()
    expect(await call(app, calls.update, { token: tenant, params: params(ip.id), body: { description: '' } })).toMatchObject({
      description: '',
      bound_to: null,
    })
    await release(ip.id)
    refused(await send(app, calls.get, { token: tenant, params: params(ip.id) }), 'notFound')
    expect(await all(direct.network.floatingIps.list({ project_id: keystoneId }))).toEqual([])
    await drop(first.id, second.id)
  })

  it('several are allocated at once: all of them or none, with the reason at its field', async () => {
    const { items: made } = await call(app, calls.allocate, { token: tenant, params: params(), body: { network_id: outside, count: 7 } })
    expect(new Set(made.map(({ address }) => address)).size).toBe(7)
    await release(...made.map(({ id }) => id))

    // Three addresses are there; the router of nobody takes none.
    refused(await allocate({ network_id: narrow, count: 4 }), 'computeAddressesExhausted', 'network_id')
    expect(await owned()).toEqual([])
    await direct.network.quotas.set(keystoneId, { floatingip: 2 })
    const short = await allocate({ count: 3 })
    refused(short, 'computeQuotaShort', 'count')
    expect((short.body as Problem).message).toBe('云平台项目的浮动 IP 数配额还可用2，需要3')
    expect(await owned()).toEqual([])
    await direct.network.quotas.set(keystoneId, { floatingip: 50 })

    for (const [body, name, field] of [
      [{ count: 0 }, 'fieldsInvalid', 'count'],
      [{ count: 21 }, 'fieldsInvalid', 'count'],
      [{ count: 2, port_id: nobodys }, 'fieldsInvalid', 'count'],
      [{ fixed_address: '2001:db8::1', port_id: nobodys }, 'fieldsInvalid', 'fixed_address'],
      [{ network_id: nobodys }, 'computeNetworkMissing', 'network_id'],
      [{ network_id: 'nothing' }, 'computeNetworkMissing', 'network_id'],
      [{ network_id: network.id }, 'computeNetworkNotExternal', 'network_id'],
      [{ address: '198.51.100.77' }, 'computePlatformOnly', 'address'],
      [{ port_id: nobodys }, 'computePortMissing', 'port_id'],
    ] as const)
      refused(await allocate(body), name, field)
    expect(await owned()).toEqual([])
  })

  it('of those who take the last address at once, one gets it', async () => {
    const held = (await call(app, calls.allocate, { token: tenant, params: params(), body: { network_id: narrow, count: 2 } })).items
    const answers = await Promise.all([tenant, stranger, tenant, stranger].map((token) => allocate({ network_id: narrow }, token)))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 400, 400, 400])
    for (const answer of answers.filter(({ status }) => status === 400)) refused(answer, 'computeAddressesExhausted', 'network_id')
    expect(await all(direct.network.floatingIps.list({ floating_network_id: narrow }))).toHaveLength(3)
    const winner = answers.findIndex(({ status }) => status === 201)
    const [last] = calls.allocate.response.parse(answers[winner]?.body).items
    await call(app, calls.release, { token: winner % 2 === 0 ? tenant : stranger, params: params(last?.id) })
    await release(...held.map(({ id }) => id))
  })

  it('platform-level people say which address it is to be', async () => {
    const ip = await one({ address: '198.51.100.150' }, admin)
    expect(ip.address).toBe('198.51.100.150')
    refused(await allocate({ address: '198.51.100.150' }, admin), 'computeAddressTaken', 'address')
    refused(await allocate({ address: '10.0.0.1' }, admin), 'computeAddressTaken', 'address')
    refused(await allocate({ address: 'x' }, admin), 'fieldsInvalid', 'address')
    expect((await items(app, calls.list, { token: admin, params: params() })).map(({ id }) => id)).toContain(ip.id)
    expect(await owned()).toEqual([])
    await call(app, calls.release, { token: admin, params: params(ip.id) })
  })

  it('where it cannot lead is said at the port or its address', async () => {
    const subnet_id = network.subnets[0]?.id ?? ''
    const [plain, far, twice] = [await makePort(), await makePort({ network_id: alone.id }), await makePort({ addresses: [{ subnet_id }, { subnet_id }] })]
    const [ip, other] = [await one(), await one()]
    refused(await bind(ip.id, { port_id: far.id }), 'computePortUnreachable', 'port_id')
    refused(await bind(ip.id, { port_id: nobodys }), 'computePortMissing', 'port_id')
    refused(await bind(ip.id, { port_id: twice.id }), 'computeFixedAddressMissing', 'fixed_address')
    refused(await bind(ip.id, { port_id: plain.id, fixed_address: '10.61.0.250' }), 'computeFixedAddressMissing', 'fixed_address')
    const routers = await all(direct.network.ports.list({ device_id: router_id, device_owner: 'network:router_interface' }))
    refused(await bind(ip.id, { port_id: routers[0]?.id ?? '' }), 'computePortInUse', 'port_id')
    // Which of its addresses.
    const wanted = twice.addresses[1]?.address ?? ''
    expect((await bind(ip.id, { port_id: twice.id, fixed_address: wanted })).body).toMatchObject({ bound_to: { port_id: twice.id, fixed_address: wanted } })
    refused(await bind(other.id, { port_id: twice.id, fixed_address: wanted }), 'computeFixedAddressTaken', 'port_id')
    refused(await allocate({ port_id: twice.id, fixed_address: wanted }), 'computeFixedAddressTaken', 'port_id')
    refused(await allocate({ port_id: far.id }), 'computePortUnreachable', 'port_id')
    expect(await owned()).toHaveLength(2)
    // Its other address is free for another.
    expect(await one({ port_id: twice.id, fixed_address: twice.addresses[0]?.address ?? '' })).toMatchObject({ bound_to: { port_id: twice.id, router_id } })
    // What leads somewhere keeps its router.
    refused(await send(app, computeRouters.clearGateway, { token: tenant, params: params(router_id) }), 'computeRouterNeeded')
    await release(...(await owned()).map(({ id }) => id))
    await drop(plain.id, far.id, twice.id)
  })

  it('of those who bind one address at once, one does; who saw it elsewhere is told so', async () => {
    const ports = await Promise.all([1, 2, 3].map(() => makePort()))
    const ip = await one()
    const answers = await Promise.all(ports.map(({ id }) => bind(ip.id, { port_id: id })))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409])
    for (const answer of answers.filter(({ status }) => status === 409)) refused(answer, 'computeFloatingIpChanged')
    const winner = ports[answers.findIndex(({ status }) => status === 200)]?.id ?? ''
    expect((await direct.network.floatingIps.get(ip.id)).portId).toBe(winner)
    const loser = ports.find(({ id }) => id !== winner)?.id ?? ''
    refused(await bind(ip.id, { port_id: loser }), 'computeFloatingIpChanged')
    refused(await send(app, calls.unbind, { token: tenant, params: params(ip.id), body: { from_port_id: loser } }), 'computeFloatingIpChanged')
    expect((await bind(ip.id, { port_id: loser, from_port_id: winner })).status).toBe(200)
    // Of two addresses to one port at once, one gets there.
    const other = await one()
    const third = ports.find(({ id }) => id !== winner && id !== loser)?.id ?? ''
    const both = await Promise.all([bind(ip.id, { port_id: third, from_port_id: loser }), bind(other.id, { port_id: third })])
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 400])
    refused(both.find(({ status }) => status === 400) ?? { status: 0, body: {} }, 'computeFixedAddressTaken', 'port_id')
    await release(ip.id, other.id)
    await drop(...ports.map(({ id }) => id))
  })

  it('is told with the instance that it leads to, and leads to none in the recycle bin', async () => {
    const [images, sizes] = await Promise.all([all(direct.images.list({ name: 'empty' })), all(direct.compute.flavors.list())])
    const wish = {
      name: ownName('vm'),
      flavor_id: sizes.find(({ name }) => name === 'm1.tiny')?.id ?? '',
      source: { type: 'image' as const, image_id: images[0]?.id ?? '' },
      networks: [{ network_id: network.id }],
    }
    const { items: made } = await call(app, computeInstances.create, { token: tenant, params: params(), body: wish as never })
    const id = made[0]?.id ?? ''
    const look = () => call(app, computeInstances.get, { token: tenant, params: params(id) })
    const instance = await until(
      look,
      ({ state }) => state === 'running',
      ({ state }) => state === 'create_failed',
    )
    const port_id = instance.interfaces[0]?.port_id ?? ''
    const ip = await one({ port_id })
    expect(ip.bound_to).toMatchObject({ port_id, instance_id: id })
    expect(await call(app, calls.get, { token: tenant, params: params(ip.id) })).toMatchObject({ names: { [id]: wish.name } })
    const told = await lines(app, calls.list, { token: tenant, params: params() })
    expect(told.flatMap(({ items: some = [] }) => some).find((each) => each.id === ip.id)?.bound_to?.instance_id).toBe(id)
    expect(Object.assign({}, ...told.map(({ names }) => names ?? {}))).toMatchObject({ [id]: wish.name })
    // Nova learns of it by and by.
    await until(look, ({ addresses }) => addresses.some(({ type, address }) => type === 'floating' && address === ip.address))

    await call(app, computeInstances.recycle, { token: tenant, params: params(id) })
    await until(
      () => items(app, recycledInstances.list, { token: tenant, params: params() }),
      (bin) => bin.some((each) => each.id === id && each.status === 'recycled'),
    )
    expect((await call(app, calls.get, { token: tenant, params: params(ip.id) })).bound_to).toBeNull()
    refused(await bind(ip.id, { port_id }), 'instanceRecycled', 'port_id')
    refused(await allocate({ port_id }), 'instanceRecycled', 'port_id')
    await release(ip.id)
  })

  it('nothing of one organisation is there for another: not in a list, not by an id, not in a body', async () => {
    const port = await makePort()
    const ip = await one({ port_id: port.id })
    const theirs = await one({}, stranger)
    const of = { token: stranger, params: params(ip.id) }
    const told = JSON.stringify(await lines(app, calls.list, { token: stranger, params: params() }))
    for (const hidden of [ip.id, ip.address, port.id, port.name, router_id]) expect(told).not.toContain(hidden)
    for (const answer of [
      await send(app, calls.get, of),
      await send(app, calls.update, { ...of, body: { description: 'x' } }),
      await send(app, calls.bind, { ...of, body: { port_id: port.id, from_port_id: port.id } }),
      await send(app, calls.unbind, { ...of, body: { from_port_id: port.id } }),
      await send(app, calls.release, of),
    ])
      refused(answer, 'notFound')
    refused(await bind(theirs.id, { port_id: port.id }, stranger), 'computePortMissing', 'port_id')
    refused(await allocate({ port_id: port.id }, stranger), 'computePortMissing', 'port_id')
    // Nor does an administrator join what belongs to two.
    refused(await bind(theirs.id, { port_id: port.id }, admin), 'computePortMissing', 'port_id')
    // An administrator may do all else, in the project of each.
    expect(await call(app, calls.update, { token: admin, params: params(ip.id), body: { description: '平台' } })).toMatchObject({
      description: '平台',
      bound_to: { port_id: port.id },
    })
    const nobody = (await someone(app, { kind: 4, roles: ['TENANT'], organisation: await makeOrganisation(app) })).token
    expect(await items(app, calls.list, { token: nobody, params: params() })).toEqual([])
    refused(await send(app, calls.get, { token: nobody, params: params(ip.id) }), 'notFound')
    await call(app, calls.release, { token: stranger, params: params(theirs.id) })
    await release(ip.id)
    await drop(port.id)
  })
})
