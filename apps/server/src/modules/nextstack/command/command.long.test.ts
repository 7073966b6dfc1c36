import { randomUUID } from 'node:crypto'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import type { BodyInput, QueryInput, ResponseOf } from '@zhisuan/contract/define'
import { errors } from '@zhisuan/contract/errors'
import { changes } from '@zhisuan/contract/change'
import { commands, type Command } from '@zhisuan/contract/nextstack/command'
import { flavors } from '@zhisuan/contract/nextstack/flavor'
import { images, vms, type Vm } from '@zhisuan/contract/nextstack/vm'
import type { Instances } from '@zhisuan/engines/compute'
import { EngineError } from '@zhisuan/engines/errors'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { shortened, testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused, send } from '../../../testing/call.ts'
import { tablesWith } from '../../../testing/clear.ts'
import { openTestEngine, startTestEngine, type TestEngine } from '../../../testing/engine.ts'
import { someone, type Person, type SignedIn } from '../../../testing/people.ts'
import { sweepEveryMs } from './command.runner.ts'
import { programOf, sealOutput } from './command.seal.ts'
import { pruneCommandsJob } from './command.service.ts'

/** Runs scripts that begin with `#test` instead of the engine. */
const script: { run: Instances['exec'] | null } = { run: null }
const openEngine: typeof openTestEngine = (connection) => {
  const engine = openTestEngine(connection)
  const exec: Instances['exec'] = (name, request, options) =>
    script.run !== null && request.input?.toString().startsWith('#test') === true
      ? script.run(name, request, options)
      : engine.instances.exec(name, request, options)
  return { ...engine, instances: { ...engine.instances, exec } }
}

/** Runs that were cut off are soon found. */
const pause = shortened([sweepEveryMs], 500)

let app: TestApp
let admin: Person & SignedIn
let owner: Person & SignedIn
let stranger: Person & SignedIn
let engine: TestEngine
let cloud_id: string
let web: Vm
let db: Vm
let theirs: Vm

beforeAll(async () => {
  app = await testApp({}, { openEngine, pause })
  admin = await someone(app, { kind: 1 })
  owner = await someone(app)
  stranger = await someone(app)
  ;({ engine, id: cloud_id } = await addCloud())
  ;[web, db, theirs] = await Promise.all([makeVm('web'), makeVm('db'), makeVm('theirs', stranger)])
})
afterEach(() => {
  engine.recover()
  script.run = null
})
afterAll(() => app.close())

async function addCloud(): Promise<{ engine: TestEngine; id: string }> {
  const started = startTestEngine()
  const made = await call(app, clouds.create, { token: admin.token, body: { name: `c-${randomUUID()}`, product: 'nextstack', connection: started.connection } })
  return { engine: started, id: made.cloud_id }
}
async function makeVms(name: string, count: number, person = owner, on = cloud_id): Promise<Vm[]> {
  const { token } = person
  const [image] = (await call(app, images.list, { token, query: { cloud_id: on, type: 'container' } })).items
  const [flavor] = (await call(app, flavors.list, { token })).items
  const { items } = await call(app, vms.create, {
    token,
    body: {
      cloud_id: on,
      name,
      count,
      type: 'container',
      image_fingerprint: image?.fingerprint ?? '',
      flavor_id: flavor?.id ?? '',
      network: 'sandbox0',
      password: 'Correct-horse-1',
    },
  })
  return vi.waitFor(
    async () => {
      const made = await Promise.all(items.map(({ id }) => call(app, vms.get, { token, params: { id } })))
      expect(made.map(({ status }) => status)).toEqual(made.map(() => 'running'))
      return made
    },
    { interval: 50 },
  )
}
const stop = async ({ id }: Pick<Vm, 'id'>): Promise<void> => {
  await call(app, vms.stop, { token: owner.token, params: { id }, body: { force: true } })
  await vi.waitFor(async () => expect((await call(app, vms.get, { token: owner.token, params: { id } })).status).toBe('stopped'))
}
const makeVm = async (name: string, person = owner, on = cloud_id): Promise<Vm> => (await makeVms(name, 1, person, on))[0] ?? expect.fail('it was made')

