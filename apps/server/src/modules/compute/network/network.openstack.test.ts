import { computeNetworks, computePorts, computeSubnets, type ComputeNetwork, type ComputeSubnet } from '@zhisuan/contract/compute/network'
import { computeRouters, type ComputeRouter } from '@zhisuan/contract/compute/router'
import type { BodyInput } from '@zhisuan/contract/define'
import { errors } from '@zhisuan/contract/errors'
import type { Problem } from '@zhisuan/contract/problem'
import { ownName } from '@zhisuan/engines/openstack/testing'
import { all } from '@zhisuan/engines/openstack/session'
import { cloudIsThere } from '@zhisuan/engines/openstack/local'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call, send } from '../../../testing/call.ts'
import { directly, forgetProjects, items, knowOpenStack, lines } from '../../../testing/openstack.ts'
import { makeOrganisation, someone } from '../../../testing/people.ts'

const nobodys = 'aaaaaaaa-0000-4000-8000-000000000000'

describe.runIf(cloudIsThere)('networks, subnets, ports and routers', () => {
  let app: TestApp
  let cloud_id: string
  let admin: string
  let tenant: string
  let stranger: string
  /** The external network of this cloud. */
  let outside: string
  const direct = directly()
  beforeAll(async () => {
    app = await testApp()
    cloud_id = await knowOpenStack(app)
    admin = (await someone(app, { kind: 1 })).token
    tenant = (await someone(app, { kind: 4, roles: ['TENANT'], organisation: await makeOrganisation(app) })).token
    stranger = (await someone(app, { kind: 4, roles: ['TENANT'], organisation: await makeOrganisation(app) })).token
    outside = (await all(direct.network.networks.list({ 'router:external': true })))[0]?.id ?? ''
  })
  afterAll(async () => {
    await forgetProjects(app, cloud_id)
    await direct.close()
    await app.close()
  })

  const params = (id = '') => ({ cloud_id, id })
  const makeNetwork = (cidr?: string, more: Partial<BodyInput<typeof computeNetworks.create>> = {}, token = tenant): Promise<ComputeNetwork> =>
    call(app, computeNetworks.create, { token, params: params(), body: { name: ownName('net'), ...(cidr !== undefined && { subnet: { cidr } }), ...more } })
  const makeRouter = (more: Partial<BodyInput<typeof computeRouters.create>> = {}, token = tenant): Promise<ComputeRouter> =>
    call(app, computeRouters.create, { token, params: params(), body: { name: ownName('router'), ...more } })
  const subnetOf = (network: ComputeNetwork): string => network.subnets[0]?.id ?? ''
  const refused = (answer: { status: number; body: unknown }, name: keyof typeof errors, field?: string): void => {
    const problem = answer.body as Problem
    expect(problem.code, JSON.stringify(problem)).toBe(errors[name].code)
    expect(answer.status).toBe(errors[name].status)
    if (field !== undefined) expect(problem.fields?.map((one) => one.field)).toContain(field)
  }

  it('a network is made with its first subnet, changed and deleted', async () => {
    const made = await makeNetwork(undefined, {
      description: '前端',
      subnet: {
        name: '子网',
        cidr: '10.31.0.0/24',
        gateway: '10.31.0.254',
        nameservers: ['1.1.1.1'],
        pools: [{ start: '10.31.0.10', end: '10.31.0.20' }],
        host_routes: [{ destination: '10.99.0.0/16', next_hop: '10.31.0.9' }],
      },
    })
    expect(made).toMatchObject({
      status: 'active',
      enabled: true,
      shared: false,
      external: false,
      provider: null,
      changeable: true,
      description: '前端',
      subnets: [{ name: '子网', cidr: '10.31.0.0/24', gateway: '10.31.0.254', dhcp: true }],
    })
    const subnet = await call(app, computeSubnets.get, { token: tenant, params: params(subnetOf(made)) })
    expect(subnet).toMatchObject({
      nameservers: ['1.1.1.1'],
      pools: [{ start: '10.31.0.10', end: '10.31.0.20' }],
      host_routes: [{ destination: '10.99.0.0/16', next_hop: '10.31.0.9' }],
      names: { [made.id]: made.name },
    })
    const changed = await call(app, computeNetworks.update, {
      token: tenant,
      params: params(made.id),
      body: { name: `${made.name}-2`, enabled: false, description: '' },
    })
    expect(changed).toMatchObject({ name: `${made.name}-2`, enabled: false, description: '', subnets: [{ cidr: '10.31.0.0/24' }] })
    const listed = (await items(app, computeNetworks.list, { token: tenant, params: params() })).find(({ id }) => id === made.id)
    expect(listed).toEqual(changed)
    // Platform-level people also see what it is made of.
    expect(await call(app, computeNetworks.get, { token: admin, params: params(made.id) })).toMatchObject({
      provider: { type: expect.any(String) as string },
      changeable: true,
    })
    await call(app, computeNetworks.delete, { token: tenant, params: params(made.id) })
    refused(await send(app, computeNetworks.get, { token: tenant, params: params(made.id) }), 'notFound')
  })

  it('what was half made is taken back', async () => {
    const before = await makeNetwork()
    const name = ownName('half')
    const project = before.keystone_project_id ?? ''
    await direct.network.quotas.set(project, { subnet: 0 })
    expect(await send(app, computeNetworks.create, { token: tenant, params: params(), body: { name, subnet: { cidr: '10.32.0.0/24' } } })).toMatchObject({
      status: 400,
    })
    await direct.network.quotas.set(project, { subnet: 100 })
    expect(await all(direct.network.networks.list({ name }))).toEqual([])
    await call(app, computeNetworks.delete, { token: tenant, params: params(before.id) })

    const router = ownName('half')
    const network = await makeNetwork('10.32.0.0/24')
    refused(
      await send(app, computeRouters.create, { token: tenant, params: params(), body: { name: router, subnet_ids: [subnetOf(network), nobodys] } }),
      'computeSubnetMissing',
      'subnet_ids.1',
    )
    expect(await all(direct.network.routers.list({ name: router }))).toEqual([])
    expect(await all(direct.network.ports.list({ network_id: network.id, device_owner: 'network:router_interface' }))).toEqual([])
    await call(app, computeNetworks.delete, { token: tenant, params: params(network.id) })
  })

  it('settings that do not fit are refused at their field, also where a change makes them so', async () => {
    const network = await makeNetwork('10.33.0.0/24')
    const create = (body: Record<string, unknown>) =>
      send(app, computeSubnets.create, { token: tenant, params: params(), body: { network_id: network.id, cidr: '10.34.0.0/24', ...body } })
    refused(await create({ cidr: '10.33.0.128/25' }), 'computeRangeTaken', 'cidr')
    refused(await create({ cidr: '10.34.0.7/24' }), 'fieldsInvalid', 'cidr')
    refused(await create({ gateway: '10.35.0.1' }), 'fieldsInvalid', 'gateway')
    refused(await create({ gateway: '10.34.0.5', pools: [{ start: '10.34.0.2', end: '10.34.0.9' }] }), 'fieldsInvalid', 'pools.0')
    refused(await create({ nameservers: ['2001:db8::1'] }), 'fieldsInvalid', 'nameservers.0')
    refused(await create({ network_id: nobodys }), 'computeNetworkMissing', 'network_id')
    refused(await create({ network_id: outside }), 'noPermission')
    const subnet = subnetOf(network)
    const update = (body: Record<string, unknown>) => send(app, computeSubnets.update, { token: tenant, params: params(subnet), body })
    refused(await update({ gateway: '10.33.1.1' }), 'fieldsInvalid', 'gateway')
    refused(await update({ gateway: '10.33.0.77' }), 'fieldsInvalid', 'gateway')
    refused(await update({ pools: [{ start: '10.33.0.1', end: '10.33.0.9' }] }), 'fieldsInvalid', 'pools.0')
    expect((await update({ name: '后端', dhcp: false, nameservers: ['9.9.9.9'], pools: [{ start: '10.33.0.50', end: '10.33.0.60' }] })).body).toMatchObject({
      name: '后端',
      dhcp: false,
      nameservers: ['9.9.9.9'],
      pools: [{ start: '10.33.0.50', end: '10.33.0.60' }],
    })
    expect((await update({ gateway: null })).body).toMatchObject({ gateway: null, name: '后端' })
    await call(app, computeNetworks.delete, { token: tenant, params: params(network.id) })
  })

  it('of two subnets of one range at once, one is made', async () => {
    const network = await makeNetwork()
    const answers = await Promise.all(
      [1, 2, 3].map(() => send(app, computeSubnets.create, { token: tenant, params: params(), body: { network_id: network.id, cidr: '10.36.0.0/24' } })),
    )
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 400, 400])
    for (const answer of answers.filter(({ status }) => status === 400)) refused(answer, 'computeRangeTaken', 'cidr')
    expect((await items(app, computeSubnets.list, { token: tenant, params: params() })).filter(({ network_id }) => network_id === network.id)).toHaveLength(1)
    await call(app, computeNetworks.delete, { token: tenant, params: params(network.id) })
  })

  it('ports: addresses, guards, and what they are plugged into by its name', async () => {
    const network = await makeNetwork('10.37.0.0/24')
    const subnet_id = subnetOf(network)
    const create = (body: Record<string, unknown>) =>
      send(app, computePorts.create, { token: tenant, params: params(), body: { name: ownName('port'), network_id: network.id, ...body } })
    const made = await create({ addresses: [{ subnet_id, address: '10.37.0.40' }], allowed_addresses: ['10.37.0.200'] })
    expect(made).toMatchObject({
      status: 201,
      body: {
        use: 'free',
        status: 'down',
        addresses: [{ address: '10.37.0.40', subnet_id }],
        allowed_addresses: ['10.37.0.200'],
        port_security: true,
        changeable: true,
      },
    })
    const { id, security_group_ids } = made.body as { id: string; security_group_ids: string[] }
    expect(security_group_ids).toHaveLength(1)
    expect((await call(app, computePorts.get, { token: tenant, params: params(id) })).names).toMatchObject({
      [network.id]: network.name,
      [security_group_ids[0] ?? '']: 'default',
    })
    refused(await create({ addresses: [{ subnet_id, address: '10.37.0.40' }] }), 'computeAddressTaken', 'addresses')
    refused(await create({ addresses: [{ subnet_id, address: '10.38.0.40' }] }), 'computeAddressTaken', 'addresses')
    refused(await create({ addresses: [{ subnet_id: nobodys }] }), 'computeSubnetMissing', 'addresses')
    refused(await create({ security_group_ids: [nobodys] }), 'computeGroupMissing', 'security_group_ids')
    refused(await create({ network_id: nobodys }), 'computeNetworkMissing', 'network_id')
    refused(await create({ network_id: outside }), 'computeNetworkMissing', 'network_id')
    refused(await create({ port_security: false, security_group_ids }), 'fieldsInvalid', 'security_group_ids')
    const update = (body: Record<string, unknown>) => call(app, computePorts.update, { token: tenant, params: params(id), body })
    expect(await update({ name: '', enabled: false, addresses: [{ subnet_id, address: '10.37.0.41' }] })).toMatchObject({
      name: '',
      enabled: false,
      addresses: [{ address: '10.37.0.41' }],
    })
    expect(await update({ port_security: false })).toMatchObject({ port_security: false, security_group_ids: [], allowed_addresses: [] })
    expect(await update({ port_security: true, security_group_ids })).toMatchObject({ port_security: true, security_group_ids })

    const router = await makeRouter({ subnet_ids: [subnet_id] })
    const told = await lines(app, computePorts.list, { token: tenant, params: params() })
    expect(Object.assign({}, ...told.map(({ names }) => names ?? {}))).toMatchObject({ [router.id]: router.name, [network.id]: network.name })
    const plugged = told.flatMap(({ items: some = [] }) => some).find((port) => port.device_id === router.id)
    expect(plugged).toMatchObject({ use: 'router', addresses: [{ address: '10.37.0.1' }] })
    refused(await send(app, computePorts.delete, { token: tenant, params: params(plugged?.id) }), 'computePortInUse')
    refused(await send(app, computePorts.update, { token: tenant, params: params(plugged?.id), body: { name: 'x' } }), 'computePortInUse')

    // What stands in the way is named.
    const network_in_use = await send(app, computeNetworks.delete, { token: tenant, params: params(network.id) })
    refused(network_in_use, 'computeNetworkInUse')
    expect((network_in_use.body as Problem).message).toContain(router.name)
    const subnet_in_use = await send(app, computeSubnets.delete, { token: tenant, params: params(subnet_id) })
    refused(subnet_in_use, 'computeSubnetInUse')
    expect((subnet_in_use.body as Problem).message).toContain('10.37.0.41')
    await call(app, computePorts.delete, { token: tenant, params: params(id) })
    await call(app, computeRouters.removeInterface, { token: tenant, params: params(router.id), body: { subnet_id } })
    await call(app, computeSubnets.delete, { token: tenant, params: params(subnet_id) })
    await call(app, computeRouters.delete, { token: tenant, params: params(router.id) })
    await call(app, computeNetworks.delete, { token: tenant, params: params(network.id) })
  })

  it('routers: gateway, interfaces by subnet and by port, routes, and what keeps them', async () => {
    const [one, two] = [await makeNetwork('10.40.0.0/24'), await makeNetwork('10.40.0.0/25')]
    const router = await makeRouter({ gateway: { network_id: outside } })
    expect(router.gateway).toMatchObject({ network_id: outside, addresses: [expect.any(String)] })
    const change = <C extends typeof computeRouters.addInterface | typeof computeRouters.setGateway | typeof computeRouters.setRoutes>(
      what: C,
      body: BodyInput<C>,
      token = tenant,
    ) => send(app, what, { token, params: params(router.id), body: body as never })

    // Added twice at once, it is there once.
    const added = await Promise.all([1, 2, 3].map(() => change(computeRouters.addInterface, { subnet_id: subnetOf(one) })))
    expect(added.map(({ status }) => status).toSorted()).toEqual([200, 400, 400])
    for (const answer of added.filter(({ status }) => status === 400)) refused(answer, 'computeRouterJoined', 'subnet_id')
    refused(await change(computeRouters.addInterface, { subnet_id: subnetOf(one) }), 'computeRouterJoined', 'subnet_id')
    const overlap = await change(computeRouters.addInterface, { subnet_id: subnetOf(two) })
    refused(overlap, 'computeRouterOverlap', 'subnet_id')
    expect((overlap.body as Problem).message).toContain('10.40.0.0/24')
    refused(await change(computeRouters.addInterface, { subnet_id: nobodys }), 'computeSubnetMissing', 'subnet_id')
    refused(await change(computeRouters.addInterface, { port_id: nobodys }), 'computePortMissing', 'port_id')
    refused(await change(computeRouters.addInterface, {}), 'fieldsInvalid', 'subnet_id')

    const without = await call(app, computeSubnets.create, {
      token: tenant,
      params: params(),
      body: { network_id: two.id, cidr: '10.41.0.0/24', gateway: null },
    })
    refused(await change(computeRouters.addInterface, { subnet_id: without.id }), 'computeSubnetNoGateway', 'subnet_id')
    const port = await call(app, computePorts.create, {
      token: tenant,
      params: params(),
      body: { name: ownName('port'), network_id: two.id, addresses: [{ subnet_id: without.id, address: '10.41.0.9' }] },
    })
    expect((await change(computeRouters.addInterface, { port_id: port.id })).body).toMatchObject({
      interfaces: expect.arrayContaining([
        expect.objectContaining({ port_id: port.id, addresses: [{ address: '10.41.0.9', subnet_id: without.id }] }),
      ]) as unknown,
    })
    refused(await change(computeRouters.addInterface, { port_id: port.id }), 'computePortInUse', 'port_id')

    refused(await change(computeRouters.setRoutes, { routes: [{ destination: '10.90.0.0/16', next_hop: '10.99.0.1' }] }), 'computeNextHopOutside', 'routes')
    expect((await change(computeRouters.setRoutes, { routes: [{ destination: '10.90.0.0/16', next_hop: '10.41.0.7' }] })).body).toMatchObject({
      routes: [{ destination: '10.90.0.0/16', next_hop: '10.41.0.7' }],
    })
    refused(
      await send(app, computeRouters.removeInterface, { token: tenant, params: params(router.id), body: { port_id: port.id } }),
      'computeRouterNeeded',
      'port_id',
    )
    await change(computeRouters.setRoutes, { routes: [] })

    const in_use = await send(app, computeRouters.delete, { token: tenant, params: params(router.id) })
    refused(in_use, 'computeRouterInUse')
    expect((in_use.body as Problem).message).toContain('10.40.0.0/24')
    const shown = await call(app, computeRouters.get, { token: tenant, params: params(router.id) })
    expect(shown.names).toMatchObject({ [one.id]: one.name, [subnetOf(one)]: '10.40.0.0/24' })
    const { names: _, ...plain } = shown
    expect((await items(app, computeRouters.list, { token: tenant, params: params() })).find(({ id }) => id === router.id)).toMatchObject({
      ...plain,
      interfaces: expect.arrayContaining([...plain.interfaces]) as unknown,
    })

    refused(await change(computeRouters.setGateway, { network_id: one.id }), 'computeNetworkNotExternal', 'network_id')
    refused(await change(computeRouters.setGateway, { network_id: nobodys }), 'computeNetworkMissing', 'network_id')
    refused(await change(computeRouters.setGateway, { network_id: outside, snat: false }), 'computePlatformOnly', 'snat')
    expect((await change(computeRouters.setGateway, { network_id: outside, snat: false }, admin)).body).toMatchObject({
      gateway: { network_id: outside, snat: false },
    })
    expect(await call(app, computeRouters.clearGateway, { token: tenant, params: params(router.id) })).toMatchObject({ gateway: null })
    expect(await call(app, computeRouters.update, { token: tenant, params: params(router.id), body: { name: '出口', enabled: false } })).toMatchObject({
      name: '出口',
      enabled: false,
    })
    for (const body of [{ port_id: port.id }, { subnet_id: subnetOf(one) }])
      await call(app, computeRouters.removeInterface, { token: tenant, params: params(router.id), body })
    refused(
      await send(app, computeRouters.removeInterface, { token: tenant, params: params(router.id), body: { subnet_id: subnetOf(one) } }),
      'computeSubnetMissing',
      'subnet_id',
    )
    await call(app, computeRouters.delete, { token: tenant, params: params(router.id) })
    for (const { id } of [one, two]) await call(app, computeNetworks.delete, { token: tenant, params: params(id) })
  })

  it("what is everybody's is seen by all, its ranges only where it is shared, and changed by platform-level people only", async () => {
    for (const [field, body] of [
      ['shared', { shared: true }],
      ['external', { external: true }],
      ['provider', { provider: { type: 'vxlan', physical_network: null, segmentation_id: 77 } }],
    ] as const) {
      refused(
        await send(app, computeNetworks.create, { token: tenant, params: params(), body: { name: ownName('net'), ...body } }),
        'computePlatformOnly',
        field,
      )
    }
    const mine = await makeNetwork()
    refused(await send(app, computeNetworks.update, { token: tenant, params: params(mine.id), body: { shared: true } }), 'computePlatformOnly', 'shared')
    await call(app, computeNetworks.delete, { token: tenant, params: params(mine.id) })

    const shared = await makeNetwork('10.45.0.0/24', { shared: true }, admin)
    // Who has no project on the cloud sees the same as who has one.
    const nobody = (await someone(app, { kind: 4, roles: ['TENANT'], organisation: await makeOrganisation(app) })).token
    try {
      for (const token of [tenant, nobody]) {
        const seen = await items(app, computeNetworks.list, { token, params: params() })
        expect(seen.find(({ id }) => id === shared.id)).toMatchObject({ shared: true, changeable: false, provider: null, subnets: [{ cidr: '10.45.0.0/24' }] })
        expect(seen.find(({ id }) => id === outside)).toMatchObject({ external: true, changeable: false, provider: null, subnets: [] })
        expect(await call(app, computeNetworks.get, { token, params: params(outside) })).toMatchObject({ subnets: [], provider: null })
        const ranges = await items(app, computeSubnets.list, { token, params: params() })
        expect(ranges.some(({ network_id }) => network_id === outside)).toBe(false)
        expect(ranges.find(({ network_id }) => network_id === shared.id)).toMatchObject({ changeable: false })
      }
      refused(await send(app, computeNetworks.update, { token: tenant, params: params(shared.id), body: { name: 'x' } }), 'noPermission')
      refused(await send(app, computeNetworks.delete, { token: tenant, params: params(outside) }), 'noPermission')
      refused(await send(app, computeSubnets.update, { token: tenant, params: params(subnetOf(shared)), body: { name: 'x' } }), 'noPermission')
      // Anybody may plug into it, and sees of it what is theirs.
      const plugged = await call(app, computePorts.create, { token: tenant, params: params(), body: { name: ownName('port'), network_id: shared.id } })
      expect(await items(app, computePorts.list, { token: stranger, params: params() })).toEqual([])
      await call(app, computePorts.delete, { token: tenant, params: params(plugged.id) })
      expect(await call(app, computeNetworks.update, { token: admin, params: params(shared.id), body: { shared: false, description: 'x' } })).toMatchObject({
        shared: false,
      })
      refused(await send(app, computeNetworks.get, { token: tenant, params: params(shared.id) }), 'notFound')
    } finally {
      await call(app, computeNetworks.delete, { token: admin, params: params(shared.id) })
    }
  })

  it('nothing of one organisation is there for another: not in a list, not by an id, not in a body', async () => {
    const network = await makeNetwork('10.46.0.0/24')
    const subnet_id = subnetOf(network)
    const port = await call(app, computePorts.create, { token: tenant, params: params(), body: { name: ownName('port'), network_id: network.id } })
    const router = await makeRouter({ subnet_ids: [subnet_id] })
    // Once with a project of their own on the cloud, once without.
    for (const own of [false, true]) {
      const theirs = own ? await makeNetwork('10.46.0.0/24', {}, stranger) : null
      const of = { token: stranger }
      for (const what of [computeNetworks.list, computeSubnets.list, computePorts.list, computeRouters.list] as const) {
        const told = JSON.stringify(await lines(app, what, { ...of, params: params() }))
        for (const hidden of [network.id, network.name, subnet_id, port.id, router.id, router.name]) expect(told).not.toContain(hidden)
      }
      const answers = [
        await send(app, computeNetworks.get, { ...of, params: params(network.id) }),
        await send(app, computeNetworks.update, { ...of, params: params(network.id), body: { name: 'x' } }),
        await send(app, computeNetworks.delete, { ...of, params: params(network.id) }),
        await send(app, computeSubnets.get, { ...of, params: params(subnet_id) }),
        await send(app, computeSubnets.update, { ...of, params: params(subnet_id), body: { name: 'x' } }),
        await send(app, computeSubnets.delete, { ...of, params: params(subnet_id) }),
        await send(app, computePorts.get, { ...of, params: params(port.id) }),
        await send(app, computePorts.update, { ...of, params: params(port.id), body: { name: 'x' } }),
        await send(app, computePorts.delete, { ...of, params: params(port.id) }),
        await send(app, computeRouters.get, { ...of, params: params(router.id) }),
        await send(app, computeRouters.update, { ...of, params: params(router.id), body: { name: 'x' } }),
        await send(app, computeRouters.setGateway, { ...of, params: params(router.id), body: { network_id: outside } }),
        await send(app, computeRouters.clearGateway, { ...of, params: params(router.id) }),
        await send(app, computeRouters.addInterface, { ...of, params: params(router.id), body: { subnet_id } }),
        await send(app, computeRouters.removeInterface, { ...of, params: params(router.id), body: { subnet_id } }),
        await send(app, computeRouters.setRoutes, { ...of, params: params(router.id), body: { routes: [] } }),
        await send(app, computeRouters.delete, { ...of, params: params(router.id) }),
      ]
      for (const answer of answers) refused(answer, 'notFound')
      refused(
        await send(app, computeSubnets.create, { ...of, params: params(), body: { network_id: network.id, cidr: '10.47.0.0/24' } }),
        'computeNetworkMissing',
        'network_id',
      )
      if (theirs === null) continue
      refused(
        await send(app, computePorts.create, { ...of, params: params(), body: { name: 'x', network_id: network.id } }),
        'computeNetworkMissing',
        'network_id',
      )
      refused(
        await send(app, computePorts.create, {
          ...of,
          params: params(),
          body: { name: 'x', network_id: theirs.id, security_group_ids: port.security_group_ids },
        }),
        'computeGroupMissing',
        'security_group_ids',
      )
      refused(
        await send(app, computeRouters.create, { ...of, params: params(), body: { name: ownName('router'), subnet_ids: [subnet_id] } }),
        'computeSubnetMissing',
        'subnet_ids.0',
      )
      await call(app, computeNetworks.delete, { ...of, params: params(theirs.id) })
    }
    const untouched: ComputeSubnet = await call(app, computeSubnets.get, { token: tenant, params: params(subnet_id) })
    expect(untouched).toMatchObject({ name: '', changeable: true })
    await call(app, computeRouters.removeInterface, { token: tenant, params: params(router.id), body: { subnet_id } })
    await call(app, computeRouters.delete, { token: tenant, params: params(router.id) })
    await call(app, computePorts.delete, { token: tenant, params: params(port.id) })
    await call(app, computeNetworks.delete, { token: tenant, params: params(network.id) })
  })
})
