import { Readable } from 'node:stream'
import { computeFloatingIps } from '@zhisuan/contract/compute/floating-ip'
import { computeImages } from '@zhisuan/contract/compute/image'
import { computeInstances as calls, type ComputeInstanceDetail } from '@zhisuan/contract/compute/instance'
import { computeNetworks, computePorts, type ComputeNetwork } from '@zhisuan/contract/compute/network'
import { computeRouters } from '@zhisuan/contract/compute/router'
import { computeVolumes as volumes, computeVolumeSnapshots as snapshots, computeVolumeTransfers as transfers } from '@zhisuan/contract/compute/volume'
import type { BodyInput, Call } from '@zhisuan/contract/define'
import { errors, type ErrorName } from '@zhisuan/contract/errors'
import { keyPairs } from '@zhisuan/contract/nextstack/key-pair'
import type { Problem } from '@zhisuan/contract/problem'
import type { OpenStack } from '@zhisuan/engines/openstack/cloud'
import { all } from '@zhisuan/engines/openstack/session'
import { ownName, until, untilGone } from '@zhisuan/engines/openstack/testing'
import { cloudIsThere } from '@zhisuan/engines/openstack/local'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { uuidv7 } from '../../../platform/ids.ts'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call, send, type Answer } from '../../../testing/call.ts'
import { directly, forgetProjects, items, knowOpenStack } from '../../../testing/openstack.ts'
import { makeOrganisation, someone } from '../../../testing/people.ts'

const gib = 2 ** 30
type Wish = BodyInput<typeof calls.create>

