import { randomUUID } from 'node:crypto'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import { createListedCloud, recordedServer } from '@zhisuan/engines/openstack/listsTesting'
import { createOpenStack, type OpenStack } from '@zhisuan/engines/openstack/cloud'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { someActor } from '../../../testing/actor.ts'
import { createClock, testApp, type Clock, type TestApp } from '../../../testing/app.ts'
import { call } from '../../../testing/call.ts'
import { knowCloud } from '../../../testing/openstack.ts'
import { makeOrganisation, someone } from '../../../testing/people.ts'
import { createInstances } from '../instance/instance.service.ts'
import { createUsageLooks } from './metering.service.ts'
import { recordLook } from './metering.store.ts'
import { usedByServer, usedByVolume } from './metering.rules.ts'

const gib = 2 ** 30
const dayMs = 24 * 3_600_000
const small = { 'vm.vcpu': 1, 'vm.memory': 2 * gib, 'vm.disk': 20 * gib }
const tell = async (): Promise<void> => undefined

describe('what is used on a cloud that is its own record', () => {
  let app: TestApp
  let cloud: Awaited<ReturnType<typeof createListedCloud>>
  let engine: OpenStack & { close(): Promise<void> }
  let cloud_id: string
  let organisation: string
  let keystone: string
  /** A day ahead of the server's own looks, which come too late therefore. */
  let clock: Clock
  let looks: ReturnType<typeof createUsageLooks>
  const opened: ReturnType<typeof createUsageLooks>[] = []
  const server = () => {
    const { db, log } = app.platform
    const made = createUsageLooks({ db, log, tell, now: clock.now, clouds: { all: async () => [], openStack: async () => engine } })
    opened.push(made)
    return made
  }

  beforeAll(async () => {
    app = await testApp()
    cloud = await createListedCloud()
    const { auth_url, username, password } = cloud.registration
    const domain = { name: 'Default' }
    engine = createOpenStack({
      name: '清单云',
      authUrl: auth_url,
      region: 'RegionOne',
      credentials: { user: { name: username, domain }, password, project: { name: 'admin', domain } },
    })
  })
  afterAll(async () => {
    for (const one of opened) await one.stop()
    await engine.close()
    await app.close()
    await cloud.close()
  })
  /** Each has a cloud and an organisation of its own; the cloud behind is empty, and was looked at. */
  beforeEach(async () => {
    for (const list of ['servers', 'volumes', 'snapshots', 'backups', 'floatingIps', 'images'] as const) cloud.has(list)
    cloud.deleted()
    clock = createClock()
    clock.advance(dayMs)
    cloud_id = await knowCloud(app, cloud.registration)
    organisation = await makeOrganisation(app)
    keystone = await projectOf(organisation)
    looks = server()
    await looks.look(cloud_id)
    clock.advance(60_000)
  })

  const projectOf = async (bp_id: string): Promise<string> => {
    const keystone_id = randomUUID().replaceAll('-', '')
    await app.platform.db.insertInto('keystone_projects').values({ cloud_id, keystone_id, bp_id, project_id: null }).execute()
    return keystone_id
  }
  const ago = (seconds: number): Date => new Date(Math.floor(clock.now().getTime() / 1000 - seconds) * 1000)
  const nova = (moment: Date): string => moment.toISOString().replace('Z', '000')
  const machine = (changes: Record<string, unknown> = {}) =>
    recordedServer({ tenant_id: keystone, 'OS-SRV-USG:launched_at': nova(ago(30)), updated: ago(30).toISOString(), ...changes })
  const told = async (id: string) =>
    await app.platform.db
      .selectFrom('usage_events')
      .select(['resource_type', 'resource_name', 'bp_id', 'project_id', 'at', 'usage'])
      .where('resource_id', '=', id)
      .orderBy('at')
      .orderBy('revision')
      .execute()
  const usages = async (id: string) => (await told(id)).map(({ usage }) => usage)
  const moments = async (id: string) => (await told(id)).map(({ at }) => at.toISOString())
  const withinLook = (moment: string | undefined) => {
    expect(Date.parse(moment ?? '')).toBeGreaterThan(clock.now().getTime() - 5_000)
    expect(Date.parse(moment ?? '')).toBeLessThanOrEqual(clock.now().getTime())
  }

  it('an instance is told of when it was launched, stopped, resized and started, and when it is gone', async () => {
    const begins = ago(30)
    const one = machine({ 'OS-SRV-USG:launched_at': nova(begins) })
    cloud.has('servers', [one])
    await looks.look(cloud_id)
    clock.advance(60_000)
    const change = async (changes: Record<string, unknown>): Promise<string> => {
      const at = ago(20)
      Object.assign(one, { updated: at.toISOString() }, changes)
      await looks.look(cloud_id)
      await looks.look(cloud_id)
      clock.advance(60_000)
      return at.toISOString()
    }
    const stopped = await change({ status: 'SHUTOFF', 'OS-EXT-STS:vm_state': 'stopped' })
    const resized = await change({ flavor: { original_name: 'm1.large', vcpus: 4, ram: 8192, disk: 80, ephemeral: 0, swap: 0, extra_specs: {} } })
    const started = await change({ status: 'ACTIVE', 'OS-EXT-STS:vm_state': 'active' })
    // What changes nothing that costs is not told, but for the name, and that as of the look that saw it.
    await change({ locked: true })
    const named = clock.now()
    await change({ name: 'another' })
    const grown = await change({ flavor: { original_name: 'm1.large', vcpus: 8, ram: 8192, disk: 80, ephemeral: 0, swap: 0, extra_specs: {} } })
    cloud.has('servers')
    await looks.look(cloud_id)
    const large = { 'vm.vcpu': 4, 'vm.memory': 8 * gib, 'vm.disk': 80 * gib }
    expect(await usages(one.id)).toEqual([small, { 'vm.disk': 20 * gib }, { 'vm.disk': 80 * gib }, large, large, { ...large, 'vm.vcpu': 8 }, {}])
    const all = await moments(one.id)
    expect(all.slice(0, 4)).toEqual([begins.toISOString(), stopped, resized, started])
    expect(Date.parse(all[4] ?? '')).toBeGreaterThanOrEqual(named.getTime())
    expect(Date.parse(all[4] ?? '')).toBeLessThan(named.getTime() + 5_000)
    expect(all[5]).toBe(grown)
    withinLook(all[6])
    expect((await told(one.id)).at(-1)).toMatchObject({ resource_type: 'compute.instance', resource_name: 'another', bp_id: organisation, project_id: null })
    expect(await app.platform.db.selectFrom('cloud_usage').select('id').where('cloud_id', '=', cloud_id).execute()).toEqual([])
  })

  it('an instance that was resized and then deleted through us between two looks is told at its size', async () => {
    const one = machine()
    cloud.has('servers', [one])
    await looks.look(cloud_id)
    clock.advance(60_000)
    const resized = ago(40).toISOString()
    Object.assign(one, { updated: resized, flavor: { original_name: 'm1.large', vcpus: 4, ram: 8192, disk: 80, ephemeral: 0, swap: 0, extra_specs: {} } })
    const view = async () => ({ administrator: engine, everything: true, allTenants: {}, places: [] })
    const unused = async () => expect.fail('nobody asks for it')
    const instances = createInstances({
      ...app.platform,
      now: clock.now,
      tenancy: { view, viewForChange: view, inside: async () => engine, placeForMaking: unused },
      publicKeys: { publicKey: unused, names: unused },
    })
    await instances.delete(someActor({ kind: 1, roles: ['ADMIN'], bp_id: null }), cloud_id, one.id, {}, {})
    cloud.has('servers')
    await looks.look(cloud_id)
    expect(await usages(one.id)).toEqual([small, { 'vm.vcpu': 4, 'vm.memory': 8 * gib, 'vm.disk': 80 * gib }, {}])
    expect((await moments(one.id))[1]).toBe(resized)
  })

  describe('an instance that others resize between two looks', () => {
    const large = { 'vm.vcpu': 4, 'vm.memory': 8 * gib, 'vm.disk': 80 * gib }
    const largeFlavor = { original_name: 'm1.large', vcpus: 4, ram: 8192, disk: 80, ephemeral: 0, swap: 0, extra_specs: {} }
    /** It was seen small, and a minute has gone by. */
    const seen = async (changes: Record<string, unknown> = {}) => {
      const one = machine(changes)
      cloud.has('servers', [one])
      await looks.look(cloud_id)
      clock.advance(60_000)
      cloud.askedFor.length = 0
      return one
    }
    const gone = (one: Record<string, unknown>) => ({
      ...one,
      status: 'DELETED',
      flavor: largeFlavor,
      updated: ago(5).toISOString(),
      'OS-EXT-STS:vm_state': 'deleted',
    })
    const actionsAsked = () => cloud.askedFor.filter((one) => one.endsWith('/os-instance-actions'))

    it('and delete is charged at its larger size from when it was resized', async () => {
      const one = await seen()
      const resized = ago(40)
      cloud.tellsActions(one.id, { action: 'delete', at: ago(5) }, { action: 'confirmResize', at: ago(30) }, { action: 'resize', at: resized })
      cloud.deleted({ ...gone(one), id: one.id })
      cloud.has('servers')
      await looks.look(cloud_id)
      await looks.look(cloud_id)
      expect(await usages(one.id)).toEqual([small, large, {}])
      expect((await moments(one.id))[1]).toBe(resized.toISOString())
      withinLook((await moments(one.id))[2])
      expect(actionsAsked()).toHaveLength(1)
    })

    it('and stop, or confirm, is charged at its size from when it was resized', async () => {
      const [one, resized, stopped] = [await seen(), ago(40), ago(10)]
      cloud.tellsActions(one.id, { action: 'resize', at: resized })
      Object.assign(one, { flavor: largeFlavor, updated: stopped.toISOString(), 'OS-EXT-STS:vm_state': 'stopped' })
      await looks.look(cloud_id)
      expect(await usages(one.id)).toEqual([small, large, { 'vm.disk': 80 * gib }])
      expect((await moments(one.id)).slice(1)).toEqual([resized.toISOString(), stopped.toISOString()])

      // What changed it last was something else.
      clock.advance(60_000)
      const back = ago(50)
      const flavor = { original_name: 'm1.small', vcpus: 1, ram: 2048, disk: 20, ephemeral: 0, swap: 0, extra_specs: {} }
      cloud.tellsActions(one.id, { action: 'lock', at: ago(2) }, { action: 'revertResize', at: back }, { action: 'resize', at: ago(55), message: 'Error' })
      Object.assign(one, { flavor, updated: ago(2).toISOString() })
      await looks.look(cloud_id)
      expect((await usages(one.id)).at(-1)).toEqual({ 'vm.disk': 20 * gib })
      expect((await moments(one.id)).at(-1)).toBe(back.toISOString())
    })

    it.each([
      ['keeps to itself what was done', { status: 403, json: { forbidden: { code: 403, message: "Policy doesn't allow it." } } }],
      ['fails when it is asked', { status: 500, json: {} }],
      ['knows nothing of actions', { status: 404, json: {} }],
    ])('is metered by what was seen where the cloud %s', async (_, answer) => {
      const [one, other] = [await seen(), machine()]
      const path = `compute/v2.1/servers/${one.id}/os-instance-actions`
      cloud.replies(path, answer)
      cloud.deleted({ ...gone(one), id: one.id })
      cloud.has('servers', [other])
      await looks.look(cloud_id)
      cloud.replies(path, null)
      expect(await usages(one.id)).toEqual([small, {}])
      expect(await usages(other.id)).toEqual([small])
    })

    it('is not asked about where nothing was resized, and at most so many are at once', async () => {
      const one = await seen()
      cloud.deleted({ ...gone(one), id: one.id, flavor: one['flavor'] })
      cloud.has('servers')
      await looks.look(cloud_id)
      expect(actionsAsked()).toEqual([])
      expect(await usages(one.id)).toEqual([small, {}])

      const many = Array.from({ length: 30 }, () => machine())
      clock.advance(60_000)
      cloud.has('servers', many)
      await looks.look(cloud_id)
      clock.advance(60_000)
      for (const each of many) Object.assign(each, { flavor: largeFlavor, updated: ago(10).toISOString() })
      await looks.look(cloud_id)
      expect(actionsAsked()).toHaveLength(20)
      for (const { id } of many) expect(await usages(id)).toEqual([small, large])
    })

    it('is told once by two servers that look at once', async () => {
      const one = await seen()
      cloud.tellsActions(one.id, { action: 'resize', at: ago(40) })
      cloud.deleted({ ...gone(one), id: one.id })
      cloud.has('servers')
      await Promise.all([looks, server()].map((of) => of.look(cloud_id)))
      expect(await usages(one.id)).toEqual([small, large, {}])
    })
  })

  it('volumes, snapshots, backups, addresses and images are told of by what they take', async () => {
    const ids = { volume: randomUUID(), snapshot: randomUUID(), backup: randomUUID(), address: randomUUID(), image: randomUUID(), everybodys: randomUUID() }
    const [made, changed] = [ago(30), ago(10)]
    const times = { created_at: made.toISOString(), updated_at: changed.toISOString() }
    const volume = {
      id: ids.volume,
      name: 'data',
      status: 'available',
      size: 3,
      volume_type: 'fast',
      'os-vol-tenant-attr:tenant_id': keystone,
      ...times,
      created_at: nova(made),
    }
    cloud.has('volumes', [volume])
    cloud.has('snapshots', [
      { id: ids.snapshot, name: 's', status: 'available', size: 3, volume_id: ids.volume, 'os-extended-snapshot-attributes:project_id': keystone, ...times },
    ])
    cloud.has('backups', [
      { id: ids.backup, name: 'b', status: 'available', size: 3, volume_id: ids.volume, 'os-backup-project-attr:project_id': keystone, ...times },
    ])
    cloud.has('floatingIps', [{ id: ids.address, floating_ip_address: '203.0.113.9', floating_network_id: randomUUID(), project_id: keystone, ...times }])
    const image = { name: 'i', status: 'active', visibility: 'private', owner: keystone, size: 5 * gib, ...times }
    cloud.has('images', [
      { ...image, id: ids.image },
      { ...image, id: ids.everybodys, visibility: 'public' },
    ])
    await looks.look(cloud_id)
    expect(await told(ids.volume)).toMatchObject([{ resource_type: 'compute.volume', resource_name: 'data', usage: { 'volume.size/fast': 3 * gib } }])
    expect(await told(ids.snapshot)).toMatchObject([{ resource_type: 'compute.volumeSnapshot', usage: { 'snapshot.size': 3 * gib } }])
    expect(await told(ids.backup)).toMatchObject([{ resource_type: 'compute.volumeBackup', usage: { 'backup.size': 3 * gib } }])
    expect(await told(ids.address)).toMatchObject([{ resource_type: 'compute.floatingIp', resource_name: '203.0.113.9', usage: { 'eip.address': 1 } }])
    expect(await told(ids.image)).toMatchObject([{ resource_type: 'compute.image', usage: { 'image.size': 5 * gib } }])
    expect(await told(ids.everybodys)).toEqual([])
    expect(await moments(ids.volume)).toEqual([made.toISOString()])
    // An image is there once its content is.
    expect(await moments(ids.image)).toEqual([changed.toISOString()])
    clock.advance(60_000)
    const grown = ago(7).toISOString()
    cloud.has('volumes', [{ ...volume, size: 8, updated_at: grown }])
    await looks.look(cloud_id)
    expect(await usages(ids.volume)).toEqual([{ 'volume.size/fast': 3 * gib }, { 'volume.size/fast': 8 * gib }])
    expect((await moments(ids.volume))[1]).toBe(grown)
  })

  it('what was there before anybody looked is paid from the first look on, and of nobody nothing is told', async () => {
    const [fresh, theirs] = [await knowCloud(app, cloud.registration), machine({ tenant_id: 'f'.repeat(32) })]
    const mine = machine({ 'OS-SRV-USG:launched_at': nova(ago(86_400)) })
    await app.platform.db.updateTable('keystone_projects').set({ cloud_id: fresh }).where('keystone_id', '=', keystone).execute()
    cloud.has('servers', [mine, theirs])
    await looks.look(fresh)
    withinLook((await moments(mine.id))[0])
    expect(await told(theirs.id)).toEqual([])
  })

  it('a list that fails, or breaks off on its second page, leaves its kind as it was, and the others are read', async () => {
    const [first, second] = [machine(), machine()]
    cloud.has('servers', [first], [second])
    await looks.look(cloud_id)
    expect(await usages(second.id)).toEqual([small])
    const volume = {
      id: randomUUID(),
      name: 'data',
      status: 'available',
      size: 1,
      volume_type: null,
      'os-vol-tenant-attr:tenant_id': keystone,
      created_at: ago(5).toISOString(),
      updated_at: null,
    }
    for (const page of [1, 0]) {
      clock.advance(3_600_000)
      cloud.breaks('servers', page)
      cloud.has('volumes', page === 1 ? [volume] : [])
      await looks.look(cloud_id)
      expect([await usages(first.id), await usages(second.id)]).toEqual([[small], [small]])
    }
    expect(await usages(volume.id)).toEqual([{ 'volume.size': gib }, {}])
    // It ends when it is seen to have ended.
    cloud.breaks('servers', null)
    cloud.has('servers', [first])
    await looks.look(cloud_id)
    expect([await usages(first.id), await usages(second.id)]).toEqual([[small], [small, {}]])
    withinLook((await moments(second.id))[1])
  })

  it('an account that is no administrator any more ends nothing, as its lists are empty', async () => {
    const one = machine()
    cloud.has('servers', [one])
    await looks.look(cloud_id)
    const lesser = createOpenStack({
      name: '清单云',
      authUrl: cloud.registration.auth_url,
      region: 'RegionOne',
      credentials: {
        user: { name: 'admin', domain: { name: 'Default' } },
        password: cloud.registration.password,
        project: { name: 'admin', domain: { name: 'Default' } },
      },
    })
    cloud.takesFor('member')
    cloud.has('servers')
    const { db, log } = app.platform
    const late = createUsageLooks({ db, log, tell, now: clock.now, clouds: { all: async () => [], openStack: async () => lesser } })
    clock.advance(60_000)
    await late.look(cloud_id)
    cloud.takesFor('admin')
    await Promise.all([late.stop(), lesser.close()])
    expect(await usages(one.id)).toEqual([small])
  })

  it('two servers that look at once tell it once, and a look that was overtaken tells nothing', async () => {
    const other = server()
    const one = machine()
    cloud.has('servers', [one, one])
    await Promise.all([looks.look(cloud_id), other.look(cloud_id)])
    expect(await usages(one.id)).toEqual([small])
    // The first asks, is kept waiting, and hears what has changed long since.
    clock.advance(60_000)
    const began = clock.now()
    clock.advance(60_000)
    cloud.has('servers')
    await other.look(cloud_id)
    const { db } = app.platform
    const late = { id: one.id, name: 'web-1', keystone_id: keystone, usage: small, made: ago(200), changed: ago(200) }
    expect(await db.transaction().execute((tx) => recordLook(tx, { cloudId: cloud_id, type: 'compute.instance', began, now: clock.now(), seen: [late] }))).toBe(
      false,
    )
    expect(await usages(one.id)).toEqual([small, {}])
  })

  it('what is killed in the middle has told nothing, and is told by the next', async () => {
    const { db } = app.platform
    const launched = ago(30)
    const [one, two] = [machine({ 'OS-SRV-USG:launched_at': nova(launched) }), machine()]
    cloud.has('servers', [one, two])
    const seen = [one, two].map(({ id }) => ({ id, name: 'x', keystone_id: keystone, usage: small, made: null, changed: null }))
    const killed = db.transaction().execute(async (tx) => {
      await recordLook(tx, { cloudId: cloud_id, type: 'compute.instance', began: clock.now(), now: clock.now(), seen })
      throw new Error('killed')
    })
    await expect(killed).rejects.toThrow('killed')
    expect([await told(one.id), await told(two.id)]).toEqual([[], []])
    await looks.look(cloud_id)
    expect([await usages(one.id), await usages(two.id)]).toEqual([[small], [small]])
    expect(await moments(one.id)).toEqual([launched.toISOString()])
  })

  it('goes over to another with the project that they adopted, and with a volume that was handed over', async () => {
    const { db } = app.platform
    const one = machine()
    const volume = {
      id: randomUUID(),
      name: 'data',
      status: 'available',
      size: 1,
      volume_type: null,
      'os-vol-tenant-attr:tenant_id': keystone,
      created_at: ago(30).toISOString(),
      updated_at: null as string | null,
    }
    cloud.has('servers', [one])
    cloud.has('volumes', [volume])
    await looks.look(cloud_id)
    clock.advance(600_000)
    const heir = await makeOrganisation(app)
    volume['os-vol-tenant-attr:tenant_id'] = await projectOf(heir)
    const handed = ago(100).toISOString()
    volume.updated_at = handed
    await looks.look(cloud_id)
    expect((await told(volume.id)).map(({ bp_id, at }) => [bp_id, at.toISOString()])).toEqual([
      [organisation, expect.any(String)],
      [heir, handed],
    ])
    clock.advance(600_000)
    const [third, adopted] = [await makeOrganisation(app), ago(300)]
    await db.updateTable('keystone_projects').set({ bp_id: third, created_at: adopted }).where('keystone_id', '=', keystone).execute()
    await looks.look(cloud_id)
    const events = await told(one.id)
    expect(events.map(({ bp_id, usage }) => [bp_id, usage])).toEqual([
      [organisation, small],
      [third, small],
    ])
    expect(events[1]?.at).toEqual(adopted)
    // Whose owner is gone is nobody's.
    await db.updateTable('keystone_projects').set({ bp_id: randomUUID() }).where('keystone_id', '=', keystone).execute()
    clock.advance(60_000)
    await looks.look(cloud_id)
    expect((await told(one.id)).at(-1)).toMatchObject({ bp_id: third, usage: {} })
  })

  it('a cloud that is taken out of the platform ends what is used there, and no late look begins it again', async () => {
    const one = machine()
    cloud.has('servers', [one])
    await looks.look(cloud_id)
    const { token } = await someone(app, { kind: 1 })
    clock.advance(60_000)
    const release = cloud.holds('servers')
    const late = looks.look(cloud_id)
    await call(app, clouds.delete, { token, params: { id: cloud_id }, query: { force: 'true' } })
    release()
    await late
    expect(await usages(one.id)).toEqual([small, {}])
  })

  it('a state says what runs and what has a disk on its host', () => {
    const flavor = { name: 'm1.small', vcpus: 1, memoryMib: 2048, diskGib: 20, extraSpecs: {} }
    const launchedAt = new Date()
    const used = (vmState: string | null, imageId: string | null = 'image') => usedByServer({ vmState, imageId, flavor, launchedAt })
    const disk = { 'vm.disk': 20 * gib }
    for (const state of ['active', 'paused', 'rescued', 'resized']) expect(used(state), state).toEqual(small)
    for (const state of ['stopped', 'suspended', 'soft-delete', 'error', null]) expect(used(state), String(state)).toEqual(disk)
    for (const state of ['shelved', 'shelved_offloaded', 'building', 'deleted']) expect(used(state), state).toEqual({})
    expect(used('active', null)).toEqual({ 'vm.vcpu': 1, 'vm.memory': 2 * gib })
    expect(used('stopped', null)).toEqual({})
    expect(usedByServer({ vmState: 'error', imageId: 'image', flavor, launchedAt: null })).toEqual({})
    const cards = { ...flavor, extraSpecs: { 'pci_passthrough:alias': 'a100:2, t4:1', 'resources:VGPU': '1', 'hw:cpu_policy': 'dedicated' } }
    const withCards = (vmState: string) => usedByServer({ vmState, imageId: null, flavor: cards, launchedAt })
    for (const state of ['stopped', 'shelved']) expect(withCards(state), state).toEqual({ 'vm.gpu/a100': 2, 'vm.gpu/t4': 1, 'vm.gpu/VGPU': 1 })
    expect(withCards('active')).toMatchObject({ 'vm.vcpu': 1, 'vm.gpu/a100': 2 })
    expect(withCards('shelved_offloaded')).toEqual({})
    for (const status of ['creating', 'error']) expect(usedByVolume({ status, sizeGib: 1, type: 'a/b' })).toEqual({})
    for (const status of ['available', 'in-use', 'extending', 'deleting', 'error_deleting', 'error_extending'])
      expect(usedByVolume({ status, sizeGib: 1, type: 'a/b' })).toEqual({ 'volume.size/a/b': gib })
  })
})
