import { randomUUID } from 'node:crypto'
import { bindRefusal } from '@zhisuan/contract/cis/binds'
import { configs, containers, containerTransitional, deployments, type Container } from '@zhisuan/contract/cis/container'
import type { BodyInput } from '@zhisuan/contract/define'
import { edges, enrolments } from '@zhisuan/contract/ecrm/edge'
import { changes } from '@zhisuan/contract/change'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused, send } from '../../../testing/call.ts'
import { signIn, someone, type Person, type SignedIn } from '../../../testing/people.ts'
import { listening, someNode, startAgent, type TestAgent } from '../../ecrm/testing.ts'
import { fakeDocker } from '../testing.ts'

type Deploy = BodyInput<typeof containers.deploy>

let app: TestApp
let owner: Person & SignedIn
let node: TestAgent
let other: TestAgent
const docker = fakeDocker()
const otherDocker = fakeDocker()
let ports = 20_000

const online = (agent: TestAgent) =>
  vi.waitFor(async () =>
    expect(await call(app, edges.get, { token: owner.token, params: { id: agent.edge.id } })).toMatchObject({
      status: 'online',
      docker_version: expect.any(String) as string,
    }),
  )
beforeAll(async () => {
  app = await testApp()
  owner = await someone(app)
  node = await someNode(app, owner.token, { answers: docker.answers, create: { labels: [{ key: 'zone', value: 'a' }] } })
  other = await someNode(app, owner.token, { answers: otherDocker.answers, create: { labels: [{ key: 'zone', value: 'a' }] } })
  await online(node)
  await online(other)
})
afterAll(async () => {
  node.stop()
  other.stop()
  await app.close()
})
afterEach(() => {
  for (const one of [docker, otherDocker]) one.fail(null)
})

const asked = (wish: { spec?: Partial<Deploy['spec']>; placement?: Deploy['placement']; name?: string } = {}): Deploy => ({
  name: wish.name ?? `c-${randomUUID()}`,
  spec: { image: 'app:1', ...wish.spec },
  placement: wish.placement ?? { edge_ids: [node.edge.id] },
})
const get = (id: string) => call(app, containers.get, { token: owner.token, params: { id } })
const is = (id: string, what: Partial<Container>) => vi.waitFor(async () => expect(await get(id)).toMatchObject(what))
const settled = async (id: string): Promise<Container> => {
  await vi.waitFor(async () => expect(containerTransitional).not.toContain((await get(id)).status))
  // Its operation ends with what it says of the container; an open one refuses the next.
  await vi.waitFor(async () =>
    expect(await app.platform.db.selectFrom('operations').select('id').where('resource_id', '=', id).where('finished_at', 'is', null).execute()).toEqual([]),
  )
  return get(id)
}
const deployed = async (wish: Parameters<typeof asked>[0] = {}): Promise<Container> => {
  const { items } = await call(app, containers.deploy, { token: owner.token, body: asked(wish) })
  return settled(items[0]?.id ?? '')
}
const act = async (id: string, body: BodyInput<typeof containers.action>): Promise<Container> => {
  await call(app, containers.action, { token: owner.token, params: { id }, body })
  return settled(id)
}
const made = (id: string, on = docker) => [...on.containers.values()].filter(({ body }) => body.Labels['zhisuan.container'] === id)
const port = () => ({ container_port: 80, host_port: ports++ })