describe.runIf(cloudIsThere)('what instances are made of, and where', () => {
  let app: TestApp
  let cloud_id: string
  let organisation: string
  let tenant: { token: string }
  let other: { token: string }
  let network: ComputeNetwork
  let inside: OpenStack
  let image_id: string
  let public_id: string
  let flavor_id: string
  const direct = directly()

  const at = (id = '') => ({ cloud_id, id })
  const here = (body: object) => ({ token: tenant.token, params: { cloud_id }, body: body as never })
  const look = (id: string): Promise<ComputeInstanceDetail> => call(app, calls.get, { token: tenant.token, params: at(id) })
  const wish = (changes: Partial<Wish> = {}): Wish => ({
    name: ownName('vm'),
    flavor_id,
    source: { type: 'image', image_id },
    networks: [{ network_id: network.id }],
    ...changes,
  })
  const create = (changes: Partial<Wish> = {}, who = tenant): Promise<Answer> =>
    send(app, calls.create, { token: who.token, params: { cloud_id }, body: wish(changes) })
  const make = async (changes: Partial<Wish> = {}): Promise<ComputeInstanceDetail> => {
    const answer = await create(changes)
    expect(answer.status, JSON.stringify(answer.body)).toBe(202)
    const [made] = (answer.body as { items: { id: string }[] }).items
    return until(
      () => look(made?.id ?? ''),
      ({ state }) => state === 'running',
      ({ state }) => state === 'create_failed',
    )
  }
  const drop = async ({ id }: { id: string }): Promise<void> => {
    await call(app, calls.delete, { token: tenant.token, params: at(id) })
    await untilGone(() => direct.compute.servers.get(id))
  }
  const rests = (id: string, status = 'available', size_bytes?: number) =>
    until(
      () => call(app, volumes.get, { token: tenant.token, params: at(id) }),
      (one) => one.status === status && (size_bytes === undefined || one.size_bytes === size_bytes),
      (one) => one.status.startsWith('error'),
    )
  const makeVolume = async (body: object = {}) => rests((await call(app, volumes.create, here({ name: ownName('volume'), size_bytes: gib, ...body }))).id)
  const refused = (answer: Answer, name: ErrorName, field?: string): Problem => {
    const problem = answer.body as Problem
    expect([problem.code, answer.status], JSON.stringify(problem)).toEqual([errors[name].code, errors[name].status])
    if (field !== undefined) expect(problem.fields?.map((one) => one.field)).toEqual([field])
    return problem
  }

  beforeAll(async () => {
    app = await testApp()
    cloud_id = await knowOpenStack(app)
    organisation = await makeOrganisation(app)
    tenant = await someone(app, { kind: 4, roles: ['TENANT'], organisation })
    other = await someone(app, { kind: 4, roles: ['TENANT'], organisation: await makeOrganisation(app) })
    const [networks, images, sizes] = await Promise.all([
      all(direct.network.networks.list({ 'router:external': true })),
      all(direct.images.list({ name: 'empty' })),
      all(direct.compute.flavors.list()),
    ])
    public_id = networks.find(({ name }) => name === 'public')?.id ?? ''
    image_id = images[0]?.id ?? ''
    flavor_id = sizes.find(({ name }) => name === 'm1.tiny')?.id ?? ''
    network = await call(app, computeNetworks.create, here({ name: ownName('net'), subnet: { cidr: '10.82.0.0/24' } }))
    const keystoneId = network.keystone_project_id ?? ''
    inside = direct.within({ id: keystoneId })
    await direct.volume.quotas.set(keystoneId, { volumes: 50, snapshots: 50 })
  })
  afterAll(async () => {
    await forgetProjects(app, cloud_id)
    await direct.close()
    await app.close()
  })

  it('a copy of an image on a volume, and an empty disk: what is to go with the instance goes, the rest stays', async () => {
    const made = await make({ source: { type: 'image', image_id, disk: { size_bytes: gib } }, disks: [{ size_bytes: 2 * gib, delete_on_termination: false }] })
    expect(made.image_id).toBeNull()
    expect(made.volumes.map(({ size_bytes, bootable, delete_on_termination }) => [size_bytes, bootable, delete_on_termination]).toSorted()).toEqual([
      [gib, true, true],
      [2 * gib, false, false],
    ])
    const [root, disk] = made.volumes.toSorted((a, b) => (a.size_bytes ?? 0) - (b.size_bytes ?? 0))
    // By the page of the volume as by that of the instance.
    refused(await send(app, volumes.detach, { token: tenant.token, params: at(root?.volume_id), body: { server_id: made.id } }), 'computeRootVolume')
    refused(await send(app, calls.detachVolume, { token: tenant.token, params: { ...at(made.id), volume_id: root?.volume_id ?? '' } }), 'computeRootVolume')
    refused(await send(app, calls.detachVolume, { token: tenant.token, params: { ...at(made.id), volume_id: image_id } }), 'notFound')
    await drop(made)
    await untilGone(() => inside.volume.volumes.get(root?.volume_id ?? ''))
    expect(await rests(disk?.volume_id ?? '')).toMatchObject({ attachments: [] })
  })

  it('a volume: by one of two instances at once, and it stays; not one that nothing starts from', async () => {
    const volume = await makeVolume({ image_id })
    const source = { type: 'volume' as const, volume_id: volume.id }
    const answers = await Promise.all([create({ source }), create({ source })])
    expect(answers.map(({ status }) => status).toSorted(), JSON.stringify(answers.map(({ body }) => body))).toEqual([202, 409])
    const made = answers.flatMap(({ status, body }) => (status === 202 ? (body as { items: { id: string }[] }).items : []))
    const first = await until(
      () => look(made[0]?.id ?? ''),
      ({ state }) => state === 'running',
      ({ state }) => state === 'create_failed',
    )
    expect(first).toMatchObject({ image_id: null, volumes: [{ volume_id: volume.id, bootable: true, delete_on_termination: false }] })
    refused(await create({ source }), 'stateForbids', 'source.volume_id')
    await drop(first)
    await rests(volume.id)
    const again = await make({ source: { ...source, delete_on_termination: true } })
    await drop(again)
    await untilGone(() => inside.volume.volumes.get(volume.id))

    const empty = await makeVolume()
    refused(await create({ source: { type: 'volume', volume_id: empty.id } }), 'computeVolumeNotBootable', 'source.volume_id')
  })

  it('a snapshot of a volume: a volume is made from it, and goes; the snapshot stays', async () => {
    const volume = await makeVolume({ image_id })
    const keep = async (volume_id: string) => {
      const { id } = await call(app, snapshots.create, here({ name: ownName('snapshot'), volume_id }))
      return until(
        () => call(app, snapshots.get, { token: tenant.token, params: at(id) }),
        ({ status }) => status === 'available',
        ({ status }) => status === 'error',
      )
    }
    const larger = async () => keep((await makeVolume({ size_bytes: 2 * gib })).id)
    const snapshot = await keep(volume.id)
    const made = await make({ source: { type: 'snapshot', snapshot_id: snapshot.id } })
    const [root] = made.volumes
    expect(root).toMatchObject({ size_bytes: gib, bootable: true, delete_on_termination: true })
    expect(await call(app, volumes.get, { token: tenant.token, params: at(root?.volume_id) })).toMatchObject({ snapshot_id: snapshot.id })
    await drop(made)
    await untilGone(() => inside.volume.volumes.get(root?.volume_id ?? ''))
    expect((await call(app, snapshots.get, { token: tenant.token, params: at(snapshot.id) })).status).toBe('available')
    const tooSmall = { type: 'snapshot' as const, snapshot_id: (await larger()).id, size_bytes: gib }
    refused(await create({ source: tooSmall }), 'computeVolumeTooSmall', 'source.size_bytes')
  })

  it('a wish that the cloud does not take says at which field, and leaves nothing', async () => {
    const listed = async () => (await items(app, calls.list, { token: tenant.token, params: { cloud_id } })).map(({ id }) => id)
    const before = await listed()
    const queued = await call(app, computeImages.create, here({ name: ownName('queued'), disk_format: 'raw' }))
    refused(await create({ source: { type: 'image', image_id: queued.image.id } }), 'computeImageUnready', 'source.image_id')
    const demanding = await inside.images.create({ name: ownName('demanding'), diskFormat: 'raw', minMemoryMib: 1 << 20 })
    await inside.images.upload(demanding.id, Readable.from([Buffer.alloc(1024)]))
    refused(await create({ source: { type: 'image', image_id: demanding.id } }), 'flavorTooSmall', 'flavor_id')
    refused(await create({ zone: 'nowhere' }), 'engineRefused', 'zone')
    refused(
      await create({ source: { type: 'image', image_id, disk: { size_bytes: gib, volume_type: 'nothing' } } }),
      'computeVolumeTypeMissing',
      'source.disk.volume_type',
    )
    refused(await create({ networks: [{ network_id: network.id, address: '10.99.0.9' }] }), 'computeAddressTaken', 'networks.0.address')
    // Another organisation's key is not there; that of somebody of one's own organisation is.
    const foreign = await call(app, keyPairs.create, { token: other.token, body: { name: ownName('key') } })
    refused(await create({ key_pair_id: foreign.id }), 'keyPairMissing', 'key_pair_id')
    expect(await listed()).toEqual(before)
    const colleague = await someone(app, { kind: 4, roles: ['TENANT'], organisation })
    const own = await call(app, keyPairs.create, { token: colleague.token, body: { name: ownName('key') } })
    const made = await make({ key_pair_id: own.id })
    expect(made).toMatchObject({ key_name: `zs-${own.id}`, names: { [`zs-${own.id}`]: own.name } })
    await drop(made)
    // Nova keeps no key of ours.
    await expect(direct.compute.keyPairs.delete(`zs-${own.id}`)).rejects.toMatchObject({ kind: 'not_found' })
  })

  it('ports and addresses: a port that was there before outlives the instance, one that was made with it does not', async () => {
    const port = (address: string) =>
      call(app, computePorts.create, here({ name: ownName('port'), network_id: network.id, addresses: [{ subnet_id: network.subnets[0]?.id ?? '', address }] }))
    const [first, second] = [await port('10.82.0.41'), await port('10.82.0.42')]
    const made = await make({ networks: [{ port_id: first.id }, { network_id: network.id, address: '10.82.0.43' }] })
    expect(made.interfaces.flatMap(({ addresses }) => addresses.map(({ address }) => address)).toSorted()).toEqual(['10.82.0.41', '10.82.0.43'])
    refused(await create({ networks: [{ port_id: first.id }] }), 'computePortInUse', 'networks.0.port_id')
    refused(await create({ networks: [{ network_id: network.id, address: '10.82.0.43' }] }), 'computeAddressTaken', 'networks.0.address')

    const attach = (body: object) => send(app, calls.attachInterface, { token: tenant.token, params: at(made.id), body })
    refused(await attach({ port_id: first.id }), 'computePortInUse', 'port_id')
    refused(await attach({ network_id: network.id, address: '10.82.0.43' }), 'computeAddressTaken', 'address')
    expect((await attach({ port_id: second.id })).body).toMatchObject({ port_id: second.id, addresses: [{ address: '10.82.0.42' }] })
    // A port that an instance has is neither changed nor deleted from its own page.
    refused(await send(app, computePorts.delete, { token: tenant.token, params: at(second.id) }), 'computePortInUse')
    const detach = (port_id: string) => send(app, calls.detachInterface, { token: tenant.token, params: { ...at(made.id), port_id } })
    expect((await detach(second.id)).status).toBe(204)
    await until(
      () => look(made.id),
      ({ interfaces }) => interfaces.length === 2,
    )
    await until(
      () => call(app, computePorts.get, { token: tenant.token, params: at(second.id) }),
      ({ use }) => use === 'free',
    )
    refused(await detach(second.id), 'notFound')
    const own = made.interfaces.find(({ port_id }) => port_id !== first.id)?.port_id ?? ''
    expect((await detach(own)).status).toBe(204)
    await untilGone(() => inside.network.ports.get(own))
    await drop(made)
    for (const { id } of [first, second])
      expect(
        await until(
          () => call(app, computePorts.get, { token: tenant.token, params: at(id) }),
          ({ use }) => use === 'free',
        ),
      ).toMatchObject({ device_id: null })
  })

  it('in the project that was chosen: whatever is made lies there, and what lies elsewhere is not there', async () => {
    const project_id = uuidv7()
    await app.platform.db
      .insertInto('projects')
      .values({ id: project_id, key: `p-${project_id.slice(-6)}`, name: '研发', bp_id: organisation })
      .execute()
    const within = await call(app, computeNetworks.create, here({ name: ownName('net'), project_id, subnet: { cidr: '10.83.0.0/24' } }))
    const keystone_project_id = within.keystone_project_id ?? ''
    expect(keystone_project_id).not.toBe(network.keystone_project_id)
    const router = await call(
      app,
      computeRouters.create,
      here({ name: ownName('router'), project_id, gateway: { network_id: public_id }, subnet_ids: [within.subnets[0]?.id ?? ''] }),
    )
    const volume = await makeVolume({ project_id })
    const { image } = await call(app, computeImages.create, here({ name: ownName('image'), project_id, disk_format: 'raw' }))
    const made = await make({ project_id, networks: [{ network_id: within.id }], disks: [{ size_bytes: gib }] })
    const [ip] = (await call(app, computeFloatingIps.allocate, here({ network_id: public_id, project_id }))).items
    for (const one of [router, volume, image, made, ip]) expect(one).toMatchObject({ keystone_project_id })
    expect(await call(app, volumes.get, { token: tenant.token, params: at(made.volumes[0]?.volume_id) })).toMatchObject({ keystone_project_id })
    expect(made.names[keystone_project_id]).toContain('研发')
    const bound = await call(app, computeFloatingIps.bind, { token: tenant.token, params: at(ip?.id), body: { port_id: made.interfaces[0]?.port_id ?? '' } })
    expect(bound.bound_to).toMatchObject({ instance_id: made.id })

    // What lies in another project of the same organisation cannot be put together with it.
    refused(await create({ project_id }), 'chosenMissing', 'networks.0.network_id')
    refused(await create({ networks: [{ network_id: within.id }] }), 'chosenMissing', 'networks.0.network_id')
    refused(
      await send(app, computeRouters.addInterface, { token: tenant.token, params: at(router.id), body: { subnet_id: network.subnets[0]?.id ?? '' } }),
      'computeSubnetMissing',
      'subnet_id',
    )
    const loose = await makeVolume()
    refused(await send(app, volumes.attach, { token: tenant.token, params: at(loose.id), body: { server_id: made.id } }), 'computeServerMissing', 'server_id')
    refused(await send(app, calls.attachVolume, { token: tenant.token, params: at(made.id), body: { volume_id: loose.id } }), 'chosenMissing', 'volume_id')
    refused(
      await send(app, calls.attachInterface, { token: tenant.token, params: at(made.id), body: { network_id: network.id } }),
      'chosenMissing',
      'network_id',
    )
    // Handed over from one to the other.
    const offer = await call(app, transfers.create, here({ name: '过户', volume_id: loose.id }))
    expect(await call(app, transfers.accept, { token: tenant.token, params: at(offer.id), body: { auth_key: offer.auth_key, project_id } })).toEqual({
      volume_id: loose.id,
    })
    expect(await rests(loose.id)).toMatchObject({ keystone_project_id })
    expect((await send(app, calls.attachVolume, { token: tenant.token, params: at(made.id), body: { volume_id: loose.id } })).status).toBe(202)
    await rests(loose.id, 'in-use')

    const theirs = (await app.platform.db.selectFrom('projects').select('id').where('bp_id', '!=', organisation).executeTakeFirstOrThrow()).id
    const asked: [Call, object][] = [
      [calls.create, wish({ project_id: theirs })],
      [computeNetworks.create, { name: 'x', project_id: theirs }],
      [computeRouters.create, { name: 'x', project_id: theirs }],
      [computeImages.create, { name: 'x', disk_format: 'raw', project_id: theirs }],
      [volumes.create, { name: 'x', size_bytes: gib, project_id: theirs }],
      [computeFloatingIps.allocate, { network_id: public_id, project_id: theirs }],
    ]
    for (const [declared, body] of asked) refused(await send(app, declared, here(body)), 'projectMissing', 'project_id')
  })
})
