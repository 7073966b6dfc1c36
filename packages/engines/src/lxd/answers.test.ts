import type { ServerResponse } from 'node:http'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ComputeEngine } from '../compute.ts'
import { EngineError, type EngineErrorKind } from '../errors.ts'
import { createLxdEngine } from './engine.ts'
import { begun, ended, extensions, failure, instance, server, startFake, sync, type FakeLxd, type Reply } from './fake.ts'
import { createTransport } from './transport.ts'

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

const outcome = async (call: Promise<unknown>): Promise<EngineErrorKind | 'succeeded' | 'no engine error'> => {
  try {
    await call
    return 'succeeded'
  } catch (error) {
    return error instanceof EngineError ? error.kind : 'no engine error'
  }
}

const size = { cpuCores: 1, memoryBytes: 1, diskBytes: 2 ** 40 }
const spec = { ...size, name: 'one', type: 'container', imageFingerprint: 'a', network: 'net', tags: {} } as const
const calls: Record<string, () => Promise<unknown>> = {
  info: () => engine.info(),
  capacity: () => engine.capacity(),
  networks: () => engine.networks.list(),
  images: () => engine.images.list(),
  list: () => engine.instances.list(),
  get: () => engine.instances.get('one'),
  usage: () => engine.instances.usage(),
  create: () => engine.instances.create(spec),
  start: () => engine.instances.start('one'),
  stop: () => engine.instances.stop('one'),
  restart: () => engine.instances.restart('one'),
  resize: () => engine.instances.resize('one', size),
  rebuild: () => engine.instances.rebuild('one', { imageFingerprint: 'a' }),
  delete: () => engine.instances.delete('one'),
  exec: () => engine.instances.exec('one', { command: ['true'] }),
  terminal: () => engine.instances.terminal('one', { command: ['sh'], columns: 80, rows: 24 }),
  writeFile: () => engine.instances.writeFile('one', { path: '/x', content: Buffer.from('x'), mode: 0o600 }),
  'delete an image': async () => engine.images.delete?.('a'),
}
const everything = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].map((method) => `${method} *`)

const page = '<!doctype html><html><body>Sign in</body></html>'
const whole = JSON.stringify({ type: 'sync', status_code: 200, metadata: [instance()] })
const answers: Record<string, { kind: EngineErrorKind; lost?: boolean; reply: Reply }> = {
  'a web page': { kind: 'bad_answer', reply: { text: page } },
  nothing: { kind: 'bad_answer', reply: { text: '' } },
  'half an answer': { kind: 'bad_answer', reply: { text: whole.slice(0, 60) } },
  null: { kind: 'bad_answer', reply: { json: null } },
  'a list': { kind: 'bad_answer', reply: { json: [1, 2] } },
  'another envelope': { kind: 'bad_answer', reply: { json: { ok: true, data: {} } } },
  'numbers for words': { kind: 'bad_answer', reply: { json: { type: 'sync', operation: 5, metadata: {} } } },
  'a redirect to a login page': { kind: 'bad_answer', reply: { status: 302, text: page, headers: { location: 'https://127.0.0.1/login' } } },
  'bytes that are no text': { kind: 'bad_answer', reply: (response) => void response.end(Buffer.from([0xff, 0xfe, 0, 1])) },
  'a web page that says 500': { kind: 'bad_answer', reply: { status: 500, text: page } },
  'an error': { kind: 'failed', reply: failure(500, 'the database is locked') },
  'a proxy’s 502': { kind: 'unreachable', lost: true, reply: { status: 502, text: page } },
  'a proxy’s 503': { kind: 'unreachable', reply: { status: 503, text: page } },
  'a proxy’s 504': { kind: 'unreachable', lost: true, reply: { status: 504, text: '' } },
  'too many requests': { kind: 'unreachable', reply: { status: 429, text: '' } },
  'shutting down': { kind: 'unreachable', reply: failure(503, 'LXD daemon is shutting down') },
  'not authorised': { kind: 'unauthorized', reply: failure(403, 'not authorized') },
  'a proxy’s 401': { kind: 'unauthorized', reply: { status: 401, text: page } },
  'a closed connection': { kind: 'unreachable', lost: true, reply: (response) => void response.destroy() },
  'a connection closed in the middle': {
    kind: 'unreachable',
    lost: true,
    reply: (response) => {
      response.writeHead(200, { 'content-length': '1000' })
      response.write(whole.slice(0, 60), () => response.destroy())
    },
  },
}

/** Those whose first request is a change: without an answer it may have happened. */
const changing = ['start', 'stop', 'exec', 'terminal', 'delete an image']

