import { randomUUID } from 'node:crypto'
import { configs, containers, type Config } from '@zhisuan/contract/cis/container'
import type { BodyInput } from '@zhisuan/contract/define'
import { edges } from '@zhisuan/contract/ecrm/edge'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused, send } from '../../../testing/call.ts'
import { someone, type SignedIn } from '../../../testing/people.ts'
import { someNode, type TestAgent } from '../../ecrm/testing.ts'
import { fakeDocker } from '../testing.ts'

let app: TestApp
let owner: SignedIn
let stranger: SignedIn
let node: TestAgent
const docker = fakeDocker()

beforeAll(async () => {
  app = await testApp()
  owner = await someone(app)
  stranger = await someone(app)
  node = await someNode(app, owner.token, { answers: docker.answers })
  await vi.waitFor(async () => expect((await call(app, edges.get, { token: owner.token, params: { id: node.edge.id } })).status).toBe('online'))
})
afterAll(async () => {
  node.stop()
  await app.close()
})

const put = (body: Partial<BodyInput<typeof configs.put>> = {}): Promise<Config> =>
  call(app, configs.put, { token: owner.token, body: { name: `cfg-${randomUUID()}`, content: 'a=1\n', ...body } })
const get = async (id: string) => (await call(app, configs.list, { token: owner.token, query: { id } })).items[0]
const fileOf = (id: string, path: string) =>
  [...docker.containers.values()]
    .find(({ body }) => body.Labels['zhisuan.container'] === id)
    ?.files.get(path)
    ?.toString()
const eventually = (check: () => Promise<void> | void) => vi.waitFor(check)

describe('a config', () => {
  it('is made, found, changed and deleted', async () => {
    const made = await put({ description: '说明' })
    expect(made).toMatchObject({ revision: 1, used_by: 0, content: 'a=1\n', description: '说明' })
    const changed = await put({ id: made.id, revision: 1, name: made.name, content: 'a=2\n' })
    expect(changed).toMatchObject({ id: made.id, revision: 2, content: 'a=2\n' })
    expect((await call(app, configs.list, { token: owner.token, query: { keyword: made.name } })).items).toEqual([changed])
    const rows = await app.platform.db.selectFrom('container_configs').select('content').execute()
    expect(JSON.stringify(rows)).not.toContain('a=2')
    expect((await send(app, configs.delete, { token: owner.token, params: { id: made.id } })).status).toBe(204)
    expect(await get(made.id)).toBeUndefined()
  })

  it('is not changed by who has not seen the last change, nor named as another', async () => {
    const [one, two] = [await put(), await put()]
    const ask = (body: object) => refused(app, configs.put, { token: owner.token, body: { name: one.name, content: '', ...body } })
    expect(await ask({ id: one.id, revision: 7 })).toMatchObject({ status: 409, code: 90012, fields: [{ field: 'revision' }] })
    expect(await ask({ id: two.id })).toMatchObject({ status: 400, code: 95112, fields: [{ field: 'name' }] })
    expect(await ask({})).toMatchObject({ status: 400, code: 95112 })
    expect(await ask({ name: 'x y' })).toMatchObject({ status: 400, code: 90001, fields: [{ field: 'name' }] })
    expect(await ask({ id: randomUUID() })).toMatchObject({ status: 404 })
    for (const body of [{ id: one.id, name: 'x', content: '' }])
      expect(await refused(app, configs.put, { token: stranger.token, body })).toMatchObject({ status: 404 })
    expect(await refused(app, configs.delete, { token: stranger.token, params: { id: one.id } })).toMatchObject({ status: 404 })
    expect(await get(one.id)).toEqual(one)
    // Two organisations may use the same name.
    expect((await send(app, configs.put, { token: stranger.token, body: { name: one.name, content: '' } })).status).toBe(200)
  })

  it('is a file of containers, and reaches them when it changes, with a restart where that is wished', async () => {
    const config = await put()
    const path = '/etc/app/app.conf'
    const { items } = await call(app, containers.deploy, {
      token: owner.token,
      body: {
        name: `c-${randomUUID()}`,
        spec: { image: 'app:1', mounts: [{ type: 'config', config_id: config.id, path }] },
        placement: { edge_ids: [node.edge.id] },
      },
    })
    const id = items[0]?.id ?? ''
    const container = () => call(app, containers.get, { token: owner.token, params: { id } })
    await eventually(async () => expect((await container()).status).toBe('running'))
    expect(fileOf(id, path)).toBe('a=1\n')
    expect(await get(config.id)).toMatchObject({ used_by: 1 })
    expect(await refused(app, configs.delete, { token: owner.token, params: { id: config.id } })).toMatchObject({ status: 400, code: 95113 })

    const { started_at } = await container()
    await put({ id: config.id, name: config.name, content: 'a=2\n' })
    await eventually(() => expect(fileOf(id, path)).toBe('a=2\n'))
    expect((await container()).started_at).toBe(started_at)
    await put({ id: config.id, name: config.name, content: 'a=3\n', restart: true })
    await eventually(async () => expect((await container()).started_at).not.toBe(started_at))
    expect(fileOf(id, path)).toBe('a=3\n')
    // While Docker refuses it is not there; it is brought as soon as something is looked at again.
    docker.fail((method) => (method === 'PUT' ? { status: 500, message: 'no' } : null))
    await put({ id: config.id, name: config.name, content: 'a=4\n' })
    docker.fail(null)
    await put({ id: config.id, name: config.name, content: 'a=5\n' })
    await eventually(() => expect(fileOf(id, path)).toBe('a=5\n'))
  })
})
