import { randomUUID } from 'node:crypto'
import { nodeStacks, stacks, templates } from '@zhisuan/contract/aos/stack'
import { configs, containers, deployments } from '@zhisuan/contract/cis/container'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import { edges } from '@zhisuan/contract/ecrm/edge'
import { fileShares, fileSpaces } from '@zhisuan/contract/files/file'
import { commands } from '@zhisuan/contract/nextstack/command'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { fakeCompose } from './modules/aos/testing.ts'
import { fakeDocker } from './modules/cis/testing.ts'
import { someNode } from './modules/ecrm/testing.ts'
import { openSaid } from './modules/aos/stack/stack.store.ts'
import { createSecrets } from './platform/secrets.ts'
import { testApp, type TestApp } from './testing/app.ts'
import { call, refused } from './testing/call.ts'
import { openTestEngine, startTestEngine } from './testing/engine.ts'
import { someone, type Person, type SignedIn } from './testing/people.ts'

/** As it comes out of a database that was restored beside another key: right in form, and not to be opened. */
const foreign = `v1.${Buffer.alloc(12).toString('base64')}.${Buffer.alloc(16).toString('base64')}.AAAA`
const compose = 'services:\n  web:\n    image: nginx\n'

let app: TestApp
let owner: Person & SignedIn
beforeAll(async () => {
  app = await testApp({}, { openEngine: openTestEngine })
  owner = await someone(app)
})
afterAll(() => app.close())

describe('what cannot be read', () => {
  it('keeps nobody from the other configs, and says so where it is asked for', async () => {
    const make = (name: string) => call(app, configs.put, { token: owner.token, body: { name, content: name } })
    const [bad, good] = [await make('bad'), await make('good')]
    await app.platform.db.updateTable('container_configs').set({ content: foreign }).where('id', '=', bad.id).execute()
    const { items } = await call(app, configs.list, { token: owner.token, query: { sort: 'name' } })
    expect(items.map(({ id, content }) => [id, content])).toEqual([
      [bad.id, ''],
      [good.id, 'good'],
    ])
  })

  it('keeps nobody from the other templates, and says so where it is asked for', async () => {
    const make = (name: string) => call(app, templates.create, { token: owner.token, body: { name, version: '1', compose } })
    const [bad, good] = [await make('bad'), await make('good')]
    await app.platform.db.updateTable('stack_templates').set({ content: foreign }).where('id', '=', bad.id).execute()
    const { items } = await call(app, templates.list, { token: owner.token, query: { sort: 'name', page_size: 1000 } })
    expect(items.filter(({ bp_id }) => bp_id === owner.bp_id).map(({ id, compose: text }) => [id, text])).toEqual([
      [bad.id, ''],
      [good.id, compose],
    ])
    expect((await call(app, templates.versions, { token: owner.token, params: { id: good.id } })).items).toHaveLength(1)
    expect(await refused(app, templates.get, { token: owner.token, params: { id: bad.id } })).toMatchObject({ status: 409, code: 90031 })
  })

  it('keeps nobody from the other revisions of a stack, also where it is the newest', async () => {
    const docker = fakeDocker()
    const node = await someNode(app, owner.token, { answers: fakeCompose(docker).answers })
    const settled = (id: string) =>
      vi.waitFor(async () => expect((await call(app, nodeStacks.get, { token: owner.token, params: { id } })).status).toBe('running'))
    await vi.waitFor(async () => expect((await call(app, edges.get, { token: owner.token, params: { id: node.edge.id } })).status).toBe('online'))
    const { id } = await call(app, nodeStacks.create, { token: owner.token, body: { name: 's', compose, edge_id: node.edge.id } })
    await settled(id)
    await call(app, stacks.action, { token: owner.token, params: { id }, body: { action: 'update', compose: `${compose}    user: "1"\n` } })
    await settled(id)
    const list = async () => {
      const { compose: now, revisions } = await call(app, stacks.composeConfig, { token: owner.token, params: { id } })
      return [now !== '', revisions.map(({ revision }) => revision)]
    }
    const spoil = (revision: number) =>
      app.platform.db.updateTable('stack_revisions').set({ content: foreign }).where('stack_id', '=', id).where('revision', '=', revision).execute()
    expect(await list()).toEqual([true, [2, 1]])
    await spoil(1)
    expect(await list()).toEqual([true, [2]])
    await spoil(2)
    expect(await list()).toEqual([false, []])
    node.stop()
  })

  it('keeps nobody from the other containers that were deployed', async () => {
    const node = await someNode(app, owner.token, { answers: fakeDocker().answers })
    await vi.waitFor(async () => expect((await call(app, edges.get, { token: owner.token, params: { id: node.edge.id } })).status).toBe('online'))
    const deploy = (name: string) =>
      call(app, containers.deploy, { token: owner.token, body: { name, spec: { image: 'app:1' }, placement: { edge_ids: [node.edge.id] } } })
    const [bad, good] = [await deploy('bad'), await deploy('good')]
    await app.platform.db.updateTable('container_deployments').set({ spec: foreign }).where('id', '=', bad.deployment_id).execute()
    await app.platform.db.updateTable('containers').set({ spec: foreign }).where('deployment_id', '=', bad.deployment_id).execute()
    const listed = await call(app, deployments.list, { token: owner.token, query: {} })
    expect(listed.items.map(({ id }) => id).toSorted()).toEqual([bad.deployment_id, good.deployment_id].toSorted())
    expect((await call(app, containers.list, { token: owner.token, query: { keyword: 'bad' } })).total).toBe(1)
    node.stop()
  })

  it('keeps nobody from the other commands', async () => {
    const admin = await someone(app, { kind: 1 })
    const { connection } = startTestEngine()
    const { cloud_id } = await call(app, clouds.create, { token: admin.token, body: { name: 'c', product: 'nextstack', connection } })
    const base = { bp_id: owner.bp_id, timeout_seconds: 60, vm_count: 1, created_by: owner.id, created_by_name: owner.name, finished_at: null }
    for (const id of [randomUUID(), randomUUID()])
      await app.platform.db
        .insertInto('commands')
        .values({ ...base, id, cloud_id, name: id, script: foreign })
        .execute()
    const { items } = await call(app, commands.list, { token: owner.token, query: {} })
    expect(items.map(({ script }) => script)).toEqual(['', ''])
  })

  it('keeps nobody from the other links that were shared, and is ended like them', async () => {
    const { items: spaces } = await call(app, fileSpaces.list, { token: owner.token })
    const { id: entry_id } = await call(app, fileSpaces.createFolder, { token: owner.token, params: { id: spaces[0]?.id ?? '' }, body: { name: 'shared' } })
    const make = () => call(app, fileShares.create, { token: owner.token, body: { entry_id } })
    const [bad, good] = [await make(), await make()]
    await app.platform.db.updateTable('file_shares').set({ token: foreign }).where('id', '=', bad.id).execute()
    const tokens = async () => (await call(app, fileShares.list, { token: owner.token, query: { sort: 'created_at' } })).items.map(({ token }) => token)
    expect(await tokens()).toEqual([null, good.token])
    await call(app, fileShares.delete, { token: owner.token, params: { id: bad.id } })
    expect(await tokens()).toEqual([good.token])
  })

  it('is left out of what is said of a stack', () => {
    const secrets = createSecrets(Buffer.alloc(32, 1))
    expect(openSaid(secrets, { id: owner.id, error_text: foreign, output: foreign })).toEqual({ error_text: null, output: '' })
  })
})
