import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ComputeEngine } from '../compute.ts'
import type { VolumeSpec } from '../storage.ts'
import { createLxdEngine } from './engine.ts'
import { begun, ended, failure, instance, server, startFake, sync, type FakeLxd } from './fake.ts'

let fake: FakeLxd
let engine: ComputeEngine
beforeEach(async () => {
  fake = await startFake()
  engine = createLxdEngine({ socketPath: fake.socketPath })
})
afterEach(async () => {
  await engine.close()
  await fake.close()
})

const path = '/1.0/storage-pools/fast/volumes/custom'
const name = { pool: 'fast', volume: 'data' }
const spec: VolumeSpec = { ...name, content: 'filesystem', sizeBytes: 2 ** 30, description: '数据盘', tags: { volume_id: '7' } }
const volume = (changes: object = {}): Record<string, unknown> => ({
  name: 'data',
  content_type: 'filesystem',
  description: '数据盘',
  config: { size: '1073741824', 'user.zhisuan.volume_id': '7', 'volatile.idmap.last': '[1]' },
  used_by: [],
  ...changes,
})
const vm = (changes: object = {}) => instance({ type: 'virtual-machine', ...changes })
const gone = failure(404, 'Storage volume not found')
const whole = failure(409, 'Volume by that name already exists')

describe('pools', () => {
  it('are told with what they are for, and what each member has', async () => {
    fake.on('GET /1.0', server({}, { server_clustered: true }))
    fake.on('GET /1.0/cluster/members', sync([{ server_name: 'n1' }, { server_name: 'n2' }]))
    fake.on(
      'GET /1.0/storage-pools',
      sync([
        { name: 'slow', status: 'Created', driver: 'dir', description: '慢' },
        { name: 'fast', status: 'Created', driver: 'ceph' },
        { name: 'broken', status: 'Errored', driver: 'zfs' },
      ]),
    )
    expect(await engine.storage.pools()).toEqual([
      {
        name: 'slow',
        description: '慢',
        driver: 'dir',
        shared: false,
        status: 'Created',
        totalBytes: 2000,
        usedBytes: 200,
        enforcesSize: false,
        restoresInUse: false,
        members: [
          { member: 'n1', totalBytes: 1000, usedBytes: 100 },
          { member: 'n2', totalBytes: 1000, usedBytes: 100 },
        ],
      },
      {
        name: 'fast',
        description: '',
        driver: 'ceph',
        shared: true,
        status: 'Created',
        totalBytes: 2000,
        usedBytes: 200,
        enforcesSize: true,
        restoresInUse: false,
        members: [{ member: null, totalBytes: 2000, usedBytes: 200 }],
      },
      {
        name: 'broken',
        description: '',
        driver: 'zfs',
        shared: false,
        status: 'Errored',
        totalBytes: 0,
        usedBytes: 0,
        enforcesSize: true,
        restoresInUse: false,
        members: [],
      },
    ])
  })
})

