import { overview } from '@zhisuan/contract/nextstack/overview'
import { apiEvents, apiLogs, type ApiLog } from '@zhisuan/contract/omc/log'
import { configs } from '@zhisuan/contract/sys/sys'
import { auth } from '@zhisuan/contract/ums/auth'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused } from '../../../testing/call.ts'
import { makeUser, signIn, someone, type Person, type SignedIn } from '../../../testing/people.ts'
import { forgetDays } from './log.store.ts'

let app: TestApp
let admin: Person & SignedIn
let owner: Person & SignedIn
let stranger: Person & SignedIn
beforeAll(async () => {
  app = await testApp()
  admin = await someone(app, { kind: 1 })
  owner = await someone(app)
  stranger = await someone(app)
})
afterAll(() => app.close())

const listed = async (token: string, query: Record<string, string> = {}): Promise<ApiLog[]> => (await call(app, apiLogs.list, { token, query })).items

describe('events', () => {
  it('are what changed, long work and what was told, newest first, for administrators', async () => {
    await call(app, configs.set, { token: admin.token, body: { key: 'title', value: '别的名字' } })
    const { items } = await call(app, apiEvents.list, { token: admin.token, query: { type: 'change', keyword: 'sys.config' } })
    expect(items).toMatchObject([{ type: 'change', what: 'sys.config.set', outcome: 'succeeded', actor_name: admin.name }])
    expect((await call(app, apiEvents.list, { token: admin.token, query: { outcome: 'running' } })).items).toEqual([])
    const { path } = await call(app, apiEvents.export, { token: admin.token, body: { type: 'change' } })
    const file = await app.http.inject({ method: 'GET', url: path })
    expect(file.body).toContain('sys.config.set')
  })
})

describe('the log of calls', () => {
  it('has each call, who made it and what became of it, and nothing that was sent', async () => {
    await call(app, overview.get, { token: owner.token })
    await refused(app, apiEvents.list, { token: owner.token, query: {} })
    await refused(app, auth.password, { body: { username: owner.name, password: 'Wrong-password-1' } })
    await vi.waitFor(async () => expect(await listed(owner.token, { call: 'nextstack.overview.get' })).toHaveLength(1))
    expect(await listed(owner.token, { call: 'nextstack.overview.get' })).toMatchObject([
      { method: 'GET', outcome: 'ok', status: 200, code: 0, actor: { id: owner.id, name: owner.name }, bp_id: owner.bp_id, by_key: false },
    ])
    expect(await listed(owner.token, { outcome: 'refused', call: 'omc.apiEvent.list' })).toMatchObject([{ status: 403, code: 3000 }])
    const [wrong] = await listed(admin.token, { call: 'ums.auth.password', outcome: 'refused' })
    expect(wrong).toMatchObject({ actor: null, status: 401 })
    expect(JSON.stringify(await listed(admin.token, { page_size: '200' }))).not.toContain('Wrong-password')
  })

  it('is one’s own, or the organisation’s for who keeps it, and never another’s', async () => {
    const { token } = await signIn(app, await makeUser(app, { kind: 4, organisation: owner.bp_id, roles: ['TENANT'] }))
    await call(app, overview.get, { token })
    await call(app, overview.get, { token: stranger.token })
    await vi.waitFor(async () => expect((await listed(stranger.token, { call: 'nextstack.overview.get' })).length).toBe(1))
    expect((await listed(token, { call: 'nextstack.overview.get' })).every(({ actor }) => actor?.id !== owner.id)).toBe(true)
    expect(new Set((await listed(owner.token, { page_size: '200' })).map(({ bp_id }) => bp_id))).toEqual(new Set([owner.bp_id]))
    expect(await listed(owner.token, { bp_id: stranger.bp_id ?? '' })).toEqual([])
  })

  it('is read on page by page, without a row twice or left out', async () => {
    const all = await listed(owner.token, { page_size: '200', to: new Date().toISOString() })
    const seen: string[] = []
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: { items: ApiLog[]; next: string | null } = await call(app, apiLogs.list, {
        token: owner.token,
        query: { page_size: '2', to: all[0]?.at ?? '', ...(cursor !== '' && { cursor }) },
      })
      seen.push(...page.items.map(({ id }) => id))
      cursor = page.next
    }
    expect(seen).toEqual(all.filter(({ at }) => at < (all[0]?.at ?? '')).map(({ id }) => id))
    expect(await refused(app, apiLogs.list, { token: owner.token, query: { cursor: 'x' } })).toMatchObject({ fields: [{ field: 'cursor' }] })
  })

  it('is counted by the hour, hours in which nobody asked too', async () => {
    const { items } = await call(app, apiLogs.trend, { token: owner.token, query: { hours: '3' } })
    expect(items).toHaveLength(3)
    expect((items.at(-1)?.ok ?? 0) + (items.at(-2)?.ok ?? 0)).toBeGreaterThan(0)
    expect(items[0]).toMatchObject({ refused: 0, failed: 0 })
  })

  it('loses whole days when their time is over', async () => {
    const days = async () => (await sql`select 1 from pg_inherits where inhparent = 'api_calls'::regclass`.execute(app.platform.db)).rows.length
    const before = await days()
    await forgetDays(app.platform.db, new Date(Date.now() - 40 * 86_400_000))
    expect(await days()).toBe(before)
    await forgetDays(app.platform.db, new Date(Date.now() + 86_400_000))
    expect(await days()).toBeLessThan(before)
    // What comes is written all the same.
    app.clock.advance(5 * 86_400_000)
    const { token } = await signIn(app, owner)
    await vi.waitFor(async () => expect(await listed(token, { from: new Date(Date.now() + 4 * 86_400_000).toISOString() })).not.toEqual([]))
  })
})
