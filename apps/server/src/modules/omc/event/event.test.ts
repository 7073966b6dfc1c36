import { randomUUID } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { receivers } from '@zhisuan/contract/omc/alarm'
import { events, eventSubscriptions, type StreamedEvent } from '@zhisuan/contract/omc/event'
import { apiEvents } from '@zhisuan/contract/omc/log'
import { configs } from '@zhisuan/contract/sys/sys'
import { accessKeys } from '@zhisuan/contract/ums/access-key'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Sql } from '../../../platform/db/database.ts'
import { createClock, testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused } from '../../../testing/call.ts'
import { makeUser, password, signIn, someone, type Person, type SignedIn } from '../../../testing/people.ts'
import { deny, keeping } from '../../../testing/policies.ts'

let app: TestApp
/** A second server of the same platform. */
let other: TestApp
let owner: Person & SignedIn
let stranger: Person & SignedIn
const places = new Map<TestApp, string>()
beforeAll(async () => {
  const clock = createClock()
  app = await testApp({ WEBHOOK_ALLOW: '127.0.0.1' }, { clock })
  other = await testApp({ WEBHOOK_ALLOW: '127.0.0.1', DATABASE_URL: app.databaseUrl }, { clock })
  for (const one of [app, other]) places.set(one, await one.http.listen({ port: 0, host: '127.0.0.1' }))
  owner = await someone(app)
  stranger = await someone(app)
})
afterAll(async () => {
  await other.close()
  await app.close()
})

/** Something happens to an instance of somebody's, in a transaction that is theirs or its own. */
async function happen(who: Person, name: string, on: Sql = app.platform.db, id: string = randomUUID()): Promise<void> {
  await sql`insert into operations (id, kind, resource_type, resource_id, resource_name, bp_id, actor_name, status, steps_total, input, finished_at)
    values (${randomUUID()}, 'nextstack.vm.start', 'nextstack.vm', ${id}, ${name}, ${who.bp_id}, '', 'succeeded', 1, '', now())`.execute(on)
}

interface Stream {
  readonly status: number
  /** All that came, in order. */
  readonly told: StreamedEvent[]
  /** What the client would come back with. */
  last: string
  ended: boolean
  cut(): void
}

/** As a program follows them. */
async function follow(token: string, query: Record<string, string> = {}, { lastId, at = app }: { lastId?: string; at?: TestApp } = {}): Promise<Stream> {
  const left = new AbortController()
  const response = await fetch(`${places.get(at)}${events.stream.path}?${new URLSearchParams({ since: 'now', ...query })}`, {
    headers: { authorization: `Bearer ${token}`, ...(lastId !== undefined && { 'last-event-id': lastId }) },
    signal: left.signal,
  })
  const stream: Stream = { status: response.status, told: [], last: '', ended: false, cut: () => left.abort() }
  const read = async (): Promise<void> => {
    let text = ''
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += chunk
      const blocks = text.split('\n\n')
      text = blocks.pop() ?? ''
      for (const block of blocks) {
        stream.last = /^id: (\d+)$/m.exec(block)?.[1] ?? stream.last
        const data = /^data: (.+)$/m.exec(block)?.[1]
        if (data !== undefined) stream.told.push(JSON.parse(data) as StreamedEvent)
      }
    }
  }
  void read()
    .catch(() => undefined)
    .finally(() => {
      stream.ended = true
    })
  if (response.ok) {
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/)
    await vi.waitFor(() => expect(stream.last).not.toBe(''))
  }
  return stream
}
const namesOf = (...streams: readonly Stream[]): string[] => streams.flatMap(({ told }) => told.flatMap(({ event }) => event?.about.name ?? []))