describe.each(Object.entries(calls))('%s', (name, call) => {
  it.each(Object.entries(answers))('takes %s for what it is', async (_, { kind, lost = false, reply }) => {
    fake.on('GET /1.0', reply)
    for (const path of ['/1.0/instances', '/1.0/instances/one', '/1.0/networks', '/1.0/images', '/1.0/storage-pools', '/1.0/resources'])
      fake.on(`GET ${path}`, reply)
    for (const what of everything) fake.on(what, reply)
    expect(await outcome(call())).toBe(lost && changing.includes(name) ? 'unanswered' : kind)
  })
})

describe('answers of a wrong shape', () => {
  const shapes: unknown[] = [null, 'text', 7, {}, [7], [{}], [{ name: 7 }], [{ ...instance(), status_code: 'many' }], [{ ...instance(), config: { a: 1 } }]]
  it.each(['list', 'usage', 'images', 'networks'])('%s refuses each', async (name) => {
    for (const path of ['/1.0/instances', '/1.0/images', '/1.0/networks']) fake.on(`GET ${path}`, ...shapes.map((shape) => sync(shape)))
    for (const shape of shapes) expect([shape, await outcome(calls[name]?.() ?? Promise.resolve())]).toEqual([shape, 'bad_answer'])
  })
  it.each([undefined, null, {}, { auth: 7 }, { auth: 'trusted', api_extensions: 'all' }, { auth: 'trusted', environment: [] }])(
    'the server is not %j',
    async (about) => {
      fake.on('GET /1.0', sync(about))
      expect(await outcome(engine.info())).toBe('bad_answer')
      expect(await outcome(engine.instances.create(spec))).toBe('bad_answer')
    },
  )
  it.each([undefined, {}, { id: 7 }, { id: 'op', status_code: 'done' }])('an operation is not %j', async (operation) => {
    fake.on('GET /1.0/operations/op/wait', sync(operation))
    expect(await outcome(engine.instances.resize('one', size))).toBe('bad_answer')
  })
  it.each([{}, { metadata: {} }, { metadata: { fds: { '0': 'a' } } }, { metadata: { fds: [] } }])('a command’s streams are not %j', async (more) => {
    fake.on('POST /1.0/instances/one/exec', begun('op', more))
    expect(await outcome(engine.instances.exec('one', { command: ['true'] }))).toBe('bad_answer')
    expect(await outcome(engine.instances.terminal('one', { command: ['sh'], columns: 80, rows: 24 }))).toBe('bad_answer')
  })
  it('an answer without an end is cut off', async () => {
    const mebibyte = Buffer.alloc(2 ** 20, ' ')
    let closed = false
    fake.on('GET /1.0/instances', (response) => {
      const more = () => {
        while (!response.destroyed && response.write(mebibyte));
      }
      response.on('drain', more)
      response.on('close', () => {
        closed = true
      })
      more()
    })
    expect(await outcome(engine.instances.list())).toBe('bad_answer')
    await expect.poll(() => closed).toBe(true)
    expect(await outcome(engine.networks.list())).toBe('succeeded')
  })
  it('dates, sizes and states that nobody knows are null or unknown', async () => {
    fake.on(
      'GET /1.0/instances',
      sync([
        instance({
          created_at: '0001-01-01T00:00:00Z',
          status: 'Odd',
          status_code: 999,
          config: { 'limits.memory': '50%' },
          devices: {},
          location: 'none',
          state: null,
        }),
      ]),
    )
    expect(await engine.instances.list()).toEqual([
      {
        name: 'one',
        type: 'container',
        power: 'unknown',
        engineStatus: 'Odd',
        cpuCores: null,
        memoryBytes: null,
        diskBytes: null,
        tags: {},
        addresses: [],
        nic: null,
        gpus: [],
        location: null,
        createdAt: null,
      },
    ])
    fake.on('GET /1.0/instances', sync([instance({ created_at: 'yesterday' })]))
    expect((await engine.instances.list())[0]?.createdAt).toBeNull()
  })
})