type Create = BodyInput<typeof commands.create>
type Whole = ResponseOf<typeof commands.get>
const body = (wish: Partial<Create> = {}): Create => ({ vm_ids: [web.id, db.id], script: 'hostname\n', ...wish })
const run = (wish: Partial<Create> = {}, token = owner.token) => call(app, commands.create, { token, body: body(wish) })
const refuse = (wish: object, token = owner.token) => refused(app, commands.create, { token, body: { ...body(), ...wish } })
const get = (id: string, token = owner.token) => call(app, commands.get, { token, params: { id } })
const list = (query: QueryInput<typeof commands.list>, token = owner.token) => call(app, commands.list, { token, query })
const cancel = (id: string, token = owner.token) => call(app, commands.cancel, { token, params: { id } })
const when = (id: string, so: (command: Whole) => void, token = owner.token): Promise<Whole> =>
  vi.waitFor(
    async () => {
      const command = await get(id, token)
      so(command)
      return command
    },
    { interval: 20 },
  )
const ended = (id: string, token = owner.token) => when(id, ({ finished_at }) => expect(finished_at).not.toBeNull(), token)
const runs = () => engine.asked.filter(({ method, args }) => method === 'instances.exec' && (args[1] as { command: string[] }).command.join() === 'sh')
const engineName = (vm: Pick<Vm, 'id'>) => `zs-${vm.id.replaceAll('-', '')}`

describe('running', () => {
  it('answers at once, then runs in all instances, and keeps what each printed', async () => {
    const answer = await send(app, commands.create, {
      token: owner.token,
      body: body({ script: '# who am I?\nhostname\ncat /no/such\nuname\n', timeout_seconds: 30 }),
    })
    expect(answer.status).toBe(202)
    const command = answer.body as Command
    expect(command).toEqual({
      id: expect.any(String),
      name: '# who am I?',
      description: '',
      cloud_id,
      bp_id: owner.bp_id,
      bp_name: expect.stringMatching(/^org-/),
      script: '# who am I?\nhostname\ncat /no/such\nuname\n',
      timeout_seconds: 30,
      status: expect.stringMatching(/^(queued|running|succeeded)$/),
      vm_count: 2,
      succeeded_count: expect.any(Number),
      failed_count: 0,
      created_by: owner.name,
      created_at: expect.any(String),
      updated_at: expect.any(String),
      finished_at: command.finished_at,
    })
    const done = await ended(command.id)
    expect(done).toMatchObject({ status: 'succeeded', succeeded_count: 2, failed_count: 0 })
    expect(done.results).toEqual(
      [web, db].map((vm) => ({
        vm: { id: vm.id, name: vm.name },
        status: 'succeeded',
        exit_code: 0,
        stdout: `${vm.name}\nSandbox\n`,
        stderr: 'cat: /no/such: No such file\n',
        more: false,
        truncated: false,
        error: null,
        started_at: expect.any(String),
        finished_at: expect.any(String),
      })),
    )
    // The script is what the shell reads: no text of ours is around it.
    const asked = runs().slice(-2)
    expect(asked.map(({ args }) => args[0])).toEqual(expect.arrayContaining([engineName(web), engineName(db)]))
    for (const { args } of asked) expect(args[1]).toMatchObject({ command: ['sh'], input: Buffer.from(command.script), env: { HOME: '/root', USER: 'root' } })
  })

  it('once in an instance that is named twice', async () => {
    const before = runs().length
    const { id, vm_count } = await run({ vm_ids: [web.id, web.id] })
    expect(vm_count).toBe(1)
    expect((await ended(id)).results).toHaveLength(1)
    expect(runs()).toHaveLength(before + 1)
  })

  it('has failed where it failed in one', async () => {
    script.run = async (name) => ({ exitCode: name === engineName(web) ? 3 : 0, stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) })
    const done = await ended((await run({ script: '#test\n' })).id)
    expect(done).toMatchObject({ status: 'failed', succeeded_count: 1, failed_count: 1 })
    expect(done.results.map(({ status, exit_code, error }) => [status, exit_code, error])).toEqual([
      ['failed', 3, null],
      ['succeeded', 0, null],
    ])
  })

  it('is called by its first line that says something, or as somebody wants', async () => {
    const nameOf = async (wish: Partial<Create>) => (await run(wish)).name
    expect(await nameOf({ script: '#!/bin/sh\n\n\t echo\t一\n' })).toBe('echo 一')
    expect(await nameOf({ script: `echo ${'长'.repeat(100)}` })).toBe(`echo ${'长'.repeat(59)}`)
    expect(await nameOf({ script: '#!/bin/sh' })).toBe('#!/bin/sh')
    expect(await nameOf({ script: '\n \n' })).toBe('#')
    expect(await nameOf({ name: '巡检' })).toBe('巡检')
  })

  it('reads lines that end as on other systems', async () => {
    expect((await run({ script: 'echo a\r\necho b\r\n' })).script).toBe('echo a\necho b\n')
  })

  it('tells consoles', async () => {
    const { token } = owner
    const { cursor } = await call(app, changes.wait, { token })
    const told = call(app, changes.wait, { token, query: { after: cursor } })
    await run()
    // Instances that were just made are still told of, too.
    expect((await told).kinds).toContain('nextstack.command')
  })
})

