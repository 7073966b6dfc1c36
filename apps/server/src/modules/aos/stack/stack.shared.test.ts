import { randomUUID } from 'node:crypto'
import { nodeStacks, services, stacks, stackTransitional } from '@zhisuan/contract/aos/stack'
import { containers } from '@zhisuan/contract/cis/container'
import type { BodyInput } from '@zhisuan/contract/define'
import { edges } from '@zhisuan/contract/ecrm/edge'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { leastBalance } from '../../../testing/balance.ts'
import { call, refused } from '../../../testing/call.ts'
import { someone, type Person, type SignedIn } from '../../../testing/people.ts'
import { fakeDocker } from '../../cis/testing.ts'
import { someNode, type TestAgent } from '../../ecrm/testing.ts'
import { fakeCompose } from '../testing.ts'

type Source = Partial<BodyInput<typeof nodeStacks.create>>

let app: TestApp
let admin: Person & SignedIn
let tenant: Person & SignedIn
let other: Person & SignedIn
let node: TestAgent
const docker = fakeDocker()
const compose = fakeCompose(docker)
const gib = 2 ** 30
const limits = { containers: 3, cpu_cores: 2, memory_bytes: gib }

beforeAll(async () => {
  app = await testApp()
  ;[admin, tenant, other] = [await someone(app, { kind: 1 }), await someone(app), await someone(app)]
  node = await someNode(app, admin.token, { answers: compose.answers })
  await vi.waitFor(async () =>
    expect(await call(app, edges.get, { token: admin.token, params: { id: node.edge.id } })).toMatchObject({
      status: 'online',
      docker_version: expect.any(String) as string,
    }),
  )
})
afterAll(async () => {
  node.stop()
  await app.close()
})

const share = (shared_with: 'none' | 'all') =>
  call(app, edges.share, { token: admin.token, params: { id: node.edge.id }, body: { bp_id: null, shared_with, share_limits: limits } })
const service = (more = '', cpus = '0.5', memory = '256m'): string =>
  `    image: app:1\n    deploy: { replicas: ${more === '' ? 1 : more}, resources: { limits: { cpus: "${cpus}", memory: ${memory} } } }\n`
const file = (...all: readonly string[]): string => `services:\n${all.map((text, index) => `  s${index}:\n${text}`).join('')}`
const asked = (composed: string, more: Source = {}) => ({ name: `s-${randomUUID()}`, compose: composed, edge_id: node.edge.id, ...more })
const refusedFor = (who: SignedIn, composed: string) => refused(app, nodeStacks.create, { token: who.token, body: asked(composed) })
const settled = async (who: SignedIn, id: string) => {
  await vi.waitFor(async () => expect(stackTransitional).not.toContain((await call(app, nodeStacks.get, { token: who.token, params: { id } })).status))
  return call(app, nodeStacks.get, { token: who.token, params: { id } })
}
const deployed = async (who: SignedIn, composed: string) => settled(who, (await call(app, nodeStacks.create, { token: who.token, body: asked(composed) })).id)
const remove = async (who: SignedIn, id: string): Promise<void> => {
  await call(app, stacks.delete, { token: who.token, params: { id } })
  await vi.waitFor(async () => expect(await refused(app, nodeStacks.get, { token: who.token, params: { id } })).toMatchObject({ status: 404 }))
}
const usage = async (id: string) =>
  (await app.platform.db.selectFrom('usage_events').select('usage').where('resource_id', '=', id).orderBy('at').execute()).map((row) => row.usage).at(-1)

