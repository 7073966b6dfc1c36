import { randomUUID } from 'node:crypto'
import { templates, type Template } from '@zhisuan/contract/aos/stack'
import type { BodyInput } from '@zhisuan/contract/define'
import { lookups } from '@zhisuan/contract/ecrm/region'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused, send } from '../../../testing/call.ts'
import { someone, type SignedIn } from '../../../testing/people.ts'

let app: TestApp
let owner: SignedIn
let stranger: SignedIn

beforeAll(async () => {
  app = await testApp()
  owner = await someone(app)
  stranger = await someone(app)
})
afterAll(() => app.close())

const compose = 'services:\n  web:\n    image: app:${TAG}\n    volumes: ["./app.conf:/etc/app.conf"]\n'
const asked = (wish: Partial<BodyInput<typeof templates.create>> = {}) => ({
  name: `t-${randomUUID()}`,
  version: '1.0.0',
  compose,
  variables: [{ name: 'TAG', type: 'text' as const }],
  ...wish,
})
const make = (wish?: Parameters<typeof asked>[0]): Promise<Template> => call(app, templates.create, { token: owner.token, body: asked(wish) })
const list = (query: object = {}) => call(app, templates.list, { token: owner.token, query })

describe('a template', () => {
  it('has versions, of which the newest is shown', async () => {
    const variables = [{ name: 'TAG', type: 'choice' as const, choices: ['1', '2'], default: '1' }]
    const first = await make({ description: '说明', labels: ['web', '测试'], variables })
    expect(first).toMatchObject({ version: '1.0.0', version_count: 1, labels: ['web', '测试'], variables: [{ name: 'TAG', label: '', required: true }] })
    const second = await make({ name: first.name, version: '1.1.0' })
    expect(await list({ keyword: first.name })).toEqual({ total: 1, items: [{ ...second, version_count: 2 }] })
    expect((await list({ labels: 'web' })).items).toEqual([])
    expect((await list({ id: first.id })).items).toMatchObject([{ id: first.id }])
    expect((await call(app, templates.versions, { token: owner.token, params: { id: first.id } })).items.map(({ version }) => version)).toEqual([
      '1.1.0',
      '1.0.0',
    ])
    expect(await refused(app, templates.create, { token: owner.token, body: asked({ name: first.name, version: '1.1.0' }) })).toMatchObject({
      status: 400,
      code: 95205,
      fields: [{ field: 'version' }],
    })
    expect(await call(app, lookups.uniqueness, { token: owner.token, body: { kind: 'aos.template', name: first.name } })).toMatchObject({ unique: false })
    expect(await call(app, lookups.uniqueness, { token: stranger.token, body: { kind: 'aos.template', name: first.name } })).toMatchObject({ unique: true })
  })

  it('is changed and deleted, a version or the whole', async () => {
    const first = await make()
    await make({ name: first.name, version: '2' })
    const changed = await call(app, templates.update, {
      token: owner.token,
      params: { id: first.id },
      body: { description: '新', compose: 'services:\n  a:\n    image: a:1\n' },
    })
    expect(changed).toMatchObject({ version: '1.0.0', description: '新', labels: [] })
    // As the specification writes it: both, which then have to be of one another.
    expect(await refused(app, templates.delete, { token: owner.token, query: { id: first.id, name: 'another' } })).toMatchObject({ status: 404 })
    expect((await send(app, templates.delete, { token: owner.token, query: { id: first.id, name: first.name } })).status).toBe(204)
    expect((await list({ name: first.name })).items).toMatchObject([{ version: '2', version_count: 1 }])
    expect((await send(app, templates.delete, { token: owner.token, query: { name: first.name } })).status).toBe(204)
    expect(await refused(app, templates.delete, { token: owner.token, query: { name: first.name } })).toMatchObject({ status: 404 })
    expect(await refused(app, templates.delete, { token: owner.token, query: {} })).toMatchObject({ status: 400 })
  })

  it('that cannot be deployed is refused, with the line', async () => {
    expect(
      await refused(app, templates.create, { token: owner.token, body: asked({ compose: 'services:\n  web:\n    image: a:1\n    privileged: true\n' }) }),
    ).toMatchObject({ status: 400, code: 95202, fields: [{ field: 'compose', message: expect.stringContaining('第4行') as string }] })
    expect(await refused(app, templates.create, { token: owner.token, body: asked({ version: 'new' }) })).toMatchObject({
      status: 400,
      fields: [{ field: 'version' }],
    })
    expect(
      await refused(app, templates.create, {
        token: owner.token,
        body: asked({
          variables: [
            { name: 'A', type: 'text' },
            { name: 'A', type: 'text' },
          ],
        }),
      }),
    ).toMatchObject({ status: 400, fields: [{ field: 'variables' }] })
  })

  it('declares what it cannot do without', async () => {
    const undeclared = { compose: 'services:\n  web:\n    image: app:1\n    command: echo ${MSG}\n' }
    const refusal = { status: 400, code: 95202, fields: [{ field: 'compose', message: '编排文件第4行：变量“MSG”没有声明，部署时无法填写' }] }
    expect(await refused(app, templates.create, { token: owner.token, body: asked(undeclared) })).toMatchObject(refusal)
    const { id } = await make({ ...undeclared, variables: [{ name: 'MSG', type: 'text' }] })
    expect(await refused(app, templates.update, { token: owner.token, params: { id }, body: undeclared })).toMatchObject(refusal)
    // What the file says by itself can be deployed.
    await make({ compose: 'services:\n  web:\n    image: app:${TAG:-1}\n', variables: [] })
  })

  it('of another organisation does not exist', async () => {
    const { id, name } = await make()
    for (const declared of [templates.get, templates.versions] as const)
      expect(await refused(app, declared, { token: stranger.token, params: { id } })).toMatchObject({ status: 404 })
    expect(await refused(app, templates.update, { token: stranger.token, params: { id }, body: { compose } })).toMatchObject({ status: 404 })
    for (const query of [{ id }, { name }]) expect(await refused(app, templates.delete, { token: stranger.token, query })).toMatchObject({ status: 404 })
    expect((await call(app, templates.list, { token: stranger.token, query: { keyword: name } })).items).toEqual([])
    // Its names are free to others.
    expect((await send(app, templates.create, { token: stranger.token, body: asked({ name }) })).status).toBe(201)
  })
})
