import { randomUUID } from 'node:crypto'
import { edgeImages, edges } from '@zhisuan/contract/ecrm/edge'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused } from '../../../testing/call.ts'
import { someone, type Person, type SignedIn } from '../../../testing/people.ts'
import { register, someNode, startAgent, type TestAgent } from '../testing.ts'

let app: TestApp
let owner: Person & SignedIn
let stranger: Person & SignedIn
const stops: (() => void)[] = []

beforeAll(async () => {
  app = await testApp()
  owner = await someone(app)
  stranger = await someone(app)
})
afterEach(() => {
  for (const stop of stops.splice(0)) stop()
})
afterAll(() => app.close())

interface Kept {
  Id: string
  RepoTags: string[]
  Size: number
}

/** What a node's Docker says, as far as images go. */
function someDocker() {
  const images: Kept[] = [
    { Id: 'sha256:aa', RepoTags: ['zs-web:1'], Size: 100 },
    { Id: 'sha256:bb', RepoTags: [], Size: 50 },
    { Id: 'sha256:cc', RepoTags: ['zs-old:1'], Size: 30 },
  ]
  const state = { down: false, pulls: 0, hold: null as Promise<void> | null }
  const remove = (gone: (image: Kept) => boolean): Kept[] => {
    const removed = images.filter(gone)
    for (const image of removed) images.splice(images.indexOf(image), 1)
    return removed
  }
  const answers: NonNullable<Parameters<typeof startAgent>[2]> = ({ method, url = '' }, response) => {
    if (!url.startsWith('/docker/')) return false
    const [path = '', query = ''] = url.replace(/^\/docker(\/v[\d.]+)?/, '').split('?')
    const end = (body: unknown, status = 200) => void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    if (state.down) end({ message: 'connect ENOENT /var/run/docker.sock' }, 502)
    else if (path === '/_ping') response.writeHead(200, { 'api-version': '1.41' }).end('OK')
    else if (path === '/images/json') end(images.map((image) => ({ ...image, RepoDigests: [], Created: 1_700_000_000, Labels: null })))
    else if (path === '/containers/json')
      end([
        {
          Id: 'c1',
          Names: ['/web'],
          Image: 'zs-web:1',
          ImageID: 'sha256:aa',
          Created: 1_700_000_000,
          State: 'running',
          Status: 'Up',
          Labels: {},
          Ports: [],
          Mounts: [],
        },
      ])
    else if (path === '/images/prune')
      end({
        ImagesDeleted: remove((image) => image.Id !== 'sha256:aa' && (query.includes('false') || image.RepoTags.length === 0)).map(({ Id }) => ({
          Deleted: Id,
        })),
        SpaceReclaimed: 42,
      })
    else if (method === 'DELETE' && path.startsWith('/images/')) {
      const name = decodeURIComponent(path.slice('/images/'.length))
      if (name === 'zs-web:1') end({ message: 'conflict: image is being used by running container c1' }, 409)
      else if (remove((image) => image.RepoTags.includes(name)).length === 0) end({ message: `No such image: ${name}` }, 404)
      else end([])
    } else if (path === '/images/create') {
      state.pulls++
      response.writeHead(200)
      const line = (value: object) => response.write(`${JSON.stringify(value)}\r\n`)
      line({ status: 'Pulling from library/new', id: '1' })
      line({ status: 'Downloading', id: 'l1', progressDetail: { current: 10, total: 100 } })
      void (state.hold ?? Promise.resolve()).then(() => {
        if (query.includes('missing')) line({ errorDetail: { message: 'manifest unknown' }, error: 'manifest unknown' })
        else {
          line({ status: 'Pull complete', id: 'l1', progressDetail: {} })
          line({ status: 'Status: Downloaded newer image' })
        }
        response.end()
      })
    } else end({ message: `what is ${path}` }, 404)
    return true
  }
  return { answers, state, images }
}

const withDocker = async (): Promise<TestAgent & ReturnType<typeof someDocker>> => {
  const docker = someDocker()
  const node = await someNode(app, owner.token, { answers: docker.answers })
  stops.push(node.stop)
  await vi.waitFor(async () => expect((await call(app, edges.get, { token: owner.token, params: { id: node.edge.id } })).status).toBe('online'))
  return { ...node, ...docker }
}
const ids = (items: readonly { id: string }[]): string[] => items.map(({ id }) => id)
const ended = (id: string, pull_id: string) =>
  vi.waitFor(
    async () => {
      const pull = await call(app, edgeImages.pull, { token: owner.token, params: { id, pull_id } })
      expect(pull.status).not.toBe('running')
      return pull
    },
    { interval: 20 },
  )