describe('what it prints', () => {
  it('shows while it runs', async () => {
    const end = Promise.withResolvers<void>()
    script.run = async (_, { onOutput }) => {
      onOutput?.('stdout', Buffer.from('half '))
      await end.promise
      onOutput?.('stdout', Buffer.from('way'))
      return { exitCode: 0, stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) }
    }
    const { id } = await run({ script: '#test\n', vm_ids: [web.id] })
    const halfway = await when(id, ({ results }) => expect(results[0]?.stdout).toBe('half '))
    expect(halfway).toMatchObject({ status: 'running', finished_at: null, results: [{ status: 'running', exit_code: null, finished_at: null }] })
    end.resolve()
    expect((await ended(id)).results[0]?.stdout).toBe('half way')
  })

  it('is kept as far as 256 KiB each; a page of many shows the end of it', async () => {
    const text = `${'汉'.repeat(50_000)}${'x'.repeat(10_000)}`
    script.run = async (_, { onOutput }) => {
      onOutput?.('stdout', Buffer.from(text))
      onOutput?.('stderr', Buffer.alloc(400_000, 'e'))
      return { exitCode: 0, stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) }
    }
    const { id } = await run({ script: '#test\n', vm_ids: [web.id] })
    const [short] = (await ended(id)).results
    expect(short).toMatchObject({ stdout: 'x'.repeat(8192), stderr: 'e'.repeat(8192), more: true, truncated: true })
    const whole = await call(app, commands.result, { token: owner.token, params: { id, vm_id: web.id } })
    expect(whole).toEqual({ ...short, stdout: text, stderr: 'e'.repeat(256 * 1024), more: false })
    for (const [token, vm_id] of [
      [stranger.token, web.id],
      [owner.token, theirs.id],
    ] as const) {
      expect(await refused(app, commands.result, { token, params: { id, vm_id } })).toMatchObject({ status: 404, code: 90006 })
    }
  })
})

