import { recordedServer } from '@zhisuan/engines/openstack/listsTesting'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Refusal } from '../../../platform/errors.ts'
import { someActor } from '../../../testing/actor.ts'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { createRecordedCloud, type RecordedCloud } from '../../../testing/recordedCloud.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import { knowCloud } from '../../../testing/openstack.ts'
import { insertRecycled } from '../recycle/recycle.store.ts'
import { createBackups } from './backup.service.ts'
import { createSnapshots } from './snapshot.service.ts'
import { createVolumes } from './volume.service.ts'

const gib = 2 ** 30

/** What Cinder answers where its driver can do it while an instance writes: that of the tests' cloud (NFS) cannot. */
describe('volumes that an instance uses', () => {
  const id = '0c1f7e1e-4f0e-4a57-9f3c-1d0a54a3c001'
  const snapshotId = '0c1f7e1e-4f0e-4a57-9f3c-1d0a54a3c002'
  const backupId = '0c1f7e1e-4f0e-4a57-9f3c-1d0a54a3c003'
  const cloudId = '018f0000-0000-7000-8000-00000000000a'
  const actor = someActor({ bp_id: '018f0000-0000-7000-8000-000000000001' })
  const inUse = {
    id,
    name: '数据盘',
    description: null,
    status: 'in-use',
    size: 10,
    volume_type: 'ceph',
    bootable: 'false',
    multiattach: false,
    encrypted: false,
    availability_zone: 'nova',
    snapshot_id: null,
    source_volid: null,
    metadata: {},
    attachments: [{ server_id: '5f0c3f1a-6b0e-4f0e-9d55-0a8f0f6f3c11', device: '/dev/vdb', attachment_id: 'a', attached_at: '2026-11-20T01:02:03.000000' }],
    created_at: '2026-11-20T01:00:00.000000',
    updated_at: '2026-11-20T01:02:03.000000',
    'os-vol-tenant-attr:tenant_id': 'p',
  }
  let app: TestApp
  let cloud: RecordedCloud
  let volume: typeof inUse
  let asked: unknown[]
  const records = (key: string, json: unknown, then: () => void = () => undefined, status = 202): void => {
    cloud.replies[key] = (body) => {
      asked.push(body)
      then()
      return { status, json }
    }
  }
  const refusal = (made: Promise<unknown>): Promise<Refusal> =>
    made.then(
      () => expect.fail('it went well'),
      (error: unknown) => error as Refusal,
    )

  beforeAll(async () => {
    app = await testApp()
    cloud = await createRecordedCloud()
  })
  afterAll(async () => {
    await cloud.close()
    await app.close()
  })
  beforeEach(() => {
    volume = inUse
    asked = []
    cloud.reset()
    cloud.replies[`GET /volumes/${id}`] = () => ({ json: { volume } })
  })

  it('grow meanwhile, and nothing else is done to them until they have', async () => {
    records(`POST /volumes/${id}/action`, null, () => (volume = { ...volume, status: 'extending' }))
    const volumes = createVolumes({ db: app.platform.db, tenancy: cloud.tenancy })
    expect(await volumes.grow(actor, cloudId, id, { size_bytes: 20 * gib })).toMatchObject({ status: 'extending', size_bytes: 10 * gib })
    expect(asked).toEqual([{ 'os-extend': { new_size: 20 } }])
    expect(await refusal(volumes.grow(actor, cloudId, id, { size_bytes: 30 * gib }))).toMatchObject({ refusal: 'stateForbids' })
    expect(asked).toHaveLength(1)
    volume = { ...inUse, size: 20 }
    expect(await refusal(volumes.grow(actor, cloudId, id, { size_bytes: 20 * gib }))).toMatchObject({ refusal: 'volumeSizeUnchanged' })
    cloud.replies[`POST /volumes/${id}/action`] = () => ({
      status: 413,
      json: { overLimit: { code: 413, message: 'VolumeSizeExceedsAvailableQuota: Requested volume or snapshot exceeds allowed gigabytes quota.' } },
    })
    expect(await refusal(volumes.grow(actor, cloudId, id, { size_bytes: 30 * gib }))).toMatchObject({
      refusal: 'computeQuotaExceeded',
      fields: [{ field: 'size_bytes', message: '云平台项目的配额已用完：云硬盘容量' }],
    })
  })

  it('move to another place for another type, where that is asked for', async () => {
    cloud.replies['GET /types'] = () => ({ json: { volume_types: [{ id: 't', name: 'ssd', description: null, is_public: true, extra_specs: {} }] } })
    records(`POST /volumes/${id}/action`, null, () => (volume = { ...volume, status: 'retyping' }))
    const volumes = createVolumes({ db: app.platform.db, tenancy: cloud.tenancy })
    expect(await volumes.retype(actor, cloudId, id, { type: 'ssd', migrate: true })).toMatchObject({ status: 'retyping', type: 'ceph' })
    expect(asked).toEqual([{ 'os-retype': { new_type: 'ssd', migration_policy: 'on-demand' } }])
    volume = inUse
    cloud.replies[`POST /volumes/${id}/action`] = () => ({
      status: 400,
      json: { badRequest: { code: 400, message: 'Retype cannot change encryption requirements.' } },
    })
    expect(await refusal(volumes.retype(actor, cloudId, id, { type: 'ssd', migrate: false }))).toMatchObject({
      refusal: 'engineRefused',
      fields: [{ field: 'type' }],
    })
  })

  it('become images, snapshots and backups only where it is known that what is not written yet is missing', async () => {
    const volumes = createVolumes({ db: app.platform.db, tenancy: cloud.tenancy })
    const snapshots = createSnapshots(cloud.tenancy)
    const backups = createBackups(cloud.tenancy)
    records(`POST /volumes/${id}/action`, { 'os-volume_upload_image': { image_id: 'i' } })
    records('POST /snapshots', { snapshot: { id: snapshotId, name: '快照', status: 'creating', size: 10, volume_id: id, metadata: {} } })
    records('POST /backups', { backup: { id: backupId, name: '备份' } })
    cloud.replies[`GET /backups/${backupId}`] = () => ({
      json: { backup: { id: backupId, name: '备份', status: 'creating', size: 10, volume_id: id, is_incremental: false } },
    })
    const make = (force: boolean) => [
      () => volumes.toImage(actor, cloudId, id, { name: '镜像', format: 'raw', force }),
      () => snapshots.create(actor, cloudId, { volume_id: id, name: '快照', description: '', force }),
      () => backups.create(actor, cloudId, { volume_id: id, snapshot_id: null, name: '备份', description: '', incremental: false, force }),
    ]
    for (const one of make(false)) expect(await refusal(one())).toMatchObject({ refusal: 'computeVolumeInUse', fields: [{ field: 'force' }] })
    expect(asked).toEqual([])
    for (const one of make(true)) await one()
    expect(asked).toEqual([
      { 'os-volume_upload_image': expect.objectContaining({ image_name: '镜像', force: true }) },
      { snapshot: expect.objectContaining({ volume_id: id, force: true }) },
      { backup: expect.objectContaining({ volume_id: id, force: true, incremental: false }) },
    ])
  })

  it('are given to a second instance only where their type lets several have them', async () => {
    const server = '5f0c3f1a-6b0e-4f0e-9d55-0a8f0f6f3c12'
    records(`POST /servers/${server}/os-volume_attachments`, { volumeAttachment: { volumeId: id, serverId: server, device: '/dev/vdb' } }, undefined, 200)
    cloud.replies[`GET /servers/${server}`] = () => ({ json: { server: recordedServer({ id: server, tenant_id: 'p' }) } })
    const volumes = createVolumes({ db: app.platform.db, tenancy: cloud.tenancy })
    expect(await refusal(volumes.attach(actor, cloudId, id, { server_id: server }))).toMatchObject({ refusal: 'stateForbids' })
    expect(asked).toEqual([])
    volume = { ...inUse, multiattach: true }
    expect(await volumes.attach(actor, cloudId, id, { server_id: server })).toMatchObject({ multiattach: true, status: 'in-use' })
    expect(asked).toEqual([{ volumeAttachment: { volumeId: id } }])
  })
  it('are neither given to an instance in the recycle bin nor taken from it', async () => {
    const server = inUse.attachments[0]?.server_id ?? ''
    const known = await knowCloud(app, {
      type: 'openstack-password',
      auth_url: 'http://127.0.0.1:1',
      interface: 'public',
      username: 'u',
      password: 'p',
      user_domain: 'Default',
      project: 'p',
      project_domain: 'Default',
    })
    const volumes = createVolumes({ db: app.platform.db, tenancy: cloud.tenancy })
    volume = { ...inUse, multiattach: true }
    // One after the other: what is refused before anybody waits for it would be heard of by nobody.
    const both = [() => volumes.attach(actor, known, id, { server_id: server }), () => volumes.detach(actor, known, id, { server_id: server })]
    // What is not seen from the volume's project is not told to lie there either.
    await app.platform.db.transaction().execute((tx) =>
      insertRecycled(tx, {
        id: uuidv7(),
        cloud_id: known,
        instance_id: server,
        name: 'web',
        keystone_id: 'p',
        bp_id: actor.bp_id,
        status: 'recycled',
        ran: true,
        flavor: null,
        floating_ips: null,
        error_text: null,
        recycled_by: 'u',
        until: new Date(),
      }),
    )
    for (const one of both) expect(await refusal(one())).toMatchObject({ refusal: 'computeServerMissing', fields: [{ field: 'server_id' }] })
    cloud.replies[`GET /servers/${server}`] = () => ({ json: { server: recordedServer({ id: server, tenant_id: 'p' }) } })
    for (const one of both) expect(await refusal(one())).toMatchObject({ refusal: 'instanceRecycled', fields: [{ field: 'server_id' }] })
    // What Nova itself keeps.
    cloud.replies[`GET /servers/${server}`] = () => ({
      json: { server: recordedServer({ id: server, tenant_id: 'p', status: 'SOFT_DELETED', 'OS-EXT-STS:vm_state': 'soft-delete' }) },
    })
    await app.platform.db.deleteFrom('recycled_instances').where('cloud_id', '=', known).execute()
    for (const one of both) expect(await refusal(one())).toMatchObject({ refusal: 'instanceRecycled', fields: [{ field: 'server_id' }] })
  })

  it('and snapshots and backups that the cloud lost sight of are set right by administrators', async () => {
    const snapshot = { id: snapshotId, name: 's', status: 'creating', size: 10, volume_id: id, 'os-extended-snapshot-attributes:project_id': 'p' }
    const backup = { id: backupId, name: 'b', status: 'restoring', size: 10, volume_id: id, 'os-backup-project-attr:project_id': 'p' }
    const snapshots = createSnapshots(cloud.tenancy)
    const backups = createBackups(cloud.tenancy)
    const answers = (everything: boolean): void => {
      cloud.reset({ everything })
      asked = []
      records(`GET /snapshots/${snapshotId}`, { snapshot }, undefined, 200)
      records(`GET /backups/${backupId}`, { backup }, undefined, 200)
      records(`POST /snapshots/${snapshotId}/action`, null, () => (snapshot.status = 'error'))
      records(`POST /backups/${backupId}/action`, null, () => (backup.status = 'available'))
    }
    answers(false)
    expect(await refusal(snapshots.resetStatus(actor, cloudId, snapshotId, { status: 'error' }))).toMatchObject({ refusal: 'noPermission' })
    expect(await refusal(backups.resetStatus(actor, cloudId, backupId, { status: 'error' }))).toMatchObject({ refusal: 'noPermission' })
    answers(true)
    const administrator = someActor({ kind: 1, roles: ['ADMIN'], bp_id: null })
    expect(await snapshots.resetStatus(administrator, cloudId, snapshotId, { status: 'error' })).toMatchObject({ status: 'error' })
    expect(await backups.resetStatus(administrator, cloudId, backupId, { status: 'available' })).toMatchObject({ status: 'available' })
    expect(asked.filter((body) => body !== undefined)).toEqual([{ 'os-reset_status': { status: 'error' } }, { 'os-reset_status': { status: 'available' } }])
  })

  it('and what Cinder makes for a moment beside them is not listed', async () => {
    const temporary = { ...inUse, id: '0c1f7e1e-4f0e-4a57-9f3c-1d0a54a3c009' }
    cloud.replies['GET /volumes/detail'] = () => ({
      json: {
        volumes: [
          inUse,
          { ...temporary, name: 'anything', consumes_quota: false },
          { ...temporary, name: `backup-vol-${id}` },
          // Somebody called theirs so, and it is counted.
          { ...inUse, id: '0c1f7e1e-4f0e-4a57-9f3c-1d0a54a3c008', name: `backup-vol-${id}`, consumes_quota: true },
        ],
      },
    })
    const kept = { status: 'available', size: 10, volume_id: id }
    cloud.replies['GET /snapshots/detail'] = () => ({
      json: {
        snapshots: [
          { ...kept, id: snapshotId, name: 's' },
          { ...kept, id: backupId, name: `backup-snap-${id}` },
        ],
      },
    })
    const listed = async (lines: AsyncIterable<{ items?: { id: string }[] }>) => {
      const ids: string[] = []
      for await (const { items = [] } of lines) ids.push(...items.map((one) => one.id))
      return ids
    }
    const { signal } = new AbortController()
    const volumes = createVolumes({ db: app.platform.db, tenancy: cloud.tenancy })
    expect(await listed(volumes.list(actor, cloudId, 'r', signal))).toEqual([id, '0c1f7e1e-4f0e-4a57-9f3c-1d0a54a3c008'])
    expect(await listed(createSnapshots(cloud.tenancy).list(actor, cloudId, 'r', signal))).toEqual([snapshotId])
  })
})
