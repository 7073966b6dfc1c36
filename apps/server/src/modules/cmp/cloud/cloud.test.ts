import { randomUUID } from 'node:crypto'
import { cloudConnection, cloudConnectionChange, clouds, type CapacityRange, type CloudServiceState } from '@zhisuan/contract/cmp/cloud'
import type { BodyInput } from '@zhisuan/contract/define'
import { messages } from '@zhisuan/contract/sys/message'
import { licences } from '@zhisuan/contract/sys/sys'
import { images, vms } from '@zhisuan/contract/nextstack/vm'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { healthOfParts, refuseIncomplete } from '../../../platform/endpoints.ts'
import { createClock, testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused, send } from '../../../testing/call.ts'
import { openTestEngine, startTestEngine, type TestEngine } from '../../../testing/engine.ts'
import { someone, type Person, type SignedIn } from '../../../testing/people.ts'
import { createCloudEndpoints } from './cloud.endpoint.ts'
import { addressOf } from './cloud.engines.ts'
import { partsOf, servicesRefusal, withSecrets } from './cloud.openstack.ts'
import { createCapacityHistory } from './cloud.samples.ts'
import { usageOf } from './cloud.shape.ts'
import { createCloudRegistrations } from './registration.service.ts'

let app: TestApp
let admin: Person & SignedIn
let tenant: Person & SignedIn
beforeAll(async () => {
  app = await testApp({}, { openEngine: openTestEngine })
  admin = await someone(app, { kind: 1 })
  tenant = await someone(app)
})
afterAll(() => app.close())

type Create = BodyInput<typeof clouds.create>
const sandbox = { type: 'sandbox' } as const
const body = (wish: Partial<Create> = {}): Create => ({ name: `c-${randomUUID()}`, product: 'nextstack', connection: sandbox, ...wish })
const register = (wish: Partial<Create> = {}, on = app) => call(on, clouds.create, { token: admin.token, body: body(wish) })
const refuse = (wish: object) => refused(app, clouds.create, { token: admin.token, body: { ...body(), ...wish } })
const get = async (id: string, token = admin.token, on = app) =>
  (await call(on, clouds.list, { token, query: { page_size: 99_999 } })).clouds.find(({ cloud_id }) => cloud_id === id)
const remove = (id: string, force = false) => call(app, clouds.delete, { token: admin.token, params: { id }, query: { force: force ? 'true' : 'false' } })
const act = (id: string, action: 'active' | 'maintenance' | 'offline' | 'refresh') =>
  call(app, clouds.action, { token: admin.token, params: { id }, body: { action } })
const label = (text: string) => JSON.stringify({ label: text, textColor: '#fff', bgColor: '#1677ff' })
const whole = (total: number, used: number) => ({ total, used, physical: total })
/** A registered cloud that a test has in its hand; taken away again, because the licence counts it. */
async function withEngine(test: (engine: TestEngine, id: string) => Promise<void>, host: Parameters<typeof startTestEngine>[0] = {}): Promise<void> {
  const engine = startTestEngine(host)
  const { cloud_id } = await register({ connection: engine.connection })
  try {
    await test(engine, cloud_id)
  } finally {
    if ((await get(cloud_id)) !== undefined) await remove(cloud_id, true)
  }
}
/** An instance on a cloud, of whoever asks. */
async function makeVm(cloud_id: string, token = admin.token, name = `vm-${randomUUID()}`) {
  const [image] = (await call(app, images.list, { token, query: { cloud_id, type: 'container' } })).items
  const flavor = await app.platform.db.selectFrom('flavors').selectAll().orderBy('memory_bytes').executeTakeFirstOrThrow()
  const { items } = await call(app, vms.create, {
    token,
    body: {
      cloud_id,
      name,
      type: 'container',
      image_fingerprint: image?.fingerprint ?? '',
      flavor_id: flavor.id,
      network: 'sandbox0',
      password: 'Correct-horse-1',
    },
  })
  const [vm] = items
  if (vm === undefined) throw new Error('nothing was created')
  await vi.waitFor(async () => expect((await call(app, vms.get, { token, params: { id: vm.id } })).status).toBe('running'), { interval: 50 })
  return vm
}

