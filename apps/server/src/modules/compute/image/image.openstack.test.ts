import { randomBytes } from 'node:crypto'
import { createServer, request as raw } from 'node:http'
import type { AddressInfo } from 'node:net'
import { computeImages } from '@zhisuan/contract/compute/image'
import { computeSecurityGroups } from '@zhisuan/contract/compute/security-group'
import { errors } from '@zhisuan/contract/errors'
import { auditAsked } from '@zhisuan/contract/iam/audit'
import type { OpenStack } from '@zhisuan/engines/openstack/cloud'
import { ownName, until } from '@zhisuan/engines/openstack/testing'
import { cloudIsThere } from '@zhisuan/engines/openstack/local'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { send, type AnyInput } from '../../../testing/call.ts'
import { directly, forgetProjects, items, knowOpenStack } from '../../../testing/openstack.ts'
import { makeOrganisation, someone } from '../../../testing/people.ts'
import { createTenancy } from '../tenancy/tenancy.service.ts'

/** Where somebody else's server is played. */
const elsewhere = '127.0.0.7'

describe.runIf(cloudIsThere)('images', () => {
  let app: TestApp
  let cloud_id: string
  let address: string
  const direct = directly()
  const ends: (() => Promise<unknown>)[] = []
  beforeAll(async () => {
    app = await testApp({ IMAGE_FETCH_ALLOW: elsewhere })
    cloud_id = await knowOpenStack(app)
    address = await app.http.listen({ port: 0, host: '127.0.0.1' })
  })
  afterAll(async () => {
    for (const end of ends.toReversed()) await end()
    await forgetProjects(app, cloud_id)
    await direct.close()
    await app.close()
  })

  it("public images are everybody's, with a project or without; private ones and groups are their project's", async () => {
    const [mine, others] = [await makeOrganisation(app), await makeOrganisation(app)]
    const tenant = await someone(app, { kind: 4, roles: ['TENANT'], organisation: mine })
    const other = await someone(app, { kind: 4, roles: ['TENANT'], organisation: others })
    const make = async (cloud: OpenStack, visibility: 'public' | 'private') => {
      const image = await cloud.images.create({ name: ownName(visibility), diskFormat: 'raw', visibility, minDiskGib: 2, minMemoryMib: 512 })
      ends.push(() => direct.images.delete(image.id))
      return image.id
    }
    const images = async (token: string) => (await items(app, computeImages.list, { token, params: { cloud_id } })).map(({ id }) => id)
    const open = await make(direct, 'public')
    expect(await images(tenant.token)).toContain(open)

    const { cloud } = await place(mine)
    await place(others)
    const closed = await make(cloud, 'private')
    expect(await images(tenant.token)).toEqual(expect.arrayContaining([open, closed]))
    expect(await images(other.token)).toContain(open)
    expect(await images(other.token)).not.toContain(closed)
    const admin = await someone(app, { kind: 1 })
    const all = await items(app, computeImages.list, { token: admin.token, params: { cloud_id } })
    expect(all.find(({ id }) => id === closed)).toMatchObject({
      status: 'queued',
      min_disk_bytes: 2 * 2 ** 30,
      min_memory_bytes: 512 * 2 ** 20,
      snapshot: false,
    })

    const group = await cloud.network.securityGroups.create({ name: ownName('group') })
    ends.push(() => cloud.network.securityGroups.delete(group.id))
    const groups = async (token: string) => (await items(app, computeSecurityGroups.list, { token, params: { cloud_id } })).map(({ id }) => id)
    expect(await groups(tenant.token)).toContain(group.id)
    expect(await groups(other.token)).not.toContain(group.id)
    expect(await groups(admin.token)).toContain(group.id)
  })

  it('announces, takes the file again after it broke off, gives it back by a link, changes, puts out of use and deletes; another organisation sees nothing of it', async () => {
    const [mine, others] = [await makeOrganisation(app), await makeOrganisation(app)]
    const { token } = await someone(app, { kind: 4, roles: ['TENANT'], organisation: mine })
    const other = await someone(app, { kind: 4, roles: ['TENANT'], organisation: others })
    await place(others)
    const call = (of: Parameters<typeof send>[1], input: AnyInput) => send(app, of, { token, ...input })

    const name = ownName('upload')
    const refused = await call(computeImages.create, { params: { cloud_id }, body: { name, disk_format: 'raw', visibility: 'public' } })
    expect(refused.body).toMatchObject({ code: errors.computePlatformOnly.code, fields: [{ field: 'visibility' }] })
    const made = await call(computeImages.create, {
      params: { cloud_id },
      body: { name, disk_format: 'raw', distribution: 'ubuntu', os_type: 'linux', min_disk_bytes: 2 ** 30 + 1 },
    })
    expect(made, JSON.stringify(made.body)).toMatchObject({
      status: 201,
      body: { image: { status: 'queued', mine: true, offer: null, distribution: 'ubuntu', os_type: 'linux', min_disk_bytes: 2 * 2 ** 30 } },
    })
    const { image, upload_path } = made.body as { image: { id: string }; upload_path: string }
    const at = { params: { cloud_id, id: image.id } }
    const statusOf = async () => ((await call(computeImages.get, at)).body as { status: string }).status

    const content = randomBytes(3 * 2 ** 20)
    await breakOff(address + upload_path, token, content.subarray(0, 2 ** 20), content.length)
    await until(statusOf, (status) => status === 'queued')
    expect(
      (
        await fetch(address + upload_path, {
          method: 'PUT',
          headers: { authorization: `Bearer ${other.token}`, 'content-type': 'application/octet-stream' },
          body: content,
        })
      ).status,
    ).toBe(404)
    const sent = await fetch(address + upload_path, {
      method: 'PUT',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/octet-stream' },
      body: content,
    })
    expect(sent.status, await sent.text()).toBe(204)
    const deeds = await app.platform.db
      .selectFrom('audit_log')
      .select(['call', 'code'])
      .where('object_id', '=', image.id)
      .where('call', '=', 'compute.image.upload')
      .orderBy('number')
      .execute()
    expect(deeds.slice(1)).toEqual([
      { call: 'compute.image.upload', code: errors.notFound.code },
      { call: 'compute.image.upload', code: auditAsked },
      { call: 'compute.image.upload', code: 0 },
    ])
    const again = await fetch(address + upload_path, {
      method: 'PUT',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/octet-stream' },
      body: content.subarray(0, 10),
    })
    expect(await again.json()).toMatchObject({ code: errors.stateForbids.code })
    expect((await call(computeImages.get, at)).body).toMatchObject({ status: 'active', size_bytes: content.length, digest: expect.stringMatching(/^sha512:/) })

    const link = (await call(computeImages.download, at)).body as { path: string }
    expect(Buffer.from(await (await fetch(address + link.path)).arrayBuffer()).equals(content)).toBe(true)
    const piece = await fetch(address + link.path, { headers: { range: 'bytes=1048570-1048580' } })
    expect([piece.status, Buffer.from(await piece.arrayBuffer()).equals(content.subarray(1_048_570, 1_048_581))]).toEqual([206, true])

    expect(
      (await call(computeImages.update, { ...at, body: { name: `${name} 二`, distribution: null, os_type: 'windows', protected: true } })).body,
    ).toMatchObject({ name: `${name} 二`, distribution: null, os_type: 'windows', protected: true, min_disk_bytes: 2 * 2 ** 30 })
    expect((await call(computeImages.delete, at)).body).toMatchObject({ code: errors.computeImageProtected.code })
    for (const [of, input] of [
      [computeImages.get, {}],
      [computeImages.update, { body: { name: 'x' } }],
      [computeImages.deactivate, {}],
      [computeImages.offer, { body: { organisation: 'x' } }],
      [computeImages.download, {}],
      [computeImages.import, { body: { url: 'https://example.com/x' } }],
      [computeImages.answer, { body: { accept: true } }],
      [computeImages.delete, {}],
    ] as const)
      expect((await send(app, of, { token: other.token, ...at, ...input })).status, of.id).toBe(404)

    expect((await call(computeImages.deactivate, at)).body).toMatchObject({ status: 'deactivated' })
    expect((await call(computeImages.download, at)).body).toMatchObject({ code: errors.stateForbids.code })
    expect((await call(computeImages.reactivate, at)).body).toMatchObject({ status: 'active' })
    await call(computeImages.update, { ...at, body: { protected: false } })
    expect((await call(computeImages.delete, at)).status).toBe(204)
    expect((await call(computeImages.get, at)).status).toBe(404)
  })

  it('is offered to another organisation, who accepts or rejects it, and may use but not change it', async () => {
    const [mine, others, third] = [await makeOrganisation(app), await makeOrganisation(app), await makeOrganisation(app)]
    const { token } = await someone(app, { kind: 4, roles: ['TENANT'], organisation: mine })
    const other = await someone(app, { kind: 4, roles: ['TENANT'], organisation: others })
    const stranger = await someone(app, { kind: 4, roles: ['TENANT'], organisation: third })
    await place(third)
    const names = await app.platform.db.selectFrom('organisations').select(['id', 'name']).where('id', 'in', [mine, others]).execute()
    const nameOf = (id: string) => names.find((one) => one.id === id)?.name ?? ''
    const made = (await send(app, computeImages.create, { token, params: { cloud_id }, body: { name: ownName('offer'), disk_format: 'qcow2' } })).body as {
      image: { id: string }
    }
    const at = { params: { cloud_id, id: made.image.id } }
    ends.push(() => direct.images.delete(made.image.id))

    const offer = (organisation: string, project: string | null = null) => send(app, computeImages.offer, { token, ...at, body: { organisation, project } })
    const missing = await offer('没有这个组织')
    expect(missing.body).toMatchObject({ code: errors.computeOfferMissing.code, fields: [{ field: 'organisation' }] })
    const told = ({ status, body }: Awaited<ReturnType<typeof offer>>) => ({ status, ...(body as object), request_id: '' })
    // Of those who are not on the cloud nobody learns that they are there, and nothing is made for them.
    expect(told(await offer(nameOf(others)))).toEqual(told(missing))
    expect(await app.platform.db.selectFrom('keystone_projects').select('bp_id').where('bp_id', '=', others).execute()).toEqual([])
    await place(others)
    expect(told(await offer(nameOf(others), '没有这个项目'))).toEqual(told(missing))
    expect((await offer(nameOf(mine))).body).toMatchObject({ code: errors.computeOfferToOwner.code })
    // Twice at once is once.
    const [first] = await Promise.all([offer(nameOf(others)), offer(nameOf(others)).catch(() => undefined)])
    expect(first, JSON.stringify(first.body)).toMatchObject({
      status: 200,
      body: { visibility: 'shared', members: [{ name: nameOf(others), status: 'pending' }] },
    })

    const listed = async (person: string) =>
      (await items(app, computeImages.list, { token: person, params: { cloud_id } })).find(({ id }) => id === made.image.id)
    expect(await listed(other.token)).toMatchObject({ mine: false, offer: 'pending' })
    expect(await listed(stranger.token)).toBeUndefined()
    const answer = (accept: boolean, person = other.token) => send(app, computeImages.answer, { token: person, ...at, body: { accept } })
    expect((await answer(true, token)).body).toMatchObject({ code: errors.computeNoOffer.code })
    expect((await answer(true, stranger.token)).status).toBe(404)
    expect((await answer(true)).body).toMatchObject({ offer: 'accepted' })
    expect(await listed(other.token)).toMatchObject({ mine: false, offer: 'accepted' })
    expect((await send(app, computeImages.get, { token: other.token, ...at })).body).toMatchObject({ offer: 'accepted', members: [] })
    for (const [of, input] of [
      [computeImages.update, { body: { name: 'x' } }],
      [computeImages.offer, { body: { organisation: nameOf(mine) } }],
      [computeImages.delete, {}],
    ] as const)
      expect((await send(app, of, { token: other.token, ...at, ...input })).body, of.id).toMatchObject({ code: errors.noPermission.code })
    expect((await answer(false)).body).toMatchObject({ offer: 'rejected' })
    expect(await listed(other.token)).toBeUndefined()

    const member_id = ((await send(app, computeImages.get, { token, ...at })).body as { members: { id: string }[] }).members[0]?.id ?? ''
    expect((await send(app, computeImages.withdraw, { token, params: { ...at.params, member_id } })).body).toMatchObject({ members: [] })
    expect((await answer(true)).status).toBe(404)
  })

  it('lets the cloud fetch from an address only where it can, and never from the house itself', async () => {
    const { token } = await someone(app, { kind: 4, roles: ['TENANT'], organisation: await makeOrganisation(app) })
    const made = (await send(app, computeImages.create, { token, params: { cloud_id }, body: { name: ownName('fetch'), disk_format: 'raw' } })).body as {
      image: { id: string }
    }
    ends.push(() => direct.images.delete(made.image.id))
    const params = { cloud_id, id: made.image.id }
    expect((await send(app, computeImages.import, { token, params, body: { url: 'http://169.254.169.254/latest' } })).body).toMatchObject({
      code: errors.imageAddressForbidden.code,
      fields: [{ field: 'url' }],
    })
    const { address: can } = (await send(app, computeImages.importWays, { token, params: { cloud_id } })).body as { address: boolean }
    expect(can).toBe((await direct.images.importMethods()).includes('web-download'))
    const ask = (url: string) => send(app, computeImages.import, { token, params, body: { url } })
    // What redirects lead to is told to Glance, which would follow them anywhere.
    const sent: string[] = []
    const away = createServer((request, response) => {
      sent.push(request.url ?? '')
      if (request.url === '/inside') response.writeHead(302, { location: 'http://169.254.169.254/latest' }).end()
      else if (request.url === '/moved') response.writeHead(302, { location: '/file' }).end()
      else response.end('no image')
    })
    await new Promise<void>((resolve) => away.listen(0, elsewhere, resolve))
    ends.push(() => new Promise((resolve) => away.close(resolve)))
    const from = `http://${elsewhere}:${(away.address() as AddressInfo).port}`
    expect((await ask(`${from}/inside`)).body).toMatchObject({ code: (can ? errors.imageAddressForbidden : errors.computeImportUnsupported).code })
    expect((await ask('http://nothing.invalid/x')).body).toMatchObject({ code: (can ? errors.imageFetchFailed : errors.computeImportUnsupported).code })
    // Glance's own filter lets it go to ports 80 and 443 only, and says what it was asked for.
    expect((await ask(`${from}/moved`)).body).toMatchObject(
      can
        ? { code: errors.engineRefused.code, detail: expect.stringMatching(new RegExp(`filtering: ${RegExp.escape(from)}/file$`)) }
        : { code: errors.computeImportUnsupported.code },
    )
    expect(sent).toEqual(can ? ['/inside', '/moved', '/file'] : [])
    const statusOf = async () => ((await send(app, computeImages.get, { token, params })).body as { status: string }).status
    await until(statusOf, (status) => status === 'queued')
  })

  it('an administrator makes an image public and private again', async () => {
    const admin = await someone(app, { kind: 1 })
    const made = await send(app, computeImages.create, {
      token: admin.token,
      params: { cloud_id },
      body: { name: ownName('public'), disk_format: 'raw', visibility: 'public', protected: true },
    })
    expect(made, JSON.stringify(made.body)).toMatchObject({ status: 201, body: { image: { visibility: 'public', protected: true, mine: true } } })
    const params = { cloud_id, id: (made.body as { image: { id: string } }).image.id }
    ends.push(() => direct.images.delete(params.id))
    const change = (body: object) => send(app, computeImages.update, { token: admin.token, params, body })
    expect((await change({ visibility: 'private', protected: false })).body).toMatchObject({ visibility: 'private', protected: false })
    expect((await change({ visibility: 'community' })).body).toMatchObject({ visibility: 'community' })
    const tenant = await someone(app, { kind: 4, roles: ['TENANT'], organisation: await makeOrganisation(app) })
    expect((await send(app, computeImages.update, { token: tenant.token, params, body: { name: 'x' } })).status).toBe(404)
  })

  /** Where an organisation's things are made. */
  const place = (bp_id: string) => {
    const person = { kind: 4, bp_id, roles: ['TENANT'] as const, user_id: bp_id, name: 'x' }
    const there = async () => direct
    const tenancy = createTenancy({
      ...app.platform,
      tell: async () => undefined,
      clouds: { openStack: there, openStackForChange: there } as never,
      mayMake: async () => undefined,
    })
    return tenancy.placeForMaking(person as never, cloud_id, null)
  }
})

/** Sends a part of what was said to come, and hangs up. */
const breakOff = (url: string, token: string, part: Buffer, length: number): Promise<void> =>
  new Promise((resolve) => {
    const sending = raw(url, {
      method: 'PUT',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/octet-stream', 'content-length': length },
    })
    sending.once('close', resolve).on('error', () => undefined)
    sending.write(part, () => setImmediate(() => sending.destroy()))
  })
