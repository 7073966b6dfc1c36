import { projects } from '@zhisuan/contract/issue/project'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { uuidv7 } from '../../../platform/ids.ts'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused } from '../../../testing/call.ts'
import { someone } from '../../../testing/people.ts'

let app: TestApp
beforeAll(async () => {
  app = await testApp()
})
afterAll(() => app.close())

async function makeProject(bp_id: string | null, key: string, members: readonly string[] = []): Promise<string> {
  const id = uuidv7()
  await app.platform.db
    .insertInto('projects')
    .values({ id, key, name: `项目-${key}`, bp_id })
    .execute()
  for (const user_id of members) await app.platform.db.insertInto('project_members').values({ project_id: id, user_id }).execute()
  return id
}
const keysFor = async (token: string, query: Parameters<typeof call<typeof projects.list>>[2]['query'] = {}) =>
  (await call(app, projects.list, { token, query: { sort: 'key', ...query } })).items.map(({ key }) => key)

describe('the projects that somebody may work in', () => {
  it('are all of the organisation for its administrator', async () => {
    const [boss, stranger] = [await someone(app), await someone(app)]
    await makeProject(boss.bp_id, 'mine')
    await makeProject(stranger.bp_id, 'theirs')
    expect(await keysFor(boss.token)).toEqual(['default', 'mine'])
    const { items } = await call(app, projects.list, { token: boss.token, query: { keyword: 'mine' } })
    expect(items).toEqual([
      { id: expect.any(String), key: 'mine', name: '项目-mine', bp_id: boss.bp_id, bp_name: expect.any(String), created_at: expect.any(String) },
    ])
  })

  it('are those they are a member of for everybody else, and never another organisation’s', async () => {
    const [boss, stranger] = [await someone(app), await someone(app)]
    const worker = await someone(app, { kind: 4, organisation: boss.bp_id })
    await makeProject(boss.bp_id, 'joined', [worker.id])
    await makeProject(boss.bp_id, 'not-joined')
    await makeProject(stranger.bp_id, 'elsewhere', [worker.id])
    expect(await keysFor(worker.token)).toEqual(['joined'])
    const nobody = await someone(app, { kind: 4, organisation: null })
    expect(await keysFor(nobody.token)).toEqual([])
  })

  it('are all for the platform’s own people; searched, sorted and paged', async () => {
    const [admin, boss] = [await someone(app, { kind: 1 }), await someone(app)]
    for (const key of ['pg-1', 'pg-2', 'pg-3']) await makeProject(boss.bp_id, key)
    await makeProject(null, 'pg-4')
    expect(await keysFor(admin.token, { keyword: 'pg-' })).toEqual(['pg-1', 'pg-2', 'pg-3', 'pg-4'])
    expect(await keysFor(admin.token, { keyword: 'PG-', sort: '-key', page_size: 2 })).toEqual(['pg-4', 'pg-3'])
    expect(await keysFor(admin.token, { keyword: 'pg%' })).toEqual([])
    expect(await refused(app, projects.list, { token: admin.token, query: { sort: 'bp_id' } })).toMatchObject({ status: 400, code: 90001 })
  })
})
