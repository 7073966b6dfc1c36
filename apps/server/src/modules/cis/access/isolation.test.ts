import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { nodeStacks, services, stacks, templates } from '@zhisuan/contract/aos/stack'
import { allCalls } from '@zhisuan/contract/calls'
import { configs, containers, deployments } from '@zhisuan/contract/cis/container'
import type { Call } from '@zhisuan/contract/define'
import { edgeImages, edges } from '@zhisuan/contract/ecrm/edge'
import { auth } from '@zhisuan/contract/ums/auth'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { WebSocket } from 'ws'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused, send, type AnyInput } from '../../../testing/call.ts'
import { signIn, someone, type Person, type SignedIn } from '../../../testing/people.ts'
import { fakeCompose } from '../../aos/testing.ts'
import { listening, someNode, type TestAgent } from '../../ecrm/testing.ts'
import { fakeDocker } from '../testing.ts'

let app: TestApp
let owner: Person & SignedIn
let stranger: Person & SignedIn
let node: TestAgent
let url: string
const docker = fakeDocker()
const compose = fakeCompose(docker)
/** Of the owner, by what calls name them. */
const own = { edge: '', container: '', deployment: '', config: '', template: '', stack: '', service: '', stackDeployment: '', pull: '' }

beforeAll(async () => {
  app = await testApp()
  owner = await someone(app)
  stranger = await someone(app)
  url = await listening(app)
  node = await someNode(app, owner.token, {
    answers: compose.answers,
    create: { labels: [{ key: 'secret-label', value: 'x' }], taints: [{ key: 'secret-taint', value: 'x', effect: 'PreferNoSchedule' }] },
  })
  own.edge = node.edge.id
  const { token } = owner
  await vi.waitFor(async () => expect((await call(app, edges.get, { token, params: { id: own.edge } })).status).toBe('online'))
  own.config = (await call(app, configs.put, { token, body: { name: 'cfg', content: 'geheim' } })).id
  const { items, deployment_id } = await call(app, containers.deploy, {
    token,
    body: { name: 'one', spec: { image: 'app:1', ports: [{ container_port: 1, host_port: 20_001 }] }, placement: { edge_ids: [own.edge] } },
  })
  own.deployment = deployment_id
  own.container = items[0]?.id ?? ''
  own.template = (await call(app, templates.create, { token, body: { name: 'tpl', version: '1', compose: 'services:\n  a:\n    image: app:1\n' } })).id
  const stack = await call(app, nodeStacks.create, { token, body: { name: 'stk', compose: 'services:\n  web:\n    image: app:1\n', edge_id: own.edge } })
  own.stack = stack.id
  own.stackDeployment = stack.deployment.id
  await vi.waitFor(async () => expect((await call(app, containers.get, { token, params: { id: own.container } })).status).toBe('running'))
  await vi.waitFor(async () => expect((await call(app, nodeStacks.get, { token, params: { id: own.stack } })).status).toBe('running'))
  own.service = (await call(app, services.list, { token, params: { id: own.stack } })).items[0]?.id ?? ''
  own.pull = (await call(app, edgeImages.pullImage, { token, params: { id: own.edge }, body: { image: 'app:9' } })).pull_id
})
afterAll(async () => {
  node.stop()
  await app.close()
})