describe('an application on a node that others share', () => {
  it('runs there once the node is shared with the organisation, and not before', async () => {
    expect(await refusedFor(tenant, file(service()))).toMatchObject({ code: 95004 })
    await share('all')
    const { id } = await deployed(tenant, file(service()))
    expect(await call(app, nodeStacks.get, { token: tenant.token, params: { id } })).toMatchObject({ status: 'running' })
    expect(await refused(app, nodeStacks.get, { token: other.token, params: { id } })).toMatchObject({ status: 404 })
    // Whoever has something there is not put out.
    expect(
      await refused(app, edges.share, { token: admin.token, params: { id: node.edge.id }, body: { bp_id: null, shared_with: 'none', share_limits: limits } }),
    ).toMatchObject({
      code: 95029,
    })
    await remove(tenant, id)
  })

  it('is paid for by the hour: who has less than they have to have makes none there, and none larger', async () => {
    const { id } = await deployed(tenant, file(service()))
    await leastBalance(app, admin, tenant.bp_id, '50')
    expect(await refusedFor(tenant, file(service()))).toMatchObject({ code: 96043 })
    const update = (compose: string) => ({ token: tenant.token, params: { id }, body: { action: 'update' as const, compose } })
    expect(await refused(app, stacks.action, update(file(service('2'))))).toMatchObject({ code: 96043 })
    await call(app, stacks.action, update(file(service('', '0.25'))))
    await settled(tenant, id)
    await leastBalance(app, admin, tenant.bp_id, '0')
    await remove(tenant, id)
  })

  it.each([
    ['without limits', '    image: app:1\n', 'limits'],
    ['without a limit of memory', '    image: app:1\n    cpus: 1\n', 'limits'],
    ['with limits that limit nothing', service('1', '0', '0'), 'limits'],
    // Compose forgets it where anything is said of the deployment.
    ['with a limit in the older way', '    image: app:1\n    mem_limit: 256m\n    deploy: { resources: { limits: { cpus: "0.5" } } }\n', 'limits'],
    ['with a GPU', `${service()}    runtime: nvidia\n`, 'GPU'],
    ['in a network that all are in', `${service()}    network_mode: bridge\n`, 'network_mode'],
    ['under a name that others may have', `${service()}    container_name: web\n`, 'container_name'],
    ['with a directory of the node', `${service()}    volumes: ["/srv/x:/x"]\n`, '/srv/x'],
  ])('is refused %s, and the line is named', async (_, text, word) => {
    expect(await refusedFor(tenant, file(text))).toMatchObject({
      code: 95202,
      fields: [{ field: 'compose', message: expect.stringContaining(word) as string }],
    })
  })

  it('counts with the containers of its organisation against one limit, also when it grows, is scaled, and many come at once', async () => {
    expect(await refusedFor(tenant, file(service('4', '0.1', '16m')))).toMatchObject({ code: 95123 })
    expect(await refusedFor(tenant, file(service('1', '2.5')))).toMatchObject({ code: 95123 })
    expect(await refusedFor(tenant, file(service('2', '0.5', '600m')))).toMatchObject({ code: 95123 })
    const many = await Promise.allSettled(['a', 'b', 'c', 'd'].map(() => deployed(tenant, file(service('2', '0.1', '16m')))))
    const made = many.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    expect(made).toHaveLength(1)
    const [first] = made
    const id = first?.id ?? ''
    const [one] = first?.services ?? []
    expect(await refused(app, services.action, { token: tenant.token, params: { id: one?.id ?? '' }, body: { action: 'scale', replicas: 4 } })).toMatchObject({
      code: 95123,
    })
    await call(app, services.action, { token: tenant.token, params: { id: one?.id ?? '' }, body: { action: 'scale', replicas: 3 } })
    await settled(tenant, id)
    const container = {
      name: `c-${randomUUID()}`,
      spec: { image: 'app:1', cpu_limit: 0.1, memory_limit_bytes: gib / 64 },
      placement: { edge_ids: [node.edge.id] },
    }
    expect(await refused(app, containers.deploy, { token: tenant.token, body: container })).toMatchObject({ code: 95123 })
    expect(
      await refused(app, stacks.action, { token: tenant.token, params: { id }, body: { action: 'update', compose: file(service('4', '0.1', '16m')) } }),
    ).toMatchObject({ code: 95123 })
    await call(app, stacks.action, { token: tenant.token, params: { id }, body: { action: 'update', compose: file(service('1', '0.1', '16m')) } })
    await settled(tenant, id)
    const { items } = await call(app, containers.deploy, { token: tenant.token, body: container })
    // Another's share is theirs.
    const theirs = await deployed(other, file(service('3', '0.1', '16m')))
    await remove(other, theirs.id)
    await vi.waitFor(async () =>
      expect(await call(app, containers.get, { token: tenant.token, params: { id: items[0]?.id ?? '' } })).toMatchObject({ status: 'running' }),
    )
    await call(app, containers.delete, { token: tenant.token, params: { id: items[0]?.id ?? '' } })
    await remove(tenant, id)
    const again = await deployed(tenant, file(service('3', '0.1', '16m')))
    await remove(tenant, again.id)
  })

  it('is paid for by what its containers may take, while they run', async () => {
    const { id, services: all } = await deployed(tenant, file(service('1', '0.5', '256m')))
    const { items } = await call(app, services.instances, { token: tenant.token, params: { id: all[0]?.id ?? '' } })
    const container = items[0]?.id ?? ''
    await vi.waitFor(async () => expect(await usage(container)).toEqual({ 'container.vcpu': 500, 'container.memory': 256 * 2 ** 20 }))
    await call(app, stacks.action, { token: tenant.token, params: { id }, body: { action: 'stop' } })
    await settled(tenant, id)
    await vi.waitFor(async () => expect(await usage(container)).toEqual({}))
    await remove(tenant, id)
  })
})
