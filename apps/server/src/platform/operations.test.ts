import { randomUUID } from 'node:crypto'
import { errors } from '@zhisuan/contract/errors'
import { EngineError } from '@zhisuan/engines/errors'
import { sql } from 'kysely'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { shortened } from '../testing/app.ts'
import { tablesWith } from '../testing/clear.ts'
import { freshDatabase } from '../testing/database.ts'
import { readConfig } from './config.ts'
import { Refusal } from './errors.ts'
import { shownStatus } from './history.ts'
import { createLog } from './log.ts'
import { lateLookEveryMs, retryDelays, takeUpEveryMs, type OperationDefinition, type OperationStatus } from './operations.ts'
import { openPlatform, type OpenedPlatform } from './platform.ts'

/** One server's worth of platform on the test's database. */
interface Server {
  platform: OpenedPlatform
  begin(resource?: string, input?: Input, definition?: OperationDefinition<Input>): Promise<string>
  cancel(id: string): Promise<void>
}
type Input = { text: string }
type Step = (input: Input, context: { signal: AbortSignal; operation_id: string }) => Promise<void>

let database: { url: string; drop(): Promise<void> }
let servers: Server[]
/** What happened, in order. */
let happened: string[]
/** What the steps do; to be set by tests. */
let steps: Record<'one' | 'two', Step>
let undo: Step
/** Whether the engine has it so. */
let reached: () => Promise<boolean>

beforeEach(async () => {
  database = await freshDatabase({ schema: false })
  servers = []
  happened = []
  steps = { one: async () => undefined, two: async () => undefined }
  undo = async () => undefined
  reached = async () => false
})
afterEach(async () => {
  for (const { platform } of servers) await platform.close()
  await database.drop()
})

const definition: OperationDefinition<Input> = {
  kind: 'test.thing.do',
  resource_type: 'nextstack.vm',
  input: z.object({ text: z.string() }),
  steps: (['one', 'two'] as const).map((name) => ({
    name,
    cancellable: name === 'one',
    reached: name === 'one' ? () => reached() : ('unseen' as const),
    run: async (context) => {
      happened.push(name)
      await steps[name](context.input, context)
    },
  })),
  undo: async (context) => {
    happened.push('undo')
    await undo(context.input, context)
  },
  ended: async (tx, context, refusal) => {
    happened.push(`ended ${refusal?.refusal ?? 'well'}`)
    await sql`insert into ends values (${context.resource_id}, ${refusal?.message ?? null})`.execute(tx)
  },
}

/** The same, of which nothing is taken back. */
const { undo: _, ...kept } = definition
const keeping: OperationDefinition<Input> = { ...kept, kind: 'test.thing.keep' }

async function start(key = 7, hurried: readonly number[] = []): Promise<Server> {
  const config = readConfig({ ZHISUAN_ENV: 'test', DATABASE_URL: database.url, DATABASE_POOL_SIZE: '4', SECRET_KEY: Buffer.alloc(32, key).toString('base64') })
  const platform = await openPlatform(config, createLog({ LOG_LEVEL: 'silent' }), { pause: shortened([...retryDelays, ...hurried], 50) })
  await platform.compose([{ handlers: [], kinds: { 'nextstack.vm': {} }, operations: [definition, keeping] }])
  await sql`create table if not exists ends (resource_id uuid not null, message text)`.execute(platform.db)
  await platform.jobs.start([platform.operations.job], [platform.operations.jobHandler])
  await platform.operations.start()
  const server: Server = {
    platform,
    begin: (resource = randomUUID(), input = { text: 'hello' }, begun = definition) =>
      platform.db.transaction().execute((tx) => platform.operations.begin(tx, begun, { resource_id: resource, bp_id: null, actor: null, input })),
    cancel: (id) => platform.db.transaction().execute((tx) => platform.operations.cancel(tx, id)),
  }
  servers.push(server)
  return server
}
async function stop(server: Server): Promise<void> {
  servers = servers.filter((one) => one !== server)
  await server.platform.close()
}
/** What is said of it opened. */
const rowOf = async ({ platform }: Server, id: string) => {
  const row = await platform.db.selectFrom('operations').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
  return { ...row, error_text: row.error_text === null ? null : platform.operations.said(row).error }
}
const ended = (server: Server, id: string) =>
  vi.waitFor(
    async () => {
      const row = await rowOf(server, id)
      expect(['succeeded', 'failed', 'cancelled']).toContain(row.status)
      return row
    },
    { interval: 20 },
  )
