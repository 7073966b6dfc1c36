import type { IncomingMessage, ServerResponse } from 'node:http'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import type { BodyInput } from '@zhisuan/contract/define'
import { images } from '@zhisuan/contract/nextstack/vm'
import { licences } from '@zhisuan/contract/sys/sys'
import { hypervisorStatistics } from '@zhisuan/engines/openstack/capacity'
import { createOpenStack } from '@zhisuan/engines/openstack/cloud'
import type { Service } from '@zhisuan/engines/openstack/errors'
import { createPlacement } from '@zhisuan/engines/openstack/placement'
import { administrator, cloudIsThere, ports } from '@zhisuan/engines/openstack/local'
import { createFaultyWay, ownName, until, type Fault } from '@zhisuan/engines/openstack/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClock, testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused, send } from '../../../testing/call.ts'
import { someone, type Person, type SignedIn } from '../../../testing/people.ts'

type Connection = Extract<BodyInput<typeof clouds.create>['connection'], { type: 'openstack-password' }>
type Way = Awaited<ReturnType<typeof createFaultyWay>>

/** What a way does to answers: all that networks and overloaded services do. */
const slow =
  (ms: number): Fault =>
  (_, response) => {
    const timer = setTimeout(() => response.destroy(), ms)
    response.on('close', () => clearTimeout(timer))
    return true
  }
const half: Fault = (_, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' })
  response.write('{"images": [{"id"')
  setTimeout(() => response.destroy(), 50)
  return true
}
const broken: Fault = (_, response) => {
  response.writeHead(500, { 'content-type': 'application/json', 'x-openstack-request-id': 'req-theirs' })
  response.end(JSON.stringify({ computeFault: { code: 500, message: 'the database is on fire' } }))
  return true
}

