import { randomUUID } from 'node:crypto'
import { allCalls } from '@zhisuan/contract/calls'
import type { Kind } from '@zhisuan/contract/kind'
import { grants } from '@zhisuan/contract/iam/grant'
import { policies } from '@zhisuan/contract/iam/policy'
import { tasks, type Task } from '@zhisuan/contract/omc/task'
import { policyLanguage } from '@zhisuan/contract/policy/document'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused } from '../../../testing/call.ts'
import { makeUser, signIn, someone, type Person, type SignedIn } from '../../../testing/people.ts'
import { operationOn } from '../../../platform/kinds.ts'
import type { OperationStatus } from '../../../platform/operations.ts'
import { readCallOf } from './task.service.ts'

let app: TestApp
let owner: Person & SignedIn
let member: Person & SignedIn
let stranger: Person & SignedIn
beforeAll(async () => {
  app = await testApp()
  owner = await someone(app)
  stranger = await someone(app)
  const made = await makeUser(app, { kind: 4, organisation: owner.bp_id, roles: ['TENANT'] })
  member = { ...made, ...(await signIn(app, made)) }
})
afterAll(() => app.close())

/** Whoever runs an operation holds its lock: nobody takes this one up. */
async function hold(id: string): Promise<() => Promise<void>> {
  const [held, locked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const holding = app.platform.db.connection().execute(async (one) => {
    await sql`select pg_advisory_lock(hashtextextended(${id}, 7))`.execute(one)
    locked.resolve()
    await held.promise
    await sql`select pg_advisory_unlock(hashtextextended(${id}, 7))`.execute(one)
  })
  await locked.promise
  return async () => {
    held.resolve()
    await holding
  }
}

/** Long work that stands there. */
async function working(
  by: Person,
  wish: { kind?: string; type?: Kind; status?: OperationStatus; step?: string; resource?: string; at?: Date } = {},
): Promise<{ id: string; end: () => Promise<void> }> {
  const id = randomUUID()
  const { db } = app.platform
  const status = wish.status ?? 'running'
  const over = status === 'failed' || status === 'succeeded' || status === 'cancelled'
  const end = over ? async (): Promise<void> => undefined : await hold(id)
  await db
    .insertInto('operations')
    .values({
      id,
      kind: wish.kind ?? 'nextstack.vm.create',
      resource_type: wish.type ?? 'nextstack.vm',
      resource_id: wish.resource ?? randomUUID(),
      resource_name: 'web-1',
      of_id: null,
      of_part: null,
      bp_id: by.bp_id,
      actor_id: by.id,
      actor_name: by.name,
      status,
      steps_done: 1,
      steps_total: 3,
      step: wish.step ?? 'create',
      input: '',
      error: status === 'failed' ? 'quotaExceeded' : null,
      error_text: null,
      started_at: new Date(),
      finished_at: over ? new Date() : null,
      ...(wish.at !== undefined && { created_at: wish.at }),
    })
    .execute()
  return { id, end }
}
const listed = async (token: string, query: Record<string, string> = {}): Promise<Task[]> => (await call(app, tasks.list, { token, query })).items
const clear = () => app.platform.db.deleteFrom('operations').execute()

describe('tasks', () => {
  it('are long work on what one may see: one’s own, those of the organisation, and never another’s', async () => {
    const one = await working(member)
    await working(owner, { kind: 'cis.container.delete', type: 'cis.container', status: 'failed' })
    expect(await listed(owner.token, { state: 'open' })).toMatchObject([
      {
        id: one.id,
        kind: 'nextstack.vm.create',
        status: 'running',
        steps_done: 1,
        steps_total: 3,
        mine: false,
        actor_name: member.name,
        about: { kind: 'nextstack.vm', name: 'web-1' },
      },
    ])
    expect(await listed(member.token, { mine: 'true' })).toMatchObject([{ id: one.id, mine: true }])
    expect(await listed(member.token, { state: 'failed' })).toMatchObject([{ status: 'failed', error: expect.stringMatching(/\p{Script=Han}/u) as string }])
    expect(await listed(stranger.token)).toEqual([])
    expect(await refused(app, tasks.cancel, { token: stranger.token, params: { id: one.id } })).toMatchObject({ status: 404 })
    await one.end()
    await clear()
  })

  it('on what a policy hides are hidden, and are read on past', async () => {
    const [seen, hidden] = [randomUUID(), randomUUID()]
    const at = (ago: number): Date => new Date(Date.now() - ago * 1_000)
    const first = await working(owner, { resource: seen, status: 'succeeded', at: at(90) })
    for (let ago = 1; ago <= 60; ago++) await working(owner, { resource: hidden, status: 'succeeded', at: at(ago) })
    const made = await call(app, policies.create, {
      token: owner.token,
      body: {
        name: `p-${randomUUID()}`,
        document: {
          Version: policyLanguage,
          Statement: [{ Effect: 'Deny', Action: 'nextstack.vm.get', Resource: `zrn:nextstack:${owner.bp_id}:vm/${hidden}` }],
        },
      },
    })
    await call(app, grants.create, { token: owner.token, body: { policy_id: made.id, user_id: member.id } })
    expect((await listed(owner.token, { page_size: '100' })).length).toBe(61)
    const page = await call(app, tasks.list, { token: member.token, query: { page_size: '5' } })
    expect(page).toMatchObject({ items: [{ id: first.id }], next: null })
    await clear()
  })

  it('are read on page by page, none twice and none left out', async () => {
    const at = (ago: number): Date => new Date(Date.now() - ago * 1_000)
    const ids: string[] = []
    for (let ago = 1; ago <= 7; ago++) ids.push((await working(owner, { status: 'succeeded', at: at(ago) })).id)
    const seen: string[] = []
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: { items: Task[]; next: string | null } = await call(app, tasks.list, {
        token: owner.token,
        query: { page_size: '3', ...(cursor !== '' && { cursor }) },
      })
      seen.push(...page.items.map(({ id }) => id))
      cursor = page.next
    }
    expect(seen).toEqual(ids)
    await clear()
  })

  it('are cancelled by who may cancel work on the thing, while they can be', async () => {
    const one = await working(owner, { status: 'queued' })
    expect(await listed(owner.token, { state: 'open' })).toMatchObject([{ cancellable: true }])
    expect(await call(app, tasks.cancel, { token: member.token, params: { id: one.id } })).toMatchObject({ status: 'cancelling', cancellable: false })
    await one.end()
    const ended = await working(owner, { status: 'succeeded' })
    expect(await refused(app, tasks.cancel, { token: owner.token, params: { id: ended.id } })).toMatchObject({ code: 90017 })
    const whole = await working(owner, { status: 'running', kind: 'cis.container.delete', type: 'cis.container' })
    expect(await refused(app, tasks.cancel, { token: owner.token, params: { id: whole.id } })).toMatchObject({ code: 90018 })
    await whole.end()
    await clear()
  })

  it('are of kinds that each have a call by which they are seen', () => {
    const kinds = new Set(app.platform.modules().flatMap(({ operations = [] }) => operations.map(operationOn)))
    const pageKind = (kind: Kind): Kind => app.platform.kinds().get(kind)?.page?.kind ?? kind
    expect(kinds.size).toBeGreaterThan(10)
    expect([...kinds].filter((kind) => readCallOf(pageKind(kind)) === undefined)).toEqual([])
  })

  it('are cancelled by calls that there are', () => {
    const ids = new Set(allCalls.map(({ id }) => id))
    const calls = [...app.platform.kinds().values()].flatMap(({ cancelledBy }) => (cancelledBy === undefined ? [] : [cancelledBy.id]))
    expect(calls.length).toBeGreaterThan(0)
    expect(calls.filter((id) => !ids.has(id))).toEqual([])
  })
})
