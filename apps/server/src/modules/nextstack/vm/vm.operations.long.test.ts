import { randomUUID } from 'node:crypto'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import type { BodyInput } from '@zhisuan/contract/define'
import { flavors, type Flavor } from '@zhisuan/contract/nextstack/flavor'
import { images, vmTransitional, vms, type Vm } from '@zhisuan/contract/nextstack/vm'
import type { EngineErrorKind } from '@zhisuan/engines/errors'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { lateLookEveryMs, retryDelays } from '../../../platform/operations.ts'
import { shortened, testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused, send } from '../../../testing/call.ts'
import { freshDatabase } from '../../../testing/database.ts'
import { openTestEngine, startTestEngine, type TestEngine } from '../../../testing/engine.ts'
import { someone, type Person, type SignedIn } from '../../../testing/people.ts'
import { cloudInitOf, hostnameOf } from './vm.operations.ts'
import { statusOf } from './vm.steps.ts'

let app: TestApp
let owner: Person & SignedIn
let engine: TestEngine
let cloud_id: string
let sizes: readonly Flavor[]
let busybox: string
let debian: string

beforeAll(async () => {
  app = await testApp({}, { openEngine: openTestEngine, pause: shortened([...retryDelays, lateLookEveryMs]) })
  owner = await someone(app)
  engine = startTestEngine()
  cloud_id = await addCloud(app, engine)
  sizes = (await call(app, flavors.list, { token: owner.token })).items
  const { items } = await call(app, images.list, { token: owner.token, query: { cloud_id, type: 'container' } })
  busybox = items.find(({ name }) => name === 'busybox')?.fingerprint ?? ''
  debian = items.find(({ name }) => name === 'debian-12')?.fingerprint ?? ''
})
afterEach(() => engine.recover())
afterAll(() => app.close())

async function addCloud(on: TestApp, started: TestEngine): Promise<string> {
  const { token } = await someone(on, { kind: 1 })
  return (await call(on, clouds.create, { token, body: { name: `c-${randomUUID()}`, product: 'nextstack', connection: started.connection } })).cloud_id
}

const get = (id: string, token = owner.token, on = app) => call(on, vms.get, { token, params: { id } })
const settled = (id: string, token = owner.token, on = app): Promise<Vm> =>
  vi.waitFor(
    async () => {
      const vm = await get(id, token, on)
      expect(vmTransitional).not.toContain(vm.status)
      return vm
    },
    { interval: 20 },
  )
const begin = async (wish: Partial<BodyInput<typeof vms.create>> = {}, token = owner.token, on = app): Promise<Vm> => {
  const body = {
    cloud_id,
    name: `vm-${randomUUID()}`,
    type: 'container' as const,
    image_fingerprint: busybox,
    flavor_id: sizes[0]?.id ?? '',
    network: 'sandbox0',
    password: 'Correct-horse-1',
    ...wish,
  }
  const { items } = await call(on, vms.create, { token, body })
  return items[0] ?? expect.fail('nothing was created')
}
const create = async (): Promise<Vm> => settled((await begin()).id)
const params = (vm: Pick<Vm, 'id'>) => ({ token: owner.token, params: { id: vm.id } })
const engineName = (vm: Pick<Vm, 'id'>) => `zs-${vm.id.replaceAll('-', '')}`
const onEngine = (vm: Pick<Vm, 'id'>) => engine.direct.instances.get(engineName(vm))
const last = async (vm: Pick<Vm, 'id'>) => (await call(app, vms.operations, params(vm))).items[0]
const asked = (method: string, vm: Pick<Vm, 'id'>) =>
  engine.asked.filter((one) => one.method === method && JSON.stringify(one.args[0]).includes(engineName(vm))).length
const gone = (vm: Pick<Vm, 'id'>) => vi.waitFor(async () => expect((await send(app, vms.get, params(vm))).status).toBe(404), { interval: 20 })
/** Whether a text says something to a person and nothing of the engine's. */
const readable = (text: string | null | undefined) => {
  expect(text).toMatch(/\p{Script=Han}{4}/u)
  expect(text).not.toMatch(/[A-Za-z{}]/)
}