const file = 'services:\n  a:\n    image: app:1\n'
const placement = () => ({ edge_ids: [own.edge] })
/** What a stranger asks with, of a call that names something of the owner. A call that is not here fails the sweep. */
const asked: Readonly<Record<string, () => AnyInput>> = {
  'ecrm.edge.get': () => ({ params: { id: own.edge } }),
  'ecrm.edge.update': () => ({ params: { id: own.edge }, body: { name: 'x' } }),
  'ecrm.edge.mark': () => ({ params: { id: own.edge }, body: { labels: [] } }),
  'ecrm.edge.delete': () => ({ params: { id: own.edge } }),
  'ecrm.edge.activate': () => ({ params: { id: own.edge }, query: { action: 'deactive' } }),
  'ecrm.edge.confirm': () => ({ params: { id: own.edge }, body: {} }),
  'ecrm.edge.unbind': () => ({ body: { ids: [own.edge] } }),
  'ecrm.edge.qrcode': () => ({ params: { id: own.edge } }),
  'ecrm.edge.metrics': () => ({ params: { id: own.edge } }),
  'ecrm.edge.upgrade': () => ({ params: { id: own.edge }, body: { version: '9.9.9' } }),
  'ecrm.edge.images': () => ({ params: { id: own.edge } }),
  'ecrm.edge.pullImage': () => ({ params: { id: own.edge }, body: { image: 'app:1' } }),
  'ecrm.edge.pull': () => ({ params: { id: own.edge, pull_id: own.pull } }),
  'ecrm.edge.removeImage': () => ({ params: { id: own.edge }, query: { image: 'app:1' } }),
  'ecrm.edge.prune': () => ({ params: { id: own.edge }, body: { preview: false, all: true } }),
  'cis.container.get': () => ({ params: { id: own.container } }),
  'cis.container.action': () => ({ params: { id: own.container }, body: { action: 'stop' } }),
  'cis.container.delete': () => ({ params: { id: own.container } }),
  'cis.container.operations': () => ({ params: { id: own.container } }),
  'cis.container.stats': () => ({ params: { id: own.container } }),
  'cis.container.logs': () => ({ params: { id: own.container } }),
  'cis.container.logLink': () => ({ params: { id: own.container }, body: { how: 'download' } }),
  'cis.container.terminal': () => ({ params: { id: own.container }, body: {} }),
  'cis.container.files': () => ({ params: { id: own.container }, query: { path: '/' } }),
  'cis.container.fileLink': () => ({ params: { id: own.container }, body: { how: 'upload', path: '/x' } }),
  'cis.container.deploy': () => ({ body: { name: 'x', spec: { image: 'app:1' }, placement: placement() } }),
  'cis.container.check': () => ({ body: { spec: {}, placement: placement() } }),
  'cis.deployment.instances': () => ({ params: { id: own.deployment } }),
  'cis.deployment.delete': () => ({ params: { id: own.deployment } }),
  'cis.config.put': () => ({ body: { id: own.config, name: 'cfg', content: '' } }),
  'cis.config.delete': () => ({ params: { id: own.config } }),
  'aos.template.get': () => ({ params: { id: own.template } }),
  'aos.template.update': () => ({ params: { id: own.template }, body: { compose: file } }),
  'aos.template.delete': () => ({ query: { id: own.template } }),
  'aos.template.versions': () => ({ params: { id: own.template } }),
  'aos.stack.create': () => ({ body: { name: 'x', compose: file, placement: placement() } }),
  'aos.stack.delete': () => ({ params: { id: own.stack } }),
  'aos.stack.action': () => ({ params: { id: own.stack }, body: { action: 'stop' } }),
  'aos.stack.operations': () => ({ params: { id: own.stack } }),
  'aos.stack.composeConfig': () => ({ params: { id: own.stack } }),
  'aos.service.list': () => ({ params: { id: own.stack } }),
  'aos.service.action': () => ({ params: { id: own.service }, body: { action: 'scale', replicas: 0 } }),
  'aos.service.delete': () => ({ params: { id: own.service } }),
  'aos.service.instances': () => ({ params: { id: own.service } }),
  'aos.deployment.stacks': () => ({ params: { id: own.stackDeployment } }),
  'aos.deployment.get': () => ({ params: { id: own.stackDeployment } }),
  'aos.deployment.delete': () => ({ params: { id: own.stackDeployment } }),
  'aos.stackConfig.put': () => ({ body: { stack_id: own.stack, configs: [] } }),
  'aos.nodeStack.create': () => ({ body: { name: 'x', compose: file, edge_id: own.edge } }),
  'aos.nodeStack.get': () => ({ params: { id: own.stack } }),
  'aos.nodeStack.delete': () => ({ params: { id: own.stack } }),
}
/** By the object that they name these say in their own words that there is none. */
const unknown: Readonly<Record<string, number>> = {
  'cis.container.deploy': 95004,
  'cis.container.check': 95004,
  'aos.stack.create': 95004,
  'aos.nodeStack.create': 95004,
}
/** They name nothing of anybody; below, that they tell nothing of others. */
const naming = new Set([
  'ecrm.edge.create',
  'ecrm.edge.versions',
  'ecrm.lookup.nations',
  'ecrm.lookup.divisions',
  'cis.container.list',
  'aos.template.create',
  'aos.stack.validate',
])
const lists = new Set([
  'ecrm.edge.list',
  'cis.container.list',
  'cis.deployment.list',
  'cis.config.list',
  'aos.template.list',
  'aos.stack.list',
  'aos.deployment.list',
  'aos.stackConfig.list',
])
/** Of the platform itself, which all see. */
const shared = new Set(['ecrm.region.list', 'ecrm.site.list'])
const telling: Readonly<Record<string, AnyInput>> = {
  'ecrm.lookup.labelInputs': { params: { x: 'secret' } },
  'ecrm.lookup.taintInputs': { params: { x: 'secret' } },
  'ecrm.lookup.uniqueness': { body: { kind: 'aos.stack', name: 'stk' } },
}

