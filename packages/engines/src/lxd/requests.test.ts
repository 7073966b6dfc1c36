import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ComputeEngine, InstanceSpec } from '../compute.ts'
import { createLxdEngine } from './engine.ts'
import { begun, ended, extensions, failure, instance, server, startFake, sync, type FakeLxd } from './fake.ts'

let fake: FakeLxd
let engine: ComputeEngine
beforeEach(async () => {
  fake = await startFake()
  engine = createLxdEngine({ socketPath: fake.socketPath })
})
afterEach(async () => {
  await engine.close()
  await fake.close()
})

const gib = 2 ** 30
const spec: InstanceSpec = {
  name: 'zs-1',
  type: 'vm',
  imageFingerprint: 'a'.repeat(64),
  cpuCores: 2,
  memoryBytes: 4 * gib,
  diskBytes: 20 * gib,
  network: 'net',
  tags: { vm_id: '7', owner: '值' },
  userData: '#cloud-config\n{}\n',
  description: '数据库',
}

describe('creating', () => {
  it('asks for a virtual machine with limits, root disk, network card, tags and user data', async () => {
    await engine.instances.create(spec)
    expect(fake.last('POST', '/1.0/instances').json).toEqual({
      name: 'zs-1',
      type: 'virtual-machine',
      description: '数据库',
      source: { type: 'image', fingerprint: 'a'.repeat(64) },
      profiles: [],
      config: {
        'limits.cpu': '2',
        'limits.memory': '4294967296',
        'cloud-init.user-data': '#cloud-config\n{}\n',
        'user.zhisuan.vm_id': '7',
        'user.zhisuan.owner': '值',
      },
      devices: {
        root: { type: 'disk', path: '/', pool: 'slow', size: '21474836480' },
        eth0: { type: 'nic', name: 'eth0', network: 'net' },
      },
    })
    expect(fake.changes()).toEqual(['POST /1.0/instances'])
  })
  it('has the guest call itself as it is told: by cloud-init, and where the image has the engine write its own name', async () => {
    fake.on('GET /1.0/instances/zs-1/metadata', sync({ templates: { '/etc/hostname': { when: ['create'], template: 'hostname.tpl' } } }))
    await engine.instances.create({ ...spec, type: 'container', hostname: 'web-1' })
    expect(fake.last('POST', '/1.0/instances').json).toMatchObject({ config: { 'cloud-init.vendor-data': '#cloud-config\nhostname: web-1\n' } })
    expect(fake.last('POST', '/1.0/instances/zs-1/metadata/templates')).toMatchObject({ query: { path: 'hostname.tpl' } })
    expect(fake.changes()).toEqual(['POST /1.0/instances', 'POST /1.0/instances/zs-1/metadata/templates'])
  })
  it('asks about an image once what it has the engine write', async () => {
    fake.on('GET /1.0/instances/zs-1/metadata', sync({ templates: { '/etc/hostname': { when: ['create'], template: 'hostname.tpl' } } }))
    await engine.instances.create({ ...spec, hostname: 'web-1' })
    fake.on('GET /1.0/instances/zs-1/metadata', failure(500, 'asked again'))
    await engine.instances.create({ ...spec, hostname: 'web-2' })
    expect(fake.changes().filter((one) => one.endsWith('/templates'))).toHaveLength(2)
  })
  it.each([
    ['no such template', {}],
    ['one that is not written when it is made', { '/etc/hostname': { when: ['copy'], template: 'hostname.tpl' } }],
  ])('writes the name of the guest itself where the image has %s', async (_, templates) => {
    fake.on('GET /1.0/instances/zs-1/metadata', sync({ templates }))
    await engine.instances.create({ ...spec, type: 'container', hostname: 'web-1' })
    expect(fake.last('POST', '/1.0/instances/zs-1/files')).toMatchObject({ query: { path: '/etc/hostname' } })
  })
  it('makes one whose guest cannot be told its name', async () => {
    fake.on('GET /1.0/instances/zs-1/metadata', failure(400, 'no metadata'))
    await engine.instances.create({ ...spec, hostname: 'web-1' })
    expect(fake.changes()).toEqual(['POST /1.0/instances'])
  })
  it('asks for a container that nests none', async () => {
    const { userData: _, description: __, ...plain } = spec
    await engine.instances.create({ ...plain, type: 'container', tags: {} })
    expect(fake.last('POST', '/1.0/instances').json).toMatchObject({
      type: 'container',
      description: '',
      config: { 'limits.cpu': '2', 'limits.memory': '4294967296', 'security.nesting': 'false' },
    })
    expect(Object.keys((fake.last('POST', '/1.0/instances').json as { config: object }).config)).toHaveLength(3)
  })
  it('prefers the pool named default, and passes over pools that cannot be used', async () => {
    fake.on(
      'GET /1.0/storage-pools',
      sync([
        { name: 'broken', status: 'Errored' },
        { name: 'other', status: 'Created' },
        { name: 'default', status: 'Created' },
      ]),
    )
    await engine.instances.create(spec)
    expect(fake.last('POST', '/1.0/instances').json).toMatchObject({ devices: { root: { pool: 'default' } } })
  })
  it('says that there is no pool', async () => {
    fake.on('GET /1.0/storage-pools', sync([{ name: 'broken', status: 'Unavailable' }]))
    await expect(engine.instances.create(spec)).rejects.toMatchObject({ kind: 'exhausted' })
  })
  it('gives user data to servers before cloud_init under its former name', async () => {
    fake.on('GET /1.0', server({ api_extensions: extensions.filter((one) => one !== 'cloud_init') }))
    await engine.instances.create(spec)
    const { config } = fake.last('POST', '/1.0/instances').json as { config: Record<string, string> }
    expect(config['user.user-data']).toBe('#cloud-config\n{}\n')
    expect(config['cloud-init.user-data']).toBeUndefined()
  })
  it('waits for a creation that is running already, however long it takes', async () => {
    fake.on('POST /1.0/instances', failure(409, 'This "instances" entry already exists'))
    fake.on(
      'GET /1.0/operations',
      sync({
        running: [
          { id: 'other', class: 'task', status_code: 103, resources: { instances: ['/1.0/instances/zs-1?project=x'] } },
          { id: 'elsewhere', class: 'task', status_code: 103, resources: { instances: ['/1.0/instances/zs-10'] } },
        ],
      }),
    )
    fake.on('GET /1.0/operations/other/wait', ended({ status_code: 103 }), ended({ status_code: 103 }), ended())
    fake.on('GET /1.0/instances/zs-1', sync(instance({ name: 'zs-1', config: { 'user.zhisuan.vm_id': '7', 'user.zhisuan.owner': '值' } })))
    await engine.instances.create(spec)
    expect(fake.seen.filter(({ path }) => path === '/1.0/operations/other/wait')).toHaveLength(3)
    expect(fake.seen.filter(({ path }) => path === '/1.0/operations/elsewhere/wait')).toHaveLength(0)
  })
  it('does not wait for commands that run in an instance', async () => {
    fake.on('PUT /1.0/instances/one/state', failure(400, 'The instance is already stopped'))
    fake.on('GET /1.0/operations', sync({ running: [{ id: 'shell', class: 'websocket', status_code: 103, resources: { instances: ['/1.0/instances/one'] } }] }))
    await engine.instances.stop('one')
    expect(fake.seen.filter(({ path }) => path.endsWith('/wait'))).toEqual([])
  })
  it('tries once where the engine fails, and again where a former creation is being undone', async () => {
    fake.on('GET /1.0/operations/op/wait', ended({ status_code: 400, err: 'Failed creating instance from image: broken' }))
    await expect(engine.instances.create(spec)).rejects.toMatchObject({ kind: 'failed' })
    expect(fake.changes()).toHaveLength(1)
    fake.on('GET /1.0/operations/op/wait', ended({ status_code: 400, err: 'Instance "zs-1" already exists' }), ended())
    await engine.instances.create(spec)
    expect(fake.changes()).toHaveLength(3)
  })
  it('takes the reason from a host that runs no virtual machines', async () => {
    fake.on('GET /1.0', server({}, { driver: 'lxc' }))
    fake.on('GET /1.0/warnings', sync([{ type: 'Instance type not operational', last_message: 'vhost_vsock kernel module not loaded', status: 'new' }]))
    fake.on('GET /1.0/operations/op/wait', ended({ status_code: 400, err: 'anything' }))
    await expect(engine.instances.create(spec)).rejects.toMatchObject({ kind: 'unsupported', message: 'vhost_vsock kernel module not loaded' })
  })
})

