import { randomUUID } from 'node:crypto'
import { cannedAnswers, ticketDesk, ticketGroups, ticketHours } from '@zhisuan/contract/ticket/desk'
import { tickets } from '@zhisuan/contract/ticket/ticket'
import { messages } from '@zhisuan/contract/sys/message'
import type { BodyInput } from '@zhisuan/contract/define'
import type { Role } from '@zhisuan/contract/roles'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClock, testApp, type Clock, type TestApp } from '../../testing/app.ts'
import { call, refused } from '../../testing/call.ts'
import { someone, type Person, type SignedIn } from '../../testing/people.ts'
import { createTickets, type TicketBytes } from './ticket.service.ts'

type Somebody = Person & SignedIn
const [minute, hour, day] = [60_000, 3_600_000, 86_400_000]

describe('a work order', () => {
  let app: TestApp
  let clock: Clock
  let morning: number
  let asker: Somebody
  let colleague: Somebody
  let manager: Somebody
  let stranger: Somebody
  let first: Somebody
  let reviewer: Somebody
  let keeper: Somebody

  const never = async (): Promise<never> => {
    throw new Error('no files come here')
  }
  /** Another server's, which receives no files. */
  const nobodySends: TicketBytes = { receive: () => undefined, announce: never, upload: never, uploadsOf: never, read: never, release: async () => undefined }

  const staff = (role: Role) => someone(app, { kind: 4, roles: [role], organisation: null })
  const open = (more: Partial<BodyInput<typeof tickets.create>> = {}, by = asker) =>
    call(app, tickets.create, { token: by.token, body: { title: '连不上', type: 'fault', text: '**SSH** 超时', ...more } })
  const at = (by: Somebody, id: string) => ({ token: by.token, params: { id } })
  const told = async (by: Somebody) => (await call(app, messages.list, { token: by.token, query: { page_size: 100 } })).items
  /** The clock's own work, as the server does it each minute. */
  const tick = () =>
    createTickets(
      { ...app.platform, downloads: { offer: () => undefined, link: () => ({ path: '', expires_at: '' }), hold: () => undefined } },
      { bytes: nobodySends, tell: async () => undefined, mail: { signed: (text) => text, send: () => null } },
    ).tick()

  beforeAll(async () => {
    clock = createClock()
    // Ten o'clock of Beijing on the Thursday that comes next.
    const today = Math.floor((Date.now() + 8 * hour) / day)
    morning = (today + 1 + ((7 - (today % 7)) % 7)) * day + 2 * hour
    clock.advance(morning - Date.now())
    app = await testApp({}, { clock })
    asker = await someone(app, { kind: 2 })
    ;[manager, colleague] = [asker, await someone(app, { kind: 4, organisation: asker.bp_id })]
    stranger = await someone(app)
    ;[first, reviewer, keeper] = [await staff('COPOTE_NORMAL'), await staff('COPOTE_REVIEWER'), await staff('COPOTE_ADMIN')]
  })
  afterAll(() => app.close())

  it('goes from who asks to who answers and back, and is rated once', async () => {
    const { id, number, status, answer_due_at } = await open({}, colleague)
    expect(number).toBe(`${new Date(morning).toISOString().slice(0, 10).replaceAll('-', '')}-0001`)
    expect(status).toBe('open')
    // Four hours of work.
    expect(Math.abs(new Date(answer_due_at ?? '').getTime() - (morning + 4 * hour))).toBeLessThan(minute)
    expect((await told(keeper)).map(({ kind }) => kind)).toContain('ticket.came')
    await call(app, ticketDesk.claim, at(first, id))
    expect(await refused(app, ticketDesk.claim, at(reviewer, id))).toMatchObject({ code: 90010 })
    await call(app, ticketDesk.note, { ...at(first, id), body: { text: '又是他' } })
    await call(app, ticketDesk.answer, { ...at(first, id), body: { text: '哪一台？', next: 'ask' } })
    expect(await call(app, tickets.get, at(colleague, id))).toMatchObject({
      status: 'asking',
      unread: true,
      answer_due_at: null,
      solve_due_at: null,
      assignee: first.name,
    })
    expect((await told(colleague))[0]).toMatchObject({ kind: 'ticket.said', about: { kind: 'ticket.ticket', id } })
    const replied = await call(app, tickets.reply, { ...at(colleague, id), body: { text: 'web-1' } })
    expect(replied).toMatchObject({ status: 'working', mine: true, unread: false })
    // What they say among themselves is not for who asked.
    expect(replied.entries.map(({ kind }) => kind)).toEqual(['created', 'claimed', 'asked', 'text'])
    expect((await call(app, ticketDesk.get, at(first, id))).entries.map(({ kind }) => kind)).toEqual(['created', 'claimed', 'note', 'asked', 'text'])
    await call(app, ticketDesk.answer, { ...at(first, id), body: { text: '放行了 22 端口', next: 'resolve' } })
    await call(app, tickets.reopen, { ...at(colleague, id), body: { reason: '还是不行' } })
    await call(app, ticketDesk.answer, { ...at(first, id), body: { text: '现在可以了', next: 'resolve' } })
    expect(await call(app, tickets.confirm, at(colleague, id))).toMatchObject({ status: 'done', late: false })
    await call(app, tickets.rate, { ...at(colleague, id), body: { score: 5, text: '快' } })
    expect(await refused(app, tickets.rate, { ...at(colleague, id), body: { score: 1 } })).toMatchObject({ code: 98403 })
    expect(await refused(app, tickets.reply, { ...at(colleague, id), body: { text: '再说' } })).toMatchObject({ code: 90010 })
  })

  it('is seen by who opened it, who manages their organisation, and who answers; for others it is not there', async () => {
    const { id } = await open({}, colleague)
    expect((await call(app, tickets.get, at(manager, id))).mine).toBe(true)
    for (const one of [stranger, first]) expect(await refused(app, tickets.get, at(one, id))).toMatchObject({ status: 404 })
    expect(await call(app, ticketDesk.get, at(first, id))).toMatchObject({ id, mine: false })
    for (const declared of [tickets.confirm, tickets.withdraw, tickets.urge, tickets.read])
      expect(await refused(app, declared, at(stranger, id))).toMatchObject({ status: 404 })
    expect(await refused(app, ticketDesk.get, at(colleague, id))).toMatchObject({ status: 403 })
    const mine = await open()
    expect(await refused(app, tickets.get, at(colleague, mine.id))).toMatchObject({ status: 404 })
    expect((await call(app, tickets.list, { token: stranger.token, query: {} })).total).toBe(0)
  })

  it('about money or rights goes out when another has looked at the answer', async () => {
    const { id } = await open({ type: 'billing', title: '多扣了' })
    await call(app, ticketDesk.answer, { ...at(reviewer, id), body: { text: '退 10 元', next: 'resolve' } })
    expect(await call(app, tickets.get, at(asker, id))).toMatchObject({ status: 'reviewing' })
    expect((await call(app, tickets.get, at(asker, id))).entries.map(({ kind }) => kind)).toEqual(['created'])
    expect(await refused(app, ticketDesk.review, { ...at(first, id), body: { accept: true } })).toMatchObject({ status: 403 })
    expect(await refused(app, ticketDesk.review, { ...at(reviewer, id), body: { accept: true } })).toMatchObject({ code: 98402 })
    await call(app, ticketDesk.review, { ...at(keeper, id), body: { accept: false, reason: '没有依据' } })
    expect((await told(reviewer))[0]?.text).toContain('没有通过审核')
    await call(app, ticketDesk.answer, { ...at(reviewer, id), body: { text: '退 1 元', next: 'resolve' } })
    await call(app, ticketDesk.review, { ...at(keeper, id), body: { accept: true } })
    const seen = await call(app, tickets.get, at(asker, id))
    expect(seen).toMatchObject({ status: 'confirming' })
    // The first answer, which was refused, stays among them.
    expect(seen.entries.map(({ text }) => text)).toEqual(['**SSH** 超时', '退 1 元'])
  })

  it('is of the type that those say who answer, and leaves what is reviewed by a reviewer alone', async () => {
    const { id } = await open({ type: 'question', title: '怎么退款' })
    expect(await call(app, ticketDesk.retype, { ...at(first, id), body: { type: 'billing' } })).toMatchObject({ type: 'billing' })
    expect(await refused(app, ticketDesk.retype, { ...at(first, id), body: { type: 'question' } })).toMatchObject({ code: 98412 })
    expect(await call(app, ticketDesk.answer, { ...at(first, id), body: { text: '退 10 元', next: 'resolve' } })).toMatchObject({ status: 'reviewing' })
    expect(await refused(app, ticketDesk.retype, { ...at(reviewer, id), body: { type: 'question' } })).toMatchObject({ code: 90010 })
    await call(app, ticketDesk.review, { ...at(keeper, id), body: { accept: false, reason: '不是退款' } })
    expect(await call(app, ticketDesk.retype, { ...at(reviewer, id), body: { type: 'question' } })).toMatchObject({ type: 'question' })
    expect((await call(app, tickets.get, at(asker, id))).entries.map(({ kind }) => kind)).toEqual(['created', 'retyped', 'retyped'])
  })

  it('keeps what was told in confidence sealed, shows who read it, and wipes it with its end', async () => {
    const secret = 'root / Pa55-word!'
    const { id } = await open({ secret })
    const stored = () => app.platform.db.selectFrom('tickets').select('secret').where('id', '=', id).executeTakeFirstOrThrow()
    expect((await stored()).secret).not.toContain('Pa55')
    expect(JSON.stringify(await call(app, ticketDesk.get, at(first, id)))).not.toContain('Pa55')
    expect(await call(app, ticketDesk.reveal, at(first, id))).toEqual({ secret })
    const seen = await call(app, tickets.get, at(asker, id))
    expect(seen.entries.at(-1)).toMatchObject({ kind: 'revealed', by: first.name })
    expect(seen.has_secret).toBe(true)
    await call(app, tickets.withdraw, at(asker, id))
    expect((await stored()).secret).toBeNull()
    expect(await refused(app, ticketDesk.reveal, at(first, id))).toMatchObject({ code: 98408 })
    const audited = await app.platform.db.selectFrom('audit_log').selectAll().execute()
    expect(JSON.stringify(audited)).not.toContain('Pa55')
  })

  it('has nothing left of that, however it ends: taken back, confirmed, or by the clock', async () => {
    const stored = async (id: string) =>
      await app.platform.db.selectFrom('tickets').select(['secret', 'ended_at']).where('id', '=', id).executeTakeFirstOrThrow()
    const answered = async () => {
      const { id } = await open({ secret: 'Pa55-first' })
      await call(app, tickets.reply, { ...at(asker, id), body: { text: '还有一个', secret: 'Pa55-second' } })
      await call(app, ticketDesk.answer, { ...at(first, id), body: { text: '好了', next: 'resolve' } })
      expect((await stored(id)).secret).not.toBeNull()
      return id
    }
    const ended: string[] = []
    const [taken, confirmed, left] = [(await open({ secret: 'Pa55-third' })).id, await answered(), await answered()]
    await call(app, tickets.withdraw, at(asker, taken))
    await call(app, tickets.confirm, at(asker, confirmed))
    await app.platform.db
      .updateTable('tickets')
      .set({ confirm_by: new Date(clock.now().getTime() - 1) })
      .where('id', '=', left)
      .execute()
    // The clock looks each minute: so it is gone a minute after at most.
    await tick()
    for (const id of [taken, confirmed, left]) {
      const { secret, ended_at } = await stored(id)
      expect(secret).toBeNull()
      expect(ended_at).not.toBeNull()
      ended.push(id)
    }
    // No other table has a copy, sealed or not.
    const { rows } = await sql<{
      name: string
    }>`select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`.execute(app.platform.db)
    for (const { name } of rows) {
      const [found] = (
        await sql<{ count: number }>`select count(*) as count from ${sql.table(name)} as each where each::text ilike '%Pa55-%'`.execute(app.platform.db)
      ).rows
      expect(found?.count, name).toBe(0)
    }
    // And a rule of the table lets none come back.
    await expect(sql`update tickets set secret = 'x' where id = ${ended[0]}`.execute(app.platform.db)).rejects.toThrow('tickets_no_secret_after_end')
  })

  it('is about a statement that its provider sees, and a card of one’s own node, and of no other', async () => {
    const { db } = app.platform
    const [provider, contract, run, edge, card] = Array.from({ length: 5 }, () => randomUUID())
    const person = await someone(app, { kind: 4, roles: ['PROVIDER'], organisation: null })
    const another = await someone(app, { kind: 4, roles: ['PROVIDER'], organisation: null })
    await sql`insert into market_providers (id, bp_id, name, contact, description, status, created_by_name) values (${provider}, null, 'p', 'x', '', 'verified', '')`.execute(
      db,
    )
    await sql`insert into split_accounts (user_id, provider_id) values (${person.id}, ${provider})`.execute(db)
    await sql`insert into split_contracts (id, name, provider_id, status, created_by_name) values (${contract}, '东数-2026', ${provider}, 'active', '')`.execute(
      db,
    )
    await sql`insert into split_versions (id, contract_id, number, from_period, terms) values (${randomUUID()}, ${contract}, 1, '2026-01', '{"parties": []}')`.execute(
      db,
    )
    await sql`insert into split_runs (id, contract_id, provider_id, version_number, period, own_base, step, base, line_count, late_count, adjustment, amounts, hash, confirm_by, created_by, created_by_name)
      values (${run}, ${contract}, ${provider}, 1, '2026-01', 0, 0, 0, 0, 0, 0, '{}', 'x', now(), ${person.id}, '')`.execute(db)
    await sql`insert into edges (id, bp_id, name, description, binding, confirm, labels, taints, created_by_name) values (${edge}, ${asker.bp_id}, 'n', '', 'bound', 'auto', '{}', '[]', '')`.execute(
      db,
    )
    await sql`insert into market_nodes (id, bp_id, name) values (${edge}, ${asker.bp_id}, 'n')`.execute(db)
    await sql`insert into market_cards (id, edge_id, uuid, "index", model, memory_bytes, driver, health, trouble) values (${card}, ${edge}, 'GPU-1', 0, 'NVIDIA H200', 1, 'x', 'sick', 'xid')`.execute(
      db,
    )
    expect((await open({ type: 'split', about: { kind: 'split.run', id: run ?? '' } }, person)).about).toEqual({
      kind: 'split.run',
      id: run,
      name: '东数-2026 2026-01',
    })
    expect((await open({ about: { kind: 'market.card', id: card ?? '' } }, asker)).about).toEqual({ kind: 'market.card', id: card, name: 'NVIDIA H200' })
    const payout = randomUUID()
    await sql`insert into split_payouts (id, provider_id, amount, status, four_eyes, reference, reason, asked_by, asked_by_name, created_at)
      values (${payout}, ${provider}, 100000000, 'withdrawn', false, '', '账号错误', ${keeper.id}, '', now())`.execute(db)
    expect((await open({ type: 'split', about: { kind: 'split.payout', id: payout } }, person)).about).toEqual({
      kind: 'split.payout',
      id: payout,
      name: 'p 1.00',
    })
    for (const [by, about] of [
      [another, { kind: 'split.run', id: run ?? '' }],
      [another, { kind: 'split.payout', id: payout }],
      [stranger, { kind: 'split.run', id: run ?? '' }],
      [stranger, { kind: 'market.card', id: card ?? '' }],
    ] as const)
      expect(await refused(app, tickets.create, { token: by.token, body: { title: 'x', type: 'fault', text: 'x', about } })).toMatchObject({
        code: 98404,
        fields: [{ field: 'about' }],
      })
  })

  it('is about a thing that who opens it sees', async () => {
    const project = await app.platform.db.selectFrom('projects').select(['id', 'name']).where('bp_id', '=', asker.bp_id).executeTakeFirstOrThrow()
    const { about } = await open({ about: { kind: 'iam.project', id: project.id } })
    expect(about).toEqual({ kind: 'iam.project', ...project })
    expect(
      await refused(app, tickets.create, {
        token: stranger.token,
        body: { title: 'x', type: 'fault', text: 'x', about: { kind: 'iam.project', id: project.id } },
      }),
    ).toMatchObject({
      code: 98404,
      fields: [{ field: 'about' }],
    })
    expect(
      await refused(app, tickets.create, {
        token: asker.token,
        body: { title: 'x', type: 'fault', text: 'x', about: { kind: 'no.such' as never, id: randomUUID() } },
      }),
    ).toMatchObject({
      code: 98404,
    })
  })

  it('comes to the group of its type, is taken by one of two at once, and is handed on', async () => {
    const group = await call(app, ticketGroups.create, {
      token: keeper.token,
      body: { name: '网络组', user_ids: [first.id, reviewer.id], types: ['question'] },
    })
    expect(await refused(app, ticketGroups.create, { token: keeper.token, body: { name: '网络组' } })).toMatchObject({
      code: 98407,
      fields: [{ field: 'name' }],
    })
    expect(await refused(app, ticketGroups.create, { token: keeper.token, body: { name: 'x', user_ids: [asker.id] } })).toMatchObject({ code: 98406 })
    const { id } = await open({ type: 'question' })
    const queued = await call(app, ticketDesk.list, { token: first.token, query: { queue: 'group' } })
    expect(queued.items.map((one) => one.id)).toContain(id)
    const taken = await Promise.all(
      [first, reviewer].map((one) =>
        call(app, ticketDesk.claim, at(one, id)).then(
          () => one.name,
          () => null,
        ),
      ),
    )
    expect(taken.filter(Boolean)).toHaveLength(1)
    await call(app, ticketDesk.assign, { ...at(first, id), body: { to: { kind: 'person', id: keeper.id }, text: '你更熟' } })
    expect(await call(app, ticketDesk.get, at(keeper, id))).toMatchObject({ assignee: keeper.name, status: 'working' })
    expect(await refused(app, ticketDesk.assign, { ...at(first, id), body: { to: { kind: 'person', id: stranger.id } } })).toMatchObject({
      code: 98406,
      fields: [{ field: 'to' }],
    })
    await call(app, ticketGroups.delete, at(keeper, group.id))
    expect(await call(app, ticketDesk.get, at(keeper, id))).toMatchObject({ group: null })
  })

  it('is hurried once in a while, late when its time is over, and told of once', async () => {
    const { id } = await open({ priority: 'urgent' })
    await call(app, tickets.urge, at(asker, id))
    expect(await refused(app, tickets.urge, at(asker, id))).toMatchObject({ code: 98401, message: expect.stringContaining('30') as string })
    expect(await call(app, tickets.get, at(asker, id))).toMatchObject({ late: false })
    // As if it had been opened sixteen minutes ago.
    const before = new Date(clock.now().getTime() - 16 * minute)
    await app.platform.db
      .updateTable('tickets')
      .set({ running_since: before, answer_due_at: new Date(before.getTime() + 15 * minute) })
      .where('id', '=', id)
      .execute()
    expect(await call(app, tickets.get, at(asker, id))).toMatchObject({ late: true })
    for (let times = 0; times < 2; times++) await tick()
    expect((await call(app, ticketDesk.get, at(first, id))).entries.filter(({ kind }) => kind === 'escalated')).toHaveLength(1)
    const late = await call(app, ticketDesk.list, { token: first.token, query: { late: 'true' } })
    expect(late.items.map((one) => one.id)).toContain(id)
    // That it is not solved in time is told by itself, once, whatever was told of the answer.
    await call(app, ticketDesk.answer, { ...at(first, id), body: { text: '在看', next: 'stay' } })
    await app.platform.db
      .updateTable('tickets')
      .set({ solve_due_at: new Date(clock.now().getTime() - minute), used_ms: 500 * minute })
      .where('id', '=', id)
      .execute()
    for (let times = 0; times < 2; times++) await tick()
    expect((await call(app, ticketDesk.get, at(first, id))).entries.filter(({ kind }) => kind === 'escalated')).toHaveLength(2)
    // Less urgent, and no longer late.
    await call(app, ticketDesk.prioritise, { ...at(first, id), body: { priority: 'low' } })
    expect(await call(app, tickets.get, at(asker, id))).toMatchObject({ late: false })
  })

  it('counts as confirmed a week after its answer', async () => {
    const { id } = await open()
    await call(app, ticketDesk.answer, { ...at(first, id), body: { text: '好了', next: 'resolve' } })
    const { confirm_by } = await app.platform.db.selectFrom('tickets').select('confirm_by').where('id', '=', id).executeTakeFirstOrThrow()
    expect(((confirm_by?.getTime() ?? 0) - clock.now().getTime()) / day).toBeCloseTo(7, 2)
    await tick()
    expect(await call(app, tickets.get, at(asker, id))).toMatchObject({ status: 'confirming' })
    await app.platform.db
      .updateTable('tickets')
      .set({ confirm_by: new Date(clock.now().getTime() - 1) })
      .where('id', '=', id)
      .execute()
    await tick()
    expect(await call(app, tickets.get, at(asker, id))).toMatchObject({ status: 'done', entries: [{}, {}, { kind: 'confirmed', staff: null, by: '' }] })
  })

  it('carries files that its person sent, each once', async () => {
    const upload = async (by: Somebody) => {
      const { id, upload_path } = await call(app, tickets.upload, { token: by.token, body: { name: '日志.txt', size_bytes: 5 } })
      const sent = await app.http.inject({
        method: 'PATCH',
        url: upload_path,
        headers: { authorization: `Bearer ${by.token}`, 'tus-resumable': '1.0.0', 'upload-offset': '0', 'content-type': 'application/offset+octet-stream' },
        payload: 'hello',
      })
      expect(sent.statusCode).toBe(204)
      return id
    }
    const [mine, theirs] = [await upload(asker), await upload(stranger)]
    const { id } = await open({ upload_ids: [mine] })
    const [{ files: [file] = [] } = { files: [] }] = (await call(app, ticketDesk.get, at(first, id))).entries
    expect(file).toMatchObject({ name: '日志.txt', size_bytes: 5 })
    for (const wrong of [mine, theirs, randomUUID()])
      expect(await refused(app, tickets.reply, { ...at(asker, id), body: { text: 'x', upload_ids: [wrong] } })).toMatchObject({
        code: 98405,
        fields: [{ field: 'upload_ids' }],
      })
    // Nothing of what was refused is there.
    expect((await call(app, tickets.get, at(asker, id))).entries).toHaveLength(1)
    const { path } = await call(app, tickets.download, { token: asker.token, params: { id, file_id: file?.id ?? '' } })
    const answer = await app.http.inject(path)
    expect(answer.body).toBe('hello')
    expect(answer.headers['content-disposition']).toContain('attachment')
    expect(await refused(app, tickets.download, { token: stranger.token, params: { id, file_id: file?.id ?? '' } })).toMatchObject({ status: 404 })
    const other = await open({}, stranger)
    expect(await refused(app, tickets.download, { token: stranger.token, params: { id: other.id, file_id: file?.id ?? '' } })).toMatchObject({ status: 404 })
  })

  it('has figures, kept answers and hours for those who keep the desk', async () => {
    const made = await call(app, cannedAnswers.create, { token: keeper.token, body: { title: '重启', text: '请先重启实例。' } })
    await call(app, cannedAnswers.update, { ...at(keeper, made.id), body: { title: '重启', text: '请重启。' } })
    expect((await call(app, cannedAnswers.list, { token: first.token })).items).toEqual([{ ...made, text: '请重启。' }])
    expect(await refused(app, cannedAnswers.delete, at(first, made.id))).toMatchObject({ status: 403 })
    await call(app, cannedAnswers.delete, at(keeper, made.id))

    const hours = await call(app, ticketHours.get, { token: asker.token })
    expect(await refused(app, ticketHours.update, { token: keeper.token, body: { ...hours, from: '18:00', to: '09:00' } })).toMatchObject({
      fields: [{ field: 'to' }],
    })
    await call(app, ticketHours.update, { token: keeper.token, body: { ...hours, from: '00:00', to: '24:00', weekdays: [1, 2, 3, 4, 5, 6, 7], holidays: [] } })
    const { created_at, answer_due_at } = await open()
    expect(new Date(answer_due_at ?? '').getTime() - new Date(created_at).getTime()).toBe(240 * minute)

    const figures = await call(app, ticketDesk.figures, { token: keeper.token, query: { days: 30 } })
    expect(figures).toMatchObject({ score: 5, types: expect.arrayContaining([{ type: 'billing', created: 1, late: expect.any(Number) as number }]) as unknown })
    expect(figures.days).toHaveLength(30)
    expect(figures.days.reduce((sum, { created }) => sum + created, 0)).toBe(figures.created)
    expect(figures.done).toBeGreaterThanOrEqual(2)
    expect((await call(app, ticketDesk.staff, { token: first.token })).items.map(({ name }) => name)).toEqual(expect.arrayContaining([first.name, keeper.name]))
  })
})
