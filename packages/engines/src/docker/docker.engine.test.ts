import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { buffer } from 'node:stream/consumers'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { createDocker } from './engine.ts'
import { socketTransport } from './socket.ts'
import { dockerIsThere, importBusybox, removeLabelled } from './testing.ts'
import type { ContainerSpec, DockerEvent, OutputStream, PullProgress } from './types.ts'

const docker = createDocker(socketTransport())
const run = randomUUID().slice(0, 8)
const image = `zs-engine-${run}:1`
const label = `zs-engine=${run}`
const labels = { 'zs-engine': run }
let count = 0

const make = async (spec: Partial<ContainerSpec> = {}): Promise<{ id: string; name: string }> => {
  count += 1
  const name = `zs-engine-${run}-${count}`
  const { id } = await docker.containers.create(name, { image, command: ['sleep', '1000'], labels, ...spec })
  return { id, name }
}
const started = async (spec: Partial<ContainerSpec> = {}) => {
  const made = await make(spec)
  await docker.containers.start(made.id)
  return made
}
const text = async (stream: OutputStream, from?: 'stdout' | 'stderr'): Promise<string> => {
  const parts: Buffer[] = []
  for await (const one of stream) if (from === undefined || one.from === from) parts.push(one.data)
  return Buffer.concat(parts).toString('utf8')
}

