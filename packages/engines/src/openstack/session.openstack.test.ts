import { afterAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { isEngineError } from '../errors.ts'
import { createOpenStack } from './cloud.ts'
import { OpenStackError } from './errors.ts'
import { all, gather, type CloudConnection } from './session.ts'
import { administrator, cloudIsThere, ports } from './local.ts'
import { createFaultyWay, ownName } from './testing.ts'

const flavorName = z.object({ name: z.string() })
const failureOf = async (asked: Promise<unknown>): Promise<OpenStackError> => {
  const error = await asked.then(
    () => expect.fail('it went well'),
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(OpenStackError)
  return error as OpenStackError
}

describe.skipIf(!cloudIsThere)('a session with a real OpenStack', () => {
  const opened: { close(): Promise<void> }[] = []
  const open = (changes: Partial<CloudConnection> = {}) => {
    const cloud = createOpenStack(administrator(changes))
    opened.push(cloud)
    return cloud
  }
  const way = async (...asked: Parameters<typeof createFaultyWay>) => {
    const made = await createFaultyWay(...asked)
    opened.push(made)
    return made
  }
  afterAll(() => Promise.all(opened.map((one) => one.close())))

  it('signs in with or without the version in the address, and knows who it is and what there is', async () => {
    const { authUrl } = administrator()
    for (const address of [authUrl, authUrl.replace(/\/v3$/, ''), `${authUrl}/`]) {
      const { session } = open({ authUrl: address })
      const me = await session.whoami()
      expect(me.roles).toContain('admin')
      expect(me.projectId).toMatch(/^[0-9a-f]{32}$/)
      expect(me.expiresAt.getTime()).toBeGreaterThan(Date.now())
      expect([...(await session.services())].toSorted()).toEqual(['compute', 'identity', 'image', 'network', 'placement', 'volume'])
    }
  })

  it('says that the password is wrong, and of which cloud', async () => {
    const { credentials } = administrator()
    const error = await failureOf(open({ credentials: { ...credentials, password: 'wrong' } }).session.whoami())
    expect(error).toMatchObject({ kind: 'unauthorized', status: 401, cloud: '测试云', service: 'identity', requestId: expect.stringMatching(/^req-/) })
    expect(error.message).toContain('测试云')
    expect(error.message).toContain(error.requestId)
    expect(error.message).not.toContain('wrong')
  })

  it('says that a region or a service is not there, and that nobody listens', async () => {
    expect(await failureOf(open({ region: 'Nowhere' }).compute.servers.get('x'))).toMatchObject({ kind: 'unsupported', service: 'compute' })
    expect(await failureOf(open({ interface: 'internal', region: 'RegionTwo' }).volume.volumes.get('x'))).toMatchObject({
      kind: 'unsupported',
      service: 'volume',
    })
    expect(await failureOf(open({ authUrl: 'http://127.0.0.1:9/v3' }).session.whoami())).toMatchObject({
      kind: 'unreachable',
      service: 'identity',
      requestId: expect.stringMatching(/^req-/),
    })
    expect(await failureOf(open({ endpoints: { compute: 'http://127.0.0.1:9/v2.1' } }).compute.servers.get('x'))).toMatchObject({
      kind: 'unreachable',
      service: 'compute',
    })
  })

  it('speaks the highest microversion that both know', async () => {
    const { session } = open()
    expect(await session.version('compute')).toEqual([2, 90])
    expect(await session.version('volume')).toEqual([3, 68])
    expect(await session.version('placement')).toEqual([1, 36])
  })

  it('tells what each service says of what is not there, with its request id', async () => {
    const { compute, images, network, volume, identity } = open()
    const missing = '00000000-0000-4000-8000-000000000000'
    const asked = {
      compute: () => compute.servers.get(missing),
      image: () => images.get(missing),
      network: () => network.ports.get(missing),
      volume: () => volume.volumes.get(missing),
      identity: () => identity.projects.get(missing),
    }
    for (const [service, ask] of Object.entries(asked)) {
      const error = await failureOf(ask())
      expect(error).toMatchObject({ kind: 'not_found', status: 404, service, requestId: expect.stringMatching(/^req-/) })
      // Its own words, and no markup.
      expect(error.message).toMatch(/could not be found|could not find|no image found/i)
      expect(error.message).not.toContain('<')
    }
  })

  it('signs in anew where its token is revoked in the middle, once for all who ask', async () => {
    const keystone = await way('identity')
    const nova = await way('compute')
    const cloud = open({ authUrl: `${keystone.url}/v3`, endpoints: { compute: `${nova.url}/v2.1` } })
    await Promise.all([all(cloud.compute.flavors.list()), all(cloud.network.networks.list()), cloud.images.importMethods()])
    expect(keystone.seen.filter((one) => one === 'POST /v3/auth/tokens')).toHaveLength(1)
    await nova.revokesToken()
    const [flavors, networks, methods] = await Promise.all([
      all(cloud.compute.flavors.list()),
      all(cloud.network.networks.list()),
      cloud.images.importMethods(),
    ])
    expect(flavors.length).toBeGreaterThan(0)
    expect(networks.length).toBeGreaterThan(0)
    expect(methods).toContain('glance-direct')
    expect(keystone.seen.filter((one) => one === 'POST /v3/auth/tokens')).toHaveLength(2)
  })

  it('goes on with a list when the token is revoked between two pages', async () => {
    const nova = await way('compute')
    const { compute, session } = open({ endpoints: { compute: `${nova.url}/v2.1` } })
    const names: string[] = []
    for await (const page of session.pages('compute', { path: '/flavors/detail', key: 'flavors', schema: flavorName, pageSize: 1 })) {
      if (names.length === 0) await nova.revokesToken()
      names.push(...page.map(({ name }) => name))
    }
    expect(names.length).toBeGreaterThan(2)
    expect(names).toEqual((await all(compute.flavors.list())).map(({ name }) => name))
  })

  it('enters by an application credential, which ends with it, and not beyond its project', async () => {
    const cloud = open()
    const { userId } = await cloud.session.whoami()
    const credential = await cloud.identity.applicationCredentials.create(userId, { name: ownName('credential'), roles: ['reader'] })
    const reader = open({ credentials: { applicationCredential: credential } })
    expect((await reader.session.whoami()).roles).toEqual(['reader'])
    expect((await all(reader.compute.flavors.list())).length).toBeGreaterThan(0)
    expect(await failureOf(reader.compute.flavors.create({ name: ownName('flavor'), vcpus: 1, memoryMib: 64, diskGib: 1 }))).toMatchObject({
      kind: 'unauthorized',
      status: 403,
    })
    expect(() => reader.within({ id: 'other' })).toThrow(/own project only/)
    await cloud.identity.applicationCredentials.delete(userId, credential.id)
    expect(await failureOf(all(reader.compute.flavors.list()))).toMatchObject({ kind: 'unauthorized', status: expect.any(Number) })
  })

  it('walks through 1,200 key pairs page by page, and stops where the reader does', async () => {
    const { compute, session } = open()
    const { projectId } = await session.whoami()
    const wanted = 1_200
    await compute.quotas.set(projectId ?? '', { key_pairs: -1 })
    const there = new Set((await all(compute.keyPairs.list())).map(({ name }) => name))
    // They stay for the next time: making them takes longest.
    const missing = Array.from({ length: wanted }, (_, at) => `zs-many-${String(at).padStart(4, '0')}`).filter((name) => !there.has(name))
    await Promise.all(
      Array.from({ length: 8 }, async () => {
        for (let name = missing.pop(); name !== undefined; name = missing.pop()) await compute.keyPairs.create({ name, publicKey })
      }),
    )

    const nova = await way('compute')
    const asked = open({ endpoints: { compute: `${nova.url}/v2.1` } })
    const names: string[] = []
    const sizes: number[] = []
    for await (const page of asked.compute.keyPairs.list(undefined, 500)) {
      sizes.push(page.length)
      names.push(...page.map(({ name }) => name))
    }
    expect(new Set(names).size).toBe(names.length)
    expect(names.filter((name) => name.startsWith('zs-many-'))).toHaveLength(wanted)
    expect(sizes.slice(0, 2)).toEqual([500, 500])
    nova.breaks(null)
    for await (const page of asked.compute.keyPairs.list(undefined, 100)) {
      expect(page).toHaveLength(100)
      break
    }
    expect(nova.seen).toHaveLength(1)
  })

  describe('with something between', () => {
    it('waits for a service that takes its time, and no longer than it was told to', async () => {
      const nova = await way('compute')
      const cloud = open({ endpoints: { compute: `${nova.url}/v2.1` }, timeoutMs: 20_000 })
      await cloud.session.version('compute')
      let held: NodeJS.Timeout | undefined
      const slow = (ms: number) =>
        nova.breaks((request, response) => {
          held = setTimeout(() => {
            response.writeHead(200, { 'content-type': 'application/json' }).end('{"flavors": []}')
          }, ms)
          return request.url !== undefined
        })
      slow(10_000)
      expect(await all(cloud.compute.flavors.list())).toEqual([])
      slow(60_000)
      const started = Date.now()
      const error = await failureOf(cloud.session.json('compute', flavorName, { path: '/flavors/x', timeoutMs: 1_000 }))
      clearTimeout(held)
      expect(error).toMatchObject({ kind: 'unreachable', service: 'compute', requestId: expect.stringMatching(/^req-/) })
      expect(error.message).toContain('no answer within')
      expect(Date.now() - started).toBeLessThan(10_000)
      // What took too long is not asked again.
      expect(nova.seen).toHaveLength(1)
    })

    it('ends what is asked when nobody wants it any more', async () => {
      const nova = await way('compute')
      const cloud = open({ endpoints: { compute: `${nova.url}/v2.1` } })
      await cloud.session.version('compute')
      const leaving = new AbortController()
      nova.breaks(() => {
        leaving.abort()
        return true
      })
      expect(await failureOf(cloud.compute.servers.get('x', leaving.signal))).toMatchObject({ kind: 'cancelled' })
    })

    it('asks again for what it only reads, where the connection is cut in half an answer', async () => {
      const neutron = await way('network')
      const cloud = open({ endpoints: { network: neutron.url } })
      let left = 1
      neutron.breaks((_, response) => {
        if (left-- <= 0) return false
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': '5000' })
        response.write('{"networks": [{"id": "')
        setImmediate(() => response.destroy())
        return true
      })
      expect((await all(cloud.network.networks.list())).some(({ external }) => external)).toBe(true)
      expect(neutron.seen).toHaveLength(2)
    })

    it('gives up after three times, and changes nothing twice', async () => {
      const neutron = await way('network')
      const cloud = open({ endpoints: { network: neutron.url } })
      const cut = () =>
        neutron.breaks((request) => {
          request.destroy()
          return true
        })
      cut()
      expect(await failureOf(all(cloud.network.networks.list()))).toMatchObject({ kind: 'unreachable', service: 'network', status: undefined })
      expect(neutron.seen).toHaveLength(3)
      cut()
      expect(await failureOf(cloud.network.networks.create({ name: 'never' }))).toMatchObject({ kind: 'unreachable', service: 'network' })
      expect(neutron.seen).toHaveLength(1)
    })

    it('takes a deletion for done whose answer was lost', async () => {
      const neutron = await way('network')
      const cloud = open({ endpoints: { network: neutron.url } })
      const { id } = await cloud.network.securityGroups.create({ name: ownName('lost') })
      let first = true
      neutron.breaks((request, response) => {
        if (!first) return false
        first = false
        // It gets there, and its answer does not come back.
        void fetch(`http://127.0.0.1:${ports.network}${request.url}`, {
          method: 'DELETE',
          headers: { 'x-auth-token': String(request.headers['x-auth-token']) },
        }).finally(() => response.destroy())
        return true
      })
      await cloud.network.securityGroups.delete(id)
      expect(neutron.seen).toHaveLength(2)
      expect(await failureOf(open().network.securityGroups.get(id))).toMatchObject({ kind: 'not_found' })
    })

    it('waits as long as an overloaded service asks for, and tells what it says where that is too long', async () => {
      const glance = await way('image')
      const cloud = open({ endpoints: { image: glance.url } })
      let busy = 1
      const overloaded = (after: string) =>
        glance.breaks((_, response) => {
          if (busy-- <= 0) return false
          response
            .writeHead(503, { 'content-type': 'text/html', 'retry-after': after })
            .end('<html><head><title>x</title></head><body><h1>503 Service Unavailable</h1>No server is available.</body></html>')
          return true
        })
      overloaded('1')
      const started = Date.now()
      expect((await all(cloud.images.list({ name: 'empty' }))).map(({ status }) => status)).toContain('active')
      expect(Date.now() - started).toBeGreaterThanOrEqual(1_000)
      busy = 99
      overloaded('3600')
      const error = await failureOf(all(cloud.images.list()))
      expect(error).toMatchObject({ kind: 'unreachable', status: 503, service: 'image' })
      expect(error.message).toContain('503 Service Unavailable No server is available.')
      expect(glance.seen).toHaveLength(1)
    })

    it('says which service answered nonsense, and what', async () => {
      const nova = await way('compute')
      const cloud = open({ endpoints: { compute: `${nova.url}/v2.1` } })
      await cloud.session.version('compute')
      const answers = (text: string) =>
        nova.breaks((_, response) => {
          response.writeHead(200, { 'content-type': 'application/json', 'x-openstack-request-id': 'req-nonsense' }).end(text)
          return true
        })
      for (const [text, told] of [
        ['{"servers": [', 'not JSON'],
        ['<html>login</html>', 'not JSON'],
        ['[]', 'an unknown answer'],
        ['{"server": []}', 'for servers'],
        ['{"servers": [{"id": 7}]}', 'servers[0]'],
        ['{"servers": [], "servers_links": [{"rel": "next", "href": "http://elsewhere/"}]}', 'leads nowhere'],
      ] as const) {
        answers(text)
        const error = await failureOf(all(cloud.compute.servers.list()))
        expect(error).toMatchObject({ kind: 'bad_answer', service: 'compute', requestId: 'req-nonsense' })
        expect(error.message).toContain(told)
      }
    })

    it('shows what the other services have when one is down', async () => {
      const cinder = await way('volume')
      const cloud = open({ endpoints: { volume: `${cinder.url}/v3` } })
      cinder.breaks((_, response) => {
        response.writeHead(500, { 'content-type': 'application/json' }).end('{"computeFault": {"code": 500, "message": "The server has either erred"}}')
        return true
      })
      const { networks, volumes, flavors } = await gather({
        networks: cloud.network.networks.list(),
        volumes: cloud.volume.volumes.list(),
        flavors: cloud.compute.flavors.list(),
      })
      expect(networks.rows?.map(({ name }) => name)).toContain('public')
      expect(flavors.rows?.length).toBeGreaterThan(0)
      expect(volumes.rows).toBeNull()
      expect(isEngineError(volumes.error, 'failed')).toBe(true)
    })
  })
})

const publicKey = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHvn4n3FvQz0m0fXcUe8mHqXo3mCZ7c8yq4ZlJcF5d2b zs'
