import { randomUUID } from 'node:crypto'
import { allCalls } from '@zhisuan/contract/calls'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import type { BodyInput, QueryInput } from '@zhisuan/contract/define'
import { flavors, type Flavor } from '@zhisuan/contract/nextstack/flavor'
import { images, networks, terminals, vmTransitional, vms, type Vm } from '@zhisuan/contract/nextstack/vm'
import { errors } from '@zhisuan/contract/errors'
import { quotas } from '@zhisuan/contract/nextstack/quota'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused, send } from '../../../testing/call.ts'
import { openTestEngine, startTestEngine, type TestEngine } from '../../../testing/engine.ts'
import { waitingForLocks } from '../../../testing/locks.ts'
import { makeOrganisation, someone, type Person, type SignedIn } from '../../../testing/people.ts'
import { numbered } from './vm.making.ts'

const password = 'Correct-horse-1'
const publicKey = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIEexamplekeyexamplekeyexamplekeyexample me@host'
const gib = 2 ** 30

let app: TestApp
let admin: Person & SignedIn
let owner: Person & SignedIn
let stranger: Person & SignedIn
let engine: TestEngine
let cloud_id: string
let sizes: ReadonlyMap<string, Flavor>
/** Fingerprints by name, of containers; `vm:` before those of virtual machines. */
let prints: ReadonlyMap<string, string>

beforeAll(async () => {
  app = await testApp({}, { openEngine: openTestEngine })
  admin = await someone(app, { kind: 1 })
  owner = await someone(app)
  stranger = await someone(app)
  ;({ engine, id: cloud_id } = await addCloud())
  sizes = new Map((await call(app, flavors.list, { token: owner.token })).items.map((one) => [one.name, one]))
  const { items } = await call(app, images.list, { token: owner.token, query: { cloud_id } })
  prints = new Map(items.map(({ fingerprint, name, type }) => [type === 'vm' ? `vm:${name}` : name, fingerprint]))
})
afterEach(() => engine.recover())
afterAll(() => app.close())

async function addCloud(): Promise<{ engine: TestEngine; id: string }> {
  const started = startTestEngine()
  const made = await call(app, clouds.create, { token: admin.token, body: { name: `c-${randomUUID()}`, product: 'nextstack', connection: started.connection } })
  return { engine: started, id: made.cloud_id }
}

type Create = BodyInput<typeof vms.create>
const size = (name: string): Flavor => sizes.get(name) ?? expect.fail(`no flavor ${name}`)
const print = (name: string): string => prints.get(name) ?? expect.fail(`no image ${name}`)
const body = (wish: Partial<Create> = {}): Create => ({
  cloud_id,
  name: `vm-${randomUUID()}`,
  type: 'container',
  image_fingerprint: print('busybox'),
  flavor_id: size('nano').id,
  network: 'sandbox0',
  password,
  ...wish,
})
const refuse = (wish: object, token = owner.token) => refused(app, vms.create, { token, body: { ...body(), ...wish } })
const get = (id: string, token = owner.token) => call(app, vms.get, { token, params: { id } })
/** Waits for the operation that is running. */
const settled = (id: string, token = owner.token): Promise<Vm> =>
  vi.waitFor(
    async () => {
      const vm = await get(id, token)
      expect(vmTransitional).not.toContain(vm.status)
      return vm
    },
    { interval: 20 },
  )
async function create(wish: Partial<Create> = {}, token = owner.token): Promise<Vm> {
  const { items } = await call(app, vms.create, { token, body: body(wish) })
  return settled(items[0]?.id ?? '', token)
}
const act = async (declared: typeof vms.start | typeof vms.delete, id: string) => call(app, declared, { token: owner.token, params: { id } })
async function stopped(wish: Partial<Create> = {}): Promise<Vm> {
  const vm = await create(wish)
  await call(app, vms.stop, { token: owner.token, params: { id: vm.id }, body: {} })
  return settled(vm.id)
}
const gone = (id: string) =>
  vi.waitFor(async () => expect((await send(app, vms.get, { token: owner.token, params: { id } })).status).toBe(404), { interval: 20 })
const history = async (id: string) => (await call(app, vms.operations, { token: owner.token, params: { id } })).items
const onEngine = (vm: Pick<Vm, 'id'>) => engine.direct.instances.get(`zs-${vm.id.replaceAll('-', '')}`)
const requests = (method: string) => engine.asked.filter((one) => one.method === method).map(({ args }) => args)