const ends = async ({ platform }: Server) => (await sql<{ resource_id: string; message: string | null }>`select * from ends`.execute(platform.db)).rows
/** A step that waits: reached, and let through by the test; leaves when its signal says so. */
function barrier(): { step: Step; reached: Promise<void>; open: () => void } {
  const [arrival, opening] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  return {
    step: (_, { signal }) => {
      arrival.resolve()
      return new Promise((resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true })
        void opening.promise.then(resolve)
      })
    },
    reached: arrival.promise,
    open: opening.resolve,
  }
}

describe('an operation', () => {
  it('runs its steps in order, with its input, and ends once', async () => {
    const server = await start()
    const seen: Input[] = []
    steps.one = async (input) => void seen.push(input)
    const resource = randomUUID()
    const id = await server.begin(resource, { text: '你好' })
    expect(await ended(server, id)).toMatchObject({
      kind: 'test.thing.do',
      status: 'succeeded',
      steps_done: 2,
      steps_total: 2,
      step: null,
      error: null,
      input: '',
      resource_id: resource,
    })
    expect(happened).toEqual(['one', 'two', 'ended well'])
    expect(seen).toEqual([{ text: '你好' }])
    expect(await ends(server)).toEqual([{ resource_id: resource, message: null }])
  })

  it('is begun with the change that it belongs to, or not at all', async () => {
    const { platform } = await start()
    const attempt = platform.db.transaction().execute(async (tx) => {
      await platform.operations.begin(tx, definition, { resource_id: randomUUID(), bp_id: null, actor: null, input: { text: 'x' } })
      throw new Error('the change failed')
    })
    await expect(attempt).rejects.toThrow('the change failed')
    expect(await platform.db.selectFrom('operations').selectAll().execute()).toEqual([])
  })

  it('is the only open one of its resource', async () => {
    const server = await start()
    const gate = barrier()
    steps.one = gate.step
    const resource = randomUUID()
    const first = await server.begin(resource)
    await gate.reached
    await expect(server.begin(resource)).rejects.toMatchObject({ refusal: 'operationRunning' })
    gate.open()
    await ended(server, first)
    steps.one = async () => undefined
    await ended(server, await server.begin(resource))
    // Held open, so that none of the five comes after another has ended.
    const second = barrier()
    steps.one = second.step
    const outcomes = await Promise.allSettled(Array.from({ length: 5 }, () => server.begin(resource)))
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    second.open()
  })

  it('keeps its input sealed while it runs', async () => {
    const server = await start()
    const gate = barrier()
    steps.two = gate.step
    const id = await server.begin(undefined, { text: 'Hunter2-Hunter2' })
    await gate.reached
    expect(await rowOf(server, id)).toMatchObject({ status: 'running', step: 'two', steps_done: 1, input: expect.stringMatching(/^v1\./) })
    const { rows } = await sql<{ job: string }>`select row_to_json(job)::text as job from pgboss.job`.execute(server.platform.db)
    expect(JSON.stringify([await rowOf(server, id), rows])).not.toContain('Hunter2')
    gate.open()
    await ended(server, id)
  })
})