describe('a deployment', () => {
  it('is one container on each node that has the labels, as it was asked for', async () => {
    const wish = asked({
      placement: { labels: [{ key: 'zone', value: 'a' }] },
      spec: { env: [{ name: 'PASSWORD', value: 'geheim-词' }], memory_limit_bytes: 2 ** 26, cpu_limit: 0.25, ports: [port()] },
    })
    const { deployment_id, items } = await call(app, containers.deploy, { token: owner.token, body: wish })
    expect(items.map(({ edge }) => edge.id).toSorted()).toEqual([node.edge.id, other.edge.id].toSorted())
    expect(items.every(({ status, status_code }) => status === 'creating' && status_code === 0)).toBe(true)
    for (const { id } of items)
      expect(await settled(id)).toMatchObject({
        status: 'running',
        status_code: 1,
        error: null,
        image: 'app:1',
        deployment: { id: deployment_id, name: wish.name },
      })
    const here = items.find(({ edge }) => edge.id === node.edge.id)?.id ?? ''
    expect(made(here)[0]?.body).toMatchObject({ Image: 'app:1', Env: ['PASSWORD=geheim-词'], HostConfig: { Memory: 2 ** 26, NanoCpus: 0.25e9 } })
    expect(await get(here)).toMatchObject({ spec: { env: [{ name: 'PASSWORD', value: 'geheim-词' }] }, container_id: made(here)[0]?.id })
    // What may be a password is nowhere to be read.
    const rows = await app.platform.db.selectFrom('containers').select('spec').execute()
    expect(JSON.stringify(rows)).not.toContain('geheim')

    const { items: found } = await call(app, deployments.list, { token: owner.token, query: { keyword: wish.name } })
    expect(found).toMatchObject([
      { id: deployment_id, instance_count: 2, running_count: 2, status: 'running', placement: { labels: [{ key: 'zone', value: 'a' }] } },
    ])
    expect((await call(app, deployments.instances, { token: owner.token, params: { id: deployment_id }, query: { status: 'running' } })).total).toBe(2)
    expect((await call(app, containers.list, { token: owner.token, query: { deployment_id, edge_id: node.edge.id } })).items.map(({ id }) => id)).toEqual([
      here,
    ])
    expect((await call(app, edges.get, { token: owner.token, params: { id: node.edge.id } })).container_count).toBeGreaterThan(0)
    expect(await call(app, deployments.delete, { token: owner.token, params: { id: deployment_id } })).toMatchObject({ status: 'deleting' })
    await vi.waitFor(async () => expect((await call(app, deployments.list, { token: owner.token, query: { keyword: wish.name } })).total).toBe(0))
    expect([...made(here), ...made(here, otherDocker)]).toEqual([])
  })

  it('is refused with the field that is wrong', async () => {
    const { name } = await deployed().then(async ({ deployment }) => deployment ?? { name: '' })
    const twice = port()
    for (const [body, problem] of [
      [
        { ...asked(), name: '' },
        { code: 90001, fields: [{ field: 'name' }] },
      ],
      [asked({ spec: { image: 'Not An Image' } }), { code: 90001, fields: [{ field: 'spec.image' }] }],
      [asked({ spec: { ports: [twice, twice] } }), { code: 90001, fields: [{ field: 'spec.ports' }] }],
      [asked({ spec: { mounts: [{ type: 'bind', host_path: '/etc/shadow', path: '/x' }] } }), { code: 90001 }],
      [asked({ spec: { mounts: [{ type: 'config', config_id: randomUUID(), path: '/x' }] } }), { code: 95114, fields: [{ field: 'spec.mounts' }] }],
      [asked({ spec: { gpus: 1 } }), { code: 95106, fields: [{ field: 'spec.gpus' }] }],
      [asked({ placement: {} }), { code: 90001, fields: [{ field: 'placement.edge_ids' }] }],
      [asked({ placement: { edge_ids: [randomUUID()] } }), { code: 95004 }],
      [asked({ placement: { labels: [{ key: 'zone', value: 'b' }] } }), { code: 95104 }],
      [asked({ name }), { code: 95101, fields: [{ field: 'name' }] }],
    ] as const) {
      expect(await refused(app, containers.deploy, { token: owner.token, body }), JSON.stringify(body)).toMatchObject({ status: 400, ...problem })
    }
  })

  it('mounts directories of nodes of its own organisation, and no others', async () => {
    const bind = { type: 'bind' as const, host_path: '/srv/data', path: '/data' }
    expect(await deployed({ spec: { mounts: [bind] } })).toMatchObject({ status: 'running' })
    for (const host_path of ['/etc/shadow', '/./etc', '/var/run/docker.sock', '/var/lib/docker', '/var'])
      expect(
        await refused(app, containers.deploy, { token: owner.token, body: asked({ spec: { mounts: [{ ...bind, host_path }] } }) }),
        host_path,
      ).toMatchObject({ status: 400, code: 90001, fields: [{ field: 'spec.mounts.0.host_path' }] })
    // Of the platform, and shared by it with nobody but itself.
    const platform = await someone(app, { kind: 1 })
    expect(bindRefusal({ kind: 2, bp_id: owner.bp_id }, { bp_id: null }, bind.host_path)).toBe('foreign')
    expect(bindRefusal({ kind: 3, bp_id: null }, { bp_id: null }, bind.host_path)).toBe('foreign')
    const { items } = await call(app, containers.deploy, { token: platform.token, body: asked({ spec: { mounts: [bind] } }) })
    await vi.waitFor(async () =>
      expect((await call(app, containers.get, { token: platform.token, params: { id: items[0]?.id ?? '' } })).status).toBe('running'),
    )
  })

  it('gets a port that one of two wants at once', async () => {
    const wish = { spec: { ports: [port()] as [ReturnType<typeof port>] } }
    const answers = await Promise.all([1, 2, 3].map(() => send(app, containers.deploy, { token: owner.token, body: asked(wish) })))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([202, 400, 400])
    expect(await refused(app, containers.deploy, { token: owner.token, body: asked(wish) })).toMatchObject({ code: 95103, fields: [{ field: 'spec.ports' }] })
    // The same port of another protocol is another.
    await call(app, containers.deploy, { token: owner.token, body: asked({ spec: { ports: [{ ...wish.spec.ports[0], protocol: 'udp' }] } }) })
  })

  it('is told of what is in its way before', async () => {
    const [taken, free] = [port(), port()]
    const { name } = await deployed({ spec: { ports: [taken] } })
    const check = (body: BodyInput<typeof containers.check>, token = owner.token) => call(app, containers.check, { token, body })
    const placement = { labels: [{ key: 'zone', value: 'a' }] }
    const { nodes } = await check({ spec: { ports: [taken], gpus: 3 }, placement })
    const problems = new Map(nodes.map(({ id, problems }) => [id, problems]))
    expect(problems.get(node.edge.id)?.[0]).toContain(`端口${taken.host_port}已被“${name}”占用`)
    expect(problems.get(other.edge.id)).toEqual([expect.stringContaining('GPU')])
    expect((await check({ spec: { ports: [free] }, placement })).nodes.flatMap(({ problems }) => problems)).toEqual([])

    // A program of the node has it, and no container.
    const held = port()
    docker.listen(held.host_port)
    const byAddress = (host_port: number) => check({ spec: { ports: [{ container_port: 80, host_port }] }, placement: { edge_ids: [node.edge.id] } })
    expect((await byAddress(held.host_port)).nodes[0]?.problems).toEqual([expect.stringContaining(`端口${held.host_port}已被“其他程序”占用`)])
    expect(await refused(app, containers.deploy, { token: owner.token, body: asked({ spec: { ports: [held] } }) })).toMatchObject({ code: 95103 })

    const told = async (image: string) => (await check({ spec: { ports: [], image }, placement: { edge_ids: [node.edge.id] } })).nodes[0]
    expect(await told('app:1')).toMatchObject({ problems: [], notes: [] })
    expect(await told('public/new:1')).toMatchObject({ problems: [], notes: ['镜像“public/new:1”不在节点上，部署时先拉取'] })
    expect(await told('gone:1')).toMatchObject({ problems: [expect.stringContaining('镜像“gone:1”在节点')], notes: [] })
    expect(await told('away/new:1')).toMatchObject({ problems: [], notes: [expect.stringContaining('不能确定')] })
  })
})