describe('registering', () => {
  it('keeps what the engine says of itself', async () => {
    const engine = startTestEngine({ nodes: 3, cores: 96 })
    engine.says.capacity.cpuCores.used = 24
    engine.says.capacity.memoryBytes.used = 128 * 2 ** 30
    engine.says.info.instanceTypes.vm = { available: false, reason: 'vhost_vsock is missing' }
    const name = `智算-1.a_@${randomUUID().slice(0, 8)}`
    const answer = await register({ name: ` ${name} `, description: '机房一', labels: [label('高性能')], connection: engine.connection })
    expect(answer).toEqual({
      cloud_id: expect.any(String),
      name,
      product: 'nextstack',
      engine: 'lxd',
      sandbox: false,
      status: 'active',
      health: 'reachable',
      usage: 0.5,
      labels: [label('高性能')],
      instance_types: { vm: { available: false, reason: '宿主机没有加载内核模块vhost_vsock' }, container: { available: true, reason: null } },
      description: '机房一',
      connection: { type: 'lxd-socket', address: engine.connection.socket_path },
      engine_version: '5.0.2',
      capacity: {
        cpu_cores: whole(96, 24),
        memory_bytes: whole(256 * 2 ** 30, 128 * 2 ** 30),
        disk_bytes: whole(1024 * 2 ** 30, 0),
        nodes: 3,
        running_instances: null,
      },
      instance_count: 0,
      health_message: null,
      checked_at: expect.any(String),
      created_at: expect.any(String),
    })
    expect(await get(answer.cloud_id)).toEqual(answer)
    await remove(answer.cloud_id)
    expect(await get(answer.cloud_id)).toBeUndefined()
  })

  it('refuses an engine that does not answer, or not to us, and keeps nothing', async () => {
    const name = `dead-${randomUUID()}`
    expect(await refuse({ name, connection: { type: 'lxd-socket', socket_path: '/nowhere' } })).toMatchObject({ status: 502, code: 93002 })
    const engine = startTestEngine()
    engine.fail('unauthorized', { message: 'not trusted: secret internals' })
    const denied = await refuse({ name, connection: engine.connection })
    expect(denied).toMatchObject({ status: 502, code: 93003 })
    expect(denied.message).not.toContain('internals')
    engine.recover()
    engine.fail('bad_answer')
    expect(await refuse({ name, connection: engine.connection })).toMatchObject({ status: 502, code: 93007 })
    expect((await call(app, clouds.list, { token: admin.token, query: { keyword: name } })).total).toBe(0)
  })

  it('refuses a connection of the other family', async () => {
    const keystone = { type: 'openstack-password', auth_url: 'http://127.0.0.1:1/v3', username: 'admin', password: 'x', project: 'admin' }
    const mismatch = { status: 400, code: 93026, fields: [{ field: 'connection.type' }] }
    for (const product of ['openstack', 'easystack'] as const) expect(await refuse({ product })).toMatchObject(mismatch)
    expect(await refuse({ connection: keystone })).toMatchObject(mismatch)
    expect(await refused(app, clouds.test, { token: admin.token, body: { product: 'easystack', connection: sandbox } })).toMatchObject(mismatch)
  })

  it.each([
    ['name', { name: '' }],
    ['name', { name: '  ' }],
    ['name', { name: 'a b' }],
    ['name', { name: 'x'.repeat(65) }],
    ['name', { name: 7 }],
    ['name', { name: undefined }],
    ['description', { description: 'x'.repeat(256) }],
    ['product', { product: 'vmware' }],
    ['product', { product: undefined }],
    ['connection', { connection: undefined }],
    ['connection', { connection: 'sandbox' }],
    ['connection.type', { connection: {} }],
    ['connection.type', { connection: { type: 'ssh' } }],
    ['connection.socket_path', { connection: { type: 'lxd-socket' } }],
    ['connection.socket_path', { connection: { type: 'lxd-socket', socket_path: 'relative' } }],
    ['connection.socket_path', { connection: { type: 'lxd-socket', socket_path: `/${'x'.repeat(107)}` } }],
    ['connection.url', { connection: { type: 'lxd-https', url: 'http://host:8443', client_certificate: pem('CERTIFICATE'), client_key: pem('PRIVATE KEY') } }],
    ['connection.client_certificate', { connection: { type: 'lxd-https', url: 'https://host:8443', client_certificate: 'x', client_key: pem('PRIVATE KEY') } }],
    ['connection.client_key', { connection: { type: 'lxd-https', url: 'https://host:8443', client_certificate: pem('CERTIFICATE') } }],
    [
      'connection.project',
      { connection: { type: 'lxd-https', url: 'https://host', client_certificate: pem('CERTIFICATE'), client_key: pem('PRIVATE KEY'), project: 'a/b' } },
    ],
    ['labels.0', { labels: ['not json'] }],
    ['labels.0', { labels: ['{}'] }],
    ['labels.1', { labels: [label('好'), '{"label":"坏","imgUrl":"javascript:alert(1)"}'] }],
    ['labels', { labels: Array.from({ length: 21 }, () => label('x')) }],
  ])('names the wrong field: %s', async (field, wish) => {
    const answer = await refuse(wish)
    expect(answer).toMatchObject({ status: 400, code: 90001 })
    expect(answer.fields?.map((one) => one.field)).toEqual([field])
    expect(answer.fields?.[0]?.message).toMatch(/\p{Script=Han}/u)
  })

  it('names all wrong fields at once', async () => {
    const answer = await refuse({ name: '', product: 'x', labels: ['x'] })
    expect(answer.fields?.map(({ field }) => field).sort()).toEqual(['labels.0', 'name', 'product'])
  })

  it('refuses a name or an engine that is registered, and frees both when that one goes', async () => {
    const engine = startTestEngine()
    const first = await register({ connection: engine.connection })
    expect(await refuse({ name: first.name })).toMatchObject({ status: 400, code: 93001, fields: [{ field: 'name', message: '云平台名称已存在' }] })
    const again = await refuse({ connection: engine.connection })
    expect(again).toMatchObject({ status: 400, code: 93009 })
    expect(again.message).toContain(first.name)
    await remove(first.cloud_id)
    const second = await register({ name: first.name, connection: engine.connection })
    expect(second.cloud_id).not.toBe(first.cloud_id)
    await remove(second.cloud_id)
  })

  it('of two at once with one name, or to one engine, keeps one', async () => {
    const name = `same-${randomUUID()}`
    const byName = await Promise.all(Array.from({ length: 4 }, () => send(app, clouds.create, { token: admin.token, body: body({ name }) })))
    expect(byName.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400])
    expect(byName.filter(({ status }) => status === 400).map((answer) => answer.body)).toEqual(
      Array.from({ length: 3 }, () => expect.objectContaining({ code: 93001 })),
    )

    const engine = startTestEngine()
    const byEngine = await Promise.all(
      Array.from({ length: 4 }, () => send(app, clouds.create, { token: admin.token, body: body({ connection: engine.connection }) })),
    )
    expect(byEngine.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400])
    const { clouds: all } = await call(app, clouds.list, { token: admin.token, query: { page_size: 99_999 } })
    const kept = all.filter(({ connection }) => connection.address === engine.connection.socket_path)
    expect(kept).toHaveLength(1)
    await remove(kept[0]?.cloud_id ?? '')
  })
})