describe('creating', () => {
  it('answers at once with the instance as it is being made, and makes it', async () => {
    const wish = body({ name: '数据库-1', description: '主库', flavor_id: size('small').id })
    const answer = await send(app, vms.create, { token: owner.token, body: wish })
    expect(answer.status).toBe(202)
    const [vm] = (answer.body as { items: Vm[] }).items
    expect(vm).toEqual({
      id: expect.any(String),
      name: '数据库-1',
      description: '主库',
      cloud_id,
      type: 'container',
      status: 'creating',
      error: null,
      operation_id: expect.any(String),
      image: { fingerprint: wish.image_fingerprint, name: 'busybox' },
      flavor: { id: size('small').id, name: 'small' },
      cpu_cores: 1,
      memory_bytes: gib,
      disk_bytes: 20 * gib,
      gpus: [],
      network: 'sandbox0',
      vpc: null,
      security_groups: [],
      eip: null,
      addresses: [],
      reserved_address: null,
      // Chosen where the cloud's hosts are known already.
      node: expect.toBeOneOf([null, 'sandbox']),
      bp_id: owner.bp_id,
      project_id: null,
      bp_name: expect.stringMatching(/^org-/),
      created_by: owner.name,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    })
    const done = await settled(vm?.id ?? '')
    expect(done).toMatchObject({ status: 'running', error: null, operation_id: null })
    const made = await onEngine(done)
    expect(made).toMatchObject({ power: 'running', cpuCores: 1, memoryBytes: gib, diskBytes: 20 * gib, tags: { vm_id: done.id } })
    // What a person typed does not become a name on the engine.
    expect(made?.name).toMatch(/^zs-[0-9a-f]{32}$/)
    // The address comes with the event, the next look or the one after.
    await vi.waitFor(async () => expect((await get(done.id)).addresses).toEqual([{ family: 4, address: made?.addresses[0]?.address }]))
    expect((await get(done.id)).node).toBe('sandbox')
  })

  it('makes several, numbered, all with one call', async () => {
    const { items } = await call(app, vms.create, { token: owner.token, body: body({ name: 'web', count: 3 }) })
    expect(items.map(({ name }) => name)).toEqual(['web-1', 'web-2', 'web-3'])
    for (const { id } of items) expect((await settled(id)).status).toBe('running')
  })

  it('takes a larger disk than the flavor’s, not a smaller one', async () => {
    const vm = await create({ disk_bytes: 30 * gib })
    expect(vm.disk_bytes).toBe(30 * gib)
    expect((await onEngine(vm))?.diskBytes).toBe(30 * gib)
    expect(await refuse({ disk_bytes: gib })).toMatchObject({ status: 400, code: 94015, fields: [{ field: 'disk_bytes', message: '磁盘不能小于规格的5 GB' }] })
  })

  it('makes virtual machines from images for them', async () => {
    expect(await create({ type: 'vm', image_fingerprint: print('vm:debian-12') })).toMatchObject({ type: 'vm', status: 'running' })
  })

  it.each([
    ['cloud_id', { cloud_id: 'x' }],
    ['cloud_id', { cloud_id: undefined }],
    ['name', { name: '' }],
    ['name', { name: 'a b' }],
    ['name', { name: '<script>' }],
    ['name', { name: 'x'.repeat(65) }],
    ['name', { name: undefined }],
    ['description', { description: 'x'.repeat(256) }],
    ['type', { type: 'pod' }],
    ['image_fingerprint', { image_fingerprint: 'XYZ' }],
    ['flavor_id', { flavor_id: 'small' }],
    ['disk_bytes', { disk_bytes: 0 }],
    ['disk_bytes', { disk_bytes: 1.5 }],
    ['disk_bytes', { disk_bytes: 2 ** 51 }],
    ['network', { network: '' }],
    ['network', { network: 'x'.repeat(64) }],
    ['count', { count: 0 }],
    ['count', { count: 51 }],
    ['count', { count: 1.5 }],
    ['password', { password: 'short' }],
    ['password', { password: 'alllowercase' }],
    ['password', { password: `Aa1-${'x'.repeat(61)}` }],
    ['password', { password: undefined }],
    ['ssh_public_key', { ssh_public_key: 'not a key' }],
    ['ssh_public_key', { ssh_public_key: `${publicKey}\nssh-ed25519 AAAA second` }],
    ['user_data', { user_data: 'echo hello' }],
    ['user_data', { user_data: `#!/bin/sh\n${'x'.repeat(65_536)}` }],
  ])('names the wrong field: %s', async (field, wish) => {
    const answer = await refuse(wish)
    expect(answer).toMatchObject({ status: 400, code: 90001 })
    expect(answer.fields?.map((one) => one.field)).toEqual([field])
    expect(answer.fields?.[0]?.message).toMatch(/\p{Script=Han}/u)
  })

  it('refuses what the cloud does not have', async () => {
    const before = (await call(app, vms.list, { token: owner.token })).total
    expect(await refuse({ image_fingerprint: 'f'.repeat(64) })).toMatchObject({ status: 400, code: 94003, fields: [{ field: 'image_fingerprint' }] })
    expect(await refuse({ image_fingerprint: print('vm:busybox') })).toMatchObject({ status: 400, code: 94004, fields: [{ field: 'image_fingerprint' }] })
    expect(await refuse({ flavor_id: randomUUID() })).toMatchObject({ status: 400, code: 94005, fields: [{ field: 'flavor_id' }] })
    expect(await refuse({ network: 'lxdbr9' })).toMatchObject({ status: 400, code: 94006, fields: [{ field: 'network' }] })
    expect(await refuse({ cloud_id: randomUUID() })).toMatchObject({ status: 404, code: 90006 })
    expect(await refuse({ user_data: '#cloud-config\n' })).toMatchObject({ status: 400, code: 94008, fields: [{ field: 'user_data' }] })
    expect((await call(app, vms.list, { token: owner.token })).total).toBe(before)
  })

  it('refuses a type that the cloud cannot run', async () => {
    const other = await addCloud()
    other.engine.says.info = { ...other.engine.says.info, instanceTypes: { vm: { available: false, reason: 'vhost_vsock' }, container: { available: true } } }
    await call(app, clouds.action, { token: admin.token, params: { id: other.id }, body: { action: 'refresh' } })
    expect(await refuse({ cloud_id: other.id, type: 'vm', image_fingerprint: print('vm:busybox') })).toMatchObject({
      status: 400,
      code: 94002,
      fields: [{ field: 'type' }],
    })
  })

  it('refuses a name that the organisation has on this cloud; others may have it', async () => {
    const { name } = await create()
    expect(await refuse({ name })).toMatchObject({ status: 400, code: 94001, fields: [{ field: 'name', message: '实例名称已存在' }] })
    await create({ name: `${name.slice(0, 50)}-2` })
    expect((await refuse({ name: name.slice(0, 50), count: 3 })).code).toBe(94001)
    // All or none.
    expect((await call(app, vms.list, { token: owner.token, query: { keyword: `${name.slice(0, 50)}-` } })).items.map((one) => one.name)).toEqual([
      `${name.slice(0, 50)}-2`,
    ])
    const second = await addCloud()
    for (const [wish, token] of [
      [{ name, cloud_id: second.id }, owner.token],
      [{ name }, stranger.token],
    ] as const) {
      expect((await create(wish, token)).name).toBe(name)
    }
  })

  it('of several at once with one name makes one', async () => {
    const name = `same-${randomUUID()}`
    const answers = await Promise.all(Array.from({ length: 5 }, () => send(app, vms.create, { token: owner.token, body: body({ name }) })))
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 400, 400, 400, 400])
    for (const answer of answers) if (answer.status === 400) expect(answer.body).toMatchObject({ code: 94001 })
    expect((await call(app, vms.list, { token: owner.token, query: { keyword: name } })).total).toBe(1)
  })

  it('lets the person in: by password and key put in place, or by cloud-init where the image runs it', async () => {
    const plain = await create({ ssh_public_key: publicKey })
    const name = `zs-${plain.id.replaceAll('-', '')}`
    expect((await engine.direct.instances.exec(name, { command: ['cat', '/root/.ssh/authorized_keys'] })).stdout.toString()).toBe(`${publicKey}\n`)
    const [asked] = requests('instances.exec').filter(([instance]) => instance === name)
    expect(asked?.[1]).toMatchObject({ command: ['chpasswd'], input: Buffer.from(`root:${password}\n`) })

    const cloudInit = await create({ image_fingerprint: print('debian-12'), ssh_public_key: publicKey, user_data: '#!/bin/sh\necho hi\n' })
    expect(requests('instances.create').at(-1)?.[0]).toMatchObject({ tags: { vm_id: cloudInit.id }, userData: expect.stringContaining('multipart/mixed') })
    expect(requests('instances.exec').some(([instance]) => instance === `zs-${cloudInit.id.replaceAll('-', '')}`)).toBe(false)
  })

  it('keeps the password nowhere that can be read', async () => {
    const secret = 'Very-Secret-42'
    const vm = await create({ password: secret })
    const { db } = app.platform
    const everything = await Promise.all([
      db.selectFrom('operations').selectAll().execute(),
      db.selectFrom('vms').selectAll().execute(),
      db.selectFrom('audit_log').selectAll().execute(),
    ])
    expect(JSON.stringify(everything)).not.toContain(secret)
    // Sealed while it runs, gone when it has ended.
    expect(await db.selectFrom('operations').select('input').where('resource_id', '=', vm.id).execute()).toEqual([{ input: '' }])
    expect(JSON.stringify(await get(vm.id))).not.toContain(secret)
  })

  it('is refused to somebody of no organisation, and makes nothing', async () => {
    const nobody = await someone(app, { kind: 4, organisation: null })
    const name = `nobody-${randomUUID()}`
    expect(await refuse({ name }, nobody.token)).toMatchObject({ status: 403, code: 3000 })
    expect(await app.platform.db.selectFrom('vms').selectAll().where('name', '=', name).execute()).toEqual([])
    expect(await call(app, vms.list, { token: nobody.token })).toEqual({ total: 0, items: [] })
  })

  it('is refused on a cloud in maintenance or offline', async () => {
    const other = await addCloud()
    const set = (action: 'maintenance' | 'offline') => call(app, clouds.action, { token: admin.token, params: { id: other.id }, body: { action } })
    await set('maintenance')
    expect(await refuse({ cloud_id: other.id })).toMatchObject({ status: 400, code: 12005 })
    await set('offline')
    expect(await refuse({ cloud_id: other.id })).toMatchObject({ status: 400, code: 12006 })
  })

  it('is refused while the engine is down, and keeps nothing', async () => {
    const other = await addCloud()
    other.engine.fail('unreachable')
    const name = `down-${randomUUID()}`
    expect(await refuse({ name, cloud_id: other.id })).toMatchObject({ status: 502, code: 93002 })
    expect((await call(app, vms.list, { token: owner.token, query: { keyword: name } })).total).toBe(0)
    other.engine.recover()
    expect((await create({ name, cloud_id: other.id })).status).toBe('running')
  })

  it('is refused after the licence has ended; what runs can still be seen and stopped', async () => {
    const own = await testApp({ DATABASE_URL: app.databaseUrl }, { openEngine: openTestEngine })
    try {
      const vm = await create()
      own.clock.advance(91 * 24 * 60 * 60_000)
      const { token } = await someone(own, { organisation: owner.bp_id })
      expect(await refused(own, vms.create, { token, body: body() })).toMatchObject({ status: 400, code: 92001 })
      expect((await call(own, vms.get, { token, params: { id: vm.id } })).status).toBe('running')
      await call(own, vms.stop, { token, params: { id: vm.id }, body: {} })
      await settled(vm.id)
    } finally {
      await own.close()
    }
  })
})

