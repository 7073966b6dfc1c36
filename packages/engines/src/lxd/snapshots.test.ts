import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ComputeEngine } from '../compute.ts'
import { createLxdEngine } from './engine.ts'
import { ended, failure, instance, startFake, sync, type FakeLxd } from './fake.ts'

let fake: FakeLxd
let engine: ComputeEngine
beforeEach(async () => {
  fake = await startFake()
  engine = createLxdEngine({ socketPath: fake.socketPath })
  for (const method of ['POST', 'PUT', 'DELETE']) fake.on(`${method} ${profile}`, sync({}))
  fake.on('POST /1.0/profiles', sync({}))
})
afterEach(async () => {
  await engine.close()
  await fake.close()
})

const profile = '/1.0/profiles/zhisuan-restore-one'
const volatile = { 'volatile.uuid': 'u1', 'volatile.eth0.hwaddr': '00:16:3e:00:00:01' }
const root = { type: 'disk', path: '/', pool: 'fast', size: '1' }
const data = { type: 'disk', pool: 'fast', source: 'data', path: '/data' }
/** What it had then, and has now: other limits, another image, another volume. */
const then = {
  config: { ...volatile, 'volatile.idmap.next': '[1]', 'limits.cpu': '1', 'image.os': 'Then', 'user.zhisuan.vm_id': '7' },
  devices: { root, old: data },
}
const now = {
  config: { ...volatile, 'volatile.idmap.next': '[2]', 'volatile.eth0.host_name': 'veth1', 'limits.cpu': '2', 'image.os': 'Now', 'user.zhisuan.vm_id': '7' },
  devices: { root, new: data },
  description: '现在',
  profiles: ['p'],
}
const one = (of: object, changes: object = {}) => sync(instance({ ...of, architecture: 'x86_64', ephemeral: false, ...changes }))
const running = { status: 'Running', status_code: 103 }
const restore = () => engine.instances.snapshots.restore('one', 'then')
const planKept = () =>
  JSON.parse((fake.last('POST', '/1.0/profiles').json as { config: Record<string, string> }).config['user.zhisuan-restore'] ?? '') as Record<string, unknown>

