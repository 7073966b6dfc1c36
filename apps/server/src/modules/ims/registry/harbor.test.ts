import { edges } from '@zhisuan/contract/ecrm/edge'
import { preheats } from '@zhisuan/contract/ims/preheat'
import { registryProjects, repositories } from '@zhisuan/contract/ims/project'
import { registries } from '@zhisuan/contract/ims/registry'
import { startFakeHarbor, type FakeHarbor } from '@zhisuan/engines/registry/harbor.testing'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused } from '../../../testing/call.ts'
import { someone, type Person, type SignedIn } from '../../../testing/people.ts'
import { fakeDocker } from '../../cis/testing.ts'
import { someNode } from '../../ecrm/testing.ts'

let app: TestApp
let admin: Person & SignedIn
let harbor: FakeHarbor
beforeAll(async () => {
  app = await testApp()
  admin = await someone(app, { kind: 1 })
  harbor = await startFakeHarbor()
  harbor.repositories.set('library/app', ['1.0', '2.0'])
  harbor.repositories.set('team/deep/worker', ['latest'])
})
afterAll(async () => {
  await app.close()
  harbor.close()
})

const create = (account: { username: string; password: string } | undefined, engine: 'harbor' | 'distribution' = 'harbor') => ({
  token: admin.token,
  body: { name: `harbor-${engine}`, connection: { engine, url: harbor.url, ...(account !== undefined && { account }) } },
})

describe('a Harbor that is registered', () => {
  it('is tried before it is kept', async () => {
    expect(await refused(app, registries.create, create({ ...harbor.account, password: 'wrong' }))).toMatchObject({
      code: 97004,
      fields: [{ field: 'connection.account' }],
    })
    expect((await call(app, registries.list, { token: admin.token, query: {} })).total).toBe(0)
  })

  it('is listed and browsed as any other registry, and images are brought from it to nodes by its robot account', async () => {
    const registry = await call(app, registries.create, create(harbor.account))
    expect(registry).toMatchObject({ engine: 'harbor', address: harbor.address, username: harbor.account.username, token_service: null })
    const { id } = registry
    await call(app, registries.action, { token: admin.token, params: { id }, query: { action: 'reconcile' } })
    const projects = await vi.waitFor(async () => {
      const { items } = await call(app, registryProjects.list, { token: admin.token, params: { id }, query: { everybody: 'true' } })
      expect(items.map(({ name }) => name).toSorted()).toEqual(['library', 'team'])
      return items
    })
    const at = (project: string, name: string) => ({ id, pid: projects.find((one) => one.name === project)?.id ?? '', name })
    await vi.waitFor(async () =>
      expect((await call(app, repositories.tags, { token: admin.token, params: at('library', 'app'), query: { sort: 'name' } })).items).toMatchObject([
        { name: '1.0', kind: 'image' },
        { name: '2.0', kind: 'image' },
      ]),
    )
    expect((await call(app, repositories.tags, { token: admin.token, params: at('team', 'deep/worker'), query: {} })).items).toMatchObject([{ name: 'latest' }])
    expect(await call(app, registries.get, { token: admin.token, params: { id } })).toMatchObject({ repository_count: 2, tag_count: 3, reconcile_error: null })

    const docker = fakeDocker()
    const node = await someNode(app, admin.token, { answers: docker.answers })
    await vi.waitFor(async () => expect((await call(app, edges.get, { token: admin.token, params: { id: node.edge.id } })).status).toBe('online'))
    const { id: preheat } = await call(app, preheats.create, {
      token: admin.token,
      params: { id },
      body: { images: [{ repository: 'library/app', tag: '1.0' }], nodes: { node_ids: [node.edge.id] } },
    })
    await vi.waitFor(
      async () => expect(await call(app, preheats.get, { token: admin.token, params: { id: preheat } })).toMatchObject({ status: 'succeeded' }),
      {
        timeout: 10_000,
      },
    )
    expect(docker.pulls).toMatchObject([
      { image: `${harbor.address}/library/app:1.0`, auth: { username: harbor.account.username, password: harbor.account.password } },
    ])
    node.stop()
  })
})