describe('quotas', () => {
  const limit = (person: Person, limits: Record<string, number | null>) =>
    call(app, quotas.set, { token: admin.token, params: { bp_id: person.bp_id ?? '' }, body: { limits } })

  it('of a hundred at once against ten make exactly ten', async () => {
    const person = await someone(app)
    await limit(person, { vms: 10 })
    const answers = await Promise.all(Array.from({ length: 100 }, () => send(app, vms.create, { token: person.token, body: body() })))
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(10)
    expect(answers.filter(({ status }) => status === 400).map((answer) => (answer.body as { code: number }).code)).toEqual(
      Array<number>(90).fill(errors.quotaExceeded.code),
    )
    expect((await call(app, vms.list, { token: person.token, query: {} })).total).toBe(10)
  })
  it('count processors and memory too, of several and of what grows', async () => {
    const person = await someone(app)
    await limit(person, { cpu_cores: 2, memory_bytes: size('nano').memory_bytes * 2 })
    expect(await refused(app, vms.create, { token: person.token, body: body({ count: 3 }) })).toMatchObject({ code: errors.quotaExceeded.code })
    const { items } = await call(app, vms.create, { token: person.token, body: body() })
    const id = items[0]?.id ?? ''
    await vi.waitFor(async () => expect(await call(app, vms.get, { token: person.token, params: { id } })).toMatchObject({ status: 'running' }), {
      interval: 20,
    })
    expect(await refused(app, vms.resize, { token: person.token, params: { id }, body: { flavor_id: size('xlarge').id } })).toMatchObject({
      code: errors.quotaExceeded.code,
    })
    expect(await call(app, vms.get, { token: person.token, params: { id } })).toMatchObject({ status: 'running', cpu_cores: 1 })
  })
  it('of a project that is another organisation’s are not to be taken from', async () => {
    expect(await refused(app, vms.create, { token: owner.token, body: body({ project_id: randomUUID() }) })).toMatchObject({ code: errors.projectMissing.code })
  })
})