describe('setting back', () => {
  beforeEach(() => fake.on('GET /1.0/instances/one/snapshots/then', sync({ name: 'then', ...then })))

  it('keeps what the instance has, kills it, gives it back what it had, and starts it', async () => {
    fake.on('GET /1.0/instances/one', one(now, running), one(then), one({ ...then, config: now.config, devices: now.devices, description: '现在' }))
    await restore()
    expect(fake.changes()).toEqual([
      'POST /1.0/profiles',
      'PUT /1.0/instances/one/state',
      'PUT /1.0/instances/one',
      'PUT /1.0/instances/one',
      'PUT /1.0/instances/one/state',
      `DELETE ${profile}`,
    ])
    expect(planKept()).toMatchObject({
      instance: 'one',
      uuid: 'u1',
      running: true,
      config: now.config,
      devices: now.devices,
      description: '现在',
      profiles: ['p'],
    })
    const [killed, restored, putBack, started] = fake.seen.filter(({ method }) => method === 'PUT').map(({ json }) => json)
    expect(killed).toMatchObject({ action: 'stop', force: true })
    expect(restored).toEqual({ restore: 'then' })
    expect(putBack).toEqual({
      architecture: 'x86_64',
      ephemeral: false,
      description: '现在',
      profiles: ['p'],
      devices: now.devices,
      // Who it is stays; what the engine notes of the disk comes with the disk.
      config: { ...volatile, 'volatile.idmap.next': '[1]', 'image.os': 'Then', 'limits.cpu': '2', 'user.zhisuan.vm_id': '7' },
    })
    expect(started).toMatchObject({ action: 'start' })
  })
  it('neither stops nor starts what is stopped, and writes nothing where nothing differs', async () => {
    fake.on('GET /1.0/instances/one', one({ ...then, description: '' }))
    await restore()
    expect(fake.changes()).toEqual(['POST /1.0/profiles', 'PUT /1.0/instances/one', `DELETE ${profile}`])
  })
  it('goes on with the plan of one who was killed after the engine had set it back', async () => {
    fake.on('GET /1.0/instances/one', one(now, running), one(then), one({ ...then, config: now.config, devices: now.devices, description: '现在' }))
    await restore()
    const kept = planKept()
    fake.on(`GET ${profile}`, sync({ config: { 'user.zhisuan-restore': JSON.stringify(kept) } }))
    fake.on('POST /1.0/profiles', failure(409, 'The profile already exists'))
    fake.on('GET /1.0/instances/one', one(then), one(then), one({ ...then, config: now.config, devices: now.devices, description: '现在' }))
    const before = fake.changes().length
    await restore()
    expect(fake.changes().slice(before)).toEqual([
      'POST /1.0/profiles',
      `PUT ${profile}`,
      'PUT /1.0/instances/one',
      'PUT /1.0/instances/one',
      'PUT /1.0/instances/one/state',
      `DELETE ${profile}`,
    ])
    expect(fake.last('PUT', '/1.0/instances/one/state').json).toMatchObject({ action: 'start' })
    expect(fake.last('PUT', '/1.0/instances/one').json).toMatchObject({ devices: now.devices, description: '现在' })
  })
  it.each<[string, (plan: Record<string, unknown>) => unknown]>([
    ['of another instance of that name', (plan) => JSON.stringify({ ...plan, uuid: 'u0' })],
    ['of an instance that was changed since', (plan) => JSON.stringify({ ...plan, config: { 'limits.cpu': '9' }, snapshot: 'other' })],
    ['that is none', () => 'nonsense'],
    ['that is another', () => '{}'],
  ])('does not go on with a plan %s', async (_, of) => {
    fake.on('GET /1.0/instances/one', one({ ...now, description: '' }), one({ ...now, description: '' }))
    await restore()
    const plan = of(planKept())
    fake.on(`GET ${profile}`, sync({ config: { 'user.zhisuan-restore': plan } }))
    await restore()
    expect(planKept()).toMatchObject({ uuid: 'u1', running: false, config: now.config })
  })
  it('starts no instance that somebody stopped long after a plan was given up', async () => {
    fake.on('GET /1.0/instances/one', one({ ...now, description: '' }, running), one({ ...now, description: '' }))
    await restore()
    const old = { ...planKept(), at: Date.now() - 48 * 3_600_000 }
    fake.on(`GET ${profile}`, sync({ config: { 'user.zhisuan-restore': JSON.stringify(old) } }))
    fake.on('GET /1.0/instances/one', one({ ...now, description: '' }))
    const before = fake.changes().length
    await restore()
    expect(fake.changes().slice(before)).not.toContain('PUT /1.0/instances/one/state')
  })
  it('that the engine refuses leaves the instance as it was, running', async () => {
    fake.on('GET /1.0/instances/one', one({ ...now, description: '' }, running), one({ ...now, description: '' }))
    fake.on('PUT /1.0/instances/one', failure(500, 'Snapshot "then" cannot be restored due to subsequent snapshots'))
    await expect(restore()).rejects.toMatchObject({ kind: 'failed', message: expect.stringContaining('subsequent') })
    expect(fake.changes().slice(-2)).toEqual(['PUT /1.0/instances/one/state', `DELETE ${profile}`])
  })
})

describe('snapshots', () => {
  it('are told by their own names, with sizes where the engine knows them', async () => {
    fake.on(
      'GET /1.0/instances/one/snapshots',
      sync([
        { name: 'one/a1', created_at: '2026-01-02T03:04:05Z', size: -1 },
        { name: 'b1', size: 7, created_at: '0001-01-01T00:00:00Z' },
      ]),
    )
    expect(await engine.instances.snapshots.list('one')).toEqual([
      { name: 'a1', createdAt: new Date('2026-01-02T03:04:05Z'), sizeBytes: null },
      { name: 'b1', createdAt: null, sizeBytes: 7 },
    ])
  })
  it('are asked for once, without memory', async () => {
    await engine.instances.snapshots.create('one', 'snap')
    expect(fake.last('POST', '/1.0/instances/one/snapshots').json).toEqual({ name: 'snap', stateful: false })
    fake.on('GET /1.0/instances/one/snapshots/snap', sync({ name: 'snap' }))
    await engine.instances.snapshots.create('one', 'snap')
    expect(fake.changes()).toHaveLength(1)
  })
  it('keep an instance from being rebuilt, which would lose them', async () => {
    fake.on('GET /1.0/instances/one', one(now, { snapshots: [{ name: 'then' }] }))
    await expect(engine.instances.rebuild('one', { imageFingerprint: 'b' })).rejects.toMatchObject({ kind: 'invalid' })
    expect(fake.changes()).toEqual([])
  })
})