describe('images of a node', () => {
  it('are told with the containers that use them, removed, and pruned after a look', async () => {
    const { edge } = await withDocker()
    const [token, params] = [owner.token, { id: edge.id }]
    const list = async (keyword = '') => (await call(app, edgeImages.images, { token, params, query: { keyword } })).items
    expect(await list()).toMatchObject([{ id: 'sha256:aa', tags: ['zs-web:1'], size_bytes: 100, used_by: ['web'] }, { used_by: [] }, { used_by: [] }])
    expect(ids(await list('OLD'))).toEqual(['sha256:cc'])
    const prune = (preview: boolean, all: boolean) => call(app, edgeImages.prune, { token, params, body: { preview, all } })
    expect(await prune(true, false)).toMatchObject({ items: [{ id: 'sha256:bb' }], freed_bytes: 50 })
    expect(await prune(true, true)).toMatchObject({ items: [{ id: 'sha256:bb' }, { id: 'sha256:cc' }], freed_bytes: 80 })
    expect(await list()).toHaveLength(3)
    expect(await prune(false, false)).toMatchObject({ items: [{ id: 'sha256:bb' }], freed_bytes: 42 })
    await call(app, edgeImages.removeImage, { token, params, query: { image: 'zs-old:1' } })
    expect(ids(await list())).toEqual(['sha256:aa'])
    expect(await refused(app, edgeImages.removeImage, { token, params, query: { image: 'zs-old:1' } })).toMatchObject({ status: 404 })
    expect(await refused(app, edgeImages.removeImage, { token, params, query: { image: 'zs-web:1' } })).toMatchObject({
      status: 409,
      code: 95033,
      detail: expect.stringContaining('being used') as string,
    })
    expect(await refused(app, edgeImages.removeImage, { token, params, query: { image: '../x' } })).toMatchObject({ code: 90001 })
  })

  it('are pulled, with how far each layer is', async () => {
    const { edge, state } = await withDocker()
    let go: () => void = () => undefined
    state.hold = new Promise((resolve) => {
      go = resolve
    })
    const params = { id: edge.id }
    const { pull_id } = await call(app, edgeImages.pullImage, { token: owner.token, params, body: { image: 'library/new:1' } })
    await vi.waitFor(async () =>
      expect(await call(app, edgeImages.pull, { token: owner.token, params: { ...params, pull_id } })).toMatchObject({
        status: 'running',
        layers: [{ id: 'l1', status: 'Downloading', current_bytes: 10, total_bytes: 100 }],
      }),
    )
    expect(await refused(app, edgeImages.pull, { token: stranger.token, params: { ...params, pull_id } })).toMatchObject({ status: 404 })
    go()
    expect(await ended(edge.id, pull_id)).toMatchObject({
      image: 'library/new:1',
      status: 'succeeded',
      error: null,
      layers: [{ id: 'l1', status: 'Pull complete', current_bytes: 10, total_bytes: 100 }],
    })
    const failing = await call(app, edgeImages.pullImage, { token: owner.token, params, body: { image: 'missing' } })
    expect(await ended(edge.id, failing.pull_id)).toMatchObject({ status: 'failed', error: '镜像仓库中没有该镜像，请检查名称和标签' })
  })

  it('go on being pulled where the tunnel breaks', async () => {
    const { edge, enrolment, state, stop, privateKey, answers } = await withDocker()
    state.hold = new Promise(() => undefined)
    const { pull_id } = await call(app, edgeImages.pullImage, { token: owner.token, params: { id: edge.id }, body: { image: 'library/new:1' } })
    await vi.waitFor(() => expect(state.pulls).toBe(1))
    stop()
    state.hold = null
    const back = await startAgent(app, { edgeId: edge.id, privateKey, serverKey: new URL(enrolment.url).searchParams.get('key') ?? '' }, answers)
    stops.push(back.stop)
    expect(await ended(edge.id, pull_id)).toMatchObject({ status: 'succeeded' })
    expect(state.pulls).toBe(2)
  })

  it('are not to be had of a node that is offline, without Docker, or another organisation’s', async () => {
    const { edge } = await register(app, owner.token)
    const ask = (id: string, token = owner.token) => refused(app, edgeImages.images, { token, params: { id } })
    expect(await ask(edge.id)).toMatchObject({ status: 409, code: 95003, message: `节点“${edge.name}”离线，暂时不能操作` })
    expect(await refused(app, edgeImages.pullImage, { token: owner.token, params: { id: edge.id }, body: { image: 'a' } })).toMatchObject({ code: 95003 })
    const node = await withDocker()
    node.state.down = true
    expect(await ask(node.edge.id)).toMatchObject({ status: 409, code: 95022 })
    node.state.down = false
    const [token, params] = [stranger.token, { id: node.edge.id }]
    for (const answer of [
      await ask(node.edge.id, token),
      await ask(randomUUID()),
      await refused(app, edgeImages.pullImage, { token, params, body: { image: 'a' } }),
      await refused(app, edgeImages.removeImage, { token, params, query: { image: 'zs-old:1' } }),
      await refused(app, edgeImages.prune, { token, params, body: { preview: false, all: true } }),
    ]) {
      expect(answer).toMatchObject({ status: 404 })
    }
    expect(node.images).toHaveLength(3)
  })
})