describe('names of several', () => {
  it('fit the rule, whatever the first part', () => {
    expect(numbered('a', 1)).toEqual(['a'])
    expect(numbered('a', 2)).toEqual(['a-1', 'a-2'])
    const long = numbered('名'.repeat(64), 50)
    expect(new Set(long).size).toBe(50)
    for (const name of long) expect([...name].length).toBeLessThanOrEqual(64)
    expect(long.at(-1)).toBe(`${'名'.repeat(61)}-50`)
  })
})

describe('power', () => {
  it('goes off and on again', async () => {
    const vm = await create()
    const { token } = owner
    const stopping = await call(app, vms.stop, { token, params: { id: vm.id }, body: {} })
    expect(stopping).toMatchObject({ status: 'stopping', operation_id: expect.any(String) })
    expect(await settled(vm.id)).toMatchObject({ status: 'stopped', operation_id: null })
    expect((await onEngine(vm))?.power).toBe('stopped')
    expect((await act(vms.start, vm.id)).status).toBe('starting')
    expect((await settled(vm.id)).status).toBe('running')
    expect((await call(app, vms.restart, { token, params: { id: vm.id }, body: {} })).status).toBe('restarting')
    expect((await settled(vm.id)).status).toBe('running')
    await call(app, vms.stop, { token, params: { id: vm.id }, body: { force: true } })
    expect((await settled(vm.id)).status).toBe('stopped')
    const name = `zs-${vm.id.replaceAll('-', '')}`
    const forces = requests('instances.stop')
      .filter(([one]) => one === name)
      .map(([, options]) => (options as { force: boolean }).force)
    expect(forces).toEqual([false, false, true])
    expect((await history(vm.id)).map(({ kind, status }) => [kind, status])).toEqual([
      ['nextstack.vm.stop', 'succeeded'],
      ['nextstack.vm.restart', 'succeeded'],
      ['nextstack.vm.start', 'succeeded'],
      ['nextstack.vm.stop', 'succeeded'],
      ['nextstack.vm.create', 'succeeded'],
    ])
  })

  it('is refused in the wrong state', async () => {
    const [running, off] = [await create(), await stopped()]
    const { token } = owner
    expect(await refused(app, vms.start, { token, params: { id: running.id } })).toMatchObject({ status: 409, code: 90010 })
    for (const force of [false, true]) {
      expect(await refused(app, vms.stop, { token, params: { id: off.id }, body: { force } })).toMatchObject({ status: 409, code: 90010 })
      expect(await refused(app, vms.restart, { token, params: { id: off.id }, body: { force } })).toMatchObject({ status: 409, code: 90010 })
    }
    expect(await refused(app, terminals.open, { token, params: { id: off.id }, body: {} })).toMatchObject({ status: 409, code: 90010 })
    expect(await refused(app, vms.stop, { token, params: { id: running.id }, body: { force: 'yes' } })).toMatchObject({
      code: 90001,
      fields: [{ field: 'force' }],
    })
    expect((await history(off.id)).length).toBe(2)
  })

  it('of a batch, refuses those that are not in the state, and does the others', async () => {
    const [one, two, off] = [await create(), await create(), await stopped()]
    const answers = await Promise.all([one, two, off].map(({ id }) => send(app, vms.stop, { token: owner.token, params: { id }, body: {} })))
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 409])
    for (const { id } of [one, two, off]) expect((await settled(id)).status).toBe('stopped')
  })
})