describe('an engine that goes away and comes back', () => {
  it('is asked again, and the operation succeeds', async () => {
    const vm = await create()
    for (const kind of ['unreachable', 'busy'] as const) {
      engine.fail(kind, { method: 'instances.restart', times: 3 })
      engine.fail(kind, { method: 'instances.stop', times: 3 })
      await call(app, vms.restart, { ...params(vm), body: {} })
      expect(await settled(vm.id)).toMatchObject({ status: 'running', error: null })
      expect(await last(vm)).toMatchObject({ status: 'succeeded', error: null })
    }
    expect(asked('instances.stop', vm)).toBe(8)
  })

  it('that stays away fails the operation readably, leaves the state as last known, and a new try works', async () => {
    const vm = await create()
    engine.fail('unreachable')
    // Those of operations can be ended; who follows the cloud looks without.
    const looks = () => engine.asked.filter(({ method, args }) => method === 'instances.get' && args.length > 1 && args[0] === engineName(vm)).length
    const before = looks()
    await call(app, vms.stop, { ...params(vm), body: {} })
    const failed = await settled(vm.id)
    // The step is tried again; then it is asked whether that came true, and how the instance is now.
    expect(asked('instances.stop', vm)).toBe(6)
    expect(looks() - before).toBeGreaterThanOrEqual(2)
    expect(failed).toMatchObject({ status: 'running', operation_id: null, error: '无法连接云平台，请检查地址和网络' })
    expect(await last(vm)).toMatchObject({
      kind: 'nextstack.vm.stop',
      status: 'failed',
      step: 'stop',
      steps_done: 0,
      error: '无法连接云平台，请检查地址和网络',
      finished_at: expect.any(String),
    })
    engine.recover()
    await call(app, vms.stop, { ...params(vm), body: {} })
    expect(await settled(vm.id)).toMatchObject({ status: 'stopped', error: null })
  })

  it('that gave no answer leaves the outcome unknown until it says what became of it', async () => {
    const vm = await create()
    engine.fail('unanswered', { method: 'instances.stop', times: 1 })
    await call(app, vms.stop, { ...params(vm), body: { force: true } })
    expect(await settled(vm.id)).toMatchObject({ status: 'stopped', error: null })
    expect(asked('instances.stop', vm)).toBe(1)
    expect(await last(vm)).toMatchObject({ status: 'succeeded', error: null })
  })

  it('takes the other instances of the list with it for nobody', async () => {
    const vm = await create()
    engine.fail('unreachable')
    expect((await call(app, vms.list, { token: owner.token })).total).toBeGreaterThan(0)
    expect(await get(vm.id)).toMatchObject({ status: 'running', name: vm.name })
    expect((await call(app, vms.operations, params(vm))).total).toBe(1)
    expect((await send(app, vms.metrics, params(vm))).status).toBe(200)
  })
})

describe('a guest that is slow to shut down', () => {
  it('is told as one that did, once the engine shows it stopped, also after it was told as one that did not', async () => {
    const vm = await create()
    engine.fail('failed', { method: 'instances.stop', times: 1 })
    await call(app, vms.stop, { ...params(vm), body: {} })
    expect(await settled(vm.id)).toMatchObject({ status: 'running', error: '实例没有响应关机请求，请在实例内关机或强制停止' })
    const failed = await last(vm)
    expect(failed).toMatchObject({ status: 'failed', step: 'stop' })
    await engine.direct.instances.stop(engineName(vm), { force: true })
    await vi.waitFor(async () => expect(await last(vm)).toMatchObject({ id: failed?.id, status: 'succeeded', error: null }), { interval: 20 })
    expect(await get(vm.id)).toMatchObject({ status: 'stopped', error: null })
  })

  it('is started again where that was asked for', async () => {
    const vm = await create()
    engine.fail('failed', { method: 'instances.stop', times: 1 })
    await call(app, vms.restart, { ...params(vm), body: {} })
    await settled(vm.id)
    await engine.direct.instances.stop(engineName(vm), { force: true })
    await vi.waitFor(async () => expect(await last(vm)).toMatchObject({ kind: 'nextstack.vm.restart', status: 'succeeded' }), { interval: 20 })
    expect((await onEngine(vm))?.power).toBe('running')
  })
})