describe('errors', () => {
  it.each<[number, string, EngineErrorKind]>([
    [404, 'Instance not found', 'not_found'],
    [409, 'Instance "one" already exists', 'conflict'],
    [403, 'not authorized', 'unauthorized'],
    [401, 'unauthorized', 'unauthorized'],
    [400, 'Invalid config: unknown key', 'invalid'],
    [400, 'Instance is busy running a "stop" operation', 'busy'],
    [501, 'not implemented', 'unsupported'],
    [500, 'write /var/lib: no space left on device', 'exhausted'],
    [500, 'Reached limit of 5 instances in project', 'exhausted'],
    [500, 'something broke', 'failed'],
    [503, 'starting up', 'unreachable'],
    [0, '', 'failed'],
  ])('%i %s is %s', async (status, message, kind) => {
    fake.on('PATCH /1.0/instances/one', { status: status || 500, json: { type: 'error', error: message, error_code: status } })
    const call = engine.instances.resize('one', size)
    await expect(call).rejects.toMatchObject({ kind, message, status })
  })
  it.each<[object, EngineErrorKind]>([
    [{ status_code: 400, err: 'Failed to run: no space left on device' }, 'exhausted'],
    [{ status_code: 400, err: 'Image not provided for instance creation' }, 'not_found'],
    [{ status_code: 400, err: 'Instance type "virtual-machine" is not supported on this server: vhost_vsock kernel module not loaded' }, 'unsupported'],
    [{ status_code: 400, err: 'whatever' }, 'failed'],
    [{ status_code: 400, err: null }, 'failed'],
    [{ status_code: 401, err: '' }, 'cancelled'],
  ])('an operation that ended with %j is %s', async (changes, kind) => {
    fake.on('GET /1.0/operations/op/wait', ended(changes))
    expect(await outcome(engine.instances.resize('one', size))).toBe(kind)
  })
  it('an operation that the engine forgot may be asked for again, and is no missing instance', async () => {
    fake.on('GET /1.0/operations/op/wait', failure(404, 'Operation not found'))
    expect(await outcome(engine.instances.resize('one', size))).toBe('unanswered')
    expect(await outcome(engine.instances.start('one'))).toBe('unanswered')
    expect(await outcome(engine.instances.delete('one'))).toBe('unanswered')
  })
  it('waits on while the operation runs', async () => {
    fake.on('GET /1.0/operations/op/wait', ended({ status_code: 103 }), ended({ status_code: 105 }), ended())
    await engine.instances.resize('one', size)
    expect(fake.seen.filter(({ path }) => path.endsWith('/wait'))).toHaveLength(3)
  })
  it('a busy instance is waited for and asked again', async () => {
    fake.on('PUT /1.0/instances/one/state', failure(400, 'Instance is busy running a "create" operation'), begun())
    await engine.instances.start('one')
    expect(fake.changes()).toHaveLength(2)
  })
  it('a state that somebody else brought about is good', async () => {
    fake.on('PUT /1.0/instances/one/state', failure(400, 'The instance is already stopped'))
    await engine.instances.stop('one')
  })
})