describe('changing', () => {
  it('asks for each power state in its own way', async () => {
    const state = () => fake.last('PUT', '/1.0/instances/one/state').json
    await engine.instances.start('one')
    expect(state()).toEqual({ action: 'start', timeout: 30 })
    await engine.instances.stop('one')
    expect(state()).toEqual({ action: 'stop', force: false, timeout: 30 })
    await engine.instances.stop('one', { timeoutSeconds: 5 })
    expect(state()).toEqual({ action: 'stop', force: false, timeout: 5 })
    await engine.instances.stop('one', { force: true })
    expect(state()).toEqual({ action: 'stop', force: true, timeout: -1 })
  })
  it('resizes with the whole root device, as a patch replaces it', async () => {
    await engine.instances.resize('one', { cpuCores: 4, memoryBytes: 8 * gib, diskBytes: 30 * gib })
    expect(fake.last('PATCH', '/1.0/instances/one').json).toEqual({
      description: '',
      config: { 'limits.cpu': '4', 'limits.memory': '8589934592' },
      devices: { root: { type: 'disk', path: '/', pool: 'fast', size: '32212254720' } },
    })
  })
  it('stops what runs before it deletes it', async () => {
    fake.on('GET /1.0/instances/one', sync(instance({ status: 'Running', status_code: 103 })), failure(404, 'Instance not found'))
    await engine.instances.delete('one')
    expect(fake.changes()).toEqual(['PUT /1.0/instances/one/state', 'DELETE /1.0/instances/one'])
    expect(fake.last('PUT', '/1.0/instances/one/state').json).toMatchObject({ action: 'stop', force: true })
  })
  it('deletes also what a creation is about to make', async () => {
    const creation = { id: 'making', class: 'task', status_code: 103, resources: { instances: ['/1.0/instances/one'] } }
    fake.on('GET /1.0/operations', sync({ running: [creation] }))
    fake.on('GET /1.0/operations/making/wait', ended())
    fake.on('GET /1.0/instances/one', failure(404, 'Instance not found'), sync(instance()), failure(404, 'Instance not found'))
    await engine.instances.delete('one')
    expect(fake.changes()).toEqual(['DELETE /1.0/instances/one'])
  })
  it('does not take for deleted what failed because something else was not found', async () => {
    fake.on('GET /1.0/operations/op/wait', ended({ status_code: 400, err: 'Storage pool not found' }))
    await expect(engine.instances.delete('one')).rejects.toMatchObject({ kind: 'not_found', message: 'Storage pool not found' })
  })
  it('escapes names, and asks within its project', async () => {
    const inProject = createLxdEngine({ socketPath: fake.socketPath, project: '租户 a&b' })
    await inProject.instances.get('../images?x=1#')
    expect(fake.seen.at(-1)).toMatchObject({ path: '/1.0/instances/..%2Fimages%3Fx%3D1%23', query: { project: '租户 a&b' } })
    await inProject.close()
  })
})