describe('an operation that fails', () => {
  it.each([
    ['resize', '云平台不接受该实例的配置'],
    ['rebuild', '当前状态不允许'],
  ] as const)('says what the engine refuses as wrong: %s', async (action, text) => {
    const vm = await create()
    await call(app, vms.stop, { ...params(vm), body: { force: true } })
    await settled(vm.id)
    engine.fail('invalid', { method: `instances.${action}`, times: 1 })
    if (action === 'resize') await call(app, vms.resize, { ...params(vm), body: { flavor_id: sizes[1]?.id ?? '' } })
    else await call(app, vms.rebuild, { ...params(vm), body: { image_fingerprint: busybox, password: 'Correct-horse-1' } })
    expect((await settled(vm.id)).error).toContain(text)
  })

  it.each<[string, EngineErrorKind]>([
    ['节点资源不足', 'exhausted'],
    ['云平台拒绝了凭据', 'unauthorized'],
    ['请在实例内关机或强制停止', 'failed'],
    ['云平台不接受该请求', 'invalid'],
    ['不支持此操作', 'unsupported'],
    ['无法识别的内容', 'bad_answer'],
  ])('says why: %s (%s)', async (text, kind) => {
    const vm = await create()
    engine.fail(kind, { method: 'instances.stop', times: 1 })
    await call(app, vms.stop, { ...params(vm), body: {} })
    const failed = await settled(vm.id)
    expect(failed).toMatchObject({ status: 'running', error: expect.stringContaining(text) })
    readable(failed.error)
    expect(await last(vm)).toMatchObject({ status: 'failed', error: failed.error })
    // Anything but silence is asked once.
    expect(asked('instances.stop', vm)).toBe(1)
  })

  it('because the guest ignores it can be forced', async () => {
    const vm = await create()
    engine.fail('failed', { method: 'instances.stop', times: 2 })
    await call(app, vms.stop, { ...params(vm), body: {} })
    expect(await settled(vm.id)).toMatchObject({ status: 'running', error: '实例没有响应关机请求，请在实例内关机或强制停止' })
    await call(app, vms.stop, { ...params(vm), body: { force: true } })
    expect((await settled(vm.id)).error).toContain('云平台执行失败')
    await call(app, vms.stop, { ...params(vm), body: { force: true } })
    expect(await settled(vm.id)).toMatchObject({ status: 'stopped', error: null })
  })

  it('to start leaves it stopped', async () => {
    const vm = await create()
    await call(app, vms.stop, { ...params(vm), body: {} })
    await settled(vm.id)
    engine.fail('failed', { method: 'instances.start' })
    await call(app, vms.start, params(vm))
    const failed = await settled(vm.id)
    expect(failed.status).toBe('stopped')
    readable(failed.error)
    engine.recover()
    await call(app, vms.start, params(vm))
    expect(await settled(vm.id)).toMatchObject({ status: 'running', error: null })
  })

  it('to restart half way says that it is stopped now', async () => {
    const vm = await create()
    engine.fail('failed', { method: 'instances.start' })
    await call(app, vms.restart, { ...params(vm), body: {} })
    expect(await settled(vm.id)).toMatchObject({ status: 'stopped', error: expect.any(String) })
    expect(await last(vm)).toMatchObject({ step: 'start', steps_done: 1, steps_total: 2 })
  })

  it('to resize keeps the old size', async () => {
    const vm = await create()
    engine.fail('exhausted', { method: 'instances.resize' })
    await call(app, vms.resize, { ...params(vm), body: { flavor_id: sizes.at(-1)?.id ?? '' } })
    expect(await settled(vm.id)).toMatchObject({
      status: 'running',
      error: '节点资源不足',
      flavor: vm.flavor,
      cpu_cores: vm.cpu_cores,
      memory_bytes: vm.memory_bytes,
      disk_bytes: vm.disk_bytes,
    })
  })

  it('to rebuild keeps the old image’s name and says the state that is', async () => {
    const vm = await create()
    engine.fail('failed', { method: 'instances.rebuild' })
    await call(app, vms.rebuild, { ...params(vm), body: { image_fingerprint: debian } })
    expect(await settled(vm.id)).toMatchObject({ status: 'stopped', error: expect.any(String), image: vm.image })
  })

  it('to delete keeps it, and deleting again works', async () => {
    const vm = await create()
    engine.fail('failed', { method: 'instances.delete' })
    await call(app, vms.delete, params(vm))
    expect(await settled(vm.id)).toMatchObject({ status: 'running', error: expect.any(String) })
    engine.recover()
    await call(app, vms.delete, params(vm))
    await gone(vm)
    expect(await onEngine(vm)).toBeNull()
  })

  it('because it is gone on the engine says that it is lost, and can be deleted', async () => {
    const vm = await create()
    const gate = engine.hold('instances.stop')
    await call(app, vms.stop, { ...params(vm), body: {} })
    await gate.reached
    await engine.direct.instances.delete(engineName(vm))
    gate.open()
    expect(await settled(vm.id)).toMatchObject({ status: 'lost' })
    await call(app, vms.delete, params(vm))
    await gone(vm)
  })
})