/** Looks like PEM; no test engine reads it. */
function pem(kind: string, content = 'c2VjcmV0'): string {
  return `-----BEGIN ${kind}-----\n${content}\n-----END ${kind}-----`
}

describe('secrets', () => {
  it('lie encrypted in the table and come out through no answer', async () => {
    const engine = startTestEngine()
    const key = 'S2VZTUFURVJJQUw'
    const connection = {
      type: 'lxd-https',
      url: `https://cloud.example.com:8443${engine.connection.socket_path}`,
      client_certificate: pem('CERTIFICATE', 'Q0VSVE1BVEVSSUFM'),
      client_key: pem('PRIVATE KEY', key),
      server_certificate: pem('CERTIFICATE', 'U0VSVkVS'),
      project: 'team',
    } as const
    const answers: unknown[] = []
    const tell = (answer: { status: number; body: unknown }) => {
      expect(answer.status).toBeLessThan(300)
      answers.push(answer.body)
      return answer.body as { cloud_id: string; connection: object }
    }
    const { token } = admin
    const created = tell(await send(app, clouds.create, { token, body: body({ connection }) }))
    const params = { id: created.cloud_id }
    expect(created.connection).toEqual({ type: 'lxd-https', address: `${connection.url}?project=team` })
    tell(await send(app, clouds.update, { token, params, body: { name: 'renamed-secret', connection } }))
    tell(await send(app, clouds.action, { token, params, body: { action: 'refresh' } }))
    tell(await send(app, clouds.test, { token, body: { product: 'nextstack', connection } }))
    tell(await send(app, clouds.list, { token, query: { page_size: 99_999 } }))
    tell(await send(app, clouds.basicInfo, { token }))
    engine.fail('unreachable', { message: `cannot use ${key}` })
    const row = await app.platform.db.selectFrom('clouds').selectAll().where('id', '=', created.cloud_id).executeTakeFirstOrThrow()
    for (const secret of [key, 'Q0VSVE1BVEVSSUFM', 'U0VSVkVS']) {
      expect(JSON.stringify(answers)).not.toContain(secret)
      expect(JSON.stringify(row)).not.toContain(secret)
    }
    expect(JSON.stringify(await app.platform.db.selectFrom('audit_log').selectAll().execute())).not.toContain(key)
    await remove(created.cloud_id, true)
    const gone = await app.platform.db.selectFrom('clouds').select('connection').where('id', '=', created.cloud_id).executeTakeFirstOrThrow()
    expect(gone.connection).toBe('')
  })

  it('of one cloud do not open as those of another', async () => {
    await withEngine(async (_one, first) => {
      await withEngine(async (_other, second) => {
        const sealed = (await app.platform.db.selectFrom('clouds').select('connection').where('id', '=', first).executeTakeFirstOrThrow()).connection
        const before = (await app.platform.db.selectFrom('clouds').select('connection').where('id', '=', second).executeTakeFirstOrThrow()).connection
        await app.platform.db.updateTable('clouds').set({ connection: sealed }).where('id', '=', second).execute()
        const swapped = await act(second, 'refresh')
        expect(swapped.health).toBe('unreachable')
        // The others go on, also on a server that starts with it.
        expect((await act(first, 'refresh')).health).toBe('reachable')
        const later = await testApp({ DATABASE_URL: app.databaseUrl }, { openEngine: openTestEngine })
        expect((await get(first, admin.token, later))?.health).toBe('reachable')
        await later.close()
        await app.platform.db.updateTable('clouds').set({ connection: before }).where('id', '=', second).execute()
        expect((await act(second, 'refresh')).health).toBe('reachable')
      })
    })
  })
})

describe('trying a connection', () => {
  it('says what answers, and keeps nothing', async () => {
    const engine = startTestEngine({ nodes: 2, cores: 32 })
    const before = (await call(app, clouds.list, { token: admin.token })).total
    expect(await call(app, clouds.test, { token: admin.token, body: { product: 'nextstack', connection: engine.connection } })).toEqual({
      engine: 'lxd',
      version: '5.0.2',
      host_name: 'host',
      capacity: { cpu_cores: whole(32, 0), memory_bytes: whole(256 * 2 ** 30, 0), disk_bytes: whole(1024 * 2 ** 30, 0), nodes: 2, running_instances: null },
      instance_types: { vm: { available: true, reason: null }, container: { available: true, reason: null } },
      services: [],
      access: null,
    })
    expect((await call(app, clouds.list, { token: admin.token })).total).toBe(before)
    engine.fail('unreachable')
    expect(await refused(app, clouds.test, { token: admin.token, body: { product: 'nextstack', connection: engine.connection } })).toMatchObject({
      status: 502,
      code: 93002,
    })
    expect(await refused(app, clouds.test, { token: admin.token, body: { product: 'openstack', connection: sandbox } })).toMatchObject({ code: 93026 })
    expect(await refused(app, clouds.test, { token: admin.token, body: {} })).toMatchObject({ code: 90001 })
  })
})