describe('rebuilding', () => {
  it('asks servers that can, with the user data first', async () => {
    fake.on('GET /1.0', server({ api_extensions: [...extensions, 'instances_rebuild'] }))
    await engine.instances.rebuild('one', { imageFingerprint: 'b'.repeat(64), userData: 'data' })
    expect(fake.last('POST', '/1.0/instances/one/rebuild').json).toEqual({ source: { type: 'image', fingerprint: 'b'.repeat(64) } })
    expect(fake.last('PATCH', '/1.0/instances/one').json).toEqual({ description: '', config: { 'cloud-init.user-data': 'data' } })
    await engine.instances.rebuild('one', { imageFingerprint: 'b'.repeat(64) })
    expect(fake.last('PATCH', '/1.0/instances/one').json).toEqual({ description: '', config: { 'cloud-init.user-data': '' } })
  })
  it('makes a new one beside where the server cannot, and puts it in the old one’s place', async () => {
    fake.on('GET /1.0/instances/one', sync(instance()), sync(instance()), failure(404, 'Instance not found'))
    await engine.instances.rebuild('one', { imageFingerprint: 'b'.repeat(64), userData: 'data' })
    const made = fake.last('POST', '/1.0/instances').json as { name: string }
    expect(made).toEqual({
      name: expect.stringMatching(/^one-[0-9a-f]{12}$/),
      type: 'container',
      description: '',
      source: { type: 'image', fingerprint: 'b'.repeat(64) },
      profiles: [],
      config: {
        'limits.cpu': '1',
        'limits.memory': '1073741824',
        'user.zhisuan.vm_id': '7',
        'cloud-init.user-data': 'data',
        'volatile.eth0.hwaddr': '00:16:3e:00:00:01',
        'user.zhisuan-stand-in': 'one',
      },
      devices: instance()['devices'],
    })
    expect(fake.changes()).toEqual(['POST /1.0/instances', 'DELETE /1.0/instances/one', `POST /1.0/instances/${made.name}`])
    expect(fake.last('POST', `/1.0/instances/${made.name}`).json).toEqual({ name: 'one' })
  })
  it('goes on where it was killed after the old one was deleted, and shows no half of it', async () => {
    fake.on('GET /1.0/instances/one', failure(404, 'Instance not found'))
    await expect(engine.instances.rebuild('one', { imageFingerprint: 'b' })).rejects.toMatchObject({ kind: 'not_found' })
    const standIn =
      fake.seen
        .find(({ path }) => /one-/.test(path))
        ?.path.split('/')
        .at(-1) ?? ''
    const half = instance({ name: standIn, config: { 'user.zhisuan.vm_id': '7', 'user.zhisuan-stand-in': 'one' } })
    fake.on('GET /1.0/instances', sync([half]))
    expect(await engine.instances.list()).toEqual([])

    fake.on(`GET /1.0/instances/${standIn}`, sync(half))
    fake.on('GET /1.0/instances/one', failure(404, 'Instance not found'), sync(instance()), sync(instance()), failure(404, 'Instance not found'))
    await engine.instances.rebuild('one', { imageFingerprint: 'b' })
    expect(fake.changes()).toEqual([`POST /1.0/instances/${standIn}`, 'POST /1.0/instances', 'DELETE /1.0/instances/one', `POST /1.0/instances/${standIn}`])
  })
  it('leaves alone what bears the name that it would use', async () => {
    await engine.instances.rebuild('one', { imageFingerprint: 'b' }).catch(() => undefined)
    const { name } = fake.last('POST', '/1.0/instances').json as { name: string }
    fake.on(`GET /1.0/instances/${name}`, sync(instance({ name })))
    const before = fake.changes().length
    await expect(engine.instances.rebuild('one', { imageFingerprint: 'b' })).rejects.toMatchObject({ kind: 'conflict' })
    expect(fake.changes()).toHaveLength(before)
  })
})