describe('volumes', () => {
  it('are told of all usable pools, with where they are attached, without snapshots and what is only being made', async () => {
    fake.on(
      'GET /1.0/storage-pools',
      sync([
        { name: 'fast', status: 'Created' },
        { name: 'broken', status: 'Errored' },
      ]),
    )
    fake.on(
      `GET ${path}`,
      sync([
        volume(),
        volume({ name: 'data/then' }),
        volume({ name: 'zhisuan_0123' }),
        volume({ name: 'other', content_type: 'block', config: {}, location: 'n1', created_at: '2026-01-02T03:04:05Z' }),
      ]),
    )
    const disk = (source: string, more: object = {}) => ({ type: 'disk', pool: 'fast', source, ...more })
    fake.on(
      'GET /1.0/instances',
      sync([
        instance({ devices: { root: { type: 'disk', path: '/', pool: 'fast' }, d: disk('data', { path: '/data' }) } }),
        vm({ name: 'two', devices: { e: disk('other') } }),
        instance({ name: 'standing', config: { 'user.zhisuan-stand-in': 'one' }, devices: { d: disk('data', { path: '/data' }) } }),
      ]),
    )
    expect(await engine.storage.volumes.list()).toEqual([
      {
        ...name,
        content: 'filesystem',
        sizeBytes: 2 ** 30,
        usedBytes: null,
        description: '数据盘',
        tags: { volume_id: '7' },
        attached: [{ instance: 'one', device: 'd', path: '/data' }],
        createdAt: null,
        location: null,
      },
      {
        pool: 'fast',
        volume: 'other',
        content: 'block',
        sizeBytes: null,
        usedBytes: null,
        description: '数据盘',
        tags: {},
        attached: [{ instance: 'two', device: 'e', path: null }],
        createdAt: new Date('2026-01-02T03:04:05Z'),
        location: 'n1',
      },
    ])
    expect(fake.seen.map((one) => one.path)).not.toContain('/1.0/storage-pools/broken/volumes/custom')
  })
  it('tell what they take, where the driver can', async () => {
    fake.on(`GET ${path}/data`, sync(volume()))
    fake.on(`GET ${path}/data/state`, sync({ usage: { used: 7, total: 9 } }), failure(500, 'Not supported'), sync({ usage: null }))
    expect((await engine.storage.volumes.get(name))?.usedBytes).toBe(7)
    expect((await engine.storage.volumes.get(name))?.usedBytes).toBeNull()
    expect((await engine.storage.volumes.get(name))?.usedBytes).toBeNull()
  })
  it('are made with size, tags and description', async () => {
    fake.on(`POST ${path}`, sync({}))
    await engine.storage.volumes.create({ ...spec, content: 'block' })
    expect(fake.last('POST', path).json).toEqual({
      name: 'data',
      content_type: 'block',
      description: '数据盘',
      config: { size: '1073741824', 'user.zhisuan.volume_id': '7' },
    })
  })
  it('of another who was quicker are ours by their tags', async () => {
    fake.on(`GET ${path}/data`, gone, sync(volume()))
    fake.on(`POST ${path}`, whole)
    await engine.storage.volumes.create(spec)
    fake.on(`GET ${path}/data`, gone, sync(volume({ config: {} })))
    await expect(engine.storage.volumes.create(spec)).rejects.toMatchObject({ kind: 'conflict' })
  })
  it('grow without losing their description, which a patch takes away', async () => {
    fake.on(`GET ${path}/data`, sync(volume()))
    fake.on(`PATCH ${path}/data`, sync({}))
    await engine.storage.volumes.grow(name, 2 ** 31)
    expect(fake.last('PATCH', `${path}/data`).json).toEqual({ description: '数据盘', config: { size: '2147483648' } })
    await expect(engine.storage.volumes.grow(name, 2 ** 20)).rejects.toMatchObject({ kind: 'invalid' })
    expect(fake.changes()).toHaveLength(1)
  })
  it.each<[string, number, string]>([
    ['The storage volume is still in use', 400, 'busy'],
    ['Volume is still in use by running instances', 500, 'busy'],
    ['Cannot restore custom volume used by running instances', 500, 'busy'],
    ['out of space', 500, 'exhausted'],
    ['Volume group "v" has insufficient free space', 500, 'exhausted'],
    ['Disk quota exceeded', 500, 'exhausted'],
  ])('%s (%i) is %s', async (message, status, kind) => {
    fake.on(`DELETE ${path}/data`, failure(status, message))
    await expect(engine.storage.volumes.delete(name)).rejects.toMatchObject({ kind })
  })
  it('are set back with what tells of their files’ owners', async () => {
    fake.on(`GET ${path}/data`, sync(volume()))
    fake.on(`PUT ${path}/data`, sync({}))
    const restored = () => fake.last('PUT', `${path}/data`).json
    for (const [then, wanted] of [
      ['[1]', { restore: 'then' }],
      ['[2]', { restore: 'then', description: '数据盘', config: { size: '1073741824', 'user.zhisuan.volume_id': '7', 'volatile.idmap.last': '[2]' } }],
      [undefined, { restore: 'then', description: '数据盘', config: { size: '1073741824', 'user.zhisuan.volume_id': '7' } }],
    ]) {
      fake.on(`GET ${path}/data/snapshots/then`, sync({ name: 'then', config: { size: '1', ...(then !== undefined && { 'volatile.idmap.last': then }) } }))
      await engine.storage.volumes.snapshots.restore(name, 'then')
      expect(restored()).toEqual(wanted)
    }
  })
})