describe('what a script says and prints', () => {
  it('lies nowhere in the database, while it runs and after; no other row opens it', async () => {
    const end = Promise.withResolvers<void>()
    script.run = async (_, { onOutput }) => {
      onOutput?.('stdout', Buffer.from(`${secret}-printed`))
      onOutput?.('stderr', Buffer.from(`${secret}-complained`))
      await end.promise
      return { exitCode: 0, stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) }
    }
    const secret = `pass${randomUUID()}`
    const { id } = await run({ script: `#test ${secret}-said\nmysql -p${secret}\n`, vm_ids: [web.id] })
    await when(id, ({ results }) => expect(results[0]?.stdout).toBe(`${secret}-printed`))
    expect(await tablesWith(app.platform.database.pool, secret)).toEqual([])
    end.resolve()
    const done = await ended(id)
    expect(done).toMatchObject({ name: `#test ${secret}-said`, script: `#test ${secret}-said\nmysql -p${secret}\n` })
    expect(done.results).toMatchObject([{ stdout: `${secret}-printed`, stderr: `${secret}-complained`, more: false }])
    expect(await tablesWith(app.platform.database.pool, secret)).toEqual([])
    // What is looked for is found where it lies in clear.
    expect(await tablesWith(app.platform.database.pool, web.name)).toContain('command_results')

    const other = await ended((await run({ script: '#test', vm_ids: [web.id] })).id)
    const { db: database } = app.platform
    await database
      .updateTable('command_results')
      .set(({ selectFrom }) => ({ output: selectFrom('command_results').select('output').where('command_id', '=', id) }))
      .where('command_id', '=', other.id)
      .execute()
    expect((await send(app, commands.result, { token: owner.token, params: { id: other.id, vm_id: web.id } })).status).toBe(409)
  })

  it('is found by the name that somebody gave, or by the program that it begins with, and by nothing else of it', async () => {
    const mark = `prog${randomUUID().slice(0, 8)}`
    const { id, name } = await run({ script: `# of ${mark}-noted\n\n ${mark} --password ${mark}-secret\n`, vm_ids: [web.id] })
    expect(name).toBe(`# of ${mark}-noted`)
    expect((await list({ keyword: mark })).items).toMatchObject([{ id, name }])
    for (const keyword of [`${mark}-secret`, `${mark}-noted`]) expect((await list({ keyword })).total).toBe(0)
    expect(['a=b mysql', '"x y"', '', '# only\n', 'mysql -p', '/bin/sh;x', 'cd'].map(programOf)).toEqual(['', '', '', '', 'mysql', '/bin/sh', 'cd'])
  })
})

describe('asking for it', () => {
  it.each([
    ['vm_ids', { vm_ids: [] }],
    ['vm_ids', { vm_ids: Array.from({ length: 51 }, () => randomUUID()) }],
    ['vm_ids.0', { vm_ids: ['x'] }],
    ['vm_ids', { vm_ids: undefined }],
    ['script', { script: '' }],
    ['script', { script: 'x'.repeat(65_537) }],
    ['script', { script: 'a\u0007' }],
    ['timeout_seconds', { timeout_seconds: 0 }],
    ['timeout_seconds', { timeout_seconds: 3601 }],
    ['timeout_seconds', { timeout_seconds: 1.5 }],
    ['name', { name: 'a b' }],
    ['name', { name: '' }],
  ])('names the wrong field: %s', async (field, wish) => {
    const answer = await refuse(wish)
    expect(answer).toMatchObject({ status: 400, code: 90001 })
    expect(answer.fields?.map((one) => one.field)).toEqual([field])
    expect(answer.fields?.[0]?.message).toMatch(/\p{Script=Han}/u)
  })

  it('is refused, and begins nowhere, where one is another’s, does not run, or is elsewhere', async () => {
    const other = await addCloud()
    const [off, away] = [await makeVm('off'), await makeVm('away', owner, other.id)]
    await stop(off)
    const before = (await list({})).total
    const asked = runs().length
    expect(await refuse({ vm_ids: [web.id, theirs.id] })).toMatchObject({ status: 404, code: 90006 })
    expect(await refuse({ vm_ids: [randomUUID()] })).toMatchObject({ status: 404, code: 90006 })
    expect(await refuse({ vm_ids: [web.id, off.id] })).toMatchObject({
      status: 400,
      code: 94050,
      message: '实例“off”没有运行，不能执行命令',
      fields: [{ field: 'vm_ids' }],
    })
    expect(await refuse({ vm_ids: [web.id, away.id] })).toMatchObject({ status: 400, code: 94051, fields: [{ field: 'vm_ids' }] })
    await call(app, clouds.action, { token: admin.token, params: { id: other.id }, body: { action: 'offline' } })
    expect(await refuse({ vm_ids: [away.id] })).toMatchObject({ status: 400, code: 12006 })
    expect((await list({})).total).toBe(before)
    expect(runs()).toHaveLength(asked)
    // Who runs the platform sees all.
    expect((await ended((await run({ vm_ids: [web.id, theirs.id] }, admin.token)).id, admin.token)).status).toBe('succeeded')
  })
})