describe('changing', () => {
  const update = (id: string, changes: object) =>
    refused(app, clouds.update, { token: admin.token, params: { id }, body: { name: `u-${randomUUID()}`, ...changes } })

  it('sets name, description and labels, also while the engine is down', async () => {
    await withEngine(async (engine, id) => {
      const before = await get(id)
      engine.fail('unreachable')
      const name = `n-${randomUUID()}`
      const after = await call(app, clouds.update, {
        token: admin.token,
        params: { id },
        body: { name, description: '新', labels: [label('甲'), label('乙')] },
      })
      expect(after).toEqual({ ...before, name, description: '新', labels: [label('甲'), label('乙')] })
      expect(await get(id)).toEqual(after)
    })
  })

  it('does not move to an engine that does not answer', async () => {
    await withEngine(async (engine, id) => {
      const before = await get(id)
      expect(await update(id, { connection: { type: 'lxd-socket', socket_path: '/nowhere' } })).toMatchObject({ status: 502, code: 93002 })
      expect(await get(id)).toEqual(before)
      expect((await act(id, 'refresh')).connection.address).toBe(engine.connection.socket_path)
    })
  })

  it('moves to another engine, and asks that one from then on', async () => {
    await withEngine(async (engine, id) => {
      const other = startTestEngine({ nodes: 2, cores: 8 })
      other.says.capacity.cpuCores.used = 4
      const moved = await call(app, clouds.update, { token: admin.token, params: { id }, body: { name: `m-${randomUUID()}`, connection: other.connection } })
      expect(moved).toMatchObject({ connection: { address: other.connection.socket_path }, usage: 0.5, capacity: { nodes: 2, cpu_cores: { total: 8 } } })
      engine.fail('unreachable')
      expect((await act(id, 'refresh')).health).toBe('reachable')
    })
  })

  it('is not undone by an older engine that answers late', async () => {
    await withEngine(async (engine, id) => {
      const [gate, other] = [engine.hold('capacity'), startTestEngine({ nodes: 2 })]
      const late = act(id, 'refresh')
      await gate.reached
      await call(app, clouds.update, { token: admin.token, params: { id }, body: { name: `l-${randomUUID()}`, connection: other.connection } })
      engine.fail('unreachable')
      gate.open()
      expect(await late).toMatchObject({ health: 'reachable', capacity: { nodes: 2 } })
      expect(await get(id)).toMatchObject({ health: 'reachable', capacity: { nodes: 2 }, connection: { address: other.connection.socket_path } })
    })
  })

  it('refuses a name or engine of another cloud, and keeps its own', async () => {
    await withEngine(async (one, first) => {
      await withEngine(async (other, second) => {
        const name = (await get(second))?.name ?? ''
        expect(await update(first, { name })).toMatchObject({ status: 400, code: 93001, fields: [{ field: 'name' }] })
        expect(await update(first, { connection: other.connection })).toMatchObject({ status: 400, code: 93009 })
        await call(app, clouds.update, { token: admin.token, params: { id: second }, body: { name, connection: other.connection } })
        expect((await get(first))?.connection.address).toBe(one.connection.socket_path)
      })
    })
  })

  it('says which field is wrong, and 404 for what is not there', async () => {
    await withEngine(async (_, id) => {
      expect(await update(id, { name: 'a b' })).toMatchObject({ code: 90001, fields: [{ field: 'name' }] })
      expect(await update(id, { labels: ['x'] })).toMatchObject({ code: 90001, fields: [{ field: 'labels.0' }] })
      expect(await update(id, { connection: { type: 'lxd-socket' } })).toMatchObject({ code: 90001, fields: [{ field: 'connection.socket_path' }] })
    })
    for (const id of [randomUUID(), 'x']) {
      expect(await update(id, {})).toMatchObject({ status: 404, code: 90006 })
      expect(await refused(app, clouds.delete, { token: admin.token, params: { id } })).toMatchObject({ status: 404, code: 90006 })
      for (const action of ['active', 'maintenance', 'offline', 'refresh']) {
        expect(await refused(app, clouds.action, { token: admin.token, params: { id }, body: { action } })).toMatchObject({ status: 404, code: 90006 })
      }
    }
  })
})

describe('the licence', () => {
  /** A platform whose evaluation licence (10 nodes, 1024 cores) nobody else uses. */
  async function fresh(
    test: (on: TestApp, ask: (wish: Partial<Create>) => Promise<{ status: number; body: unknown }>, token: string) => Promise<void>,
  ): Promise<void> {
    const own = await testApp({}, { openEngine: openTestEngine })
    try {
      const { token } = await someone(own, { kind: 1 })
      await test(own, (wish) => send(own, clouds.create, { token, body: body(wish) }), token)
    } finally {
      await own.close()
    }
  }
  const idOf = (answer: { body: unknown }): string => (answer.body as { cloud_id: string }).cloud_id

  it('limits nodes (8805) and cores (8809) over all clouds, not those of the sandbox', async () => {
    await fresh(async (on, ask, token) => {
      expect((await ask({})).status).toBe(201)
      const first = await ask({ connection: startTestEngine({ nodes: 8, cores: 1000 }).connection })
      expect(first.status).toBe(201)
      expect(await ask({ connection: startTestEngine({ nodes: 3, cores: 1 }).connection })).toMatchObject({ status: 400, body: { code: 8805 } })
      expect(await ask({ connection: startTestEngine({ nodes: 1, cores: 25 }).connection })).toMatchObject({ status: 400, body: { code: 8809 } })
      expect((await ask({ connection: startTestEngine({ nodes: 2, cores: 24 }).connection })).status).toBe(201)
      expect(await call(on, licences.get, { token })).toMatchObject({ nodes_used: 10, cores_used: 1024 })
      expect(await ask({ connection: startTestEngine({ nodes: 1, cores: 1 }).connection })).toMatchObject({ body: { code: 8805 } })
      await call(on, clouds.delete, { token, params: { id: idOf(first) } })
      expect(await call(on, licences.get, { token })).toMatchObject({ nodes_used: 2, cores_used: 24 })
      expect((await ask({ connection: startTestEngine({ nodes: 8, cores: 1000 }).connection })).status).toBe(201)
    })
  })

  it('is never passed by several at once', async () => {
    await fresh(async (on, ask, token) => {
      const answers = await Promise.all(Array.from({ length: 6 }, () => ask({ connection: startTestEngine({ nodes: 4, cores: 1 }).connection })))
      expect(answers.filter(({ status }) => status === 201)).toHaveLength(2)
      expect(await call(on, licences.get, { token })).toMatchObject({ nodes_used: 8 })
    })
  })

  it('counts a move to a bigger engine by the difference, and a move out of the sandbox in full', async () => {
    await fresh(async (on, ask, token) => {
      const move = (id: string, connection: Create['connection']) =>
        send(on, clouds.update, { token, params: { id }, body: { name: `x-${randomUUID()}`, connection } })
      const id = idOf(await ask({ connection: startTestEngine({ nodes: 9, cores: 1000 }).connection }))
      expect(await move(id, startTestEngine({ nodes: 11, cores: 1000 }).connection)).toMatchObject({ status: 400, body: { code: 8805 } })
      expect(await move(id, startTestEngine({ nodes: 9, cores: 1025 }).connection)).toMatchObject({ status: 400, body: { code: 8809 } })
      expect((await move(id, startTestEngine({ nodes: 10, cores: 1024 }).connection)).status).toBe(200)
      const box = idOf(await ask({}))
      expect(await move(box, startTestEngine({ nodes: 1, cores: 1 }).connection)).toMatchObject({ status: 400, body: { code: 8805 } })
      expect((await move(id, sandbox)).status).toBe(200)
      expect(await call(on, licences.get, { token })).toMatchObject({ nodes_used: 0, cores_used: 0 })
      expect(await move(box, startTestEngine({ nodes: 10, cores: 1025 }).connection)).toMatchObject({ status: 400, body: { code: 8809 } })
      expect((await move(box, startTestEngine({ nodes: 10, cores: 1024 }).connection)).status).toBe(200)
      expect(await call(on, licences.get, { token })).toMatchObject({ nodes_used: 10, cores_used: 1024 })
    })
  })

  it('that has ended refuses a new cloud', async () => {
    await fresh(async (on) => {
      on.clock.advance(91 * 24 * 60 * 60_000)
      const { token } = await someone(on, { kind: 1 })
      expect(await refused(on, clouds.create, { token, body: body() })).toMatchObject({ status: 400, code: 92001 })
    })
  })
})