describe('while an operation runs', () => {
  it('every change is refused, and says that it is the state', async () => {
    const vm = await stopped()
    const gate = engine.hold('instances.start')
    await act(vms.start, vm.id)
    await gate.reached
    expect((await get(vm.id)).status).toBe('starting')
    const { token } = owner
    const params = { id: vm.id }
    const refusals = await Promise.all([
      refused(app, vms.start, { token, params }),
      refused(app, vms.stop, { token, params, body: {} }),
      refused(app, vms.stop, { token, params, body: { force: true } }),
      refused(app, vms.restart, { token, params, body: {} }),
      refused(app, vms.rename, { token, params, body: { name: 'other' } }),
      refused(app, vms.resize, { token, params, body: { flavor_id: size('large').id } }),
      refused(app, vms.rebuild, { token, params, body: { image_fingerprint: print('busybox') } }),
      refused(app, vms.delete, { token, params }),
      refused(app, terminals.open, { token, params, body: {} }),
      refused(app, vms.consoleLog, { token, params }),
    ])
    for (const refusal of refusals) expect(refusal).toMatchObject({ status: 409, code: 90010 })
    const [running] = await history(vm.id)
    expect(running).toMatchObject({
      kind: 'nextstack.vm.start',
      status: 'running',
      step: 'start',
      steps_done: 0,
      steps_total: 1,
      error: null,
      actor_name: owner.name,
      finished_at: null,
    })
    gate.open()
    expect((await settled(vm.id)).status).toBe('running')
  })

  it('of two who delete at once, one is told that it is on its way', async () => {
    const vm = await create()
    const answers = await Promise.all(Array.from({ length: 4 }, () => send(app, vms.delete, { token: owner.token, params: { id: vm.id } })))
    for (const { status } of answers) expect([202, 404, 409]).toContain(status)
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(1)
    await gone(vm.id)
    expect(await onEngine(vm)).toBeNull()
  })

  it('of a start and a delete at once, one is done', async () => {
    const vm = await stopped()
    const params = { id: vm.id }
    const [start, remove] = await Promise.all([send(app, vms.start, { token: owner.token, params }), send(app, vms.delete, { token: owner.token, params })])
    expect([start.status, remove.status].filter((status) => status === 202)).toHaveLength(1)
    if (remove.status === 202) await gone(vm.id)
    else expect((await settled(vm.id)).status).toBe('running')
  })

  it('a cloud that is removed by force takes it away without a deadlock', async () => {
    const { db } = app.platform
    const { id } = await addCloud()
    const vm = await create({ cloud_id: id })
    // The reconciler may have something to record meanwhile, and waits too.
    const waiting = (...queries: string[]) => expect.poll(() => waitingForLocks(app, ...queries), { interval: 20 }).toBeGreaterThan(0)
    // The instance is held, so that both come to wait, the change first.
    const answers = await db.transaction().execute(async (tx) => {
      await tx.selectFrom('vms').select('id').where('id', '=', vm.id).forUpdate().execute()
      const stop = send(app, vms.stop, { token: owner.token, params: { id: vm.id }, body: {} })
      await waiting('select%"vms"%for update')
      const remove = send(app, clouds.delete, { token: admin.token, params: { id }, query: { force: 'true' } })
      await waiting('select%"clouds"%for update', 'delete from "vms"%', 'update "operations"%')
      return [stop, remove]
    })
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([202, 204])
    await gone(vm.id)
    const open = () =>
      db.selectFrom('operations').select('status').where('resource_id', '=', vm.id).where('status', 'in', ['queued', 'running', 'undoing']).execute()
    expect(await open()).toEqual([])
  })
})

describe('renaming', () => {
  const rename = (id: string, changes: object) => refused(app, vms.rename, { token: owner.token, params: { id }, body: changes })

  it('changes name and description here, and on the engine what its operators read beside the name', async () => {
    const vm = await create()
    const before = await onEngine(vm)
    const after = await call(app, vms.rename, { token: owner.token, params: { id: vm.id }, body: { name: '新名字', description: '说明' } })
    expect(after).toMatchObject({ id: vm.id, name: '新名字', description: '说明', status: 'running' })
    expect(await onEngine(vm)).toEqual(before)
    expect(
      engine.asked
        .filter(({ method }) => method === 'instances.describe')
        .at(-1)
        ?.args.slice(0, 2),
    ).toEqual([before?.name, '新名字'])
    engine.fail('unreachable', { method: 'instances.describe', times: 1 })
    expect(await call(app, vms.rename, { token: owner.token, params: { id: vm.id }, body: { name: '新名字' } })).toMatchObject({ name: '新名字' })
  })

  it('refuses a taken name and bad ones', async () => {
    const [one, other] = [await create(), await create()]
    expect(await rename(one.id, { name: other.name })).toMatchObject({ status: 400, code: 94001, fields: [{ field: 'name' }] })
    expect(await rename(one.id, { name: 'a b' })).toMatchObject({ code: 90001, fields: [{ field: 'name' }] })
    expect(await rename(one.id, { name: 'ok', description: 'x'.repeat(256) })).toMatchObject({ code: 90001, fields: [{ field: 'description' }] })
    expect((await get(one.id)).name).toBe(one.name)
  })
})