describe('files', () => {
  const path = '/1.0/instances/one/files'
  it('writes mode and owner in LXD’s headers and in Incus’s', async () => {
    fake.on(`POST ${path}`, sync({}))
    await engine.instances.writeFile('one', { path: '/root/密钥', content: Buffer.from([0, 255]), mode: 0o100600, uid: 1, gid: 2 })
    const { query, headers, body } = fake.last('POST', path)
    expect(query).toEqual({ path: '/root/密钥' })
    expect(body).toEqual(Buffer.from([0, 255]))
    for (const of of ['lxd', 'incus']) {
      expect(headers).toMatchObject({
        [`x-${of}-mode`]: '0600',
        [`x-${of}-uid`]: '1',
        [`x-${of}-gid`]: '2',
        [`x-${of}-type`]: 'file',
        [`x-${of}-write`]: 'overwrite',
      })
    }
  })
  it.each([
    ['lxd', '0600', []],
    ['incus', '0600', []],
    ['lxd', '0644', [`DELETE ${path}`]],
  ])('removes a file first only where %s says mode %s, as overwriting keeps it', async (of, mode, removed) => {
    fake.on(`POST ${path}`, sync({}))
    fake.on(`DELETE ${path}`, sync({}))
    fake.on(`HEAD ${path}`, { text: '', headers: { [`x-${of}-mode`]: mode, [`x-${of}-uid`]: '0', [`x-${of}-gid`]: '0' } })
    await engine.instances.writeFile('one', { path: '/x', content: Buffer.from('x'), mode: 0o600 })
    expect(fake.changes()).toEqual([...removed, `POST ${path}`])
  })
})

