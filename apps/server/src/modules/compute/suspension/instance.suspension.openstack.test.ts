import { accounts } from '@zhisuan/contract/bill/account'
import { arrearsPolicies, standings } from '@zhisuan/contract/bill/arrears'
import { computeInstances as instances } from '@zhisuan/contract/compute/instance'
import { all } from '@zhisuan/engines/openstack/session'
import { ownName, until } from '@zhisuan/engines/openstack/testing'
import { cloudIsThere } from '@zhisuan/engines/openstack/local'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call } from '../../../testing/call.ts'
import { directly, forgetProjects, knowOpenStack } from '../../../testing/openstack.ts'
import { someone } from '../../../testing/people.ts'
import { chargeUsage } from '../../bill/testing.ts'

describe.runIf(cloudIsThere)('a suspension of who has instances on a real OpenStack', () => {
  let app: TestApp
  let cloud_id: string
  const direct = directly()
  beforeAll(async () => {
    app = await testApp()
    cloud_id = await knowOpenStack(app)
  })
  afterAll(async () => {
    await forgetProjects(app, cloud_id)
    await direct.close()
    await app.close()
  })

  it('stops what runs there, refuses what would run, and starts it again when it is paid', async () => {
    const [admin, who] = [await someone(app, { kind: 1 }), await someone(app)]
    const owner = { id: who.bp_id ?? '' }
    const policy = { low_balance: '0', grace_hours: 0, warning_hours: 0, suspends: true, stop_vms: true, stop_containers: true, refuse_new: true, resume: true }
    await call(app, arrearsPolicies.setException, { token: admin.token, params: owner, body: policy })
    const [images, sizes] = await Promise.all([all(direct.images.list({ name: 'empty' })), all(direct.compute.flavors.list())])
    const { items } = await call(app, instances.create, {
      token: who.token,
      params: { cloud_id },
      body: {
        name: ownName('dry'),
        count: 2,
        flavor_id: sizes.find(({ name }) => name === 'm1.tiny')?.id ?? '',
        source: { type: 'image', image_id: images[0]?.id ?? '' },
        networks: [],
      },
    })
    const [runs = '', stood = ''] = items.map(({ id }) => id ?? '')
    const state = async (id: string) => (await call(app, instances.get, { token: who.token, params: { cloud_id, id } })).state
    for (const id of [runs, stood])
      await until(
        () => state(id),
        (now) => now === 'running',
        (now) => now === 'create_failed',
      )
    await call(app, instances.stop, { token: who.token, params: { cloud_id, id: stood } })
    await until(
      () => state(stood),
      (now) => now === 'stopped',
    )
    // Who pays for it is known from the first look on.
    await until(
      () => app.platform.db.selectFrom('cloud_usage').select('id').where('id', '=', runs).executeTakeFirst(),
      (row) => row !== undefined,
    )

    await chargeUsage(app.platform.db, owner.id, '1')
    const standing = () => call(app, standings.get, { token: who.token, params: owner })
    await until(standing, (now) => now.suspension?.phase === 'suspended')
    expect(await Promise.all([state(runs), state(stood)])).toEqual(['stopped', 'stopped'])
    await call(app, accounts.charge, { token: admin.token, params: owner, body: { amount: '1' } })
    await until(standing, (now) => now.suspension === null)
    expect(await Promise.all([state(runs), state(stood)])).toEqual(['running', 'stopped'])
  })
})
