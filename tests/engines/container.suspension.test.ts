import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { nodeStacks, stacks } from '@zhisuan/contract/aos/stack'
import { accounts } from '@zhisuan/contract/bill/account'
import { arrearsPolicies, standings } from '@zhisuan/contract/bill/arrears'
import { containers } from '@zhisuan/contract/cis/container'
import { edges } from '@zhisuan/contract/ecrm/edge'
import { users } from '@zhisuan/contract/ums/user'
import { createDocker } from '@zhisuan/engines/docker/engine'
import { socketTransport } from '@zhisuan/engines/docker/socket'
import { dockerIsThere, importBusybox } from '@zhisuan/engines/docker/testing'
import pino from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chargeUsage } from '../../apps/server/src/modules/bill/testing.ts'
import { openDatabase, type Database } from '../../apps/server/src/platform/db/database.ts'
import { register } from '../browser/people.ts'
import { parametersOf, startAgent, type RunningAgent } from '../support/agent.ts'
import { temporaryFolder, type TemporaryFolder } from '../support/folder.ts'
import { asAdministrator, Client, startServer, until, type RunningServer } from '../support/server.ts'

const docker = createDocker(socketTransport())
const run = randomUUID().slice(0, 8)
const image = `zs-suspension-${run}:1`
const sleeping = ['sh', '-c', "trap 'exit 0' TERM; sleep 1000 & wait"]

/** A whole server, a whole agent, compose and the Docker Engine of this host. */
describe.skipIf(!dockerIsThere)('an account that runs dry, on a node', () => {
  let data: TemporaryFolder
  let server: RunningServer
  let database: Database
  let agent: RunningAgent
  let admin: Client
  let owner: Client
  let bp_id: string
  let placement: { edge_ids: string[] }

  beforeAll(async () => {
    await importBusybox(docker, image)
    data = temporaryFolder('suspension')
    server = await startServer(data.path, { LOCAL_CLOUD: 'none', TRUST_PROXY: '1' })
    database = openDatabase(server.databaseUrl, { poolSize: 1, log: pino({ level: 'silent' }) })
    admin = await asAdministrator(server)
    const person = await register(server.url, 'suspended-owner', '欠费组织')
    owner = new Client(server.url)
    await owner.signIn(person.username, person.password)
    bp_id = (await owner.call(users.current)).bp_id ?? ''
    const { edge, enrolment } = await owner.call(edges.create, { body: { name: 'node', confirm: 'auto' } })
    placement = { edge_ids: [edge.id] }
    agent = startAgent(['serve', '--data', join(data.path, 'agent'), ...parametersOf(enrolment.command)])
    await until(async () => (await owner.call(edges.get, { params: { id: edge.id } })).status === 'online', 'the node to be online', 40_000)
    await admin.call(arrearsPolicies.setException, {
      params: { id: bp_id },
      body: { low_balance: '0', grace_hours: 0, warning_hours: 0, suspends: true, stop_vms: true, stop_containers: true, refuse_new: true, resume: true },
    })
  })
  afterAll(async () => {
    await database?.close()
    await agent?.stop()
    await server?.stop()
    for (const one of await ours()) await docker.containers.remove(one.id, { force: true, volumes: true })
    for (const { id, tags } of await docker.images.list()) if (tags.includes(image)) await docker.images.remove(id, { force: true })
    data?.remove()
  })

  const ours = async () => (await docker.containers.list({ all: true })).filter((one) => one.image === image)
  const running = async () =>
    (await ours())
      .filter(({ state }) => state === 'running')
      .map(({ id }) => id)
      .toSorted()
  const container = (id: string) => owner.call(containers.get, { params: { id } })
  const stack = (id: string) => owner.call(nodeStacks.get, { params: { id } })
  const containerIs = (id: string, status: string) => until(async () => (await container(id)).status === status, `the container to be ${status}`)
  const stackIs = (id: string, status: string) => until(async () => (await stack(id)).status === status, `the stack to be ${status}`, 60_000)
  const standing = () => owner.call(standings.get, { params: { id: bp_id } })
  const deploy = () =>
    owner.call(containers.deploy, { body: { name: `c-${run}-${randomUUID().slice(0, 4)}`, spec: { image, restart: 'always', command: sleeping }, placement } })

  it('has its containers and applications stopped, and started again when it has paid', async () => {
    const compose = `services:\n  web:\n    image: ${image}\n    restart: always\n    network_mode: none\n    command: ${JSON.stringify(sleeping)}\n  db:\n    image: ${image}\n    network_mode: none\n    command: ${JSON.stringify(sleeping)}\n`
    const [runs, stood] = [(await deploy()).items[0]?.id ?? '', (await deploy()).items[0]?.id ?? '']
    const application = (await owner.call(stacks.create, { body: { name: `s-${run}`, compose, placement } })).items[0]?.id ?? ''
    await containerIs(runs, 'running')
    await containerIs(stood, 'running')
    await until(
      () =>
        owner.call(containers.action, { params: { id: stood }, body: { action: 'stop', timeout_seconds: 0 } }).then(
          () => true,
          (error: unknown) => !String(error).includes('90011') && Promise.reject(error),
        ),
      'the stop to be taken',
    )
    await containerIs(stood, 'exited')
    await stackIs(application, 'running')
    const before = await running()
    expect(before).toHaveLength(3)

    await chargeUsage(database.db, bp_id, '1')
    await until(async () => (await standing()).suspension?.phase === 'suspended', 'the suspension', 60_000)
    // Though Docker was told to start them always.
    expect(await running()).toEqual([])
    expect((await container(runs)).status).toBe('exited')
    expect((await stack(application)).status).toBe('stopped')
    const refused = [
      deploy,
      () => owner.call(containers.action, { params: { id: runs }, body: { action: 'start' } }),
      () => owner.call(stacks.action, { params: { id: application }, body: { action: 'start' } }),
    ]
    for (const ask of refused) await expect(ask()).rejects.toThrow('24018')

    await admin.call(accounts.charge, { params: { id: bp_id }, body: { amount: '1' } })
    await until(async () => (await standing()).state === 'normal' && (await standing()).suspension === null, 'the resumption', 60_000)
    expect(await running()).toEqual(before)
    expect((await container(stood)).status).toBe('exited')
    await stackIs(application, 'running')
  })
})
