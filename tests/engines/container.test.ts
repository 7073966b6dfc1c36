import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { configs, containers, containerTransitional, deployments, type Container } from '@zhisuan/contract/cis/container'
import type { BodyInput } from '@zhisuan/contract/define'
import { edges } from '@zhisuan/contract/ecrm/edge'
import { createDocker } from '@zhisuan/engines/docker/engine'
import { socketTransport } from '@zhisuan/engines/docker/socket'
import { dockerIsThere, importBusybox } from '@zhisuan/engines/docker/testing'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import { register } from '../browser/people.ts'
import { parametersOf, startAgent, type RunningAgent } from '../support/agent.ts'
import { temporaryFolder, type TemporaryFolder } from '../support/folder.ts'
import { freePort } from '../support/port.ts'
import { asAdministrator, Client, killing, pointsOf, startServer, until, type RunningServer, untilTold } from '../support/server.ts'

const docker = createDocker(socketTransport())
const run = randomUUID().slice(0, 8)
const image = `zs-container-${run}:1`
type Spec = BodyInput<typeof containers.deploy>['spec']

/** A whole server, a whole agent, and the Docker Engine of this host. */
describe.skipIf(!dockerIsThere)('containers on a node', () => {
  let data: TemporaryFolder
  let server: RunningServer
  let owner: Client
  let stranger: Client
  let people: Awaited<ReturnType<typeof register>>[] | undefined
  let port: string | undefined
  let agent: RunningAgent
  let edge_id: string
  let count = 0
  const made = new Set<string>()

  const restart = async (): Promise<void> => {
    server = await startServer(data.path, { LOCAL_CLOUD: 'none', TRUST_PROXY: '1', ...(port !== undefined && { PORT: port }) })
    port = new URL(server.url).port
    await asAdministrator(server)
    people ??= [await register(server.url, 'container-owner', '容器所有者'), await register(server.url, 'container-stranger', '无关组织')]
    const [one, two] = await Promise.all(
      people.map(async ({ username, password }) => {
        const client = new Client(server.url)
        await client.signIn(username, password)
        return client
      }),
    )
    if (one === undefined || two === undefined) throw new Error('two signed in')
    ;[owner, stranger] = [one, two]
  }
  const nodeIs = (status: string) =>
    until(async () => (await owner.call(edges.get, { params: { id: edge_id } })).status === status, `the node to be ${status}`, 40_000)

  beforeAll(async () => {
    await importBusybox(docker, image)
    data = temporaryFolder('container')
    await restart()
    const { edge, enrolment } = await owner.call(edges.create, { body: { name: 'node', confirm: 'auto' } })
    edge_id = edge.id
    agent = startAgent(['serve', '--data', join(data.path, 'agent'), ...parametersOf(enrolment.command)])
    await nodeIs('online')
  })
  afterAll(async () => {
    await agent?.stop()
    await server?.stop()
    for (const one of await docker.containers.list({ labels: ['zhisuan.container'] }))
      if (made.has(one.labels['zhisuan.container'] ?? '')) await docker.containers.remove(one.id, { force: true, volumes: true })
    await docker.volumes.remove(`zs-${run}`, { force: true })
    for (const { id, tags } of await docker.images.list()) if (tags.includes(image)) await docker.images.remove(id, { force: true })
    data?.remove()
  })

  const get = (id: string) => owner.call(containers.get, { params: { id } })
  const settled = (id: string): Promise<Container> =>
    until(async () => {
      const container = await get(id)
      if (container.status === 'error') throw new Error(container.error ?? 'error')
      return !containerTransitional.includes(container.status) && container
    }, 'the container to come to rest')
  const now = (id: string, what: (container: Container) => boolean) => async () => {
    const container = await get(id)
    return what(container) && container
  }
  const is = (id: string, what: (container: Container) => boolean) => until(now(id, what), 'the container to change')
  const isTold = (id: string, what: (container: Container) => boolean) => untilTold(now(id, what), 'the container to change')
  const ask = (spec: Partial<Spec>, name = `c-${run}-${++count}`) => ({
    name,
    spec: { image, restart: 'no' as const, ...spec },
    placement: { edge_ids: [edge_id] },
  })
  const deploy = async (spec: Partial<Spec>): Promise<Container> => {
    const { items } = await owner.call(containers.deploy, { body: ask(spec) })
    const [container] = items
    if (container === undefined) throw new Error('one was deployed')
    made.add(container.id)
    return settled(container.id)
  }
  const act = async (id: string, body: BodyInput<typeof containers.action>): Promise<void> => {
    await until(async () => {
      try {
        await owner.call(containers.action, { params: { id }, body })
        return true
      } catch (error) {
        // The operation before is ending.
        if (/90011/.test(String(error))) return false
        throw error
      }
    }, 'the action to be taken')
  }
  const onDocker = (id: string) => docker.containers.list({ labels: [`zhisuan.container=${id}`] })
  const remove = async (id: string): Promise<void> => {
    await until(
      async () =>
        owner.call(containers.delete, { params: { id } }).then(
          () => true,
          (error: unknown) => !/90011/.test(String(error)) && Promise.reject(error),
        ),
      'the deletion to be taken',
    )
    await until(async () => (await owner.call(containers.list, { query: { keyword: id } })).total === 0, 'the container to be gone')
    expect(await onDocker(id)).toEqual([])
  }
  const refusal = async (asked: Promise<unknown>): Promise<string> =>
    asked.then(
      () => 'not refused',
      (error: unknown) => String(error),
    )
  const httpd = (host_port: number, text: string): Partial<Spec> => ({
    // Ends when it is asked to: what is the first of its processes does so only where it says so.
    command: ['sh', '-c', `trap 'exit 0' TERM; mkdir -p /www && echo ${text} > /www/index.html; httpd -f -p 80 -h /www & wait`],
    ports: [{ container_port: 80, host_port }],
  })
  const page = (host_port: number) =>
    fetch(`http://127.0.0.1:${host_port}/`).then(
      (answer) => answer.text(),
      () => '',
    )
  const dial = (path: string) => new WebSocket(`${server.url.replace('http', 'ws')}${path}`)

  it('serves, stops, starts, is renamed, made anew, and leaves nothing', async () => {
    const [first, second] = [await freePort(), await freePort()]
    const container = await deploy({
      ...httpd(first, 'one'),
      memory_limit_bytes: 64 * 2 ** 20,
      cpu_limit: 0.5,
      env: [{ name: 'A', value: '一=1' }],
      mounts: [{ type: 'volume', name: `zs-${run}`, path: '/data' }],
    })
    expect(container).toMatchObject({
      status: 'running',
      status_code: 1,
      ports: [{ container_port: 80, host_port: first, protocol: 'tcp' }],
      edge: { online: true },
      error: null,
    })
    await until(async () => (await page(first)) === 'one\n', 'the page')
    const [there] = await onDocker(container.id)
    expect(await docker.containers.inspect(there?.id ?? '')).toMatchObject({
      cpuLimit: 0.5,
      memoryLimitBytes: 64 * 2 ** 20,
      env: expect.arrayContaining(['A=一=1']) as string[],
      mounts: [{ type: 'volume', name: `zs-${run}`, path: '/data' }],
    })
    expect(await owner.call(containers.stats, { params: { id: container.id } })).toMatchObject({
      memory_limit_bytes: 64 * 2 ** 20,
      pids: expect.any(Number) as number,
    })

    await act(container.id, { action: 'stop', timeout_seconds: 0 })
    await is(container.id, ({ status }) => status === 'exited')
    expect(await page(first)).toBe('')
    await act(container.id, { action: 'start' })
    await is(container.id, ({ status }) => status === 'running')
    await until(async () => (await page(first)) === 'one\n', 'the page again')
    await act(container.id, { action: 'rename', name: `新名字-${run}` })
    await until(async () => (await onDocker(container.id))[0]?.name.startsWith('-') === false, 'a name')
    expect((await get(container.id)).name).toBe(`新名字-${run}`)

    await act(container.id, { action: 'update', spec: { image, restart: 'no', ...httpd(second, 'two') } as Spec })
    await is(container.id, ({ status, ports }) => status === 'running' && ports.length === 1 && ports[0]?.host_port === second)
    await until(async () => (await page(second)) === 'two\n', 'the page of the new one')
    expect(await page(first)).toBe('')
    expect(await onDocker(container.id)).toHaveLength(1)
    await remove(container.id)
    expect((await docker.volumes.list()).some(({ name }) => name === `zs-${run}`)).toBe(true)
    expect((await owner.call(deployments.list)).total).toBe(0)
  })

  it('runs as it is asked to: program, directory, mounts, restart and health', async () => {
    // Not in memory, as the others are: /dev is the system's.
    const shared = mkdtempSync('/var/tmp/zhisuan-shared-')
    onTestFinished(() => rmSync(shared, { recursive: true, force: true }))
    writeFileSync(join(shared, 'well'), 'yes')
    const container = await deploy({
      entrypoint: ['sh', '-c'],
      command: ['pwd > /data/where; trap "exit 3" USR1; while :; do sleep 0.1; done'],
      working_dir: '/tmp',
      restart: 'on-failure',
      mounts: [
        { type: 'volume', name: `zs-${run}`, path: '/data' },
        { type: 'bind', host_path: shared, path: '/shared', read_only: true },
      ],
      health: { command: 'test -e /shared/well', interval_seconds: 1, timeout_seconds: 1, retries: 1 },
    })
    const docker_id = (await onDocker(container.id))[0]?.id ?? ''
    const inside = async (command: string) => docker.execs.run(docker_id, { command: ['sh', '-c', command] })
    await until(async () => (await inside('cat /data/where')).stdout.toString() === '/tmp\n', 'what it wrote')
    expect((await inside('touch /shared/x')).exitCode).not.toBe(0)
    await is(container.id, ({ health }) => health === 'healthy')
    rmSync(join(shared, 'well'))
    await is(container.id, ({ health }) => health === 'unhealthy')

    // It fails, and is started again by Docker itself.
    await inside('kill -USR1 1')
    await is(container.id, ({ status, restart_count }) => status === 'running' && restart_count > 0)
    const { started_at } = await get(container.id)
    await act(container.id, { action: 'restart', timeout_seconds: 0 })
    await is(container.id, (one) => one.status === 'running' && one.started_at !== started_at)
    // What is killed by hand stays so.
    await act(container.id, { action: 'kill' })
    expect(await is(container.id, ({ status }) => status === 'exited')).toMatchObject({ exit_code: 137, error: null })
    // Docker's word that it is gone may come before that of the operation.
    const operations = async () =>
      (await owner.call(containers.operations, { params: { id: container.id } })).items.map(({ kind, status }) => `${kind} ${status}`)
    await expect.poll(operations).toEqual(['cis.container.kill succeeded', 'cis.container.restart succeeded', 'cis.container.create succeeded'])
    await remove(container.id)
  })

  it('is as it was where making it anew fails', async () => {
    const host_port = await freePort()
    const container = await deploy(httpd(host_port, 'stays'))
    await act(container.id, { action: 'update', spec: { image, restart: 'no', command: ['/none'] } as Spec })
    const after = await is(container.id, ({ status, error }) => status === 'running' && error !== null)
    expect(after).toMatchObject({ error: expect.stringContaining('没有该命令') as string, ports: [{ host_port }] })
    await until(async () => (await page(host_port)) === 'stays\n', 'the page of the old one')
    expect(await onDocker(container.id)).toHaveLength(1)
    await remove(container.id)
  })

  it('tells of ports that are taken, by whomever, before anything is made, and of images that are not there', async () => {
    const [ours, others] = [await freePort(), await freePort()]
    const container = await deploy(httpd(ours, 'one'))
    const name = `zs-other-${run}`
    const { id: other } = await docker.containers.create(name, {
      image,
      command: ['sleep', '1000'],
      ports: [{ containerPort: 80, hostPort: others, protocol: 'tcp' }],
    })
    try {
      await docker.containers.start(other)
      expect(await refusal(owner.call(containers.deploy, { body: ask(httpd(ours, 'x')) }))).toContain('95103')
      expect(await refusal(owner.call(containers.deploy, { body: ask(httpd(others, 'x')) }))).toContain('95103')
      const { nodes } = await owner.call(containers.check, {
        body: { spec: { ports: [{ container_port: 1, host_port: others }], gpus: 64 }, placement: { edge_ids: [edge_id] } },
      })
      expect(nodes[0]?.problems).toEqual([expect.stringContaining(String(others)), expect.stringContaining('GPU')])
      expect((await owner.call(containers.list)).total).toBe(1)
    } finally {
      await docker.containers.remove(other, { force: true })
    }
    // What is no container has ports too: told before, and where it came meanwhile, when Docker starts it.
    const stopped = await deploy(httpd(others, 'x'))
    await act(stopped.id, { action: 'stop', timeout_seconds: 0 })
    await is(stopped.id, ({ status }) => status === 'exited')
    const taken = createServer().listen(others, '0.0.0.0')
    await once(taken, 'listening')
    expect(await refusal(owner.call(containers.deploy, { body: ask(httpd(others, 'x')) }))).toContain('95103')
    await act(stopped.id, { action: 'start' })
    const failed = await is(stopped.id, ({ error }) => error !== null)
    taken.close()
    expect(failed.error).toContain(`端口${others}已被`)
    const absent = await owner.call(containers.deploy, { body: ask({ image: `localhost:1/none-${run}:1` }) })
    expect(await is(absent.items[0]?.id ?? '', ({ status }) => status === 'error')).toMatchObject({
      status_code: 2,
      error: expect.stringContaining('也无法拉取') as string,
    })
    for (const id of [container.id, failed.id, absent.items[0]?.id ?? '']) await remove(id)
  })

  it('shows at once what others do to it', async () => {
    const container = await deploy({ command: ['sleep', '1000'] })
    const docker_id = (await onDocker(container.id))[0]?.id ?? ''
    await docker.containers.kill(docker_id)
    expect(await isTold(container.id, ({ status }) => status === 'exited')).toMatchObject({ exit_code: 137 })
    await docker.containers.start(docker_id)
    await isTold(container.id, ({ status }) => status === 'running')
    await docker.containers.pause(docker_id)
    await isTold(container.id, ({ status }) => status === 'paused')
    await docker.containers.remove(docker_id, { force: true })
    await isTold(container.id, ({ status }) => status === 'lost')
    await remove(container.id)
  })

  it('says that it used more memory than it may', async () => {
    const container = await deploy({ command: ['sh', '-c', 'sleep 1; exec tail /dev/zero'], memory_limit_bytes: 16 * 2 ** 20 })
    expect(await is(container.id, ({ status }) => status === 'exited')).toMatchObject({ exit_code: 137, error: '容器使用的内存超过了上限，已被终止' })
    await remove(container.id)
  })

  it('is unknown while the node is away, and as it is when that is back', async () => {
    const container = await deploy({ command: ['sleep', '1000'] })
    agent.signal('SIGSTOP')
    await is(container.id, ({ status, edge }) => status === 'unknown' && !edge.online)
    expect(await refusal(owner.call(containers.action, { params: { id: container.id }, body: { action: 'stop' } }))).toContain('95003')
    await docker.containers.kill((await onDocker(container.id))[0]?.id ?? '')
    agent.signal('SIGCONT')
    await is(container.id, ({ status }) => status === 'exited')
    await remove(container.id)
  })

  it('has a terminal, one at a time, that echoes and changes its size', async () => {
    const container = await deploy({ command: ['sleep', '1000'] })
    const open = (command?: string[]) =>
      owner.call(containers.terminal, { params: { id: container.id }, body: { ...(command !== undefined && { command }), cols: 100, rows: 30 } })
    expect(await refusal(open(['/none']))).toContain('95110')
    const { path } = await open()
    expect(await refusal(open())).toContain('94009')
    const socket = dial(path)
    let said = ''
    socket.on('message', (text: Buffer, binary: boolean) => {
      if (binary) said += text.toString('utf8')
    })
    await once(socket, 'open')
    socket.send(Buffer.from('echo $((6*7))-$(stty size)\n'), { binary: true })
    await until(async () => said.includes('42-30 100'), 'the echo')
    socket.send(JSON.stringify({ type: 'resize', columns: 80, rows: 24 }))
    await until(async () => {
      socket.send(Buffer.from('stty size\n'), { binary: true })
      return said.includes('\n24 80')
    }, 'the new size')
    // The ticket was good once.
    const again = dial(path)
    const [answer] = (await once(again, 'unexpected-response')) as [unknown, { statusCode: number }]
    expect(answer).toBeDefined()
    again.on('error', () => undefined)
    again.terminate()
    socket.close()
    await once(socket, 'close')
    const next = await until(async () => open().catch(() => null), 'the terminal to be free')
    const second = dial(next.path)
    await once(second, 'open')
    second.send(Buffer.from('exit 3\n'), { binary: true })
    expect(JSON.parse(await lastText(second))).toEqual({ type: 'exit', exit_code: 3 })
    await remove(container.id)
  })

  it('has a log: its end, what is looked for, as it comes, and whole', async () => {
    const container = await deploy({
      command: ['sh', '-c', 'for i in $(seq 1 2000); do echo line-$i; done; echo 错误 >&2; sleep 0.3; while :; do date +tick-%s; sleep 0.2; done'],
    })
    await until(async () => (await owner.call(containers.logs, { params: { id: container.id }, query: { keyword: 'tick' } })).items.length > 0, 'ticks')
    const { items } = await owner.call(containers.logs, { params: { id: container.id }, query: { keyword: 'line-19', tail: '3' } })
    expect(items.map(({ text }) => text)).toEqual(['line-1997', 'line-1998', 'line-1999'])
    expect(items[0]).toMatchObject({ stream: 'stdout', at: expect.stringMatching(/^20/) as string })
    expect((await owner.call(containers.logs, { params: { id: container.id }, query: { keyword: '错误' } })).items).toMatchObject([
      { stream: 'stderr', text: '错误' },
    ])
    const { path } = await owner.call(containers.logLink, { params: { id: container.id }, body: { how: 'follow' } })
    const socket = dial(`${path}?tail=1`)
    const ticks: string[] = []
    socket.on('message', (text: Buffer) => {
      const message = JSON.parse(text.toString('utf8')) as { items?: { text: string }[] }
      ticks.push(...(message.items ?? []).map((line) => line.text))
    })
    await until(async () => ticks.length > 4, 'lines as they come')
    expect(new Set(ticks.map((text) => text.slice(0, 5)))).toEqual(new Set(['tick-']))
    const closed = once(socket, 'close')
    await docker.containers.kill((await onDocker(container.id))[0]?.id ?? '')
    await closed
    const link = await owner.call(containers.logLink, { params: { id: container.id }, body: { how: 'download' } })
    const whole = await (await fetch(`${server.url}${link.path}`)).text()
    expect(whole.split('\n').filter((line) => / line-\d+$/.test(line))).toHaveLength(2_000)
    await is(container.id, ({ status }) => status === 'exited')
    await remove(container.id)
  })

  it('takes files and gives them, running or not', async () => {
    const container = await deploy({ command: ['sleep', '1000'] })
    const id = container.id
    const list = async (path: string) => (await owner.call(containers.files, { params: { id }, query: { path } })).items
    expect((await list('/')).map(({ name }) => name)).toEqual(expect.arrayContaining(['bin', 'etc', 'tmp']))
    const bytes = randomBytes(5 * 2 ** 20 + 7)
    const file = `/tmp/a b'$(touch x).bin`
    const upload = await owner.call(containers.fileLink, { params: { id }, body: { how: 'upload', path: file } })
    const answer = await fetch(`${server.url}${upload.path}`, { method: 'PUT', body: bytes })
    expect(answer.status).toBe(204)
    expect(await list('/tmp')).toMatchObject([{ name: `a b'$(touch x).bin`, kind: 'file', size_bytes: bytes.length, mode: '0644' }])
    const back = async () => {
      const { path } = await owner.call(containers.fileLink, { params: { id }, body: { how: 'download', path: file } })
      return createHash('sha256')
        .update(Buffer.from(await (await fetch(`${server.url}${path}`)).arrayBuffer()))
        .digest('hex')
    }
    const sum = createHash('sha256').update(bytes).digest('hex')
    expect(await back()).toBe(sum)
    await act(id, { action: 'stop', timeout_seconds: 0 })
    await is(id, ({ status }) => status === 'exited')
    expect(await back()).toBe(sum)
    expect(await list('/tmp')).toMatchObject([{ name: `a b'$(touch x).bin`, kind: 'file', size_bytes: bytes.length, mode: '0644' }])
    const directory = await owner.call(containers.fileLink, { params: { id }, body: { how: 'download', path: '/tmp' } })
    expect((await (await fetch(`${server.url}${directory.path}`)).arrayBuffer()).byteLength).toBeGreaterThan(bytes.length)
    expect(await refusal(list('/none'))).toContain('95109')
    expect(await refusal(owner.call(containers.fileLink, { params: { id }, body: { how: 'upload', path: '/none/x' } }))).toContain('95109')
    expect((await fetch(`${server.url}${upload.path.slice(0, -4)}AAAA`, { method: 'PUT', body: 'x' })).status).toBe(404)
    await remove(id)
  })

  it('has configs as files, which change with them', async () => {
    const config = await owner.call(configs.put, { body: { name: `cfg-${run}`, content: 'first\n' } })
    const container = await deploy({
      command: ['sh', '-c', "trap 'exit 0' TERM; cat /etc/app/app.conf; sleep 1000 & wait"],
      mounts: [{ type: 'config', config_id: config.id, path: '/etc/app/app.conf' }],
    })
    const read = async () => (await docker.execs.run((await onDocker(container.id))[0]?.id ?? '', { command: ['cat', '/etc/app/app.conf'] })).stdout.toString()
    expect(await read()).toBe('first\n')
    expect(await refusal(owner.call(configs.put, { body: { id: config.id, revision: 7, name: config.name, content: '' } }))).toContain('90012')
    expect(await refusal(owner.call(configs.delete, { params: { id: config.id } }))).toContain('95113')
    const changed = await owner.call(configs.put, { body: { id: config.id, revision: 1, name: config.name, content: 'second\n', restart: true } })
    expect(changed).toMatchObject({ revision: 2, used_by: 1 })
    await until(
      async () => (await owner.call(containers.logs, { params: { id: container.id }, query: {} })).items.some(({ text }) => text === 'second'),
      'the restart with the new text',
    )
    expect(await read()).toBe('second\n')
    await is(container.id, ({ status }) => status === 'running')
    await remove(container.id)
    await owner.call(configs.delete, { params: { id: config.id } })
  })

  it('does not exist for another organisation', async () => {
    const container = await deploy({ command: ['sleep', '1000'] })
    const config = await owner.call(configs.put, { body: { name: `cfg-2-${run}`, content: '' } })
    const params = { id: container.id }
    const asked = [
      () => stranger.call(containers.get, { params }),
      () => stranger.call(containers.stats, { params }),
      () => stranger.call(containers.logs, { params }),
      () => stranger.call(containers.files, { params, query: { path: '/' } }),
      () => stranger.call(containers.delete, { params }),
      () => stranger.call(containers.action, { params, body: { action: 'stop' } }),
      () => stranger.call(containers.terminal, { params, body: {} }),
      () => stranger.call(containers.logLink, { params, body: { how: 'follow' } }),
      () => stranger.call(containers.fileLink, { params, body: { how: 'download', path: '/etc' } }),
      () => stranger.call(deployments.instances, { params: { id: container.deployment?.id ?? '' } }),
      () => stranger.call(deployments.delete, { params: { id: container.deployment?.id ?? '' } }),
      () => stranger.call(configs.put, { body: { id: config.id, name: 'x', content: '' } }),
      () => stranger.call(configs.delete, { params: { id: config.id } }),
    ]
    for (const one of asked) expect(await refusal(one())).toContain(': 404 ')
    expect(await refusal(stranger.call(containers.deploy, { body: ask({}) }))).toContain('95004')
    for (const call of [containers.list, deployments.list, configs.list]) expect((await stranger.call(call)).total).toBe(0)
    await remove(container.id)
    await owner.call(configs.delete, { params: { id: config.id } })
  })

  const killedAt = killing(
    () => server,
    async () => {
      await restart()
      await nodeIs('online')
    },
  )

  it('is deployed once where the server is killed at any step', async () => {
    const kind = 'cis.container.create'
    const points = [`${kind}:pull:after`, ...pointsOf(kind, 'make'), `${kind}:start:after`]
    const all = await Promise.all(
      points.map(async () => {
        const host_port = await freePort()
        return { host_port, body: ask(httpd(host_port, 'survived')) }
      }),
    )
    await killedAt(
      points,
      ...all.map(
        ({ body }) =>
          () =>
            owner.call(containers.deploy, { body }),
      ),
    )
    for (const { host_port, body } of all) {
      const [row] = (await owner.call(containers.list, { query: { keyword: body.name } })).items
      const container = await settled(row?.id ?? '')
      made.add(container.id)
      expect(container.status).toBe('running')
      await until(async () => (await page(host_port)) === 'survived\n', 'the page')
      expect(await onDocker(container.id)).toHaveLength(1)
      await remove(container.id)
    }
  })

  it('is made anew once where the server is killed at any step', async () => {
    const points = ['make:after', 'switch:after', 'retire:before'].map((point) => `cis.container.update:${point}`)
    const all = await Promise.all(
      points.map(async () => {
        const host_port = await freePort()
        return { host_port, id: (await deploy(httpd(host_port, 'old'))).id }
      }),
    )
    const update = ({ host_port, id }: (typeof all)[number]) =>
      owner.call(containers.action, { params: { id }, body: { action: 'update', spec: { image, restart: 'no', ...httpd(host_port, 'new') } } })
    await killedAt(points, ...all.map((one) => () => update(one)))
    for (const { host_port, id } of all) {
      await settled(id)
      await until(async () => (await page(host_port)) === 'new\n', 'the page of the new one')
      expect(await onDocker(id)).toHaveLength(1)
      await remove(id)
    }
  })
})

/** The last text before the connection closes. */
async function lastText(socket: WebSocket): Promise<string> {
  let last = ''
  socket.on('message', (text: Buffer, binary: boolean) => {
    if (!binary) last = text.toString('utf8')
  })
  await once(socket, 'close')
  return last
}
