import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { containers } from '@zhisuan/contract/cis/container'
import { edges } from '@zhisuan/contract/ecrm/edge'
import { auth } from '@zhisuan/contract/ums/auth'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { WebSocket } from 'ws'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused, send } from '../../../testing/call.ts'
import { signIn, someone, type Person, type SignedIn } from '../../../testing/people.ts'
import { listening, someNode, type TestAgent } from '../../ecrm/testing.ts'
import { fakeDocker } from '../testing.ts'

let app: TestApp
let owner: Person & SignedIn
let node: TestAgent
let url: string
let id: string
const docker = fakeDocker()
const sockets: WebSocket[] = []

beforeAll(async () => {
  app = await testApp()
  owner = await someone(app)
  url = (await listening(app)).replace('http', 'ws')
  node = await someNode(app, owner.token, { answers: docker.answers })
  await vi.waitFor(async () => expect((await call(app, edges.get, { token: owner.token, params: { id: node.edge.id } })).status).toBe('online'))
  const { items } = await call(app, containers.deploy, {
    token: owner.token,
    body: { name: `c-${randomUUID()}`, spec: { image: 'app:1' }, placement: { edge_ids: [node.edge.id] } },
  })
  id = items[0]?.id ?? ''
  await vi.waitFor(async () => expect((await call(app, containers.get, { token: owner.token, params: { id } })).status).toBe('running'))
})
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.terminate()
})
afterAll(async () => {
  node.stop()
  await app.close()
})

const open = (token = owner.token, body: object = {}) => call(app, containers.terminal, { token, params: { id }, body })
/** What came by a socket: text frames parsed, the rest as it was printed. */
async function dial(path: string) {
  const socket = new WebSocket(`${url}${path}`)
  sockets.push(socket)
  const seen = { frames: [] as unknown[], text: '' }
  socket.on('message', (data: Buffer, binary: boolean) => {
    if (binary) seen.text += data.toString('utf8')
    else seen.frames.push(JSON.parse(data.toString('utf8')))
  })
  const closed = once(socket, 'close').then(([code]) => code as number)
  await once(socket, 'open')
  return { socket, seen, closed }
}
const statusOf = async (path: string): Promise<number> => {
  const socket = new WebSocket(`${url}${path}`)
  const [, answer] = (await once(socket, 'unexpected-response')) as [unknown, { statusCode: number }]
  socket.on('error', () => undefined)
  socket.terminate()
  return answer.statusCode
}
/** The terminal before may be ending still. */
const opened = () => vi.waitFor(() => open())

