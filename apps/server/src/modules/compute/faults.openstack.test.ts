import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { allCalls } from '@zhisuan/contract/calls'
import { computeImages } from '@zhisuan/contract/compute/image'
import { computeInstances, serverGroups } from '@zhisuan/contract/compute/instance'
import { computeNetworks } from '@zhisuan/contract/compute/network'
import { keystoneProjects } from '@zhisuan/contract/compute/project'
import { computeVolumes } from '@zhisuan/contract/compute/volume'
import type { Call } from '@zhisuan/contract/define'
import { errors } from '@zhisuan/contract/errors'
import type { EngineService, Problem } from '@zhisuan/contract/problem'
import type { OpenStack } from '@zhisuan/engines/openstack/cloud'
import { all } from '@zhisuan/engines/openstack/session'
import { createFaultyCloud, ownName, until, untilGone, type Fault } from '@zhisuan/engines/openstack/testing'
import { cloudIsThere } from '@zhisuan/engines/openstack/local'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { testApp, type TestApp } from '../../testing/app.ts'
import { call, send, type Answer, type AnyInput } from '../../testing/call.ts'
import { directly, forgetProjects, knowOpenStack } from '../../testing/openstack.ts'
import { makeOrganisation, signIn, someone, type Person, type SignedIn } from '../../testing/people.ts'

/**
 * Whatever is read of a cloud as a whole: a list that is added is asked here by itself. Of firewalls the real one has
 * no service, and always says so (firewall.openstack.test.ts).
 */
const reads = allCalls.filter(
  ({ id, method, path }) =>
    id.startsWith('compute.') && !id.startsWith('compute.firewall') && method === 'GET' && path.includes('{cloud_id}') && !path.includes('{id}'),
)
const services = ['compute', 'image', 'network', 'volume'] as const satisfies readonly EngineService[]

/** What the server looks at by itself every few seconds (engines/openstack/look.ts). */
const looks = /[?&]limit=1(&|$)|statistics|get_pools|resource_providers|projects\?name=-|\/$/

const answers =
  (status: number, type: string, text: string): Fault =>
  (_, response) => {
    response.writeHead(status, { 'content-type': type, 'x-openstack-request-id': 'req-of-the-fault' }).end(text)
    return true
  }
const faults: Readonly<Record<string, Fault>> = {
  'cuts the line': (request) => {
    request.destroy()
    return true
  },
  'says 503': answers(503, 'application/json', '{"error": {"code": 503, "message": "no server is available"}}'),
  'says 500 in HTML': answers(500, 'text/html', '<html><head><title>x</title></head><body><h1>Internal Server Error</h1></body></html>'),
  'breaks off in the middle': (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '5000' })
    response.write('{"networks": [{"id": "')
    setImmediate(() => response.destroy())
    return true
  },
  'ends too early': answers(200, 'application/json', '{"servers": [{"id": '),
  'answers nonsense': answers(200, 'application/json', '[1, 2]'),
  'answers with a page for people': answers(200, 'text/html', '<html><body>Sign in</body></html>'),
}

/** What came of a call: refused as a whole, or some of it told to be missing. */
interface Told {
  readonly refused: Problem | null
  readonly failed: readonly Problem[]
  readonly rows: number
  readonly whole: boolean
}
function toldBy(declared: Call, { status, body }: Answer): Told {
  if (status >= 300) return { refused: body as Problem, failed: [], rows: 0, whole: false }
  if (!declared.lines) {
    const { items = [] } = body as { items?: { failed?: Problem[] }[] }
    const failed = items.flatMap((one) => one.failed ?? [])
    return { refused: null, failed, rows: items.length, whole: true }
  }
  const lines = String(body)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { items?: unknown[]; failed?: Problem; done?: true })
  const whole = lines.at(-1)?.done === true
  const failed = lines.flatMap(({ failed: one }) => one ?? [])
  // What the list itself failed with stands last, and nothing says that it is done.
  return { refused: whole ? null : (failed.pop() ?? null), failed, rows: lines.flatMap(({ items = [] }) => items).length, whole }
}

