import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { nodeStacks, stacks, stackTransitional, type Stack } from '@zhisuan/contract/aos/stack'
import { containers, containerTransitional, type Container } from '@zhisuan/contract/cis/container'
import type { BodyInput } from '@zhisuan/contract/define'
import { edges, edgeUpgrades } from '@zhisuan/contract/ecrm/edge'
import { dockerIsThere, importBusybox } from '@zhisuan/engines/docker/testing'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { register } from '../browser/people.ts'
import { parametersOf, startAgent, type RunningAgent } from '../support/agent.ts'
import { startOwnDocker, type OwnDocker } from '../support/agent-docker.ts'
import { startProxy, type AgentProxy } from '../support/agent-proxy.ts'
import { temporaryFolder, type TemporaryFolder } from '../support/folder.ts'
import { asAdministrator, Client, startServer, until, type RunningServer } from '../support/server.ts'

type Spec = BodyInput<typeof containers.deploy>['spec']
const run = promisify(execFile)
const image = 'zs-faults:1'
const command = ['sh', '-c', `trap 'exit 0' TERM; sleep 1000 & wait`]
/** Longer than a node is waited for, twice: to do something, and to take it back. */
const tooLongMs = 240_000

/** A whole server, whole agents behind a cable that can be cut, and Docker Engines that can be stopped. */
describe.skipIf(!dockerIsThere)('what breaks between a server and its nodes', () => {
  let data: TemporaryFolder
  let server: RunningServer
  let proxy: AgentProxy
  let otherProxy: AgentProxy
  let owner: Client
  let engine: OwnDocker
  let full: OwnDocker
  let node: string
  let fullNode: string
  let count = 0
  const agents: RunningAgent[] = []

  const enrol = async (name: string, by: AgentProxy, start: (directory: string, parameters: string[]) => RunningAgent): Promise<string> => {
    const { edge, enrolment } = await owner.call(edges.create, { body: { name, confirm: 'auto' } })
    // By the cable, not by the address that the server knows of itself.
    const parameters = parametersOf(enrolment.command).map((text) => (text === server.url ? by.url : text))
    agents.push(start(join(data.path, `agent-${name}`), parameters))
    await nodeIs('online', edge.id)
    return edge.id
  }
  const nodeIs = (status: string, id = node) =>
    until(async () => (await owner.call(edges.get, { params: { id } })).status === status, `the node to be ${status}`, 40_000)

  beforeAll(async () => {
    data = temporaryFolder('faults')
    engine = await startOwnDocker(join(data.path, 'docker'))
    full = await startOwnDocker(join(data.path, 'full'), { diskBytes: 24 * 2 ** 20 })
    for (const { docker } of [engine, full]) await importBusybox(docker, image)
    server = await startServer(data.path, { LOCAL_CLOUD: 'none', TRUST_PROXY: '1' })
    proxy = await startProxy(server.url)
    otherProxy = await startProxy(server.url)
    await asAdministrator(server)
    const person = await register(server.url, 'faults-owner', '故障')
    owner = new Client(server.url)
    await owner.signIn(person.username, person.password)
    node = await enrol('node', proxy, (directory, parameters) => startAgent(['serve', '--data', directory, '--docker', engine.socket, ...parameters]))
    fullNode = await enrol('full', otherProxy, (directory, parameters) => startAgent(['serve', '--data', directory, '--docker', full.socket, ...parameters]))
  })
  beforeEach(async () => {
    await nodeIs('online')
    await nodeIs('online', fullNode)
  })
  afterEach(() => {
    for (const one of [proxy, otherProxy]) one?.mend()
  })
  afterAll(async () => {
    await Promise.all(agents.map((agent) => agent.kill()))
    await server?.stop()
    for (const one of [proxy, otherProxy]) await one?.close()
    await engine?.remove()
    await full?.remove()
    data?.remove()
  })

  const get = (id: string) => owner.call(containers.get, { params: { id } })
  const is = (id: string, what: (container: Container) => boolean, timeoutMs = 60_000) =>
    until(
      async () => {
        const container = await get(id)
        return what(container) && container
      },
      'the container to change',
      timeoutMs,
    )
  const settled = (id: string, timeoutMs?: number) => is(id, ({ status }) => !containerTransitional.includes(status), timeoutMs)
  /** What was asked for before refuses what comes next until it has ended. */
  const ended = (id: string) =>
    until(async () => (await owner.call(containers.operations, { params: { id } })).items[0]?.finished_at !== null, 'what was asked for to end')
  const stackOf = (id: string) => owner.call(nodeStacks.get, { params: { id } })
  const stackIs = (id: string, what: (stack: Stack) => boolean, timeoutMs = 90_000) =>
    until(
      async () => {
        const stack = await stackOf(id)
        return what(stack) && stack
      },
      'the stack to change',
      timeoutMs,
    )
  const stackSettled = (id: string, timeoutMs?: number) => stackIs(id, ({ status }) => !stackTransitional.includes(status), timeoutMs)

  const begin = async (spec: Partial<Spec> = {}, edge_id = node): Promise<string> => {
    const { items } = await owner.call(containers.deploy, {
      body: { name: `c-${++count}`, spec: { image, command, ...spec }, placement: { edge_ids: [edge_id] } },
    })
    return items[0]?.id ?? ''
  }
  const beginUpdate = (id: string, mark: string) =>
    owner.call(containers.action, { params: { id }, body: { action: 'update', spec: { image, command, env: [{ name: 'MARK', value: mark }] } } })
  const marked = (mark: string): Partial<Spec> => ({ env: [{ name: 'MARK', value: mark }] })
  const service = (mark: string): string =>
    `    image: ${image}\n    command: ${JSON.stringify(command)}\n    network_mode: none\n    environment: { MARK: "${mark}" }\n`
  const beginStack = async (compose: string, edge_id = node): Promise<Stack> =>
    owner.call(nodeStacks.create, { body: { name: `s-${++count}`, compose, edge_id } })
  const made = (id: string, { docker }: OwnDocker = engine) => docker.containers.list({ all: true, labels: [`zhisuan.container=${id}`] })
  const madeBy = ({ project }: Stack, { docker }: OwnDocker = engine) =>
    docker.containers.list({ all: true, labels: [`com.docker.compose.project=${project}`] })
  const remove = async (id: string): Promise<void> => {
    await until(
      async () =>
        owner.call(containers.delete, { params: { id } }).then(
          () => true,
          (error: unknown) => !/9001[01]/.test(String(error)) && Promise.reject(error),
        ),
      'the deletion to be taken',
    )
    await until(async () => (await owner.call(containers.list, { query: { keyword: id } })).total === 0, 'the container to be gone')
    expect([...(await made(id)), ...(await made(id, full))]).toEqual([])
  }
  const removeStack = async (stack: Stack): Promise<void> => {
    await owner.call(nodeStacks.delete, { params: { id: stack.id } })
    await until(async () => (await owner.call(stacks.list, { query: { keyword: stack.project } })).total === 0, 'the stack to be gone', 90_000)
    expect([...(await madeBy(stack)), ...(await madeBy(stack, full))]).toEqual([])
  }
  const refusal = (asked: Promise<unknown>): Promise<string> =>
    asked.then(
      () => 'not refused',
      (error: unknown) => String(error),
    )

  describe('a cable that is cut', () => {
    it.each(['before', 'after'] as const)('in the middle of a deployment, %s the node makes the container: it is made once', async (when) => {
      const mark = randomUUID()
      const hangs = proxy.hangAt(mark, when)
      const id = await begin(marked(mark))
      await hangs
      if (when === 'after') await until(async () => (await made(id)).length === 1, 'the node to have done it')
      proxy.cut()
      await nodeIs('offline')
      expect(await get(id)).toMatchObject({ status: 'creating', edge: { online: false } })
      proxy.mend()
      expect(await settled(id)).toMatchObject({ status: 'running', error: null })
      expect(await made(id)).toHaveLength(1)
      await remove(id)
    })

    it.each(['before', 'after'] as const)('in the middle of an update, %s the node makes the new one: there is one, and it is the new', async (when) => {
      const mark = randomUUID()
      const id = await begin(marked('old'))
      await settled(id)
      await ended(id)
      const hangs = proxy.hangAt(mark, when)
      await beginUpdate(id, mark)
      await hangs
      if (when === 'after') await until(async () => (await made(id)).length === 2, 'the node to have done it')
      proxy.cut()
      await nodeIs('offline')
      proxy.mend()
      expect(await settled(id)).toMatchObject({ status: 'running', error: null })
      const [one, ...others] = await made(id)
      expect(others).toEqual([])
      expect((await engine.docker.containers.inspect(one?.id ?? '')).env).toContain(`MARK=${mark}`)
      await remove(id)
    })

    it.each(['before', 'after'] as const)('in the middle of a stack, %s compose begins: it is deployed once', async (when) => {
      const mark = randomUUID()
      const hangs = proxy.hangAt(mark, when)
      const stack = await beginStack(`services:\n  web:\n${service(mark)}    deploy: { replicas: 2 }\n  db:\n${service('db')}`)
      await hangs
      if (when === 'after') await until(async () => (await madeBy(stack)).length === 3, 'compose to go on without its server')
      proxy.cut()
      await nodeIs('offline')
      expect(await stackOf(stack.id)).toMatchObject({ status: 'deploying', edge: { online: false } })
      proxy.mend()
      expect(await stackSettled(stack.id)).toMatchObject({ status: 'running', running_count: 2, error: null })
      expect(await madeBy(stack)).toHaveLength(3)
      await removeStack(stack)
    })

    it('in the middle of an upgrade: the node has the new version, or is asked again until it has', async () => {
      await run('node', ['scripts/build-agent.mjs', '--version', '9.3.1', '--out', join(data.path, 'agents', '9.3.1')])
      const upgraded = await enrol('upgraded', proxy, (directory, parameters) =>
        startAgent(['run', '--data', directory, '--docker', engine.socket, ...parameters]),
      )
      const hangs = proxy.hangAt('"9.3.1"', 'after')
      await owner.call(edgeUpgrades.upgrade, { params: { id: upgraded }, body: { version: '9.3.1' } })
      await hangs
      proxy.cut()
      await nodeIs('offline', upgraded)
      proxy.mend()
      const after = await until(
        async () => {
          const edge = await owner.call(edges.get, { params: { id: upgraded } })
          return edge.upgrade !== null && [20, 40].includes(edge.upgrade.status) && edge
        },
        'the upgrade to end',
        90_000,
      )
      expect(after).toMatchObject({ agent_version: '9.3.1', upgrade: { status: 40, error: null } })
    })

    it('in the middle of a log that is followed: that is told, and it goes on where it was', async () => {
      const id = await begin({ command: ['sh', '-c', 'i=0; while :; do echo line-$i; i=$((i+1)); sleep 0.1; done'] })
      await settled(id)
      const follow = async () => {
        const { path } = await owner.call(containers.logLink, { params: { id }, body: { how: 'follow' } })
        const socket = new WebSocket(`${server.url.replace('http', 'ws')}${path}?tail=10000`)
        const lines: string[] = []
        let ended = false
        socket.on('message', (text: Buffer) => {
          const message = JSON.parse(text.toString('utf8')) as { items?: { text: string }[]; ended?: boolean }
          lines.push(...(message.items ?? []).map((line) => line.text))
          if (message.ended === true) ended = true
        })
        return { socket, lines, ended: () => ended, closed: once(socket, 'close').then(([code]) => code as number) }
      }
      const first = await follow()
      await until(async () => first.lines.length > 5, 'lines')
      proxy.cut()
      // Not as if the container had ended.
      expect(await first.closed).toBe(1013)
      expect(first.ended()).toBe(false)
      await nodeIs('offline')
      expect(await refusal(owner.call(containers.logs, { params: { id }, query: {} }))).toContain('95003')
      proxy.mend()
      await nodeIs('online')
      const second = await follow()
      await until(async () => second.lines.length > first.lines.length, 'lines again')
      second.socket.close()
      expect(second.lines).toEqual(second.lines.map((_, index) => `line-${index}`))
      await remove(id)
    })

    it('hangs, so that nothing arrives: the node is given up, and goes on when it does', async () => {
      const mark = randomUUID()
      const hangs = proxy.hangAt(mark, 'after')
      const id = await begin(marked(mark))
      await hangs
      await nodeIs('offline')
      expect(await made(id)).toHaveLength(1)
      proxy.mend()
      expect(await settled(id)).toMatchObject({ status: 'running', error: null })
      expect(await made(id)).toHaveLength(1)
      await remove(id)
    })

    it(
      'for longer than anybody waits: what became of it is said to be unknown, and nothing of it is left when the node is back',
      async () => {
        const [mark, other] = [randomUUID(), randomUUID()]
        // On another node, so that both wait at once.
        const kept = await begin(marked('old'), fullNode)
        await settled(kept)
        await ended(kept)
        const [old] = await made(kept, full)
        const hang = [proxy.hangAt(mark, 'after'), otherProxy.hangAt(other, 'after')]
        const lost = await begin(marked(mark))
        await beginUpdate(kept, other)
        await Promise.all(hang)
        await until(async () => (await made(lost)).length === 1 && (await made(kept, full)).length === 2, 'the nodes to have done it')
        for (const one of [proxy, otherProxy]) one.cut()
        const failed = await is(lost, ({ status }) => status === 'error', tooLongMs)
        // It was sent, and nobody told what became of it.
        expect(failed.error).toContain('结果未知')
        expect((await owner.call(containers.operations, { params: { id: lost } })).items[0]).toMatchObject({
          kind: 'cis.container.create',
          status: 'unknown',
          error: failed.error,
        })
        expect(await settled(kept, tooLongMs)).toMatchObject({ status: 'unknown', error: failed.error })
        for (const one of [proxy, otherProxy]) one.mend()
        await nodeIs('online')
        await nodeIs('online', fullNode)
        await until(async () => (await made(lost)).length === 0 && (await made(kept, full)).length === 1, 'what was half made to go')
        expect(await get(lost)).toMatchObject({ status: 'error', container_id: null })
        expect((await made(kept, full)).map(({ id }) => id)).toEqual([old?.id])
        expect(await is(kept, ({ status }) => status === 'running')).toMatchObject({ container_id: old?.id, error: expect.any(String) as string })
        await remove(lost)
        await remove(kept)
      },
      tooLongMs * 2,
    )
  })

  describe('a Docker that stops', () => {
    it('in the middle of a deployment: what runs there is not known, and it goes on when Docker is back', async () => {
      const running = await begin()
      await settled(running)
      const mark = randomUUID()
      const hangs = proxy.hangAt(mark, 'before')
      const id = await begin(marked(mark))
      await hangs
      await engine.stop()
      proxy.mend()
      expect(await is(running, ({ status }) => status === 'unknown')).toMatchObject({ edge: { online: true } })
      expect(await refusal(owner.call(containers.action, { params: { id: running }, body: { action: 'stop' } }))).toContain('95022')
      expect(await refusal(begin())).toContain('95022')
      const edge = await until(async () => {
        const now = await owner.call(edges.get, { params: { id: node } })
        return now.facts?.docker === null && now
      }, 'the node to say so')
      expect(edge).toMatchObject({ status: 'online', docker_version: null, docker_trouble: 'missing' })
      expect(await get(id)).toMatchObject({ status: 'creating' })
      await engine.start()
      expect(await settled(id)).toMatchObject({ status: 'running', error: null })
      expect(await made(id)).toHaveLength(1)
      // Docker itself has started it again.
      await is(running, ({ status }) => status === 'running')
      await remove(id)
      await remove(running)
    })

    it('in the middle of a stack: it goes on when Docker is back', async () => {
      const names = ['a', 'b', 'c', 'd', 'e', 'f']
      const stack = await beginStack(
        `services:\n${names.map((name, index) => `  ${name}:\n${service(name)}${index === 0 ? '' : `    depends_on: [${names[index - 1] ?? ''}]\n`}`).join('')}`,
      )
      await until(async () => (await madeBy(stack).catch(() => [])).length > 0, 'its first container')
      await engine.stop()
      const whileAway = await stackOf(stack.id)
      await engine.start()
      expect(whileAway).toMatchObject({ status: 'deploying', error: null })
      expect(await stackSettled(stack.id)).toMatchObject({ status: 'running', running_count: 6, error: null })
      expect(await madeBy(stack)).toHaveLength(6)
      await engine.stop()
      await stackIs(stack.id, ({ status, running_count }) => status === 'unknown' && running_count === 0)
      await engine.start()
      // Compose did not ask for a restart: they have ended.
      await stackIs(stack.id, ({ status }) => status === 'stopped')
      await removeStack(stack)
    })
  })

  describe('a disk that is full', () => {
    const filler = () => join(full.root, 'filler')
    /** Leaves less than one more container needs. */
    const fill = (): void => {
      const { bavail, bsize } = statfsSync(full.root)
      writeFileSync(filler(), Buffer.alloc(Math.max(0, bavail * bsize - 2 ** 20)))
    }

    afterEach(() => rmSync(filler(), { force: true }))

    it('refuses what needs room, says so, and takes back what was begun', async () => {
      const there = await begin({}, fullNode)
      await settled(there)
      fill()
      const id = await begin({}, fullNode)
      const failed = await is(id, ({ status }) => status === 'error')
      expect(failed).toMatchObject({ container_id: null, error: '节点“full”的磁盘已满' })
      expect(await made(id, full)).toEqual([])
      expect((await owner.call(containers.operations, { params: { id } })).items[0]).toMatchObject({
        status: 'failed',
        error: failed.error,
        detail: expect.stringContaining('no space left on device') as string,
      })
      const stack = await beginStack(`services:\n  web:\n${service('web')}`, fullNode)
      expect(await stackSettled(stack.id)).toMatchObject({ status: 'error', error: '节点“full”的磁盘已满' })
      const { path } = await owner.call(containers.fileLink, { params: { id: there }, body: { how: 'upload', path: '/tmp/large' } })
      const upload = await fetch(`${server.url}${path}`, { method: 'PUT', body: Buffer.alloc(4 * 2 ** 20) })
      expect(await upload.json()).toMatchObject({ code: 95024 })
      // What runs goes on.
      expect(await get(there)).toMatchObject({ status: 'running' })

      rmSync(filler())
      await owner.call(containers.action, { params: { id }, body: { action: 'update', spec: { image, command } } })
      expect(await is(id, ({ status }) => status === 'running')).toMatchObject({ error: null })
      await owner.call(stacks.action, { params: { id: stack.id }, body: { action: 'update' } })
      expect(await stackSettled(stack.id)).toMatchObject({ status: 'running', error: null })
      await removeStack(stack)
      await remove(id)
      await remove(there)
    })

    it('leaves the old one where a new one has no room', async () => {
      const id = await begin(marked('old'), fullNode)
      await settled(id)
      await ended(id)
      const [old] = await made(id, full)
      fill()
      await beginUpdate(id, 'new')
      expect(await is(id, ({ status, error }) => status === 'running' && error !== null)).toMatchObject({
        error: '节点“full”的磁盘已满',
        container_id: old?.id,
      })
      expect((await made(id, full)).map((one) => one.id)).toEqual([old?.id])
      rmSync(filler())
      await remove(id)
    })
  })

  it('leaves nothing', async () => {
    for (const { docker } of [engine, full]) {
      expect(await docker.containers.list({ all: true })).toEqual([])
      expect(await docker.volumes.list()).toEqual([])
    }
  })
})