describe('a terminal', () => {
  it('echoes, changes its size, and tells how its command ended', async () => {
    const { path } = await open(owner.token, { cols: 100, rows: 30 })
    expect(docker.sizes.at(-1)).toBe('h=30&w=100')
    const { socket, seen, closed } = await dial(path)
    await vi.waitFor(() => expect(seen).toEqual({ frames: [{ type: 'ready', replay_bytes: 2 }], text: '$ ' }))
    socket.send(Buffer.from('你好'), { binary: true })
    await vi.waitFor(() => expect(seen.text).toBe('$ 你好'))
    socket.send(JSON.stringify({ type: 'resize', columns: 81, rows: 25 }))
    await vi.waitFor(() => expect(docker.sizes.at(-1)).toBe('h=25&w=81'))
    socket.send(Buffer.from('exit\n'), { binary: true })
    expect(await closed).toBe(1000)
    expect(seen.frames.at(-1)).toEqual({ type: 'exit', exit_code: 3 })
  })

  it('is one at a time, also for others of the organisation, and free again when it is left', async () => {
    const colleague = await someone(app, { kind: 4, organisation: owner.bp_id })
    const { path } = await opened()
    for (const { token } of [owner, colleague])
      expect(await refused(app, containers.terminal, { token, params: { id }, body: {} })).toMatchObject({ status: 409, code: 94009 })
    const { socket } = await dial(path)
    expect(await refused(app, containers.terminal, { token: owner.token, params: { id }, body: {} })).toMatchObject({ status: 409, code: 94009 })
    socket.close()
    await opened().then(async (next) => (await dial(next.path)).socket.close())
  })

  it('is come back to within a minute after its connection broke, by who has it', async () => {
    const first = await opened()
    const before = await dial(first.path)
    before.socket.send(Buffer.from('eins'), { binary: true })
    await vi.waitFor(() => expect(before.seen.text).toBe('$ eins'))
    before.socket.terminate()
    const back = await open(owner.token, { terminal_id: first.terminal_id })
    expect(back.terminal_id).toBe(first.terminal_id)
    const { socket, seen } = await dial(back.path)
    await vi.waitFor(() => expect(seen).toEqual({ frames: [{ type: 'ready', replay_bytes: 6 }], text: '$ eins' }))
    socket.send(Buffer.from(' zwei'), { binary: true })
    await vi.waitFor(() => expect(seen.text).toBe('$ eins zwei'))
    const colleague = await someone(app, { kind: 4, organisation: owner.bp_id })
    const body = { terminal_id: first.terminal_id }
    expect(await refused(app, containers.terminal, { token: colleague.token, params: { id }, body })).toMatchObject({ status: 409, code: 94009 })
    // Another command takes the place of one's own.
    const other = await open(owner.token, { ...body, command: ['/bin/sh', '-l'] })
    expect(other.terminal_id).not.toBe(first.terminal_id)
    await dial(other.path)
  })

  it('is entered once, by its ticket', async () => {
    const { path } = await opened()
    expect(await statusOf(path.replace(/ticket=.*/, 'ticket=made-up'))).toBe(401)
    const { socket } = await dial(path)
    expect(await statusOf(path)).toBe(401)
    socket.close()
  })

  it('of a command that is not there is refused, and is closed by what it does not understand', async () => {
    await vi.waitFor(async () =>
      expect(await refused(app, containers.terminal, { token: owner.token, params: { id }, body: { command: ['/none'] } })).toMatchObject({
        status: 400,
        code: 95110,
        fields: [{ field: 'command' }],
      }),
    )
    const { path } = await opened()
    const { socket, closed } = await dial(path)
    socket.send('{')
    expect(await closed).toBe(1008)
  })

  it('ends with the session that opened it; so does following a log', async () => {
    const { token } = await signIn(app, owner)
    const { path } = await vi.waitFor(() => open(token))
    const { closed } = await dial(path)
    expect((await send(app, auth.logout, { token })).status).toBeLessThan(300)
    expect(await closed).toBe(1000)
  })
})

describe('a log', () => {
  const link = async (how: 'follow' | 'download') => (await call(app, containers.logLink, { token: owner.token, params: { id }, body: { how } })).path

  it('is followed by a link to its end', async () => {
    const { seen, closed } = await dial(await link('follow'))
    expect(await closed).toBe(1000)
    expect(seen.frames.at(-1)).toEqual({ ended: true })
    const items = seen.frames.flatMap((frame) => (frame as { items?: { text: string; stream: string }[] }).items ?? [])
    expect(items.map(({ stream, text }) => `${stream} ${text}`).toSorted()).toEqual(['stderr two', 'stdout three', 'stdout 一'])
  })

  it('is saved whole by another, and neither link opens the other', async () => {
    const [follow, download] = [await link('follow'), await link('download')]
    const answer = await fetch(`${url.replace('ws', 'http')}${download}`)
    expect(await answer.text()).toBe('2026-11-21T18:00:00.000000001Z 一\n2026-11-21T18:00:01.000000001Z two\n2026-11-21T18:00:02.000000001Z three\n')
    expect(answer.headers.get('content-disposition')).toContain('.log')
    expect(await statusOf(`${follow.slice(0, follow.lastIndexOf('/'))}/${download.split('/').at(-1)}`)).toBe(404)
    expect(await statusOf(`${follow.slice(0, -4)}AAAA`)).toBe(404)
  })
})
