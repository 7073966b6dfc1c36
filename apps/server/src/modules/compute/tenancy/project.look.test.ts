import { randomUUID } from 'node:crypto'
import { consumes } from '@zhisuan/contract/bill/consume'
import { computeInstances } from '@zhisuan/contract/compute/instance'
import { keystoneProjects } from '@zhisuan/contract/compute/project'
import { messages } from '@zhisuan/contract/sys/message'
import { errors } from '@zhisuan/contract/errors'
import { createOpenStack, type OpenStack } from '@zhisuan/engines/openstack/cloud'
import { createListedCloud, recordedServer } from '@zhisuan/engines/openstack/listsTesting'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createClock, testApp, type Clock, type TestApp } from '../../../testing/app.ts'
import { call, send } from '../../../testing/call.ts'
import { knowCloud, lines } from '../../../testing/openstack.ts'
import { makeOrganisation, someone } from '../../../testing/people.ts'
import type { Tell } from '../../sys/message/message.service.ts'
import { tellWithin } from '../../sys/testing.ts'
import { settleUsage } from '../../bill/testing.ts'
import { createUsageLooks } from '../metering/metering.service.ts'
import { forgetDeletedProject } from './project.problems.ts'

const gib = 2 ** 30
const small = { 'vm.vcpu': 1, 'vm.memory': 2 * gib, 'vm.disk': 20 * gib }