describe('connections', () => {
  it('no server is unreachable', async () => {
    const none = createLxdEngine({ socketPath: `${fake.socketPath}.none` })
    expect(await outcome(none.info())).toBe('unreachable')
    expect(await outcome(none.instances.create(spec))).toBe('unreachable')
    expect(await outcome(none.instances.exec('one', { command: ['true'] }))).toBe('unreachable')
    await none.close()
  })
  it.each<[string, (response: ServerResponse) => void]>([
    ['is silent', () => undefined],
    ['breaks off', (response) => void response.destroy()],
    ['breaks off in the middle', (response) => void response.writeHead(200, { 'content-length': '100' }).write('{', () => response.destroy())],
    ['answers 504 by a proxy', (response) => void response.writeHead(504).end('<html>')],
  ])('a change whose answer %s may have happened, which a question may not', async (_, reply) => {
    fake.on('PUT /1.0/instances/one/state', reply)
    fake.on('GET /1.0/instances/one', reply)
    const transport = createTransport({ socketPath: fake.socketPath })
    await expect(transport.ask('/1.0/instances/one/state', { method: 'PUT', body: {}, timeoutMs: 30 })).rejects.toMatchObject({ kind: 'unanswered' })
    await expect(transport.ask('/1.0/instances/one', { timeoutMs: 30 })).rejects.toMatchObject({ kind: 'unreachable' })
    await transport.close()
  })
  it('a change of which it is not told how it ended may have happened', async () => {
    fake.on('GET /1.0/operations/op/wait', (response) => void response.destroy())
    expect(await outcome(engine.instances.start('one'))).toBe('unanswered')
  })
  it('a server that comes back is asked again', async () => {
    fake.on('GET /1.0', (response) => void response.destroy(), server())
    expect(await outcome(engine.instances.create(spec))).toBe('unreachable')
    expect(await outcome(engine.instances.create(spec))).toBe('succeeded')
  })
  it.each(['before', 'after'])('silence %s the answer begins is unreachable', async (when) => {
    fake.on('GET /1.0/instances', (response) => {
      if (when === 'after') response.writeHead(200).write('{"type":')
    })
    const transport = createTransport({ socketPath: fake.socketPath })
    await expect(transport.ask('/1.0/instances', { timeoutMs: 30 })).rejects.toMatchObject({ kind: 'unreachable' })
    await transport.close()
  })
  it('aborting in the middle of an answer cancels', async () => {
    const controller = new AbortController()
    fake.on('GET /1.0/instances', (response) => void response.writeHead(200).write('{"type":', () => controller.abort()))
    expect(await outcome(engine.instances.list({ signal: controller.signal }))).toBe('cancelled')
  })
  it.each([
    ['is refused', undefined],
    ['closes at once', 'close'],
    ['speaks nonsense', 'nonsense'],
  ])('a stream that %s leaves open what became of the command, where it began', async (_, how) => {
    fake.on('POST /1.0/instances/one/exec', begun('op', { metadata: { fds: { '0': 'a', '1': 'b', '2': 'c', control: 'd' } } }))
    fake.on('GET /1.0/operations/op/wait', (response) => void response.destroy())
    if (how !== undefined) {
      fake.socket('/1.0/operations/op/websocket', (socket) => {
        // An unmasked frame of an unknown kind, straight on the wire.
        if (how === 'nonsense') (socket as unknown as { _socket: { write(data: Buffer): void } })._socket.write(Buffer.from([0xff, 0xff, 1, 2]))
        else socket.terminate()
      })
    }
    expect(await outcome(engine.instances.exec('one', { command: ['true'] }))).toBe(how === undefined ? 'unreachable' : 'unanswered')
    const terminal = await engine.instances.terminal('one', { command: ['sh'], columns: 80, rows: 24 }).catch((error: unknown) => error)
    if (terminal instanceof EngineError) expect(terminal.kind).toBe('unreachable')
    else expect(await (terminal as { exit: Promise<number | null> }).exit).toBeNull()
  })
  it('a terminal that is lost ends, with no exit code', async () => {
    fake.on('POST /1.0/instances/one/exec', begun('op', { metadata: { fds: { '0': 'a', control: 'd' } } }))
    fake.on('GET /1.0/operations/op/wait', (response) => void response.writeHead(200))
    fake.socket('/1.0/operations/op/websocket', (socket, { query }) => {
      if (query['secret'] === 'a') socket.send(Buffer.from('hello'), () => socket.terminate())
      // What the engine does when the control stream is cut: the process ends, and its operation.
      else socket.on('close', () => void engine.close())
    })
    const terminal = await engine.instances.terminal('one', { command: ['sh'], columns: 80, rows: 24 })
    const seen: string[] = []
    for await (const part of terminal.output) seen.push(part.toString())
    expect(seen.join('')).toBe('hello')
    expect(await terminal.exit).toBeNull()
  })
})

describe('info', () => {
  const vm = async () => (await engine.info()).instanceTypes.vm
  const warn = (...warnings: object[]) => fake.on('GET /1.0/warnings', sync(warnings))
  const inoperable = { type: 'Instance type not operational', status: 'new' }

  it('says what the server runs', async () => {
    expect(await engine.info()).toEqual({
      product: 'lxd',
      version: '5.0.2',
      hostName: 'host',
      instanceTypes: { vm: { available: true }, container: { available: true } },
      extensions,
    })
  })
  it('gives the server’s own reason for a driver that it did not load', async () => {
    fake.on('GET /1.0', server({}, { driver: 'lxc' }))
    warn(
      { type: 'AppArmor support has been disabled', status: 'new', last_message: 'Disabled because of lack of kernel support' },
      { ...inoperable, status: 'resolved', last_message: 'KVM support is missing (no /dev/kvm)' },
      { ...inoperable, last_message: 'vhost_vsock kernel module not loaded' },
    )
    expect(await vm()).toEqual({ available: false, reason: 'vhost_vsock kernel module not loaded' })
  })
  it.each([
    ['has no warnings', sync([])],
    ['does not show them', failure(403, 'not authorized')],
    ['answers nonsense', sync('?')],
  ])('names what is loaded where the server %s', async (_, reply) => {
    fake.on('GET /1.0', server({}, { driver: 'lxc' }))
    fake.on('GET /1.0/warnings', reply)
    expect(await vm()).toEqual({ available: false, reason: 'the server loaded only the driver lxc, not qemu' })
  })
  it('tells the reasons of both apart where neither is loaded', async () => {
    fake.on('GET /1.0', server({}, { driver: '' }))
    warn({ ...inoperable, last_message: 'KVM support is missing (no /dev/kvm)' }, { ...inoperable, last_message: 'liblxc is too old' })
    expect((await engine.info()).instanceTypes).toEqual({
      vm: { available: false, reason: 'KVM support is missing (no /dev/kvm)' },
      container: { available: false, reason: 'liblxc is too old' },
    })
  })
  it('notices a driver that was loaded since', async () => {
    fake.on('GET /1.0', server({}, { driver: 'lxc' }), server())
    expect(await vm()).toMatchObject({ available: false })
    expect(await vm()).toEqual({ available: true })
  })
  it('names the API extensions that a server lacks', async () => {
    fake.on('GET /1.0', server({ api_extensions: extensions.filter((one) => one !== 'virtual-machines') }))
    expect(await vm()).toEqual({ available: false, reason: 'the server lacks the API extension virtual-machines' })
    fake.on('GET /1.0', server({ api_extensions: ['resources'] }, { server_version: '3.0.3' }))
    await expect(engine.info()).rejects.toMatchObject({ kind: 'unsupported', message: 'lxd 3.0.3 lacks the API extensions instances, event_lifecycle' })
    expect(await outcome(engine.instances.create(spec))).toBe('unsupported')
  })
  it('says that the server does not trust us', async () => {
    fake.on('GET /1.0', sync({ auth: 'untrusted', api_extensions: extensions }))
    await expect(engine.info()).rejects.toMatchObject({ kind: 'unauthorized' })
  })
})

