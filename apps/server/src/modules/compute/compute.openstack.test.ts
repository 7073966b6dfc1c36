import { computeFlavors } from '@zhisuan/contract/compute/flavor'
import { errors } from '@zhisuan/contract/errors'
import type { Problem } from '@zhisuan/contract/problem'
import { createFaultyWay, ownName } from '@zhisuan/engines/openstack/testing'
import { cloudIsThere } from '@zhisuan/engines/openstack/local'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testApp, type TestApp } from '../../testing/app.ts'
import { call, send } from '../../testing/call.ts'
import { directly, forgetProjects, items, knowOpenStack, lines } from '../../testing/openstack.ts'
import { makeOrganisation, someone } from '../../testing/people.ts'
import { createTenancy } from './tenancy/tenancy.service.ts'

describe.runIf(cloudIsThere)('sizes, and who sees what of a cloud', () => {
  let app: TestApp
  let cloud_id: string
  const direct = directly()
  const made: string[] = []
  beforeAll(async () => {
    app = await testApp()
    cloud_id = await knowOpenStack(app)
    for (const open of [true, false])
      made.push(
        (
          await direct.compute.flavors.create({
            name: ownName(open ? 'open' : 'closed'),
            vcpus: 2,
            memoryMib: 512,
            diskGib: 3,
            public: open,
            description: '测试',
          })
        ).id,
      )
  })
  afterAll(async () => {
    for (const id of made) await direct.compute.flavors.delete(id)
    await forgetProjects(app, cloud_id)
    await direct.close()
    await app.close()
  })

  it('are told in lines, whole', async () => {
    const admin = await someone(app, { kind: 1 })
    const all = await items(app, computeFlavors.list, { token: admin.token, params: { cloud_id } })
    expect(all.find(({ id }) => id === made[0])).toMatchObject({
      vcpus: 2,
      memory_bytes: 512 * 2 ** 20,
      disk_bytes: 3 * 2 ** 30,
      public: true,
      description: '测试',
    })
    expect(all.find(({ id }) => id === made[1])).toMatchObject({ public: false })
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length)
  })

  it("of single projects are nobody else's, whether they have a project there or not", async () => {
    const organisation = await makeOrganisation(app)
    const tenant = await someone(app, { kind: 4, roles: ['TENANT'], organisation })
    const mine = async () => (await items(app, computeFlavors.list, { token: tenant.token, params: { cloud_id } })).map(({ id }) => id)
    for (const with_project of [false, true]) {
      if (with_project) await place(organisation)
      expect(await mine()).toContain(made[0])
      expect(await mine()).not.toContain(made[1])
      expect((await call(app, computeFlavors.get, { token: tenant.token, params: { cloud_id, id: made[0] ?? '' } })).vcpus).toBe(2)
      expect(await send(app, computeFlavors.get, { token: tenant.token, params: { cloud_id, id: made[1] ?? '' } })).toMatchObject({
        status: 404,
        body: { code: errors.notFound.code },
      })
    }
  })

  it('a project is made once, however many ask for it at once, also where one was killed in between', async () => {
    const bp_id = await makeOrganisation(app)
    const ids = await Promise.all([place(bp_id), place(bp_id), place(bp_id)])
    expect(new Set(ids).size).toBe(1)
    // As if whoever made it had been killed before they wrote it down.
    await app.platform.db.deleteFrom('keystone_projects').where('bp_id', '=', bp_id).execute()
    expect(await place(bp_id)).toBe(ids[0])
  })

  it('says which service of which cloud failed, by which request', async () => {
    const way = await createFaultyWay('identity')
    try {
      const broken = await knowOpenStack(app, { auth_url: `${way.url}/v3` })
      const admin = await someone(app, { kind: 1 })
      way.breaks((_, response) => {
        response.writeHead(500, { 'x-openstack-request-id': 'req-1' }).end('{"error": {"message": "no", "code": 500}}')
        return true
      })
      const answer = await send(app, computeFlavors.list, { token: admin.token, params: { cloud_id: broken } })
      expect(answer.status).toBe(502)
      expect((answer.body as Problem).engine).toMatchObject({ service: 'identity', request_id: 'req-1' })
      way.breaks(null)
      expect((await lines(app, computeFlavors.list, { token: admin.token, params: { cloud_id: broken } })).at(-1)).toEqual({ done: true })
    } finally {
      await way.close()
    }
  })

  it('of a cloud that there is not, or of the other family, is not there', async () => {
    const admin = await someone(app, { kind: 1 })
    expect(await send(app, computeFlavors.list, { token: admin.token, params: { cloud_id: '018f0000-0000-7000-8000-000000000000' } })).toMatchObject({
      status: 404,
    })
  })

  /** Where an organisation's things are made. */
  const place = async (bp_id: string): Promise<string> => {
    const person = { kind: 4, bp_id, roles: ['TENANT'] as const, user_id: bp_id, name: 'x' }
    const there = async () => direct
    const tenancy = createTenancy({
      ...app.platform,
      tell: async () => undefined,
      clouds: { openStack: there, openStackForChange: there } as never,
      mayMake: async () => undefined,
    })
    return (await tenancy.placeForMaking(person as never, cloud_id, null)).keystoneId
  }
})