describe('a step that fails', () => {
  it('ends the operation after taking back, with what went wrong', async () => {
    const server = await start()
    steps.one = async () => {
      throw new Refusal('nodeResourcesInsufficient')
    }
    const id = await server.begin()
    expect(await ended(server, id)).toMatchObject({
      status: 'failed',
      step: 'one',
      steps_done: 0,
      error: 'nodeResourcesInsufficient',
      error_text: '节点资源不足',
      input: '',
      finished_at: expect.any(Date),
    })
    expect(happened).toEqual(['one', 'undo', 'ended nodeResourcesInsufficient'])
    expect(await ends(server)).toMatchObject([{ message: '节点资源不足' }])
  })

  it('is told to people, and lies in no table: it may repeat what a program said', async () => {
    const server = await start()
    steps.one = async () => {
      throw new Refusal('composeFailed', { values: { reason: 'password is hunter2' }, detail: 'hunter2 again' })
    }
    const { platform } = server
    const row = await platform.db
      .selectFrom('operations')
      .selectAll()
      .where('id', '=', (await ended(server, await server.begin())).id)
      .executeTakeFirstOrThrow()
    expect(platform.operations.said(row)).toEqual({ error: '应用部署失败：password is hunter2', detail: 'hunter2 again' })
    // But in the one where these tests write down what an end was told.
    expect(await tablesWith(platform.database.pool, 'hunter2')).toEqual(['ends'])
    expect(platform.operations.said({ ...row, id: randomUUID() })).toEqual({ error: errors.composeFailed.text, detail: null })
  })

  it('fails it also where nothing can be taken back, and tells people nothing of programs', async () => {
    const server = await start()
    steps.two = async () => {
      throw new TypeError('x is not a function')
    }
    undo = async () => {
      throw new Error('no way back')
    }
    const id = await server.begin()
    expect(await ended(server, id)).toMatchObject({ status: 'failed', step: 'two', steps_done: 1, error: 'unknown', error_text: '错误' })
    expect(happened).toEqual(['one', 'two', 'undo', 'ended unknown'])
  })

  it.each(['unreachable', 'busy'] as const)('because the engine is %s is tried again', async (kind) => {
    const server = await start()
    let failures = 2
    steps.two = async () => {
      if (failures-- > 0) throw new EngineError(kind, kind)
    }
    const id = await server.begin()
    expect(await ended(server, id)).toMatchObject({ status: 'succeeded' })
    expect(happened).toEqual(['one', 'two', 'two', 'two', 'ended well'])
  })

  it('for any other reason is not', async () => {
    const server = await start()
    steps.one = async () => {
      throw new EngineError('failed', 'disk image is corrupt at /var/secret')
    }
    const { error_text } = await ended(server, await server.begin())
    expect(happened).toEqual(['one', 'undo', 'ended engineFailed'])
    expect(error_text).not.toContain('corrupt')
  })
})

describe('a change whose outcome is not told', () => {
  const unanswered = async () => {
    throw new EngineError('unanswered', 'no answer in time')
  }

  it('is unknown, not failed, until the engine says that it happened: it is not asked for again then', async () => {
    const server = await start(7, [15_000])
    steps.one = unanswered
    const resource = randomUUID()
    const id = await server.begin(resource)
    await vi.waitFor(async () => {
      const row = await rowOf(server, id)
      expect(row).toMatchObject({ status: 'running', error: 'outcomeUnknown', error_text: expect.stringContaining('结果未知'), finished_at: null })
      expect(shownStatus(row)).toBe('unknown')
    })
    // Nothing else is done to the thing meanwhile.
    await expect(server.begin(resource)).rejects.toMatchObject({ refusal: 'operationRunning' })
    steps.one = async () => expect.fail('it happened before')
    reached = async () => true
    const row = await ended(server, id)
    expect(row).toMatchObject({ status: 'succeeded', error: null, error_text: null })
    expect(happened.filter((what) => what !== 'one')).toEqual(['two', 'ended well'])
  })

  it('is asked for again where the engine says that it did not happen', async () => {
    const server = await start()
    steps.one = async () => {
      steps.one = async () => undefined
      throw new EngineError('unanswered', 'no answer in time')
    }
    expect(await ended(server, await server.begin())).toMatchObject({ status: 'succeeded', error: null })
    expect(happened).toEqual(['one', 'one', 'two', 'ended well'])
  })

  it('stays unknown in the record where nobody says, also when nobody is there any more', async () => {
    const server = await start(7, [15_000])
    steps.one = async () => {
      steps.one = async () => {
        throw new EngineError('unreachable', 'connect ECONNREFUSED')
      }
      await unanswered()
    }
    const row = await ended(server, await server.begin(undefined, undefined, keeping))
    expect(row).toMatchObject({ status: 'failed', error: 'outcomeUnknown' })
    expect(shownStatus(row)).toBe('unknown')
  })
})

