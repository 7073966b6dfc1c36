import { randomUUID } from 'node:crypto'
import { computeNetworks } from '@zhisuan/contract/compute/network'
import { keystoneProjects } from '@zhisuan/contract/compute/project'
import { errors } from '@zhisuan/contract/errors'
import { all } from '@zhisuan/engines/openstack/session'
import { ownName, until, untilGone } from '@zhisuan/engines/openstack/testing'
import { cloudIsThere } from '@zhisuan/engines/openstack/local'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call, send } from '../../../testing/call.ts'
import { directly, forgetProjects, items, knowOpenStack, lines } from '../../../testing/openstack.ts'
import { makeOrganisation, someone } from '../../../testing/people.ts'
import { createUsageLooks } from '../metering/metering.service.ts'
import { createTenancy, nameForOwner } from './tenancy.service.ts'

const tell = async (): Promise<void> => undefined

describe.runIf(cloudIsThere)('Keystone projects', () => {
  let app: TestApp
  let cloud_id: string
  let admin: string
  const direct = directly()
  const ends: (() => Promise<unknown>)[] = []
  beforeAll(async () => {
    app = await testApp()
    cloud_id = await knowOpenStack(app)
    admin = (await someone(app, { kind: 1 })).token
  })
  afterAll(async () => {
    await forgetProjects(app, cloud_id)
    // Those that nobody adopted; the others are gone by now.
    for (const end of ends.toReversed()) await end().catch(() => undefined)
    await direct.close()
    await app.close()
  })

  /** As it is after whoever made it was killed, or after its owner went. */
  const orphan = async (tags: readonly string[] = ['zhisuan']) => {
    const { id } = await direct.identity.projects.create({ name: ownName('project'), domainId: 'default', tags })
    ends.push(() => direct.identity.projects.delete(id))
    return id
  }
  const listed = async (id: string) => (await items(app, keystoneProjects.list, { token: admin, params: { cloud_id } })).find((one) => one.id === id)
  const adopt = (id: string, body: object) => send(app, keystoneProjects.adopt, { token: admin, params: { cloud_id, id }, body })
  const remove = (id: string) => send(app, keystoneProjects.delete, { token: admin, params: { cloud_id, id } })
  const placeOf = (bp_id: string, project_id: string | null = null) => {
    const there = async () => direct
    const person = { kind: 4, bp_id, roles: ['TENANT'], user_id: bp_id, name: 'x' }
    return createTenancy({
      ...app.platform,
      tell,
      clouds: { openStack: there, openStackForChange: there } as never,
      mayMake: async () => undefined,
    }).placeForMaking(person as never, cloud_id, project_id)
  }

  it('says whose each is; only administrators see them', async () => {
    const organisation = await makeOrganisation(app)
    const { keystoneId } = await placeOf(organisation)
    expect(await listed(keystoneId)).toMatchObject({ state: 'owned', bp_id: organisation, project_id: null, registration: false, adopted: false })
    expect(await listed(await orphan())).toMatchObject({ state: 'orphaned', bp_id: null, since: null })
    expect(await listed(await orphan([]))).toMatchObject({ state: 'foreign' })
    const { projectId } = await direct.session.whoami()
    expect(await listed(projectId ?? '')).toMatchObject({ registration: true })
    const tenant = await someone(app, { kind: 4, roles: ['TENANT'], organisation })
    expect((await send(app, keystoneProjects.list, { token: tenant.token, params: { cloud_id } })).body).toMatchObject({ code: errors.noPermission.code })
    expect((await send(app, keystoneProjects.quota, { token: tenant.token, params: { cloud_id, id: keystoneId } })).body).toMatchObject({
      code: errors.noPermission.code,
    })
  })

  it("adopts what has no owner, once: of two at once one does; what it holds is its new owner's", async () => {
    const [one, other] = [await makeOrganisation(app), await makeOrganisation(app)]
    const id = await orphan([])
    expect((await adopt(id, { bp_id: '00000000-0000-4000-8000-000000000000' })).body).toMatchObject({ code: errors.organisationMissing.code })
    const answers = await Promise.all([adopt(id, { bp_id: one }), adopt(id, { bp_id: other })])
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409])
    const winner = answers[0]?.status === 200 ? one : other
    expect(await listed(id)).toMatchObject({ state: 'owned', bp_id: winner, adopted: true })
    expect((await placeOf(winner)).keystoneId).toBe(id)
    const { cloud } = await placeOf(winner)
    expect((await cloud.session.whoami()).projectId).toBe(id)
    expect((await adopt(id, { bp_id: one })).body).toMatchObject({ code: errors.computeProjectOwned.code })
    expect((await adopt(await orphan(), { bp_id: winner })).body).toMatchObject({ code: errors.computeOwnerHasProject.code, fields: [{ field: 'bp_id' }] })
    const { projectId } = await direct.session.whoami()
    expect((await adopt(projectId ?? '', { bp_id: one })).body).toMatchObject({ code: errors.computeProjectOwned.code })
  })

  it('whose project was adopted by another before they knew of it gets one of their own, not that one', async () => {
    const [one, other] = [await makeOrganisation(app), await makeOrganisation(app)]
    // As if whoever made it had been killed before they wrote down whose it is.
    const { id } = await direct.identity.projects.create({ name: nameForOwner({ bp_id: one, project_id: null }), domainId: 'default', tags: ['zhisuan'] })
    expect(await adopt(id, { bp_id: other })).toMatchObject({ status: 200 })
    const ids = await Promise.all([placeOf(one), placeOf(one)])
    expect(new Set(ids.map(({ keystoneId }) => keystoneId)).size).toBe(1)
    expect(ids[0]?.keystoneId).not.toBe(id)
    expect(await listed(ids[0]?.keystoneId ?? '')).toMatchObject({ state: 'owned', bp_id: one, adopted: false })
    expect(await listed(id)).toMatchObject({ bp_id: other })
  })

  it('deletes only what is orphaned and empty, and says what it holds; stopped in between, it is deleted again', async () => {
    const organisation = await makeOrganisation(app)
    const { keystoneId, cloud } = await placeOf(organisation)
    expect((await remove(keystoneId)).body).toMatchObject({ code: errors.computeProjectOwned.code })
    expect((await remove(await orphan([]))).body).toMatchObject({ code: errors.computeProjectNotOurs.code })
    expect((await remove('0'.repeat(32))).status).toBe(404)

    const network = await cloud.network.networks.create({ name: ownName('held') })
    // Its owner goes, behind our back.
    await app.platform.db
      .updateTable('keystone_projects')
      .set({ bp_id: '00000000-0000-4000-8000-00000000dead' })
      .where('keystone_id', '=', keystoneId)
      .execute()
    expect(await listed(keystoneId)).toMatchObject({ state: 'orphaned', bp_name: null })
    expect((await remove(keystoneId)).body).toMatchObject({ code: errors.computeProjectHolds.code, message: expect.stringContaining('1个网络') })
    await cloud.network.networks.delete(network.id)
    const answers = await Promise.all([remove(keystoneId), remove(keystoneId)])
    expect(answers.map(({ status }) => status)).toContain(204)
    expect(
      answers.every(({ status }) => status === 204 || status === 404),
      JSON.stringify(answers.map(({ body }) => body)),
    ).toBe(true)
    expect(await listed(keystoneId)).toBeUndefined()
    expect(await app.platform.db.selectFrom('keystone_projects').select('keystone_id').where('keystone_id', '=', keystoneId).execute()).toEqual([])
  })

  it('gets on without a project that somebody deleted in Keystone: its owner gets another, their others are still listed, and the row can be forgotten', async () => {
    const [organisation, left] = [await makeOrganisation(app), await makeOrganisation(app)]
    const project_id = randomUUID()
    await app.platform.db
      .insertInto('projects')
      .values({ id: project_id, key: `p-${project_id.slice(-6)}`, name: '研发', bp_id: organisation })
      .execute()
    const [own, projects, others] = [await placeOf(organisation), await placeOf(organisation, project_id), await placeOf(left)]
    const network = await projects.cloud.network.networks.create({ name: ownName('kept') })
    ends.push(() => direct.network.networks.delete(network.id))
    const tenant = await someone(app, { kind: 4, roles: ['TENANT'], organisation })
    const listedTo = async () =>
      (await lines(app, computeNetworks.list, { token: tenant.token, params: { cloud_id } })) as { items?: { id: string }[]; failed?: object; done?: true }[]
    // Before the server has a token for them: services go on taking one for minutes.
    for (const { keystoneId } of [own, others]) await direct.identity.projects.delete(keystoneId)

    const told = await listedTo()
    expect(told.flatMap(({ items: some = [] }) => some.map(({ id }) => id))).toContain(network.id)
    expect(told.at(-1)).toMatchObject({ failed: { code: errors.computeProjectGone.code } })
    expect(await listed(own.keystoneId)).toMatchObject({ state: 'missing', bp_id: organisation, registration: false })
    // Two at once get the same.
    const again = await Promise.all([placeOf(organisation), placeOf(organisation)])
    expect(new Set(again.map(({ keystoneId }) => keystoneId)).size).toBe(1)
    expect(again[0]?.keystoneId).not.toBe(own.keystoneId)
    expect(await listed(own.keystoneId)).toBeUndefined()
    expect((await listedTo()).at(-1)).toEqual({ done: true })

    expect((await remove(others.keystoneId)).status).toBe(204)
    expect((await remove(others.keystoneId)).status).toBe(404)
    expect(await listed(others.keystoneId)).toBeUndefined()
  })

  it('is found to be disabled, without a role, or deleted by the look of each minute, and told so', async () => {
    const organisation = await makeOrganisation(app)
    const { keystoneId } = await placeOf(organisation)
    const { db, log, now } = app.platform
    const looks = createUsageLooks({ db, log, tell, now, confirmMs: 100, clouds: { all: async () => [], openStack: async () => direct } })
    const problem = async () => {
      await looks.lookAnew(cloud_id)
      const { items: told } = await call(app, keystoneProjects.problems, { token: admin, query: { cloud_id, bp_id: organisation } })
      return told.map((one) => one.problem)
    }
    expect(await problem()).toEqual([])
    await direct.identity.projects.update(keystoneId, { enabled: false })
    expect(await problem()).toEqual(['disabled'])
    const tenant = await someone(app, { kind: 4, roles: ['TENANT'], organisation })
    const listed_to = (await lines(app, computeNetworks.list, { token: tenant.token, params: { cloud_id } })) as { failed?: object }[]
    expect(listed_to.at(-1)).toMatchObject({ failed: { code: errors.computeProjectDisabled.code } })
    await direct.identity.projects.update(keystoneId, { enabled: true })
    expect(await problem()).toEqual([])
    const { userId } = await direct.session.whoami()
    const roles = await all(direct.identity.roles.list())
    const grants = roles.filter(({ name }) => name === 'member').map(({ id: roleId }) => ({ projectId: keystoneId, userId, roleId }))
    for (const grant of grants) await direct.identity.roles.revoke(grant)
    expect(await problem()).toEqual(['roleless'])
    for (const grant of grants) await direct.identity.roles.grant(grant)
    expect(await problem()).toEqual([])
    await direct.identity.projects.delete(keystoneId)
    expect(await problem()).toEqual(['deleted'])
    await looks.stop()
  })

  it('does not delete what still holds an instance that can be taken back, or an image of the community', async () => {
    const { keystoneId, cloud } = await placeOf(await makeOrganisation(app))
    const [flavors, images] = await Promise.all([all(direct.compute.flavors.list()), all(direct.images.list({ name: 'empty' }))])
    const { id } = await cloud.compute.servers.create({
      name: ownName('kept'),
      flavorId: flavors.find(({ name }) => name === 'm1.tiny')?.id ?? '',
      imageId: images[0]?.id ?? '',
      networks: 'none',
    })
    await until(
      () => cloud.compute.servers.get(id),
      ({ state }) => state === 'running',
      ({ state }) => state === 'create_failed',
    )
    await cloud.compute.servers.delete(id)
    await until(
      () => cloud.compute.servers.get(id),
      ({ state }) => state === 'soft_deleted',
    )
    await app.platform.db.updateTable('keystone_projects').set({ bp_id: randomUUID() }).where('keystone_id', '=', keystoneId).execute()
    expect((await remove(keystoneId)).body).toMatchObject({ code: errors.computeProjectHolds.code, message: expect.stringContaining('1台实例') })
    await cloud.compute.servers.act(id, 'forceDelete')
    await untilGone(() => direct.compute.servers.get(id))
    const image = await cloud.images.create({ name: ownName('open'), diskFormat: 'raw', visibility: 'community' })
    expect((await remove(keystoneId)).body).toMatchObject({ code: errors.computeProjectHolds.code, message: expect.stringContaining('1个镜像') })
    await direct.images.delete(image.id)
    expect((await remove(keystoneId)).status).toBe(204)
  })

  it('reads and sets quotas of Nova, Cinder and Neutron; less than is used is refused before anything is set; tenants see their own', async () => {
    const [organisation, others] = [await makeOrganisation(app), await makeOrganisation(app)]
    const { keystoneId, cloud } = await placeOf(organisation)
    const network = await cloud.network.networks.create({ name: ownName('used') })
    ends.push(() => cloud.network.networks.delete(network.id))
    const set = (limits: object) => send(app, keystoneProjects.setQuota, { token: admin, params: { cloud_id, id: keystoneId }, body: { limits } })
    const done = await set({ instances: 3, memory_bytes: 2 ** 33, volume_bytes: 50 * 2 ** 30, networks: 2, cores: null })
    expect(done, JSON.stringify(done.body)).toMatchObject({
      status: 200,
      body: {
        failed: [],
        kinds: {
          instances: { limit: 3, used: 0 },
          memory_bytes: { limit: 2 ** 33 },
          volume_bytes: { limit: 50 * 2 ** 30 },
          networks: { limit: 2, used: 1 },
          cores: { limit: null },
        },
      },
    })
    expect((await set({ networks: 0, instances: 9 })).body).toMatchObject({ code: errors.computeQuotaBelowUse.code, fields: [{ field: 'limits.networks' }] })
    expect((await set({ instances: 2 ** 31 })).body).toMatchObject({ code: errors.fieldsInvalid.code, fields: [{ field: 'limits.instances' }] })
    const volume = await cloud.volume.volumes.create({ name: ownName('used'), description: '', sizeGib: 1 })
    ends.push(() => cloud.volume.volumes.delete(volume.id, false))
    expect((await set({ volume_bytes: 0, instances: 9 })).body).toMatchObject({
      code: errors.computeQuotaBelowUse.code,
      message: expect.stringContaining('1 GB'),
      fields: [{ field: 'limits.volume_bytes' }],
    })
    const tenant = await someone(app, { kind: 4, roles: ['TENANT'], organisation })
    const other = await someone(app, { kind: 4, roles: ['TENANT'], organisation: others })
    const mine = (token: string) => call(app, keystoneProjects.mine, { token, params: { cloud_id } })
    expect((await mine(tenant.token)).items).toMatchObject([
      { keystone_project_id: keystoneId, project_id: null, kinds: { instances: { limit: 3, used: 0 }, volumes: { used: 1 } }, failed: [] },
    ])
    // Who has none yet is told what they will begin with: what holds for all that nothing was set for.
    const before = await mine(other.token)
    expect(before).toMatchObject({ items: [], fresh: { failed: [] } })
    const fresh = (await placeOf(others)).keystoneId
    const { kinds } = await call(app, keystoneProjects.quota, { token: admin, params: { cloud_id, id: fresh } })
    for (const kind of ['instances', 'memory_bytes', 'volume_bytes', 'networks'] as const)
      expect(before.fresh.kinds[kind]?.limit, kind).toBe(kinds[kind]?.limit)
    // What administrators without an organisation make lies in the project of the registration.
    const { projectId } = await direct.session.whoami()
    expect((await mine(admin)).items).toMatchObject([{ keystone_project_id: projectId, name: '', project_id: null }])
  })
})