describe.skipIf(!dockerIsThere)('Docker Engine', () => {
  beforeAll(() => importBusybox(docker, image))
  afterEach(() => removeLabelled(docker, label))
  afterAll(async () => {
    const ours = (await docker.images.list()).filter(({ tags }) => tags.some((tag) => tag.startsWith(`zs-engine-${run}`)))
    for (const { id } of ours) await docker.images.remove(id, { force: true })
  })

  it('says what it is', async () => {
    await docker.ping()
    const { version, apiVersion } = await docker.version()
    expect(await docker.info()).toMatchObject({ version, root: expect.stringContaining('/') as string, runtimes: expect.arrayContaining(['runc']) as string[] })
    expect(apiVersion).toMatch(/^1\.\d+$/)
    expect((await docker.diskUsage()).images.some(({ tags }) => tags.includes(image))).toBe(true)
  })

  it('makes, starts, stops, renames and removes', async () => {
    const { id, name } = await make({
      env: { GREETING: '你好' },
      workingDir: '/tmp',
      restart: 'unless-stopped',
      cpuLimit: 0.5,
      memoryLimitBytes: 64 * 2 ** 20,
      ports: [{ containerPort: 80, hostPort: 0, protocol: 'tcp', address: '127.0.0.1' }],
    })
    expect(await docker.containers.inspect(id)).toMatchObject({
      name,
      image,
      state: 'created',
      startedAt: null,
      restart: 'unless-stopped',
      cpuLimit: 0.5,
      memoryLimitBytes: 64 * 2 ** 20,
      env: expect.arrayContaining(['GREETING=你好']) as string[],
      labels,
    })
    await docker.containers.start(id)
    // What is so already is no error.
    await docker.containers.start(id)
    const running = await docker.containers.inspect(id)
    expect(running).toMatchObject({ state: 'running', ports: [{ containerPort: 80, address: '127.0.0.1', hostPort: expect.any(Number) as number }] })
    expect(await docker.containers.list({ labels: [label] })).toMatchObject([{ id, name, state: 'running', ports: [{ containerPort: 80 }] }])
    await docker.containers.rename(id, `${name}-renamed`)
    await docker.containers.pause(id)
    expect((await docker.containers.inspect(id)).state).toBe('paused')
    await docker.containers.unpause(id)
    await docker.containers.update(id, { cpuLimit: 1, memoryLimitBytes: 128 * 2 ** 20 })
    expect(await docker.containers.inspect(id)).toMatchObject({ name: `${name}-renamed`, cpuLimit: 1, memoryLimitBytes: 128 * 2 ** 20 })
    await docker.containers.stop(id, { graceSeconds: 0 })
    expect(await docker.containers.inspect(id)).toMatchObject({ state: 'exited', exitCode: 137 })
    await docker.containers.restart(id, { graceSeconds: 0 })
    await docker.containers.kill(id)
    expect(await docker.containers.wait(id)).toEqual({ exitCode: 137 })
    await docker.containers.remove(id)
    await docker.containers.remove(id)
    await expect(docker.containers.inspect(id)).rejects.toMatchObject({ kind: 'not_found' })
  })

  it('tells what it cannot do by kinds', async () => {
    const { name } = await make()
    await expect(docker.containers.create(name, { image })).rejects.toMatchObject({ kind: 'conflict', status: 409 })
    await expect(docker.containers.create(`${name}-x`, { image: 'zs-none:1' })).rejects.toMatchObject({ kind: 'not_found' })
    await expect(docker.containers.create('/bad name', { image })).rejects.toMatchObject({ kind: 'invalid' })
    const first = await started({ ports: [{ containerPort: 80, hostPort: 0, protocol: 'tcp' }] })
    const [port] = (await docker.containers.inspect(first.id)).ports
    const second = await make({ ports: [{ containerPort: 80, hostPort: port?.hostPort ?? 0, protocol: 'tcp' }] })
    await expect(docker.containers.start(second.id)).rejects.toMatchObject({ kind: 'conflict' })
    await expect(createDocker(socketTransport('/nowhere.sock')).ping()).rejects.toMatchObject({ kind: 'unreachable' })
    await expect(docker.ping({ signal: AbortSignal.abort() })).rejects.toMatchObject({ kind: 'cancelled' })
  })

  it('gives logs whole, by kind, from the end, and as they come', async () => {
    const { id } = await started({ command: ['sh', '-c', 'for n in 1 2 3; do echo out $n; echo err $n >&2; done; read end; echo over'], stdin: true })
    await vi.waitFor(async () => expect((await text(await docker.containers.logs(id))).split('\n')).toHaveLength(7))
    expect(await text(await docker.containers.logs(id, { stderr: false }))).toBe('out 1\nout 2\nout 3\n')
    expect(await text(await docker.containers.logs(id), 'stderr')).toBe('err 1\nerr 2\nerr 3\n')
    expect(await text(await docker.containers.logs(id, { tail: 1, timestamps: true }))).toMatch(/^\d{4}-\d\d-\d\dT\S+Z \w+ 3\n$/)
    const leave = new AbortController()
    const followed = await docker.containers.logs(id, { follow: true, tail: 0, signal: leave.signal })
    await docker.containers.kill(id)
    // Ends by itself with the container.
    expect(await text(followed)).toBe('')
    await docker.containers.start(id)
    const again = await docker.containers.logs(id, { follow: true, tail: 0, signal: leave.signal })
    leave.abort()
    await expect(text(again)).rejects.toMatchObject({ kind: 'cancelled' })
  })

  it('gives a terminal’s log as it is', async () => {
    const { id } = await started({ tty: true, command: ['sh', '-c', 'printf "\\033[31mred\\n"'] })
    await docker.containers.wait(id)
    expect(await text(await docker.containers.logs(id))).toBe('\u001B[31mred\r\n')
  })

  it('runs commands, and terminals', async () => {
    const { id } = await started()
    expect(await docker.execs.run(id, { command: ['sh', '-c', 'echo $A; echo no >&2; exit 3'], env: { A: 'b' } })).toEqual({
      exitCode: 3,
      stdout: Buffer.from('b\n'),
      stderr: Buffer.from('no\n'),
    })
    await expect(docker.execs.run(id, { command: ['cat', '/bin/busybox'] }, { limitBytes: 1_000 })).rejects.toMatchObject({ kind: 'bad_answer' })
    const exec = await docker.execs.create(id, { command: ['sh'], tty: true, stdin: true })
    const stream = await docker.execs.attach(exec, { tty: true })
    await docker.execs.resize(exec, { columns: 101, rows: 41 })
    let said = ''
    stream.on('data', (part: Buffer) => (said += part.toString('utf8')))
    stream.write('stty size\n')
    await vi.waitFor(() => expect(said).toContain('41 101'))
    stream.write('exit 7\n')
    await once(stream, 'end')
    expect(await docker.execs.inspect(exec)).toMatchObject({ running: false, exitCode: 7 })
    await expect(docker.execs.attach('none', { tty: true })).rejects.toMatchObject({ kind: 'not_found' })
  })

  it('passes standard input to its end', async () => {
    const { id } = await started()
    const exec = await docker.execs.create(id, { command: ['sh', '-c', 'sha256sum >/tmp/sum'], stdin: true })
    const stream = await docker.execs.attach(exec, { tty: false })
    const bytes = randomBytes(3 * 2 ** 20)
    stream.end(bytes)
    stream.resume()
    await once(stream, 'end')
    const { stdout } = await docker.execs.run(id, { command: ['cat', '/tmp/sum'] })
    expect(stdout.toString('utf8')).toContain(createHash('sha256').update(bytes).digest('hex'))
  })

  it('takes files in and gives them out', async () => {
    const { id } = await make()
    const folder = mkdtempSync(join(tmpdir(), 'zhisuan-tar-'))
    try {
      const bytes = randomBytes(5 * 2 ** 20)
      writeFileSync(join(folder, '文件.bin'), bytes)
      await docker.containers.put(id, '/tmp', execFileSync('tar', ['-C', folder, '-c', '文件.bin'], { maxBuffer: 2 ** 26 }))
      expect(await docker.containers.stat(id, '/tmp/文件.bin')).toMatchObject({ name: '文件.bin', sizeBytes: bytes.length, directory: false })
      expect(await docker.containers.stat(id, '/tmp')).toMatchObject({ directory: true })
      const tar = await buffer(await docker.containers.get(id, '/tmp/文件.bin'))
      expect(execFileSync('tar', ['-x', '-O'], { input: tar, maxBuffer: 2 ** 26 }).equals(bytes)).toBe(true)
      await expect(docker.containers.stat(id, '/tmp/none')).rejects.toMatchObject({ kind: 'not_found' })
      await expect(docker.containers.put(id, '/none', Buffer.alloc(1_024))).rejects.toMatchObject({ kind: 'not_found' })
      await expect(docker.containers.put(id, '/tmp', Buffer.from('this is no archive'.repeat(100)))).rejects.toMatchObject({ name: 'EngineError' })
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })

  it('measures', async () => {
    const { id } = await started({ command: ['sh', '-c', 'while :; do :; done'], cpuLimit: 0.5 })
    const one = await docker.containers.stats(id)
    expect(one.cpu).toBeGreaterThan(0)
    expect(one).toMatchObject({ memoryBytes: expect.any(Number) as number, pids: 1 })
    const figures = []
    for await (const stats of docker.containers.statsFollowed(id)) {
      figures.push(stats)
      if (figures.length === 2) await docker.containers.kill(id)
    }
    expect(figures[1]?.cpuSeconds).toBeGreaterThan(figures[0]?.cpuSeconds ?? Number.NaN)
  })

  it('checks health', async () => {
    const { id } = await started({ health: { command: 'test -e /tmp/well', intervalMs: 1_000, timeoutMs: 1_000, retries: 1 } })
    await vi.waitFor(async () => expect((await docker.containers.inspect(id)).health).toBe('unhealthy'), { interval: 200 })
    await docker.execs.run(id, { command: ['touch', '/tmp/well'] })
    await vi.waitFor(async () => expect((await docker.containers.inspect(id)).health).toBe('healthy'), { interval: 200 })
  })

  it('tells what happens', async () => {
    const leave = new AbortController()
    const seen: DockerEvent[] = []
    const open = Promise.withResolvers<void>()
    const following = (async () => {
      for await (const event of docker.events({ types: ['container'], labels: [label], signal: leave.signal, onOpen: open.resolve })) seen.push(event)
    })()
    await open.promise
    const { id, name } = await started()
    await docker.containers.kill(id)
    await vi.waitFor(() => expect(seen.map(({ action }) => action)).toEqual(expect.arrayContaining(['create', 'start', 'kill', 'die'])))
    expect(seen[0]).toMatchObject({ type: 'container', action: 'create', id, attributes: { name } })
    leave.abort()
    await expect(following).rejects.toMatchObject({ kind: 'cancelled' })
  })

  it('keeps images and volumes', async () => {
    await docker.images.tag(image, `zs-engine-${run}:2`)
    const detail = await docker.images.inspect(`zs-engine-${run}:2`)
    expect(detail).toMatchObject({ os: 'linux', command: ['sh'], tags: expect.arrayContaining([image, `zs-engine-${run}:2`]) as string[] })
    await docker.images.remove(`zs-engine-${run}:2`)
    await expect(docker.images.inspect(`zs-engine-${run}:2`)).rejects.toMatchObject({ kind: 'not_found' })
    const progress: PullProgress[] = []
    const pulling = async () => {
      for await (const one of docker.images.pull('127.0.0.1:1/zs-none:1')) progress.push(one)
    }
    await expect(pulling()).rejects.toMatchObject({ name: 'EngineError', kind: 'failed' })
    await expect(docker.images.import(`zs-engine-${run}:bad`, Buffer.from('no tar'))).rejects.toMatchObject({ name: 'EngineError' })
    const volume = await docker.volumes.create(`zs-engine-${run}`, { labels })
    expect(await docker.volumes.create(`zs-engine-${run}`, { labels })).toMatchObject({ name: volume.name })
    const { id } = await started({ mounts: [{ type: 'volume', source: volume.name, path: '/data' }] })
    expect((await docker.containers.inspect(id)).mounts).toMatchObject([{ type: 'volume', name: volume.name, path: '/data', readOnly: false }])
    await expect(docker.volumes.remove(volume.name)).rejects.toMatchObject({ kind: 'conflict' })
    await docker.containers.remove(id, { force: true })
    await docker.volumes.remove(volume.name)
    await docker.volumes.remove(volume.name)
  })
})