describe('late success', () => {
  const refuse = async () => {
    throw new Refusal('guestIgnoresShutdown')
  }

  it('is success: what a step wants is looked for before a failure is recorded', async () => {
    const server = await start()
    steps.one = refuse
    reached = async () => true
    expect(await ended(server, await server.begin())).toMatchObject({ status: 'succeeded', error: null })
    expect(happened).toEqual(['one', 'two', 'ended well'])
  })

  it('is looked for no more where the engine does not say', async () => {
    const server = await start()
    steps.one = refuse
    reached = async () => {
      throw new EngineError('unreachable', 'down')
    }
    expect(await ended(server, await server.begin())).toMatchObject({ status: 'failed', error: 'guestIgnoresShutdown' })
  })

  it('after the failure was recorded mends the record, and goes on behind that step, also by another server', async () => {
    const first = await start(7, [lateLookEveryMs])
    steps.one = refuse
    const id = await first.begin(undefined, { text: '你好' }, keeping)
    expect(await ended(first, id)).toMatchObject({ status: 'failed', error: 'guestIgnoresShutdown', input: expect.stringMatching(/^v1\./) })
    await stop(first)
    const second = await start(7, [lateLookEveryMs])
    const seen: Input[] = []
    steps.two = async (input) => void seen.push(input)
    reached = async () => true
    await vi.waitFor(async () => expect(await rowOf(second, id)).toMatchObject({ status: 'succeeded', error: null, error_text: null, input: '' }))
    expect(happened).toEqual(['one', 'ended guestIgnoresShutdown', 'two', 'ended well'])
    expect(seen).toEqual([{ text: '你好' }])
  })

  it('counts no more where something was asked for since, or what was done was taken back', async () => {
    const server = await start(7, [lateLookEveryMs])
    steps.one = refuse
    const resource = randomUUID()
    const id = await server.begin(resource, undefined, keeping)
    await ended(server, id)
    steps.one = async () => undefined
    await ended(server, await server.begin(resource, undefined, keeping))
    reached = async () => true
    await vi.waitFor(async () => expect(await rowOf(server, id)).toMatchObject({ status: 'failed', input: '' }))

    steps.one = refuse
    reached = async () => false
    expect(await ended(server, await server.begin())).toMatchObject({ status: 'failed', input: '' })
  })

  it('is looked for only so long', async () => {
    const server = await start(7, [lateLookEveryMs])
    steps.one = refuse
    const id = await server.begin(undefined, undefined, keeping)
    await ended(server, id)
    await sql`update operations set finished_at = now() - interval '3 minutes' where id = ${id}`.execute(server.platform.db)
    await vi.waitFor(async () => expect((await rowOf(server, id)).input).toBe(''))
    expect((await rowOf(server, id)).status).toBe('failed')
  })
})