describe('an engine that fails', () => {
  it('fails the run, in words', async () => {
    engine.fail('unreachable', { method: 'instances.exec', times: 1 })
    const done = await ended((await run({ vm_ids: [web.id] })).id)
    expect(done).toMatchObject({ status: 'failed', results: [{ status: 'failed', exit_code: null, error: errors.cloudUnreachable.text }] })
  })

  it('that does not tell what became of a command leaves it unknown, and says so', async () => {
    engine.fail('unanswered', { method: 'instances.exec', times: 1 })
    const done = await ended((await run({ vm_ids: [web.id] })).id)
    expect(done).toMatchObject({ status: 'failed', results: [{ status: 'failed', exit_code: null, error: errors.commandUnanswered.text }] })
  })

  it('is not asked for an instance that was stopped, or deleted, while the run waited', async () => {
    const [stopped, deleted] = [await makeVm('was-stopped'), await makeVm('was-deleted')]
    const asked = runs().length
    // Nobody takes it before it is as it shall be.
    const { id } = await app.platform.db.transaction().execute(async (tx) => {
      await sql`select pg_advisory_xact_lock(hashtextextended('command ' || ${cloud_id}::text, 13))`.execute(tx)
      const command = await run({ vm_ids: [stopped.id, deleted.id] })
      // On the engine too: who follows it would set right what is so in our rows only.
      await Promise.all([stopped, deleted].map((vm) => stop(vm)))
      await call(app, vms.delete, { token: owner.token, params: { id: deleted.id } })
      await vi.waitFor(async () => expect(await send(app, vms.get, { token: owner.token, params: { id: deleted.id } })).toMatchObject({ status: 404 }))
      return command
    })
    const done = await ended(id)
    expect(done.results.map(({ status, error }) => [status, error])).toEqual([
      ['failed', '实例“was-stopped”没有运行，不能执行命令'],
      ['failed', errors.vmGone.text],
    ])
    // Its name is kept all the same.
    expect(done.results[1]?.vm.name).toBe('was-deleted')
    expect(runs()).toHaveLength(asked)
  })
})

describe('a command that takes too long', () => {
  it('is ended, and keeps what it has printed', async () => {
    script.run = (_, { onOutput }, options) => {
      onOutput?.('stdout', Buffer.from('begun\n'))
      return new Promise((_resolve, reject) => options?.signal?.addEventListener('abort', () => reject(new EngineError('cancelled', 'cancelled'))))
    }
    const done = await ended((await run({ script: '#test\n', vm_ids: [web.id], timeout_seconds: 1 })).id)
    expect(done).toMatchObject({
      status: 'timed_out',
      failed_count: 1,
      results: [{ status: 'timed_out', exit_code: null, stdout: 'begun\n', error: '超过1秒没有结束，已被终止' }],
    })
  })

  it('says so where nobody can be sure that it was ended', async () => {
    script.run = (_name, _request, options) =>
      new Promise((_resolve, reject) => options?.signal?.addEventListener('abort', () => reject(new EngineError('failed', 'no grep here'))))
    const done = await ended((await run({ script: '#test\n', vm_ids: [web.id], timeout_seconds: 1 })).id)
    expect(done.results[0]).toMatchObject({ status: 'timed_out', error: `超过1秒没有结束，已被终止；${errors.commandNotStopped.text}` })
  })
})