describe('copies', () => {
  const spec = {
    name: 'two',
    type: 'container',
    imageFingerprint: '',
    cpuCores: 1,
    memoryBytes: 1,
    diskBytes: 2 ** 30,
    network: 'net',
    tags: { vm_id: '8' },
  } as const
  const source = instance({
    config: {
      ...volatile,
      'image.os': 'Debian',
      'limits.cpu': '4',
      'limits.cpu.priority': '1',
      'user.zhisuan.vm_id': '7',
      'user.zhisuan.secret': '1',
      'cloud-init.user-data': 'secret',
      'user.user-data': 'secret',
    },
    devices: { root: { type: 'disk', path: '/', pool: 'fast', size: '1073741824' }, eth0: { type: 'nic', network: 'other', 'ipv4.address': '10.0.0.9' }, data },
  })
  const made = instance({ name: 'two', config: { 'user.zhisuan.vm_id': '8' }, devices: { root, eth0: { type: 'nic' } } })

  it.each([null, 'then'])('name empty whatever the copy is not to inherit (snapshot %s)', async (snapshot) => {
    fake.on('GET /1.0/instances/one', sync(source))
    fake.on('GET /1.0/instances/one/snapshots/then', sync({ ...source, name: 'then' }))
    fake.on(
      'GET /1.0/instances/two',
      failure(404, 'Instance not found'),
      sync(instance({ ...made, devices: { ...(made['devices'] as object), data: { type: 'none' } } })),
      sync(made),
    )
    await engine.instances.create({ ...spec, copyOf: { instance: 'one', snapshot } })
    expect(fake.last('POST', '/1.0/instances').json).toEqual({
      name: 'two',
      type: 'container',
      description: '',
      source:
        snapshot === null
          ? { type: 'copy', source: 'one', instance_only: true, allow_inconsistent: true }
          : { type: 'copy', source: 'one/then', instance_only: true },
      profiles: [],
      config: {
        'limits.cpu': '1',
        'limits.memory': '1',
        'security.nesting': 'false',
        'limits.cpu.priority': '',
        'user.zhisuan.vm_id': '8',
        'user.zhisuan.secret': '',
        'cloud-init.user-data': '',
        'user.user-data': '',
      },
      devices: {
        root: { type: 'disk', path: '/', pool: 'slow', size: '1073741824' },
        eth0: { type: 'nic', name: 'eth0', network: 'net' },
        data: { type: 'none' },
      },
    })
    // What was named empty is taken away at the end.
    expect(fake.changes()).toEqual(['POST /1.0/instances', 'PUT /1.0/instances/two'])
    expect(fake.last('PUT', '/1.0/instances/two').json).toMatchObject({ devices: made['devices'] })
  })
  it('that were made before are only tidied, also when their source is gone', async () => {
    fake.on('GET /1.0/instances/one', failure(404, 'Instance not found'))
    fake.on('GET /1.0/instances/two', sync(made))
    await engine.instances.create({ ...spec, copyOf: { instance: 'one', snapshot: null } })
    expect(fake.changes()).toEqual([])
    await expect(engine.instances.create({ ...spec, tags: {}, copyOf: { instance: 'one', snapshot: null } })).rejects.toMatchObject({ kind: 'conflict' })
  })
  it('say what the engine says', async () => {
    fake.on('GET /1.0/instances/one', sync(source))
    fake.on('GET /1.0/operations/op/wait', ended({ status_code: 400, err: 'no space left on device' }))
    await expect(engine.instances.create({ ...spec, copyOf: { instance: 'one', snapshot: null } })).rejects.toMatchObject({ kind: 'exhausted' })
  })
})
