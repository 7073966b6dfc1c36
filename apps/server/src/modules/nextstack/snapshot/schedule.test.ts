import { randomUUID } from 'node:crypto'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import type { BodyInput } from '@zhisuan/contract/define'
import { flavors } from '@zhisuan/contract/nextstack/flavor'
import { snapshots, snapshotSchedules, type SnapshotSchedule } from '@zhisuan/contract/nextstack/snapshot'
import { images, vms, type Vm } from '@zhisuan/contract/nextstack/vm'
import { grants } from '@zhisuan/contract/iam/grant'
import { users } from '@zhisuan/contract/ums/user'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { createClock, shortened, testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused, send } from '../../../testing/call.ts'
import { openTestEngine, startTestEngine, type TestEngine } from '../../../testing/engine.ts'
import { signIn, someone, type Person, type SignedIn } from '../../../testing/people.ts'
import { deny, keeping } from '../../../testing/policies.ts'
import { lookEveryMs } from './schedule.runner.ts'

const clock = createClock()
const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs
const patient = { interval: 20 }

let app: TestApp
/** Another server of the same platform: whatever is due, both look at. */
let other: TestApp
let admin: Person & SignedIn
let owner: Person & SignedIn
let stranger: Person & SignedIn
let engine: TestEngine
let cloud_id: string
let flavor_id: string
let image_fingerprint: string

beforeAll(async () => {
  app = await testApp({}, { clock, openEngine: openTestEngine, pause: shortened([lookEveryMs], 20) })
  other = await testApp({ DATABASE_URL: app.databaseUrl }, { clock, openEngine: openTestEngine, pause: shortened([lookEveryMs], 20) })
  ;[admin, owner, stranger] = [await someone(app, { kind: 1 }), await someone(app), await someone(app)]
  engine = startTestEngine()
  cloud_id = (await call(app, clouds.create, { token: admin.token, body: { name: `c-${randomUUID()}`, product: 'nextstack', connection: engine.connection } }))
    .cloud_id
  flavor_id = (await call(app, flavors.list, { token: owner.token, query: { sort: 'memory_bytes' } })).items[0]?.id ?? ''
  const { items } = await call(app, images.list, { token: owner.token, query: { cloud_id, type: 'container' } })
  image_fingerprint = items.find(({ name }) => name === 'busybox')?.fingerprint ?? ''
})
afterEach(() => engine.recover())
afterAll(async () => {
  await other.close()
  await app.close()
})

/** Time goes on; who was signed in has to sign in again. */
const forward = async (ms: number): Promise<void> => {
  clock.advance(ms)
  owner = { ...owner, ...(await signIn(app, owner)) }
  stranger = { ...stranger, ...(await signIn(app, stranger)) }
}
const makeVm = async (): Promise<Vm> => {
  const body = {
    cloud_id,
    name: `vm-${randomUUID()}`,
    type: 'container' as const,
    image_fingerprint,
    flavor_id,
    password: 'Correct-horse-1',
    network: 'sandbox0',
  }
  const { items } = await call(app, vms.create, { token: owner.token, body })
  const [vm] = items
  if (vm === undefined) return expect.fail('nothing was created')
  await vi.waitFor(
    async () => expect(await call(app, vms.get, { token: owner.token, params: { id: vm.id } })).toMatchObject({ status: 'running', operation_id: null }),
    patient,
  )
  return vm
}
/** `HH:mm` so many minutes from now, by a clock that knows no summer. */
const inMinutes = (minutes: number): string => new Date(clock.now().getTime() + minutes * minuteMs).toISOString().slice(11, 16)
const wish = (vm: { id: string }, changes: Partial<BodyInput<typeof snapshotSchedules.create>> = {}) => ({
  vm_id: vm.id,
  name: `每晚-${randomUUID().slice(0, 8)}`,
  rhythm: 'daily' as const,
  at: inMinutes(10),
  time_zone: 'UTC',
  ...changes,
})
const create = (vm: { id: string }, changes: Partial<BodyInput<typeof snapshotSchedules.create>> = {}): Promise<SnapshotSchedule> =>
  call(app, snapshotSchedules.create, { token: owner.token, body: wish(vm, changes) })