describe('the stream of events', () => {
  it('tells all once, whoever is cut off and comes back, and however late what was written early is committed', async () => {
    const first = await follow(owner.token, { types: 'operation' })
    const late = Promise.withResolvers<void>()
    const written = Promise.withResolvers<void>()
    const slow = app.platform.db.transaction().execute(async (tx) => {
      await happen(owner, 'late', tx)
      written.resolve()
      await late.promise
    })
    await written.promise
    const wanted = ['late']
    for (let nr = 0; nr < 20; nr++) {
      await happen(stranger, 'secret')
      await happen(owner, `vm-${nr}`)
      wanted.push(`vm-${nr}`)
    }
    await vi.waitFor(() => expect(namesOf(first).length).toBeGreaterThan(5))
    first.cut()
    late.resolve()
    await slow
    await happen(owner, 'after')
    // What came in while it was cut is asked for by the last that was read: from the other server.
    const second = await follow(owner.token, { types: 'operation' }, { lastId: first.last, at: other })
    await vi.waitFor(() => expect(namesOf(first, second)).toHaveLength(wanted.length + 1))
    expect(namesOf(first, second).toSorted()).toEqual([...wanted, 'after'].toSorted())
    const cursors = [...first.told, ...second.told].map(({ cursor }) => cursor)
    expect(cursors).toEqual(cursors.toSorted((one, another) => one - another))
    second.cut()
  })

  it('tells what is asked for: families, kinds, severities', async () => {
    const streams = [
      await follow(owner.token, { families: 'cis' }),
      await follow(owner.token, { families: 'cis', kinds: 'nextstack.vm' }),
      await follow(owner.token, { severities: 'critical' }),
    ]
    await happen(owner, 'one')
    await vi.waitFor(() => expect(namesOf(streams[1] as Stream)).toEqual(['one']))
    expect(streams.map((stream) => namesOf(stream).length)).toEqual([0, 1, 0])
    for (const stream of streams) stream.cut()
    expect(await refused(app, events.stream, { token: owner.token, query: { since: 'now', kinds: 'x' } })).toMatchObject({ fields: [{ field: 'kinds.0' }] })
    expect(await refused(app, events.stream, { token: owner.token, query: { since: '999999999' } })).toMatchObject({ code: 98634 })
  })

  it('does not say what things of others are called, which somebody asked for in vain', async () => {
    const { id } = await call(app, receivers.create, { token: stranger.token, body: { name: 'secret-hook', kind: 'webhook', url: 'http://127.0.0.1:9/' } })
    const stream = await follow(owner.token, { types: 'change' })
    expect(await refused(app, receivers.delete, { token: owner.token, params: { id } })).toMatchObject({ status: 404 })
    await vi.waitFor(() => expect(stream.told.map(({ event }) => event?.about.id)).toContain(id))
    expect(JSON.stringify(stream.told)).not.toContain('secret-hook')
    stream.cut()
  })

  it('is for access keys too, and ends with the key', async () => {
    const { key, secret } = await call(app, accessKeys.create, { token: owner.token, body: { name: 'watch', scheme: 'bearer', password } })
    const stream = await follow(secret)
    await happen(owner, 'by key')
    await vi.waitFor(() => expect(namesOf(stream)).toContain('by key'))
    await call(app, accessKeys.delete, { token: owner.token, params: { id: key.id } })
    await vi.waitFor(() => expect(stream.ended).toBe(true))
    expect((await follow(secret)).status).toBe(401)
  })

  it('goes by the rights of each moment, and ends with that to follow it', async () => {
    const made = await makeUser(app, { kind: 4, organisation: owner.bp_id, roles: ['TENANT'] })
    const member = { ...made, ...(await signIn(app, made)) }
    const { makePolicy, give } = keeping(app)
    const stream = await follow(member.token)
    await happen(owner, 'seen')
    await vi.waitFor(() => expect(namesOf(stream)).toContain('seen'))
    await give(owner, await makePolicy(owner, [deny(['nextstack.vm.get', 'iam.audit.list'])]), { user_id: member.id })
    await happen(owner, 'hidden')
    await sql`insert into operations (id, kind, resource_type, resource_id, resource_name, bp_id, actor_name, status, steps_total, input, finished_at)
      values (${randomUUID()}, 'nextstack.volume.create', 'nextstack.volume', ${randomUUID()}, 'disk', ${owner.bp_id}, '', 'succeeded', 1, '', now())`.execute(
      app.platform.db,
    )
    await vi.waitFor(() => expect(namesOf(stream)).toContain('disk'))
    expect(namesOf(stream)).not.toContain('hidden')
    await give(owner, await makePolicy(owner, [deny('omc.event.stream')]), { user_id: member.id })
    await happen(owner, 'more')
    await vi.waitFor(() => expect(stream.ended).toBe(true))
  })

  it('is read by the page of events too, where changes, work and messages stand', async () => {
    const admin = await someone(app, { kind: 1 })
    await call(app, configs.set, { token: admin.token, body: { key: 'title', value: '别的名字' } })
    const { items } = await call(app, apiEvents.list, { token: admin.token, query: { page_size: 200 } })
    expect(items.map(({ what }) => what)).toEqual(expect.arrayContaining(['sys.config.set', 'nextstack.vm.start']))
  })
})