describe('cancelling', () => {
  it('ends what runs', async () => {
    const gate = engine.hold('instances.exec')
    const { id } = await run()
    await gate.reached
    await when(id, ({ results }) => expect(results.map(({ status }) => status)).toEqual(['running', 'running']))
    const [first, second] = await Promise.all([cancel(id), cancel(id)])
    expect([first.status, second.status]).toEqual(['running', 'running'])
    const done = await ended(id)
    expect(done).toMatchObject({ status: 'cancelled', succeeded_count: 0, failed_count: 0 })
    expect(done.results.map(({ status, error, exit_code }) => [status, error, exit_code])).toEqual([
      ['cancelled', null, null],
      ['cancelled', null, null],
    ])
    // Once more changes nothing.
    expect((await cancel(id)).status).toBe('cancelled')
  })

  it('of what has ended is refused', async () => {
    const { id } = await ended((await run()).id)
    expect(await refused(app, commands.cancel, { token: owner.token, params: { id } })).toMatchObject({ status: 409, code: 90017 })
    expect((await get(id)).status).toBe('succeeded')
  })
})

describe('another organisation’s', () => {
  it('does not exist', async () => {
    const { id } = await ended((await run()).id)
    for (const declared of [commands.get, commands.cancel]) {
      expect(await refused(app, declared, { token: stranger.token, params: { id } })).toMatchObject({ status: 404, code: 90006 })
      expect(await refused(app, declared, { token: owner.token, params: { id: randomUUID() } })).toMatchObject({ status: 404, code: 90006 })
    }
    expect((await list({ keyword: 'hostname' }, stranger.token)).items.map((one) => one.id)).not.toContain(id)
    expect((await get(id, admin.token)).id).toBe(id)
  })
})

describe('the list', () => {
  it('filters and sorts, and cuts long scripts', async () => {
    const mark = randomUUID().slice(0, 8)
    script.run = async () => ({ exitCode: 1, stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) })
    const good = await ended((await run({ name: `${mark}-b`, script: `echo ${'x'.repeat(3000)}` })).id)
    const bad = await ended((await run({ name: `${mark}-a`, script: '#test' })).id)
    const names = async (query: QueryInput<typeof commands.list>) => (await list({ keyword: mark, ...query })).items.map(({ name }) => name)
    expect(await names({})).toEqual([bad.name, good.name])
    expect(await names({ sort: '-name' })).toEqual([good.name, bad.name])
    expect(await names({ sort: 'status' })).toEqual([bad.name, good.name])
    expect(await names({ status: 'succeeded' })).toEqual([good.name])
    expect(await names({ cloud_id: randomUUID() })).toEqual([])
    expect(await names({ cloud_id, page_size: 1, page_num: 2 })).toEqual([good.name])
    const [shown] = (await list({ keyword: good.name })).items
    expect(shown?.script).toBe(`echo ${'x'.repeat(995)}`)
    expect(good.script).toHaveLength(3005)
    const nobody = await someone(app, { kind: 4, organisation: null })
    expect(await list({ keyword: mark }, nobody.token)).toEqual({ total: 0, items: [] })
  })
})