describe('capacity', () => {
  it('sums hosts and pools, and counts instances without a limit as all of a host', async () => {
    fake.on(
      'GET /1.0/instances',
      sync([instance({ expanded_config: { 'limits.cpu': '0-2,5', 'limits.memory': '1GiB' } }), instance({ name: 'free', expanded_config: {} })]),
    )
    expect(await engine.capacity()).toEqual({
      cpuCores: { total: 8, used: 4 + 8 },
      memoryBytes: { total: 16_000, used: gib + 16_000 },
      diskBytes: { total: 3000, used: 300 },
      nodes: 1,
    })
  })
  it('asks every member of a cluster, and counts a shared pool once', async () => {
    fake.on('GET /1.0', server({}, { server_clustered: true }))
    fake.on('GET /1.0/cluster/members', sync([{ server_name: 'n1' }, { server_name: 'n2' }, { server_name: 'n3' }]))
    fake.on(
      'GET /1.0/storage-pools',
      sync([
        { name: 'slow', status: 'Created', driver: 'ceph' },
        { name: 'fast', status: 'Created', driver: 'zfs' },
      ]),
    )
    fake.on('GET /1.0/instances', sync([]))
    expect(await engine.capacity()).toEqual({
      cpuCores: { total: 24, used: 0 },
      memoryBytes: { total: 48_000, used: 0 },
      diskBytes: { total: 1000 + 3 * 2000, used: 100 + 3 * 200 },
      nodes: 3,
    })
    expect(fake.seen.filter(({ path }) => path === '/1.0/resources').map(({ query }) => query['target'])).toEqual(['n1', 'n2', 'n3'])
  })
})

it('holds up nobody who asks while many wait', async () => {
  fake.on('GET /1.0/operations/op/wait', (response) => void response.writeHead(200))
  const starts = Array.from({ length: 50 }, () => engine.instances.start('one'))
  const waiting = () => fake.seen.filter(({ path }) => path.endsWith('/wait')).length
  await expect.poll(waiting).toBe(50)
  expect(await engine.instances.list()).toHaveLength(1)
  const results = Promise.allSettled(starts)
  await engine.close()
  expect((await results).map((result) => result.status === 'rejected' && (result.reason as { kind: string }).kind)).toEqual(starts.map(() => 'cancelled'))
})

it('cancels the operation on the engine when it is aborted', async () => {
  fake.on('PUT /1.0/instances/one/state', begun('long'))
  fake.on('GET /1.0/operations/long/wait', (response) => void response.writeHead(200))
  const controller = new AbortController()
  const call = engine.instances.start('one', { signal: controller.signal })
  await expect.poll(() => fake.seen.some(({ path }) => path.endsWith('/wait'))).toBe(true)
  controller.abort()
  await expect(call).rejects.toMatchObject({ kind: 'cancelled' })
  expect(fake.changes()).toContain('DELETE /1.0/operations/long')
})

it('cancels also what the engine had begun and not yet answered for when it was aborted', async () => {
  const asked = Promise.withResolvers<void>()
  let answer: () => void = () => undefined
  fake.on('PUT /1.0/instances/one/state', (response) => {
    answer = () =>
      response
        .writeHead(202, { 'content-type': 'application/json' })
        .end(JSON.stringify({ type: 'async', status_code: 100, operation: '/1.0/operations/late', metadata: {} }))
    asked.resolve()
  })
  const controller = new AbortController()
  const call = engine.instances.start('one', { signal: controller.signal })
  await asked.promise
  controller.abort()
  answer()
  await expect(call).rejects.toMatchObject({ kind: 'cancelled' })
  expect(fake.changes()).toEqual(['PUT /1.0/instances/one/state', 'DELETE /1.0/operations/late'])
})
