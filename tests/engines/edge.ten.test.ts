import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { stackDeployments, stacks, stackTransitional } from '@zhisuan/contract/aos/stack'
import { containers, containerTransitional, deployments } from '@zhisuan/contract/cis/container'
import { edgeImages, edges, type Edge } from '@zhisuan/contract/ecrm/edge'
import { createDocker } from '@zhisuan/engines/docker/engine'
import { socketTransport } from '@zhisuan/engines/docker/socket'
import { dockerIsThere, importBusybox } from '@zhisuan/engines/docker/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { register } from '../browser/people.ts'
import { parametersOf, startAgent, type RunningAgent } from '../support/agent.ts'
import { temporaryFolder, type TemporaryFolder } from '../support/folder.ts'
import { freePort } from '../support/port.ts'
import { asAdministrator, Client, startServer, until, type RunningServer } from '../support/server.ts'

const docker = createDocker(socketTransport())
const run = randomUUID().slice(0, 8)
const image = `zs-ten-${run}:1`
const command = ['sh', '-c', `trap 'exit 0' TERM; sleep 1000 & wait`]
const size = 10

/** Ten agents on this host, each with a directory and an identity of its own, on one Docker Engine. */
describe.skipIf(!dockerIsThere)('ten nodes', () => {
  let data: TemporaryFolder
  let server: RunningServer
  let owner: Client
  const nodes: Edge[] = []
  const agents = new Map<string, RunningAgent>()
  /** What Docker may have of us, should a test break off. */
  const made = new Set<string>()
  const projects = new Set<string>()

  const directory = (index: number): string => join(data.path, `agent-${index}`)
  const list = async (): Promise<readonly Edge[]> => (await owner.call(edges.list, { query: { page_size: '50' } })).items
  const allAre = (status: string, timeoutMs = 60_000) =>
    until(async () => (await list()).filter((edge) => edge.status === status).length === size, `all nodes to be ${status}`, timeoutMs)
  const start = (index: number, parameters: readonly string[] = []): void =>
    void agents.set(nodes[index]?.id ?? '', startAgent(['serve', '--data', directory(index), ...parameters]))

  beforeAll(async () => {
    await importBusybox(docker, image)
    data = temporaryFolder('ten')
    server = await startServer(data.path, { LOCAL_CLOUD: 'none', TRUST_PROXY: '1' })
    await asAdministrator(server)
    const person = await register(server.url, 'ten-owner', '十节点')
    owner = new Client(server.url)
    await owner.signIn(person.username, person.password)
    for (let index = 0; index < size; index++) {
      const labels = [
        { key: 'fleet', value: run },
        { key: 'zone', value: index < 5 ? 'a' : 'b' },
      ]
      const { edge, enrolment } = await owner.call(edges.create, {
        body: { name: `node-${index}`, confirm: 'auto', labels, taints: index === 9 ? [{ key: 'spare', value: '', effect: 'NoSchedule' }] : [] },
      })
      nodes.push(edge)
      start(index, parametersOf(enrolment.command))
    }
    await allAre('online')
  })
  afterAll(async () => {
    await Promise.all([...agents.values()].map((agent) => agent.kill()))
    await server?.stop()
    const left = await docker.containers.list({ all: true })
    for (const { id, labels } of left)
      if (made.has(labels['zhisuan.container'] ?? '') || projects.has(labels['com.docker.compose.project'] ?? ''))
        await docker.containers.remove(id, { force: true, volumes: true })
    for (const { id, tags } of await docker.images.list()) if (tags.includes(image)) await docker.images.remove(id, { force: true })
    data?.remove()
  })

  const fleet = [{ key: 'fleet', value: run }]
  const everywhere = { labels: fleet, tolerations: [{ key: 'spare' }] }
  const deploy = async (name: string, placement: object, spec: object = {}) => {
    const answer = await owner.call(containers.deploy, { body: { name, spec: { image, command, restart: 'no', ...spec }, placement } })
    for (const { id } of answer.items) made.add(id)
    return answer
  }
  const instances = async (id: string) => (await owner.call(deployments.instances, { params: { id }, query: { page_size: '50' } })).items
  const settled = (id: string) =>
    until(
      async () => {
        const items = await instances(id)
        return items.every(({ status }) => !containerTransitional.includes(status)) && items
      },
      'the deployment to come to rest',
      120_000,
    )
  const shown = async (id: string) => (await owner.call(deployments.list)).items.find((one) => one.id === id)
  const onDocker = async (ids: readonly string[]) =>
    (await docker.containers.list({ all: true, labels: ['zhisuan.container'] })).filter(({ labels }) => ids.includes(labels['zhisuan.container'] ?? ''))
  const remove = async (id: string): Promise<void> => {
    const ids = (await instances(id)).map((one) => one.id)
    await until(
      async () =>
        owner.call(deployments.delete, { params: { id } }).then(
          () => true,
          (error: unknown) => !/90011/.test(String(error)) && Promise.reject(error),
        ),
      'the deletion to be taken',
    )
    await until(async () => (await shown(id)) === undefined, 'the deployment to be gone', 60_000)
    expect(await onDocker(ids)).toEqual([])
  }
  const refusal = (asked: Promise<unknown>): Promise<string> =>
    asked.then(
      () => 'not refused',
      (error: unknown) => String(error),
    )

  it('run what is deployed by their labels; those with taints only where they are tolerated', async () => {
    const { deployment_id, items } = await deploy('everywhere', everywhere)
    expect(new Set(items.map(({ edge }) => edge.id))).toEqual(new Set(nodes.map(({ id }) => id)))
    expect((await settled(deployment_id)).map(({ status, error }) => ({ status, error }))).toEqual(
      Array.from({ length: size }, () => ({ status: 'running', error: null })),
    )
    expect(await shown(deployment_id)).toMatchObject({ status: 'running', instance_count: size, running_count: size })
    const ids = items.map(({ id }) => id)
    // One each, and each its own.
    expect(new Set((await onDocker(ids)).map(({ labels }) => labels['zhisuan.container']))).toEqual(new Set(ids))
    expect(await onDocker(ids)).toHaveLength(size)
    expect((await list()).map(({ container_count }) => container_count)).toEqual(Array.from({ length: size }, () => 1))

    const zone = await deploy('zone-b', { labels: [{ key: 'zone', value: 'b' }] })
    expect(zone.items.map(({ edge }) => edge.name).toSorted()).toEqual(['node-5', 'node-6', 'node-7', 'node-8'])
    const three = await deploy('three', { labels: fleet, count: 3 })
    expect(three.items).toHaveLength(3)
    expect(await refusal(deploy('too-many', { labels: fleet, count: size }))).toContain('95105')
    expect(await refusal(deploy('none', { labels: [{ key: 'zone', value: 'c' }] }))).toContain('95104')
    for (const { deployment_id: id } of [zone, three]) {
      await settled(id)
      await remove(id)
    }
    // One that is killed shows as what it is, and the others as what they are.
    await docker.containers.kill((await onDocker([ids[3] ?? '']))[0]?.id ?? '')
    await until(async () => (await shown(deployment_id))?.status === 'degraded', 'the deployment to be degraded')
    expect((await instances(deployment_id)).filter(({ status }) => status === 'exited').map(({ id }) => id)).toEqual([ids[3]])
    await remove(deployment_id)
  })

  it('tell of ports that are taken before anything is made', async () => {
    const host_port = await freePort()
    const ports = [{ container_port: 80, host_port }]
    const first = await deploy('holder', { edge_ids: [nodes[0]?.id] }, { ports })
    await settled(first.deployment_id)
    // The others have the same Docker: what it has published is seen by each of them.
    const { nodes: checked } = await owner.call(containers.check, { body: { spec: { ports }, placement: everywhere } })
    expect(checked).toHaveLength(size)
    for (const { problems } of checked) expect(problems[0]).toContain(`端口${host_port}已被`)
    expect(await refusal(deploy('second', everywhere, { ports }))).toContain('95103')
    expect((await owner.call(deployments.list)).total).toBe(1)
    await remove(first.deployment_id)
  })

  it('run an application, each its own part of it', async () => {
    const compose = `services:\n  web:\n    image: ${image}\n    command: ${JSON.stringify(command)}\n    network_mode: none\n`
    const { deployment_id, items } = await owner.call(stacks.create, {
      body: { name: 'several', compose, placement: { labels: [{ key: 'zone', value: 'a' }], count: 4 } },
    })
    for (const { project } of items) projects.add(project)
    expect(items).toHaveLength(4)
    const parts = () => owner.call(stackDeployments.stacks, { params: { id: deployment_id } })
    await until(async () => (await parts()).items.every(({ status }) => !stackTransitional.includes(status)), 'the stacks to come to rest', 120_000)
    expect((await parts()).items.map(({ status, error, running_count }) => ({ status, error, running_count }))).toEqual(
      items.map(() => ({ status: 'running', error: null, running_count: 1 })),
    )
    for (const { project } of items) expect(await docker.containers.list({ all: true, labels: [`com.docker.compose.project=${project}`] })).toHaveLength(1)
    await owner.call(stackDeployments.delete, { params: { id: deployment_id } })
    await until(async () => (await owner.call(stackDeployments.list)).total === 0, 'the application to be gone', 120_000)
    for (const { project } of items) expect(await docker.containers.list({ all: true, labels: [`com.docker.compose.project=${project}`] })).toEqual([])
  })

  it('tell their images, and who uses them', async () => {
    const { deployment_id } = await deploy('user', { edge_ids: [nodes[2]?.id] })
    await settled(deployment_id)
    const seen = await Promise.all(nodes.map(({ id }) => owner.call(edgeImages.images, { params: { id }, query: { keyword: image } })))
    for (const { items } of seen) expect(items).toMatchObject([{ tags: [image], used_by: [expect.stringContaining('user')] }])
    expect(await refusal(owner.call(edgeImages.removeImage, { params: { id: nodes[7]?.id ?? '' }, query: { image } }))).toMatch(/95033.*镜像正在被容器使用/)
    await remove(deployment_id)
  })

  it('go one by one, however they go, and come back with what they run', async () => {
    const { deployment_id } = await deploy('stays', everywhere)
    await settled(deployment_id)
    const away = new Set<string>()
    for (const [index, { id }] of nodes.entries()) {
      // A power cut, or a machine that hangs.
      if (index % 2 === 0) await agents.get(id)?.kill()
      else agents.get(id)?.signal('SIGSTOP')
      away.add(id)
      await until(async () => (await list()).find((edge) => edge.id === id)?.status === 'offline', `node ${index} to be offline`, 40_000)
      const now = await list()
      expect(
        now
          .filter(({ status }) => status === 'offline')
          .map((edge) => edge.id)
          .toSorted(),
      ).toEqual([...away].toSorted())
      const running = await instances(deployment_id)
      expect(
        running
          .filter(({ status }) => status === 'unknown')
          .map(({ edge }) => edge.id)
          .toSorted(),
      ).toEqual([...away].toSorted())
    }
    expect(await shown(deployment_id)).toMatchObject({ running_count: 0, status: 'unknown' })
    expect(await refusal(owner.call(deployments.delete, { params: { id: deployment_id } }))).toContain('95003')
    for (const [index, { id }] of nodes.entries()) {
      if (index % 2 === 0) start(index)
      else agents.get(id)?.signal('SIGCONT')
    }
    await allAre('online')
    await until(async () => (await shown(deployment_id))?.running_count === size, 'all to be seen running again')
    await remove(deployment_id)
  })

  it('leave nothing', async () => {
    expect(await onDocker([...made])).toEqual([])
    expect((await owner.call(containers.list)).total).toBe(0)
    expect((await list()).every(({ container_count }) => container_count === 0)).toBe(true)
  })
})