describe('what goes wrong on the node', () => {
  it('an image that cannot be had leaves a container that says so, and can be made anew', async () => {
    const container = await deployed({ spec: { image: 'none:1' } })
    expect(container).toMatchObject({ status: 'error', status_code: 2, container_id: null, error: expect.stringContaining('镜像“none:1”') as string })
    expect(await refused(app, containers.action, { token: owner.token, params: { id: container.id }, body: { action: 'start' } })).toMatchObject({
      status: 409,
      code: 90010,
    })
    expect(await act(container.id, { action: 'update', spec: { image: 'app:2' } })).toMatchObject({ status: 'running', image: 'app:2', error: null })
    // One that never came to be holds no port.
    const wanted = port()
    expect(await deployed({ spec: { image: 'none:1', ports: [wanted] } })).toMatchObject({ status: 'error' })
    expect(await deployed({ spec: { ports: [wanted] } })).toMatchObject({ status: 'running' })
    expect(made(container.id)).toHaveLength(1)
  })

  it.each([
    ['driver failed programming external connectivity: Bind for 0.0.0.0:8080 failed: port is already allocated', '端口8080已被'],
    ['could not select device driver "" with capabilities: [[gpu]]', '没有足够的GPU'],
    ['OCI runtime create failed: exec: "/none": no such file or directory: unknown', '没有该命令'],
    ['write /var/lib/docker: no space left on device', '磁盘已满'],
    ['something else', '没有完成该操作，原因见详情'],
  ])('%s: taken back, and told in words', async (message, text) => {
    docker.fail((_, path) => (path.endsWith('/start') ? { status: 500, message } : null))
    const container = await deployed()
    expect(container).toMatchObject({ status: 'error', error: expect.stringContaining(text) as string })
    expect(made(container.id)).toEqual([])
    // Kept, whatever is done next; what Docker said stands beside it.
    docker.fail(null)
    await act(container.id, { action: 'update', spec: { image: 'app:1' } })
    const { items } = await call(app, containers.operations, { token: owner.token, params: { id: container.id } })
    expect(items).toMatchObject([
      { kind: 'cis.container.update', status: 'succeeded', error: null, actor_name: owner.name },
      { kind: 'cis.container.create', status: 'failed', step: 'start', error: container.error, detail: text === message ? null : message },
    ])
  })

  it('a tunnel that breaks in the middle is waited for, and what was made before is not made twice', async () => {
    const engine = fakeDocker()
    const cut = await someNode(app, owner.token, { answers: engine.answers })
    await online(cut)
    engine.fail((_, path) => {
      if (path.endsWith('/start')) cut.stop()
      return null
    })
    const { items } = await call(app, containers.deploy, { token: owner.token, body: asked({ placement: { edge_ids: [cut.edge.id] } }) })
    const id = items[0]?.id ?? ''
    await vi.waitFor(async () => expect((await call(app, edges.get, { token: owner.token, params: { id: cut.edge.id } })).status).toBe('offline'))
    expect(await get(id)).toMatchObject({ status: 'creating', edge: { online: false } })
    engine.fail(null)
    const { server_public_key } = await call(app, enrolments.enrol, { body: { token: cut.enrolment.token, public_key: cut.publicKey, version: '0.1.0' } })
    const again = await startAgent(app, { edgeId: cut.edge.id, privateKey: cut.privateKey, serverKey: server_public_key }, engine.answers)
    expect(await settled(id)).toMatchObject({ status: 'running', error: null })
    expect(made(id, engine)).toHaveLength(1)
    again.stop()
  })

  it('one that cannot be made anew is as it was', async () => {
    const [before, after] = [port(), port()]
    const container = await deployed({ spec: { ports: [before] } })
    const [old] = made(container.id)
    docker.fail((_, path) => (path.endsWith('/start') && !path.includes(old?.id ?? '') ? { status: 500, message: 'no' } : null))
    expect(await act(container.id, { action: 'update', spec: { image: 'app:2', ports: [after] } })).toMatchObject({
      status: 'running',
      image: 'app:1',
      ports: [{ host_port: before.host_port }],
      container_id: old?.id,
      error: expect.any(String) as string,
    })
    expect(made(container.id)).toEqual([old])
    docker.fail(null)
    // The port that it did not get is free again.
    await deployed({ spec: { ports: [after] } })
    expect(await act(container.id, { action: 'update', spec: { image: 'app:2', ports: [before] } })).toMatchObject({
      status: 'running',
      image: 'app:2',
      error: null,
    })
  })
})