describe.runIf(cloudIsThere)('a cloud of which something fails', () => {
  let app: TestApp
  let faulty: Awaited<ReturnType<typeof createFaultyCloud>>
  let cloud_id: string
  let cloudName: string
  let tenant: Person & SignedIn
  let admin: Person & SignedIn
  let inside: OpenStack
  let ids: { instance: string; network: string; volume: string; image: string; project: string }
  const direct = directly()
  /** Newest first. */
  const undo: (() => Promise<unknown>)[] = []

  beforeAll(async () => {
    app = await testApp()
    faulty = await createFaultyCloud()
    cloud_id = await known()
    cloudName = await nameOf(cloud_id)
    admin = await someone(app, { kind: 1 })
    tenant = await someone(app, { kind: 4, roles: ['TENANT'], organisation: await makeOrganisation(app) })
    const group = await call(app, serverGroups.create, { token: tenant.token, params: { cloud_id }, body: { name: ownName('first'), policy: 'affinity' } })
    const project = group.keystone_project_id ?? ''
    inside = direct.within({ id: project })
    undo.unshift(() => inside.compute.serverGroups.delete(group.id))
    const [images, sizes] = await Promise.all([all(direct.images.list({ name: 'empty' })), all(direct.compute.flavors.list())])
    const [network, volume, second, image] = await Promise.all([
      inside.network.networks.create({ name: ownName('net') }),
      inside.volume.volumes.create({ name: ownName('volume'), sizeGib: 1 }),
      inside.volume.volumes.create({ name: ownName('volume'), sizeGib: 1 }),
      inside.images.create({ name: ownName('image'), diskFormat: 'raw', visibility: 'private' }),
    ])
    undo.unshift(
      () => inside.images.delete(image.id),
      () => inside.volume.volumes.delete(volume.id),
      () => inside.volume.volumes.delete(second.id),
    )
    const other = await inside.network.networks.create({ name: ownName('net') })
    undo.unshift(() => inside.network.networks.delete(other.id))
    undo.unshift(() => inside.network.networks.delete(network.id))
    await inside.network.subnets.create({ networkId: network.id, name: 'subnet', cidr: '10.89.0.0/24', version: 4 })
    const { id: instance } = await inside.compute.servers.create({
      name: ownName('vm'),
      flavorId: sizes.find(({ name }) => name === 'm1.tiny')?.id ?? '',
      imageId: images[0]?.id ?? '',
      networks: [{ networkId: network.id }],
    })
    undo.unshift(() => inside.compute.servers.act(instance, 'forceDelete').then(() => untilGone(() => inside.compute.servers.get(instance))))
    await until(
      () => inside.compute.servers.get(instance),
      ({ state }) => state === 'running',
      ({ state }) => state === 'create_failed',
    )
    for (const { id } of [volume, second])
      await until(
        () => inside.volume.volumes.get(id),
        ({ status }) => status === 'available',
        ({ status }) => status === 'error',
      )
    ids = { instance, network: network.id, volume: volume.id, image: image.id, project }
    await app.http.listen({ host: '127.0.0.1', port: 0 })
  })
  // The whole takes longer than a token lives.
  beforeEach(async () => {
    ;[tenant, admin] = (await Promise.all([tenant, admin].map(async (one) => ({ ...one, ...(await signIn(app, one)) })))) as [typeof tenant, typeof admin]
  })
  afterEach(() => {
    for (const service of faulty.services) faulty.breaks(service, null)
    faulty.misses(null)
  })
  afterAll(async () => {
    for (const one of undo) await one()
    await forgetProjects(app, cloud_id)
    await direct.close()
    await app.close()
    await faulty.close()
  })

  const known = () => knowOpenStack(app, { auth_url: faulty.authUrl })
  const nameOf = async (id: string): Promise<string> =>
    (await app.platform.db.selectFrom('clouds').select('name').where('id', '=', id).executeTakeFirstOrThrow()).name
  const mayAsk = (declared: Call, who: Person & SignedIn): boolean => who === admin || typeof declared.access === 'string' || declared.access.includes('TENANT')
  const readBy = (who: Person & SignedIn) => reads.filter((declared) => mayAsk(declared, who))
  const ask = async (declared: Call, who = tenant, cloud = cloud_id): Promise<Told> =>
    toldBy(declared, await send(app, declared, { token: who.token, params: { cloud_id: cloud } }))
  const askAll = async (who = tenant, cloud = cloud_id): Promise<Map<string, Told>> =>
    new Map(await Promise.all(readBy(who).map(async (declared) => [declared.id, await ask(declared, who, cloud)] as const)))
  const of = (service: EngineService, cloud = cloudName) => ({ cloud, service, request_id: expect.stringMatching(/^req-\S+|before any request$/) as string })
  /** Each read with the services that it asks where all works: versions are asked once, and are not counted. */
  const working = async (who: Person & SignedIn, cloud = cloud_id) => {
    await askAll(who, cloud)
    const found = new Map<string, { asked: ReadonlySet<string>; told: Told }>()
    for (const declared of readBy(who)) {
      for (const service of faulty.services) faulty.ways[service].seen.length = 0
      const told = await ask(declared, who, cloud)
      expect({ ...told, id: declared.id }).toMatchObject({ refused: null, failed: [], whole: true })
      found.set(declared.id, { told, asked: new Set(faulty.services.filter((service) => faulty.ways[service].seen.some((one) => !looks.test(one)))) })
    }
    return found
  }

  /** With one service broken each read says so or does not need it; nothing is refused for more than the one service that it is of. */
  const lookAtReads = async (
    who: Person & SignedIn,
    breakings: (service: (typeof services)[number]) => readonly [string, () => Promise<ReadonlyMap<string, Told>>][],
  ) => {
    const good = await working(who)
    const refusedFor = new Map<string, Set<string>>()
    const wrong: unknown[] = []
    for (const service of services) {
      for (const [fault, broken] of breakings(service)) {
        for (const [id, told] of await broken()) {
          const { asked, told: before } = good.get(id) ?? expect.fail(id)
          const problems = told.refused === null ? told.failed : [told.refused]
          const say = (what: string): void => void wrong.push([id, service, fault, what, told])
          if (told.refused !== null) refusedFor.set(id, (refusedFor.get(id) ?? new Set()).add(service))
          if (asked.has(service) && problems.length === 0) say('does not say it')
          if (!asked.has(service) && problems.length > 0) say('does not need it')
          if (problems.some(({ engine }) => engine?.service !== service || engine.cloud !== cloudName || !engine.request_id.startsWith('req-')))
            say('says something else')
          // Of what all have on the cloud others make and delete some meanwhile.
          const rest = who === admin ? told.rows > 0 === before.rows > 0 : told.rows === before.rows
          if (told.refused === null && (!told.whole || !rest)) say(`is not whole: ${before.rows} rows before`)
        }
        faulty.breaks(service, null)
      }
      // Mended, it all works again by itself.
      for (const [id, told] of await askAll(who))
        if (told.refused !== null || told.failed.length > 0 || !told.whole) wrong.push([id, service, 'is mended', told])
    }
    expect(wrong).toEqual([])
    for (const [id, all] of refusedFor) expect([id, [...all]]).toEqual([id, [expect.any(String)]])
  }

  it('says in each list which service it is, keeps the rows of the others, and is whole once that is mended', async () => {
    await lookAtReads(tenant, (service) =>
      Object.entries(faults).map(([name, fault]) => [
        name,
        () => {
          faulty.breaks(service, fault)
          return askAll(tenant)
        },
      ]),
    )
  })

  it('says the same to administrators, who see all of it', async () => {
    await lookAtReads(admin, (service) => [
      [
        'says 500',
        () => {
          faulty.breaks(service, faults['says 500 in HTML'] ?? null)
          return askAll(admin)
        },
      ],
    ])
  })

  it('says it to who reads or changes one thing; nothing is asked for twice, and once it is mended the same goes through', async () => {
    const at = (id: string) => ({ cloud_id, id })
    const name = ownName('renamed')
    const asked: [EngineService, Call, AnyInput][] = [
      ['compute', computeInstances.get, { params: at(ids.instance) }],
      ['compute', computeInstances.update, { params: at(ids.instance), body: { name } }],
      ['network', computeNetworks.get, { params: at(ids.network) }],
      ['network', computeNetworks.update, { params: at(ids.network), body: { name } }],
      ['volume', computeVolumes.get, { params: at(ids.volume) }],
      ['volume', computeVolumes.update, { params: at(ids.volume), body: { name } }],
      ['image', computeImages.get, { params: at(ids.image) }],
      ['image', computeImages.update, { params: at(ids.image), body: { name } }],
      ['identity', keystoneProjects.quota, { ...admin, params: at(ids.project) }],
      ['identity', keystoneProjects.setQuota, { ...admin, params: at(ids.project), body: { limits: {} } }],
    ]
    for (const [service, declared, input] of asked) {
      const asking = () => send(app, declared, { token: tenant.token, ...input })
      for (const [fault, broken] of Object.entries(faults)) {
        faulty.breaks(service, broken)
        const { status, body } = await asking()
        expect({ id: declared.id, fault, status, body }).toMatchObject({ status: expect.toSatisfy((one: number) => one >= 500), body: { engine: of(service) } })
        // A change that may have gone through is not made again.
        const changes = faulty.ways[service].seen.filter((one) => /^(PUT|POST|PATCH)/.test(one))
        expect(changes, `${declared.id}, ${fault}`).toEqual([])
      }
      faulty.breaks(service, null)
      expect([declared.id, (await asking()).status]).toEqual([declared.id, declared.status])
    }
    // Only the change itself is lost: it was told to have failed, and is not made again.
    for (const [service, declared, input] of asked.filter(([, { method }]) => method === 'PUT').slice(0, 4)) {
      let changes = 0
      faulty.breaks(service, (request, response) => {
        if (!/^(PUT|PATCH)$/.test(request.method ?? '')) return false
        changes += 1
        response.destroy()
        return true
      })
      const answer = await send(app, declared, { token: tenant.token, ...input, body: { name: ownName('lost') } })
      expect([declared.id, answer.body]).toEqual([declared.id, expect.objectContaining({ code: errors.cloudUnreachable.code, engine: of(service) })])
      expect([declared.id, changes]).toEqual([declared.id, 1])
      faulty.breaks(service, null)
    }
  })

  it('shows an instance without what other services tell of it, and says which', async () => {
    const look = () => call(app, computeInstances.get, { token: tenant.token, params: { cloud_id, id: ids.instance } })
    const before = await look()
    expect(before).toMatchObject({ failed: [], names: { [ids.network]: expect.any(String) } })
    for (const [service, missing] of [
      ['image', before.image_id],
      ['network', ids.network],
    ] as const) {
      for (const fault of Object.values(faults)) {
        faulty.breaks(service, fault)
        const { names, failed } = await look()
        expect(failed.map(({ engine }) => engine)).toEqual([of(service)])
        expect(names).not.toHaveProperty(missing ?? '')
      }
      faulty.breaks(service, null)
    }
    expect((await look()).names).toEqual(before.names)
  })

  it('works on while Keystone is down, as long as its tokens do; who has none is told', async () => {
    await askAll()
    const fresh = await known()
    for (const [fault, broken] of Object.entries(faults)) {
      faulty.breaks('identity', broken)
      for (const [id, told] of await askAll()) expect({ fault, id, ...told }).toMatchObject({ refused: null, failed: [], whole: true })
      const refused = await askAll(admin, fresh)
      // How long the recycle bin keeps something is written down here, and asks no cloud.
      refused.delete('compute.retention.get')
      const name = await nameOf(fresh)
      for (const [id, told] of refused) {
        // Who sees all of a cloud has no project of their own whose quota they would be shown.
        if (told.refused === null && told.rows === 0 && id === 'compute.project.mine') continue
        expect({ fault, id, refused: told.refused }).toMatchObject({ refused: { engine: of('identity', name) } })
      }
    }
    faulty.breaks('identity', null)
    for (const [id, told] of await askAll(admin, fresh)) expect({ id, ...told }).toMatchObject({ refused: null, failed: [], whole: true })
  })

  // What is listed page by page, each of one service; there are at least two of it.
  const walks: readonly [(typeof services)[number], string, RegExp][] = [
    ['compute', 'compute.flavor.list', /^\/v2\.1\/flavors\/detail/],
    ['network', 'compute.network.list', /^\/v2\.0\/networks/],
    ['volume', 'compute.volume.list', /\/volumes\/detail/],
    ['image', 'compute.image.list', /^\/v2\/images\?(?!.*(visibility|member_status))/],
  ]
  const declaredAs = (id: string): Call => reads.find((one) => one.id === id) ?? expect.fail(id)

  it.each(walks)('goes on where its token for %s is revoked in the middle of %s', async (service, id, path) => {
    const whole = await ask(declaredAs(id))
    expect(whole.rows).toBeGreaterThan(1)
    let pages = 0
    faulty.breaks(service, async (request) => {
      if (!path.test(request.url ?? '')) return false
      request.url = request.url?.replace(/limit=\d+/, 'limit=1') ?? ''
      pages += 1
      if (pages === 2) await faulty.ways[service].revokesToken()
      return false
    })
    expect(await ask(declaredAs(id))).toEqual(whole)
    expect(pages).toBeGreaterThan(2)
  })

  it.each(walks)('keeps what %s told of %s before it broke off, and says that there was more', async (service, id, path) => {
    faulty.breaks(service, (request, response) => {
      if (!path.test(request.url ?? '')) return false
      request.url = request.url?.replace(/limit=\d+/, 'limit=1') ?? ''
      // A page may be asked for again where its connection had ended.
      return /[?&]marker=/.test(request.url) && answers(500, 'text/html', '<h1>Internal Server Error</h1>')(request, response)
    })
    const told = await ask(declaredAs(id))
    expect(told).toMatchObject({
      whole: false,
      failed: [],
      refused: { code: errors.engineFailed.code, engine: { cloud: cloudName, service, request_id: 'req-of-the-fault' } },
    })
    expect(told.rows).toBeGreaterThan(0)
  })

  it.each(services)('without %s in its catalogue says so where it is needed, and shows all else', async (missing) => {
    const good = await working(admin)
    faulty.misses(missing)
    const without = await known()
    const name = await nameOf(without)
    const wrong: unknown[] = []
    for (const [id, told] of await askAll(admin, without)) {
      const problems = told.refused === null ? told.failed : [told.refused]
      const needed = good.get(id)?.asked.has(missing) === true
      if (needed !== problems.length > 0) wrong.push([id, needed, told])
      if (problems.some(({ code, engine }) => code !== errors.engineUnsupported.code || engine?.service !== missing || engine.cloud !== name))
        wrong.push([id, told])
      if (told.refused === null && !told.whole) wrong.push([id, 'is not whole', told])
    }
    expect(wrong).toEqual([])
  })

  /** The lines of a list with the times at which they came. */
  const timed = async (id: string): Promise<{ line: { items?: unknown[]; names?: object; failed?: Problem; done?: true }; ms: number }[]> => {
    const { port } = app.http.server.address() as AddressInfo
    const began = performance.now()
    const response = await fetch(`http://127.0.0.1:${port}${declaredAs(id).path.replace('{cloud_id}', cloud_id)}`, {
      headers: { authorization: `Bearer ${tenant.token}` },
    })
    expect(response.status).toBe(200)
    const found: Awaited<ReturnType<typeof timed>> = []
    let rest = ''
    for await (const part of response.body ?? expect.fail('nothing came')) {
      rest += Buffer.from(part).toString()
      const lines = rest.split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) if (line !== '') found.push({ line: JSON.parse(line) as (typeof found)[number]['line'], ms: performance.now() - began })
    }
    return found
  }
  const slow =
    (ms: number): Fault =>
    async () => {
      await sleep(ms)
      return false
    }

  it('shows what is there while a service takes ten seconds, and has its names in the end', async () => {
    await askAll()
    for (const [service, id] of [
      ['image', 'compute.instance.list'],
      ['compute', 'compute.port.list'],
      ['compute', 'compute.volume.list'],
    ] as const) {
      faulty.breaks(service, slow(10_000))
      const lines = await timed(id)
      faulty.breaks(service, null)
      const rows = lines.find(({ line }) => (line.items ?? []).length > 0)
      const end = lines.at(-1)
      expect([id, end?.line, lines.flatMap(({ line }) => line.failed ?? [])]).toEqual([id, { done: true }, []])
      expect(end?.ms).toBeGreaterThan(9_900)
      expect(rows?.ms, id).toBeLessThan((end?.ms ?? 0) - 5_000)
    }
  })

  it('is told to be silent within half a minute where a service never answers, whatever is asked', async () => {
    await askAll()
    for (const service of services) faulty.breaks(service, () => true)
    const began = performance.now()
    const told = await askAll()
    expect(performance.now() - began).toBeLessThan(45_000)
    for (const service of services)
      expect(
        [...told.values()].flatMap(({ refused, failed }) => refused ?? failed).map(({ engine, code }) => [engine?.service, code]),
        service,
      ).toContainEqual([service, errors.cloudUnreachable.code])
    for (const service of services) faulty.breaks(service, null)
    for (const [id, one] of await askAll()) expect({ id, ...one }).toMatchObject({ refused: null, failed: [], whole: true })
  })
})