describe('a creation that fails', () => {
  it.each(['instances.create', 'instances.start', 'instances.exec'])('at %s leaves nothing on the engine, and an instance that says so', async (method) => {
    engine.fail('exhausted', { method, times: 1 })
    const vm = await settled((await begin()).id)
    expect(vm).toMatchObject({ status: 'error', error: '节点资源不足', operation_id: null })
    expect(await onEngine(vm)).toBeNull()
    expect(await last(vm)).toMatchObject({ status: 'failed', error: '节点资源不足' })
    for (const [declared, body] of [
      [vms.start, undefined],
      [vms.restart, {}],
    ] as const) {
      expect((await send(app, declared, { ...params(vm), body })).status).toBe(409)
    }
    await call(app, vms.delete, params(vm))
    await gone(vm)
  })

  it('because the password could not be set is undone too', async () => {
    const gate = engine.hold('instances.exec')
    const vm = await begin()
    await gate.reached
    await engine.direct.instances.stop(engineName(vm))
    gate.open()
    const failed = await settled(vm.id)
    expect(failed.status).toBe('error')
    readable(failed.error)
    expect(await onEngine(vm)).toBeNull()
  })

  it('on a name that somebody else’s instance has leaves that one alone', async () => {
    const gate = engine.hold('instances.create')
    const vm = await begin()
    await gate.reached
    await engine.direct.instances.create({
      name: engineName(vm),
      type: 'container',
      imageFingerprint: busybox,
      cpuCores: 1,
      memoryBytes: 1,
      diskBytes: 1,
      network: 'sandbox0',
      tags: { vm_id: 'of-another' },
    })
    gate.open()
    expect((await settled(vm.id)).status).toBe('error')
    expect(await onEngine(vm)).toMatchObject({ tags: { vm_id: 'of-another' } })
  })

  it('of one of several leaves the others', async () => {
    engine.fail('exhausted', { method: 'instances.create', times: 1 })
    const { items } = await call(app, vms.create, {
      token: owner.token,
      body: {
        cloud_id,
        name: `n-${randomUUID()}`,
        type: 'container',
        image_fingerprint: busybox,
        flavor_id: sizes[0]?.id ?? '',
        network: 'sandbox0',
        password: 'Correct-horse-1',
        count: 3,
      },
    })
    const statuses = await Promise.all(items.map(async ({ id }) => (await settled(id)).status))
    expect(statuses.sort()).toEqual(['error', 'running', 'running'])
  })
})

