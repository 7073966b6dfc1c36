import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isEngineError } from '../errors.ts'
import { createOpenStack, type OpenStack } from './cloud.ts'
import type { Server } from './compute.ts'
import { all } from './session.ts'
import type { ServerState } from './states.ts'
import { administrator, cloudIsThere } from './local.ts'
import { ownName, until, untilGone } from './testing.ts'

describe.skipIf(!cloudIsThere)('what a project has in a real OpenStack', () => {
  const admin = cloudIsThere ? createOpenStack(administrator()) : (undefined as never)
  /** Newest first. */
  const undo: (() => Promise<unknown>)[] = []
  let cloud: OpenStack
  let projectId: string
  let networkId: string
  let subnetId: string
  let publicId: string
  let imageId: string
  let flavors: { tiny: string; small: string }

  const refused = (kind: Parameters<typeof isEngineError>[1]) => (error: unknown) => isEngineError(error, kind ?? 'failed')
  const failure = (asked: Promise<unknown>) =>
    asked.then(
      () => expect.fail('it went well'),
      (error: unknown) => error,
    )

  beforeAll(async () => {
    const project = await admin.identity.projects.ensure({ name: ownName('project'), domainId: 'default', description: '测试项目' })
    projectId = project.id
    undo.unshift(() => admin.identity.projects.delete(projectId))
    const { userId } = await admin.session.whoami()
    const roles = await all(admin.identity.roles.list())
    // The administrator of the tests has more key pairs than a project lets one have.
    await admin.compute.quotas.set(projectId, { key_pairs: -1 })
    for (const name of ['member', 'admin']) await admin.identity.roles.grant({ projectId, userId, roleId: roles.find((one) => one.name === name)?.id ?? '' })
    cloud = admin.within({ id: projectId })
    const [networks, images, sizes] = await Promise.all([
      all(cloud.network.networks.list({ 'router:external': true })),
      all(cloud.images.list({ name: 'empty' })),
      all(cloud.compute.flavors.list()),
    ])
    publicId = networks.find(({ name }) => name === 'public')?.id ?? ''
    imageId = images[0]?.id ?? ''
    flavors = { tiny: sizes.find(({ name }) => name === 'm1.tiny')?.id ?? '', small: sizes.find(({ name }) => name === 'm1.small')?.id ?? '' }
    const network = await cloud.network.networks.create({ name: ownName('network'), description: '内网' })
    networkId = network.id
    undo.unshift(() => cloud.network.networks.delete(networkId))
    subnetId = (await cloud.network.subnets.create({ networkId, name: 'subnet', cidr: '10.77.0.0/24', version: 4, nameservers: ['192.0.2.1'] })).id
  })
  afterAll(async () => {
    for (const one of undo) await one()
    await admin.close()
  })

  const server = (id: string) => () => cloud.compute.servers.get(id)
  const reaches = (id: string, state: ServerState): Promise<Server> =>
    until(
      server(id),
      (one) => one.state === state && one.taskState === null,
      (one) => one.state === 'create_failed' || (one.state === 'error' && state !== 'error'),
    )
  const launch = async (wish: Partial<Parameters<OpenStack['compute']['servers']['create']>[0]> = {}): Promise<string> => {
    const { id } = await cloud.compute.servers.create({ name: ownName('server'), flavorId: flavors.tiny, imageId, networks: [{ networkId }], ...wish })
    undo.unshift(() => removed(id))
    return id
  }
  const removed = async (id: string) => {
    await cloud.compute.servers.act(id, 'forceDelete').catch((error: unknown) => {
      if (!refused('not_found')(error)) throw error
    })
    await untilGone(server(id))
  }

  it('makes a project once, however many ask, and knows its limits', async () => {
    const name = ownName('once')
    const made = await Promise.all([1, 2, 3].map(() => admin.identity.projects.ensure({ name, domainId: 'default' })))
    const [first] = made
    expect(new Set(made.map(({ id }) => id)).size).toBe(1)
    expect(await failure(admin.identity.projects.create({ name, domainId: 'default' }))).toSatisfy(refused('conflict'))
    const id = first?.id ?? ''
    await admin.compute.quotas.set(id, { instances: 3, cores: -1 })
    expect(await admin.compute.quotas.get(id)).toMatchObject({ instances: { limit: 3, used: 0 }, cores: { limit: null, used: 0 } })
    await admin.network.quotas.set(id, { network: 2 })
    expect((await admin.network.quotas.get(id))['network']).toEqual({ limit: 2, used: 0 })
    await admin.volume.quotas.set(id, { gigabytes: 5 })
    expect((await admin.volume.quotas.get(id))['gigabytes']).toEqual({ limit: 5, used: 0 })
    await admin.identity.projects.delete(id)
  })

  it('leads a server through its life', async () => {
    const group = await cloud.compute.serverGroups.create({ name: ownName('group'), policy: 'soft-anti-affinity' })
    undo.unshift(() => cloud.compute.serverGroups.delete(group.id))
    const key = ownName('key')
    const made = await cloud.compute.keyPairs.create({ name: key })
    undo.unshift(() => cloud.compute.keyPairs.delete(key))
    expect(made.privateKey).toContain('PRIVATE KEY')
    const id = await launch({
      name: '第一台',
      keyName: key,
      userData: '#cloud-config\n',
      metadata: { use: '测试' },
      tags: ['zs'],
      description: '说明',
      serverGroupId: group.id,
    })
    const born = await reaches(id, 'running')
    expect(born).toMatchObject({
      name: '第一台',
      code: 1,
      keyName: key,
      metadata: { use: '测试' },
      tags: ['zs'],
      description: '说明',
      projectId,
      imageId,
      flavor: { name: 'm1.tiny', vcpus: 1, memoryMib: 512, diskGib: 1 },
      fault: null,
    })
    expect(born.addresses).toEqual([expect.objectContaining({ address: expect.stringMatching(/^10\.77\.0\./), version: 4, type: 'fixed' })])
    expect((await cloud.compute.serverGroups.list()).find((one) => one.id === group.id)?.memberIds).toEqual([id])

    const { servers } = cloud.compute
    // What a state does not allow is refused, and changes nothing.
    expect(await failure(servers.act(id, 'start'))).toSatisfy(refused('busy'))
    const steps: [() => Promise<unknown>, ServerState][] = [
      [() => servers.act(id, 'stop'), 'stopped'],
      [() => servers.act(id, 'start'), 'running'],
      [() => servers.act(id, 'pause'), 'paused'],
      [() => servers.act(id, 'unpause'), 'running'],
      [() => servers.act(id, 'suspend'), 'suspended'],
      [() => servers.act(id, 'resume'), 'running'],
      [() => servers.reboot(id, 'soft'), 'running'],
      [() => servers.reboot(id, 'hard'), 'running'],
      [() => servers.resize(id, flavors.small), 'resized'],
      [() => servers.act(id, 'revertResize'), 'running'],
      [() => servers.resize(id, flavors.small), 'resized'],
      [() => servers.act(id, 'confirmResize'), 'running'],
      [() => servers.rescue(id), 'rescued'],
      [() => servers.act(id, 'unrescue'), 'running'],
      [() => servers.rebuild(id, imageId, { name: '重装' }), 'running'],
      [() => servers.migrate(id), 'resized'],
      [() => servers.act(id, 'confirmResize'), 'running'],
      [() => servers.act(id, 'shelve'), 'shelved'],
      [() => servers.act(id, 'unshelve'), 'running'],
      [() => servers.delete(id), 'soft_deleted'],
      [() => servers.act(id, 'restore'), 'running'],
    ]
    for (const [step, state] of steps) {
      await step()
      await reaches(id, state)
    }
    expect(await servers.get(id)).toMatchObject({ name: '重装', flavor: { name: 'm1.small', memoryMib: 2_048 } })
    const done = (await all(servers.actions(id))).map(({ action }) => action)
    expect(done).toEqual(expect.arrayContaining(['create', 'stop', 'start', 'pause', 'suspend', 'reboot', 'resize', 'rescue', 'rebuild', 'shelve', 'restore']))
    expect(done.at(-1)).toBe('create')

    expect(await servers.consoleLog(id, 10)).toContain('LAST LINE')
    expect(await servers.console(id, 'novnc')).toMatch(/^http:\/\/127\.0\.0\.1:16080\/vnc_lite\.html\?path=/)
    expect(await servers.console(id, 'serial')).toMatch(/^ws:/)
    expect(await failure(servers.console(id, 'spice-html5'))).toSatisfy((error) => isEngineError(error, 'unsupported', 'invalid'))
    expect(await servers.setMetadata(id, { a: 'b' })).toEqual({ a: 'b' })
    await servers.setTags(id, ['x', 'y'])
    expect(await servers.update(id, { name: '新名', description: '' })).toMatchObject({ name: '新名', tags: ['x', 'y'] })
    await servers.act(id, 'lock')
    expect((await servers.get(id)).locked).toBe(true)
    await servers.act(id, 'unlock')
    expect((await all(servers.list({ name: '新名' }))).map((one) => one.id)).toEqual([id])

    // The fake driver uploads nothing: its image stays as Nova asked for it.
    const snapshotId = await servers.createImage(id, '快照', { zs: 'yes' })
    expect(await cloud.images.get(snapshotId)).toMatchObject({ name: '快照', status: 'queued', snapshot: true })
    await cloud.images.delete(snapshotId)

    const other = await cloud.network.networks.create({ name: ownName('second') })
    undo.unshift(() => cloud.network.networks.delete(other.id))
    await cloud.network.subnets.create({ networkId: other.id, name: 'second', cidr: '10.78.0.0/24', version: 4 })
    const { portId } = await servers.interfaces.attach(id, { networkId: other.id, address: '10.78.0.50' })
    expect((await servers.interfaces.list(id)).map((one) => one.addresses[0]?.address)).toContain('10.78.0.50')
    await servers.interfaces.detach(id, portId)
    await until(
      () => servers.interfaces.list(id),
      (list) => list.length === 1,
    )
    await removed(id)
  })

  it('says what cannot be had', async () => {
    const { compute } = cloud
    const huge = await compute.flavors.create({ name: ownName('huge'), vcpus: 900, memoryMib: 512, diskGib: 1 })
    undo.unshift(() => compute.flavors.delete(huge.id))
    expect(await failure(compute.servers.create({ name: 'huge', flavorId: huge.id, imageId, networks: 'none' }))).toSatisfy(refused('exhausted'))
    await admin.compute.quotas.set(projectId, { cores: -1 })
    const id = await launch({ flavorId: huge.id, networks: 'none' })
    const failed = await until(server(id), (one) => one.state !== 'creating')
    expect(failed).toMatchObject({ state: 'create_failed', code: 2, fault: expect.stringMatching(/No valid host/) })
    expect(await failure(compute.servers.create({ name: 'x', flavorId: 'none', imageId, networks: 'none' }))).toSatisfy(refused('invalid'))
  })

  it('leads from a network out and back in', async () => {
    const { network } = cloud
    const id = await launch()
    await reaches(id, 'running')
    const [port] = await all(network.ports.list({ device_id: id }))
    const router = await network.routers.create({ name: ownName('router'), gateway: { networkId: publicId } })
    expect(router.gateway).toMatchObject({ networkId: publicId, snat: true, addresses: [expect.stringMatching(/^203\.0\.113\./)] })
    await network.routers.addInterface(router.id, { subnetId })
    const routed = await network.routers.update(router.id, { routes: [{ destination: '192.0.2.0/24', nexthop: '10.77.0.200' }] })
    expect(routed.routes).toEqual([{ destination: '192.0.2.0/24', nexthop: '10.77.0.200' }])
    const floating = await network.floatingIps.create({ networkId: publicId, portId: port?.id ?? '' })
    // The router's own agent says so.
    await until(
      () => network.floatingIps.get(floating.id),
      ({ status }) => status === 'ACTIVE',
      ({ status }) => status === 'ERROR',
    )
    await until(server(id), ({ addresses }) => addresses.some((one) => one.type === 'floating' && one.address === floating.address))
    expect(await failure(network.routers.delete(router.id))).toSatisfy(refused('busy'))
    await network.floatingIps.update(floating.id, { portId: null })
    await network.floatingIps.delete(floating.id)
    await network.routers.update(router.id, { routes: [], gateway: null })
    await network.routers.removeInterface(router.id, { subnetId })
    await network.routers.delete(router.id)

    const group = await network.securityGroups.create({ name: ownName('group'), description: '安全组' })
    const rule = await network.securityGroupRules.create({
      securityGroupId: group.id,
      direction: 'ingress',
      protocol: 'tcp',
      portFrom: 80,
      portTo: 90,
      remoteCidr: '0.0.0.0/0',
      description: '网站',
    })
    expect((await network.securityGroups.get(group.id)).rules).toContainEqual(rule)
    expect(
      await failure(
        network.securityGroupRules.create({
          securityGroupId: group.id,
          direction: 'ingress',
          protocol: 'tcp',
          portFrom: 80,
          portTo: 90,
          remoteCidr: '0.0.0.0/0',
        }),
      ),
    ).toSatisfy(refused('conflict'))
    await network.ports.update(port?.id ?? '', { securityGroupIds: [group.id] })
    expect(await failure(network.securityGroups.delete(group.id))).toSatisfy(refused('busy'))
    await removed(id)
    await network.securityGroupRules.delete(rule.id)
    await network.securityGroups.delete(group.id)

    const fixed = await network.ports.create({ networkId, name: 'fixed', addresses: [{ subnetId, address: '10.77.0.99' }] })
    expect(fixed.addresses).toEqual([{ address: '10.77.0.99', subnetId }])
    await network.ports.delete(fixed.id)
    expect(await failure(network.subnets.create({ networkId, cidr: '10.77.0.0/25', version: 4 }))).toSatisfy((error) =>
      isEngineError(error, 'invalid', 'conflict'),
    )
    expect((await network.extensions()).has('router')).toBe(true)
    // This Neutron has no FWaaS: the client says so, and breaks nothing.
    expect((await network.extensions()).has('fwaas_v2')).toBe(false)
    expect(await failure(all(network.firewalls.groups.list()))).toSatisfy(refused('not_found'))
  })

  it('keeps what is written: a volume, its snapshot, its backups', async () => {
    const { volumes, snapshots, backups, transfers, types } = cloud.volume
    const volume = (id: string) => () => volumes.get(id)
    const settles = (id: string, status: string) =>
      until(
        volume(id),
        (one) => one.status === status,
        (one) => one.status.startsWith('error'),
      )
    const make = async (wish: Omit<Parameters<typeof volumes.create>[0], 'name'>) => {
      const { id } = await volumes.create({ name: ownName('volume'), ...wish })
      undo.unshift(() => gone(id))
      return settles(id, 'available')
    }
    const gone = async (id: string) => {
      await volumes.delete(id, true).catch((error: unknown) => {
        if (!refused('not_found')(error)) throw error
      })
      await untilGone(volume(id))
    }
    expect((await all(types.list())).length).toBeGreaterThan(0)
    const { id } = await make({ sizeGib: 1 })
    const serverId = await launch()
    await reaches(serverId, 'running')
    const { device } = await cloud.compute.servers.volumes.attach(serverId, id)
    expect(device).toMatch(/^\/dev\//)
    expect((await settles(id, 'in-use')).attachments).toEqual([{ serverId, device, attachedAt: expect.any(Date) }])
    expect((await cloud.compute.servers.volumes.list(serverId)).map(({ volumeId }) => volumeId)).toEqual([id])
    expect(await failure(volumes.delete(id))).toSatisfy(refused('busy'))
    await cloud.compute.servers.volumes.detach(serverId, id)
    await settles(id, 'available')
    await volumes.extend(id, 2)
    expect((await until(volume(id), (one) => one.status === 'available' && one.sizeGib === 2)).sizeGib).toBe(2)
    await volumes.setBootable(id, true)
    expect((await volumes.update(id, { name: '数据盘' })).bootable).toBe(true)

    const snapshot = await snapshots.create({ volumeId: id, name: 'snapshot' })
    await until(
      () => snapshots.get(snapshot.id),
      ({ status }) => status === 'available',
      ({ status }) => status === 'error',
    )
    const copy = await make({ sizeGib: 2, from: { snapshotId: snapshot.id } })
    expect(copy).toMatchObject({ snapshotId: snapshot.id, sizeGib: 2 })

    const ready = (backupId: string) =>
      until(
        () => backups.get(backupId),
        ({ status }) => status === 'available',
        ({ status }) => status === 'error',
      )
    const full = await backups.create({ volumeId: copy.id, name: 'full' })
    expect(await ready(full)).toMatchObject({ incremental: false, volumeId: copy.id, sizeGib: 2 })
    const later = await backups.create({ volumeId: copy.id, name: 'later', incremental: true })
    expect(await ready(later)).toMatchObject({ incremental: true })
    expect((await backups.get(full)).hasDependents).toBe(true)
    expect(await failure(backups.delete(full))).toSatisfy(refused('busy'))
    const restored = await backups.restore(later, { name: ownName('restored') })
    undo.unshift(() => gone(restored))
    await settles(restored, 'available')
    await ready(later)
    for (const one of [later, full]) {
      await backups.delete(one)
      await untilGone(() => backups.get(one))
    }

    const offer = await transfers.create({ volumeId: copy.id, name: '过户' })
    expect(offer.authKey).not.toBeNull()
    await settles(copy.id, 'awaiting-transfer')
    await transfers.delete(offer.id)
    await settles(copy.id, 'available')

    const fromImage = await make({ sizeGib: 1, from: { imageId } })
    expect(fromImage).toMatchObject({ bootable: true, imageId })
    const { id: booted } = await cloud.compute.servers.create({
      name: 'booted',
      flavorId: flavors.tiny,
      disks: [{ from: 'volume', id: fromImage.id, deleteWithServer: false }],
      networks: 'none',
    })
    undo.unshift(() => removed(booted))
    expect(await reaches(booted, 'running')).toMatchObject({ imageId: null, volumeIds: [fromImage.id] })
    expect(await failure(volumes.create({ name: 'x', sizeGib: 100_000 }))).toSatisfy(refused('exhausted'))
  })

  it('takes images in, and gives them out as they were', async () => {
    const { images } = cloud
    const content = randomBytes(3 * 2 ** 20)
    const { id } = await images.create({ name: '系统', diskFormat: 'raw', minDiskGib: 1, tags: ['zs'], properties: { os_distro: 'debian' } })
    undo.unshift(() => images.delete(id))
    expect(await images.get(id)).toMatchObject({ status: 'queued', distribution: 'debian', visibility: 'private', minDiskGib: 1, tags: ['zs'], projectId })
    const told: number[] = []
    await images.upload(id, Readable.from([content.subarray(0, 2 ** 20), content.subarray(2 ** 20)]), { progress: (sent) => told.push(sent) })
    expect(told).toEqual([2 ** 20, 3 * 2 ** 20])
    expect(await images.get(id)).toMatchObject({ status: 'active', sizeBytes: content.length, digest: expect.stringMatching(/^sha512:/) })
    const { body, lengthBytes } = await images.download(id)
    expect(lengthBytes).toBe(content.length)
    expect(Buffer.concat(await body.toArray()).equals(content)).toBe(true)

    await images.update(id, { visibility: 'shared', name: '共享', protected: true })
    expect(await failure(images.delete(id))).toSatisfy(refused('unauthorized'))
    await images.update(id, { protected: false })
    const { projectId: other } = await admin.session.whoami()
    expect(await images.members.add(id, other ?? '')).toMatchObject({ projectId: other, status: 'pending' })
    await admin.images.members.answer(id, other ?? '', 'accepted')
    expect((await images.members.list(id)).map(({ status }) => status)).toEqual(['accepted'])
    await images.members.remove(id, other ?? '')
    await images.setActive(id, false)
    expect((await images.get(id)).status).toBe('deactivated')
    await images.setActive(id, true)

    const staged = await images.create({ name: 'staged', diskFormat: 'raw' })
    undo.unshift(() => images.delete(staged.id))
    await images.stage(staged.id, Readable.from([content]))
    await images.import(staged.id, 'staged')
    const taken = await until(
      () => images.get(staged.id),
      ({ status }) => status === 'active',
      ({ status }) => status === 'queued' || status === 'killed',
    )
    expect(taken.sizeBytes).toBe(content.length)

    const broken = await images.create({ name: 'broken', diskFormat: 'raw' })
    undo.unshift(() => images.delete(broken.id))
    const source = new Readable({
      read() {
        this.push(content.subarray(0, 65_536))
        this.destroy(new Error('the disk is gone'))
      },
    })
    expect(await failure(images.upload(broken.id, source))).toSatisfy(refused('invalid'))
    await until(
      () => images.get(broken.id),
      ({ status }) => status === 'queued',
    )
  })
})