const family = allCalls.filter(({ id, access }) => /^(ecrm|cis|aos)\./.test(id) && access !== 'public')
const isForTenants = ({ access }: Call): boolean => Array.isArray(access) && access.includes('TENANT')

describe('somebody of another organisation', () => {
  it.each(family.filter(isForTenants))('is told nothing by $id', async (declared) => {
    const { id } = declared
    const { token } = stranger
    if (lists.has(id)) {
      expect((await send(app, declared, { token })).body).toMatchObject({ total: 0, items: [] })
      for (const query of [{ edge_id: own.edge }, { bp_id: owner.bp_id ?? '' }, { id: own.config }, { stack_id: own.stack }]) {
        const answer = await send(app, declared, { token, query })
        if (answer.status === 200) expect(answer.body).toMatchObject({ total: 0 })
      }
    } else if (id in telling) {
      expect((await send(app, declared, { token, ...telling[id] })).body).toEqual(id === 'ecrm.lookup.uniqueness' ? { unique: true } : { items: [] })
    } else if (!naming.has(id) && !shared.has(id)) {
      const input = asked[id]
      if (input === undefined) throw new Error(`${id}: what would a stranger ask here?`)
      expect(await refused(app, declared, { token, ...input() })).toMatchObject(
        id in unknown ? { status: 400, code: unknown[id] } : { status: 404, code: 90006 },
      )
    }
  })

  it.each(family.filter((declared) => !isForTenants(declared)))('may not ask $id', async (declared) => {
    const params = Object.fromEntries([...declared.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => [name, own.edge]))
    expect(await refused(app, declared, { token: stranger.token, params, body: {} })).toMatchObject({ status: 403 })
  })

  it('may not ask with the owner’s config, template, or in their name', async () => {
    const theirs = await someNode(app, stranger.token, { answers: fakeDocker().answers })
    await vi.waitFor(async () => expect((await call(app, edges.get, { token: stranger.token, params: { id: theirs.edge.id } })).status).toBe('online'))
    const token = stranger.token
    const placement = { edge_ids: [theirs.edge.id] }
    expect(
      await refused(app, containers.deploy, {
        token,
        body: { name: 'x', spec: { image: 'app:1', mounts: [{ type: 'config', config_id: own.config, path: '/x' }] }, placement },
      }),
    ).toMatchObject({ code: 95114 })
    expect(
      await refused(app, stacks.create, { token, body: { name: 'x', compose: file, configs: [{ config_id: own.config, path: 'a' }], placement } }),
    ).toMatchObject({ code: 95114 })
    expect(await refused(app, stacks.create, { token, body: { name: 'x', template_id: own.template, placement } })).toMatchObject({ code: 95206 })
    theirs.stop()
  })

  it('has changed nothing', async () => {
    const { token } = owner
    expect(await call(app, edges.get, { token, params: { id: own.edge } })).toMatchObject({
      status: 'online',
      activation: 'active',
      labels: [{ key: 'secret-label' }],
    })
    expect(await call(app, containers.get, { token, params: { id: own.container } })).toMatchObject({ status: 'running', name: 'one' })
    expect(await call(app, nodeStacks.get, { token, params: { id: own.stack } })).toMatchObject({ status: 'running', services: [{ replicas: 1 }] })
    expect((await call(app, configs.list, { token })).items).toMatchObject([{ id: own.config, content: 'geheim', revision: 1 }])
    expect((await call(app, templates.get, { token, params: { id: own.template } })).compose).toContain('app:1')
    expect((await call(app, deployments.list, { token })).total).toBe(1)
  })
})

