import { computeInstances, serverGroups } from '@zhisuan/contract/compute/instance'
import { computeNetworks } from '@zhisuan/contract/compute/network'
import { keystoneProjects } from '@zhisuan/contract/compute/project'
import { recycledInstances } from '@zhisuan/contract/compute/recycled'
import { computeVolumes } from '@zhisuan/contract/compute/volume'
import { errors } from '@zhisuan/contract/errors'
import { all } from '@zhisuan/engines/openstack/session'
import { cloudIsThere, registration } from '@zhisuan/engines/openstack/local'
import { ownName } from '@zhisuan/engines/openstack/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { send } from '../../../testing/call.ts'
import { directly, items, knowCloud } from '../../../testing/openstack.ts'
import { makeOrganisation, someone } from '../../../testing/people.ts'
import { nameForOwner } from './tenancy.service.ts'

describe.runIf(cloudIsThere)('a cloud that is registered by an application credential', () => {
  let app: TestApp
  const direct = directly()
  const ends: (() => Promise<unknown>)[] = []
  beforeAll(async () => {
    app = await testApp()
  })
  afterAll(async () => {
    for (const end of ends.toReversed()) await end()
    await direct.close()
    await app.close()
  })
  const register = async (roles: readonly string[]): Promise<string> => {
    const { userId } = await direct.session.whoami()
    const { id, secret } = await direct.identity.applicationCredentials.create(userId, { name: ownName('cloud'), roles })
    ends.push(() => direct.identity.applicationCredentials.delete(userId, id))
    const { auth_url, interface: face, region } = registration()
    return knowCloud(app, { type: 'openstack-credential', auth_url, interface: face, region, credential_id: id, credential_secret: secret })
  }

  it.each(['member', 'admin'])('shows platform people what it sees, and makes no project for a tenant: %s', async (role) => {
    const cloud_id = await register([role])
    const { token } = await someone(app, { kind: 1 })
    const { projectId } = await direct.session.whoami()
    for (const list of [computeInstances.list, computeVolumes.list, computeNetworks.list, serverGroups.list, recycledInstances.list]) {
      const told = (await items(app, list, { token, params: { cloud_id } })) as { keystone_project_id?: string | null }[]
      if (role === 'member' && list !== computeNetworks.list) for (const one of told) expect([list.id, one.keystone_project_id]).toEqual([list.id, projectId])
    }

    const organisation = await makeOrganisation(app)
    const tenant = await someone(app, { kind: 4, roles: ['TENANT'], organisation })
    const made = await send(app, computeNetworks.create, { token: tenant.token, params: { cloud_id }, body: { name: ownName('net') } })
    expect(made.body).toMatchObject({ code: errors.cloudSingleProject.code })
    expect(await all(direct.identity.projects.list({ name: nameForOwner({ bp_id: organisation, project_id: null }) }))).toEqual([])
    expect(await app.platform.db.selectFrom('keystone_projects').select('keystone_id').where('cloud_id', '=', cloud_id).execute()).toEqual([])
    expect(await items(app, computeInstances.list, { token: tenant.token, params: { cloud_id } })).toEqual([])

    // What was somebody's while it was registered otherwise takes nobody's lists away.
    await app.platform.db.insertInto('keystone_projects').values({ cloud_id, keystone_id: 'c0ffee', bp_id: organisation, project_id: null }).execute()
    expect(await items(app, computeInstances.list, { token: tenant.token, params: { cloud_id } })).toEqual([])
    expect(Array.isArray(await items(app, computeInstances.list, { token, params: { cloud_id } }))).toBe(true)
    if (role === 'admin') expect((await send(app, keystoneProjects.list, { token, params: { cloud_id } })).status).toBe(200)
  })
})