describe('maintenance and offline', () => {
  it('refuse changes on the cloud with 12005 and 12006, until it is active again', async () => {
    await withEngine(async (_, id) => {
      const vm = await makeVm(id)
      const stop = () => refused(app, vms.stop, { token: admin.token, params: { id: vm.id }, body: {} })
      expect((await act(id, 'maintenance')).status).toBe('maintenance')
      expect(await stop()).toMatchObject({ status: 400, code: 12005 })
      expect((await call(app, images.list, { token: tenant.token, query: { cloud_id: id } })).total).toBeGreaterThan(0)
      expect((await act(id, 'offline')).status).toBe('offline')
      expect(await stop()).toMatchObject({ status: 400, code: 12006 })
      expect(await refused(app, images.list, { token: tenant.token, query: { cloud_id: id } })).toMatchObject({ status: 400, code: 12006 })
      expect((await act(id, 'active')).status).toBe('active')
      await call(app, vms.stop, { token: admin.token, params: { id: vm.id }, body: {} })
    })
  })

  it('can be reached from each other, not from themselves', async () => {
    await withEngine(async (_, id) => {
      const forbidden = (action: string) => refused(app, clouds.action, { token: admin.token, params: { id }, body: { action } })
      expect(await forbidden('active')).toMatchObject({ status: 409, code: 90010 })
      await act(id, 'maintenance')
      expect(await forbidden('maintenance')).toMatchObject({ status: 409, code: 90010 })
      await act(id, 'offline')
      expect(await forbidden('offline')).toMatchObject({ status: 409, code: 90010 })
      await act(id, 'maintenance')
      await act(id, 'active')
      expect(await forbidden('explode')).toMatchObject({ status: 400, code: 90001, fields: [{ field: 'action' }] })
    })
  })

  it('take an offline cloud out of what tenants see, not of what administrators see', async () => {
    await withEngine(async (_, id) => {
      await act(id, 'offline')
      expect(await get(id, tenant.token)).toBeUndefined()
      expect((await get(id))?.status).toBe('offline')
      const basics = async (token: string) => (await call(app, clouds.basicInfo, { token })).clouds.map(({ cloud_id }) => cloud_id)
      expect(await basics(tenant.token)).not.toContain(id)
      expect(await basics(admin.token)).toContain(id)
      expect((await call(app, clouds.list, { token: tenant.token, query: { status: 'offline' } })).total).toBe(0)
    })
  })
})

