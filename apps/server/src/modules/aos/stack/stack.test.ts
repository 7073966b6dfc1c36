import { randomUUID } from 'node:crypto'
import {
  nodeStacks,
  services,
  stackConfigs,
  stackDeployments,
  stacks,
  stackTransitional,
  templates,
  type Service,
  type Stack,
} from '@zhisuan/contract/aos/stack'
import { configs, containers } from '@zhisuan/contract/cis/container'
import type { BodyInput } from '@zhisuan/contract/define'
import { edges } from '@zhisuan/contract/ecrm/edge'
import { changes } from '@zhisuan/contract/change'
import { users } from '@zhisuan/contract/ums/user'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused, send } from '../../../testing/call.ts'
import { tablesWith } from '../../../testing/clear.ts'
import { someone, type SignedIn } from '../../../testing/people.ts'
import { fakeDocker } from '../../cis/testing.ts'
import { someNode, type TestAgent } from '../../ecrm/testing.ts'
import { fakeCompose } from '../testing.ts'

type Deploy = BodyInput<typeof stacks.create>

let app: TestApp
let owner: SignedIn
let stranger: SignedIn
let node: TestAgent
let other: TestAgent
const docker = fakeDocker()
const compose = fakeCompose(docker)
const otherDocker = fakeDocker()
const otherCompose = fakeCompose(otherDocker)

const online = (agent: TestAgent) =>
  vi.waitFor(async () => expect((await call(app, edges.get, { token: owner.token, params: { id: agent.edge.id } })).status).toBe('online'))
beforeAll(async () => {
  app = await testApp()
  owner = await someone(app)
  stranger = await someone(app)
  node = await someNode(app, owner.token, { answers: compose.answers })
  other = await someNode(app, owner.token, { answers: otherCompose.answers })
  await online(node)
  await online(other)
})
afterAll(async () => {
  node.stop()
  other.stop()
  await app.close()
})
afterEach(() => {
  for (const one of [compose, otherCompose]) one.fail(null)
})

let port = 18_080
/** With a port that no other has: they share a node. */
const freshFile = () =>
  `services:\n  web:\n    image: app:\${TAG:-1}\n    ports: ["${port++}:80"]\n    depends_on: [db]\n  db:\n    image: db:1\n    volumes: ["data:/data"]\nvolumes:\n  data:\n`
const asked = (wish: Partial<Deploy> = {}): Deploy => ({
  name: `s-${randomUUID()}`,
  ...(wish.template_id === undefined && { compose: freshFile() }),
  placement: { edge_ids: [node.edge.id] },
  ...wish,
})
const get = (id: string) => call(app, nodeStacks.get, { token: owner.token, params: { id } })
const is = (id: string, what: Partial<Stack>) => vi.waitFor(async () => expect(await get(id)).toMatchObject(what))
const settled = async (id: string) => {
  await vi.waitFor(async () => expect(stackTransitional).not.toContain((await get(id)).status))
  return get(id)
}
const deployed = async (wish?: Partial<Deploy>) => settled((await call(app, stacks.create, { token: owner.token, body: asked(wish) })).items[0]?.id ?? '')
const act = async (id: string, body: BodyInput<typeof stacks.action>) => {
  await call(app, stacks.action, { token: owner.token, params: { id }, body })
  return settled(id)
}
const onDocker = (project: string) => [...docker.containers.values()].filter(({ body }) => body.Labels['com.docker.compose.project'] === project)
const named = (list: readonly Service[], name: string): Service => {
  const service = list.find((one) => one.name === name)
  if (service === undefined) throw new Error(`no service ${name}`)
  return service
}
const refuse = (body: Partial<Deploy>) => refused(app, stacks.create, { token: owner.token, body: asked(body) })