describe('copies', () => {
  const copy = { ...spec, description: '', tags: { volume_id: '8' }, copyOf: { volume: 'source', snapshot: 'then' } }
  const made = () => fake.last('POST', path).json as { name: string; config: Record<string, string> }
  beforeEach(() => {
    fake.on(`GET ${path}/source`, sync(volume({ name: 'source', description: 'of the source' })))
    fake.on(
      `GET ${path}/source/snapshots/then`,
      sync({
        name: 'source/then',
        config: { size: '1048576', 'block.filesystem': 'xfs', 'user.zhisuan.volume_id': '7', 'user.secret': '1', 'volatile.idmap.last': '[3]' },
      }),
    )
  })

  it('are made under another name, get their tags, then their name', async () => {
    fake.on('PUT *', sync({}))
    const standIns: string[] = []
    fake.on('GET *', (response, { path: asked }) => {
      const known = asked.startsWith(`${path}/zhisuan_`) && fake.changes().length > 0
      if (known) standIns.push(asked)
      response.writeHead(known ? 200 : 404, { 'content-type': 'application/json' })
      response.end(
        JSON.stringify(
          known
            ? { type: 'sync', metadata: volume({ config: { ...made().config, 'volatile.idmap.next': '[4]' } }) }
            : { type: 'error', error: 'not found', error_code: 404 },
        ),
      )
    })
    await engine.storage.volumes.create(copy)
    const { name: standIn } = made()
    expect(standIn).toMatch(/^zhisuan_[0-9a-f]{24}$/)
    expect(standIns).toContain(`${path}/${standIn}`)
    expect(made()).toEqual({
      name: standIn,
      content_type: 'filesystem',
      description: '',
      // How it is formatted and whom its files belong to, and nothing that was the source's own.
      config: { size: '1073741824', 'block.filesystem': 'xfs', 'volatile.idmap.last': '[3]', 'user.zhisuan.volume_id': '8' },
      source: { type: 'copy', pool: 'fast', name: 'source/then', volume_only: true },
    })
    expect(fake.changes()).toEqual([`POST ${path}`, `PUT ${path}/${standIn}`, `POST ${path}/${standIn}`])
    expect(fake.last('PUT', `${path}/${standIn}`).json).toEqual({ description: '', config: { ...made().config, 'volatile.idmap.next': '[4]' } })
    expect(fake.last('POST', `${path}/${standIn}`).json).toEqual({ name: 'data' })
  })
  it('that another makes at this moment are waited for', async () => {
    fake.on(
      'GET /1.0/operations',
      sync({
        running: [
          { id: 'other', class: 'task', description: 'Copying storage volume', status_code: 103 },
          { id: 'download', class: 'task', description: 'Downloading image', status_code: 103 },
        ],
      }),
      sync({}),
    )
    fake.on('GET /1.0/operations/other/wait', ended({ status_code: 103 }), ended())
    fake.on(`GET ${path}/data`, gone, gone, sync(volume({ config: { 'user.zhisuan.volume_id': '8' } })))
    fake.on('GET *', (response, { path: asked }) => {
      const standIn = asked.startsWith(`${path}/zhisuan_`)
      response
        .writeHead(standIn ? 200 : 404, { 'content-type': 'application/json' })
        .end(JSON.stringify(standIn ? { type: 'sync', metadata: volume() } : { type: 'error', error: 'not found', error_code: 404 }))
    })
    await engine.storage.volumes.create(copy)
    expect(fake.changes()).toEqual([])
    expect(fake.seen.filter((one) => one.path === '/1.0/operations/other/wait')).toHaveLength(2)
    expect(fake.seen.filter((one) => one.path === '/1.0/operations/download/wait')).toEqual([])
  })
})