describe('resizing', () => {
  const resize = (id: string, changes: BodyInput<typeof vms.resize>) => call(app, vms.resize, { token: owner.token, params: { id }, body: changes })
  const refuseResize = (id: string, changes: object) => refused(app, vms.resize, { token: owner.token, params: { id }, body: changes })

  it('changes processors, memory and disk, running or stopped, and keeps the state', async () => {
    for (const vm of [await create(), await stopped()]) {
      expect(await resize(vm.id, { flavor_id: size('medium').id })).toMatchObject({ status: 'resizing', flavor: { name: 'nano' } })
      expect(await settled(vm.id)).toMatchObject({
        status: vm.status,
        flavor: { id: size('medium').id, name: 'medium' },
        cpu_cores: 2,
        memory_bytes: 2 * gib,
        disk_bytes: 40 * gib,
      })
      expect(await onEngine(vm)).toMatchObject({ cpuCores: 2, memoryBytes: 2 * gib, diskBytes: 40 * gib, power: vm.status })
    }
  })

  it('grows the disk alone, never shrinks it', async () => {
    const vm = await create({ flavor_id: size('small').id })
    await resize(vm.id, { flavor_id: size('small').id, disk_bytes: 50 * gib })
    expect((await settled(vm.id)).disk_bytes).toBe(50 * gib)
    expect(await refuseResize(vm.id, { flavor_id: size('small').id, disk_bytes: 30 * gib })).toMatchObject({
      status: 400,
      code: 94007,
      fields: [{ field: 'disk_bytes' }],
    })
    expect(await refuseResize(vm.id, { flavor_id: size('large').id, disk_bytes: 55 * gib })).toMatchObject({
      status: 400,
      code: 94015,
      fields: [{ field: 'disk_bytes' }],
    })
    // A smaller flavor keeps the disk that there is.
    await resize(vm.id, { flavor_id: size('nano').id })
    expect(await settled(vm.id)).toMatchObject({ flavor: { name: 'nano' }, disk_bytes: 50 * gib })
  })

  it('refuses the size that it has, and sizes that do not exist', async () => {
    const vm = await create()
    expect(await refuseResize(vm.id, { flavor_id: size('nano').id })).toMatchObject({ status: 400, code: 94011, fields: [{ field: 'flavor_id' }] })
    expect(await refuseResize(vm.id, { flavor_id: randomUUID() })).toMatchObject({ status: 400, code: 94005, fields: [{ field: 'flavor_id' }] })
    expect(await refuseResize(vm.id, { flavor_id: 'x' })).toMatchObject({ code: 90001, fields: [{ field: 'flavor_id' }] })
    expect(await refuseResize(vm.id, { flavor_id: size('small').id, disk_bytes: -1 })).toMatchObject({ code: 90001, fields: [{ field: 'disk_bytes' }] })
    expect((await history(vm.id)).length).toBe(1)
  })
})

describe('rebuilding', () => {
  it('replaces the image and the way in, and ends in the state that it had', async () => {
    for (const vm of [await create(), await stopped()]) {
      const answer = await call(app, vms.rebuild, {
        token: owner.token,
        params: { id: vm.id },
        body: { image_fingerprint: print('ubuntu-24.04'), password: 'Another-horse-2' },
      })
      expect(answer).toMatchObject({ status: 'rebuilding', image: { name: 'busybox' } })
      expect(await settled(vm.id)).toMatchObject({
        id: vm.id,
        status: vm.status,
        image: { fingerprint: print('ubuntu-24.04'), name: 'ubuntu-24.04' },
        error: null,
      })
      expect((await onEngine(vm))?.power).toBe(vm.status)
    }
  })

  it('refuses images that do not exist or do not fit', async () => {
    const vm = await create()
    const ask = (changes: object) => refused(app, vms.rebuild, { token: owner.token, params: { id: vm.id }, body: changes })
    expect(await ask({ image_fingerprint: 'f'.repeat(64) })).toMatchObject({ code: 94003, fields: [{ field: 'image_fingerprint' }] })
    expect(await ask({ image_fingerprint: print('vm:busybox') })).toMatchObject({ code: 94004, fields: [{ field: 'image_fingerprint' }] })
    expect(await ask({ image_fingerprint: print('busybox'), user_data: '#!/bin/sh' })).toMatchObject({ code: 94008, fields: [{ field: 'user_data' }] })
    expect(await ask({ image_fingerprint: print('busybox'), password: 'weak' })).toMatchObject({ code: 90001, fields: [{ field: 'password' }] })
    expect(await ask({})).toMatchObject({ code: 90001, fields: [{ field: 'image_fingerprint' }] })
    expect((await get(vm.id)).status).toBe('running')
  })
})

describe('deleting', () => {
  it('removes it here and on the engine, and frees the name', async () => {
    const vm = await create()
    expect(await act(vms.delete, vm.id)).toMatchObject({ status: 'deleting' })
    await gone(vm.id)
    expect(await onEngine(vm)).toBeNull()
    expect((await create({ name: vm.name })).name).toBe(vm.name)
    expect(await refused(app, vms.delete, { token: owner.token, params: { id: vm.id } })).toMatchObject({ status: 404, code: 90006 })
  })
})