const get = async (schedule: { id: string; vm: { id: string } }): Promise<SnapshotSchedule> => {
  const { items } = await call(app, snapshotSchedules.list, { token: owner.token, query: { vm_id: schedule.vm.id } })
  return items.find(({ id }) => id === schedule.id) ?? expect.fail('no such schedule')
}
const made = async (vm: { id: string }) => (await call(app, snapshots.list, { token: owner.token, query: { vm_id: vm.id } })).items
/** Resolves once a schedule has run more often than it had, and what it made is there. */
const ran = (schedule: SnapshotSchedule): Promise<SnapshotSchedule> =>
  vi.waitFor(async () => {
    expect((await get(schedule)).last_run_at).not.toBe(schedule.last_run_at)
    expect((await made(schedule.vm)).filter(({ status }) => status !== 'available')).toEqual([])
    // What its run came to stands there with the snapshot.
    return get(schedule)
  }, patient)

describe('a schedule', () => {
  it('says when it runs next, in its own time zone', async () => {
    const vm = await makeVm()
    for (const time_zone of ['CST', 'IST', '+08:00', 'Asia/Nowhere']) await expect(create(vm, { time_zone }), time_zone).rejects.toThrow()
    const schedule = await create(vm, { rhythm: 'weekly', at: '03:30', weekday: 1, time_zone: 'Asia/Shanghai', keep: 3, description: 'd' })
    expect(schedule).toMatchObject({
      vm: { id: vm.id, name: vm.name },
      rhythm: 'weekly',
      at: '03:30',
      weekday: 1,
      time_zone: 'Asia/Shanghai',
      keep: 3,
      enabled: true,
      last_run_at: null,
      last_error: null,
      bp_id: owner.bp_id,
      created_by: owner.name,
    })
    // Monday 03:30 in Shanghai is Sunday 19:30 in UTC.
    const next = new Date(schedule.next_run_at ?? '')
    expect([next.getUTCDay(), next.toISOString().slice(11, 16)]).toEqual([0, '19:30'])
    expect(next.getTime()).toBeGreaterThan(clock.now().getTime())
  })

  it('runs when its time has come, once, whichever server sees it, and is set to the next', async () => {
    const vm = await makeVm()
    const schedule = await create(vm)
    expect(await made(vm)).toEqual([])
    await forward(11 * minuteMs)
    const after = await ran(schedule)
    expect(after).toMatchObject({ last_error: null, last_run_at: expect.any(String) })
    expect(new Date(after.next_run_at ?? '').getTime()).toBe(new Date(schedule.next_run_at ?? '').getTime() + dayMs)
    const items = await made(vm)
    expect(items).toMatchObject([{ status: 'available', schedule_id: schedule.id, created_by: schedule.name }])
    expect(items[0]?.name).toMatch(new RegExp(`^${schedule.name}-\\d{8}-\\d{4}$`))
    expect(
      engine.asked.filter(({ method, args }) => method === 'instances.snapshots.create' && JSON.stringify(args).includes(vm.id.replaceAll('-', ''))),
    ).toHaveLength(1)
  })

  it('that was missed many times runs once', async () => {
    const vm = await makeVm()
    const schedule = await create(vm, { rhythm: 'hourly', at: String(clock.now().getUTCMinutes()) })
    // As if nobody had been there for days.
    await app.platform.db
      .updateTable('vm_snapshot_schedules')
      .set({ next_run_at: new Date(clock.now().getTime() - 5 * dayMs) })
      .where('id', '=', schedule.id)
      .execute()
    const after = await ran(schedule)
    expect(new Date(after.next_run_at ?? '').getTime()).toBeGreaterThan(clock.now().getTime())
    expect(await made(vm)).toHaveLength(1)
  })

  it('keeps as many as it shall of its own, and touches no others', async () => {
    const vm = await makeVm()
    const byHand = await call(app, snapshots.create, { token: owner.token, body: { vm_id: vm.id, name: 'by-hand' } })
    await vi.waitFor(async () => expect((await made(vm))[0]?.status).toBe('available'), patient)
    let schedule = await create(vm, { keep: 2 })
    const names: string[] = []
    for (let run = 0; run < 4; run++) {
      await forward(new Date(schedule.next_run_at ?? '').getTime() - clock.now().getTime() + 1_000)
      schedule = await ran(schedule)
      names.push(...(await made(vm)).map(({ name }) => name).filter((name) => !names.includes(name)))
    }
    await vi.waitFor(async () => expect(await made(vm)).toHaveLength(3), patient)
    const left = await made(vm)
    expect(left.map(({ id }) => id)).toContain(byHand.id)
    expect(
      left
        .filter(({ schedule_id }) => schedule_id === schedule.id)
        .map(({ name }) => name)
        .sort(),
    ).toEqual(
      names
        .filter((name) => name !== 'by-hand')
        .slice(-2)
        .sort(),
    )
    await vi.waitFor(async () => expect(await engine.direct.instances.snapshots.list(`zs-${vm.id.replaceAll('-', '')}`)).toHaveLength(3), patient)
    await call(app, snapshotSchedules.delete, { token: owner.token, params: { id: schedule.id } })
    expect(await made(vm)).toHaveLength(3)
  })

  it('says why a run failed, leaves nothing of it, and goes on the next time', async () => {
    const vm = await makeVm()
    const schedule = await create(vm)
    engine.fail('exhausted', { method: 'instances.snapshots.create' })
    await forward(11 * minuteMs)
    const failed = await vi.waitFor(async () => {
      const now = await get(schedule)
      expect(now.last_error).toBe('节点资源不足')
      return now
    }, patient)
    expect(await made(vm)).toEqual([])
    expect(new Date(failed.next_run_at ?? '').getTime()).toBe(new Date(schedule.next_run_at ?? '').getTime() + dayMs)
    engine.recover()
    await forward(dayMs)
    expect(await ran(failed)).toMatchObject({ last_error: null })
    expect(await made(vm)).toHaveLength(1)
  })

  it('runs by the rights of who set it: what was taken from them it does not do, until somebody sets it who may', async () => {
    const vm = await makeVm()
    let member = await someone(app, { kind: 4, roles: ['TENANT_ADMIN'], organisation: owner.bp_id })
    const schedule = await call(app, snapshotSchedules.create, { token: member.token, body: wish(vm) })
    const policy = await keeping(app).makePolicy(owner, [deny('nextstack.snapshot.create', { Resource: `zrn:nextstack:*:vm/${vm.id}` })])
    const grant = await keeping(app).give(owner, policy, { user_id: member.id })
    await forward(11 * minuteMs)
    const refusedOnce = await vi.waitFor(async () => {
      const now = await get(schedule)
      expect(now.last_error).toContain('不再允许')
      return now
    }, patient)
    expect(await made(vm)).toEqual([])
    await call(app, grants.delete, { token: owner.token, params: { id: grant.id } })
    await forward(dayMs)
    const again = await ran(refusedOnce)
    expect(again.last_error).toBeNull()
    // Who may not sign in any more has no rights; who sets it next runs it by theirs.
    member = { ...member, ...(await signIn(app, member)) }
    await call(app, users.action, { token: owner.token, params: { id: member.id }, body: { action: 'disable' } })
    await forward(dayMs)
    await vi.waitFor(async () => expect((await get(schedule)).last_error).toContain('不能登录'), patient)
    const { name, description, rhythm, at, time_zone, keep } = again
    await call(app, snapshotSchedules.update, {
      token: owner.token,
      params: { id: schedule.id },
      body: { name, description, rhythm, at, time_zone, keep, enabled: true },
    })
    const before = await get(schedule)
    await forward(dayMs)
    expect(await ran(before)).toMatchObject({ last_error: null })
    expect(await made(vm)).toHaveLength(2)
  })

  it('tries again a little later where something else is being done to the instance', async () => {
    const vm = await makeVm()
    const schedule = await create(vm)
    const gate = engine.hold('instances.restart')
    const stop = engine.hold('instances.stop')
    await call(app, vms.restart, { token: owner.token, params: { id: vm.id }, body: { force: true } })
    await Promise.race([gate.reached, stop.reached])
    await forward(11 * minuteMs)
    const waiting = await vi.waitFor(async () => {
      const now = await get(schedule)
      expect(now.last_error).toContain('正在进行的操作')
      return now
    }, patient)
    expect(waiting.last_run_at).toBeNull()
    expect(new Date(waiting.next_run_at ?? '').getTime() - clock.now().getTime()).toBeLessThanOrEqual(minuteMs)
    gate.open()
    stop.open()
    await vi.waitFor(
      async () => expect(await call(app, vms.get, { token: owner.token, params: { id: vm.id } })).toMatchObject({ status: 'running', operation_id: null }),
      patient,
    )
    await forward(minuteMs + 1_000)
    expect(await ran(waiting)).toMatchObject({ last_error: null })
    expect(await made(vm)).toHaveLength(1)
  })

  it('of an instance that cannot have one made says so, and goes on', async () => {
    const vm = await makeVm()
    const schedule = await create(vm)
    // With a revision of its own: what was observed before is not to put it right again.
    await app.platform.db
      .updateTable('vms')
      .set((row) => ({ status: 'error', observed: null, revision: row('revision', '+', 1) }))
      .where('id', '=', vm.id)
      .execute()
    await forward(11 * minuteMs)
    const failed = await vi.waitFor(async () => {
      const now = await get(schedule)
      expect(now.last_error).toBe('实例当前状态不能创建或恢复快照')
      return now
    }, patient)
    expect(new Date(failed.next_run_at ?? '').getTime()).toBeGreaterThan(clock.now().getTime() + 20 * 60 * minuteMs)
  })

  it('that is switched off does not run; switched on it does', async () => {
    const vm = await makeVm()
    const { name, description, rhythm, at, weekday, time_zone, keep, ...schedule } = await create(vm, { enabled: false })
    expect(schedule.next_run_at).toBeNull()
    const witness = await create(await makeVm())
    await forward(11 * minuteMs)
    await ran(witness)
    expect(await made(vm)).toEqual([])
    const body = { name, description, rhythm, weekday, time_zone, keep: keep + 1, at: inMinutes(5), enabled: true }
    const changed = await call(app, snapshotSchedules.update, { token: owner.token, params: { id: schedule.id }, body })
    expect(changed).toMatchObject({ enabled: true, keep: keep + 1, last_run_at: null })
    await forward(6 * minuteMs)
    await ran(changed)
    expect(await made(vm)).toHaveLength(1)
    expect(at).not.toBe(changed.at)
  })

  it('goes with its instance', async () => {
    const vm = await makeVm()
    const schedule = await create(vm)
    await call(app, vms.delete, { token: owner.token, params: { id: vm.id } })
    await vi.waitFor(async () => expect((await call(app, snapshotSchedules.list, { token: owner.token, query: { vm_id: vm.id } })).total).toBe(0), patient)
    expect((await send(app, snapshotSchedules.delete, { token: owner.token, params: { id: schedule.id } })).status).toBe(404)
  })

  it('does not exist for another organisation, nor does its instance', async () => {
    const vm = await makeVm()
    const schedule = await create(vm)
    const { vm_id: _, ...body } = wish(vm)
    const theirs = { token: stranger.token, params: { id: schedule.id } }
    expect((await send(app, snapshotSchedules.update, { ...theirs, body })).status).toBe(404)
    expect((await send(app, snapshotSchedules.delete, theirs)).status).toBe(404)
    expect((await send(app, snapshotSchedules.create, { token: stranger.token, body: wish(vm) })).status).toBe(404)
    expect((await call(app, snapshotSchedules.list, { token: stranger.token })).total).toBe(0)
  })

  it.each<[object, string]>([
    [{ rhythm: 'daily', at: '5' }, 'at'],
    [{ rhythm: 'daily', at: '24:00' }, 'at'],
    [{ rhythm: 'hourly', at: '03:00' }, 'at'],
    [{ rhythm: 'hourly', at: '60' }, 'at'],
    [{ rhythm: 'weekly', at: '03:00' }, 'weekday'],
    [{ rhythm: 'daily', at: '03:00', weekday: 1 }, 'weekday'],
    [{ keep: 0 }, 'keep'],
    [{ keep: 101 }, 'keep'],
    [{ time_zone: 'Mars/Olympus' }, 'time_zone'],
    [{ name: '' }, 'name'],
  ])('names what is wrong with %o', async (changes, field) => {
    expect(await refused(app, snapshotSchedules.create, { token: owner.token, body: { ...wish({ id: randomUUID() }), ...changes } })).toMatchObject({
      code: 90001,
      fields: [{ field }],
    })
  })
})