describe('a stack', () => {
  it('is deployed to nodes, and runs there', async () => {
    const body = asked({ description: '说明', values: { TAG: '2' }, placement: { edge_ids: [node.edge.id, other.edge.id] } })
    const { deployment_id, items } = await call(app, stacks.create, { token: owner.token, body })
    expect(items).toHaveLength(2)
    expect(items[0]).toMatchObject({
      name: body.name,
      status: 'deploying',
      revision: 1,
      revision_count: 1,
      service_count: 2,
      deployment: { id: deployment_id, name: body.name },
    })
    for (const { id } of items) await is(id, { status: 'running', running_count: 2, error: null, output: 'compose up' })
    expect(new Set(items.map(({ project }) => project)).size).toBe(2)
    const mine = items.find(({ edge }) => edge.id === node.edge.id)
    const { services: own, project } = await get(mine?.id ?? '')
    expect(named(own, 'web')).toMatchObject({
      image: 'app:2',
      replicas: 1,
      running_count: 1,
      status: 'running',
      ports: [{ host_port: port - 1, protocol: 'tcp' }],
    })
    expect(onDocker(project)[0]?.body.Labels['zhisuan.stack']).toBe(mine?.id)

    const list = await call(app, stacks.list, { token: owner.token, query: { keyword: body.name, status: 'running' } })
    expect(list.total).toBe(2)
    expect((await call(app, stacks.list, { token: owner.token, query: { keyword: body.name, edge_id: node.edge.id } })).items.map(({ id }) => id)).toEqual([
      mine?.id,
    ])
    expect((await call(app, stackDeployments.list, { token: owner.token, query: { keyword: body.name } })).items).toMatchObject([
      { id: deployment_id, description: '说明', stack_count: 2, running_count: 2, status: 'running' },
    ])
    expect(await call(app, stackDeployments.get, { token: owner.token, params: { id: deployment_id } })).toMatchObject({
      name: body.name,
      stack_count: 2,
      status: 'running',
    })
    expect((await call(app, stackDeployments.stacks, { token: owner.token, params: { id: deployment_id } })).total).toBe(2)
    expect((await call(app, edges.get, { token: owner.token, params: { id: node.edge.id } })).container_count).toBeGreaterThanOrEqual(2)

    expect(await call(app, stackDeployments.delete, { token: owner.token, params: { id: deployment_id } })).toMatchObject({ status: 'deleting' })
    await vi.waitFor(async () => expect((await call(app, stackDeployments.list, { token: owner.token, query: { keyword: body.name } })).total).toBe(0))
    expect(onDocker(project)).toEqual([])
  })

  it('pulls what needs an account by that account, in the request and nowhere else on the node; of others it sees to nothing', async () => {
    const id = randomUUID()
    const bp_id = (await call(app, users.current, { token: owner.token })).bp_id
    const keep = (password: string) =>
      app.platform.secrets.seal(
        JSON.stringify({ url: 'https://registry.example.com', account: { username: 'robot$pull', password } }),
        `third_registries.connection:${id}`,
      )
    await app.platform.db
      .insertInto('third_registries')
      .values({
        id,
        bp_id,
        name: 'theirs',
        description: '',
        address: 'registry.example.com',
        url: 'https://registry.example.com',
        username: 'robot$pull',
        connection: keep('right'),
        health: 'reachable',
        health_message: null,
        slowed_until: null,
        browsable: false,
        checked_at: null,
        created_by: null,
        created_by_name: 'x',
      })
      .execute()
    const file = (more = '') => `services:\n  web:\n    image: registry.example.com/team/web:1\n${more}  db:\n    image: db:1\n`
    const stack = await deployed({ compose: file() })
    expect(docker.pulls).toMatchObject([{ image: 'registry.example.com/team/web:1', auth: { username: 'robot$pull', password: 'right' } }])
    // What lies on the node knows nothing of it.
    expect(JSON.stringify(compose.orders)).not.toMatch(/robot\$pull|right"/)
    // It is there: nobody is asked again, unless that is wished each time, and then compose is not to ask either.
    await act(stack.id, { action: 'update', compose: file('    user: "1"\n') })
    expect(docker.pulls).toHaveLength(1)
    await act(stack.id, { action: 'update', compose: file('    pull_policy: always\n') })
    expect(docker.pulls).toHaveLength(2)
    expect(compose.orders.at(-1)?.file).toContain('"pull_policy":"if_not_present"')
    // An account that is not taken is told as what it is.
    await app.platform.db
      .updateTable('third_registries')
      .set({ connection: keep('wrong') })
      .where('id', '=', id)
      .execute()
    expect(await act(stack.id, { action: 'update', compose: file().replace('web:1', 'web:2') })).toMatchObject({
      status: 'error',
      error: expect.stringContaining('registry.example.com/team/web:2') as string,
    })
    await app.platform.db.deleteFrom('third_registries').where('id', '=', id).execute()
  })

  it('is refused where it could not be made', async () => {
    expect(await refuse({ compose: 'services:\n  web:\n    image: a:1\n    network_mode: host\n' })).toMatchObject({
      status: 400,
      code: 95202,
      fields: [{ field: 'compose', message: expect.stringContaining('第4行') as string }],
    })
    expect(await refuse({ compose: 'services:\n  web:\n    image: a:${TAG}\n' })).toMatchObject({ status: 400, code: 95203, fields: [{ field: 'values.TAG' }] })
    expect(await refuse({ compose: 'services:\n  web:\n    image: a:1\n    volumes: ["${DIR}:/x"]\n', values: { DIR: '/etc' } })).toMatchObject({ code: 95202 })
    expect(await refuse({ template_id: randomUUID() })).toMatchObject({ code: 95206, fields: [{ field: 'template_id' }] })
    expect(await refuse({ configs: [{ config_id: randomUUID(), path: 'a.conf' }] })).toMatchObject({ code: 95114 })
    expect(await refuse({ configs: [{ config_id: randomUUID(), path: '../a.conf' }] })).toMatchObject({ status: 400, fields: [{ field: 'configs.0.path' }] })
    expect(await refuse({ placement: { edge_ids: [randomUUID()] } })).toMatchObject({ code: 95004 })
    expect(await refused(app, stacks.create, { token: stranger.token, body: asked() })).toMatchObject({ code: 95004 })
    const { name, id } = await deployed()
    expect(await refuse({ name })).toMatchObject({ status: 400, code: 95201, fields: [{ field: 'name' }] })
    expect(
      await refused(app, stacks.action, { token: owner.token, params: { id }, body: { action: 'update', compose: freshFile(), template_id: randomUUID() } }),
    ).toMatchObject({ status: 400, fields: [{ field: 'template_id' }] })
  })

  it('is told of ports that others have, before anything is made; its own are none', async () => {
    const taken = port++
    const web = (host_port: number) => `services:\n  web:\n    image: app:1\n    ports: ["${host_port}:80"]\n`
    const placement = { edge_ids: [node.edge.id] }
    const { items } = await call(app, containers.deploy, {
      token: owner.token,
      body: { name: `c-${randomUUID()}`, spec: { image: 'app:1', ports: [{ container_port: 80, host_port: taken }] }, placement },
    })
    expect(await refuse({ compose: web(taken) })).toMatchObject({
      status: 400,
      code: 95103,
      fields: [{ field: 'compose' }],
      message: expect.stringContaining(`端口${taken}已被“${items[0]?.name ?? ''}”`) as string,
    })
    const own = port++
    const { id } = await deployed({ compose: web(own) })
    expect(await refuse({ compose: web(own) })).toMatchObject({ code: 95103 })
    expect(await act(id, { action: 'update', compose: web(own), values: { A: '1' } })).toMatchObject({ status: 'running', error: null })
    expect(await refused(app, stacks.action, { token: owner.token, params: { id }, body: { action: 'update', compose: web(taken) } })).toMatchObject({
      code: 95103,
    })
    // On another node it is free.
    await deployed({ compose: web(taken), placement: { edge_ids: [other.edge.id] } })
  })

  it('is checked before it is deployed', async () => {
    const { problems, services: names, variables } = await call(app, stacks.validate, { token: owner.token, body: { compose: `${freshFile()}x: 1\n` } })
    expect({ names, variables }).toEqual({ names: ['web', 'db'], variables: ['TAG'] })
    expect(problems).toMatchObject([{ line: 11, column: 1, severity: 'error' }])
    expect((await call(app, stacks.validate, { token: owner.token, body: { compose: '' } })).problems).toHaveLength(1)
    const beside = 'services:\n  web:\n    image: a:1\n    volumes: ["./a.conf:/a.conf"]\n'
    expect((await call(app, stacks.validate, { token: owner.token, body: { compose: beside } })).problems).toMatchObject([{ line: 4 }])
    expect((await call(app, stacks.validate, { token: owner.token, body: { compose: beside, template: true } })).problems).toEqual([])
  })

  it('is updated, and goes back', async () => {
    const file = freshFile()
    const { id, project } = await deployed({ compose: file })
    const before = named((await get(id)).services, 'web').id
    await act(id, { action: 'update', values: { TAG: '2' } })
    await is(id, { status: 'running', revision: 2, revision_count: 2 })
    expect(
      onDocker(project)
        .map(({ body }) => body.Image)
        .toSorted(),
    ).toEqual(['app:2', 'db:1'])
    // The service stays the same one.
    expect(named((await get(id)).services, 'web')).toMatchObject({ id: before, image: 'app:2' })

    const smaller = await act(id, { action: 'update', compose: 'services:\n  web:\n    image: app:3\n' })
    expect(smaller.services.map(({ name }) => name)).toEqual(['web'])
    expect(await act(id, { action: 'rollback' })).toMatchObject({ revision: 4, revision_count: 4, service_count: 2 })
    expect(
      onDocker(project)
        .map(({ body }) => body.Image)
        .toSorted(),
    ).toEqual(['app:2', 'db:1'])
    await act(id, { action: 'rollback', revision: 1 })
    const { compose: text, values, resolved, revisions } = await call(app, stacks.composeConfig, { token: owner.token, params: { id } })
    expect({ text, values }).toEqual({ text: file, values: {} })
    expect(resolved).toContain('image: app:1')
    expect(revisions.map(({ revision }) => revision)).toEqual([5, 4, 3, 2, 1])
    expect(revisions[3]).toMatchObject({ compose: file, values: { TAG: '2' }, configs: [], template: null })
    const { total, items } = await call(app, stacks.operations, { token: owner.token, params: { id } })
    expect(total).toBe(5)
    expect(items.map(({ kind, status }) => [kind, status])).toEqual(
      ['rollback', 'rollback', 'update', 'update', 'create'].map((verb) => [`aos.stack.${verb}`, 'succeeded']),
    )
    expect(await refused(app, stacks.action, { token: owner.token, params: { id }, body: { action: 'rollback', revision: 9 } })).toMatchObject({ code: 95207 })
  })

  it('says why compose failed, and can be gone back with', async () => {
    const { id } = await deployed()
    compose.fail('manifest for app:9 not found')
    expect(await act(id, { action: 'update', values: { TAG: '9' } })).toMatchObject({
      status: 'error',
      error: '镜像仓库中没有该镜像，请检查名称和标签',
      running_count: 2,
      revision: 2,
      deployed_revision: 1,
    })
    expect((await call(app, stacks.operations, { token: owner.token, params: { id } })).items[0]).toMatchObject({
      kind: 'aos.stack.update',
      status: 'failed',
      step: 'compose',
      error: '镜像仓库中没有该镜像，请检查名称和标签',
      detail: 'manifest for app:9 not found',
    })
    compose.fail(null)
    expect(await refused(app, stacks.action, { token: owner.token, params: { id }, body: { action: 'stop' } })).toMatchObject({ status: 409 })
    expect(await act(id, { action: 'rollback' })).toMatchObject({ status: 'running', error: null, revision: 3 })
    compose.fail('neither docker compose nor docker-compose is on this node')
    const failed = await deployed()
    expect(failed).toMatchObject({ status: 'error', error: expect.stringContaining('没有安装Docker Compose') as string })
    compose.fail(null)
    await call(app, stacks.delete, { token: owner.token, params: { id: failed.id } })
    await vi.waitFor(async () => expect((await send(app, nodeStacks.get, { token: owner.token, params: { id: failed.id } })).status).toBe(404))
  })

  it('is told what compose said; neither that nor a value lies in the database', async () => {
    const secret = `pass${randomUUID()}`
    const { id: template_id } = await call(app, templates.create, {
      token: owner.token,
      body: {
        name: `t-${randomUUID()}`,
        version: '1.0',
        compose: `services:\n  web:\n    image: app:1\n    environment: ["A=${secret}-literal", "B=$\{PASSWORD}"]\n`,
        variables: [{ name: 'PASSWORD', type: 'password', default: `${secret}-default` }],
      },
    })
    compose.fail(`invalid value ${secret}`)
    const { id, name } = await deployed({ template_id })
    expect(await get(id)).toMatchObject({ status: 'error', error: expect.stringContaining(secret), output: `compose up\ninvalid value ${secret}` })
    expect((await call(app, stacks.list, { token: owner.token, query: { keyword: name } })).items[0]).toMatchObject({ output: expect.stringContaining(secret) })
    expect((await call(app, stacks.operations, { token: owner.token, params: { id } })).items[0]).toMatchObject({ error: expect.stringContaining(secret) })
    expect(await call(app, templates.get, { token: owner.token, params: { id: template_id } })).toMatchObject({
      compose: expect.stringContaining(secret),
      variables: [{ default: `${secret}-default` }],
    })
    const { pool } = app.platform.database
    expect(await tablesWith(pool, secret)).toEqual([])
    expect(await tablesWith(pool, name)).toContain('stacks')
  })

  it.each(['breaks', 'busy'] as const)('is asked for again where the answer of its node %s', async (what) => {
    compose.once(what)
    const { id, project } = await deployed()
    await is(id, { status: 'running', error: null })
    expect(compose.orders.filter((order) => order.project === project)).toHaveLength(2)
    expect(onDocker(project)).toHaveLength(2)
  })

  it('is stopped, started and taken down, with its volumes', async () => {
    const { id, project } = await deployed()
    expect(await act(id, { action: 'stop' })).toMatchObject({ status: 'stopped', running_count: 0 })
    expect(await refused(app, stacks.action, { token: owner.token, params: { id }, body: { action: 'stop' } })).toMatchObject({ status: 409, code: 90010 })
    expect(await act(id, { action: 'start' })).toMatchObject({ status: 'running' })
    expect(docker.volumes.has(`${project}_data`)).toBe(true)
    expect(await call(app, nodeStacks.delete, { token: owner.token, params: { id } })).toMatchObject({ status: 'deleting' })
    await vi.waitFor(async () => expect((await send(app, nodeStacks.get, { token: owner.token, params: { id } })).status).toBe(404))
    expect(onDocker(project)).toEqual([])
    expect(docker.volumes.has(`${project}_data`)).toBe(false)
    expect(await app.platform.db.selectFrom('containers').select('id').where('name', 'like', `${project}%`).execute()).toEqual([])
  })

  it('shows what others do on its node', async () => {
    const { id, project } = await deployed()
    const wait = (after?: string) => call(app, changes.wait, { token: owner.token, query: { after } })
    const { cursor } = await wait()
    const [one] = onDocker(project)
    docker.drop(one?.id ?? '')
    await is(id, { status: 'degraded', running_count: 1 })
    expect((await wait(cursor)).kinds).toEqual(expect.arrayContaining(['cis.container', 'aos.stack']))
    expect(await act(id, { action: 'update' })).toMatchObject({ status: 'running' })
  })

  it('of another organisation does not exist', async () => {
    const { id, services: own, deployment } = await deployed()
    const token = stranger.token
    const service = own[0]?.id ?? ''
    for (const declared of [nodeStacks.get, nodeStacks.delete, stacks.delete, stacks.composeConfig, stacks.operations, services.list] as const)
      expect(await refused(app, declared, { token, params: { id } })).toMatchObject({ status: 404 })
    for (const declared of [services.instances, services.delete] as const)
      expect(await refused(app, declared, { token, params: { id: service } })).toMatchObject({ status: 404 })
    for (const declared of [stackDeployments.get, stackDeployments.stacks, stackDeployments.delete] as const)
      expect(await refused(app, declared, { token, params: { id: deployment.id } })).toMatchObject({ status: 404 })
    for (const action of ['update', 'rollback', 'stop', 'start'] as const)
      expect(await refused(app, stacks.action, { token, params: { id }, body: { action } })).toMatchObject({ status: 404 })
    expect(await refused(app, services.action, { token, params: { id: service }, body: { action: 'stop' } })).toMatchObject({ status: 404 })
    expect(await refused(app, stackConfigs.put, { token, body: { stack_id: id, configs: [] } })).toMatchObject({ status: 404 })
    expect((await call(app, stacks.list, { token, query: {} })).total).toBe(0)
  })

  it('is deployed from a template, with the values that it asks for', async () => {
    const { id, name, version } = await call(app, templates.create, {
      token: owner.token,
      body: { name: `t-${randomUUID()}`, version: '1.0', compose: freshFile(), variables: [{ name: 'TAG', type: 'number' }] },
    })
    expect(await refuse({ template_id: id })).toMatchObject({ code: 95203, fields: [{ field: 'values.TAG' }] })
    expect(await refuse({ template_id: id, values: { TAG: 'x' } })).toMatchObject({ code: 95204, fields: [{ field: 'values.TAG' }] })
    const stack = await call(app, nodeStacks.create, {
      token: owner.token,
      body: { name: `s-${randomUUID()}`, template_id: id, values: { TAG: '7' }, edge_id: node.edge.id },
    })
    expect(stack).toMatchObject({ template: { id, name, version } })
    await is(stack.id, { status: 'running' })
    expect(named((await get(stack.id)).services, 'web').image).toBe('app:7')
  })
})

describe('a service', () => {
  const on = async (id: string, stack: string, body: BodyInput<typeof services.action>): Promise<Service> => {
    await call(app, services.action, { token: owner.token, params: { id }, body })
    const { services: own } = await settled(stack)
    const service = own.find((one) => one.id === id)
    if (service === undefined) throw new Error('the service is gone')
    return service
  }

  it('is scaled, stopped, started, restarted and removed', async () => {
    const { id, services: own, project } = await deployed()
    const web = named(own, 'web').id
    expect(await on(web, id, { action: 'scale', replicas: 3 })).toMatchObject({ replicas: 3, running_count: 3 })
    expect(compose.orders.at(-1)).toMatchObject({ scale: { web: 3, db: 1 } })
    expect(await on(web, id, { action: 'stop' })).toMatchObject({ replicas: 3, running_count: 0, status: 'stopped' })
    expect(await get(id)).toMatchObject({ status: 'degraded', running_count: 1 })
    expect(await on(web, id, { action: 'start' })).toMatchObject({ running_count: 3, status: 'running' })
    const started = () => onDocker(project).map(({ name, startedAt }) => [name, startedAt?.getTime()] as const)
    const before = new Map(started())
    await on(web, id, { action: 'restart' })
    for (const [name, at] of started()) expect(at === before.get(name)).toBe(name.includes('_db_'))

    await call(app, services.delete, { token: owner.token, params: { id: web } })
    await settled(id)
    expect(onDocker(project)).toHaveLength(1)
    // The update brings it back as its file says.
    expect(named((await act(id, { action: 'update' })).services, 'web')).toMatchObject({ replicas: 1, running_count: 1 })
    expect(await refused(app, services.action, { token: owner.token, params: { id: web }, body: { action: 'scale', replicas: 101 } })).toMatchObject({
      status: 400,
      fields: [{ field: 'replicas' }],
    })
  })

  it('has containers that are entered like any other, but changed only with their stack', async () => {
    const { id, services: own } = await deployed()
    const web = named(own, 'web')
    const { total, items } = await call(app, services.instances, { token: owner.token, params: { id: web.id } })
    expect(total).toBe(1)
    const [container] = items
    expect(container).toMatchObject({ status: 'running', image: 'app:1', deployment: null, service: { id: web.id, name: 'web' }, edge: { id: node.edge.id } })
    const params = { id: container?.id ?? '' }
    expect(await call(app, containers.get, { token: owner.token, params })).toMatchObject({ spec: null })
    expect((await call(app, containers.list, { token: owner.token, query: { keyword: params.id } })).total).toBe(1)
    expect((await call(app, containers.logs, { token: owner.token, params, query: {} })).items).toHaveLength(3)
    for (const body of [
      { action: 'rename', name: 'x' },
      { action: 'update', spec: { image: 'a:1' } },
    ] as const)
      expect(await refused(app, containers.action, { token: owner.token, params, body })).toMatchObject({ status: 409, code: 95116 })
    expect(await refused(app, containers.delete, { token: owner.token, params })).toMatchObject({ status: 409, code: 95116 })
    await call(app, containers.action, { token: owner.token, params, body: { action: 'stop' } })
    await is(id, { status: 'degraded' })
    expect((await call(app, services.instances, { token: owner.token, params: { id: web.id } })).items).toMatchObject([{ id: params.id, status: 'exited' }])
  })
})

describe('configs of a stack', () => {
  it('lie beside its file, and make those anew that have them when they change', async () => {
    const put = (content: string, id?: string) =>
      call(app, configs.put, { token: owner.token, body: { ...(id !== undefined && { id }), name: `cfg-${randomUUID()}`, content } })
    const config = await put('a=1\n')
    const files = [{ config_id: config.id, path: 'conf/app.conf' }]
    const { id, project } = await deployed({
      configs: files,
      compose: 'services:\n  web:\n    image: app:1\n    volumes: ["./conf/app.conf:/etc/app.conf:ro"]\n  db:\n    image: db:1\n',
    })
    expect(compose.orders.at(-1)).toMatchObject({ files: [{ path: 'conf/app.conf', content_base64: Buffer.from('a=1\n').toString('base64') }] })
    const list = () => call(app, stackConfigs.list, { token: owner.token, query: { stack_id: id } })
    expect(await list()).toMatchObject({
      total: 1,
      items: [{ stack: { id }, config: { id: config.id }, path: 'conf/app.conf', revision: 1, newest_revision: 1 }],
    })
    expect(await refused(app, configs.delete, { token: owner.token, params: { id: config.id } })).toMatchObject({ code: 95113 })

    const before = onDocker(project).map(({ id: dockerId }) => dockerId)
    await put('a=2\n', config.id)
    expect((await list()).items).toMatchObject([{ revision: 1, newest_revision: 2 }])
    await call(app, stackConfigs.put, { token: owner.token, body: { stack_id: id, configs: files } })
    expect(await settled(id)).toMatchObject({ status: 'running', revision: 2 })
    expect((await list()).items).toMatchObject([{ revision: 2 }])
    expect(
      onDocker(project)
        .filter(({ id: dockerId }) => before.includes(dockerId))
        .map(({ body }) => body.Image),
    ).toEqual(['db:1'])

    // The file still has it.
    expect(await refused(app, stackConfigs.put, { token: owner.token, body: { stack_id: id, configs: [] } })).toMatchObject({ code: 95202 })
    await act(id, { action: 'update', compose: 'services:\n  db:\n    image: db:1\n', configs: [] })
    expect((await list()).total).toBe(0)
    expect((await send(app, configs.delete, { token: owner.token, params: { id: config.id } })).status).toBe(204)
  })
})

describe('ports of a node', () => {
  const file = (...ports: string[]) => `services:\n  web:\n    image: app:1\n    ports: ${JSON.stringify(ports)}\n`
  it('are one stack’s on one address, and another’s on another', async () => {
    const one = await deployed({ compose: file('127.0.0.1:5353:53/udp') })
    expect(named(one.services, 'web').ports).toMatchObject([{ host_port: 5_353, address: '127.0.0.1' }])
    expect(await deployed({ compose: file('192.0.2.2:5353:53/udp') })).toMatchObject({ status: 'running' })
  })
})

describe('files of variables', () => {
  it('are configs, such as one called .env; a line that says nothing is told before anything is made', async () => {
    const put = (content: string) => call(app, configs.put, { token: owner.token, body: { name: `cfg-${randomUUID()}`, content } })
    const file = 'services:\n  web:\n    image: app:1\n    env_file: .env\n    environment: [GIVEN, HOME]\n'
    const config = await put('A=${GIVEN}!\n')
    await deployed({ compose: file, configs: [{ config_id: config.id, path: '.env' }], values: { GIVEN: 'x' } })
    const order = compose.orders.at(-1)
    expect(JSON.parse(order?.file ?? '{}')).toMatchObject({ services: { web: { environment: { A: 'x!', GIVEN: 'x' } } } })
    const broken = await put('A=1\nno assignment here\n')
    expect(await refuse({ compose: file, configs: [{ config_id: broken.id, path: '.env' }] })).toMatchObject({ code: 95210, fields: [{ field: 'configs' }] })
    expect(await refuse({ compose: file, configs: [{ config_id: broken.id, path: '.zhisuan-env' }] })).toMatchObject({ status: 400 })
  })
})

describe('a node that is away', () => {
  it('says so, and once it was sent away leaves nothing to wait for', async () => {
    const docker = fakeDocker()
    const gone = await someNode(app, owner.token, { answers: fakeCompose(docker).answers })
    await online(gone)
    const { id } = await deployed({ placement: { edge_ids: [gone.edge.id] } })
    await is(id, { status: 'running' })
    gone.stop()
    await is(id, { status: 'unknown', running_count: 0 })
    expect(await refused(app, stacks.action, { token: owner.token, params: { id }, body: { action: 'update' } })).toMatchObject({ status: 409, code: 95003 })
    expect(await refused(app, stacks.delete, { token: owner.token, params: { id } })).toMatchObject({ status: 409, code: 95003 })
    await call(app, edges.unbind, { token: owner.token, body: { ids: [gone.edge.id] } })
    await call(app, stacks.delete, { token: owner.token, params: { id } })
    expect((await send(app, nodeStacks.get, { token: owner.token, params: { id } })).status).toBe(404)
    expect((await send(app, edges.delete, { token: owner.token, params: { id: gone.edge.id } })).status).toBe(204)
  })
})