describe('cancelling', () => {
  const cancel = (vm: Pick<Vm, 'id'>, operation_id: string | null) =>
    call(app, vms.cancelOperation, { token: owner.token, params: { id: vm.id, operation_id: operation_id ?? '' } })
  const notNow = (vm: Pick<Vm, 'id'>, operation_id: string | null) =>
    refused(app, vms.cancelOperation, { token: owner.token, params: { id: vm.id, operation_id: operation_id ?? '' } })
  const rowOf = (id: string | null) =>
    app.platform.db
      .selectFrom('operations')
      .selectAll()
      .where('id', '=', id ?? '')
      .executeTakeFirstOrThrow()

  it.each(['instances.create', 'instances.start', 'instances.exec'])('a creation at %s takes back all that was made, its record too', async (method) => {
    const gate = engine.hold(method)
    const vm = await begin()
    await gate.reached
    expect(await last(vm)).toMatchObject({ status: 'running', cancellable: true })
    expect(await cancel(vm, vm.operation_id)).toMatchObject({
      id: vm.operation_id,
      kind: 'nextstack.vm.create',
      status: 'cancelling',
      cancellable: false,
      error: null,
      finished_at: null,
    })
    await gone(vm)
    gate.open()
    expect(await onEngine(vm)).toBeNull()
    expect(await rowOf(vm.operation_id)).toMatchObject({ status: 'cancelled', error: 'operationCancelled', input: '' })
    expect(await app.platform.db.selectFrom('audit_log').selectAll().where('object_id', '=', vm.id).orderBy('number').execute()).toMatchObject([
      { call: 'nextstack.vm.create', actor_id: owner.id, code: 0 },
      { call: 'nextstack.vm.cancelOperation', actor_id: owner.id, code: 0 },
    ])
    // Its name is free again.
    expect((await settled((await begin({ name: vm.name })).id)).status).toBe('running')
  })

  it('a creation twice at once is one', async () => {
    const gate = engine.hold('instances.create')
    const vm = await begin()
    await gate.reached
    const answers = await Promise.all([cancel(vm, vm.operation_id), cancel(vm, vm.operation_id)])
    expect(answers.map(({ status }) => status)).toEqual(['cancelling', 'cancelling'])
    await gone(vm)
    expect(asked('instances.delete', vm)).toBe(1)
  })

  it('a creation that cannot be taken back says so, and what is left can be deleted', async () => {
    const gate = engine.hold('instances.exec')
    const vm = await begin()
    await gate.reached
    engine.fail('failed', { method: 'instances.delete' })
    await cancel(vm, vm.operation_id)
    const left = await settled(vm.id)
    expect(left).toMatchObject({ status: 'error', operation_id: null })
    readable(left.error)
    expect(await last(vm)).toMatchObject({ status: 'failed', error: left.error })
    engine.recover()
    await call(app, vms.delete, params(vm))
    await gone(vm)
    expect(await onEngine(vm)).toBeNull()
  })

  it('a rebuild that has touched no disk yet has it run as it did', async () => {
    const vm = await create()
    const gate = engine.hold('instances.stop')
    const { operation_id } = await call(app, vms.rebuild, { ...params(vm), body: { image_fingerprint: debian } })
    await gate.reached
    await engine.direct.instances.stop(engineName(vm))
    await cancel(vm, operation_id)
    expect(await settled(vm.id)).toMatchObject({ status: 'running', error: null, image: vm.image })
    expect(await last(vm)).toMatchObject({ kind: 'nextstack.vm.rebuild', status: 'cancelled', error: null, cancellable: false })
    expect(await onEngine(vm)).toMatchObject({ power: 'running' })
    expect(asked('instances.rebuild', vm)).toBe(0)
    gate.open()
  })

  it.each([
    ['start', vms.start, undefined, 'instances.start'],
    ['stop', vms.stop, {}, 'instances.stop'],
    ['restart', vms.restart, {}, 'instances.stop'],
    ['rebuild', vms.rebuild, () => ({ image_fingerprint: debian }), 'instances.rebuild'],
    ['resize', vms.resize, () => ({ flavor_id: sizes.at(-1)?.id ?? '' }), 'instances.resize'],
    ['delete', vms.delete, undefined, 'instances.delete'],
  ] as const)('a %s on its way is refused, and it goes on', async (name, declared, body, method) => {
    const vm = await create()
    if (name === 'start') {
      await call(app, vms.stop, { ...params(vm), body: {} })
      await settled(vm.id)
    }
    const gate = engine.hold(method)
    const { operation_id } = (await send(app, declared, { ...params(vm), body: typeof body === 'function' ? body() : body })).body as Vm
    await gate.reached
    expect(await last(vm)).toMatchObject({ id: operation_id, status: 'running', cancellable: false })
    expect(await notNow(vm, operation_id)).toMatchObject({ status: 409, code: 90018, message: '操作已进行到不能取消的步骤，请等待其完成' })
    gate.open()
    if (name === 'delete') await gone(vm)
    else expect(await settled(vm.id)).toMatchObject({ error: null })
    expect((await rowOf(operation_id)).status).toBe('succeeded')
  })

  it('what has ended is refused and stays as it is', async () => {
    const vm = await create()
    const { id } = (await last(vm)) ?? expect.fail('it was created')
    expect(await notNow(vm, id)).toMatchObject({ status: 409, code: 90017, message: '操作已经结束，不能再取消' })
    expect(await get(vm.id)).toMatchObject({ status: 'running', error: null })
    expect(await last(vm)).toMatchObject({ id, status: 'succeeded' })
  })

  it('what is another instance’s does not exist', async () => {
    const [vm, other] = [await create(), await create()]
    expect(await notNow(vm, (await last(other))?.id ?? '')).toMatchObject({ status: 404, code: 90006 })
    expect(await notNow(vm, 'x')).toMatchObject({ status: 404, code: 90006 })
  })
})