describe('the list', () => {
  const list = (query: QueryInput<typeof vms.list>, token = owner.token) => call(app, vms.list, { token, query })

  it('shows tenants their organisation’s, administrators all', async () => {
    const [mine, theirs] = [await create(), await create({}, stranger.token)]
    const ids = async (token: string, query: QueryInput<typeof vms.list> = {}) => (await list({ page_size: 1000, ...query }, token)).items.map(({ id }) => id)
    const colleague = await someone(app, { kind: 4, organisation: owner.bp_id })
    for (const token of [owner.token, colleague.token]) {
      expect(await ids(token)).toContain(mine.id)
      expect(await ids(token)).not.toContain(theirs.id)
      expect(await ids(token, { bp_id: stranger.bp_id ?? '' })).toEqual([])
      expect(await ids(token, { keyword: theirs.id })).toEqual([])
    }
    expect(await ids(admin.token)).toEqual(expect.arrayContaining([mine.id, theirs.id]))
    expect(await ids(admin.token, { bp_id: stranger.bp_id ?? '' })).toContain(theirs.id)
    expect(await ids(admin.token, { bp_id: stranger.bp_id ?? '' })).not.toContain(mine.id)
  })

  it('filters, sorts and pages', async () => {
    const person = await someone(app, { organisation: await makeOrganisation(app) })
    const { id: other } = await addCloud()
    const wishes: Partial<Create>[] = [
      { flavor_id: size('medium').id },
      { type: 'vm', image_fingerprint: print('vm:busybox') },
      { flavor_id: size('xlarge').id },
      { cloud_id: other },
    ]
    const made: Vm[] = []
    for (const [n, wish] of wishes.entries()) made.push(await create({ name: `列表_${n}`, ...wish }, person.token))
    await call(app, vms.stop, { token: person.token, params: { id: made[2]?.id ?? '' }, body: {} })
    await settled(made[2]?.id ?? '', person.token)
    const ask = async (query: QueryInput<typeof vms.list>) =>
      (await list({ sort: 'name', ...query }, person.token)).items.map(({ name }) => Number(name.at(-1)))
    expect(await ask({})).toEqual([0, 1, 2, 3])
    expect(await ask({ sort: '-created_at' })).toEqual([3, 2, 1, 0])
    expect(await ask({ sort: undefined })).toEqual([3, 2, 1, 0])
    expect(await ask({ sort: '-memory_bytes', page_size: 2 })).toEqual([2, 0])
    expect(await ask({ sort: '-cpu_cores', page_size: 1 })).toEqual([2])
    expect((await ask({ sort: 'status' })).at(-1)).toBe(2)
    expect(await ask({ cloud_id: other })).toEqual([3])
    expect(await ask({ status: 'stopped' })).toEqual([2])
    expect(await ask({ type: 'vm' })).toEqual([1])
    expect(await ask({ type: 'vm', status: 'stopped' })).toEqual([])
    expect(await ask({ keyword: '列表_3' })).toEqual([3])
    expect(await ask({ keyword: made[1]?.id ?? '' })).toEqual([1])
    expect(await ask({ keyword: '_' })).toEqual([0, 1, 2, 3])
    expect(await ask({ keyword: '表%' })).toEqual([])
    expect(await ask({ page_size: 3, page_num: 2 })).toEqual([3])
    expect(await ask({ page_num: 9 })).toEqual([])
    expect((await list({ page_size: 1 }, person.token)).total).toBe(4)
    const address = await vi.waitFor(async () => {
      const found = (await get(made[0]?.id ?? '', person.token)).addresses[0]?.address
      return found ?? expect.fail('no address yet')
    })
    expect(await ask({ keyword: address, cloud_id })).toContain(0)
    for (const [field, value] of [
      ['page_size', 1001],
      ['page_num', 0],
      ['sort', 'password'],
      ['status', 'x'],
      ['type', 'x'],
      ['cloud_id', 'x'],
      ['bp_id', 'x'],
      ['keyword', 'x'.repeat(129)],
    ] as const) {
      expect(await refused(app, vms.list, { token: person.token, query: { [field]: value } }), field).toMatchObject({
        status: 400,
        code: 90001,
        fields: [{ field }],
      })
    }
  })
})

describe('an instance of another organisation does not exist', () => {
  /** What each call needs to get as far as looking for the instance; a new call with a body gets its own here. */
  const bodies: Readonly<Record<string, () => object>> = {
    [vms.rename.id]: () => ({ name: 'stolen' }),
    [vms.setSecurityGroups.id]: () => ({ security_group_ids: [] }),
    [vms.resize.id]: () => ({ flavor_id: size('large').id }),
    [vms.rebuild.id]: () => ({ image_fingerprint: print('busybox') }),
  }
  const ofOne = allCalls.filter(({ path }) => path.startsWith('/api/nextstack/v1/vms/{id}'))

  it.each(ofOne.map((declared) => [declared.id, declared] as const))('%s', async (_, declared) => {
    const vm = await create()
    const operation_id = (await history(vm.id))[0]?.id ?? ''
    const asked = declared.id === vms.files.id ? { query: { path: '/' } } : {}
    const sent = declared.method === 'GET' || declared.method === 'DELETE' ? asked : { body: bodies[declared.id]?.() ?? {} }
    const nobody = await someone(app, { kind: 4, organisation: null })
    for (const token of [stranger.token, nobody.token]) {
      expect(await refused(app, declared, { token, params: { id: vm.id, operation_id }, ...sent })).toMatchObject({ status: 404, code: 90006 })
    }
    for (const id of [randomUUID(), 'x', '../vms'])
      expect(await refused(app, declared, { token: owner.token, params: { id, operation_id }, ...sent })).toMatchObject({ status: 404, code: 90006 })
    expect(await get(vm.id)).toMatchObject({ name: vm.name, status: 'running' })
    expect(await history(vm.id)).toHaveLength(1)
    // The same request by its owner finds it: so the refusals above were about whose it is.
    expect((await send(app, declared, { token: owner.token, params: { id: vm.id, operation_id }, ...sent })).status, 'of its owner').not.toBe(404)
  })

  it('covers the calls there are', () => {
    expect(ofOne.length).toBeGreaterThanOrEqual(12)
  })
})