describe('attaching', () => {
  beforeEach(() => {
    fake.on(`GET ${path}/data`, sync(volume({ content_type: 'block' })))
  })
  const attach = () => engine.storage.volumes.attach(name, { instance: 'one', device: 'data', path: null })

  it('puts a disk into the whole machine as it was read', async () => {
    const one = vm({ description: '说明', architecture: 'x86_64', ephemeral: false })
    fake.on(
      'GET /1.0/instances/one',
      { text: JSON.stringify({ type: 'sync', metadata: one }), headers: { etag: 'e1' } },
      sync(vm({ devices: { data: { type: 'disk', pool: 'fast', source: 'data' } } })),
    )
    await attach()
    const { json, headers } = fake.last('PUT', '/1.0/instances/one')
    expect(headers['if-match']).toBe('e1')
    expect(json).toEqual({
      architecture: 'x86_64',
      config: one['config'],
      description: '说明',
      ephemeral: false,
      profiles: [],
      devices: { ...(one['devices'] as object), data: { type: 'disk', pool: 'fast', source: 'data' } },
    })
    expect(fake.changes()).toEqual(['PUT /1.0/instances/one'])
  })
  it('tries again with what another changed meanwhile', async () => {
    const [first, second, third] = [vm(), vm({ config: { other: '1' } }), vm({ devices: { data: { type: 'disk', pool: 'fast', source: 'data' } } })]
    fake.on('GET /1.0/instances/one', sync(first), sync(second), sync(third))
    fake.on('PUT /1.0/instances/one', failure(412, "ETag doesn't match"), begun())
    await attach()
    expect(fake.last('PUT', '/1.0/instances/one').json).toMatchObject({ config: { other: '1' } })
  })
  it('gives up where others keep changing it', async () => {
    fake.on('GET /1.0/instances/one', sync(vm()))
    await expect(attach()).rejects.toMatchObject({ kind: 'busy' })
    expect(fake.changes().length).toBeLessThan(10)
  })
  it('waits for nobody else’s changes of another instance', async () => {
    fake.on('GET /1.0/instances/two', (response) => void response.writeHead(200))
    const other = engine.storage.volumes.detach(name, { instance: 'two', device: 'data' }).catch(() => undefined)
    fake.on('GET /1.0/instances/one', sync(vm()), sync(vm({ devices: { data: { type: 'disk', pool: 'fast', source: 'data' } } })))
    await attach()
    await engine.close()
    await other
  })
})