describe('an engine that falls silent', () => {
  it('is told to who runs the platform, and that it answers again: once for each change, not for each look', async () => {
    await withEngine(async (engine, id) => {
      const told = async () =>
        (await call(app, messages.list, { token: admin.token, query: { category: 'platform', page_size: 100 } })).items
          .filter(({ about }) => about.id === id)
          .map(({ kind }) => kind)
      const look = async () => {
        app.clock.advance(1000)
        await Promise.all([act(id, 'refresh'), act(id, 'refresh')])
      }
      await look()
      expect(await told()).toEqual([])
      engine.fail('unreachable')
      await look()
      await look()
      expect(await told()).toEqual(['cmp.cloudUnreachable'])
      // That it lets nobody in is no other news.
      engine.recover()
      engine.fail('unauthorized')
      await look()
      expect(await told()).toEqual(['cmp.cloudUnreachable'])
      engine.recover()
      await look()
      await look()
      expect(await told()).toEqual(['cmp.cloudReachable', 'cmp.cloudUnreachable'])
      engine.fail('unauthorized')
      await look()
      const other = startTestEngine()
      app.clock.advance(1000)
      await call(app, clouds.update, { token: admin.token, params: { id }, body: { name: `t-${randomUUID()}`, connection: other.connection } })
      expect(await told()).toEqual(['cmp.cloudReachable', 'cmp.cloudUnreachable', 'cmp.cloudReachable', 'cmp.cloudUnreachable'])
      expect((await call(app, messages.list, { token: tenant.token })).items).toEqual([])
    })
  })

  it('is shown so, with what was known of it, until it answers again', async () => {
    await withEngine(async (engine, id) => {
      engine.says.capacity.memoryBytes.used = 64 * 2 ** 30
      const before = await act(id, 'refresh')
      expect(before).toMatchObject({ health: 'reachable', usage: 0.25 })
      engine.fail('unreachable', { message: 'connect ECONNREFUSED' })
      app.clock.advance(1000)
      const silent = await act(id, 'refresh')
      expect(silent).toEqual({ ...before, health: 'unreachable', health_message: 'connect ECONNREFUSED', checked_at: expect.any(String) })
      expect(silent.checked_at).not.toBe(before.checked_at)
      expect(await get(id, tenant.token)).toMatchObject({ health: 'unreachable', health_message: null, usage: 0.25 })
      engine.recover()
      engine.fail('unauthorized')
      expect((await act(id, 'refresh')).health).toBe('unauthorised')
      expect((await call(app, clouds.list, { token: admin.token, query: { page_size: 99_999 } })).clouds.length).toBeGreaterThan(0)
      engine.recover()
      expect(await act(id, 'refresh')).toMatchObject({ health: 'reachable', health_message: null })
    })
  })
})

describe('the look at all clouds', () => {
  it('does not wait for one that hangs', async () => {
    await withEngine(async (engine, hanging) => {
      await withEngine(async (_, other) => {
        const gate = engine.hold('capacity')
        const clock = createClock()
        clock.advance(60 * 60_000)
        const later = await testApp({ DATABASE_URL: app.databaseUrl }, { clock, openEngine: openTestEngine })
        try {
          await gate.reached
          const checked = async (id: string) => new Date((await get(id))?.checked_at ?? 0).getTime()
          await vi.waitFor(async () => expect(await checked(other)).toBeGreaterThan(app.clock.now().getTime() + 30 * 60_000), { interval: 20 })
          expect(await checked(hanging)).toBeLessThan(app.clock.now().getTime() + 30 * 60_000)
        } finally {
          gate.open()
          await later.close()
        }
      })
    })
  })
})

describe('an address', () => {
  const https = (url: string, project?: string) => addressOf({ type: 'lxd-https', url, client_certificate: '', client_key: '', project })

  it('is the same for the same engine, however it was typed', () => {
    expect(https('https://Cloud.example.com:8443/')).toBe('https://cloud.example.com:8443')
    expect(https('https://cloud.example.com:443')).toBe('https://cloud.example.com')
    expect(https('https://cloud.example.com/lxd//', 'team')).toBe('https://cloud.example.com/lxd?project=team')
    expect(https('https://cloud.example.com', 'default')).toBe('https://cloud.example.com')
    expect(addressOf({ type: 'lxd-socket', socket_path: '/var/lib//lxd/./unix.socket' })).toBe('/var/lib/lxd/unix.socket')
  })

  it('tells nothing of who gets in', () => {
    expect(https('https://user:hunter2@cloud.example.com/?token=hunter2#hunter2')).toBe('https://cloud.example.com')
  })
})

describe('removing', () => {
  it('is refused while instances are on it, says how many, and force leaves them on the engine', async () => {
    await withEngine(async (engine, id) => {
      const [one, other] = [await makeVm(id), await makeVm(id, tenant.token)]
      expect((await get(id))?.instance_count).toBe(2)
      const refusal = await refused(app, clouds.delete, { token: admin.token, params: { id } })
      expect(refusal).toMatchObject({ status: 400, code: 93004 })
      expect(refusal.message).toContain('2')
      expect(await refused(app, clouds.delete, { token: admin.token, params: { id }, query: { force: 'yes' } })).toMatchObject({
        code: 90001,
        fields: [{ field: 'force' }],
      })
      await remove(id, true)
      expect(await get(id)).toBeUndefined()
      for (const { id: vm } of [one, other]) expect(await refused(app, vms.get, { token: admin.token, params: { id: vm } })).toMatchObject({ status: 404 })
      expect(await engine.direct.instances.list()).toHaveLength(2)
      expect(await refused(app, clouds.delete, { token: admin.token, params: { id }, query: { force: 'true' } })).toMatchObject({ status: 404 })
    })
  })

  it('works by force while the engine is down', async () => {
    await withEngine(async (engine, id) => {
      await makeVm(id)
      engine.fail('unreachable')
      await remove(id, true)
      expect(await get(id)).toBeUndefined()
    })
  })
})

