import { computeFlavors } from '@zhisuan/contract/compute/flavor'
import {
  computeVolumeBackups as backups,
  computeVolumes as volumes,
  computeVolumeSnapshots as snapshots,
  computeVolumeTransfers as transfers,
  computeVolumeTypes as types,
  type ComputeVolume,
} from '@zhisuan/contract/compute/volume'
import type { Call } from '@zhisuan/contract/define'
import { errors, type ErrorName } from '@zhisuan/contract/errors'
import type { Problem } from '@zhisuan/contract/problem'
import type { OpenStack } from '@zhisuan/engines/openstack/cloud'
import { all } from '@zhisuan/engines/openstack/session'
import { catalogued, createFaultyWay, ownName, until } from '@zhisuan/engines/openstack/testing'
import { cloudIsThere } from '@zhisuan/engines/openstack/local'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call, send } from '../../../testing/call.ts'
import { directly, forgetProjects, items, knowOpenStack, lines } from '../../../testing/openstack.ts'
import { makeOrganisation, someone } from '../../../testing/people.ts'

const gib = 2 ** 30

describe.runIf(cloudIsThere)('volumes, their snapshots and backups', () => {
  let app: TestApp
  let cloud_id: string
  let mine: { token: string; cloud: OpenStack; keystoneId: string }
  let other: { token: string; cloud: OpenStack; keystoneId: string }
  let admin: string
  let flavorId: string
  let imageId: string
  const direct = directly()

  beforeAll(async () => {
    app = await testApp()
    cloud_id = await knowOpenStack(app)
    admin = (await someone(app, { kind: 1 })).token
    ;[mine, other] = [await tenant(), await tenant()]
    const [flavors, images] = await Promise.all([all(direct.compute.flavors.list()), all(direct.images.list({ name: 'empty' }))])
    flavorId = flavors.find(({ name }) => name === 'm1.tiny')?.id ?? ''
    imageId = images[0]?.id ?? ''
  })
  afterAll(async () => {
    await forgetProjects(app, cloud_id)
    await direct.close()
    await app.close()
  })

  /** Somebody of an organisation of its own, whose project is there. */
  const tenant = async () => {
    const organisation = await makeOrganisation(app)
    const { token } = await someone(app, { kind: 4, roles: ['TENANT'], organisation })
    const { id } = await call(app, volumes.create, { token, params: { cloud_id }, body: { name: ownName('first'), size_bytes: gib } })
    const { keystone_id: keystoneId } = await app.platform.db
      .selectFrom('keystone_projects')
      .select('keystone_id')
      .where('cloud_id', '=', cloud_id)
      .where('bp_id', '=', organisation)
      .executeTakeFirstOrThrow()
    const cloud = direct.within({ id: keystoneId })
    await direct.volume.quotas.set(keystoneId, { volumes: 50, snapshots: 50, backups: 50 })
    await until(
      () => cloud.volume.volumes.get(id),
      ({ status }) => status === 'available',
      ({ status }) => status === 'error',
    )
    return { token, cloud, keystoneId }
  }
  const here = (id: string) => ({ cloud_id, id })
  const settles = (id: string, status: ComputeVolume['status'], who = mine) =>
    until(
      () => call(app, volumes.get, { token: who.token, params: here(id) }),
      (one) => one.status === status,
      (one) => one.status.startsWith('error') && status !== one.status,
    )
  const make = async (body: Partial<Parameters<typeof wish>[0]> = {}, who = mine) => {
    const { id } = await call(app, volumes.create, { token: who.token, params: { cloud_id }, body: wish(body) })
    return settles(id, 'available', who)
  }
  const wish = (body: {
    size_bytes?: number
    snapshot_id?: string
    volume_id?: string
    backup_id?: string
    image_id?: string
    bootable?: boolean
    type?: string
    zone?: string
    description?: string
  }) => ({ name: ownName('volume'), size_bytes: gib, ...body })
  const ready = (backupId: string) =>
    until(
      () => call(app, backups.get, { token: mine.token, params: here(backupId) }),
      ({ status }) => status === 'available',
      ({ status }) => status === 'error',
    )
  const kept = (id: string) =>
    until(
      () => call(app, snapshots.get, { token: mine.token, params: here(id) }),
      ({ status }) => status === 'available',
      ({ status }) => status === 'error',
    )
  /** No 404 from the other calls: until it is not there any more. */
  const gone = (of: Call, id: string, token = mine.token) =>
    expect.poll(async () => (await send(app, of, { token, params: here(id) })).status, { timeout: 120_000 }).toBe(404)
  const refusal = async (asked: ReturnType<typeof send>, name: ErrorName, field?: string) => {
    const { status, body } = await asked
    expect({ status, body }).toMatchObject({ status: errors[name].status, body: { code: errors[name].code } })
    if (field !== undefined) expect((body as Problem).fields?.map((one) => one.field)).toEqual([field])
    return body as Problem
  }
  const server = async (who = mine): Promise<string> => {
    const { id } = await who.cloud.compute.servers.create({ name: ownName('server'), flavorId, imageId, networks: 'none' })
    await until(
      () => who.cloud.compute.servers.get(id),
      ({ state }) => state === 'running',
      ({ state }) => state === 'create_failed',
    )
    return id
  }

  it('are made, told, changed and grown', async () => {
    const made = await make({ description: '数据', bootable: true })
    expect(made).toMatchObject({
      size_bytes: gib,
      bootable: true,
      attachments: [],
      description: '数据',
      keystone_project_id: mine.keystoneId,
      type: '__DEFAULT__',
      zone: 'nova',
      messages: [],
    })
    const { id } = made
    const listed = (await items(app, volumes.list, { token: mine.token, params: { cloud_id } })).find((one) => one.id === id)
    expect(listed).toMatchObject({ id, name: made.name, status: 'available' })
    expect(await call(app, volumes.update, { token: mine.token, params: here(id), body: { name: '改名', description: '' } })).toMatchObject({
      name: '改名',
      description: '',
    })
    expect(await call(app, volumes.setBootable, { token: mine.token, params: here(id), body: { bootable: false } })).toMatchObject({ bootable: false })

    await refusal(send(app, volumes.grow, { token: mine.token, params: here(id), body: { size_bytes: gib } }), 'volumeSizeUnchanged', 'size_bytes')
    await refusal(send(app, volumes.grow, { token: mine.token, params: here(id), body: { size_bytes: gib * 1.5 } }), 'fieldsInvalid', 'size_bytes')
    await call(app, volumes.grow, { token: mine.token, params: here(id), body: { size_bytes: 2 * gib } })
    await until(
      () => call(app, volumes.get, { token: mine.token, params: here(id) }),
      (one) => one.status === 'available' && one.size_bytes === 2 * gib,
      (one) => one.status.startsWith('error'),
    )
    await refusal(send(app, volumes.grow, { token: mine.token, params: here(id), body: { size_bytes: gib } }), 'volumeShrink', 'size_bytes')

    expect((await items(app, types.list, { token: mine.token, params: { cloud_id } })).map(({ name }) => name)).toContain('__DEFAULT__')
    expect(await call(app, volumes.zones, { token: mine.token, params: { cloud_id } })).toEqual({ items: [{ name: 'nova', available: true }] })
    await call(app, volumes.delete, { token: mine.token, params: here(id) })
    await gone(volumes.get, id)
  })

  it('say at their field what the cloud does not take', async () => {
    const create = (body: object) => send(app, volumes.create, { token: mine.token, params: { cloud_id }, body: { name: 'x', size_bytes: gib, ...body } })
    const nowhere = '018f0000-0000-4000-8000-000000000000'
    await refusal(create({ size_bytes: 100_000 * gib }), 'computeQuotaExceeded', 'size_bytes')
    await refusal(create({ type: 'nothing' }), 'computeVolumeTypeMissing', 'type')
    await refusal(create({ zone: 'nowhere' }), 'engineRefused', 'zone')
    await refusal(create({ image_id: nowhere }), 'computeImageUnready', 'image_id')
    await refusal(create({ snapshot_id: nowhere }), 'computeSnapshotMissing', 'snapshot_id')
    await refusal(create({ volume_id: nowhere }), 'computeVolumeMissing', 'volume_id')
    await refusal(create({ backup_id: nowhere }), 'computeBackupMissing', 'backup_id')
    await refusal(create({ backup_id: nowhere, volume_id: nowhere }), 'fieldsInvalid', 'source')
    await refusal(
      send(app, snapshots.create, { token: mine.token, params: { cloud_id }, body: { name: 'x', volume_id: nowhere } }),
      'computeVolumeMissing',
      'volume_id',
    )
    await refusal(
      send(app, backups.create, { token: mine.token, params: { cloud_id }, body: { name: 'x', volume_id: nowhere } }),
      'computeVolumeMissing',
      'volume_id',
    )
    await refusal(
      send(app, transfers.create, { token: mine.token, params: { cloud_id }, body: { name: 'x', volume_id: nowhere } }),
      'computeVolumeMissing',
      'volume_id',
    )
  })

  it('are given to an instance and taken back, by one of two at once', async () => {
    const [{ id }, first, second] = await Promise.all([make(), server(), server()])
    const attach = (server_id: string) => send(app, volumes.attach, { token: mine.token, params: here(id), body: { server_id } })
    const answers = await Promise.all([attach(first), attach(second)])
    expect(answers.map(({ status }) => status).toSorted()).toEqual([202, 409])
    const { attachments, names } = await settles(id, 'in-use')
    const [held] = attachments
    expect(attachments).toEqual([
      { server_id: expect.stringMatching(`${first}|${second}`), device: expect.stringMatching(/^\/dev\//), attached_at: expect.any(String) },
    ])
    expect(names[held?.server_id ?? '']).toMatch(/^zs-server-/)
    // Its name is in the list too.
    const told = await lines(app, volumes.list, { token: mine.token, params: { cloud_id } })
    expect(Object.assign({}, ...told.map((line) => line.names ?? {}))).toHaveProperty([held?.server_id ?? ''], names[held?.server_id ?? ''])

    await refusal(attach(second), 'stateForbids')
    await refusal(send(app, volumes.delete, { token: mine.token, params: here(id) }), 'stateForbids')
    const otherServer = held?.server_id === first ? second : first
    await refusal(send(app, volumes.detach, { token: mine.token, params: here(id), body: { server_id: otherServer } }), 'computeServerMissing', 'server_id')
    await refusal(send(app, snapshots.create, { token: mine.token, params: { cloud_id }, body: { name: 'x', volume_id: id } }), 'computeVolumeInUse', 'force')
    await refusal(send(app, backups.create, { token: mine.token, params: { cloud_id }, body: { name: 'x', volume_id: id } }), 'computeVolumeInUse', 'force')
    await refusal(send(app, volumes.toImage, { token: mine.token, params: here(id), body: { name: 'x' } }), 'computeVolumeInUse', 'force')

    await call(app, volumes.detach, { token: mine.token, params: here(id), body: { server_id: held?.server_id ?? '' } })
    await settles(id, 'available')
    // Who deletes and who attaches at once: never both.
    const [attached, deleted] = await Promise.all([attach(otherServer), send(app, volumes.delete, { token: mine.token, params: here(id) })])
    expect(
      [attached.status, deleted.status].filter((status) => status === 202),
      JSON.stringify([attached, deleted]),
    ).toHaveLength(1)
    if (deleted.status === 202) await gone(volumes.get, id)
    else await settles(id, 'in-use')
  })

  it("are not somebody else's instance's, and not to be taken out of one that started from them", async () => {
    const [{ id }, foreign] = await Promise.all([make(), server(other)])
    await refusal(send(app, volumes.attach, { token: mine.token, params: here(id), body: { server_id: foreign } }), 'computeServerMissing', 'server_id')
    await refusal(send(app, volumes.attach, { token: admin, params: here(id), body: { server_id: foreign } }), 'computeServerMissing', 'server_id')
    const root = await make({ image_id: imageId })
    expect(root).toMatchObject({ bootable: true, image_id: imageId, image_name: 'empty' })
    const { id: booted } = await mine.cloud.compute.servers.create({
      name: ownName('booted'),
      flavorId,
      disks: [{ from: 'volume', id: root.id, deleteWithServer: false }],
      networks: 'none',
    })
    await until(
      () => mine.cloud.compute.servers.get(booted),
      ({ state }) => state === 'running',
      ({ state }) => state === 'create_failed',
    )
    await refusal(send(app, volumes.detach, { token: mine.token, params: here(root.id), body: { server_id: booted } }), 'computeRootVolume')
  })

  it('are kept by snapshots, which volumes are made of', async () => {
    const { id } = await make()
    const snapshot = await call(app, snapshots.create, {
      token: mine.token,
      params: { cloud_id },
      body: { name: ownName('snapshot'), description: '之前', volume_id: id },
    })
    expect(await kept(snapshot.id)).toMatchObject({
      volume_id: id,
      size_bytes: gib,
      description: '之前',
      keystone_project_id: mine.keystoneId,
      progress: 1,
      names: { [id]: expect.any(String) },
    })
    expect(await call(app, snapshots.update, { token: mine.token, params: here(snapshot.id), body: { name: '新名', description: '' } })).toMatchObject({
      name: '新名',
      description: '',
      keystone_project_id: mine.keystoneId,
    })
    expect((await items(app, snapshots.list, { token: mine.token, params: { cloud_id } })).find((one) => one.id === snapshot.id)).toMatchObject({
      name: '新名',
      volume_id: id,
    })

    await refusal(
      send(app, volumes.create, {
        token: mine.token,
        params: { cloud_id },
        body: { name: 'x', size_bytes: gib, snapshot_id: snapshot.id, project_id: null, volume_id: id },
      }),
      'fieldsInvalid',
      'source',
    )
    const copy = await make({ snapshot_id: snapshot.id, size_bytes: 2 * gib })
    expect(copy).toMatchObject({ snapshot_id: snapshot.id, size_bytes: 2 * gib, names: { [snapshot.id]: '新名' } })
    await refusal(
      send(app, volumes.create, { token: mine.token, params: { cloud_id }, body: { name: 'x', size_bytes: gib, volume_id: copy.id } }),
      'computeVolumeTooSmall',
      'size_bytes',
    )
    expect(await make({ volume_id: copy.id, size_bytes: 2 * gib })).toMatchObject({ source_volume_id: copy.id })

    expect((await refusal(send(app, volumes.delete, { token: mine.token, params: here(id) }), 'computeVolumeHasSnapshots')).message).toContain('1个快照')
    await call(app, snapshots.delete, { token: mine.token, params: here(snapshot.id) })
    await gone(snapshots.get, snapshot.id)
    // With those that it has, where that is asked for.
    const again = await call(app, snapshots.create, { token: mine.token, params: { cloud_id }, body: { name: 'again', volume_id: id } })
    await kept(again.id)
    await call(app, volumes.delete, { token: mine.token, params: here(id), query: { cascade: 'true' } })
    await gone(volumes.get, id)
    await gone(snapshots.get, again.id)
  })

  it('are backed up whole, then what changed, and restored: to a new one, to another, not to a smaller one', async () => {
    const { id } = await make({ size_bytes: 2 * gib })
    const back = (body: object) =>
      send(app, backups.create, { token: mine.token, params: { cloud_id }, body: { name: ownName('backup'), volume_id: id, ...body } })
    await refusal(back({ incremental: true }), 'computeNoFullBackup', 'incremental')
    const full = await call(app, backups.create, { token: mine.token, params: { cloud_id }, body: { name: '全量', description: '每周', volume_id: id } })
    expect(await ready(full.id)).toMatchObject({
      incremental: false,
      volume_id: id,
      size_bytes: 2 * gib,
      failure: null,
      keystone_project_id: mine.keystoneId,
      description: '每周',
    })
    const snapshot = await call(app, snapshots.create, { token: mine.token, params: { cloud_id }, body: { name: 'for-backup', volume_id: id } })
    await kept(snapshot.id)
    const first = await make()
    await refusal(back({ volume_id: first.id, snapshot_id: snapshot.id }), 'computeSnapshotOfOther', 'snapshot_id')
    const ofSnapshot = await call(app, backups.create, {
      token: mine.token,
      params: { cloud_id },
      body: { name: '来自快照', volume_id: id, snapshot_id: snapshot.id, incremental: true },
    })
    expect(await ready(ofSnapshot.id)).toMatchObject({ incremental: true, snapshot_id: snapshot.id })
    expect(await call(app, backups.get, { token: mine.token, params: here(full.id) })).toMatchObject({ has_dependents: true })
    await refusal(send(app, backups.delete, { token: mine.token, params: here(full.id) }), 'computeBackupHasDependents')
    expect(await call(app, backups.update, { token: mine.token, params: here(full.id), body: { name: '改名', description: '' } })).toMatchObject({
      name: '改名',
      description: '',
    })
    const listed = (await items(app, backups.list, { token: mine.token, params: { cloud_id } })).find((one) => one.id === full.id)
    expect(listed).toMatchObject({ name: '改名', keystone_project_id: mine.keystoneId })

    const restore = (backupId: string, body: object) => send(app, backups.restore, { token: mine.token, params: here(backupId), body })
    await refusal(restore(full.id, { volume_id: first.id }), 'computeBackupTooLarge', 'volume_id')
    const restored = await call(app, backups.restore, { token: mine.token, params: here(full.id), body: { volume_id: null, name: '恢复的' } })
    expect(await settles(restored.volume_id, 'available')).toMatchObject({ size_bytes: 2 * gib })
    await ready(full.id)
    expect((await restore(ofSnapshot.id, { volume_id: restored.volume_id })).body).toEqual({ volume_id: restored.volume_id })
    await refusal(restore(ofSnapshot.id, { volume_id: id }), 'stateForbids')
    await settles(restored.volume_id, 'available')
    await ready(ofSnapshot.id)
    expect(await make({ backup_id: full.id, size_bytes: 2 * gib })).toMatchObject({ size_bytes: 2 * gib })
    await ready(full.id)
    for (const one of [ofSnapshot.id, full.id]) {
      await call(app, backups.delete, { token: mine.token, params: here(one) })
      await gone(backups.get, one)
    }
  })

  it('go to another organisation by a key that is told once', async () => {
    const { id, name } = await make()
    const offer = await call(app, transfers.create, { token: mine.token, params: { cloud_id }, body: { name: '过户', volume_id: id } })
    await settles(id, 'awaiting-transfer')
    expect(await items(app, transfers.list, { token: mine.token, params: { cloud_id } })).toEqual([
      { id: offer.id, name: '过户', volume_id: id, created_at: expect.any(String) },
    ])
    expect(await items(app, transfers.list, { token: other.token, params: { cloud_id } })).toEqual([])
    expect(await send(app, transfers.delete, { token: other.token, params: here(offer.id) })).toMatchObject({ status: 404 })
    const accept = (body: object) => send(app, transfers.accept, { token: other.token, params: here(offer.id), body })
    await refusal(accept({ auth_key: 'wrong' }), 'computeTransferRefused', 'auth_key')
    expect(await accept({ auth_key: offer.auth_key })).toMatchObject({ status: 200, body: { volume_id: id } })
    expect(await settles(id, 'available', other)).toMatchObject({ name, keystone_project_id: other.keystoneId })
    expect(await send(app, volumes.get, { token: mine.token, params: here(id) })).toMatchObject({ status: 404 })
    await refusal(accept({ auth_key: offer.auth_key }), 'computeTransferRefused', 'auth_key')

    const second = await call(app, transfers.create, { token: other.token, params: { cloud_id }, body: { name: '回去', volume_id: id } })
    await call(app, transfers.delete, { token: other.token, params: here(second.id) })
    await settles(id, 'available', other)
  })

  it('become images, change their type, and are told to be well by administrators only', async () => {
    const { id } = await make()
    const image = await call(app, volumes.toImage, { token: mine.token, params: here(id), body: { name: ownName('image') } })
    expect((await mine.cloud.images.get(image.image_id)).projectId).toBe(mine.keystoneId)
    await settles(id, 'available')
    await until(
      () => mine.cloud.images.get(image.image_id),
      ({ status }) => status === 'active',
      ({ status }) => status === 'killed',
    )
    expect(await make({ image_id: image.image_id })).toMatchObject({ bootable: true, image_id: image.image_id })
    await mine.cloud.images.delete(image.image_id)

    await refusal(send(app, volumes.retype, { token: mine.token, params: here(id), body: { type: 'nothing' } }), 'computeVolumeTypeMissing', 'type')
    const type = await direct.volume.types.create({ name: ownName('type') })
    try {
      await call(app, volumes.retype, { token: mine.token, params: here(id), body: { type: type.name } })
      expect(await settles(id, 'available')).toMatchObject({ type: type.name })
      expect(await send(app, volumes.resetStatus, { token: mine.token, params: here(id), body: { status: 'error' } })).toMatchObject({ status: 403 })
      expect(await call(app, volumes.resetStatus, { token: admin, params: here(id), body: { status: 'error' } })).toMatchObject({ status: 'error' })
      await refusal(send(app, snapshots.create, { token: mine.token, params: { cloud_id }, body: { name: 'x', volume_id: id } }), 'stateForbids', 'volume_id')
      await call(app, volumes.delete, { token: mine.token, params: here(id) })
      await gone(volumes.get, id)
    } finally {
      await emptiedOfType(type.name)
      await direct.volume.types.delete(type.id)
    }
  })

  it('while an instance uses them, they take another type; they grow where the driver can, and where it cannot that is said', async () => {
    const [{ id }, server_id] = await Promise.all([make(), server()])
    await call(app, volumes.attach, { token: mine.token, params: here(id), body: { server_id } })
    await settles(id, 'in-use')
    const type = await direct.volume.types.create({ name: ownName('type') })
    try {
      await call(app, volumes.retype, { token: mine.token, params: here(id), body: { type: type.name } })
      expect(
        await until(
          () => call(app, volumes.get, { token: mine.token, params: here(id) }),
          (one) => one.type === type.name && one.status !== 'retyping',
        ),
      ).toMatchObject({ status: 'in-use', attachments: [{ server_id }] })

      // NFS cannot.
      await call(app, volumes.grow, { token: mine.token, params: here(id), body: { size_bytes: 2 * gib } })
      const failed = await settles(id, 'error_extending')
      expect(failed).toMatchObject({ size_bytes: gib, attachments: [{ server_id }] })
      expect(failed.messages.map(({ text }) => text).join()).toMatch(/extend/i)
      await refusal(send(app, volumes.detach, { token: mine.token, params: here(id), body: { server_id } }), 'stateForbids')
      expect(await call(app, volumes.resetStatus, { token: admin, params: here(id), body: { status: 'in-use' } })).toMatchObject({ status: 'in-use' })
      await call(app, volumes.detach, { token: mine.token, params: here(id), body: { server_id } })
      await settles(id, 'available')
      await call(app, volumes.grow, { token: mine.token, params: here(id), body: { size_bytes: 2 * gib } })
      await until(
        () => call(app, volumes.get, { token: mine.token, params: here(id) }),
        (one) => one.status === 'available' && one.size_bytes === 2 * gib,
        (one) => one.status.startsWith('error'),
      )
    } finally {
      const { servers } = mine.cloud.compute
      await servers.act(server_id, 'forceDelete')
      await until(
        () => all(servers.list()),
        (left) => left.every((one) => one.id !== server_id),
      )
      await emptiedOfType(type.name)
      await direct.volume.types.delete(type.id)
    }
  })

  it("of one organisation are nobody else's, in every list and by every id", async () => {
    const { id } = await make()
    const snapshot = await call(app, snapshots.create, { token: mine.token, params: { cloud_id }, body: { name: 'mine', volume_id: id } })
    await kept(snapshot.id)
    const backup = await call(app, backups.create, { token: mine.token, params: { cloud_id }, body: { name: 'mine', volume_id: id } })
    await ready(backup.id)
    const offered = await make()
    const offer = await call(app, transfers.create, { token: mine.token, params: { cloud_id }, body: { name: 'mine', volume_id: offered.id } })
    const ids = [id, snapshot.id, backup.id, offered.id, offer.id]
    const stranger = (await someone(app, { kind: 4, roles: ['TENANT'], organisation: await makeOrganisation(app) })).token
    for (const token of [other.token, stranger]) {
      for (const list of [volumes.list, snapshots.list, backups.list, transfers.list]) {
        const told = await lines(app, list, { token, params: { cloud_id } })
        for (const one of ids) expect(JSON.stringify(told), list.id).not.toContain(one)
        expect(JSON.stringify(told), list.id).not.toContain(mine.keystoneId)
      }
      const asked: [Call, string, object?][] = [
        ...([volumes.get, volumes.delete] as Call[]).map((one): [Call, string] => [one, id]),
        [volumes.update, id, { name: 'x' }],
        [volumes.grow, id, { size_bytes: 4 * gib }],
        [volumes.attach, id, { server_id: id }],
        [volumes.detach, id, { server_id: id }],
        [volumes.setBootable, id, { bootable: true }],
        [volumes.retype, id, { type: '__DEFAULT__' }],
        [volumes.toImage, id, { name: 'x' }],
        [snapshots.get, snapshot.id],
        [snapshots.update, snapshot.id, { name: 'x' }],
        [snapshots.delete, snapshot.id],
        [backups.get, backup.id],
        [backups.update, backup.id, { name: 'x' }],
        [backups.restore, backup.id, { volume_id: null }],
        [backups.delete, backup.id],
        [transfers.delete, offer.id],
      ]
      for (const [of, one, body] of asked)
        expect(await send(app, of, { token, params: here(one), ...(body !== undefined && { body }) }), of.id).toMatchObject({
          status: 404,
          body: { code: errors.notFound.code },
        })
      const create = (body: object) => send(app, volumes.create, { token, params: { cloud_id }, body: { name: 'x', size_bytes: 2 * gib, ...body } })
      await refusal(create({ volume_id: id }), 'computeVolumeMissing', 'volume_id')
      await refusal(create({ snapshot_id: snapshot.id }), 'computeSnapshotMissing', 'snapshot_id')
      await refusal(create({ backup_id: backup.id }), 'computeBackupMissing', 'backup_id')
      for (const of of [snapshots.create, backups.create, transfers.create])
        await refusal(send(app, of, { token, params: { cloud_id }, body: { name: 'x', volume_id: id } }), 'computeVolumeMissing', 'volume_id')
    }
    // Into somebody else's volume nobody restores, whoever's the backup is.
    const [theirs] = await all(other.cloud.volume.volumes.list())
    await refusal(
      send(app, backups.restore, { token: mine.token, params: here(backup.id), body: { volume_id: theirs?.id ?? '' } }),
      'computeVolumeMissing',
      'volume_id',
    )
    // The platform's people see all of it, and whose it is.
    expect((await items(app, backups.list, { token: admin, params: { cloud_id } })).find((one) => one.id === backup.id)).toMatchObject({
      keystone_project_id: mine.keystoneId,
    })
    expect(await call(app, volumes.get, { token: admin, params: here(id) })).toMatchObject({ keystone_project_id: mine.keystoneId })
    await call(app, transfers.delete, { token: admin, params: here(offer.id) })
    await settles(offered.id, 'available')
  })

  it('say which service failed: names that Nova would tell are missing then', async () => {
    const identity = await createFaultyWay('identity')
    const nova = await createFaultyWay('compute')
    try {
      identity.breaks(
        catalogued((entry) =>
          entry.type === 'compute' ? { ...entry, endpoints: entry.endpoints.map((one) => ({ ...one, url: `${nova.url}/v2.1` })) } : entry,
        ),
      )
      nova.breaks((_, response) => {
        response
          .writeHead(500, { 'x-openstack-request-id': 'req-nova', 'content-type': 'application/json' })
          .end('{"computeFault": {"message": "no", "code": 500}}')
        return true
      })
      const broken = await knowOpenStack(app, { auth_url: `${identity.url}/v3` })
      const told = await lines(app, volumes.list, { token: admin, params: { cloud_id: broken } })
      expect(told.flatMap(({ items: some = [] }) => some).length).toBeGreaterThan(0)
      expect(told.at(-1)).toEqual({ done: true })
      expect(told.flatMap(({ failed }) => (failed === undefined ? [] : [failed.engine]))).toEqual([
        expect.objectContaining({ service: 'compute', request_id: 'req-nova' }),
      ])
    } finally {
      await Promise.all([identity.close(), nova.close()])
    }
  })

  it('are said to be none of a cloud without such a service, whose other lists work', async () => {
    const identity = await createFaultyWay('identity')
    try {
      identity.breaks(catalogued((entry) => (/^volume|^block/.test(entry.type) ? null : entry)))
      const without = await knowOpenStack(app, { auth_url: `${identity.url}/v3` })
      for (const list of [volumes.list, types.list, snapshots.list, backups.list, transfers.list, volumes.zones]) {
        const problem = await refusal(send(app, list, { token: admin, params: { cloud_id: without } }), 'engineUnsupported')
        expect(problem.engine, list.id).toMatchObject({ service: 'volume' })
      }
      expect((await items(app, computeFlavors.list, { token: admin, params: { cloud_id: without } })).length).toBeGreaterThan(0)
    } finally {
      await identity.close()
    }
  })

  /** Until nothing of its type is left, so that the type can go. */
  const emptiedOfType = async (type: string): Promise<void> => {
    for (const one of (await all(mine.cloud.volume.volumes.list())).filter((volume) => volume.type === type))
      await mine.cloud.volume.volumes.delete(one.id).catch(() => undefined)
    await until(
      () => all(mine.cloud.volume.volumes.list()),
      (left) => left.every((volume) => volume.type !== type),
    )
  }
})