describe('Incus 6', () => {
  const incus = server(
    {
      auth_methods: ['tls', 'oidc'],
      auth_user_name: 'root',
      auth_user_method: 'unix',
      api_status: 'stable',
      api_extensions: [
        'instances',
        'event_lifecycle',
        'resources',
        'virtual-machines',
        'instances_rebuild',
        'cloud_init',
        'instance_oci',
        'network_load_balancer_health_check',
      ],
    },
    {
      server: 'incus',
      server_version: '6.0.4',
      driver: 'lxc | qemu',
      driver_version: '6.0.4 | 9.0.4',
      storage_supported_drivers: [{ Name: 'lvm', Version: '2.03', Remote: false }],
      server_lxc_features: {},
    },
  )
  it('is taken as it is', async () => {
    fake.on('GET /1.0', incus)
    expect(await engine.info()).toMatchObject({
      product: 'incus',
      version: '6.0.4',
      instanceTypes: { vm: { available: true }, container: { available: true } },
    })
    await engine.instances.create({ ...spec, type: 'vm', userData: 'x' })
    expect(fake.last('POST', '/1.0/instances').json).toMatchObject({ type: 'virtual-machine', config: { 'cloud-init.user-data': 'x' } })
    await engine.instances.rebuild('one', { imageFingerprint: 'b' })
    expect(fake.changes()).toContain('POST /1.0/instances/one/rebuild')
  })
  it('may leave fields out, and add others', async () => {
    fake.on('GET /1.0', sync({ auth: 'trusted', api_extensions: extensions, environment: { server: 'incus' }, more: { of: 'it' } }))
    expect(await engine.info()).toMatchObject({ product: 'incus', version: '', hostName: '' })
    fake.on(
      'GET /1.0/instances',
      sync([
        {
          name: 'bare',
          type: 'container',
          status: 'Running',
          status_code: 103,
          project: 'default',
          access: {},
          state: { status: 'Running', status_code: 103, os_info: {}, started_at: 'x' },
        },
      ]),
    )
    expect(await engine.instances.list()).toMatchObject([{ name: 'bare', power: 'running', tags: {}, addresses: [] }])
    expect(await engine.instances.usage()).toMatchObject([{ name: 'bare', cpuSeconds: 0, memoryBytes: 0, diskBytes: null, processes: 0 }])
    fake.on(
      'GET /1.0/images',
      sync([{ fingerprint: 'f'.repeat(64), architecture: 'aarch64', size: 1, aliases: null, properties: null, profiles: ['default'] }]),
    )
    expect(await engine.images.list()).toMatchObject([{ name: 'ffffffffffff', type: 'container', os: null }])
    fake.on(
      'GET /1.0/networks',
      sync([{ name: 'incusbr0', managed: true, type: 'bridge', status: 'Created', config: { 'ipv4.address': 'none', 'ipv6.address': 'fd42::1/64' } }]),
    )
    expect(await engine.networks.list()).toEqual([
      { name: 'incusbr0', description: '', managed: true, kind: 'bridge', ipv4: null, ipv6: 'fd42::1/64', nat: false, tags: {}, usedBy: [] },
    ])
  })
})