describe('the list', () => {
  it('shows tenants the same clouds without the administrator’s fields', async () => {
    await withEngine(async (engine, id) => {
      engine.says.capacity.cpuCores.used = 32
      await makeVm(id)
      const whole = await act(id, 'refresh')
      expect(await get(id, tenant.token)).toEqual({
        ...whole,
        description: '',
        connection: { type: 'lxd-socket', address: '' },
        engine_version: null,
        capacity: null,
        instance_count: 0,
        health_message: null,
      })
      const [basic] = (await call(app, clouds.basicInfo, { token: tenant.token })).clouds.filter(({ cloud_id }) => cloud_id === id)
      expect(basic).toEqual({
        cloud_id: id,
        name: whole.name,
        product: 'nextstack',
        engine: 'lxd',
        sandbox: false,
        status: 'active',
        health: 'reachable',
        usage: 0.5,
        labels: [],
        instance_types: whole.instance_types,
      })
    })
  })

  it('filters, sorts and pages', async () => {
    const own = await testApp({}, { openEngine: openTestEngine })
    try {
      const { token } = await someone(own, { kind: 1 })
      for (const [n, used] of [0, 4, 2].entries()) {
        const engine = startTestEngine({ cores: 4 })
        engine.says.capacity.cpuCores.used = used
        const { cloud_id } = await call(own, clouds.create, { token, body: body({ name: `云-${n}`, connection: engine.connection }) })
        if (n === 1) await call(own, clouds.action, { token, params: { id: cloud_id }, body: { action: 'maintenance' } })
      }
      const ask = async (query: Parameters<typeof call<typeof clouds.list>>[2]['query']) =>
        (await call(own, clouds.list, { token, query: { sort: 'name', ...query } })).clouds.map(({ name }) => Number(name.at(-1)))
      expect(await ask({})).toEqual([0, 1, 2])
      expect(await ask({ sort: '-name' })).toEqual([2, 1, 0])
      expect(await ask({ sort: '-usage' })).toEqual([1, 2, 0])
      expect(await ask({ sort: 'created_at' })).toEqual([0, 1, 2])
      expect(await ask({ keyword: '云-2' })).toEqual([2])
      expect(await ask({ keyword: '%' })).toEqual([])
      expect(await ask({ status: 'maintenance' })).toEqual([1])
      expect(await ask({ product: 'openstack' })).toEqual([])
      expect(await ask({ page_size: 2, page_num: 2 })).toEqual([2])
      expect((await call(own, clouds.list, { token, query: { page_size: 2 } })).total).toBe(3)
      for (const [field, value] of [
        ['page_num', 0],
        ['page_size', 100_000],
        ['sort', 'connection'],
        ['status', 'x'],
        ['product', 'x'],
      ] as const) {
        expect(await refused(own, clouds.list, { token, query: { [field]: value } })).toMatchObject({ code: 90001, fields: [{ field }] })
      }
    } finally {
      await own.close()
    }
  })

  it('is for tenants to read; changes are for administrators alone', async () => {
    await withEngine(async (_, id) => {
      for (const who of [tenant, await someone(app, { kind: 4 }), await someone(app, { kind: 3 })]) {
        expect((await send(app, clouds.list, { token: who.token })).status).toBe(200)
        expect((await send(app, clouds.basicInfo, { token: who.token })).status).toBe(200)
        for (const declared of [clouds.create, clouds.update, clouds.delete, clouds.action, clouds.test]) {
          expect(await refused(app, declared, { token: who.token, params: { id }, body: { ...body(), action: 'offline' } }), declared.id).toMatchObject({
            status: 403,
            code: 3000,
          })
        }
      }
      const stranger = await someone(app, { kind: 4, roles: ['PROVIDER'] })
      for (const declared of [clouds.list, clouds.basicInfo])
        expect(await refused(app, declared, { token: stranger.token }), declared.id).toMatchObject({ code: 3000 })
      expect((await get(id))?.status).toBe('active')
    })
  })
})

describe('the history of a capacity', () => {
  const minute = 60_000
  /** Another server's, on the same database. */
  const serviceOn = (on: TestApp) => {
    const tell = async () => undefined
    const endpoints = createCloudEndpoints(on.platform, { tell, openEngine: openTestEngine })
    const licence = { assertValid: () => undefined, assertFits: async () => undefined }
    return { ...createCapacityHistory(on.platform), act: createCloudRegistrations(on.platform, { endpoints, licence, tell }).act, stop: endpoints.stop }
  }

  it('has a sample each five minutes while the cloud answers, once however many servers take it, for thirty days', async () => {
    const clock = createClock()
    const own = await testApp({}, { clock, openEngine: openTestEngine })
    const services = [serviceOn(own), serviceOn(own)] as const
    try {
      const { token } = await someone(own, { kind: 1 })
      const engine = startTestEngine({ nodes: 2, cores: 64 })
      engine.says.capacity.cpuCores.used = 16
      const { cloud_id: id } = await call(own, clouds.create, { token, body: body({ connection: engine.connection }) })
      // Sessions end sooner than days.
      const [one, other] = services.map(
        ({ jobHandler }) =>
          () =>
            jobHandler.run({}, { signal: new AbortController().signal }),
      ) as [() => Promise<void>, () => Promise<void>]
      const history = (range: CapacityRange) => services[0].capacity(id, range)
      const look = () => services[0].act(id, 'refresh')
      expect(await call(own, clouds.capacity, { token, params: { id } })).toEqual({ items: [] })
      expect(await refused(own, clouds.capacity, { token, params: { id: randomUUID() } })).toMatchObject({ status: 404 })
      expect(await refused(own, clouds.capacity, { token, params: { id }, query: { range: 'year' } })).toMatchObject({
        code: 90001,
        fields: [{ field: 'range' }],
      })
      await Promise.all([one(), other(), one()])
      const { items } = await call(own, clouds.capacity, { token, params: { id } })
      expect(items).toEqual([
        {
          at: expect.stringMatching(/:\d[05]:00\.000Z$/),
          cpu_cores: { total: 64, used: 16 },
          memory_bytes: { total: 256 * 2 ** 30, used: 0 },
          disk_bytes: { total: 1024 * 2 ** 30, used: 0 },
          nodes: 2,
          instances: 0,
        },
      ])

      // What was known before it fell silent is no sample.
      clock.advance(10 * minute)
      engine.fail('unreachable')
      await look()
      await one()
      expect((await history('day')).items).toHaveLength(1)
      engine.recover()
      engine.says.capacity.cpuCores.used = 32
      await look()
      await one()
      clock.advance(5 * minute)
      await look()
      await one()
      expect((await history('day')).items.map(({ cpu_cores }) => cpu_cores.used)).toEqual([16, 32, 32])
      // Of an hour the last one, of a cloud in another day none.
      expect((await history('week')).items.at(-1)?.cpu_cores.used).toBe(32)
      clock.advance(24 * 60 * minute)
      expect((await history('day')).items).toEqual([])
      clock.advance(30 * 24 * 60 * minute)
      await one()
      expect(await own.platform.db.selectFrom('cloud_capacity_samples').selectAll().execute()).toEqual([])
    } finally {
      for (const service of services) await service.stop()
      await own.close()
    }
  })
})

