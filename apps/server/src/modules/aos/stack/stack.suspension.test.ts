import { randomUUID } from 'node:crypto'
import { nodeStacks, services, stacks, stackTransitional, type Stack } from '@zhisuan/contract/aos/stack'
import { accounts } from '@zhisuan/contract/bill/account'
import { arrearsPolicies, standings, type StandingState } from '@zhisuan/contract/bill/arrears'
import { containers, type Container } from '@zhisuan/contract/cis/container'
import type { BodyInput } from '@zhisuan/contract/define'
import { edges } from '@zhisuan/contract/ecrm/edge'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused } from '../../../testing/call.ts'
import { someone, type Person, type SignedIn } from '../../../testing/people.ts'
import { chargeUsage } from '../../bill/testing.ts'
import { fakeDocker } from '../../cis/testing.ts'
import { someNode, startAgent, type TestAgent } from '../../ecrm/testing.ts'
import { fakeCompose } from '../testing.ts'

/** An organisation with a node of its own. */
interface Tenant {
  readonly who: Person & SignedIn
  readonly docker: ReturnType<typeof fakeDocker>
  readonly compose: ReturnType<typeof fakeCompose>
  node: TestAgent
}

let app: TestApp
let admin: Person & SignedIn
const ends: (() => void)[] = []
beforeAll(async () => {
  app = await testApp()
  admin = await someone(app, { kind: 1 })
})
afterEach(() => {
  for (const end of ends.splice(0)) end()
})
afterAll(() => app.close())

const policy = { low_balance: '0', grace_hours: 0, warning_hours: 0, suspends: true, stop_vms: true, stop_containers: true, refuse_new: true, resume: true }
const setPolicy = ({ who }: Tenant, wish: Partial<typeof policy> = {}) =>
  call(app, arrearsPolicies.setException, { token: admin.token, params: { id: who.bp_id ?? '' }, body: { ...policy, ...wish } })
const nodeIs = ({ who, node }: Tenant, status: string) =>
  expect.poll(async () => (await call(app, edges.get, { token: who.token, params: { id: node.edge.id } })).status).toBe(status)
const tenant = async (): Promise<Tenant> => {
  const who = await someone(app)
  const docker = fakeDocker()
  const compose = fakeCompose(docker)
  const node = await someNode(app, who.token, { answers: compose.answers })
  const one = { who, docker, compose, node }
  ends.push(() => one.node.stop())
  await nodeIs(one, 'online')
  await setPolicy(one)
  return one
}
const runsDry = ({ who }: Tenant) => chargeUsage(app.platform.db, who.bp_id ?? '', '1')
const pays = ({ who }: Tenant) => call(app, accounts.charge, { token: admin.token, params: { id: who.bp_id ?? '' }, body: { amount: '1' } })
const standing = ({ who }: Tenant) => call(app, standings.get, { token: who.token, params: { id: who.bp_id ?? '' } })
const comesTo = (one: Tenant, state: StandingState, phase: string | null) =>
  expect.poll(async () => ({ state: (await standing(one)).state, phase: (await standing(one)).suspension?.phase ?? null })).toEqual({ state, phase })
const suspended = async ({ who }: Tenant) => (await call(app, standings.resources, { token: who.token, params: { id: who.bp_id ?? '' } })).items
const stateOf = async (one: Tenant, { id }: { id: string }) => (await suspended(one)).find((resource) => resource.id === id)?.state ?? null

const of = ({ who }: Tenant, { id }: { id: string }) => ({ token: who.token, params: { id } })
const container = (one: Tenant, { id }: { id: string }) => call(app, containers.get, of(one, { id }))
const containerIs = (one: Tenant, which: { id: string }, status: Container['status']) =>
  expect.poll(async () => (await container(one, which)).status).toBe(status)
/** Its operation ends after what it says of the container; an open one refuses the next. */
const atRest = ({ id }: { id: string }) =>
  expect.poll(() => app.platform.db.selectFrom('operations').select('id').where('resource_id', '=', id).where('finished_at', 'is', null).execute()).toEqual([])