describe('a server that stops in the middle', () => {
  it.each([
    ['create', 'instances.create', 0],
    ['start', 'instances.start', 1],
    ['access', 'instances.exec', 2],
  ])('at step %s of a creation is followed by one that goes on there', async (step, method, done) => {
    const database = await freshDatabase()
    const own = startTestEngine()
    try {
      const first = await testApp({ DATABASE_URL: database.url }, { openEngine: openTestEngine, pause: shortened(retryDelays) })
      const person = await someone(first)
      const cloud = await addCloud(first, own)
      const [size] = (await call(first, flavors.list, { token: person.token })).items
      const gate = own.hold(method)
      const vm = await begin({ cloud_id: cloud, flavor_id: size?.id ?? '' }, person.token, first)
      await gate.reached
      const { items } = await call(first, vms.operations, { token: person.token, params: { id: vm.id } })
      expect(items[0]).toMatchObject({ status: 'running', step, steps_done: done })
      await first.close()
      gate.open()
      const second = await testApp({ DATABASE_URL: database.url }, { openEngine: openTestEngine, pause: shortened(retryDelays) })
      expect(await settled(vm.id, person.token, second)).toMatchObject({ status: 'running', error: null })
      expect((await call(second, vms.operations, { token: person.token, params: { id: vm.id } })).items).toMatchObject([{ status: 'succeeded', steps_done: 3 }])
      expect(await own.direct.instances.list()).toHaveLength(1)
      // What had been done was not done again.
      const before = { 'instances.create': 'nothing', 'instances.start': 'instances.create', 'instances.exec': 'instances.start' }[method] ?? ''
      expect(own.asked.filter((one) => one.method === before).length).toBe(done === 0 ? 0 : 1)
      await second.close()
    } finally {
      await database.drop()
    }
  })
})

describe('what the engine says', () => {
  it('is shown in our terms', () => {
    expect((['running', 'stopped', 'paused', 'starting', 'stopping', 'error', 'unknown'] as const).map((power) => statusOf({ power }))).toEqual([
      'running',
      'stopped',
      'paused',
      'starting',
      'stopping',
      'error',
      'error',
    ])
  })
})

describe('cloud-init data', () => {
  const [key, other] = ['ssh-ed25519 AAAAC3 me@host', 'ssh-rsa AAAAB3 me@work']
  const valueOf = (text: string | undefined, field: string): unknown => {
    const line = text?.split('\n').find((one) => one.startsWith(`${field}: `))
    return line === undefined ? undefined : JSON.parse(line.slice(field.length + 2))
  }

  it('leaves what the guest calls itself to what people called it, as far as that is a host name', () => {
    const names = ['web-1', 'Web_Server.cn', '测试-web', '-a-', `a${'b'.repeat(70)}`, '测试', '2026', '']
    expect(names.map(hostnameOf)).toEqual(['web-1', 'web-server-cn', 'web', 'a', `a${'b'.repeat(62)}`, null, null, null])
  })

  it('is the person’s own where nothing else is asked for', () => {
    expect(cloudInitOf({ ssh_public_keys: [] })).toBeUndefined()
    expect(cloudInitOf({ ssh_public_keys: [], user_data: '#!/bin/sh\n' })).toBe('#!/bin/sh\n')
  })

  it('carries password and key, which nothing typed breaks out of', () => {
    const password = `a"b\n#cloud-config: {}'\\`
    const text = cloudInitOf({ password, ssh_public_keys: [key, other] })
    expect(text?.split('\n')[0]).toBe('#cloud-config')
    expect(valueOf(text, 'chpasswd')).toEqual({ expire: false, users: [{ name: 'root', password, type: 'text' }] })
    expect(valueOf(text, 'ssh_authorized_keys')).toEqual([key, other])
    expect(text).toContain('ssh_pwauth: true')
    expect(cloudInitOf({ ssh_public_keys: [key] })).not.toContain('ssh_pwauth')
  })

  it('joins a script or configuration of the person’s own as a part of its own', () => {
    for (const [user_data, kind] of [
      ['#!/bin/sh\necho --zhisuan-user-data--\n', 'text/x-shellscript'],
      ['#cloud-config\nruncmd: [ls]\n', 'text/cloud-config'],
    ] as const) {
      const text = cloudInitOf({ password: 'Correct-horse-1', ssh_public_keys: [], user_data }) ?? ''
      expect(text.startsWith('Content-Type: multipart/mixed')).toBe(true)
      const parts = text.split('--zhisuan-user-data').slice(1, -1)
      expect(parts).toHaveLength(2)
      expect(parts[1]).toContain(kind)
      expect(parts.map((part) => Buffer.from(part.split('\n\n')[1] ?? '', 'base64').toString())).toEqual([
        expect.stringContaining('Correct-horse-1'),
        user_data,
      ])
    }
  })
})
