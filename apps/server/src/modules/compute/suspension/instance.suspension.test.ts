import { randomUUID } from 'node:crypto'
import { accounts } from '@zhisuan/contract/bill/account'
import { arrearsPolicies, standings, type StandingState } from '@zhisuan/contract/bill/arrears'
import { createListedCloud, recordedServer } from '@zhisuan/engines/openstack/listsTesting'
import { createOpenStack } from '@zhisuan/engines/openstack/cloud'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call } from '../../../testing/call.ts'
import { knowCloud } from '../../../testing/openstack.ts'
import { someone, type Person, type SignedIn } from '../../../testing/people.ts'
import { chargeUsage } from '../../bill/testing.ts'
import { createUsageLooks } from '../metering/metering.service.ts'

type Who = Person & SignedIn
const patience = { interval: 100 }
const tell = async (): Promise<void> => undefined

describe('a suspension of who has instances on an OpenStack', () => {
  let app: TestApp
  let admin: Who
  let cloud: Awaited<ReturnType<typeof createListedCloud>>
  let cloud_id: string
  let look: () => Promise<void>
  const ends: (() => Promise<unknown>)[] = []
  beforeAll(async () => {
    app = await testApp()
    cloud = await createListedCloud()
    admin = await someone(app, { kind: 1 })
    cloud_id = await knowCloud(app, cloud.registration)
    const { auth_url, username, password } = cloud.registration
    const domain = { name: 'Default' }
    const engine = createOpenStack({
      name: '清单云',
      authUrl: auth_url,
      region: 'RegionOne',
      credentials: { user: { name: username, domain }, password, project: { name: 'admin', domain } },
    })
    const { db, log } = app.platform
    const looks = createUsageLooks({ db, log, tell, now: app.clock.now, clouds: { all: async () => [], openStack: async () => engine } })
    look = () => looks.lookAnew(cloud_id)
    ends.push(
      () => looks.stop(),
      () => engine.close(),
    )
  })
  afterEach(() => {
    cloud.failsActions(false)
    cloud.acted.length = 0
  })
  afterAll(async () => {
    for (const end of ends) await end()
    await app.close()
    await cloud.close()
  })

  const tenant = async (): Promise<{ who: Who; keystone: string }> => {
    const who = await someone(app)
    const keystone = randomUUID().replaceAll('-', '')
    await app.platform.db
      .insertInto('keystone_projects')
      .values({ cloud_id, keystone_id: keystone, bp_id: who.bp_id ?? '', project_id: null })
      .execute()
    const policy = { low_balance: '0', grace_hours: 0, warning_hours: 0, suspends: true, stop_vms: true, stop_containers: true, refuse_new: true, resume: true }
    await call(app, arrearsPolicies.setException, { token: admin.token, params: { id: who.bp_id ?? '' }, body: policy })
    return { who, keystone }
  }
  const off = { status: 'SHUTOFF', 'OS-EXT-STS:vm_state': 'stopped' }
  const runsDry = ({ bp_id }: Who) => chargeUsage(app.platform.db, bp_id ?? '', '1')
  const pays = ({ bp_id }: Who) => call(app, accounts.charge, { token: admin.token, params: { id: bp_id ?? '' }, body: { amount: '1' } })
  const standing = ({ token, bp_id }: Who) => call(app, standings.get, { token, params: { id: bp_id ?? '' } })
  const comesTo = (who: Who, state: StandingState, phase: string | null) =>
    expect
      .poll(async () => ({ state: (await standing(who)).state, phase: (await standing(who)).suspension?.phase ?? null }), patience)
      .toEqual({ state, phase })
  const resources = async ({ token, bp_id }: Who) =>
    (await call(app, standings.resources, { token, params: { id: bp_id ?? '' }, query: { page_size: 100 } })).items
  const states = async (who: Who) => Object.fromEntries((await resources(who)).map(({ id, state }) => [id, state]))
  const asked = (id: string) => cloud.acted.filter((one) => one.endsWith(id)).map((one) => one.split(' ')[0])

  it('stops what runs, also what is paused, and starts what it stopped, where it is still there', async () => {
    const { who, keystone } = await tenant()
    const [runs, rests, stood, goes] = [
      recordedServer({ tenant_id: keystone }),
      recordedServer({ tenant_id: keystone, status: 'PAUSED', 'OS-EXT-STS:vm_state': 'paused' }),
      recordedServer({ tenant_id: keystone, ...off }),
      recordedServer({ tenant_id: keystone }),
    ]
    const foreign = recordedServer()
    // Stopped by its person since it was last looked at.
    const just = recordedServer({ tenant_id: keystone })
    cloud.has('servers', [runs, rests, stood, goes, just, foreign])
    await look()
    Object.assign(just, off)
    await runsDry(who)
    await comesTo(who, 'suspended', 'suspended')
    expect(await states(who)).toEqual({ [runs.id]: 'stopped', [rests.id]: 'stopped', [goes.id]: 'stopped', [just.id]: 'stopped' })
    expect([runs, rests, goes, stood, just, foreign].map(({ id }) => asked(id))).toEqual([['os-stop'], ['unpause', 'os-stop'], ['os-stop'], [], [], []])
    expect((await resources(who))[0]).toMatchObject({ kind: 'compute.instance', error: null })

    cloud.has('servers', [runs, rests, stood, just, foreign])
    await look()
    cloud.acted.length = 0
    await pays(who)
    await comesTo(who, 'normal', null)
    expect(await states(who)).toEqual({ [runs.id]: 'started', [rests.id]: 'started', [goes.id]: 'left', [just.id]: 'left' })
    expect([runs, rests, goes, stood, just].map(({ id }) => asked(id))).toEqual([['os-start'], ['os-start'], [], [], []])
  })

  it('says where its cloud fails, tries again, and keeps nobody else waiting', async () => {
    const [one, other] = [await tenant(), await tenant()]
    const [first, second] = [recordedServer({ tenant_id: one.keystone }), recordedServer({ tenant_id: other.keystone })]
    cloud.has('servers', [first, second])
    await look()
    cloud.failsActions(true)
    await runsDry(one.who)
    await expect.poll(async () => (await resources(one.who))[0]?.error ?? null, patience).toEqual(expect.any(String))
    expect(await states(one.who)).toEqual({ [first.id]: 'stopping' })
    await comesTo(one.who, 'suspended', 'suspending')
    cloud.failsActions(false)
    await runsDry(other.who)
    await comesTo(other.who, 'suspended', 'suspended')
    app.clock.advance(60_000)
    await comesTo(one.who, 'suspended', 'suspended')
    expect(await resources(one.who)).toMatchObject([{ id: first.id, state: 'stopped', error: null }])
    expect(asked(first.id).length).toBeGreaterThan(1)
  })

  it('is done once by two servers that work on it at the same time', async () => {
    const { who, keystone } = await tenant()
    const server = recordedServer({ tenant_id: keystone })
    cloud.has('servers', [server])
    await look()
    const beside = await testApp({ DATABASE_URL: app.databaseUrl }, { clock: app.clock })
    try {
      await runsDry(who)
      await comesTo(who, 'suspended', 'suspended')
    } finally {
      await beside.close()
    }
    expect(asked(server.id)).toEqual(['os-stop'])
    await pays(who)
    await comesTo(who, 'normal', null)
    expect(asked(server.id)).toEqual(['os-stop', 'os-start'])
  })
})