describe('a container', () => {
  it('is stopped, started, restarted, killed, renamed and removed, each where that may be', async () => {
    const { id } = await deployed()
    expect(await refused(app, containers.action, { token: owner.token, params: { id }, body: { action: 'start' } })).toMatchObject({ status: 409, code: 90010 })
    expect(await act(id, { action: 'stop' })).toMatchObject({ status: 'exited' })
    expect(await refused(app, containers.action, { token: owner.token, params: { id }, body: { action: 'kill' } })).toMatchObject({ status: 409, code: 90010 })
    expect(await act(id, { action: 'start' })).toMatchObject({ status: 'running' })
    const { started_at } = await get(id)
    expect((await act(id, { action: 'restart' })).started_at).not.toBe(started_at)
    expect(await act(id, { action: 'kill' })).toMatchObject({ status: 'exited', exit_code: 137 })
    const name = `改名-${randomUUID()}`
    expect(await act(id, { action: 'rename', name })).toMatchObject({ name })
    expect(made(id)[0]?.name).toMatch(/^[A-Za-z0-9][A-Za-z0-9_.-]+$/)
    const { name: taken } = await deployed()
    expect(await refused(app, containers.action, { token: owner.token, params: { id }, body: { action: 'rename', name: taken } })).toMatchObject({
      status: 400,
      code: 95102,
    })
    expect(await call(app, containers.delete, { token: owner.token, params: { id } })).toMatchObject({ status: 'deleting', status_code: 3 })
    await vi.waitFor(async () => expect((await send(app, containers.get, { token: owner.token, params: { id } })).status).toBe(404))
    expect(made(id)).toEqual([])
  })

  it('that Docker stopped all the same is stopped, whatever Docker said of it', async () => {
    const { id } = await deployed()
    docker.fail((_, path) => {
      if (!path.endsWith('/stop')) return null
      docker.change(id, (one) => {
        one.state = 'exited'
      })
      return { status: 500, message: 'something else' }
    })
    expect(await act(id, { action: 'stop' })).toMatchObject({ status: 'exited', error: null })
    docker.fail((_, path) => (path.endsWith('/start') ? { status: 500, message: 'something else' } : null))
    expect(await act(id, { action: 'start' })).toMatchObject({ status: 'exited', error: expect.stringContaining('没有完成该操作') })
  })

  it('made anew goes on with what it wrote into a volume of its image; removed, it leaves none', async () => {
    const { id } = await deployed()
    const name = 'a'.repeat(64)
    made(id)[0]?.volumes.set('/var/lib/data', name)
    await act(id, { action: 'update', spec: { image: 'app:2' } })
    expect(made(id)).toHaveLength(1)
    expect(made(id)[0]?.body).toMatchObject({ Image: 'app:2', HostConfig: { Mounts: [{ Type: 'volume', Source: name, Target: '/var/lib/data' }] } })
    expect(docker.removedVolumes).not.toContain(name)
    // One that is given a volume there takes that.
    await act(id, { action: 'update', spec: { image: 'app:1', mounts: [{ type: 'volume', name: 'data', path: '/var/lib/data' }] } })
    expect(made(id)[0]?.body.HostConfig.Mounts).toMatchObject([{ Source: 'data', Target: '/var/lib/data' }])
    made(id)[0]?.volumes.set('/other', name)
    await call(app, containers.delete, { token: owner.token, params: { id } })
    await vi.waitFor(() => expect(docker.removedVolumes).toEqual([name]))
  })

  it('is acted on by parameters as by a body', async () => {
    const { id } = await deployed()
    const ask = async (query: object, body?: object): Promise<void> => {
      await call(app, containers.action, { token: owner.token, params: { id }, query, ...(body !== undefined && { body }) })
      await settled(id)
    }
    await ask({ action: 'stop', timeout_seconds: 1 })
    await is(id, { status: 'exited' })
    await ask({ action: 'start' }, {})
    await is(id, { status: 'running' })
    // What the body says counts.
    await ask({ action: 'start' }, { action: 'stop' })
    await is(id, { status: 'exited' })
    expect(await refused(app, containers.action, { token: owner.token, params: { id } })).toMatchObject({ status: 400, fields: [{ field: 'action' }] })
    expect(await refused(app, containers.action, { token: owner.token, params: { id }, query: { action: 'rename' } })).toMatchObject({
      status: 400,
      fields: [{ field: 'name' }],
    })
  })

  it('shows what others do on the node', async () => {
    const { id } = await deployed()
    const wait = (after?: string) => call(app, changes.wait, { token: owner.token, query: { after } })
    const { cursor } = await wait()
    docker.change(id, (one) => {
      one.state = 'paused'
    })
    await is(id, { status: 'paused' })
    expect((await wait(cursor)).kinds).toContain('cis.container')
    docker.change(id, (one) => Object.assign(one, { state: 'exited', exitCode: 137, outOfMemory: true }))
    await is(id, { status: 'exited', exit_code: 137, error: '容器使用的内存超过了上限，已被终止' })
    docker.change(id, (one) => docker.containers.delete(one.id))
    // The event came before it was gone from the list: another look finds it.
    await is(id, { status: 'lost', status_code: 12 })
    const lost = await call(app, deployments.list, { token: owner.token, query: { keyword: (await get(id)).name } })
    expect(lost.items).toMatchObject([{ status: 'lost', running_count: 0, lost_count: 1 }])
    await act(id, { action: 'rebuild' })
    await is(id, { status: 'running', error: null })
    expect(made(id)).toHaveLength(1)
    expect((await call(app, deployments.list, { token: owner.token, query: { keyword: (await get(id)).name } })).items).toMatchObject([{ status: 'running' }])
    docker.drop(made(id)[0]?.id ?? '')
    await is(id, { status: 'lost' })
    await call(app, containers.delete, { token: owner.token, params: { id } })
    await vi.waitFor(async () => expect((await send(app, containers.get, { token: owner.token, params: { id } })).status).toBe(404))
  })

  it('is unknown while its node is away, and gone with a node that is sent away', async () => {
    const away = await someNode(app, owner.token, { answers: fakeDocker().answers })
    await online(away)
    const { id } = await deployed({ placement: { edge_ids: [away.edge.id] } })
    away.stop()
    await is(id, { status: 'unknown', status_code: 13 })
    expect((await call(app, containers.list, { token: owner.token, query: { status: 'unknown', edge_id: away.edge.id } })).items.map((one) => one.id)).toEqual([
      id,
    ])
    const params = { id }
    for (const [declared, input] of [
      [containers.action, { body: { action: 'stop' } }],
      [containers.logs, {}],
      [containers.delete, {}],
      [containers.terminal, { body: {} }],
    ] as const) {
      expect(await refused(app, declared, { token: owner.token, params, ...input }), declared.id).toMatchObject({ status: 409, code: 95003 })
    }
    expect(await refused(app, containers.deploy, { token: owner.token, body: asked({ placement: { edge_ids: [away.edge.id] } }) })).toMatchObject({
      status: 409,
      code: 95003,
    })
    await call(app, edges.unbind, { token: owner.token, body: { ids: [away.edge.id] } })
    await is(id, { status: 'lost' })
    await call(app, containers.delete, { token: owner.token, params })
    expect((await send(app, containers.get, { token: owner.token, params })).status).toBe(404)
  })

  it('tells its figures and its log, and has files', async () => {
    const { id } = await deployed()
    const params = { id }
    expect(await call(app, containers.stats, { token: owner.token, params })).toMatchObject({ cpu: 1, memory_bytes: 10, memory_limit_bytes: 20 })
    const logs = (query: object) => call(app, containers.logs, { token: owner.token, params, query })
    expect((await logs({})).items.map(({ stream, text }) => [stream, text])).toEqual([
      ['stdout', '一'],
      ['stderr', 'two'],
      ['stdout', 'three'],
    ])
    expect((await logs({ keyword: 't', tail: 1 })).items).toEqual([{ at: '2026-11-21T18:00:02.000000001Z', stream: 'stdout', text: 'three' }])

    const url = await listening(app)
    const link = async (how: 'upload' | 'download', path: string) =>
      (await call(app, containers.fileLink, { token: owner.token, params, body: { how, path } })).path
    const upload = await link('upload', '/文件 1.txt')
    expect((await fetch(`${url}${upload}`, { method: 'PUT', body: '内容' })).status).toBe(204)
    expect(await (await fetch(`${url}${await link('download', '/文件 1.txt')}`)).text()).toBe('内容')
    await act(id, { action: 'stop' })
    expect((await call(app, containers.files, { token: owner.token, params, query: { path: '/' } })).items).toMatchObject([
      { name: '文件 1.txt', kind: 'file', size_bytes: 6, mode: '0640' },
    ])
    expect(await refused(app, containers.files, { token: owner.token, params, query: { path: '/none' } })).toMatchObject({ status: 404, code: 95109 })
    expect(await refused(app, containers.files, { token: owner.token, params, query: { path: 'none' } })).toMatchObject({
      status: 400,
      fields: [{ field: 'path' }],
    })
    expect((await fetch(`${url}/api/cis/v1/docker/uploads/made-up`, { method: 'PUT', body: 'x' })).status).toBe(404)
    app.clock.advance(11 * 60_000)
    expect((await fetch(`${url}${upload}`, { method: 'PUT', body: 'x' })).status).toBe(404)
  })

  it('of another organisation does not exist', async () => {
    owner = { ...owner, ...(await signIn(app, owner)) }
    const container = await deployed()
    const { token } = await someone(app)
    const params = { id: container.id }
    for (const [declared, input] of [
      [containers.get, {}],
      [containers.stats, {}],
      [containers.operations, {}],
      [containers.logs, {}],
      [containers.files, { query: { path: '/' } }],
      [containers.delete, {}],
      [containers.action, { body: { action: 'stop' } }],
      [containers.terminal, { body: {} }],
      [containers.logLink, { body: { how: 'follow' } }],
      [containers.fileLink, { body: { how: 'download', path: '/' } }],
      [deployments.instances, { params: { id: container.deployment?.id ?? '' } }],
      [deployments.delete, { params: { id: container.deployment?.id ?? '' } }],
    ] as const) {
      expect(await refused(app, declared, { token, params, ...input }), declared.id).toMatchObject({ status: 404, code: 90006 })
    }
    expect(await refused(app, containers.deploy, { token, body: asked() })).toMatchObject({ code: 95004 })
    for (const list of [containers.list, deployments.list, configs.list]) expect((await call(app, list, { token })).total).toBe(0)
    expect((await get(container.id)).status).toBe('running')
    const { token: platform } = await someone(app, { kind: 1 })
    expect((await call(app, containers.get, { token: platform, params })).id).toBe(container.id)
  })
})
