import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { nodeStacks, services, stackConfigs, stacks, stackTransitional, type Service, type Stack } from '@zhisuan/contract/aos/stack'
import { configs, containers } from '@zhisuan/contract/cis/container'
import type { BodyInput } from '@zhisuan/contract/define'
import { edges } from '@zhisuan/contract/ecrm/edge'
import { createDocker } from '@zhisuan/engines/docker/engine'
import { socketTransport } from '@zhisuan/engines/docker/socket'
import { dockerIsThere, importBusybox } from '@zhisuan/engines/docker/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { register } from '../browser/people.ts'
import { parametersOf, startAgent, type RunningAgent } from '../support/agent.ts'
import { temporaryFolder, type TemporaryFolder } from '../support/folder.ts'
import { freePort } from '../support/port.ts'
import { asAdministrator, Client, killing, pointsOf, startServer, until, type RunningServer } from '../support/server.ts'

const docker = createDocker(socketTransport())
const run = randomUUID().slice(0, 8)
const image = `zs-stack-${run}:1`
type StackDetail = Stack & { services: Service[] }

/** A whole server, a whole agent, compose and the Docker Engine of this host. */
describe.skipIf(!dockerIsThere)('stacks on a node', () => {
  let data: TemporaryFolder
  let server: RunningServer
  let owner: Client
  let person: Awaited<ReturnType<typeof register>> | undefined
  let port: string | undefined
  let agent: RunningAgent
  let edge_id: string
  let count = 0
  const projects = new Set<string>()

  const restart = async (): Promise<void> => {
    server = await startServer(data.path, { LOCAL_CLOUD: 'none', TRUST_PROXY: '1', ...(port !== undefined && { PORT: port }) })
    port = new URL(server.url).port
    await asAdministrator(server)
    person ??= await register(server.url, 'stack-owner', '应用所有者')
    owner = new Client(server.url)
    await owner.signIn(person.username, person.password)
  }
  const nodeIs = (status: string) =>
    until(async () => (await owner.call(edges.get, { params: { id: edge_id } })).status === status, `the node to be ${status}`, 40_000)

  beforeAll(async () => {
    await importBusybox(docker, image)
    data = temporaryFolder('stack')
    await restart()
    const { edge, enrolment } = await owner.call(edges.create, { body: { name: 'node', confirm: 'auto' } })
    edge_id = edge.id
    agent = startAgent(['serve', '--data', join(data.path, 'agent'), ...parametersOf(enrolment.command)])
    await nodeIs('online')
  })
  afterAll(async () => {
    await agent?.stop()
    await server?.stop()
    for (const project of projects) {
      const labels = [`com.docker.compose.project=${project}`]
      for (const one of await docker.containers.list({ all: true, labels })) await docker.containers.remove(one.id, { force: true, volumes: true })
      for (const { name } of await docker.volumes.list({ labels })) await docker.volumes.remove(name, { force: true })
    }
    for (const { id, tags } of await docker.images.list()) if (tags.includes(image)) await docker.images.remove(id, { force: true })
    data?.remove()
  })

  const get = (id: string): Promise<StackDetail> => owner.call(nodeStacks.get, { params: { id } })
  const settled = (id: string): Promise<StackDetail> =>
    until(
      async () => {
        const stack = await get(id)
        return !stackTransitional.includes(stack.status) && stack
      },
      'the stack to come to rest',
      120_000,
    )
  const is = (id: string, status: Stack['status'], timeoutMs = 5_000) =>
    until(async () => (await get(id)).status === status, `the stack to be ${status}`, timeoutMs)
  const begin = async (compose: string, wish: Partial<BodyInput<typeof stacks.create>> = {}): Promise<Stack> => {
    const { items } = await owner.call(stacks.create, { body: { name: `s-${run}-${++count}`, compose, placement: { edge_ids: [edge_id] }, ...wish } })
    const [stack] = items
    if (stack === undefined) throw new Error('one was deployed')
    projects.add(stack.project)
    return stack
  }
  const deploy = async (...asked: Parameters<typeof begin>): Promise<StackDetail> => settled((await begin(...asked)).id)
  const act = async (id: string, body: BodyInput<typeof stacks.action>): Promise<StackDetail> => {
    await owner.call(stacks.action, { params: { id }, body })
    return settled(id)
  }
  const onService = async (stack: StackDetail, name: string, body: BodyInput<typeof services.action>): Promise<StackDetail> => {
    await owner.call(services.action, { params: { id: stack.services.find((one) => one.name === name)?.id ?? '' }, body })
    return settled(stack.id)
  }
  const onDocker = (project: string) => docker.containers.list({ all: true, labels: [`com.docker.compose.project=${project}`] })
  const gone = async ({ id, project }: Stack): Promise<void> => {
    await until(async () => (await owner.call(stacks.list, { query: { keyword: id } })).total === 0, 'the stack to be gone', 120_000)
    expect(await onDocker(project)).toEqual([])
    expect(await docker.volumes.list({ labels: [`com.docker.compose.project=${project}`] })).toEqual([])
    expect((await owner.call(containers.list, { query: { keyword: project } })).total).toBe(0)
  }
  const remove = async (stack: Stack): Promise<void> => {
    await owner.call(stacks.delete, { params: { id: stack.id } })
    await gone(stack)
  }
  const page = (host_port: number) =>
    fetch(`http://127.0.0.1:${host_port}/`).then(
      (answer) => answer.text(),
      () => '',
    )
  const web = (host_port: number | string, text: string) =>
    `    image: ${image}\n    command: ["sh", "-c", "trap 'exit 0' TERM; mkdir -p /www && echo ${text} > /www/index.html; httpd -f -p 80 -h /www & wait"]\n    ports: ["${host_port}:80"]\n`
  const sleeper = `    image: ${image}\n    command: ["sh", "-c", "trap 'exit 0' TERM; sleep 1000 & wait"]\n`

  it('are deployed, updated, gone back with, stopped, started and taken down without a trace', async () => {
    const [first, second] = [await freePort(), await freePort()]
    const file = `services:\n  web:\n${web('${PORT:?端口}', '${TEXT:-one}')}    depends_on: [db]\n  db:\n${sleeper}    volumes: ["data:/data"]\nvolumes:\n  data:\n`
    const stack = await deploy(file, { values: { PORT: String(first) } })
    expect(stack).toMatchObject({ status: 'running', service_count: 2, running_count: 2, error: null })
    expect(stack.services.find(({ name }) => name === 'web')?.ports).toEqual([{ container_port: 80, host_port: first, protocol: 'tcp' }])
    await until(async () => (await page(first)) === 'one\n', 'the page')
    await docker.execs.run((await onDocker(stack.project)).find(({ labels }) => labels['com.docker.compose.service'] === 'db')?.id ?? '', {
      command: ['sh', '-c', 'echo kept > /data/x'],
    })

    expect(await act(stack.id, { action: 'update', values: { PORT: String(second), TEXT: 'two' } })).toMatchObject({ status: 'running', revision: 2 })
    await until(async () => (await page(second)) === 'two\n', 'the page of the update')
    expect(await page(first)).toBe('')
    expect(await act(stack.id, { action: 'rollback' })).toMatchObject({ status: 'running', revision: 3 })
    await until(async () => (await page(first)) === 'one\n', 'the page of before')
    const db = (await onDocker(stack.project)).find(({ labels }) => labels['com.docker.compose.service'] === 'db')
    expect((await docker.execs.run(db?.id ?? '', { command: ['cat', '/data/x'] })).stdout.toString()).toBe('kept\n')

    expect(await act(stack.id, { action: 'stop' })).toMatchObject({ status: 'stopped', running_count: 0 })
    expect(await page(first)).toBe('')
    expect(await act(stack.id, { action: 'start' })).toMatchObject({ status: 'running' })
    await until(async () => (await page(first)) === 'one\n', 'the page again')
    await remove(stack)
  })

  it('are scaled, and true to what others do', async () => {
    const stack = await deploy(`services:\n  web:\n${sleeper}  db:\n${sleeper}`)
    expect((await onService(stack, 'web', { action: 'scale', replicas: 3 })).services).toMatchObject([
      { name: 'db', running_count: 1 },
      { name: 'web', replicas: 3, running_count: 3 },
    ])
    const [one] = await onDocker(stack.project)
    await docker.containers.kill(one?.id ?? '')
    await is(stack.id, 'degraded')
    await docker.containers.start(one?.id ?? '')
    await is(stack.id, 'running')
    expect((await onService(stack, 'web', { action: 'stop' })).services).toMatchObject([{ running_count: 1 }, { running_count: 0, status: 'stopped' }])
    expect((await onService(stack, 'web', { action: 'restart' })).status).toBe('running')
    expect((await onService(stack, 'web', { action: 'scale', replicas: 0 })).status).toBe('running')
    expect(await onDocker(stack.project)).toHaveLength(1)
    await remove(stack)
  })

  it('say why they could not be deployed', async () => {
    const taken = await freePort()
    const holder = createServer().listen(taken, '0.0.0.0')
    await once(holder, 'listening')
    // A port that a program has is told before anything is made.
    await expect(deploy(`services:\n  web:\n${web(taken, 'x')}`)).rejects.toThrow(/95103.*其他程序/)
    holder.close()
    const stack = await deploy(`services:\n  web:\n${web(taken, 'x')}`)
    expect(stack).toMatchObject({ status: 'running', error: null })
    await remove(stack)
    const wrong = await deploy(`services:\n  web:\n    image: localhost:1/none-${run}:1\n`)
    expect(wrong).toMatchObject({ status: 'error', error: expect.stringContaining('无法连接镜像仓库') as string })
    await remove(wrong)
  })

  it('have configs as files, which make anew what has them', async () => {
    const config = await owner.call(configs.put, { body: { name: `cfg-${run}`, content: 'first\n' } })
    const beside = [{ config_id: config.id, path: 'conf/app.conf' }]
    const stack = await deploy(`services:\n  web:\n${sleeper}    volumes: ["./conf/app.conf:/etc/app.conf:ro"]\n  db:\n${sleeper}`, { configs: beside })
    expect(stack).toMatchObject({ status: 'running' })
    const idOf = async (name: string) => (await onDocker(stack.project)).find(({ labels }) => labels['com.docker.compose.service'] === name)?.id ?? ''
    const read = async () => (await docker.execs.run(await idOf('web'), { command: ['cat', '/etc/app.conf'] })).stdout.toString()
    expect(await read()).toBe('first\n')
    const before = await idOf('db')
    await owner.call(configs.put, { body: { id: config.id, name: config.name, content: 'second\n' } })
    await owner.call(stackConfigs.put, { body: { stack_id: stack.id, configs: beside } })
    await settled(stack.id)
    expect(await read()).toBe('second\n')
    expect(await idOf('db')).toBe(before)
    await remove(stack)
    await owner.call(configs.delete, { params: { id: config.id } })
  })

  const killedAt = killing(
    () => server,
    async () => {
      await restart()
      await nodeIs('online')
    },
  )

  it('are as asked where the server is killed at any step of a deployment', async () => {
    const points = [...pointsOf('aos.stack.create', 'compose'), 'aos.stack.create:look:after']
    const names = points.map(() => `s-${run}-${++count}`)
    const file = `services:\n  web:\n${sleeper}    deploy: { replicas: 2 }\n`
    await killedAt(points, ...names.map((name) => () => begin(file, { name })))
    for (const name of names) {
      const stack = (await owner.call(stacks.list, { query: { keyword: name } })).items[0] ?? expect.fail('what was asked for is lost')
      projects.add(stack.project)
      expect(await settled(stack.id)).toMatchObject({ status: 'running', running_count: 1 })
      expect(await onDocker(stack.project)).toHaveLength(2)
      await remove(stack)
    }
  })

  it('leave nothing where the server is killed while they are taken down', async () => {
    const stack = await deploy(`services:\n  web:\n${sleeper}    volumes: ["data:/data"]\nvolumes:\n  data:\n`)
    await killedAt('aos.stack.delete:down:after', () => owner.call(stacks.delete, { params: { id: stack.id } }))
    await gone(stack)
  })
})
