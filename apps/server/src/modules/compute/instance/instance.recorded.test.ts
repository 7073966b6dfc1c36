import { createInstanceBody } from '@zhisuan/contract/compute/instance'
import { policyLanguage } from '@zhisuan/contract/policy/document'
import { compilePolicies } from '@zhisuan/contract/policy/evaluate'
import { recordedServer } from '@zhisuan/engines/openstack/listsTesting'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { Refusal } from '../../../platform/errors.ts'
import { someActor } from '../../../testing/actor.ts'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { createRecordedCloud, type RecordedCloud, type Reply } from '../../../testing/recordedCloud.ts'
import { createKeySweep } from './instance.keys.ts'
import { createInstances, type Instances } from './instance.service.ts'

/** What Nova answers to what its fake driver cannot do: as its API reference has it, and as a cloud on libvirt said it. */
describe('instances whose host has a console, a log and an image service', () => {
  const id = '5f0c3f1a-6b0e-4f0e-9d55-0a8f0f6f3c11'
  const cloudId = '018f0000-0000-7000-8000-00000000000a'
  let app: TestApp
  let cloud: RecordedCloud
  let instances: Instances
  let server: Record<string, unknown>
  const running = recordedServer({ id, name: 'web', tenant_id: 'p', image: '', 'OS-SRV-USG:launched_at': '2026-11-20T01:02:12.000000' })
  const actor = someActor({ bp_id: '018f0000-0000-7000-8000-000000000001' })
  const refusal = (asked: Promise<unknown>): Promise<Refusal> =>
    asked.then(
      () => expect.fail('it went well'),
      (error: unknown) => error as Refusal,
    )

  beforeAll(async () => {
    app = await testApp()
    cloud = await createRecordedCloud()
    const unused = async () => expect.fail('nobody asks for it')
    instances = createInstances({ ...app.platform, tenancy: cloud.tenancy, publicKeys: { publicKey: unused, names: async () => [] } })
  })
  afterAll(async () => {
    await cloud.close()
    await app.close()
  })
  const begin = (everything = false): void => {
    server = running
    cloud.reset({ everything })
    cloud.replies[`GET /servers/${id}`] = () => ({ json: { server } })
    cloud.replies[`GET /servers/${id}/os-volume_attachments`] = () => ({ json: { volumeAttachments: [] } })
    cloud.replies[`GET /servers/${id}/os-interface`] = () => ({ json: { interfaceAttachments: [] } })
  }
  beforeEach(() => begin())

  it('lead to the page of their console', async () => {
    const asked: unknown[] = []
    cloud.replies[`POST /servers/${id}/remote-consoles`] = (body) => {
      asked.push(body)
      return {
        json: {
          remote_console: { protocol: 'vnc', type: 'novnc', url: 'http://controller:6080/vnc_auto.html?path=%3Ftoken%3D191996c3-7b0f-42f3-95a7-f1839f2da6ed' },
        },
      }
    }
    expect((await instances.console(actor, cloudId, id, 'novnc')).url).toContain('vnc_auto.html')
    expect(asked).toEqual([{ remote_console: { protocol: 'vnc', type: 'novnc' } }])
  })

  it('say that the cloud has no such console', async () => {
    cloud.replies[`POST /servers/${id}/remote-consoles`] = () => ({
      status: 400,
      json: { badRequest: { code: 400, message: 'Unavailable console type novnc.' } },
    })
    expect(await refusal(instances.console(actor, cloudId, id, 'novnc'))).toMatchObject({ refusal: 'consoleMissing', fields: [{ field: 'type' }] })
    server = { ...running, status: 'SHUTOFF', 'OS-EXT-STS:vm_state': 'stopped' }
    expect(await refusal(instances.console(actor, cloudId, id, 'novnc'))).toMatchObject({ refusal: 'instanceNotNow' })
  })

  it('tell the last lines of their log', async () => {
    cloud.replies[`POST /servers/${id}/action`] = (body) => {
      expect(body).toEqual({ 'os-getConsoleOutput': { length: 2 } })
      return { json: { output: '[    0.1] 启动\nlogin: ' } }
    }
    expect(await instances.consoleLog(actor, cloudId, id, 2)).toEqual({ text: '[    0.1] 启动\nlogin: ' })
  })

  it('become images, and only from a state that holds still', async () => {
    cloud.replies[`POST /servers/${id}/action`] = (body) => {
      expect(body).toEqual({ createImage: { name: '快照', metadata: { description: '升级前' } } })
      return { status: 202, json: { image_id: '0e7761dd-ee98-41f0-ba35-05994e446431' } }
    }
    expect(await instances.snapshot(actor, cloudId, id, { name: '快照', description: '升级前' })).toEqual({ image_id: '0e7761dd-ee98-41f0-ba35-05994e446431' })
    server = { ...running, 'OS-EXT-STS:task_state': 'image_uploading' }
    expect(await refusal(instances.snapshot(actor, cloudId, id, { name: '快照', description: '' }))).toMatchObject({ refusal: 'instanceNotNow' })
  })

  it('move to another host while they run, asked for by administrators; what else is asked for waits until they are there', async () => {
    const asked: unknown[] = []
    begin(true)
    cloud.replies[`POST /servers/${id}/action`] = (body) => {
      asked.push(body)
      server = { ...server, status: 'MIGRATING', 'OS-EXT-STS:task_state': 'migrating', 'OS-EXT-SRV-ATTR:host': 'compute-1' }
      return { status: 202, json: null }
    }
    const administrator = someActor({ kind: 1, roles: ['ADMIN'], bp_id: null })
    expect(await instances.liveMigrate(administrator, cloudId, id, 'compute-2')).toMatchObject({
      state: 'migrating',
      host: 'compute-1',
      task_state: 'migrating',
    })
    expect(asked).toEqual([{ 'os-migrateLive': { host: 'compute-2', block_migration: 'auto' } }])
    for (const again of [
      () => instances.liveMigrate(administrator, cloudId, id, null),
      () => instances.act(administrator, cloudId, id, 'stop'),
      () => instances.resize(administrator, cloudId, id, 'f'),
    ]) {
      expect(await refusal(again())).toMatchObject({ refusal: 'instanceNotNow' })
    }
    expect(asked).toHaveLength(1)
    server = { ...running, 'OS-EXT-SRV-ATTR:host': 'compute-2' }
    expect(await instances.get(administrator, cloudId, id, 'r')).toMatchObject({ state: 'running', host: 'compute-2' })
    // Left to the scheduler, and of one that is paused.
    server = { ...running, status: 'PAUSED', 'OS-EXT-STS:vm_state': 'paused' }
    await instances.liveMigrate(administrator, cloudId, id, null)
    expect(asked.at(-1)).toEqual({ 'os-migrateLive': { host: null, block_migration: 'auto' } })
  })

  it('stay where they are, where the host that was asked for cannot take them, or somebody else asks', async () => {
    expect(await refusal(instances.liveMigrate(actor, cloudId, id, null))).toMatchObject({ refusal: 'noPermission' })
    begin(true)
    cloud.replies[`POST /servers/${id}/action`] = () => ({
      status: 400,
      json: { badRequest: { code: 400, message: 'Compute host nowhere could not be found.' } },
    })
    expect(await refusal(instances.liveMigrate(actor, cloudId, id, 'nowhere'))).toMatchObject({ kind: 'invalid', words: expect.stringContaining('nowhere') })
  })

  describe('that are deleted for good', () => {
    const [port, ip, staying, going] = ['port-1', 'ip-1', 'volume-stays', 'volume-goes']
    let done: string[]
    beforeEach(() => {
      done = []
      const does =
        (what: string, json: unknown = null, status = 202) =>
        () => {
          done.push(what)
          return { status, json }
        }
      cloud.replies[`POST /servers/${id}/action`] = does('delete')
      cloud.replies[`GET /servers/${id}/os-volume_attachments`] = () => ({
        json: {
          volumeAttachments: [
            { volumeId: staying, serverId: id, device: '/dev/vdb', delete_on_termination: false },
            { volumeId: going, serverId: id, device: '/dev/vda', delete_on_termination: true },
          ],
        },
      })
      cloud.replies[`PUT /servers/${id}/os-volume_attachments/${staying}`] = (body) => {
        expect(body).toMatchObject({ volumeAttachment: { volumeId: staying } })
        done.push(`goes ${(body as { volumeAttachment: { delete_on_termination: boolean } }).volumeAttachment.delete_on_termination}`)
        return { status: 202, json: null }
      }
      cloud.replies['GET /snapshots/detail'] = () => ({ json: { snapshots: [] } })
      cloud.replies['GET /network/v2.0/ports'] = () => ({
        json: { ports: [{ id: port, network_id: 'n', mac_address: 'fa:16:3e:00:00:01', fixed_ips: [], device_id: id, project_id: 'p' }] },
      })
      cloud.replies['GET /network/v2.0/floatingips'] = () => ({
        json: { floatingips: [{ id: ip, floating_ip_address: '203.0.113.9', floating_network_id: 'n', port_id: port, project_id: 'p' }] },
      })
      cloud.replies[`DELETE /network/v2.0/floatingips/${ip}`] = does('release', null, 204)
    })
    const everything = { release_floating_ips: true, release_volumes: true }
    const denied = (action: string) =>
      someActor({
        bp_id: actor.bp_id,
        rules: {
          policies: compilePolicies([
            {
              id: 'nearly all',
              document: {
                Version: policyLanguage,
                Statement: [
                  { Effect: 'Allow', Action: '*', Resource: '*' },
                  { Effect: 'Deny', Action: action, Resource: '*' },
                ],
              },
            },
          ]),
          boundaries: [],
        },
      })

    it('leave their addresses and volumes, unless these are to go too', async () => {
      await instances.delete(actor, cloudId, id, {}, {})
      expect(done).toEqual(['delete'])
      done.length = 0
      await instances.delete(actor, cloudId, id, everything, {})
      expect(done).toEqual(['goes true', 'delete', 'release'])
    })

    it('take nothing along that their asker may not release', async () => {
      for (const action of ['compute.floatingIp.release', 'compute.volume.delete'])
        expect(await refusal(instances.delete(denied(action), cloudId, id, everything, {}))).toMatchObject({ refusal: 'noPermission' })
      expect(done).toEqual([])
      await instances.delete(denied('compute.volume.delete'), cloudId, id, { release_floating_ips: true }, {})
      expect(done).toEqual(['delete', 'release'])
    })

    it('stay, where a volume has snapshots or the cloud cannot have it go along', async () => {
      const snapshot = { id: 's', volume_id: staying, status: 'available', size: 1, created_at: '2026-11-20T01:02:12.000000' }
      cloud.replies['GET /snapshots/detail'] = () => ({ json: { snapshots: [snapshot] } })
      expect(await refusal(instances.delete(actor, cloudId, id, everything, {}))).toMatchObject({ refusal: 'computeVolumeHasSnapshots' })
      cloud.replies['GET /snapshots/detail'] = () => ({ json: { snapshots: [] } })
      cloud.replies[`PUT /servers/${id}/os-volume_attachments/${staying}`] = () => ({
        status: 400,
        json: { badRequest: { code: 400, message: 'Additional properties are not allowed' } },
      })
      expect(await refusal(instances.delete(actor, cloudId, id, everything, {}))).toMatchObject({ refusal: 'computeReleaseUnsupported' })
      expect(done).toEqual([])
    })

    it('keep their volumes where the cloud does not delete them after all', async () => {
      cloud.replies[`POST /servers/${id}/action`] = () => ({ status: 409, json: { conflictingRequest: { code: 409, message: 'locked' } } })
      expect(await refusal(instances.delete(actor, cloudId, id, everything, {}))).toMatchObject({ kind: 'busy' })
      expect(done).toEqual(['goes true', 'goes false'])
    })
  })

  it('neither grow nor become images where nothing new may be made; they may become smaller', async () => {
    const inArrears = { ...cloud.tenancy, placeForMaking: () => Promise.reject(new Refusal('balanceInsufficient')) }
    const unused = async () => expect.fail('nobody asks for it')
    const refusing = createInstances({ ...app.platform, tenancy: inArrears, publicKeys: { publicKey: unused, names: async () => [] } })
    const asked: unknown[] = []
    for (const [flavor, ram] of Object.entries({ large: 4096, small: 1024 }))
      cloud.replies[`GET /flavors/${flavor}`] = () => ({ json: { flavor: { id: flavor, name: flavor, vcpus: 1, ram, disk: 20 } } })
    cloud.replies[`POST /servers/${id}/action`] = (body) => {
      asked.push(body)
      return { status: 202, json: { image_id: 'i' } }
    }
    expect(await refusal(refusing.resize(actor, cloudId, id, 'large'))).toMatchObject({ refusal: 'balanceInsufficient' })
    expect(await refusal(refusing.snapshot(actor, cloudId, id, { name: '快照', description: '' }))).toMatchObject({ refusal: 'balanceInsufficient' })
    expect(asked).toEqual([])
    await refusing.resize(actor, cloudId, id, 'small')
    await instances.resize(actor, cloudId, id, 'large')
    expect(asked).toEqual([{ resize: { flavorRef: 'small' } }, { resize: { flavorRef: 'large' } }])
  })

  it('have what they were asked for, though no answer came in time', async () => {
    const timedOut = () => ({ status: 504, json: {} })
    const volume_id = '6b2d2c9a-3a76-4d2e-8a0e-1f2c7a5b9d01'
    cloud.replies[`GET /volumes/${volume_id}`] = () => ({ json: { volume: { id: volume_id, name: 'v', status: 'available', size: 1, bootable: 'false' } } })
    cloud.replies[`POST /servers/${id}/os-volume_attachments`] = () => {
      cloud.replies[`GET /servers/${id}/os-volume_attachments`] = () => ({
        json: { volumeAttachments: [{ volumeId: volume_id, serverId: id, device: '/dev/vdb' }] },
      })
      return timedOut()
    }
    expect(await instances.attachments.attachVolume(actor, cloudId, id, volume_id)).toEqual({ volume_id, device: '/dev/vdb' })
    cloud.replies[`DELETE /servers/${id}/os-volume_attachments/${volume_id}`] = () => {
      cloud.replies[`GET /servers/${id}/os-volume_attachments`] = () => ({ json: { volumeAttachments: [] } })
      return timedOut()
    }
    await instances.attachments.detachVolume(actor, cloudId, id, volume_id)
    cloud.replies[`POST /servers/${id}/action`] = () => {
      server = { ...server, 'OS-EXT-STS:task_state': 'powering-off' }
      return timedOut()
    }
    expect(await instances.act(actor, cloudId, id, 'stop')).toMatchObject({ state: 'stopping' })
  })

  describe('that are asked for together', () => {
    const flavor = { id: 'f', name: 'f', vcpus: 2, ram: 4096, disk: 20 }
    const body = (changes: object) =>
      createInstanceBody.parse({ name: 'web', flavor_id: 'f', source: { type: 'image', image_id: 'i' }, networks: [], count: 5, ...changes })
    const image = {
      id: 'i',
      name: 'i',
      status: 'active',
      visibility: 'public',
      owner: 'p',
      min_disk: 0,
      min_ram: 0,
      protected: false,
      tags: [],
      created_at: '2026-11-20T01:02:03Z',
      updated_at: '2026-11-20T01:02:03Z',
    }
    const quota = (instances: number, cores: number) => () => ({
      json: {
        quota_set: { instances: { limit: instances, in_use: 6, reserved: 0 }, cores: { limit: cores, in_use: 10, reserved: 0 }, ram: { limit: -1, in_use: 0 } },
      },
    })
    let asked: unknown[]
    beforeEach(() => {
      asked = []
      cloud.replies['GET /flavors/f'] = () => ({ json: { flavor } })
      cloud.replies['GET /image/v2/images/i'] = () => ({ json: image })
      cloud.replies['POST /servers'] = (wish) => {
        asked.push(wish)
        return { status: 202, json: { reservation_id: 'r-1', server: { id: 'one' } } }
      }
    })

    it('are one request to the cloud, which places them together', async () => {
      cloud.replies['GET /os-quota-sets/p/detail'] = quota(11, 20)
      cloud.replies['GET /servers/detail'] = () => ({
        json: { servers: [5, 3, 1, 2].map((at) => recordedServer({ id: `id-${at}`, name: `web-${at}` })) },
      })
      expect(await instances.create(actor, cloudId, body({}))).toEqual({
        items: [1, 2, 3, 4, 5].map((at) => ({ name: `web-${at}`, id: at === 4 ? null : `id-${at}` })),
      })
      expect(asked).toEqual([
        { server: expect.objectContaining({ name: 'web', flavorRef: 'f', imageRef: 'i', min_count: 5, max_count: 5, return_reservation_id: true }) },
      ])
      // They are made, though the list does not come.
      cloud.replies['GET /servers/detail'] = () => ({ status: 500, json: {} })
      expect((await instances.create(actor, cloudId, body({}))).items.map(({ id: told }) => told)).toEqual([null, null, null, null, null])
    })

    it('leave no key in Nova, made or not, and find theirs again that somebody else has taken away', async () => {
      const key = '018f0000-0000-7000-8000-00000000000b'
      const told: string[] = []
      const publicKeys = { publicKey: async () => 'ssh-ed25519 AAAA', names: async () => [] }
      const made = createInstances({ ...app.platform, tenancy: cloud.tenancy, publicKeys })
      const one = () => made.create(actor, cloudId, body({ count: 1, key_pair_id: key }))
      const says = (what: string, reply: () => Reply): void => {
        cloud.replies[what] = () => {
          told.push(what)
          return reply()
        }
      }
      const [put, take] = ['POST /os-keypairs', `DELETE /os-keypairs/zs-${key}`]
      cloud.replies['GET /os-quota-sets/p/detail'] = quota(11, 20)
      says(put, () => ({ json: { keypair: { name: `zs-${key}`, fingerprint: 'f' } } }))
      says(take, () => ({ status: 204, json: null }))
      says('POST /servers', () =>
        told.length === 2
          ? { status: 400, json: { badRequest: { code: 400, message: 'Invalid key_name provided.' } } }
          : { status: 202, json: { server: { id: 'one' } } },
      )
      expect(await one()).toEqual({ items: [{ name: 'web', id: 'one' }] })
      expect(told.splice(0)).toEqual([put, 'POST /servers', put, 'POST /servers', take])
      says('POST /servers', () => ({ status: 500, json: {} }))
      await refusal(one())
      expect(told.splice(0)).toEqual([put, 'POST /servers', take])
      // What is left of others: not what somebody called so.
      const [left, theirs] = ['zs-018f0000-0000-7000-8000-00000000000c', 'zs-laptop']
      says(`DELETE /os-keypairs/${left}`, () => ({ status: 204, json: null }))
      says(`DELETE /os-keypairs/${theirs}`, () => ({ status: 204, json: null }))
      cloud.replies['GET /os-keypairs'] = () => ({ json: { keypairs: [left, theirs].map((name) => ({ keypair: { name, fingerprint: 'f' } })) } })
      const all = async () => [{ id: cloudId, product: 'openstack', status: 'active' }] as never
      const { jobHandler } = createKeySweep({ log: app.platform.log, clouds: { all, openStack: () => cloud.tenancy.inside(cloudId, null) } })
      await jobHandler.run({}, { signal: new AbortController().signal })
      expect(told).toEqual([`DELETE /os-keypairs/${left}`])
    })

    it('are refused before anything is begun, with each quota and the field that asks for too much', async () => {
      cloud.replies['GET /os-quota-sets/p/detail'] = quota(10, 19)
      expect(await refusal(instances.create(actor, cloudId, body({})))).toMatchObject({
        refusal: 'computeQuotaShort',
        fields: [
          { field: 'count', message: '云平台项目的实例数配额还可用4，需要5' },
          { field: 'count', message: '云平台项目的vCPU配额还可用9，需要10' },
        ],
      })
      cloud.replies['GET /os-quota-sets/p/detail'] = quota(10, 11)
      expect(await refusal(instances.create(actor, cloudId, body({ count: 1 })))).toMatchObject({
        refusal: 'computeQuotaShort',
        fields: [{ field: 'flavor_id', message: '云平台项目的vCPU配额还可用1，需要2' }],
      })
      expect(asked).toEqual([])
    })

    it('are refused by the cloud with the names of its quotas', async () => {
      cloud.replies['POST /servers'] = () => ({
        status: 403,
        json: { forbidden: { code: 403, message: 'Quota exceeded for cores, ram: Requested 10, 20480, but already used 10, 4096 of 20, 8192 cores, ram' } },
      })
      expect(await refusal(instances.create(actor, cloudId, body({})))).toMatchObject({
        refusal: 'computeQuotaExceeded',
        message: '云平台项目的配额已用完：vCPU（需要10，已用10，配额20）、内存（需要20480 MB，已用4096 MB，配额8192 MB）',
        fields: [{ field: 'count' }],
      })
      cloud.replies[`POST /servers/${id}/action`] = () => ({
        status: 403,
        json: { forbidden: { code: 403, message: 'Quota exceeded for ram: Requested 4096, but already used 8192 of 8192 ram' } },
      })
      expect(await refusal(instances.resize(actor, cloudId, id, 'f'))).toMatchObject({ refusal: 'computeQuotaExceeded', fields: [{ field: 'flavor_id' }] })
    })
  })

  it('have their password set, where their system takes it', async () => {
    cloud.replies[`POST /servers/${id}/action`] = () => ({
      status: 409,
      json: { conflictingRequest: { code: 409, message: 'Unable to set password on instance: QEMU guest agent is not enabled' } },
    })
    expect(await refusal(instances.changePassword(actor, cloudId, id, 'Correct-horse-1'))).toMatchObject({
      kind: 'busy',
      words: expect.stringContaining('guest agent'),
    })
  })
})