const containerBody = ({ node }: Tenant): BodyInput<typeof containers.deploy> => ({
  name: `c-${randomUUID()}`,
  spec: { image: 'app:1' },
  placement: { edge_ids: [node.edge.id] },
})
const deploy = async (one: Tenant): Promise<Container> => {
  const { items } = await call(app, containers.deploy, { token: one.who.token, body: containerBody(one) })
  const [made] = items
  if (made === undefined) return expect.fail('nothing was deployed')
  await containerIs(one, made, 'running')
  await atRest(made)
  return made
}
const act = async (one: Tenant, which: { id: string }, action: 'start' | 'stop', status: Container['status']): Promise<void> => {
  await call(app, containers.action, { ...of(one, which), body: action === 'stop' ? { action, timeout_seconds: 0 } : { action } })
  await containerIs(one, which, status)
  await atRest(which)
}

const stackBody = ({ node }: Tenant): BodyInput<typeof stacks.create> => ({
  name: `s-${randomUUID()}`,
  compose: 'services:\n  web:\n    image: app:1\n  db:\n    image: app:2\n',
  placement: { edge_ids: [node.edge.id] },
})
const stack = (one: Tenant, which: { id: string }) => call(app, nodeStacks.get, of(one, which))
const settled = async (one: Tenant, which: { id: string }) => {
  await expect.poll(async () => stackTransitional.includes((await stack(one, which)).status)).toBe(false)
  return stack(one, which)
}
const deployStack = async (one: Tenant): Promise<Stack> => {
  const { items } = await call(app, stacks.create, { token: one.who.token, body: stackBody(one) })
  const [made] = items
  if (made === undefined) return expect.fail('nothing was deployed')
  expect(await settled(one, made)).toMatchObject({ status: 'running', running_count: 2 })
  return made
}
const stopService = async (one: Tenant, which: Stack, name: string): Promise<void> => {
  const { services: all } = await stack(one, which)
  await call(app, services.action, { ...of(one, all.find((service) => service.name === name) ?? expect.fail(name)), body: { action: 'stop' } })
  expect(await settled(one, which)).toMatchObject({ status: 'degraded' })
}
const runningServices = async (one: Tenant, which: { id: string }): Promise<string[]> =>
  (await stack(one, which)).services.filter(({ running_count }) => running_count > 0).map(({ name }) => name)

