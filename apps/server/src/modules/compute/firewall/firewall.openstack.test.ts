import { firewallGroups, firewallPolicies, firewallRules, firewallServices } from '@zhisuan/contract/compute/firewall'
import { errors } from '@zhisuan/contract/errors'
import { cloudIsThere } from '@zhisuan/engines/openstack/local'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call, send } from '../../../testing/call.ts'
import { directly, knowOpenStack } from '../../../testing/openstack.ts'
import { makeOrganisation, someone } from '../../../testing/people.ts'

describe.runIf(cloudIsThere)('firewalls of a cloud that has none', () => {
  let app: TestApp
  let cloud_id: string
  let tenant: string
  beforeAll(async () => {
    app = await testApp()
    cloud_id = await knowOpenStack(app)
    tenant = (await someone(app, { kind: 4, roles: ['TENANT'], organisation: await makeOrganisation(app) })).token
  })
  afterAll(() => app.close())

  it('are told to be missing, and cannot be made; nothing is left of the try', async () => {
    const direct = directly()
    expect((await direct.network.extensions()).has('fwaas_v2')).toBe(false)
    await direct.close()
    const input = { token: tenant, params: { cloud_id, id: 'aaaaaaaa-0000-4000-8000-000000000000' } }
    expect(await call(app, firewallServices.get, input)).toEqual({ available: false })
    const answers = [
      await send(app, firewallGroups.list, input),
      await send(app, firewallPolicies.list, input),
      await send(app, firewallRules.list, input),
      await send(app, firewallGroups.create, { ...input, body: { name: '边界' } }),
      await send(app, firewallPolicies.create, { ...input, body: { name: '策略' } }),
      await send(app, firewallRules.create, { ...input, body: { name: '规则', action: 'deny' } }),
      await send(app, firewallRules.delete, input),
    ]
    const { code, status } = errors.computeFirewallMissing
    for (const answer of answers) expect(answer).toMatchObject({ status, body: { code } })
    expect(await app.platform.db.selectFrom('keystone_projects').selectAll().where('cloud_id', '=', cloud_id).execute()).toEqual([])
  })
})
