import { computeInstances as instances } from '@zhisuan/contract/compute/instance'
import { computeVolumes as volumes } from '@zhisuan/contract/compute/volume'
import { all } from '@zhisuan/engines/openstack/session'
import { ownName, until } from '@zhisuan/engines/openstack/testing'
import { cloudIsThere } from '@zhisuan/engines/openstack/local'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call } from '../../../testing/call.ts'
import { directly, forgetProjects, knowOpenStack } from '../../../testing/openstack.ts'
import { makeOrganisation, someone } from '../../../testing/people.ts'
import { meteredKinds } from './metering.rules.ts'

const gib = 2 ** 30

describe.runIf(cloudIsThere)('what is used on a real OpenStack', () => {
  let app: TestApp
  let cloud_id: string
  let token: string
  let organisation: string
  const direct = directly()

  beforeAll(async () => {
    app = await testApp()
    cloud_id = await knowOpenStack(app)
    organisation = await makeOrganisation(app)
    token = (await someone(app, { kind: 4, roles: ['TENANT'], organisation })).token
  })
  afterAll(async () => {
    await forgetProjects(app, cloud_id)
    await direct.close()
    await app.close()
  })
  const told = (id: string) =>
    app.platform.db
      .selectFrom('usage_events')
      .select(['usage', 'at', 'bp_id', 'resource_type', 'resource_name'])
      .where('resource_id', '=', id)
      .orderBy('at')
      .orderBy('revision')
      .execute()
  /** Nobody has to ask for the look that tells it: a call that changes something brings it about. */
  const becomes = (id: string, usage: object) =>
    until(
      async () => (await told(id)).at(-1)?.usage,
      (last) => JSON.stringify(Object.entries(last ?? {}).toSorted()) === JSON.stringify(Object.entries(usage).toSorted()),
    )
  const during = (at: Date | undefined, from: Date): void => {
    // The cloud tells whole seconds.
    expect(at?.getTime()).toBeGreaterThan(from.getTime() - 1_000)
    expect(at?.getTime()).toBeLessThanOrEqual(Date.now())
  }

  it('is read of each kind by one list, as its administrator', async () => {
    const { roles } = await direct.session.whoami()
    expect(roles.some((role) => /admin/i.test(role))).toBe(true)
    for (const [type, list] of Object.entries(meteredKinds)) {
      for (const one of await all(list(direct, AbortSignal.timeout(120_000))))
        expect({ type, id: one.id, keystone_id: one.keystone_id }).toEqual({ type, id: expect.any(String), keystone_id: expect.any(String) })
    }
  })

  it('an instance that is made, stopped and deleted, and a volume that is made and grown, are told of with their quantities and moments', async () => {
    const [images, sizes] = await Promise.all([all(direct.images.list({ name: 'empty' })), all(direct.compute.flavors.list())])
    const params = { cloud_id }
    const begun = new Date()
    // Without a look before there is none to compare with: the first change brings it about, and this is the first.
    const { id: volume } = await call(app, volumes.create, { token, params, body: { name: ownName('metered'), size_bytes: gib } })
    await becomes(volume, { 'volume.size/__DEFAULT__': gib })
    const { items: made } = await call(app, instances.create, {
      token,
      params,
      body: {
        name: ownName('metered'),
        flavor_id: sizes.find(({ name }) => name === 'm1.tiny')?.id ?? '',
        source: { type: 'image', image_id: images[0]?.id ?? '' },
        networks: [],
      },
    })
    const id = made[0]?.id ?? ''
    const here = { cloud_id, id }
    const running = { 'vm.vcpu': 1, 'vm.memory': 512 * 2 ** 20, 'vm.disk': gib }
    await becomes(id, running)
    const grown = new Date()
    await call(app, volumes.grow, { token, params: { cloud_id, id: volume }, body: { size_bytes: 2 * gib } })
    await becomes(volume, { 'volume.size/__DEFAULT__': 2 * gib })
    const stopped = new Date()
    await call(app, instances.stop, { token, params: here })
    await becomes(id, { 'vm.disk': gib })
    const deleted = new Date()
    await call(app, instances.delete, { token, params: here })
    await becomes(id, {})

    // Of one that is gone its administrator is still told with which flavor it ended, and what was done to it.
    const left = await all(direct.compute.servers.list({ all_tenants: 1, deleted: true, 'changes-since': new Date(begun.getTime() - 60_000).toISOString() }))
    expect(left.find((one) => one.id === id)).toMatchObject({ vmState: 'deleted', flavor: { vcpus: 1, memoryMib: 512, diskGib: 1 } })
    const actions = await all(direct.compute.servers.actions(id))
    expect(actions.map(({ action }) => action)).toEqual(expect.arrayContaining(['create', 'stop', 'delete']))
    for (const { updatedAt } of actions) expect(updatedAt).toBeInstanceOf(Date)

    const [start, stop, end, ...more] = await told(id)
    expect(start).toMatchObject({
      bp_id: organisation,
      resource_type: 'compute.instance',
      resource_name: expect.stringMatching(/^zs-metered-/),
      usage: running,
    })
    expect(more).toEqual([])
    during(start?.at, begun)
    during(stop?.at, stopped)
    during(end?.at, deleted)
    const events = await told(volume)
    expect(events.map(({ usage }) => usage)).toEqual([{ 'volume.size/__DEFAULT__': gib }, { 'volume.size/__DEFAULT__': 2 * gib }])
    during(events[0]?.at, begun)
    during(events[1]?.at, grown)
  })
})