describe('many at once', () => {
  it('run 64 on a cloud, of which one organisation has 50 at most; the others wait for their turn', async () => {
    const other = await addCloud()
    const mine = (await makeVms('many', 50, owner, other.id)).map(({ id }) => id)
    const yours = (await makeVms('more', 20, stranger, other.id)).map(({ id }) => id)
    let [now, highest] = [0, 0]
    const gate = Promise.withResolvers<void>()
    script.run = async () => {
      highest = Math.max(highest, ++now)
      await gate.promise
      now -= 1
      return { exitCode: 0, stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) }
    }
    const first = await run({ vm_ids: mine, script: '#test 1' })
    const second = await run({ vm_ids: mine.slice(0, 5), script: '#test 2' })
    const third = await run({ vm_ids: yours, script: '#test 3' }, stranger.token)
    await when(third.id, ({ results }) => expect(results.filter(({ status }) => status === 'running')).toHaveLength(14), stranger.token)
    expect((await get(first.id)).results.map(({ status }) => status)).toEqual(Array.from({ length: 50 }, () => 'running'))
    expect(await get(second.id)).toMatchObject({ status: 'queued', succeeded_count: 0 })
    // One that waits is taken back before it begins.
    await cancel(second.id)
    expect(await get(second.id)).toMatchObject({ status: 'cancelled', results: Array.from({ length: 5 }, () => ({ status: 'cancelled', started_at: null })) })
    gate.resolve()
    expect((await ended(first.id)).succeeded_count).toBe(50)
    expect((await ended(third.id, stranger.token)).succeeded_count).toBe(20)
    expect(highest).toBe(64)
  })
})

describe('a server that ends', () => {
  /** As a server leaves behind that was killed. */
  async function cutOff(id: string): Promise<void> {
    await app.platform.db.updateTable('commands').set({ status: 'running', finished_at: null }).where('id', '=', id).execute()
    for (const { vm } of (await get(id)).results) {
      const printed = sealOutput(app.platform.secrets, { command_id: id, vm_id: vm.id }, { stdout: 'half', stderr: '' })
      await app.platform.db
        .updateTable('command_results')
        .set({ ...printed, status: 'running', runner: randomUUID(), finished_at: null, exit_code: null })
        .where('command_id', '=', id)
        .where('vm_id', '=', vm.id)
        .execute()
    }
  }

  it('killed, leaves runs that nobody begins anew: they have failed, and say that nobody knows', async () => {
    const { id } = await ended((await run()).id)
    const asked = runs().length
    await cutOff(id)
    const done = await ended(id)
    expect(done).toMatchObject({ status: 'failed', failed_count: 2 })
    for (const result of done.results)
      expect(result).toMatchObject({ status: 'failed', exit_code: null, stdout: 'half', error: errors.commandInterrupted.text })
    expect(runs()).toHaveLength(asked)
  })

  it('does not touch what another server runs that lives', async () => {
    const second = await testApp({ DATABASE_URL: app.databaseUrl }, { openEngine, pause })
    try {
      const end = Promise.withResolvers<void>()
      script.run = async () => {
        await end.promise
        return { exitCode: 0, stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) }
      }
      const { id } = await run({ script: '#test' })
      await when(id, ({ results }) => expect(results.map(({ status }) => status)).toEqual(['running', 'running']))
      // Both have looked at least once when they have found this one, and looked again.
      for (let round = 0; round < 2; round++) {
        const { id: dead } = await ended((await run()).id)
        await cutOff(dead)
        await ended(dead)
      }
      expect((await get(id)).status).toBe('running')
      end.resolve()
      expect(await ended(id)).toMatchObject({ status: 'succeeded', succeeded_count: 2 })
    } finally {
      await second.close()
    }
  })

  it('stopped, ends what it runs, and says so; the others go on', async () => {
    const second = await testApp({ DATABASE_URL: app.databaseUrl }, { openEngine, pause })
    const aborted: string[] = []
    script.run = (name, _request, options) =>
      new Promise((_resolve, reject) =>
        options?.signal?.addEventListener('abort', () => {
          aborted.push(name)
          reject(new EngineError('cancelled', 'cancelled'))
        }),
      )
    const runnerOf = async (id: string) =>
      (await app.platform.db.selectFrom('command_results').select('runner').where('command_id', '=', id).executeTakeFirstOrThrow()).runner
    const begin = async () => {
      const { id } = await run({ script: '#test', vm_ids: [web.id] })
      await when(id, ({ status }) => expect(status).toBe('running'))
      return { id, runner: await runnerOf(id) }
    }
    // Whoever is faster takes it: soon both servers have one.
    const begun = [await begin()]
    while (begun.every(({ runner }) => runner === begun[0]?.runner)) begun.push(await begin())
    await second.close()
    const look = () => Promise.all(begun.map(async ({ id, runner }) => ({ id, runner, now: await get(id) })))
    // What it cannot say itself in time, the other finds.
    const after = await vi.waitFor(async () => {
      const seen = await look()
      expect(seen.some(({ now }) => now.finished_at !== null)).toBe(true)
      return seen
    })
    const stopped = after.filter(({ now }) => now.finished_at !== null)
    expect(new Set(stopped.map(({ runner }) => runner)).size).toBe(1)
    expect(aborted).toHaveLength(stopped.length)
    for (const { now } of stopped) expect(now).toMatchObject({ status: 'failed', results: [{ status: 'failed', error: errors.commandInterrupted.text }] })
    const going = after.filter(({ now }) => now.finished_at === null)
    expect(new Set(going.map(({ runner }) => runner)).size).toBe(1)
    for (const { id } of going) await cancel(id)
    for (const { id } of going) expect((await ended(id)).status).toBe('cancelled')
  })

  it('that loses its connection goes on with what it runs', async () => {
    const end = Promise.withResolvers<void>()
    script.run = async () => {
      await end.promise
      return { exitCode: 0, stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) }
    }
    const { id } = await run({ script: '#test' })
    await when(id, ({ results }) => expect(results.map(({ status }) => status)).toEqual(['running', 'running']))
    const { pool } = app.platform.database
    const holders = async () =>
      (
        await pool.query<{ pid: number }>(`select pid from pg_locks, command_results where locktype = 'advisory' and runner is not null
        and classid = ((hashtextextended(runner::text, 17) >> 32) & 4294967295)::oid and objid = (hashtextextended(runner::text, 17) & 4294967295)::oid`)
      ).rows.map(({ pid }) => pid)
    const [before] = await holders()
    expect(before).toBeDefined()
    await pool.query('select pg_terminate_backend($1)', [before])
    await vi.waitFor(async () => {
      const [now] = await holders()
      expect(now).toBeDefined()
      expect(now).not.toBe(before)
    })
    end.resolve()
    expect(await ended(id)).toMatchObject({ status: 'succeeded' })
  })
})