describe('an OpenStack', () => {
  const works = (service: CloudServiceState['service'], required: boolean): CloudServiceState => ({
    service,
    required,
    state: 'works',
    version: '1',
    address: 'http://cloud',
    took_ms: 1,
    problem: null,
  })
  const failed = (service: CloudServiceState['service'], required: boolean): CloudServiceState => ({
    ...works(service, required),
    state: 'failed',
    problem: { message: '连接不上', words: 'connect ECONNREFUSED', request_id: 'req-1' },
  })
  const missing = (service: CloudServiceState['service'], required: boolean): CloudServiceState => ({
    ...works(service, required),
    state: 'missing',
    address: null,
  })

  const healthOf = (services: readonly CloudServiceState[]) => healthOfParts(partsOf(services))
  const keep = (services: readonly CloudServiceState[]) => refuseIncomplete(partsOf(services), (failed) => servicesRefusal('云', failed))

  it('is degraded where a service fails or a needed one is missing, and names it', () => {
    expect(healthOf([])).toEqual({ health: 'reachable', health_message: null })
    expect(healthOf([works('compute', true), missing('volume', false)])).toEqual({ health: 'reachable', health_message: null })
    expect(healthOf([failed('volume', false), works('image', true)])).toEqual({ health: 'degraded', health_message: 'Cinder（连接不上，req-1）' })
    expect(healthOf([missing('network', true), failed('compute', true)])).toEqual({ health: 'degraded', health_message: 'Neutron、Nova（连接不上，req-1）' })
  })

  it('is kept only with the services that it needs', () => {
    expect(() => keep([works('compute', true), failed('volume', false), missing('placement', false)])).not.toThrow()
    expect(() => keep([failed('compute', true), missing('network', true)])).toThrow('云的这些必需服务不可用：Nova（连接不上，req-1）、Neutron')
  })

  it('keeps a secret that is left out, for the same Keystone and the same name only', () => {
    const kept = cloudConnection.parse({
      type: 'openstack-password',
      auth_url: 'https://cloud:5000/v3',
      username: 'admin',
      password: 'secret',
      project: 'admin',
    })
    const change = (wish: object = {}) =>
      cloudConnectionChange.parse({ type: 'openstack-password', auth_url: 'https://cloud:5000', username: 'admin', project: 'other', ...wish })
    expect(withSecrets(change(), kept)).toMatchObject({ password: 'secret', project: 'other' })
    expect(withSecrets(change({ password: 'new' }), kept)).toMatchObject({ password: 'new' })
    for (const wish of [{ auth_url: 'http://cloud:5000' }, { auth_url: 'https://cloud.evil.example:5000' }, { username: 'root' }, { user_domain: 'else' }]) {
      expect(() => withSecrets(change(wish), kept), JSON.stringify(wish)).toThrow('认证地址或账号已更改')
    }
    const credential = { type: 'openstack-credential', auth_url: 'https://cloud:5000/v3', credential_id: 'id' }
    expect(() => withSecrets(cloudConnectionChange.parse(credential), kept)).toThrow('认证地址或账号已更改')
    expect(withSecrets(cloudConnectionChange.parse(credential), cloudConnection.parse({ ...credential, credential_secret: 'x' }))).toMatchObject({
      credential_secret: 'x',
    })
    expect(() => withSecrets(change(), undefined)).toThrow(expect.objectContaining({ fields: [{ field: 'connection.password', message: '请输入内容' }] }))
  })

  it('where nobody listens is refused at its address', async () => {
    const keystone = { type: 'openstack-password', auth_url: 'http://127.0.0.1:1/v3', username: 'admin', password: 'x', project: 'admin' } as const
    const nobody = { status: 502, code: 93020, fields: [{ field: 'connection.auth_url', message: expect.stringMatching(/127\.0\.0\.1:1的.*Keystone.*req-/) }] }
    expect(await refused(app, clouds.test, { token: admin.token, body: { product: 'openstack', connection: keystone } })).toMatchObject(nobody)
    const { password: _, ...open } = keystone
    expect(await refused(app, clouds.test, { token: admin.token, body: { product: 'openstack', connection: open } })).toMatchObject({
      status: 400,
      code: 90001,
      fields: [{ field: 'connection.password' }],
    })
    const name = `云-${randomUUID()}`
    expect((await refuse({ name, product: 'easystack', connection: keystone })).message).toContain(name)
  })
})

describe('usage', () => {
  const of = (cores: [number, number], memory: [number, number], disk: [number, number]) =>
    usageOf({
      cpu_cores: { used: cores[0], total: cores[1] },
      memory_bytes: { used: memory[0], total: memory[1] },
      disk_bytes: { used: disk[0], total: disk[1] },
    })

  it('is the fullest of processors, memory and disk, never more than all', () => {
    expect(of([1, 10], [2, 10], [9, 10])).toBe(0.9)
    expect(of([5, 10], [2, 10], [1, 10])).toBe(0.5)
    expect(of([30, 10], [2, 10], [1, 10])).toBe(1)
    expect(of([0, 0], [0, 0], [0, 0])).toBe(0)
  })
})
