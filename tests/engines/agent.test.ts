import { execFile, spawnSync } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { agentPaths, composeLine, gatewayState, nodeFacts, nodeMetrics, type ComposeProject } from '@zhisuan/contract/agent/node'
import { createDocker } from '@zhisuan/engines/docker/engine'
import { framesTaken } from '@zhisuan/engines/docker/frames'
import { socketTransport } from '@zhisuan/engines/docker/socket'
import { dockerIsThere, importBusybox, removeLabelled } from '@zhisuan/engines/docker/testing'
import type { Docker } from '@zhisuan/engines/docker/types'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { dockerOver } from '../../apps/server/src/platform/tunnel/docker.ts'
import type { Tunnel } from '../../apps/server/src/platform/tunnel/tunnel.ts'
import { startAgentServer, type AgentServer } from '../support/agent-server.ts'
import { startAgent, type RunningAgent } from '../support/agent.ts'
import { temporaryFolder, type TemporaryFolder } from '../support/folder.ts'
import { until } from '../support/server.ts'

const execute = promisify(execFile)

/** A real agent in its own process, and of the server what speaks with it. */
describe.skipIf(!dockerIsThere)('an agent', () => {
  const direct = createDocker(socketTransport())
  const run = randomUUID().slice(0, 8)
  const image = `zs-agent-${run}:1`
  const label = `zs-agent=${run}`
  const project = `zs-agent-${run}`
  let folder: TemporaryFolder
  let server: AgentServer
  let agent: RunningAgent
  let docker: Docker

  const tunnel = (): Tunnel => server.tunnels.to(server.edgeId)
  const connected = () => until(async () => server.tunnels.connected(server.edgeId), `the agent to come\n${agent.said()}`)
  const started = async (command: readonly string[]): Promise<string> => {
    const { id } = await docker.containers.create(`zs-agent-${run}-${randomUUID().slice(0, 4)}`, { image, command, labels: { 'zs-agent': run } })
    await docker.containers.start(id)
    return id
  }

  beforeAll(async () => {
    await importBusybox(direct, image)
    folder = temporaryFolder('agent')
    server = await startAgentServer()
    agent = startAgent(['run', '--data', folder.path, '--server', server.url, '--token', server.token, '--key', server.tunnels.publicKey])
    await connected()
    docker = createDocker(dockerOver(tunnel()))
  })
  afterEach(() => removeLabelled(direct, label))
  afterAll(async () => {
    for (const { id } of await direct.containers.list({ labels: [`com.docker.compose.project=${project}`] }))
      await direct.containers.remove(id, { force: true, volumes: true })
    // Where a test failed before it took its project down.
    spawnSync('docker', ['network', 'rm', `${project}_default`])
    await agent?.stop()
    await server?.stop()
    folder?.remove()
    await direct.images.remove(image, { force: true })
  })

  it('keeps its identity where nobody else can read it', () => {
    const file = join(folder.path, 'agent.json')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
      enrolled: { edge_id: server.edgeId, server: { url: server.url, public_key: server.tunnels.publicKey } },
    })
    expect(agent.said()).not.toContain(server.token)
  })

  it('says what its node is, and how it is', async () => {
    const facts = await tunnel().json(nodeFacts, { path: agentPaths.facts })
    const { version } = await direct.version()
    expect(facts).toMatchObject({ docker: { version }, docker_error: null, machine_id: readFileSync('/etc/machine-id', 'utf8').trim() })
    expect(facts.memory_bytes).toBe(Number(/MemTotal:\s+(\d+)/.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1]) * 1024)
    expect(facts.disks.length).toBeGreaterThan(0)
    expect(facts.cpu.threads).toBeGreaterThan(0)
    await tunnel().json(nodeMetrics, { path: agentPaths.metrics })
    const { cpu_share, disks } = await tunnel().json(nodeMetrics, { path: agentPaths.metrics })
    expect(cpu_share).toBeGreaterThanOrEqual(0)
    expect(disks[0]?.used_bytes).toBeGreaterThan(0)
  })

  it('leads to the same Docker', async () => {
    const id = await started(['sleep', '1000'])
    expect(await docker.containers.inspect(id)).toEqual(await direct.containers.inspect(id))
    expect((await docker.info()).name).toBe((await direct.info()).name)
    const file = { stdout: (await docker.execs.run(id, { command: ['sha256sum', '/bin/busybox'] })).stdout.toString('utf8') }
    const tar = await buffer(await docker.containers.get(id, '/bin/busybox'))
    expect(tar.subarray(512, 512 + statSync('/bin/busybox').size).equals(readFileSync('/bin/busybox'))).toBe(true)
    expect(file.stdout).toContain(createHash('sha256').update(readFileSync('/bin/busybox')).digest('hex'))
    await expect(docker.containers.stat(id, '/none')).rejects.toMatchObject({ kind: 'not_found' })
    await expect(docker.containers.inspect('zs-none')).rejects.toMatchObject({ kind: 'not_found', status: 404 })
  })

  it('joins terminals, and hangs up a shell that nobody has any more', async () => {
    const id = await started(['sleep', '1000'])
    const exec = await docker.execs.create(id, { command: ['sh'], tty: true, stdin: true })
    const stream = await docker.execs.attach(exec, { tty: true })
    let said = ''
    stream.on('data', (part: Buffer) => (said += part.toString('utf8')))
    await docker.execs.resize(exec, { columns: 99, rows: 33 })
    stream.write('stty size; echo "<$((40+2))>"\n')
    await until(async () => said.includes('<42>') && said.includes('33 99'), 'the shell to answer')
    stream.destroy()
    await until(async () => !(await direct.execs.inspect(exec)).running, 'the shell to end')
    await expect(docker.execs.attach('none', { tty: true })).rejects.toMatchObject({ kind: 'not_found' })
  })

  it('follows a log, until nobody reads it any more, and breaks off with the tunnel', async () => {
    const id = await started(['sh', '-c', 'n=0; while :; do echo line $n; n=$((n+1)); usleep 10000; done'])
    const leave = new AbortController()
    const left = await docker.containers.logs(id, { follow: true, signal: leave.signal })
    const [first] = (await once(left, 'data')) as [{ data: Buffer }]
    expect(first.data.toString('utf8')).toMatch(/^line 0\n/)
    leave.abort()
    const followed = await docker.containers.logs(id, { follow: true, tail: 0 })
    await once(followed, 'data')
    const broken = expect(followed.toArray()).rejects.toMatchObject({ kind: 'unreachable' })
    server.cut()
    await broken
    await connected()
    docker = createDocker(dockerOver(tunnel()))
    expect(await docker.containers.inspect(id)).toMatchObject({ state: 'running' })
  })

  it('gives all that is said, much as it is', async () => {
    const id = await started(['sleep', '1000'])
    const exec = await docker.execs.create(id, { command: ['sh', '-c', 'yes 0123456789abcdef | head -c 67108864'] })
    const stream = await docker.execs.attach(exec, { tty: false })
    const frames = stream.pipe(framesTaken())
    let size = 0
    for await (const { data } of frames as AsyncIterable<{ data: Buffer }>) size += data.length
    expect(size).toBe(67_108_864)
  })

  it('leads to ports of its node', async () => {
    const echo = createServer((socket) => socket.pipe(socket)).listen(0, '127.0.0.1')
    await once(echo, 'listening')
    const { port } = echo.address() as AddressInfo
    try {
      const { status, stream } = await tunnel().request({ method: 'POST', path: `${agentPaths.port}?port=${port}`, body: 'open' })
      expect(status).toBe(200)
      stream.write('ping')
      expect(String((await once(stream, 'data'))[0])).toBe('ping')
      stream.end()
      await once(stream, 'end')
    } finally {
      echo.close()
    }
    expect((await tunnel().request({ method: 'POST', path: `${agentPaths.port}?port=${port}`, body: 'open' })).status).toBe(502)
    for (const wrong of ['', '0', '70000', 'x'])
      expect((await tunnel().request({ method: 'POST', path: `${agentPaths.port}?port=${wrong}`, body: 'open' })).status).toBe(400)
  })

  it('leads another agent of its site to the server', async () => {
    const spare = createServer().listen(0)
    await once(spare, 'listening')
    const { port } = spare.address() as AddressInfo
    spare.close()
    await once(spare, 'close')
    const order = (to: number | null) => tunnel().json(gatewayState, { method: 'PUT', path: agentPaths.gateway, body: { port: to } })
    expect(await order(port)).toEqual({ port, connections: 0 })
    const { edgeId, token } = server.addEdge()
    const other = startAgent(['serve', '--data', join(folder.path, 'other'), '--server', server.url, '--token', token, '--via', `127.0.0.1:${port}`])
    try {
      await until(async () => server.tunnels.connected(edgeId), 'the other agent to come')
      expect(await server.tunnels.to(edgeId).json(nodeFacts, { path: agentPaths.facts })).toMatchObject({ docker_error: null })
      expect(await tunnel().json(gatewayState, { path: agentPaths.gateway })).toEqual({ port, connections: 1 })
      await order(null)
      await until(async () => !server.tunnels.connected(edgeId), 'the other agent to be cut off')
    } finally {
      await other.stop()
    }
  })

  it('refuses what it does not know, and what it may not do', async () => {
    await expect(tunnel().json(z.unknown(), { method: 'POST', path: agentPaths.reboot, body: {} })).rejects.toMatchObject({ kind: 'refused', status: 403 })
    await expect(tunnel().json(z.unknown(), { path: '/v1/none' })).rejects.toMatchObject({ status: 404 })
    await expect(tunnel().json(z.unknown(), { method: 'PUT', path: agentPaths.compose, body: { project: '../x', action: 'up' } })).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('project') as string,
    })
    await expect(
      tunnel().json(z.unknown(), {
        method: 'PUT',
        path: agentPaths.compose,
        body: { project, action: 'up', file: 'x', files: [{ path: 'a/../../b', content_base64: '' }] },
      }),
    ).rejects.toMatchObject({ status: 400 })
    await expect(
      tunnel().json(z.unknown(), { method: 'POST', path: agentPaths.upgrade, body: { version: '9.9.9', sha256: '0'.repeat(64), path: 'http://127.0.0.2/x' } }),
    ).rejects.toMatchObject({ status: 400 })
    await expect(
      tunnel().json(z.unknown(), { method: 'POST', path: agentPaths.upgrade, body: { version: '9.9.9', sha256: '0'.repeat(64), path: '/none' } }),
    ).rejects.toMatchObject({ status: 422 })
  })

  describe('with compose', () => {
    const order = async (wish: Omit<ComposeProject, 'project'>) => {
      const { status, stream } = await tunnel().request({
        method: 'PUT',
        path: agentPaths.compose,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ project, ...wish }),
        timeoutMs: 60_000,
      })
      const text = (await buffer(stream)).toString('utf8')
      if (status !== 200) throw new Error(`${status} ${text}`)
      const lines = text
        .trim()
        .split('\n')
        .map((line) => composeLine.parse(JSON.parse(line)))
      return { lines, end: lines.at(-1) }
    }
    const file = (command: string) =>
      `version: '3.7'\nservices:\n  web:\n    image: ${image}\n    command: ${command}\n    stop_signal: SIGKILL\n    volumes: ['./conf:/conf:ro']\n`
    const conf = (content: string) => [{ path: 'conf/a.txt', content_base64: Buffer.from(content).toString('base64') }]
    const ours = () => direct.containers.list({ labels: [`com.docker.compose.project=${project}`] })

    it('brings a project up, changes it, scales it and takes it down', async () => {
      expect(await order({ action: 'up', file: file('sleep 1000'), files: conf('你好') })).toMatchObject({ end: { ended: 'succeeded', error: null } })
      const [one] = await ours()
      const { stdout } = await direct.execs.run(one?.id ?? '', { command: ['cat', '/conf/a.txt'] })
      expect(stdout.toString('utf8')).toBe('你好')
      // The same again changes nothing.
      expect(await order({ action: 'up', file: file('sleep 1000'), files: conf('你好') })).toMatchObject({ end: { ended: 'succeeded' } })
      expect((await ours()).map(({ id }) => id)).toEqual([one?.id])
      expect(await order({ action: 'up', scale: { web: 3 } })).toMatchObject({ end: { ended: 'succeeded' } })
      expect(await ours()).toHaveLength(3)
      expect(await order({ action: 'up', file: 'services: [' })).toMatchObject({ end: { ended: 'failed', error: expect.any(String) as string } })
      expect(await order({ action: 'down' })).toMatchObject({ end: { ended: 'succeeded' } })
      expect(await ours()).toEqual([])
      expect(existsSync(join(folder.path, 'stacks', project))).toBe(false)
      expect(await order({ action: 'down' })).toMatchObject({ end: { ended: 'succeeded' } })
      expect(await order({ action: 'up' })).toMatchObject({ end: { ended: 'failed' } })
    })

    it('carries through what was asked, though the tunnel breaks', async () => {
      const asked = order({ action: 'up', file: file('sleep 1001'), files: conf('x') }).catch(() => 'broken')
      await until(async () => existsSync(join(folder.path, 'stacks', project, 'docker-compose.yml')), 'the project to be written')
      server.cut()
      expect(await asked).toBe('broken')
      await until(async () => (await ours()).some(({ state }) => state === 'running'), 'the project to run')
      await connected()
      expect(await order({ action: 'up', file: file('sleep 1001'), files: conf('x') })).toMatchObject({ end: { ended: 'succeeded' } })
      expect(await ours()).toHaveLength(1)
      expect(await order({ action: 'down' })).toMatchObject({ end: { ended: 'succeeded' } })
    })
  })

  describe('with another version of itself', () => {
    const order = (version: string, bundle: Buffer, path = `/agent/${version}/agent.mjs`) => {
      server.files.set(path, bundle)
      return tunnel().json(z.unknown(), {
        method: 'POST',
        path: agentPaths.upgrade,
        body: { version, sha256: createHash('sha256').update(bundle).digest('hex'), path },
      })
    }
    const comes = (version: string) =>
      until(async () => server.tunnels.connected(server.edgeId) && tunnel().version === version, `version ${version}\n${agent.said()}`, 60_000)
    // The tunnels' server is in this process: an agent that hears nothing of it for long gives it up.
    const built = async (version: string): Promise<Buffer> => {
      const out = join(folder.path, 'built', version)
      await execute(fileURLToPath(new URL('../../scripts/build-agent', import.meta.url)), ['--version', version, '--out', out])
      return readFileSync(join(out, 'agent.mjs'))
    }

    it('goes on as that, and back from one that is broken', async () => {
      const bundle = await built('9.1.0')
      await expect(
        tunnel().json(z.unknown(), { method: 'POST', path: agentPaths.upgrade, body: { version: '9.1.0', sha256: '0'.repeat(64), path: '/none' } }),
      ).rejects.toMatchObject({ status: 422 })
      await order('9.1.0', bundle)
      await comes('9.1.0')
      expect(await tunnel().json(nodeFacts, { path: agentPaths.facts })).toMatchObject({ agent_version: '9.1.0' })
      // Told once more, it has nothing to do.
      await order('9.1.0', bundle)
      const seen = server.versions.length
      await order('9.2.0', Buffer.from('process.exit(1)'))
      await until(async () => server.versions.length > seen, 'it to come back')
      await comes('9.1.0')
      await expect(
        tunnel().json(z.unknown(), {
          method: 'POST',
          path: agentPaths.upgrade,
          body: { version: '9.3.0', sha256: '0'.repeat(64), path: '/agent/9.1.0/agent.mjs' },
        }),
      ).rejects.toMatchObject({ status: 422, message: expect.stringContaining('SHA-256') as string })
      docker = createDocker(dockerOver(tunnel()))
    })
  })

  it('stops cleanly, and comes back as the same', async () => {
    await agent.stop()
    expect(await agent.ended).toBe(0)
    await until(async () => !server.tunnels.connected(server.edgeId), 'the agent to be gone')
    agent = startAgent(['run', '--data', folder.path])
    await connected()
  })
})

describe('an agent that is not let in', () => {
  it('says why', async () => {
    const folder = temporaryFolder('agent-refused')
    const server = await startAgentServer()
    try {
      const wrong = startAgent(['enrol', '--data', folder.path, '--server', server.url, '--token', 'wrong'])
      expect([await wrong.ended, wrong.said()]).toEqual([1, expect.stringContaining('403')])
      const other = startAgent(['enrol', '--data', folder.path, '--server', server.url, '--token', server.token, '--key', 'A'.repeat(59)])
      expect([await other.ended, other.said()]).toEqual([1, expect.stringContaining('not the server with that key')])
      const early = startAgent(['run', '--data', folder.path])
      expect(await early.ended).toBe(2)
      const right = startAgent(['enrol', '--data', folder.path, '--server', server.url, '--token', server.token, '--key', server.tunnels.publicKey])
      expect([await right.ended, right.said()]).toEqual([0, expect.stringContaining(server.edgeId)])
    } finally {
      await server.stop()
      folder.remove()
    }
  })
})