describe.skipIf(!cloudIsThere)('a cloud of the second family, on a real OpenStack', () => {
  let app: TestApp
  let admin: Person & SignedIn
  const clock = createClock()
  const { authUrl, credentials } = cloudIsThere ? administrator() : (undefined as never)
  const password = cloudIsThere && 'password' in credentials ? credentials.password : ''
  const connection: Connection = { type: 'openstack-password', auth_url: authUrl, region: 'RegionOne', username: 'admin', password, project: 'admin' }
  const direct = cloudIsThere ? createOpenStack(administrator()) : (undefined as never)

  beforeAll(async () => {
    app = await testApp({}, { clock })
    admin = await someone(app, { kind: 1 })
  })
  afterAll(async () => {
    await app.close()
    await direct.close()
  })

  const tryIt = (wish: Partial<Connection>) =>
    call(app, clouds.test, { token: admin.token, body: { product: 'openstack', connection: { ...connection, ...wish } } })
  const refusal = (wish: object) => refused(app, clouds.test, { token: admin.token, body: { product: 'openstack', connection: { ...connection, ...wish } } })
  const register = (wish: Partial<Connection> = {}, product: 'openstack' | 'easystack' = 'openstack', name = ownName('cloud')) =>
    call(app, clouds.create, { token: admin.token, body: { name, product, connection: { ...connection, ...wish } } })
  const get = (id: string) => call(app, clouds.get, { token: admin.token, params: { id } })
  const refresh = (id: string) => call(app, clouds.action, { token: admin.token, params: { id }, body: { action: 'refresh' } })
  const remove = (id: string) => call(app, clouds.delete, { token: admin.token, params: { id }, query: { force: 'true' } })
  const answerOf = <S extends { service: string }>(services: readonly S[], service: Service): S | undefined => services.find((one) => one.service === service)

  /** A Keystone whose catalogue leads through ways of our own, or leaves services out. */
  async function withWays(
    services: readonly Service[],
    test: (ways: Readonly<Record<string, Way>>, authUrl: string) => Promise<void>,
    left: readonly Service[] = [],
  ): Promise<void> {
    const ways: Record<string, Way> = {}
    const keystone = await createFaultyWay('identity')
    const types: Partial<Record<Service, string>> = { compute: 'compute', placement: 'placement', image: 'image', network: 'network', volume: 'volumev3' }
    try {
      for (const service of services) ways[service] = service === 'identity' ? keystone : await createFaultyWay(service)
      const rewritten: Fault = (request, response) => {
        if (request.method !== 'POST' || request.url !== '/v3/auth/tokens') return false
        void passOn(request, response, (token) => ({
          ...token,
          catalog: token.catalog
            .filter(({ type }) => !left.some((service) => type.startsWith(types[service] ?? service)))
            .map((entry) => ({
              ...entry,
              endpoints: entry.endpoints.map((one) => ({
                ...one,
                url: services.reduce((url, service) => url.replace(`http://127.0.0.1:${ports[service]}`, ways[service]?.url ?? ''), one.url),
              })),
            })),
        }))
        return true
      }
      keystone.breaks(rewritten)
      await test(ways, keystone.url)
    } finally {
      await keystone.close()
      for (const way of Object.values(ways)) if (way !== keystone) await way.close()
    }
  }

  it('is tried service by service, and says what each is', async () => {
    const answer = await tryIt({})
    expect(answer).toMatchObject({
      engine: 'openstack',
      version: 'Nova 2.93',
      host_name: '127.0.0.1:15000',
      access: { administrator: true, roles: expect.arrayContaining(['admin']), regions: ['RegionOne'] },
    })
    expect(answer.services.map(({ service, required, state, problem }) => [service, required, state, problem])).toEqual([
      ['identity', true, 'works', null],
      ['compute', true, 'works', null],
      ['placement', false, 'works', null],
      ['image', true, 'works', null],
      ['network', true, 'works', null],
      ['volume', false, 'works', null],
    ])
    expect(answer.services.map(({ version }) => version)).toEqual(['3.14', '2.93', '1.39', '2.15', '2.0', '3.70'])
    for (const { address } of answer.services) expect(address).toMatch(/^http:\/\/127\.0\.0\.1:1\d+/)
    expect(JSON.stringify(answer)).not.toContain(password)
  })

  it('names the field that keeps us out', async () => {
    const cases: [object, number, string][] = [
      [{ password: 'wrong' }, 93021, 'password'],
      [{ username: 'nobody' }, 93021, 'password'],
      [{ user_domain: 'nowhere' }, 93021, 'password'],
      [{ project: 'nothing' }, 93022, 'project'],
      [{ region: 'Atlantis' }, 93025, 'region'],
      [{ auth_url: 'http://127.0.0.1:1/v3' }, 93020, 'auth_url'],
      [{ auth_url: `http://127.0.0.1:${ports.image}` }, 93024, 'auth_url'],
      [{ auth_url: undefined }, 90001, 'auth_url'],
      [{ password: undefined }, 90001, 'password'],
    ]
    for (const [wish, code, field] of cases) {
      const answer = await refusal(wish)
      expect(answer, JSON.stringify(wish)).toMatchObject({ code, fields: [{ field: `connection.${field}` }] })
      if (code >= 93020 && code < 93025) {
        expect(answer.message).toMatch(/127\.0\.0\.1:\d+的.*Keystone/)
        expect(answer.message).toMatch(/req-/)
      }
      if (field === 'region') expect(answer.message).toContain('RegionOne')
    }
    const credential = await refused(app, clouds.test, {
      token: admin.token,
      body: { product: 'openstack', connection: { type: 'openstack-credential', auth_url: authUrl, credential_id: 'none', credential_secret: 'x' } },
    })
    expect(credential).toMatchObject({ code: 93021, fields: [{ field: 'connection.credential_secret' }] })
  })

  it('is registered with what its hosts have, once, and its secret stays inside', async () => {
    const [told, [provider]] = await Promise.all([hypervisorStatistics(direct.session), createPlacement(direct.session).providers.list()])
    const inventories = await createPlacement(direct.session).inventories(provider?.id ?? '')
    const made = await register({}, 'easystack')
    const id = made.cloud_id
    try {
      expect(made).toMatchObject({
        product: 'easystack',
        engine: 'openstack',
        sandbox: false,
        health: 'reachable',
        health_message: null,
        connection: { type: 'openstack-password', address: `${authUrl.replace(/\/v3$/, '')}?region=RegionOne` },
      })
      const { VCPU: cores, MEMORY_MB: memory } = inventories
      const sellable = (of: typeof cores) => (of === undefined ? NaN : Math.floor((of.total - of.reserved) * of.allocationRatio))
      expect(made.capacity).toMatchObject({
        nodes: told.count,
        cpu_cores: { physical: told.vcpus, total: sellable(cores) },
        memory_bytes: { physical: told.memory_mb * 2 ** 20, total: sellable(memory) * 2 ** 20 },
      })
      // What is used moves while others test here.
      await until(
        async () => {
          const [{ vcpus_used, memory_mb_used }, { capacity }] = [await hypervisorStatistics(direct.session), await refresh(id)]
          return { cores: [vcpus_used, capacity?.cpu_cores.used], memory: [(memory_mb_used - (memory?.reserved ?? 0)) * 2 ** 20, capacity?.memory_bytes.used] }
        },
        (now) => now.cores[0] === now.cores[1] && now.memory[0] === now.memory[1],
      )
      expect(made.capacity?.disk_bytes.total).toBeGreaterThan(0)
      expect(made.usage).toBeGreaterThan(0)
      expect(await call(app, licences.get, { token: admin.token })).toMatchObject({ nodes_used: told.count, cores_used: told.vcpus })

      const seen = await get(id)
      expect(seen.settings).toEqual({
        type: 'openstack-password',
        auth_url: authUrl,
        region: 'RegionOne',
        interface: 'public',
        username: 'admin',
        user_domain: 'Default',
        project: 'admin',
        project_domain: 'Default',
      })
      expect(seen.services).toHaveLength(6)
      const row = await app.platform.db.selectFrom('clouds').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
      expect(JSON.stringify([made, seen, row])).not.toContain(password)
      // It is one cloud, whatever the product is called.
      expect(
        await refused(app, clouds.create, {
          token: admin.token,
          body: { name: ownName('again'), product: 'openstack', connection: { ...connection, auth_url: authUrl.replace(/\/v3$/, '/') } },
        }),
      ).toMatchObject({ code: 93009 })
      // The first family does not know it.
      expect(await refused(app, images.list, { token: admin.token, query: { cloud_id: id } })).toMatchObject({ status: 404 })
    } finally {
      await remove(id)
    }
    expect(await call(app, licences.get, { token: admin.token })).toMatchObject({ nodes_used: 0, cores_used: 0 })
  })

  it('keeps its password where none is typed, and gives it to nobody else', async () => {
    const name = ownName('cloud')
    const { cloud_id: id } = await register({}, 'openstack', name)
    try {
      const { password: _, ...rest } = connection
      const change = (wish: object) => ({ token: admin.token, params: { id }, body: { name, connection: { ...rest, ...wish } } })
      expect(await call(app, clouds.update, { ...change({}), body: { name: `${name}-2`, connection: rest } })).toMatchObject({
        name: `${name}-2`,
        health: 'reachable',
      })
      expect(await call(app, clouds.test, { token: admin.token, body: { product: 'openstack', connection: rest, cloud_id: id } })).toMatchObject({
        access: { administrator: true },
      })
      // An address of somebody else's would get it.
      await withWays([], async (_ways, elsewhere) => {
        expect(await refused(app, clouds.update, change({ auth_url: elsewhere }))).toMatchObject({ code: 93028, fields: [{ field: 'connection.password' }] })
        expect(
          await refused(app, clouds.test, { token: admin.token, body: { product: 'openstack', connection: { ...rest, auth_url: elsewhere }, cloud_id: id } }),
        ).toMatchObject({ code: 93028 })
      })
      expect(await refused(app, clouds.update, change({ username: 'other' }))).toMatchObject({ code: 93028 })
      expect(await refused(app, clouds.update, change({ password: 'wrong' }))).toMatchObject({ code: 93021 })
      expect((await refresh(id)).health).toBe('reachable')
    } finally {
      await remove(id)
    }
  })

  it('is not registered without a service that it needs, and with a warning without another', async () => {
    await withWays(
      [],
      async (_ways, auth_url) => {
        const answer = await tryIt({ auth_url })
        expect(answerOf(answer.services, 'volume')).toMatchObject({ state: 'missing', required: false, address: null, problem: null })
        // Then the hosts' own disks count.
        expect(answer.capacity?.disk_bytes.physical).toBe((await hypervisorStatistics(direct.session)).local_gb * 2 ** 30)
        const made = await register({ auth_url })
        expect(made).toMatchObject({ health: 'reachable' })
        await remove(made.cloud_id)
      },
      ['volume'],
    )
    await withWays(
      [],
      async (_ways, auth_url) => {
        const name = ownName('cloud')
        expect(answerOf((await tryIt({ auth_url })).services, 'network')).toMatchObject({ state: 'missing', required: true })
        const answer = await refused(app, clouds.create, { token: admin.token, body: { name, product: 'openstack', connection: { ...connection, auth_url } } })
        expect(answer).toMatchObject({ status: 502, code: 93027 })
        expect(answer.message).toContain('Neutron')
        expect(answer.message).toContain(name)
      },
      ['network'],
    )
  })

  it('tells which service failed, how, and by which request, while the others work', async () => {
    await withWays(['compute', 'image', 'network', 'volume'], async (ways, auth_url) => {
      ways['compute']?.breaks(broken)
      ways['image']?.breaks(half)
      const nova = await tryIt({ auth_url })
      expect(answerOf(nova.services, 'compute')).toMatchObject({
        state: 'failed',
        problem: { words: expect.stringContaining('the database is on fire'), request_id: 'req-theirs' },
      })
      expect(answerOf(nova.services, 'image')).toMatchObject({
        state: 'failed',
        problem: { message: expect.stringMatching(/\p{Script=Han}/u), request_id: expect.stringMatching(/^req-/) },
      })
      for (const service of ['identity', 'placement', 'network', 'volume'] as const) expect(answerOf(nova.services, service)?.state, service).toBe('works')
      expect(nova.capacity).toBeNull()
      const name = ownName('cloud')
      const answer = await refused(app, clouds.create, { token: admin.token, body: { name, product: 'openstack', connection: { ...connection, auth_url } } })
      expect(answer.message).toMatch(new RegExp(`${name}.*Nova.*req-theirs.*Glance.*req-`))

      // It answers, only late: that is no failure.
      ways['compute']?.breaks(null)
      ways['image']?.breaks(null)
      ways['network']?.breaks(late(10_000))
      const late10 = answerOf((await tryIt({ auth_url })).services, 'network')
      expect(late10).toMatchObject({ state: 'works' })
      expect(late10?.took_ms).toBeGreaterThan(9_000)
      ways['network']?.breaks(slow(200_000))
      expect(answerOf((await tryIt({ auth_url })).services, 'network')).toMatchObject({
        state: 'failed',
        problem: { words: expect.stringContaining('no answer within'), request_id: expect.stringMatching(/^req-/) },
      })
    })
  })

  it('is degraded while a service is down, unreachable while Keystone is, and keeps what was known', async () => {
    await withWays(['identity', 'compute', 'placement', 'image'], async (ways, auth_url) => {
      const made = await register({ auth_url })
      const id = made.cloud_id
      try {
        ways['compute']?.breaks(broken)
        const degraded = await refresh(id)
        expect(degraded).toMatchObject({ health: 'degraded', capacity: { nodes: made.capacity?.nodes, cpu_cores: { total: made.capacity?.cpu_cores.total } } })
        expect(degraded.health_message).toMatch(/^Nova（.*req-theirs）$/)
        ways['compute']?.breaks(null)
        ways['placement']?.breaks(broken)
        // Without it nobody knows how much may be promised: what was known is better than a guess.
        expect(await refresh(id)).toMatchObject({ health: 'degraded', capacity: { cpu_cores: { total: made.capacity?.cpu_cores.total } } })
        ways['placement']?.breaks(null)
        expect(await refresh(id)).toMatchObject({ health: 'reachable', health_message: null })

        // Another server has no token yet.
        const keystone = ways['identity']
        keystone?.breaks((_, response) => {
          response.destroy()
          return true
        })
        const later = await testApp({ DATABASE_URL: app.databaseUrl }, { clock })
        try {
          const down = await call(later, clouds.action, { token: admin.token, params: { id }, body: { action: 'refresh' } })
          expect(down).toMatchObject({ health: 'unreachable', capacity: { nodes: made.capacity?.nodes } })
          expect(down.health_message).toMatch(new RegExp(`${made.name}, identity: .*req-`))
        } finally {
          await later.close()
        }
      } finally {
        await remove(id)
      }
    })
  })

  it('asks each service little, again and again', async () => {
    await withWays(['identity', 'compute', 'placement', 'image', 'network', 'volume'], async (ways, auth_url) => {
      const { cloud_id: id } = await register({ auth_url })
      try {
        await refresh(id)
        for (const way of Object.values(ways)) way.seen.length = 0
        await refresh(id)
        const asked = Object.fromEntries(Object.entries(ways).map(([service, way]) => [service, way.seen]))
        // Inventories are asked for again only where a host's allocations changed meanwhile.
        expect({ ...asked, placement: asked['placement']?.slice(0, 1) }).toEqual({
          identity: ['GET /v3/projects?name=-'],
          compute: ['GET /v2.1/os-hypervisors/statistics'],
          placement: ['GET /resource_providers?required=%21COMPUTE_STATUS_DISABLED'],
          image: ['GET /v2/images?limit=1'],
          network: ['GET /v2.0/networks?limit=1&fields=id'],
          volume: [expect.stringMatching(/^GET \/v3\/\w+\/scheduler-stats\/get_pools\?detail=true$/)],
        })
      } finally {
        await remove(id)
      }
    })
  })

  it('by an application credential works within its project, and says what it cannot', async () => {
    const { userId } = await direct.session.whoami()
    const made = await direct.identity.applicationCredentials.create(userId, { name: ownName('credential'), roles: ['member'] })
    try {
      const answer = await send(app, clouds.test, {
        token: admin.token,
        body: {
          product: 'openstack',
          connection: { type: 'openstack-credential', auth_url: authUrl, region: 'RegionOne', credential_id: made.id, credential_secret: made.secret },
        },
      })
      expect(answer).toMatchObject({ status: 200, body: { access: { administrator: false, roles: expect.not.arrayContaining(['admin']) }, capacity: null } })
      expect((answer.body as { services: { state: string }[] }).services.map(({ state }) => state)).toEqual([
        'works',
        'works',
        'works',
        'works',
        'works',
        'works',
      ])
    } finally {
      await direct.identity.applicationCredentials.delete(userId, made.id)
    }
  })

  /** Passes a request on to Keystone, and changes the token that it answers. */
  async function passOn(
    request: IncomingMessage,
    response: ServerResponse,
    change: (token: { catalog: { type: string; endpoints: { url: string }[] }[] }) => object,
  ): Promise<void> {
    const parts: Buffer[] = []
    for await (const part of request as AsyncIterable<Buffer>) parts.push(part)
    const answer = await fetch(`http://127.0.0.1:${ports.identity}${request.url ?? ''}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: Buffer.concat(parts),
    })
    const body = (await answer.json()) as { token?: Parameters<typeof change>[0] }
    response.writeHead(answer.status, {
      'content-type': 'application/json',
      'x-openstack-request-id': answer.headers.get('x-openstack-request-id') ?? '',
      'x-subject-token': answer.headers.get('x-subject-token') ?? '',
    })
    response.end(JSON.stringify(body.token === undefined ? body : { token: change(body.token) }))
  }
})

/** Passes on, but not at once. */
function late(ms: number): Fault {
  return (request, response) => {
    setTimeout(() => {
      void fetch(`http://127.0.0.1:${ports.network}${request.url ?? ''}`, { headers: { 'x-auth-token': String(request.headers['x-auth-token'] ?? '') } }).then(
        async (answer) => {
          response.writeHead(answer.status, { 'content-type': 'application/json' })
          response.end(await answer.text())
        },
      )
    }, ms)
    return true
  }
}