describe('detaching', () => {
  const exec = (answers: Record<string, string>, type = 'container', device: object = { path: '/data' }) => {
    const devices = { data: { type: 'disk', pool: 'fast', source: 'data', ...device } }
    fake.on(
      'GET /1.0/instances/one',
      sync(instance({ type, status_code: 103, devices })),
      sync(instance({ type, status_code: 103, devices })),
      sync(instance({ type, devices: {} })),
    )
    const asked: string[] = []
    fake.on('POST /1.0/instances/one/exec', (response, { json }) => {
      // Without the shell that stays a moment longer.
      const command = (json as { command: string[] }).command.slice(4)
      asked.push(command.join(' '))
      response.writeHead(202, { 'content-type': 'application/json' })
      response.end(
        JSON.stringify({
          type: 'async',
          operation: `/1.0/operations/exec${asked.length}`,
          metadata: { id: 'x', class: 'websocket', status_code: 103, metadata: { fds: { '0': 'in', '1': 'out', '2': 'err', control: 'c' } } },
        }),
      )
      const id = `/1.0/operations/exec${asked.length}`
      const text = Object.entries(answers).find(([begin]) => command.join(' ').startsWith(begin))?.[1] ?? ''
      fake.socket(`${id}/websocket`, (socket, { query }) => {
        if (query['secret'] === 'out') socket.send(Buffer.from(text))
        if (query['secret'] !== 'c' && query['secret'] !== 'in') socket.send('')
      })
      fake.on(`GET ${id}/wait`, ended({ metadata: { return: 0 } }))
    })
    return asked
  }
  const detach = () => engine.storage.volumes.detach(name, { instance: 'one', device: 'data' })
  const mount = (point: string, source = '/dev/vda') => `100 99 254:0 /x ${point} rw,relatime shared:1 - ext4 ${source} rw\n`

  it.each<[string, Record<string, string>, boolean]>([
    ['works in it', { 'find /proc -mindepth 1': "'/proc/7/cwd' -> '/data'\n" }, true],
    ['has a file open in it', { 'find /proc -mindepth 1': "'/proc/7/fd/3' -> '/data/a'$'\\n''b (deleted)'\n" }, true],
    ['has its root there', { 'find /proc -mindepth 1': "'/proc/7/root' -> '/data/chroot'\n" }, true],
    ['runs from it', { 'find /proc -mindepth 2': '/proc/7/maps\n' }, true],
    ['works beside it', { 'find /proc -mindepth 1': "'/proc/7/cwd' -> '/data2'\n'/proc/8/fd/1' -> '/var/data'\n" }, false],
    ['is not told of', {}, false],
  ])('looks whether a process %s', async (_, answers, busy) => {
    exec({ 'readlink -f /data': '/data\n', 'cat /proc/self/mountinfo': mount('/') + mount('/data'), ...answers })
    if (busy) await expect(detach()).rejects.toMatchObject({ kind: 'busy' })
    else await detach()
    expect(fake.changes().includes('PUT /1.0/instances/one')).toBe(!busy)
  })
  it('looks where the path leads, and at what is mounted below', async () => {
    exec({ 'readlink -f /data': '/mnt/real\n', 'cat /proc/self/mountinfo': mount('/mnt/real') + mount('/mnt/real/inner\\040one') })
    await expect(detach()).rejects.toMatchObject({ kind: 'busy' })
  })
  it('looks no further where nothing is mounted', async () => {
    const asked = exec({ 'readlink -f /data': '/data\n', 'cat /proc/self/mountinfo': mount('/') })
    await detach()
    expect(asked).toHaveLength(2)
  })
  it.each<[string, string, boolean]>([
    ['a mounted partition', mount('/srv', '/dev/sdb1'), true],
    ['another disk', mount('/srv', '/dev/sda1'), false],
  ])('looks in a virtual machine for %s of the disk', async (_, mountinfo, busy) => {
    exec({ 'readlink -f /dev/disk/by-id/scsi-0QEMU_QEMU_HARDDISK_lxd_data': '/dev/sdb\n', 'cat /proc/self/mountinfo': mountinfo }, 'virtual-machine', {})
    if (busy) await expect(detach()).rejects.toMatchObject({ kind: 'busy' })
    else await detach()
  })
  it('takes what cannot be told for not in use', async () => {
    exec({})
    fake.on('POST /1.0/instances/one/exec', failure(500, 'Failed to connect to lxd-agent'))
    await detach()
    expect(fake.changes()).toContain('PUT /1.0/instances/one')
  })
  it('does not look where it is forced, or the instance is stopped', async () => {
    const asked = exec({})
    await engine.storage.volumes.detach(name, { instance: 'one', device: 'data', force: true })
    fake.on(
      'GET /1.0/instances/one',
      sync(instance({ devices: { data: { type: 'disk', pool: 'fast', source: 'data' } } })),
      sync(instance({ devices: { data: { type: 'disk', pool: 'fast', source: 'data' } } })),
      sync(instance({ devices: {} })),
    )
    await detach()
    expect(asked).toEqual([])
    expect(fake.changes()).toEqual(['PUT /1.0/instances/one', 'PUT /1.0/instances/one'])
  })
})