describe('what a cloud offers', () => {
  it('lists sizes', async () => {
    const page = await call(app, flavors.list, { token: owner.token, query: { page_size: 3 } })
    expect(page.total).toBe(7)
    expect(page.items.map(({ name }) => name)).toEqual(['nano', 'micro', 'small'])
    expect((await call(app, flavors.list, { token: owner.token, query: { keyword: 'XL', sort: '-cpu_cores' } })).items.map(({ name }) => name)).toEqual([
      '2xlarge',
      'xlarge',
    ])
  })

  it('lists images, by type, and networks that are managed', async () => {
    const all = await call(app, images.list, { token: owner.token, query: { cloud_id } })
    expect(all.total).toBe(6)
    const containers = await call(app, images.list, { token: owner.token, query: { cloud_id, type: 'container' } })
    expect(containers.items.map(({ name, cloud_init }) => [name, cloud_init]).sort()).toEqual([
      ['busybox', false],
      ['debian-12', true],
      ['ubuntu-24.04', true],
    ])
    expect(await call(app, networks.list, { token: owner.token, query: { cloud_id } })).toEqual({
      total: 1,
      items: [{ name: 'sandbox0', description: '', ipv4: '10.99.0.1/16', ipv6: null }],
    })
  })

  it('is refused for clouds that are not there, offline or down', async () => {
    for (const declared of [images.list, networks.list]) {
      const other = await addCloud()
      expect(await refused(app, declared, { token: owner.token, query: { cloud_id: randomUUID() } })).toMatchObject({ status: 404 })
      expect(await refused(app, declared, { token: owner.token, query: {} })).toMatchObject({ code: 90001, fields: [{ field: 'cloud_id' }] })
      other.engine.fail('unreachable')
      expect(await refused(app, declared, { token: owner.token, query: { cloud_id: other.id } })).toMatchObject({ status: 502, code: 93002 })
      other.engine.recover()
      // A failure is not remembered.
      expect((await send(app, declared, { token: owner.token, query: { cloud_id: other.id } })).status).toBe(200)
      await call(app, clouds.action, { token: admin.token, params: { id: other.id }, body: { action: 'offline' } })
      expect(await refused(app, declared, { token: owner.token, query: { cloud_id: other.id } })).toMatchObject({ status: 400, code: 12006 })
      await call(app, clouds.action, { token: admin.token, params: { id: other.id }, body: { action: 'active' } })
    }
  })
})

describe('one instance', () => {
  it('tells its history, newest first, in pages', async () => {
    const vm = await stopped()
    const ask = (query: QueryInput<typeof vms.operations>) => call(app, vms.operations, { token: owner.token, params: { id: vm.id }, query })
    const first = await ask({ page_size: 1 })
    expect(first.total).toBe(2)
    expect(first.items).toEqual([
      {
        id: expect.any(String),
        kind: 'nextstack.vm.stop',
        status: 'succeeded',
        cancellable: false,
        step: null,
        steps_done: 1,
        steps_total: 1,
        error: null,
        detail: null,
        part: null,
        actor_name: owner.name,
        created_at: expect.any(String),
        started_at: expect.any(String),
        finished_at: expect.any(String),
      },
    ])
    expect((await ask({ page_size: 1, page_num: 2 })).items.map(({ kind }) => kind)).toEqual(['nextstack.vm.create'])
    expect((await ask({ sort: 'created_at' })).items.map(({ kind }) => kind)).toEqual(['nextstack.vm.create', 'nextstack.vm.stop'])
  })

  it('shows what its console printed, and says when the engine is down', async () => {
    const vm = await create({ type: 'vm', image_fingerprint: print('vm:debian-12') })
    const ask = () => send(app, vms.consoleLog, { token: owner.token, params: { id: vm.id } })
    const started = { text: expect.stringMatching(/^[^\n]+was started[^\n]+\n$/) as string }
    expect((await ask()).body).toEqual(started)
    // The engine hands each piece out once; whoever asks again, or at once with others, reads it all the same.
    for (const { body } of await Promise.all([ask(), ask(), ask()])) expect(body).toEqual(started)
    await engine.direct.instances.restart(`zs-${vm.id.replaceAll('-', '')}`)
    for (const { body } of [await ask(), await ask()]) expect((body as { text: string }).text.match(/was started/g)).toHaveLength(2)
    expect(JSON.stringify(await app.platform.db.selectFrom('vm_consoles').selectAll().where('vm_id', '=', vm.id).execute())).not.toContain('was started')
    engine.fail('unreachable', { method: 'instances.consoleLog' })
    expect(await ask()).toMatchObject({ status: 502, body: { code: 93002 } })
    engine.recover()
    await engine.direct.instances.delete(`zs-${vm.id.replaceAll('-', '')}`)
    expect([404, 409]).toContain((await ask()).status)
  })

  it('answers with no samples before there are any, and refuses other spans', async () => {
    const vm = await create()
    const ask = (query: object) => send(app, vms.metrics, { token: owner.token, params: { id: vm.id }, query: { ...query } })
    expect((await ask({})).body).toMatchObject({ interval_seconds: 5, items: expect.any(Array) })
    for (const minutes of [0, 61, 'x']) expect(await ask({ minutes })).toMatchObject({ status: 400, body: { code: 90001, fields: [{ field: 'minutes' }] } })
  })
})
