import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { preheats, thirdRegistries, type ThirdRegistry } from '@zhisuan/contract/ims/preheat'
import { grants } from '@zhisuan/contract/iam/grant'
import { registries } from '@zhisuan/contract/ims/registry'
import { edges, enrolments, type Edge } from '@zhisuan/contract/ecrm/edge'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused, send } from '../../../testing/call.ts'
import { someone, type Person, type SignedIn } from '../../../testing/people.ts'
import { deny, keeping } from '../../../testing/policies.ts'
import { newPrivateKey, publicKeyOf } from '../../../../../agent/src/identity.ts'
import { register, startAgent } from '../../ecrm/testing.ts'

/** A registry of somebody else, by Basic, that may ask to be asked less. */
async function thirdParty() {
  const state = { slow: false, asked: 0, open: false }
  const expected = `Basic ${Buffer.from('robot:right').toString('base64')}`
  const server: Server = createServer((request, response) => {
    state.asked++
    const end = (status: number, body: unknown, headers = {}) =>
      void response
        .writeHead(status, { 'content-type': 'application/json', 'docker-distribution-api-version': 'registry/2.0', ...headers })
        .end(JSON.stringify(body))
    if (state.slow) return end(429, { errors: [{ code: 'TOOMANYREQUESTS', message: 'slow down' }] }, { 'retry-after': '90' })
    if (request.headers.authorization !== expected && !state.open)
      return end(401, { errors: [{ code: 'UNAUTHORIZED', message: 'who' }] }, { 'www-authenticate': 'Basic realm="third"' })
    if (request.url?.startsWith('/v2/_catalog') === true) return end(200, { repositories: ['library/nginx', 'library/redis'] })
    if (request.url?.startsWith('/v2/library/nginx/tags') === true) return end(200, { name: 'library/nginx', tags: ['2', '1'] })
    return end(200, {})
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { state, url: `http://127.0.0.1:${port}`, address: `127.0.0.1:${port}`, stop: () => server.close() }
}

/** A node's Docker as far as pulls go: what it was told, and what it says. */
function someDocker() {
  const state = { auth: [] as unknown[], hold: null as Promise<void> | null, said: null as string | null, upToDate: false, open: 0, most: 0 }
  const answers: NonNullable<Parameters<typeof startAgent>[2]> = (request, response) => {
    const { url = '' } = request
    if (!url.startsWith('/docker/')) return false
    if (url.endsWith('/_ping')) response.writeHead(200, { 'api-version': '1.41' }).end('OK')
    else if (url.includes('/images/create')) {
      const { 'x-registry-auth': auth } = request.headers
      state.auth.push(auth === undefined ? null : JSON.parse(Buffer.from(String(auth), 'base64url').toString()))
      state.most = Math.max(state.most, ++state.open)
      response.writeHead(200)
      const line = (value: object) => response.write(`${JSON.stringify(value)}\r\n`)
      line({ status: 'Pulling from x', id: '1' })
      line({ status: 'Downloading', id: 'l1', progressDetail: { current: 10, total: 100 } })
      void (state.hold ?? Promise.resolve()).then(() => {
        state.open--
        if (state.said !== null) line({ errorDetail: { message: state.said }, error: state.said })
        else {
          line({ status: 'Download complete', id: 'l1', progressDetail: {} })
          line({ status: 'Pull complete', id: 'l1', progressDetail: {} })
          line({ status: state.upToDate ? 'Status: Image is up to date for x' : 'Status: Downloaded newer image for x' })
        }
        response.end()
      })
    } else if (url.includes('/json')) response.writeHead(200, { 'content-type': 'application/json' }).end('[]')
    else response.writeHead(404).end('{"message":"what"}')
    return true
  }
  return { state, answers }
}

describe('images that are brought to nodes', () => {
  let app: TestApp
  let owner: Person & SignedIn
  let stranger: Person & SignedIn
  let admin: Person & SignedIn
  let third: Awaited<ReturnType<typeof thirdParty>>
  let registry: ThirdRegistry
  let docker: ReturnType<typeof someDocker>
  let node: { stop: () => void }
  let edge: Edge
  /** The node comes, or comes back. */
  let dial: () => Promise<{ stop: () => void }>
  const privateKey = newPrivateKey()

  const account = { username: 'robot', password: 'right' }
  const online = (id: string, status: string) =>
    vi.waitFor(async () => expect((await call(app, edges.get, { token: owner.token, params: { id } })).status).toBe(status))
  const order = async (more: object = {}) =>
    call(app, preheats.createThird, {
      token: owner.token,
      params: { id: registry.id },
      body: { images: [{ repository: 'library/nginx', tag: '1' }], nodes: { node_ids: [edge.id] }, ...more },
    })
  const get = (id: string) => call(app, preheats.get, { token: owner.token, params: { id } })
  const becomes = (id: string, so: object) => vi.waitFor(async () => expect(await get(id)).toMatchObject(so), { interval: 20, timeout: 20_000 })

  beforeAll(async () => {
    app = await testApp({ IMAGE_FETCH_ALLOW: '127.0.0.1' })
    third = await thirdParty()
    owner = await someone(app)
    stranger = await someone(app)
    admin = await someone(app, { kind: 1 })
    registry = await call(app, thirdRegistries.create, { token: owner.token, body: { name: 'theirs', url: third.url, account } })
    docker = someDocker()
    const registered = await register(app, owner.token, { labels: [{ key: 'disk', value: 'ssd' }] })
    ;({ edge } = registered)
    const enrolled = await call(app, enrolments.enrol, { body: { token: registered.enrolment.token, public_key: publicKeyOf(privateKey), version: '0.1.0' } })
    dial = () => startAgent(app, { edgeId: edge.id, privateKey, serverKey: enrolled.server_public_key }, docker.answers)
    node = await dial()
    await online(edge.id, 'online')
  })
  afterAll(async () => {
    node.stop()
    await app.close()
    third.stop()
  })

  it('come from a registry that was tried before it was kept, and whose password nobody is told', async () => {
    expect(registry).toMatchObject({ address: third.address, username: 'robot', health: 'reachable', browsable: true, bp_id: owner.bp_id })
    expect(JSON.stringify(registry)).not.toContain('right')
    const create = (body: object) => refused(app, thirdRegistries.create, { token: owner.token, body: { name: 'other', url: third.url, ...body } as never })
    expect(await create({ account: { username: 'robot', password: 'wrong' } })).toMatchObject({ code: 97004, fields: [{ field: 'account' }] })
    expect(await create({ name: 'theirs', account })).toMatchObject({ code: 97025 })
    expect(await create({ url: 'http://127.0.0.1:1' })).toMatchObject({ code: 97003, fields: [{ field: 'url' }] })
  })

  it.each(['http://127.0.0.2', 'http://169.254.169.254', 'http://[::1]:5000'])('never from %s', async (url) => {
    expect(await refused(app, thirdRegistries.create, { token: owner.token, body: { name: 'inner', url } })).toMatchObject({
      code: 94165,
      fields: [{ field: 'url' }],
    })
  })

  it('are browsed where the registry lets, and a password goes nowhere but where it was given for', async () => {
    const { id } = registry
    const at = { token: owner.token, params: { id } }
    expect(await call(app, thirdRegistries.repositories, { ...at, query: { keyword: 'ngi' } })).toEqual({ items: ['library/nginx'], more: false })
    expect(await call(app, thirdRegistries.tags, { ...at, query: { repository: 'library/nginx' } })).toEqual({ items: ['1', '2'], more: false })
    expect(await refused(app, thirdRegistries.get, { token: stranger.token, params: { id } })).toMatchObject({ status: 404 })
    const other = await thirdParty()
    expect(await refused(app, thirdRegistries.update, { ...at, body: { name: 'theirs', url: other.url, account: { username: 'robot' } } })).toMatchObject({
      code: 97004,
    })
    other.stop()
    expect(await call(app, thirdRegistries.update, { ...at, body: { name: 'theirs', url: third.url, account: { username: 'robot' } } })).toMatchObject({
      health: 'reachable',
    })
  })

  it('with credentials of the pull only; progress by layer is told, what is there already is success', async () => {
    let go = (): void => undefined
    docker.state.hold = new Promise((resolve) => (go = resolve))
    const { id } = await order()
    await becomes(id, { status: 'running', targets: [{ state: 'pulling', image: `${third.address}/library/nginx:1` }] })
    go()
    docker.state.hold = null
    await becomes(id, { status: 'succeeded', done_count: 1, targets: [{ state: 'done', layers: [{ id: 'l1', done_bytes: 100, total_bytes: 100 }] }] })
    expect(docker.state.auth.at(-1)).toEqual({ username: 'robot', password: 'right', serveraddress: third.address })
    docker.state.upToDate = true
    await becomes((await order()).id, { status: 'succeeded', targets: [{ state: 'there' }] })
    docker.state.upToDate = false
    expect(await refused(app, preheats.get, { token: stranger.token, params: { id } })).toMatchObject({ status: 404 })
  })

  it('with the reason where it fails, and once more where that is wanted', async () => {
    docker.state.said = 'manifest unknown'
    const { id } = await order({ images: [{ repository: 'library/none', tag: '1' }] })
    await becomes(id, { status: 'failed', failed_count: 1, targets: [{ state: 'failed', error: '镜像仓库中没有该镜像，请检查名称和标签' }] })
    docker.state.said = null
    await call(app, preheats.retry, { token: owner.token, params: { id } })
    await becomes(id, { status: 'succeeded' })
    await call(app, preheats.delete, { token: owner.token, query: { ids: id } })
    expect(await refused(app, preheats.get, { token: owner.token, params: { id } })).toMatchObject({ status: 404 })
  })

  it('until they are cancelled', async () => {
    let go = (): void => undefined
    docker.state.hold = new Promise((resolve) => (go = resolve))
    const { id } = await order()
    await becomes(id, { targets: [{ state: 'pulling' }] })
    await call(app, preheats.delete, { token: owner.token, query: { ids: id, keep: 'true' } })
    docker.state.hold = null
    go()
    expect(await get(id)).toMatchObject({ status: 'cancelled', targets: [{ state: 'cancelled' }] })
  })

  it('when their node is back, where it is away', async () => {
    node.stop()
    await online(edge.id, 'offline')
    const { id } = await order()
    await becomes(id, { status: 'running', away_count: 1, targets: [{ state: 'away' }] })
    node = await dial()
    await online(edge.id, 'online')
    await becomes(id, { status: 'succeeded', away_count: 0, targets: [{ state: 'done' }] })
  })

  it('more slowly where a registry asks for that, and do not fail', async () => {
    docker.state.said = 'toomanyrequests: You have reached your pull rate limit'
    const { id } = await order()
    await becomes(id, { status: 'running', targets: [{ state: 'waiting', error: null }] })
    expect(await call(app, thirdRegistries.get, { token: owner.token, params: { id: registry.id } })).toMatchObject({
      health: 'slow',
      slowed_until: expect.any(String),
    })
    expect(await refused(app, thirdRegistries.repositories, { token: owner.token, params: { id: registry.id }, query: {} })).toMatchObject({ code: 97028 })
    docker.state.said = null
    app.clock.advance(120_000)
    await becomes(id, { status: 'succeeded' })
    third.state.slow = true
    const slow = await call(app, thirdRegistries.create, { token: owner.token, body: { name: 'slow', url: third.url } })
    expect(slow).toMatchObject({ health: 'slow', browsable: false })
    third.state.slow = false
  })

  it('to nodes that are named or fit by their labels, and to no others', async () => {
    const create = (nodes: object) =>
      refused(app, preheats.createThird, {
        token: owner.token,
        params: { id: registry.id },
        body: { images: [{ repository: 'library/nginx', tag: '1' }], nodes } as never,
      })
    expect(await create({})).toMatchObject({ fields: [{ field: 'nodes' }] })
    expect(await create({ labels: ['disk=none'] })).toMatchObject({ code: 97030 })
    expect(await create({ node_ids: [registry.id] })).toMatchObject({ code: 97031, fields: [{ field: 'nodes.node_ids' }] })
    expect(await order({ nodes: { labels: ['disk=ssd'] } })).toMatchObject({ node_count: 1 })
  })

  it('by the rights that whoever ordered them has when a node begins, and of whoever has them tried again', async () => {
    const theirs = await thirdParty()
    const connection = { engine: 'distribution' as const, url: theirs.url, account }
    const ours = await call(app, registries.create, { token: admin.token, body: { name: 'ours', connection } })
    const administrator = await someone(app, { kind: 4, roles: ['ADMIN'], organisation: owner.bp_id })
    const body = {
      images: [{ repository: 'team/app', tag: '1' }],
      nodes: { labels: ['disk=ssd'] },
      starts_at: new Date(app.clock.now().getTime() + 60_000).toISOString(),
    }
    const ordered = () => send(app, preheats.create, { token: administrator.token, params: { id: ours.id }, body })
    const { id } = await call(app, preheats.create, { token: administrator.token, params: { id: ours.id }, body })
    const node_ids = [edge.id]
    const now = await call(app, preheats.create, {
      token: administrator.token,
      params: { id: ours.id },
      body: { ...body, nodes: { node_ids }, starts_at: undefined },
    })
    const shown = (of: string) => call(app, preheats.get, { token: admin.token, params: { id: of } })
    await vi.waitFor(async () => expect(await shown(now.id)).toMatchObject({ status: 'succeeded' }), { timeout: 20_000 })
    const policy = await keeping(app).makePolicy(owner, [deny('ims.repository.pull')])
    const grant = await keeping(app).give(owner, policy, { user_id: administrator.id })
    app.clock.advance(61_000)
    await vi.waitFor(
      async () =>
        expect(await shown(id)).toMatchObject({
          status: 'failed',
          targets: [{ error: '下达该预热任务的用户已不能登录，或不再允许拉取该镜像；由有权限的用户重试即可' }],
        }),
      { timeout: 20_000 },
    )
    const denied = (action: string) => ({ code: 3000, refused: { action, outcome: 'explicitDeny' } })
    expect((await send(app, preheats.retry, { token: administrator.token, params: { id } })).body).toMatchObject(denied('ims.repository.pull'))
    await call(app, grants.delete, { token: owner.token, params: { id: grant.id } })
    // A node that labels chose is not said in the call.
    const notHere = await keeping(app).makePolicy(owner, [deny('ecrm.edge.pullImage', { Resource: `zrn:ecrm:*:edge/${edge.id}` })])
    await keeping(app).give(owner, notHere, { user_id: administrator.id })
    expect((await ordered()).body).toMatchObject(denied('ecrm.edge.pullImage'))
    expect((await send(app, preheats.retry, { token: administrator.token, params: { id } })).body).toMatchObject(denied('ecrm.edge.pullImage'))
    await call(app, preheats.retry, { token: admin.token, params: { id } })
    await vi.waitFor(async () => expect(await shown(id)).toMatchObject({ status: 'succeeded' }), { timeout: 20_000 })
    theirs.stop()
  })

  it('from no registry of the platform’s that is named as a third party’s, however it is written', async () => {
    const ours = await thirdParty()
    const { port } = new URL(ours.url)
    // It was a third party's before it was registered.
    const before = await call(app, thirdRegistries.create, { token: owner.token, body: { name: 'before', url: ours.url, account } })
    await call(app, registries.create, {
      token: admin.token,
      body: { name: 'became', connection: { engine: 'distribution', url: `http://localhost:${port}`, account } },
    })
    const own = { code: 97033, fields: [{ field: 'url' }] }
    for (const url of [`http://localhost:${port}`, `http://LocalHost.:${port}/`, ours.url, `http://0x7f.1:${port}`, `https://localhost:${port}`])
      expect(await refused(app, thirdRegistries.create, { token: owner.token, body: { name: 'alias', url, account } })).toMatchObject(own)
    expect(
      await refused(app, thirdRegistries.update, { token: owner.token, params: { id: registry.id }, body: { name: 'theirs', url: ours.url, account } }),
    ).toMatchObject(own)
    const body = { images: [{ repository: 'team/app', tag: '1' }], nodes: { node_ids: [edge.id] } }
    expect(await refused(app, preheats.createThird, { token: owner.token, params: { id: before.id }, body })).toMatchObject(own)
    ours.stop()
  })

  it('that is the platform’s and has a password to no node but the platform’s', async () => {
    const shared = await call(app, thirdRegistries.create, { token: admin.token, body: { name: 'shared', url: third.url, account } })
    const seen = await call(app, thirdRegistries.get, { token: owner.token, params: { id: shared.id } })
    expect(seen).toMatchObject({ bp_id: null, username: null })
    const body = { images: [{ repository: 'library/nginx', tag: '1' }], nodes: { node_ids: [edge.id] } }
    expect(await refused(app, preheats.createThird, { token: owner.token, params: { id: shared.id }, body })).toMatchObject({ code: 97026 })
    expect(await refused(app, thirdRegistries.delete, { token: owner.token, params: { id: shared.id } })).toMatchObject({ code: 97027 })
  })

  it('by no account of the platform’s on a node that is not, whoever ordered it and whatever was so then', async () => {
    const theirs = await thirdParty()
    theirs.state.open = true
    const body = { images: [{ repository: 'library/nginx', tag: '1' }], nodes: { node_ids: [edge.id] } }
    const registered = await call(app, registries.create, {
      token: admin.token,
      body: { name: 'with-account', connection: { engine: 'distribution', url: theirs.url, account } },
    })
    const pulls = docker.state.auth.length
    const ordered = await call(app, preheats.create, { token: admin.token, params: { id: registered.id }, body })
    await vi.waitFor(async () =>
      expect(await call(app, preheats.get, { token: admin.token, params: { id: ordered.id } })).toMatchObject({ status: 'succeeded' }),
    )
    expect(docker.state.auth.slice(pulls)).toEqual([null])
    const later = await thirdParty()
    later.state.open = true
    const { id } = await call(app, thirdRegistries.create, { token: admin.token, body: { name: 'account-later', url: later.url } })
    const starts_at = new Date(app.clock.now().getTime() + 60_000).toISOString()
    const waiting = await call(app, preheats.createThird, { token: owner.token, params: { id }, body: { ...body, starts_at } })
    await call(app, thirdRegistries.update, { token: admin.token, params: { id }, body: { name: 'account-now', url: later.url, account } })
    app.clock.advance(61_000)
    await becomes(waiting.id, { status: 'failed', targets: [{ error: '该仓库的凭据属于平台，只能用于平台自己的节点' }] })
    expect(docker.state.auth).toHaveLength(pulls + 1)
    for (const one of [theirs, later]) one.stop()
  })
})