/** What a browser comes by without a token; each is given, and then tried. */
describe('tickets and links', () => {
  const statusOf = async (path: string): Promise<number> => {
    const socket = new WebSocket(`${url.replace('http', 'ws')}${path}`)
    socket.on('error', () => undefined)
    const status = await Promise.race([
      once(socket, 'unexpected-response').then(([, answer]) => (answer as { statusCode: number }).statusCode),
      once(socket, 'open').then(() => 101),
    ])
    socket.terminate()
    return status
  }
  const of = (token: string) => ({ token, params: { id: own.container } })
  const ways = {
    terminal: { give: async (token: string) => (await call(app, containers.terminal, { ...of(token), body: {} })).path, come: statusOf },
    follow: { give: async (token: string) => (await call(app, containers.logLink, { ...of(token), body: { how: 'follow' } })).path, come: statusOf },
    log: {
      give: async (token: string) => (await call(app, containers.logLink, { ...of(token), body: { how: 'download' } })).path,
      come: async (path: string) => (await fetch(`${url}${path}`)).status,
    },
    file: {
      give: async (token: string) => (await call(app, containers.fileLink, { ...of(token), body: { how: 'download', path: '/' } })).path,
      come: async (path: string) => (await fetch(`${url}${path}`)).status,
    },
    upload: {
      give: async (token: string) => (await call(app, containers.fileLink, { ...of(token), body: { how: 'upload', path: '/x' } })).path,
      come: async (path: string) => (await fetch(`${url}${path}`, { method: 'PUT', body: 'x' })).status,
    },
  } as const
  const each = Object.entries(ways)
  /** A terminal that was not come by is held for a moment. */
  const given = (give: (token: string) => Promise<string>, token: string) => vi.waitFor(() => give(token))

  it.each(each)('%s: is good once', async (_name, { give, come }) => {
    const path = await given(give, owner.token)
    expect([101, 200, 204]).toContain(await come(path))
    expect([401, 404]).toContain(await come(path))
  })

  it.each(each)('%s: is good for nobody after its person has signed out', async (_name, { give, come }) => {
    const { token } = await signIn(app, owner)
    const path = await given(give, token)
    await send(app, auth.logout, { token })
    expect([401, 404]).toContain(await come(path))
  })

  it.each(each)('%s: is good for nobody after its person may not sign in any more', async (_name, { give, come }) => {
    const colleague = await someone(app, { kind: 4, organisation: owner.bp_id })
    const path = await given(give, colleague.token)
    await app.platform.db.updateTable('users').set({ status: 'disabled' }).where('id', '=', colleague.id).execute()
    expect([401, 404]).toContain(await come(path))
  })

  it.each(each)('%s: is good for nobody after its person belongs to another organisation', async (_name, { give, come }) => {
    const colleague = await someone(app, { kind: 4, organisation: owner.bp_id })
    const path = await given(give, colleague.token)
    await app.platform.db.updateTable('users').set({ bp_id: stranger.bp_id }).where('id', '=', colleague.id).execute()
    expect([401, 404]).toContain(await come(path))
  })

  it.each(each.filter(([name]) => name !== 'terminal'))('%s: is good for a minute', async (_name, { give, come }) => {
    owner = { ...owner, ...(await signIn(app, owner)) }
    const path = await given(give, owner.token)
    app.clock.advance(61_000)
    expect(await come(path)).toBe(404)
    owner = { ...owner, ...(await signIn(app, owner)) }
  })

  it.each(each)('%s: none that is made up, or of another kind, opens anything', async (name, { come }) => {
    const made = randomUUID().replaceAll('-', '')
    const paths = {
      terminal: `/api/cis/v1/docker/terminals/${randomUUID()}/socket?ticket=${made}`,
      follow: `/api/cis/v1/docker/logs/${made}`,
      log: `/api/downloads/${made}`,
      file: `/api/downloads/${made}`,
      upload: `/api/cis/v1/docker/uploads/${made}`,
    } as const
    expect([401, 404]).toContain(await come(paths[name as keyof typeof paths]))
  })

  it('of before its node was sent away lead nowhere', async () => {
    const paths = await Promise.all(each.map(async ([name, { give }]) => [name, await given(give, owner.token)] as const))
    await call(app, edges.unbind, { token: owner.token, body: { ids: [own.edge] } })
    for (const [name, path] of paths) expect([401, 404, 409], name).toContain(await ways[name as keyof typeof ways].come(path))
  })
})