describe('exporting', () => {
  const backups = `${path}/data/backups`
  const file = (content: string) => (response: import('node:http').ServerResponse) =>
    void response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(content)
  const served = (content = 'backup'): void => {
    fake.on('GET *', (response, seen) => {
      if (seen.path.endsWith('/export')) return file(content)(response)
      response.writeHead(404, { 'content-type': 'application/json' }).end(JSON.stringify({ type: 'error', error: 'not found', error_code: 404 }))
    })
  }
  beforeEach(() => {
    fake.on(`GET ${backups}`, sync([]))
    fake.on(`GET ${path}/data`, sync(volume()))
  })

  it('makes a backup, opens it, and deletes it before it is read', async () => {
    served()
    const stream = await engine.storage.volumes.export(name)
    const { name: backup, ...body } = fake.last('POST', backups).json as { name: string; expires_at: string }
    expect(backup).toMatch(/^zhisuan-export-[0-9a-f-]{36}$/)
    expect(body).toEqual({ volume_only: true, optimized_storage: false, expires_at: expect.stringMatching(/^\d{4}-/) })
    expect(fake.changes()).toEqual([`POST ${backups}`, `DELETE ${backups}/${backup}`])
    expect((await buffer(stream)).toString()).toBe('backup')
  })
  it('removes what killed callers left, and nothing else', async () => {
    served()
    fake.on(`GET ${backups}`, sync([{ name: 'zhisuan-export-left' }, { name: 'zhisuan-export-running' }, { name: 'of-an-operator' }]))
    fake.on(
      'GET /1.0/operations',
      sync({
        running: [
          {
            id: 'r',
            class: 'task',
            status_code: 103,
            resources: { backups: ['/1.0/backups/zhisuan-export-running'], storage_volumes: ['/1.0/storage_volumes/data'] },
          },
        ],
      }),
    )
    ;(await engine.storage.volumes.export(name)).destroy()
    expect(fake.changes().slice(0, 2)).toEqual([`DELETE ${backups}/zhisuan-export-left`, `POST ${backups}`])
    expect(fake.changes()).not.toContain(`DELETE ${backups}/of-an-operator`)
    expect(fake.changes()).not.toContain(`DELETE ${backups}/zhisuan-export-running`)
  })
  it('makes another where somebody took it for a leftover', async () => {
    let asked = 0
    fake.on('GET *', (response, seen) => {
      if (seen.path.endsWith('/export') && ++asked > 1) return file('second')(response)
      response.writeHead(404, { 'content-type': 'application/json' }).end(JSON.stringify({ type: 'error', error: 'Backup not found', error_code: 404 }))
    })
    expect((await buffer(await engine.storage.volumes.export(name))).toString()).toBe('second')
    expect(fake.changes().filter((one) => one === `POST ${backups}`)).toHaveLength(2)
  })
  it('says that there is no such volume', async () => {
    fake.on(`GET ${backups}`, gone)
    await expect(engine.storage.volumes.export(name)).rejects.toMatchObject({ kind: 'not_found' })
    expect(fake.changes()).toEqual([])
  })
  it('deletes the backup of a cancelled export once it is made', async () => {
    served()
    fake.on(`POST ${backups}`, begun('making'))
    fake.on('GET /1.0/operations/making/wait', (response) => void response.writeHead(200))
    const controller = new AbortController()
    const call = engine.storage.volumes.export(name, { signal: controller.signal, onOperation: () => controller.abort() })
    await expect(call).rejects.toMatchObject({ kind: 'cancelled' })
    await expect.poll(() => fake.changes().some((one) => one.startsWith(`DELETE ${backups}/zhisuan-export-`))).toBe(true)
  })
})

