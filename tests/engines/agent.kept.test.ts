import { fork, type ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { keptPaths, keptPreflight, keptState, type KeptAction, type KeptState, type KeptWanted } from '@zhisuan/contract/agent/kept'
import { createDocker } from '@zhisuan/engines/docker/engine'
import { socketTransport } from '@zhisuan/engines/docker/socket'
import { dockerIsThere, importBusybox } from '@zhisuan/engines/docker/testing'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { publicKeyOf, readKept } from '../../apps/agent/src/identity.ts'
import { allPids, markOf } from '../../apps/agent/src/kept/processes.ts'
import { digestOf } from '../../apps/agent/src/kept/store.ts'
import { newIdentity } from '../../apps/server/src/platform/tunnel/tunnels.ts'
import type { Tunnel } from '../../apps/server/src/platform/tunnel/tunnel.ts'
import { freshDatabase } from '../../apps/server/src/testing/database.ts'
import { startAgentServer, type AgentServer } from '../support/agent-server.ts'
import { startAgent, type RunningAgent } from '../support/agent.ts'
import { temporaryFolder, type TemporaryFolder } from '../support/folder.ts'
import type { ToKeptServer } from '../support/kept-server.ts'
import { freePort } from '../support/port.ts'
import { until } from '../support/server.ts'

/** A program that no distribution has: it answers with its own number. */
const program = `require('http').createServer((_, response) => response.end(String(process.pid))).listen(Number(process.argv[1]), '127.0.0.1')`
const wantedAt = (port: number): KeptWanted => ({
  name: 'answerer',
  program: { kind: 'path', name: process.execPath, version_arguments: ['--version'] },
  version: process.versions.node,
  arguments: ['-e', program, String(port)],
  ports: [{ port, address: '127.0.0.1' }],
  user: userInfo().username,
  data: {},
  health: { kind: 'http', port },
})
const answered = (port: number): Promise<string | null> =>
  fetch(`http://127.0.0.1:${port}/`).then(
    (answer) => answer.text(),
    () => null,
  )
/** What an agent has of what it keeps: files, and processes. */
const keptBy = (directory: string): string[] => [
  ...readdirSync(join(directory, 'kept/programs')),
  ...allPids().flatMap((pid) => (markOf(pid)?.startsWith(`${directory}/kept/`) === true ? [`process ${pid}`] : [])),
]

describe('what a real agent keeps', () => {
  let folder: TemporaryFolder
  let server: AgentServer
  let agent: RunningAgent
  const tunnel = (): Tunnel => server.tunnels.to(server.edgeId)
  const connected = () => until(async () => server.tunnels.connected(server.edgeId), `the agent to come\n${agent.said()}`)
  const state = (id: string): Promise<KeptState> => tunnel().json(keptState, { path: keptPaths.one(id) })
  const act = (id: string, action: KeptAction) => tunnel().json(keptState, { method: 'POST', path: keptPaths.action(id), body: action })
  const apply = async (id: string, wanted: KeptWanted): Promise<KeptState> => {
    const order = { wanted: JSON.stringify(wanted) }
    const digest = digestOf(order.wanted)
    expect(await tunnel().json(keptPreflight, { method: 'POST', path: keptPaths.preflight(id), body: order })).toMatchObject({ problems: [] })
    await tunnel().json(keptState, { method: 'PUT', path: keptPaths.one(id), body: order })
    await until(async () => {
      const { placing } = await state(id)
      if (placing?.state === 'failed') throw new Error(placing.error ?? '')
      return placing?.state === 'placed'
    }, 'it to be placed')
    await act(id, { action: 'apply', digest, healthy_within_ms: 30_000 })
    return until(async () => {
      const now = await state(id)
      return now.applied?.result !== 'trying' && now
    }, 'it to be decided')
  }
  const remove = async (id: string): Promise<void> => {
    await tunnel().json(keptState, { method: 'DELETE', path: `${keptPaths.one(id)}?data=true` })
    await until(
      async () =>
        state(id).then(
          () => false,
          () => true,
        ),
      'it to be gone',
    )
  }

  beforeAll(async () => {
    folder = temporaryFolder('agent-kept')
    server = await startAgentServer()
    agent = startAgent(['run', '--data', folder.path, '--server', server.url, '--token', server.token, '--key', server.tunnels.publicKey])
    await connected()
  })
  afterAll(async () => {
    await agent?.kill()
    await server?.stop()
    for (const pid of allPids()) if (markOf(pid)?.startsWith(`${folder.path}/`) === true) process.kill(pid, 'SIGKILL')
    folder?.remove()
  })

  it('goes on when the agent is killed, and is the same for the next one; with it goes all of it', async () => {
    const port = await freePort()
    expect(await apply('answerer', wantedAt(port))).toMatchObject({ applied: { result: 'kept' } })
    const before = await answered(port)
    expect(before).toBe(String((await state('answerer')).process.pid))
    await agent.kill()
    expect(await answered(port)).toBe(before)
    agent = startAgent(['run', '--data', folder.path])
    await until(async () => server.versions.length === 2 && server.tunnels.connected(server.edgeId), `the agent to come again\n${agent.said()}`)
    expect(await state('answerer')).toMatchObject({ process: { state: 'running', pid: Number(before), crashes: 0 } })
    await remove('answerer')
    expect([await answered(port), keptBy(folder.path)]).toEqual([null, []])
  })

  describe.skipIf(!dockerIsThere)('as a container', () => {
    const docker = createDocker(socketTransport())
    const run = randomUUID().slice(0, 8)
    const image = `zs-kept-${run}:1`
    const ours = async () =>
      (await docker.containers.list({ all: true, labels: ['zhisuan.kept'] })).filter(({ labels }) => labels['zhisuan.kept']?.startsWith(folder.path))
    const wanted = (port: number, wish: Partial<KeptWanted> = {}): KeptWanted => ({
      name: 'pages',
      program: { kind: 'image', image, network: 'bridge', pull: 'never', files_at: '/www' },
      arguments: ['sh', '-c', 'echo begun; echo row >> ${KEPT_DATA}/rows; exec httpd -f -p 80 -h ${KEPT_FILES}'],
      files: [{ path: 'index.html', text: 'of ${KEPT_FILES}' }],
      ports: [{ port, inside: 80, address: '127.0.0.1' }],
      data: {},
      health: { kind: 'http', port, path: '/index.html' },
      health_times: { every_ms: 300 },
      restart: { first_ms: 200 },
      stop: { signal: 'SIGTERM', timeout_ms: 500 },
      ...wish,
    })
    beforeAll(() => importBusybox(docker, image))
    afterAll(async () => {
      for (const { id } of await ours()) await docker.containers.remove(id, { force: true, volumes: true })
      await docker.images.remove(image, { force: true })
    })

    it('is started, started again, changed with a way back, stopped, and taken away', async () => {
      const port = await freePort()
      const page = () =>
        fetch(`http://127.0.0.1:${port}/index.html`).then(
          (answer) => answer.text(),
          () => null,
        )
      expect(await apply('pages', wanted(port))).toMatchObject({ applied: { result: 'kept', error: null }, process: { state: 'running' } })
      const [container] = await ours()
      expect([(await state('pages')).process.container_id, await page()]).toEqual([container?.id, 'of /www'])
      await docker.containers.kill(container?.id ?? '', { with: 'SIGKILL' })
      await until(async () => (await state('pages')).process.crashes === 1, 'it to be seen to have ended')
      await until(async () => (await state('pages')).health.state === 'healthy', 'it to be started again')
      expect((await state('pages')).process).toMatchObject({ exit_signal: 'SIGKILL', crashes: 1 })

      const back = await apply('pages', wanted(port, { arguments: ['sh', '-c', 'echo cannot begin >&2; exit 7'] }))
      expect(back.applied).toMatchObject({ result: 'went_back', error: expect.stringMatching(/7\ncannot begin/) as string })
      await until(async () => (await state('pages')).health.state === 'healthy', 'the one before to be back')
      expect([await page(), (await ours()).length]).toEqual(['of /www', 1])
      const { stream } = await tunnel().request({ path: `${keptPaths.log('pages')}?tail=10` })
      expect(await text(stream)).toContain('begun')
      const rows = readFileSync(join(folder.path, 'kept/programs/pages/data/rows'), 'utf8')
      expect(rows).toBe('row\n'.repeat(3))

      await act('pages', { action: 'stop' })
      await until(async () => (await state('pages')).process.state === 'stopped', 'it to stop')
      expect(await page()).toBeNull()
      await remove('pages')
      expect([await ours(), keptBy(folder.path)]).toEqual([[], []])
      // It lay there before: it is not the agent's to remove.
      expect(await docker.images.inspect(image)).toMatchObject({ tags: [image] })
    })

    it('is refused where its image is not there', async () => {
      const port = await freePort()
      await expect(apply('pages', wanted(port, { program: { kind: 'image', image: `zs-none-${run}:1`, pull: 'never' } }))).rejects.toThrow(/is not on the node/)
      await remove('pages')
    })
  })
})

describe('a server that is killed while a node is to keep something', () => {
  it('is followed by one that goes on, and there is one program, and then none', async () => {
    const [folder, data] = [temporaryFolder('kept-killed'), temporaryFolder('kept-server')]
    const database = await freshDatabase({ schema: false })
    const [identity, agentPort, port] = [newIdentity(), await freePort(), await freePort()]
    const [edgeId, token, id] = [randomUUID(), randomUUID(), randomUUID()]
    const sql = new pg.Client({ connectionString: database.url })
    const enrolling = await startAgentServer({ identity, port: agentPort, edgeId, token })
    const agent = startAgent(['run', '--data', folder.path, '--server', enrolling.url, '--token', token, '--key', enrolling.tunnels.publicKey])
    const faultFile = join(data.path, 'die-at')
    let running: ChildProcess | null = null
    /** @param point of an operation at which it kills itself when it gets there */
    const start = async (point?: string): Promise<ChildProcess> => {
      if (point !== undefined) writeFileSync(faultFile, point)
      const begun = fork(fileURLToPath(new URL('../support/kept-server.ts', import.meta.url)), {
        env: {
          ...process.env,
          ZHISUAN_ENV: 'test',
          DATA_DIR: data.path,
          DATABASE_URL: database.url,
          DATABASE_POOL_SIZE: '4',
          SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
          FAULT_FILE: faultFile,
          IDENTITY: identity,
          AGENT_PORT: String(agentPort),
          EDGE_ID: edgeId,
          TOKEN: token,
          KEY: publicKeyOf(readKept(folder.path)?.private_key ?? ''),
        },
      })
      running = begun
      // What it takes up may lead to that point before it is ready.
      await Promise.race([once(begun, 'message'), once(begun, 'exit')])
      return begun
    }
    const killed = async (one: ChildProcess): Promise<void> => {
      if (one.signalCode === null && one.exitCode === null) await once(one, 'exit')
      expect(one.signalCode).toBe('SIGKILL')
    }
    const tell = (one: ChildProcess, order: ToKeptServer): void => void one.send(order)
    const status = async (kind: string) => (await sql.query<{ status: string }>('select status from operations where kind = $1', [kind])).rows[0]?.status
    try {
      await until(async () => existsSync(join(folder.path, 'agent.json')) && enrolling.tunnels.connected(edgeId), `the agent\n${agent.said()}`)
      await enrolling.stop()
      const first = await start('test.kept.install:place:after')
      await sql.connect()
      tell(first, { what: 'install', id, wanted: wantedAt(port) })
      await killed(first)
      await killed(await start('test.kept.install:start:after'))
      const third = await start()
      await until(async () => (await status('test.kept.install')) === 'succeeded', 'the program to be installed')
      const pid = await answered(port)
      // The shell around it, and itself.
      expect(keptBy(folder.path)).toEqual([id, expect.stringMatching(/^process /), `process ${pid}`])

      writeFileSync(faultFile, 'test.kept.uninstall:uninstall:before')
      tell(third, { what: 'uninstall', id })
      await killed(third)
      await start()
      await until(async () => (await status('test.kept.uninstall')) === 'succeeded', 'the program to be taken away')
      expect([await answered(port), keptBy(folder.path), (await sql.query('select from kept_programs')).rowCount]).toEqual([null, [], 0])
    } finally {
      // Assigned within, which the compiler does not see.
      ;(running as ChildProcess | null)?.kill('SIGKILL')
      await agent.kill()
      await sql.end()
      await database.drop()
      for (const one of [folder, data]) one.remove()
    }
  })
})