describe('projects that are not as they should be on their cloud', () => {
  let app: TestApp
  let admin: string
  let cloud: Awaited<ReturnType<typeof createListedCloud>>
  let engine: OpenStack & { close(): Promise<void> }
  let cloud_id: string
  let organisation: string
  let tell: Tell
  let keystone: string
  /** A day ahead of the server's own looks, which come too late therefore. */
  let clock: Clock
  let looks: ReturnType<typeof createUsageLooks>
  const opened: ReturnType<typeof createUsageLooks>[] = []
  const server = (confirmMs = 5) => {
    const { db, log } = app.platform
    const made = createUsageLooks({ db, log, tell, now: clock.now, confirmMs, clouds: { all: async () => [], openStack: async () => engine } })
    opened.push(made)
    return made
  }
  const look = async (of = looks): Promise<void> => {
    clock.advance(60_000)
    await of.look(cloud_id)
  }
  const problems = async (query: { cloud_id?: string; bp_id?: string } = { cloud_id }) =>
    (await call(app, keystoneProjects.problems, { token: admin, query })).items
  const events = (id: string) =>
    app.platform.db.selectFrom('usage_events').select(['usage', 'at', 'reason']).where('resource_id', '=', id).orderBy('at').orderBy('revision').execute()
  const used = async (id: string) => (await events(id)).map(({ usage, reason }) => [usage, reason])
  const machine = (changes: Record<string, unknown> = {}) => recordedServer({ tenant_id: keystone, ...changes })
  const onePath = () => `identity/v3/projects/${keystone}`
  const notFound = { status: 404, json: { error: { code: 404, title: 'Not Found', message: 'Could not find project: x.' } } }

  beforeAll(async () => {
    app = await testApp()
    admin = (await someone(app, { kind: 1 })).token
    tell = tellWithin(app.platform)
    cloud = await createListedCloud()
    const { auth_url, username, password } = cloud.registration
    const domain = { name: 'Default' }
    engine = createOpenStack({
      name: '清单云',
      authUrl: auth_url,
      region: 'RegionOne',
      credentials: { user: { name: username, domain }, password, project: { name: 'admin', domain } },
      timeoutMs: 5_000,
    })
  })
  afterAll(async () => {
    for (const one of opened) await one.stop()
    await engine.close()
    await app.close()
    await cloud.close()
  })
  beforeEach(async () => {
    for (const list of ['servers', 'volumes', 'snapshots', 'backups', 'floatingIps', 'images'] as const) cloud.has(list)
    clock = createClock()
    clock.advance(24 * 3_600_000)
    cloud_id = await knowCloud(app, cloud.registration)
    organisation = await makeOrganisation(app)
    keystone = randomUUID().replaceAll('-', '')
    await app.platform.db.insertInto('keystone_projects').values({ cloud_id, keystone_id: keystone, bp_id: organisation, project_id: null }).execute()
    cloud.hasProjects({ id: keystone })
    looks = server()
    await look()
  })

  it('are found by one list of all, told with the moment they were first seen so, and no more once they are right', async () => {
    expect(await problems()).toEqual([])
    for (const [wrong, problem] of [
      [{ enabled: false }, 'disabled'],
      [{ open: false }, 'roleless'],
    ] as const) {
      cloud.askedFor.length = 0
      cloud.hasProjects({ id: keystone, ...wrong })
      await look()
      const first = await problems()
      expect(first).toMatchObject([
        {
          cloud: { id: cloud_id },
          keystone_project_id: keystone,
          organisation: { id: organisation },
          project: null,
          problem,
          since: expect.any(String),
          lost: [],
          lost_count: 0,
        },
      ])
      expect(cloud.askedFor.filter((one) => one === 'GET identity/v3/projects')).toHaveLength(1)
      await look()
      expect(await problems({ bp_id: organisation })).toEqual(first)
      expect(await problems({ bp_id: await makeOrganisation(app) })).toEqual([])
      cloud.hasProjects({ id: keystone })
      await look()
      expect(await problems()).toEqual([])
    }
    const tenant = await someone(app, { kind: 4, roles: ['TENANT'], organisation })
    expect((await send(app, keystoneProjects.problems, { token: tenant.token })).body).toMatchObject({ code: errors.noPermission.code })
  })

  it('say to their tenant what is so, and not that the cloud refuses our credentials', async () => {
    const tenant = await someone(app, { kind: 4, roles: ['TENANT'], organisation })
    const told = async () =>
      ((await lines(app, computeInstances.list, { token: tenant.token, params: { cloud_id } })) as { failed?: { code: number } }[]).at(-1)
    for (const [projects, error] of [
      [[{ id: keystone, enabled: false }], errors.computeProjectDisabled],
      [[{ id: keystone, open: false }], errors.computeProjectRole],
      [[], errors.computeProjectGone],
    ] as const) {
      cloud.hasProjects(...projects)
      expect(await told()).toMatchObject({ failed: { code: error.code, message: error.text } })
    }
  })

  it('are told once, each time: to who runs the platform, and what was lost to its organisation', async () => {
    const tenant = await someone(app, { kind: 4, roles: ['TENANT'], organisation })
    const told = async (token: string) =>
      (await call(app, messages.list, { token, query: { page_size: 100 } })).items
        .filter(({ about, text }) => about.id === keystone || (about.id === cloud_id && text.includes('项目')))
        .map(({ kind, read }) => [kind, read])
    const wrong = ['compute.projectWrong', false]
    for (const projects of [[{ id: keystone, enabled: false }], [{ id: keystone }], [{ id: keystone, open: false }]]) {
      cloud.hasProjects(...projects)
      await look()
      await look()
    }
    expect(await told(admin)).toEqual([wrong, wrong])
    expect(await told(tenant.token)).toEqual([])
    cloud.hasProjects()
    await Promise.all([look(), look(server())])
    await look()
    expect(await told(admin)).toEqual([wrong, wrong, wrong])
    expect(await told(tenant.token)).toEqual([['compute.projectLost', false]])
  })

  it('leave the meter running as long as they are there, whatever else is wrong', async () => {
    const one = machine()
    cloud.has('servers', [one])
    await look()
    for (const wrong of [{ enabled: false }, { open: false }]) {
      cloud.hasProjects({ id: keystone, ...wrong })
      await look()
      expect(await used(one.id)).toEqual([[small, null]])
    }
  })

  it('once deleted have nothing metered in them, with the reason on its bill; of several servers one says so', async () => {
    const one = machine()
    const volume = {
      id: randomUUID(),
      name: 'data',
      status: 'available',
      size: 3,
      volume_type: null,
      'os-vol-tenant-attr:tenant_id': keystone,
      created_at: null,
      updated_at: null,
    }
    const address = { id: randomUUID(), floating_ip_address: '203.0.113.9', floating_network_id: randomUUID(), project_id: keystone }
    cloud.has('servers', [one])
    cloud.has('volumes', [volume])
    cloud.has('floatingIps', [address])
    await look()
    const { db } = app.platform
    await db
      .insertInto('recycled_instances')
      .values({
        id: randomUUID(),
        cloud_id,
        instance_id: one.id,
        name: 'web-1',
        keystone_id: keystone,
        bp_id: organisation,
        status: 'recycled',
        ran: true,
        flavor: null,
        floating_ips: null,
        error_text: null,
        recycled_by: 'x',
        until: new Date(clock.now().getTime() + 3_600_000),
      })
      .execute()
    cloud.hasProjects()
    const before = clock.now()
    clock.advance(60_000)
    await Promise.all([looks, server()].map((of) => of.look(cloud_id)))
    expect(await used(one.id)).toEqual([
      [small, null],
      [{}, 'project_deleted'],
    ])
    expect((await used(volume.id)).at(-1)).toEqual([{}, 'project_deleted'])
    expect((await used(address.id)).at(-1)).toEqual([{}, 'project_deleted'])
    // Never for a time when it was there still.
    expect((await events(one.id)).at(-1)?.at.getTime()).toBeGreaterThanOrEqual(before.getTime())
    expect(await problems()).toMatchObject([
      {
        problem: 'deleted',
        lost_count: 3,
        lost: [
          { type: 'compute.floatingIp', name: '203.0.113.9' },
          { type: 'compute.instance', id: one.id, name: 'web-1' },
          { type: 'compute.volume', name: 'data' },
        ],
      },
    ])
    expect(await db.selectFrom('recycled_instances').select('error_text').where('instance_id', '=', one.id).execute()).toEqual([
      { error_text: errors.computeProjectGone.text },
    ])
    // What is left on the cloud is still listed there, and is nobody's.
    await look()
    await look(server())
    expect(await used(one.id)).toHaveLength(2)
    expect((await problems())[0]).toMatchObject({ lost_count: 3 })

    await settleUsage(db)
    const tenant = await someone(app, { kind: 4, roles: ['TENANT'], organisation })
    const month = new Date(clock.now().getTime() + 8 * 3_600_000).toISOString().slice(0, 7)
    expect(await call(app, consumes.resource, { token: tenant.token, params: { id: one.id }, query: { month } })).toMatchObject({
      resource: { cloud_id: null },
      ended: { reason: 'project_deleted', at: (await events(one.id)).at(-1)?.at.toISOString() },
    })
  })

  it('are not resumed by one of the same name, nor lost but by what Keystone says of the project itself', async () => {
    const one = machine()
    cloud.has('servers', [one])
    await look()
    cloud.hasProjects({ id: 'f'.repeat(32) })
    await look()
    expect(await used(one.id)).toEqual([
      [small, null],
      [{}, 'project_deleted'],
    ])
    // Their owner gets another when they next make something: nothing of the one before comes with it.
    await app.platform.db
      .updateTable('keystone_projects')
      .set({ keystone_id: 'f'.repeat(32), problem: null, problem_since: null })
      .where('cloud_id', '=', cloud_id)
      .execute()
    await look()
    expect(await used(one.id)).toHaveLength(2)
    expect(await problems()).toEqual([])
  })

  it('are forgotten with what was lost in them, whose bill says why also where no look had come to it', async () => {
    const { db, log } = app.platform
    const one = machine()
    cloud.has('servers', [one])
    await look()
    cloud.hasProjects()
    const forget = () => db.transaction().execute((tx) => forgetDeletedProject(tx, { log, tell }, cloud_id, keystone, clock.now()))
    expect(await Promise.all([forget(), forget()])).toEqual(expect.arrayContaining([true, false]))
    expect(await used(one.id)).toEqual([
      [small, null],
      [{}, 'project_deleted'],
    ])
    await look()
    expect(await used(one.id)).toHaveLength(2)
    expect(await problems()).toEqual([])
    expect(await db.selectFrom('cloud_usage').select('id').where('cloud_id', '=', cloud_id).execute()).toEqual([])
    expect(await db.selectFrom('keystone_projects').select('keystone_id').where('cloud_id', '=', cloud_id).execute()).toEqual([])
  })

  it.each([
    ['Keystone fails', { 'identity/v3/projects': { status: 500, json: {} } }],
    ['Keystone is overloaded', { 'identity/v3/projects': { status: 503, json: {} } }],
    ['whoever stands before it finds nothing', { 'identity/v3/projects': { status: 404, json: { message: 'no such page' } } }],
    ['its list lacks it, and it fails when it is asked for it', { one: { status: 500, json: {} } }],
    ['its list lacks it, and somebody else says 404', { one: { status: 404, json: { message: 'no such page' } } }],
    ['its list lacks it, and we may not ask for it', { one: { status: 403, json: { error: { code: 403, message: 'You are not authorized.' } } } }],
  ])('nothing is taken for deleted where %s', async (_, said) => {
    const machines = [machine()]
    cloud.has('servers', machines)
    await look()
    const all = Object.entries(said).map(([path, answer]) => [path === 'one' ? onePath() : path, answer] as const)
    cloud.hasProjects()
    for (const [path, answer] of all) cloud.replies(path, answer)
    await look()
    await look()
    for (const [path] of all) cloud.replies(path, null)
    expect(await used(machines[0]?.id ?? '')).toEqual([[small, null]])
    expect(await problems()).toEqual([])
  })

  it('a 404 that Keystone does not repeat some seconds later deletes nothing; neither does a Keystone that nobody reaches', async () => {
    const one = machine()
    cloud.has('servers', [one])
    await look()
    cloud.hasProjects()
    cloud.replies(onePath(), notFound)
    const late = server(1_000)
    cloud.askedFor.length = 0
    const looking = look(late)
    await expect.poll(() => cloud.askedFor).toContain(`GET ${onePath()}`)
    cloud.hasProjects({ id: keystone })
    cloud.replies(onePath(), null)
    await looking
    expect(await problems()).toEqual([])
    const { db, log } = app.platform
    const away = createOpenStack({
      name: '断网云',
      authUrl: 'http://127.0.0.1:1/v3',
      credentials: { user: { name: 'x', domain: { name: 'Default' } }, password: 'x', project: { id: 'x' } },
    })
    const silent = createUsageLooks({ db, log, tell, now: clock.now, confirmMs: 5, clouds: { all: async () => [], openStack: async () => away } })
    await look(silent)
    await silent.stop()
    await away.close()
    expect(await used(one.id)).toEqual([[small, null]])
  })

  it('where roles are not told nobody is taken for one without, and one that is back is metered from then on', async () => {
    const one = machine()
    cloud.has('servers', [one])
    await look()
    cloud.replies('identity/v3/role_assignments', { status: 403, json: { error: { code: 403, message: 'You are not authorized.' } } })
    cloud.hasProjects({ id: keystone, open: false })
    await look()
    cloud.replies('identity/v3/role_assignments', null)
    expect(await problems()).toEqual([])
    cloud.hasProjects()
    await look()
    expect(await problems()).toMatchObject([{ problem: 'deleted' }])
    const gone = clock.now()
    // The very same one, as after a restored database.
    cloud.hasProjects({ id: keystone })
    await look()
    expect(await problems()).toEqual([])
    expect(await used(one.id)).toEqual([
      [small, null],
      [{}, 'project_deleted'],
      [small, null],
    ])
    expect((await events(one.id)).at(-1)?.at.getTime()).toBeGreaterThanOrEqual(gone.getTime())
  })
})