describe('a suspension of what runs on nodes', () => {
  it('stops containers and applications, refuses what would run, and starts just what it stopped', async () => {
    const one = await tenant()
    const [runs, gone, stood] = [await deploy(one), await deploy(one), await deploy(one)]
    await act(one, stood, 'stop', 'exited')
    const [whole, part, stopped] = [await deployStack(one), await deployStack(one), await deployStack(one)]
    await stopService(one, part, 'web')
    await call(app, stacks.action, { ...of(one, stopped), body: { action: 'stop' } })
    expect(await settled(one, stopped)).toMatchObject({ status: 'stopped' })

    await runsDry(one)
    await comesTo(one, 'suspended', 'suspended')
    expect([...one.docker.containers.values()].filter(({ state }) => state === 'running')).toEqual([])
    expect((await suspended(one)).map(({ kind, id, state }) => [kind, id, state]).toSorted()).toEqual(
      [
        ['cis.container', runs.id, 'stopped'],
        ['cis.container', gone.id, 'stopped'],
        ['aos.stack', whole.id, 'stopped'],
        ['aos.stack', part.id, 'stopped'],
      ].toSorted(),
    )
    const { token } = one.who
    expect(await refused(app, containers.deploy, { token, body: containerBody(one) })).toMatchObject({ code: 24018 })
    expect(await refused(app, containers.action, { ...of(one, runs), body: { action: 'start' } })).toMatchObject({ code: 24018 })
    expect(await refused(app, containers.action, { ...of(one, stood), body: { action: 'restart' } })).toMatchObject({ code: 24018 })
    expect(await refused(app, stacks.create, { token, body: stackBody(one) })).toMatchObject({ code: 24018 })
    expect(await refused(app, stacks.action, { ...of(one, whole), body: { action: 'start' } })).toMatchObject({ code: 24018 })
    expect(await refused(app, stacks.action, { ...of(one, whole), body: { action: 'update' } })).toMatchObject({ code: 24018 })
    // Nothing was made of it.
    expect((await call(app, containers.list, { token, query: { page_size: 100 } })).items.filter(({ service }) => service === null)).toHaveLength(3)
    expect(await call(app, stacks.list, { token })).toMatchObject({ total: 3 })
    await call(app, containers.delete, of(one, gone))

    await pays(one)
    await comesTo(one, 'normal', null)
    await containerIs(one, runs, 'running')
    await containerIs(one, stood, 'exited')
    expect(await settled(one, whole)).toMatchObject({ status: 'running', running_count: 2 })
    expect(await runningServices(one, part)).toEqual(['db'])
    expect(await settled(one, stopped)).toMatchObject({ status: 'stopped' })
    expect(await stateOf(one, gone)).toBe('left')
    // Each was stopped and started once, as the platform.
    const { rows } = await app.platform.database.pool.query<{ kind: string; times: number }>(
      `select kind, count(*)::int as times from operations where bp_id = $1 and actor_id is null group by resource_id, kind order by kind`,
      [one.who.bp_id],
    )
    const kinds = ['aos.stack.start', 'aos.stack.start', 'aos.stack.stop', 'aos.stack.stop', 'cis.container.start', 'cis.container.stop', 'cis.container.stop']
    expect(rows).toEqual(kinds.map((kind) => ({ kind, times: 1 })))
  })

  it('refuses new ones from the beginning of arrears, and leaves running what it does not stop', async () => {
    const one = await tenant()
    await setPolicy(one, { grace_hours: 1, stop_containers: false })
    const [kept, application] = [await deploy(one), await deployStack(one)]
    await runsDry(one)
    await comesTo(one, 'arrears', null)
    expect(await refused(app, containers.deploy, { token: one.who.token, body: containerBody(one) })).toMatchObject({ code: 24011 })
    expect(await refused(app, stacks.create, { token: one.who.token, body: stackBody(one) })).toMatchObject({ code: 24011 })
    // What is there may be begun until the grace is over.
    await act(one, kept, 'stop', 'exited')
    await act(one, kept, 'start', 'running')
    await setPolicy(one, { stop_containers: false })
    await comesTo(one, 'suspended', 'suspended')
    await containerIs(one, kept, 'running')
    expect(await settled(one, application)).toMatchObject({ status: 'running' })
    expect(await suspended(one)).toEqual([])
  })

  it('leaves to people what they touched since', async () => {
    const one = await tenant()
    const [touched, other] = [await deploy(one), await deploy(one)]
    const application = await deployStack(one)
    await runsDry(one)
    await comesTo(one, 'suspended', 'suspended')
    // Whoever is faster than the next try, and has done with it.
    one.docker.fail((method, path) => (method === 'POST' && path.endsWith('/start') ? { status: 500, message: 'no room' } : null))
    await pays(one)
    await expect
      .poll(async () => (await suspended(one)).map(({ state, error }) => [state, error !== null]))
      .toEqual([
        ['starting', true],
        ['starting', true],
        ['starting', true],
      ])
    one.docker.fail(null)
    await atRest(touched)
    await act(one, touched, 'start', 'running')
    await act(one, touched, 'stop', 'exited')
    await atRest(application)
    await call(app, stacks.action, { ...of(one, application), body: { action: 'start' } })
    expect(await settled(one, application)).toMatchObject({ status: 'running' })
    await stopService(one, application, 'db')
    app.clock.advance(11_000)
    await comesTo(one, 'normal', null)
    await containerIs(one, other, 'running')
    await containerIs(one, touched, 'exited')
    expect(await runningServices(one, application)).toEqual(['web'])
    expect([await stateOf(one, touched), await stateOf(one, application), await stateOf(one, other)]).toEqual(['left', 'left', 'started'])
  })

  it('waits for a node that is away, says so, and stops what runs there when it is back', async () => {
    const one = await tenant()
    const [there, application] = [await deploy(one), await deployStack(one)]
    one.node.stop()
    await nodeIs(one, 'offline')
    await runsDry(one)
    await expect.poll(async () => (await suspended(one)).map(({ error }) => error?.includes('离线'))).toEqual([true, true])
    await comesTo(one, 'suspended', 'suspending')
    const { edge, privateKey, enrolment } = one.node
    const back = await startAgent(app, { edgeId: edge.id, privateKey, serverKey: new URL(enrolment.url).searchParams.get('key') ?? '' }, one.compose.answers)
    ends.push(back.stop)
    await nodeIs(one, 'online')
    app.clock.advance(11_000)
    await comesTo(one, 'suspended', 'suspended')
    await containerIs(one, there, 'exited')
    expect(await settled(one, application)).toMatchObject({ status: 'stopped' })
  })
})
