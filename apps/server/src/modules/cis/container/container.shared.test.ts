import { randomUUID } from 'node:crypto'
import { containers, type Container } from '@zhisuan/contract/cis/container'
import type { BodyInput } from '@zhisuan/contract/define'
import { edges, edgeImages } from '@zhisuan/contract/ecrm/edge'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { leastBalance } from '../../../testing/balance.ts'
import { call, refused } from '../../../testing/call.ts'
import { someone, type Person, type SignedIn } from '../../../testing/people.ts'
import { someNode, type TestAgent } from '../../ecrm/testing.ts'
import { fakeDocker } from '../testing.ts'

type Spec = Partial<BodyInput<typeof containers.deploy>['spec']>
type Share = BodyInput<typeof edges.share>

let app: TestApp
let admin: Person & SignedIn
let tenant: Person & SignedIn
let other: Person & SignedIn
let node: TestAgent
const docker = fakeDocker()
const gib = 2 ** 30
const limits = { containers: 2, cpu_cores: 2, memory_bytes: gib }

beforeAll(async () => {
  app = await testApp()
  admin = await someone(app, { kind: 1 })
  tenant = await someone(app)
  other = await someone(app)
  node = await someNode(app, admin.token, { answers: docker.answers })
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

const share = (body: Partial<Share>) => ({
  token: admin.token,
  params: { id: node.edge.id },
  body: { bp_id: null, shared_with: 'none' as const, share_limits: limits, ...body },
})
const asked = (spec: Spec = {}) => ({
  name: `c-${randomUUID()}`,
  spec: { image: 'app:1', cpu_limit: 0.5, memory_limit_bytes: gib / 4, ...spec },
  placement: { edge_ids: [node.edge.id] },
})
const deployed = async (who: SignedIn, spec: Spec = {}): Promise<Container> => {
  const { items } = await call(app, containers.deploy, { token: who.token, body: asked(spec) })
  const id = items[0]?.id ?? ''
  return vi.waitFor(async () => {
    const container = await call(app, containers.get, { token: who.token, params: { id } })
    expect(container.status).toBe('running')
    return container
  })
}
const refusedFor = (who: SignedIn, spec: Spec = {}) => refused(app, containers.deploy, { token: who.token, body: asked(spec) })
const remove = async (who: SignedIn, id: string): Promise<void> => {
  await call(app, containers.delete, { token: who.token, params: { id } })
  await vi.waitFor(async () => expect(await refused(app, containers.get, { token: who.token, params: { id } })).toMatchObject({ status: 404 }))
}
const usable = async (who: SignedIn) => (await call(app, edges.list, { token: who.token, query: { usable: 'true' } })).items
const body = (id: string) => [...docker.containers.values()].find((one) => one.body.Labels['zhisuan.container'] === id)?.body.HostConfig

describe('a node of the platform', () => {
  it('is nobody’s until it is shared: with named organisations, or with all', async () => {
    expect(await usable(tenant)).toEqual([])
    expect(await refusedFor(tenant)).toMatchObject({ code: 95004 })
    await call(app, edges.share, share({ shared_with: 'named', shared_bp_ids: [tenant.bp_id ?? ''] }))
    expect(await usable(tenant)).toMatchObject([{ id: node.edge.id, shared_with: 'named', shared_bp_ids: [], share_limits: limits }])
    expect(await usable(other)).toEqual([])
    expect(await refusedFor(other)).toMatchObject({ code: 95004 })
    const { id } = await deployed(tenant)
    // Whoever has containers there is not put out.
    expect(await refused(app, edges.share, share({}))).toMatchObject({ code: 95029 })
    expect(await refused(app, edges.share, share({ shared_with: 'named', shared_bp_ids: [other.bp_id ?? ''] }))).toMatchObject({ code: 95029 })
    await call(app, edges.share, share({ shared_with: 'all' }))
    const { id: others } = await deployed(other)
    await remove(tenant, id)
    await remove(other, others)
  })

  it('is paid for by the hour: who has less than they have to have runs nothing more there', async () => {
    const { id } = await deployed(tenant)
    await leastBalance(app, admin, tenant.bp_id, '50')
    expect(await refusedFor(tenant)).toMatchObject({ code: 96043 })
    const more = (cpu_limit: number) => ({
      token: tenant.token,
      params: { id },
      body: { action: 'update' as const, spec: { image: 'app:1', cpu_limit, memory_limit_bytes: gib / 4 } },
    })
    expect(await refused(app, containers.action, more(1))).toMatchObject({ code: 96043 })
    // What one has already is changed all the same.
    await call(app, containers.action, more(0.25))
    await vi.waitFor(async () => expect((await call(app, containers.get, { token: tenant.token, params: { id } })).status).toBe('running'))
    await leastBalance(app, admin, tenant.bp_id, '0')
    await remove(tenant, id)
  })

  it('has for nobody the images that others brought there: not by their names, and not by their ids', async () => {
    const { db } = app.platform
    await sql`
      insert into registries (id, name, description, engine, origin, status, url, address, ours, connection, health, created_by_name)
      values (${randomUUID()}, 'images', '', 'distribution', 'registered', 'deactive', 'http://127.0.0.1:1', '127.0.0.1:1', true, '', 'unknown', '')
    `.execute(db)
    for (const [name, visibility] of [
      ['private', 'private'],
      ['open', 'public'],
    ])
      await sql`
        insert into registry_projects (id, registry_id, name, bp_id, description, visibility, immutable_tags, keep_rules, bin_days, created_by_name)
        select ${randomUUID()}, id, ${name}, ${other.bp_id}, '', ${visibility}, '{}', '[]', 7, '' from registries where name = 'images'
      `.execute(db)
    const id = 'f839aaddb114'
    for (const image of ['127.0.0.1:1/private/app:1', '127.0.0.1:1/open/app:1', id]) docker.images.add(image)
    const ended = async (image: string) => {
      const { items } = await call(app, containers.deploy, { token: tenant.token, body: asked({ image }) })
      const params = { id: items[0]?.id ?? '' }
      const container = await vi.waitFor(async () => {
        const now = await call(app, containers.get, { token: tenant.token, params })
        expect(now.status).not.toBe('creating')
        return now
      }, 10_000)
      await remove(tenant, params.id)
      return container
    }
    expect(await ended('127.0.0.1:1/open/app:1')).toMatchObject({ status: 'running' })
    expect(await ended('127.0.0.1:1/private/app:1')).toMatchObject({ status: 'error', error: expect.stringContaining('127.0.0.1:1/private/app:1') as string })
    expect(await ended(id)).toMatchObject({ status: 'error' })
  })

  it('can only be used by whom it is shared with, and neither changed nor seen among their own', async () => {
    const params = { id: node.edge.id }
    expect((await call(app, edges.list, { token: tenant.token, query: {} })).total).toBe(0)
    expect(await refused(app, edges.get, { token: tenant.token, params })).toMatchObject({ status: 404 })
    expect(await refused(app, edgeImages.images, { token: tenant.token, params, query: {} })).toMatchObject({ status: 404 })
    expect(await refused(app, edges.share, { ...share({ shared_with: 'all' }), token: tenant.token })).toMatchObject({ status: 403 })
    expect(await refusedFor(tenant, { mounts: [{ type: 'bind', host_path: '/srv/x', path: '/x' }] })).toMatchObject({ code: 95111 })
  })

  it('gives each organisation no more than its limits, also where many come at once', async () => {
    expect(await refusedFor(tenant, { cpu_limit: null })).toMatchObject({ code: 95121, fields: [{ field: 'spec.cpu_limit' }] })
    expect(await refusedFor(tenant, { memory_limit_bytes: null })).toMatchObject({ code: 95121, fields: [{ field: 'spec.memory_limit_bytes' }] })
    expect(await refusedFor(tenant, { gpus: 1 })).toMatchObject({ code: 95122, fields: [{ field: 'spec.gpus' }] })
    expect(await refusedFor(tenant, { cpu_limit: 2.5 })).toMatchObject({ code: 95123 })
    expect(await refusedFor(tenant, { memory_limit_bytes: 2 * gib })).toMatchObject({ code: 95123 })
    const check = await call(app, containers.check, {
      token: tenant.token,
      body: { spec: { cpu_limit: 2.5, memory_limit_bytes: gib }, placement: { edge_ids: [node.edge.id] } },
    })
    expect(check.nodes[0]?.problems).toEqual([expect.stringContaining('最多2个容器、2核')])

    const many = await Promise.allSettled(['a', 'b', 'c', 'd'].map(() => deployed(tenant)))
    const made = many.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    expect(made).toHaveLength(2)
    // Another's share is theirs.
    const one = await deployed(other)
    const [first] = made
    expect(
      await refused(app, containers.action, {
        token: tenant.token,
        params: { id: first?.id ?? '' },
        body: { action: 'update', spec: { image: 'app:1', cpu_limit: 2, memory_limit_bytes: gib / 4 } },
      }),
    ).toMatchObject({ code: 95123 })
    for (const { id } of made) await remove(tenant, id)
    await remove(other, one.id)
  })

  it('keeps organisations apart: their volumes and networks are not one another’s', async () => {
    const mounts = [{ type: 'volume' as const, name: 'data', path: '/data' }]
    const [mine, theirs] = [await deployed(tenant, { mounts }), await deployed(other, { mounts })]
    const seen = [mine, theirs].map(({ id }) => body(id))
    expect(new Set(seen.map((host) => host?.Mounts?.[0]?.Source)).size).toBe(2)
    expect(new Set(seen.map((host) => host?.NetworkMode)).size).toBe(2)
    expect(seen[0]?.NetworkMode).toContain((tenant.bp_id ?? '').replaceAll('-', ''))
    await remove(tenant, mine.id)
    await remove(other, theirs.id)
  })

  it('is paid for by what containers may take, while they run', async () => {
    const usage = async (id: string) =>
      (await app.platform.db.selectFrom('usage_events').select('usage').where('resource_id', '=', id).orderBy('at').execute()).map((row) => row.usage)
    const { id } = await deployed(tenant)
    expect((await usage(id)).at(-1)).toEqual({ 'container.vcpu': 500, 'container.memory': gib / 4 })
    await call(app, containers.action, { token: tenant.token, params: { id }, body: { action: 'stop' } })
    await vi.waitFor(async () => expect((await usage(id)).at(-1)).toEqual({}))
    await remove(tenant, id)
  })

  it('can be an organisation’s own, which then has it whole', async () => {
    expect(await refused(app, edges.share, share({ bp_id: tenant.bp_id, shared_with: 'all' }))).toMatchObject({
      status: 400,
      fields: [{ field: 'shared_with' }],
    })
    expect(await refused(app, edges.share, share({ bp_id: randomUUID() }))).toMatchObject({ fields: [{ field: 'bp_id' }] })
    await call(app, edges.share, share({ bp_id: tenant.bp_id, share_limits: null }))
    expect((await call(app, edges.list, { token: tenant.token, query: {} })).items).toMatchObject([{ id: node.edge.id, bp_id: tenant.bp_id }])
    const { id } = await deployed(tenant, { cpu_limit: null, memory_limit_bytes: null })
    expect(await refusedFor(other)).toMatchObject({ code: 95004 })
    expect(await refused(app, edges.share, share({}))).toMatchObject({ code: 95029 })
    await remove(tenant, id)
  })
})
