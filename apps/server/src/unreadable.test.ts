import { templates } from '@zhisuan/contract/aos/stack'
import { configs } from '@zhisuan/contract/cis/container'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSaid } from './modules/aos/stack/stack.store.ts'
import { createSecrets } from './platform/secrets.ts'
import { testApp, type TestApp } from './testing/app.ts'
import { call, refused } from './testing/call.ts'
import { someone, type Person, type SignedIn } from './testing/people.ts'

/** As it comes out of a database that was restored beside another key: right in form, and not to be opened. */
const foreign = `v1.${Buffer.alloc(12).toString('base64')}.${Buffer.alloc(16).toString('base64')}.AAAA`
const compose = 'services:\n  web:\n    image: nginx\n'

let app: TestApp
let owner: Person & SignedIn
beforeAll(async () => {
  app = await testApp()
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

  it('is left out of what is said of a stack', () => {
    const secrets = createSecrets(Buffer.alloc(32, 1))
    expect(openSaid(secrets, { id: owner.id, error_text: foreign, output: foreign })).toEqual({ error_text: null, output: '' })
  })
})