describe('subscriptions', () => {
  let server: Server
  let url: string
  const came: { path: string; body: { text: string; alerts: { id: string; what: string; event?: { what: string; about: { name: string } } }[] } }[] = []
  /** What is answered, by path. */
  const answers = new Map<string, number>()
  beforeAll(async () => {
    server = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const path = request.url ?? ''
        const status = answers.get(path) ?? 200
        if (status === 200) came.push({ path, body: JSON.parse(Buffer.concat(chunks).toString('utf8')) as (typeof came)[number]['body'] })
        response.writeHead(status).end('{}')
      })
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterAll(() => server.close())

  const hook = async (by: SignedIn, path: string): Promise<string> =>
    (await call(app, receivers.create, { token: by.token, body: { name: `r-${randomUUID()}`, kind: 'webhook', url: `${url}${path}` } })).id
  const namesAt = (path: string): string[] =>
    came.filter((one) => one.path === path).flatMap(({ body }) => body.alerts.flatMap(({ event }) => event?.about.name ?? []))

  it('tell a receiver of each event once, by two servers, two subscriptions and through a repeat', async () => {
    const receiver = await hook(owner, '/once')
    for (const name of ['work', 'machines'])
      await call(app, eventSubscriptions.create, {
        token: owner.token,
        body: { name, receiver_ids: [receiver], ...(name === 'work' ? { types: ['operation'] } : { kinds: ['nextstack.vm'] }) },
      })
    answers.set('/once', 500)
    await happen(stranger, 'theirs')
    for (let nr = 0; nr < 5; nr++) await happen(owner, `told-${nr}`)
    const deliveries = () => call(app, receivers.deliveries, { token: owner.token, params: { id: receiver }, query: { page_size: 50 } })
    await vi.waitFor(async () => {
      const { items } = await deliveries()
      expect(items.filter(({ attempts, error }) => attempts > 0 && error !== null)).toHaveLength(5)
    })
    answers.delete('/once')
    app.clock.advance(60_000)
    await vi.waitFor(() => expect(namesAt('/once').toSorted()).toEqual([0, 1, 2, 3, 4].map((nr) => `told-${nr}`)))
    expect((await deliveries()).items).toMatchObject(Array.from({ length: 5 }, () => ({ what: 'event', status: 'sent' })))
    expect(came.find(({ path }) => path === '/once')?.body.alerts[0]).toMatchObject({ what: 'event', event: { what: 'nextstack.vm.start' } })
  })

  it('tell no more of what who made it may not see, also of what waits already', async () => {
    const made = await makeUser(app, { kind: 4, organisation: owner.bp_id, roles: ['TENANT'] })
    const member = { ...made, ...(await signIn(app, made)) }
    const receiver = await hook(member, '/rights')
    await call(app, eventSubscriptions.create, { token: member.token, body: { name: 'mine', receiver_ids: [receiver], types: ['operation'] } })
    await happen(owner, 'before')
    await vi.waitFor(() => expect(namesAt('/rights')).toEqual(['before']))
    answers.set('/rights', 500)
    await happen(owner, 'waits')
    const shown = async () => (await call(app, receivers.deliveries, { token: owner.token, params: { id: receiver }, query: {} })).items
    await vi.waitFor(async () => expect(await shown()).toMatchObject([{ attempts: 1 }, {}]))
    const { makePolicy, give } = keeping(app)
    await give(owner, await makePolicy(owner, [deny('nextstack.vm.get')]), { user_id: member.id })
    answers.delete('/rights')
    app.clock.advance(60_000)
    await vi.waitFor(async () => expect(await shown()).toMatchObject([{ status: 'failed', error: '订阅人已无权查看这一事件，没有发送' }, {}]))
    await happen(owner, 'after')
    await sql`insert into operations (id, kind, resource_type, resource_id, resource_name, bp_id, actor_name, status, steps_total, input, finished_at)
      values (${randomUUID()}, 'nextstack.volume.create', 'nextstack.volume', ${randomUUID()}, 'disk', ${owner.bp_id}, '', 'succeeded', 1, '', now())`.execute(
      app.platform.db,
    )
    await vi.waitFor(() => expect(namesAt('/rights')).toEqual(['before', 'disk']))
  })

  it('refuse receivers of others, and names that are taken', async () => {
    const receiver = await hook(stranger, '/theirs')
    const body = { name: 'x', receiver_ids: [receiver] }
    expect(await refused(app, eventSubscriptions.create, { token: owner.token, body })).toMatchObject({ code: 98623, fields: [{ field: 'receiver_ids' }] })
    await call(app, eventSubscriptions.create, { token: stranger.token, body })
    expect(await refused(app, eventSubscriptions.create, { token: stranger.token, body })).toMatchObject({ code: 98632, fields: [{ field: 'name' }] })
    expect((await call(app, eventSubscriptions.list, { token: owner.token, query: { keyword: 'x' } })).items).toEqual([])
  })
})