describe('a server that goes away', () => {
  it('by stopping leaves the operation at its step, and the next one goes on there', async () => {
    const first = await start()
    const gate = barrier()
    steps.two = gate.step
    const id = await first.begin()
    await gate.reached
    await stop(first)
    expect(happened).toEqual(['one', 'two'])
    steps.two = async () => undefined
    const second = await start()
    expect(await ended(second, id)).toMatchObject({ status: 'succeeded' })
    expect(happened).toEqual(['one', 'two', 'two', 'ended well'])
  })

  it('while taking back is followed by one that takes back, and does not try the step again', async () => {
    const first = await start()
    const gate = barrier()
    steps.one = async () => {
      throw new Refusal('nodeResourcesInsufficient')
    }
    undo = gate.step
    const id = await first.begin()
    await gate.reached
    expect((await rowOf(first, id)).status).toBe('undoing')
    await stop(first)
    undo = async () => undefined
    const second = await start()
    expect(await ended(second, id)).toMatchObject({ status: 'failed', error: 'nodeResourcesInsufficient', error_text: '节点资源不足' })
    expect(happened).toEqual(['one', 'undo', 'undo', 'ended nodeResourcesInsufficient'])
  })

  it('by losing its hold on the operation stops working on it, and somebody takes it up again', async () => {
    const server = await start(7, [takeUpEveryMs])
    const gate = barrier()
    steps.one = gate.step
    const id = await server.begin()
    await gate.reached
    steps.one = async () => undefined
    await sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'zhisuan-operations' and datname = current_database()`.execute(
      server.platform.db,
    )
    expect(await ended(server, id)).toMatchObject({ status: 'succeeded' })
    expect(happened).toEqual(['one', 'one', 'two', 'ended well'])
  })

  it('by losing a question to the database has not failed: somebody takes it up again', async () => {
    const server = await start(7, [takeUpEveryMs])
    const gate = barrier()
    steps.one = gate.step
    const id = await server.begin()
    await gate.reached
    const holder = new pg.Client({ connectionString: database.url })
    await holder.connect()
    await holder.query('begin')
    await holder.query('select from operations where id = $1 for update', [id])
    gate.open()
    // That the first step is done is what it wants to record, and is cut off by.
    const cut = sql`select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = 'zhisuan' and datname = current_database() and wait_event_type = 'Lock'`
    await vi.waitFor(async () => expect((await cut.execute(server.platform.db)).rows).toHaveLength(1))
    await holder.query('commit')
    await holder.end()
    expect(await ended(server, id)).toMatchObject({ status: 'succeeded', error: null })
    expect(happened).toEqual(['one', 'one', 'two', 'ended well'])
  })

  it('with another beside it shares the work: each operation is run by one of them, once', async () => {
    const [one, other] = [await start(), await start()]
    const ids = await Promise.all(Array.from({ length: 30 }, (_, n) => (n % 2 === 0 ? one : other).begin()))
    for (const id of ids) expect((await ended(one, id)).status).toBe('succeeded')
    expect(happened.filter((what) => what === 'one')).toHaveLength(30)
    expect(happened.filter((what) => what === 'two')).toHaveLength(30)
    expect(await ends(one)).toHaveLength(30)
  })
})

describe('cancelling', () => {
  /** An operation in its first step, which can be left. */
  async function inStepOne(server: Server) {
    const gate = barrier()
    steps.one = gate.step
    const resource = randomUUID()
    const id = await server.begin(resource)
    await gate.reached
    return { id, resource, gate }
  }

  it('leaves the step that runs, takes back, and ends as cancelled', async () => {
    const server = await start()
    const { id, resource } = await inStepOne(server)
    await server.cancel(id)
    expect(await ended(server, id)).toMatchObject({
      status: 'cancelled',
      step: 'one',
      steps_done: 0,
      error: 'operationCancelled',
      error_text: null,
      input: '',
      finished_at: expect.any(Date),
    })
    expect(happened).toEqual(['one', 'undo', 'ended operationCancelled'])
    expect(await ends(server)).toEqual([{ resource_id: resource, message: '操作已取消' }])
    steps.one = async () => undefined
    expect((await ended(server, await server.begin(resource))).status).toBe('succeeded')
  })

  it('of one that waits runs none of its steps', async () => {
    const server = await start()
    const { operations, db } = server.platform
    const id = await db.transaction().execute(async (tx) => {
      const waiting = await operations.begin(tx, definition, { resource_id: randomUUID(), bp_id: null, actor: null, input: { text: 'x' } })
      await operations.cancel(tx, waiting)
      return waiting
    })
    expect(await ended(server, id)).toMatchObject({ status: 'cancelled', started_at: null })
    expect(happened).toEqual(['undo', 'ended operationCancelled'])
  })

  it('is refused while a step runs that cannot be left, which goes on', async () => {
    const server = await start()
    const gate = barrier()
    steps.two = gate.step
    const id = await server.begin()
    await gate.reached
    await expect(server.cancel(id)).rejects.toMatchObject({ refusal: 'operationNotCancellable' })
    gate.open()
    expect(await ended(server, id)).toMatchObject({ status: 'succeeded', error: null })
    expect(happened).toEqual(['one', 'two', 'ended well'])
  })

  it('that comes too late leaves the end as it was', async () => {
    const server = await start()
    const succeeded = await server.begin()
    await ended(server, succeeded)
    steps.one = async () => {
      throw new Refusal('nodeResourcesInsufficient')
    }
    const gate = barrier()
    undo = gate.step
    const failed = await server.begin()
    await gate.reached
    await expect(server.cancel(failed)).rejects.toMatchObject({ refusal: 'operationNotCancellable' })
    gate.open()
    await ended(server, failed)
    for (const id of [succeeded, failed]) await expect(server.cancel(id)).rejects.toMatchObject({ refusal: 'operationEnded' })
    expect([(await rowOf(server, succeeded)).status, (await rowOf(server, failed)).status]).toEqual(['succeeded', 'failed'])
    expect(await ends(server)).toHaveLength(2)
  })

  it('twice, or five times at once, is once', async () => {
    const server = await start()
    const { id } = await inStepOne(server)
    const gate = barrier()
    undo = gate.step
    await Promise.all(Array.from({ length: 5 }, () => server.cancel(id)))
    await gate.reached
    await server.cancel(id)
    gate.open()
    expect((await ended(server, id)).status).toBe('cancelled')
    await server.cancel(id)
    expect(happened).toEqual(['one', 'undo', 'ended operationCancelled'])
  })

  it.each([
    ['succeeds all the same', async () => undefined],
    ['fails by itself', async () => Promise.reject(new Refusal('nodeResourcesInsufficient'))],
  ])('of a step that does not heed it and %s counts', async (_, comesTo) => {
    const server = await start()
    const [reached, opened] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    steps.one = async () => {
      reached.resolve()
      await opened.promise
      await comesTo()
    }
    const id = await server.begin()
    await reached.promise
    await server.cancel(id)
    opened.resolve()
    expect(await ended(server, id)).toMatchObject({ status: 'cancelled', error: 'operationCancelled' })
    expect(happened).toEqual(['one', 'undo', 'ended operationCancelled'])
  })

  it('is asked for at any server', async () => {
    const [one, other] = [await start(), await start()]
    const { id } = await inStepOne(one)
    await other.cancel(id)
    expect((await ended(one, id)).status).toBe('cancelled')
    expect(happened).toEqual(['one', 'undo', 'ended operationCancelled'])
  })

  it('is heard of by a server that was deaf just then', async () => {
    const server = await start()
    const { id } = await inStepOne(server)
    await sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'zhisuan-bus' and datname = current_database()`.execute(
      server.platform.db,
    )
    await server.cancel(id)
    expect((await ended(server, id)).status).toBe('cancelled')
  })

  it('goes on after the server stopped in the middle of it', async () => {
    const first = await start()
    const { id } = await inStepOne(first)
    const gate = barrier()
    undo = gate.step
    await first.cancel(id)
    await gate.reached
    expect((await rowOf(first, id)).status).toBe('undoing')
    await stop(first)
    undo = async () => undefined
    expect((await ended(await start(), id)).status).toBe('cancelled')
    expect(happened).toEqual(['one', 'undo', 'undo', 'ended operationCancelled'])
  })

  it('that cannot take back fails, and says by what', async () => {
    const server = await start()
    const { id } = await inStepOne(server)
    undo = async () => {
      throw new Refusal('engineFailed')
    }
    await server.cancel(id)
    expect(await ended(server, id)).toMatchObject({ status: 'failed', error: 'engineFailed', error_text: expect.stringContaining('云平台执行失败') })
    expect(happened).toEqual(['one', 'undo', 'ended engineFailed'])
  })

  it('is offered only where it would be taken', async () => {
    const { operations } = (await start()).platform
    const of = (status: OperationStatus, step: string | null, kind = definition.kind) => operations.cancellable({ kind, status, step })
    expect([of('queued', 'two'), of('running', 'one')]).toEqual([true, true])
    expect([
      of('running', 'two'),
      of('running', null),
      of('undoing', 'one'),
      of('succeeded', null),
      of('failed', 'one'),
      of('cancelled', 'one'),
      of('running', 'one', 'of.another.version'),
    ]).toEqual(Array.from({ length: 7 }, () => false))
  })
})

describe('what cannot go on', () => {
  it('because its input cannot be read fails, instead of holding its resource for ever', async () => {
    const first = await start()
    const gate = barrier()
    steps.one = gate.step
    const resource = randomUUID()
    const id = await first.begin(resource)
    await gate.reached
    await stop(first)
    const second = await start(8)
    expect(await ended(second, id)).toMatchObject({ status: 'failed', error: 'unknown' })
    expect(happened).toEqual(['one', 'undo', 'ended unknown'])
    steps.one = async () => undefined
    await ended(second, await second.begin(resource))
  })

  it('because somebody ended it, such as who removed its resource, stays as they left it', async () => {
    const server = await start()
    const gate = barrier()
    steps.one = gate.step
    const id = await server.begin()
    await gate.reached
    await server.platform.db
      .updateTable('operations')
      .set({ status: 'failed', error: 'vmGone', finished_at: sql`now()`, input: '' })
      .where('id', '=', id)
      .execute()
    gate.open()
    const after = await server.begin()
    await ended(server, after)
    expect(await rowOf(server, id)).toMatchObject({ status: 'failed', error: 'vmGone', steps_done: 0 })
    expect(await ends(server)).toHaveLength(1)
  })
})