describe('importing', () => {
  const spread = { ...name, description: '导入', tags: { volume_id: '8' } }

  it('sends the backup under another name, for LXD and Incus, and takes the tags that it brings away', async () => {
    fake.on('PUT *', sync({}))
    fake.on('GET *', (response, { path: asked }) => {
      const known = asked.startsWith(`${path}/zhisuan_`) && fake.changes().length > 0
      response.writeHead(known ? 200 : 404, { 'content-type': 'application/json' })
      response.end(
        JSON.stringify(
          known
            ? {
                type: 'sync',
                metadata: volume({ config: { size: '5', 'user.zhisuan.volume_id': '7', 'user.zhisuan.secret': '1', 'volatile.idmap.last': '[1]' } }),
              }
            : { type: 'error', error: 'not found', error_code: 404 },
        ),
      )
    })
    await engine.storage.volumes.import(spread, Readable.from(['back', 'up']))
    const { headers, body } = fake.last('POST', path)
    const standIn = String(headers['x-lxd-name'])
    expect(body.toString()).toBe('backup')
    expect(headers).toMatchObject({ 'content-type': 'application/octet-stream', 'x-incus-name': standIn })
    expect(fake.last('PUT', `${path}/${standIn}`).json).toEqual({
      description: '导入',
      config: { size: '5', 'volatile.idmap.last': '[1]', 'user.zhisuan.volume_id': '8' },
    })
    expect(fake.last('POST', `${path}/${standIn}`).json).toEqual({ name: 'data' })
  })
  it.each([
    [500, 'Unsupported compression'],
    [400, 'Backup is missing index.yaml'],
    [400, 'Error reading backup file info: archive/tar: invalid tar header'],
    [500, 'unexpected EOF'],
  ])('takes %i %s for a bad backup', async (status, message) => {
    fake.on(`POST ${path}`, failure(status, message))
    const content = Readable.from(['x'])
    await expect(engine.storage.volumes.import(spread, content)).rejects.toMatchObject({ kind: 'invalid' })
    expect(content.destroyed).toBe(true)
  })
  it('removes what a killed caller left, when it is asked again', async () => {
    let left = true
    fake.on('GET *', (response, { path: asked }) => {
      const known = asked.startsWith(`${path}/zhisuan_`) && (left || fake.changes().includes(`POST ${path}`))
      response.writeHead(known ? 200 : 404, { 'content-type': 'application/json' })
      response.end(JSON.stringify(known ? { type: 'sync', metadata: volume() } : { type: 'error', error: 'not found', error_code: 404 }))
    })
    fake.on('DELETE *', (response) => {
      left = false
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ type: 'sync', metadata: {} }))
    })
    fake.on('PUT *', sync({}))
    await engine.storage.volumes.import(spread, Readable.from(['backup']))
    expect(fake.changes()[0]).toMatch(/^DELETE .*zhisuan_/)
    expect(
      fake
        .changes()
        .slice(1)
        .map((one) => one.split(' ')[0]),
    ).toEqual(['POST', 'PUT', 'POST'])
  })
})

describe('on a member of a cluster', () => {
  it('volumes are made, imported and copied there', async () => {
    fake.on(`POST ${path}`, sync({}))
    await engine.storage.volumes.create({ ...spec, host: 'n2' })
    expect(fake.last('POST', path).query).toMatchObject({ target: 'n2' })
    fake.on('PUT *', sync({}))
    fake.on('POST *', sync({}))
    const standsIn = (known: (asked: string) => boolean) =>
      fake.on('GET *', (response, { path: asked }) => {
        const there = known(asked) || (asked.startsWith(`${path}/zhisuan_`) && fake.changes().length > 1)
        response.writeHead(there ? 200 : 404, { 'content-type': 'application/json' })
        response.end(JSON.stringify(there ? { type: 'sync', metadata: volume({ location: 'n3' }) } : { type: 'error', error: 'not found', error_code: 404 }))
      })
    standsIn((asked) => asked === `${path}/source`)
    const requests = () => fake.seen.filter((one) => one.method === 'POST' && one.path === path)
    await engine.storage.volumes.create({ ...spec, volume: 'copy', copyOf: { volume: 'source' } })
    expect(requests().at(-1)?.query).toMatchObject({ target: 'n3' })
    await engine.storage.volumes.import({ ...name, volume: 'imported', description: '', tags: {}, host: 'n2' }, Readable.from(['backup']))
    expect(requests().at(-1)?.query).toMatchObject({ target: 'n2' })
  })
  it('snapshots are found among the volumes, as LXD lists none of another’s', async () => {
    fake.on(`GET ${path}/data/snapshots`, sync([]))
    fake.on(`GET ${path}/data`, sync(volume({ location: 'n2' })))
    fake.on(
      `GET ${path}`,
      sync([volume({ location: 'n2' }), volume({ name: 'data/then', created_at: '2026-01-02T03:04:05Z' }), volume({ name: 'database/then' })]),
    )
    expect(await engine.storage.volumes.snapshots.list(name)).toEqual([{ name: 'then', createdAt: new Date('2026-01-02T03:04:05Z'), sizeBytes: null }])
  })
})
