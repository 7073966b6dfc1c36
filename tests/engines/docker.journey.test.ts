import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { containers } from '@zhisuan/contract/cis/container'
import { edges } from '@zhisuan/contract/ecrm/edge'
import { createDocker } from '@zhisuan/engines/docker/engine'
import { socketTransport } from '@zhisuan/engines/docker/socket'
import { dockerIsThere, importBusybox } from '@zhisuan/engines/docker/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { register } from '../browser/people.ts'
import { parametersOf, startAgent, type RunningAgent } from '../support/agent.ts'
import { temporaryFolder, type TemporaryFolder } from '../support/folder.ts'
import { asAdministrator, Client, startServer, until, type RunningServer } from '../support/server.ts'

/** What has to work on Docker, through a whole agent, before anything lands; all else of it is looked at by the files beside this one. */
describe.skipIf(!dockerIsThere)('a container on a node', () => {
  const docker = createDocker(socketTransport())
  const image = `zs-journey-${randomUUID().slice(0, 8)}:1`
  let data: TemporaryFolder
  let server: RunningServer | undefined
  let agent: RunningAgent | undefined
  let owner: Client
  let id = ''
  const onDocker = () => docker.containers.list({ labels: [`zhisuan.container=${id}`] })

  beforeAll(async () => {
    await importBusybox(docker, image)
    data = temporaryFolder('docker-journey')
    server = await startServer(data.path, { LOCAL_CLOUD: 'none' })
    await asAdministrator(server)
    const { username, password } = await register(server.url, 'docker-journey')
    owner = new Client(server.url)
    await owner.signIn(username, password)
  })
  afterAll(async () => {
    await agent?.stop()
    await server?.stop()
    if (id !== '') for (const one of await onDocker()) await docker.containers.remove(one.id, { force: true, volumes: true })
    for (const one of await docker.images.list()) if (one.tags.includes(image)) await docker.images.remove(one.id, { force: true })
    data.remove()
  })

  it('is deployed, heard, and leaves nothing when it is deleted', async () => {
    const { edge, enrolment } = await owner.call(edges.create, { body: { name: 'node', confirm: 'auto' } })
    agent = startAgent(['serve', '--data', join(data.path, 'agent'), ...parametersOf(enrolment.command)])
    await until(async () => (await owner.call(edges.get, { params: { id: edge.id } })).status === 'online', 'the node to be online')
    const { items } = await owner.call(containers.deploy, {
      body: { name: 'journey', spec: { image, restart: 'no', command: ['sh', '-c', 'echo here-i-am; exec sleep 1000'] }, placement: { edge_ids: [edge.id] } },
    })
    id = items[0]?.id ?? ''
    const params = { id }
    await until(async () => {
      const now = await owner.call(containers.get, { params })
      if (now.status === 'error') throw new Error(now.error ?? 'error')
      return now.status === 'running'
    }, 'the container to run')
    expect(await onDocker()).toHaveLength(1)
    await until(async () => (await owner.call(containers.logs, { params, query: {} })).items.some(({ text }) => text === 'here-i-am'), 'its words')
    // The operation before may be ending.
    const deleted = owner.call(containers.delete, { params })
    await until(
      async () =>
        deleted.then(
          () => true,
          async () =>
            owner.call(containers.delete, { params }).then(
              () => true,
              () => false,
            ),
        ),
      'the deletion to be taken',
    )
    await until(async () => (await owner.call(containers.list)).total === 0, 'the container to be gone')
    expect(await onDocker()).toEqual([])
  })
})