describe('what is kept', () => {
  it('goes after 90 days', async () => {
    const { db: database } = app.platform
    const [old, young] = [await ended((await run()).id), await ended((await run()).id)]
    const daysAgo = (days: number) => new Date(app.clock.now().getTime() - days * 24 * 3600_000)
    await database
      .updateTable('commands')
      .set({ created_at: daysAgo(91) })
      .where('id', '=', old.id)
      .execute()
    await database
      .updateTable('commands')
      .set({ created_at: daysAgo(89) })
      .where('id', '=', young.id)
      .execute()
    await database.transaction().execute((tx) => app.platform.jobs.send(tx, pruneCommandsJob, {}))
    await vi.waitFor(async () => expect((await send(app, commands.get, { token: owner.token, params: { id: old.id } })).status).toBe(404))
    expect((await get(young.id)).id).toBe(young.id)
    expect(await database.selectFrom('command_results').select('vm_id').where('command_id', '=', old.id).execute()).toEqual([])
  })

  it('goes with its cloud', async () => {
    const other = await addCloud()
    const vm = await makeVm('with-cloud', owner, other.id)
    const { id } = await ended((await run({ vm_ids: [vm.id] })).id)
    await call(app, clouds.delete, { token: admin.token, params: { id: other.id }, query: { force: 'true' } })
    expect(await refused(app, commands.get, { token: owner.token, params: { id } })).toMatchObject({ status: 404 })
  })
})
