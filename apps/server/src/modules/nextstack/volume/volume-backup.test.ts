import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { allCalls } from '@zhisuan/contract/calls'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import { quotas } from '@zhisuan/contract/nextstack/quota'
import { volumeBackups, volumes } from '@zhisuan/contract/nextstack/volume'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { call, refused, send } from '../../../testing/call.ts'
import { makeOrganisation, someone } from '../../../testing/people.ts'
import { gib, storageStage, type StorageStage } from './testing.ts'
import { createBackupFiles } from './volume-backup.files.ts'

let stage: StorageStage
beforeAll(async () => {
  stage = await storageStage()
})
afterEach(() => stage.engine.recover())
afterAll(() => stage.app.close())

const params = (one: { id: string }, token = stage.owner.token) => ({ token, params: { id: one.id } })
const fileOf = (backup: { id: string }) => join(stage.app.config.DATA_DIR, 'volume-backups', backup.id)
const files = () => (existsSync(join(fileOf({ id: '.' }))) ? readdirSync(join(stage.app.config.DATA_DIR, 'volume-backups')) : [])
/** A volume with a file on it, detached again. */
const written = async (text: string, vm?: { id: string; engine_name: string }) => {
  const on = vm ?? (await stage.addInstance())
  const volume = await stage.attach(await stage.createVolume(), on)
  await stage.write(on, '/data/a', text)
  return { volume: await stage.detach(volume), vm: on }
}

it('writes a volume to a file, whose checksum it tells', async () => {
  const { app, owner, cloud_id } = stage
  const { volume } = await written('kept')
  const door = stage.engine.hold('storage.volumes.export')
  const begun = await call(app, volumeBackups.create, { token: owner.token, body: { volume_id: volume.id, name: '月末', description: '六月' } })
  expect(begun).toEqual({
    id: expect.any(String),
    name: '月末',
    description: '六月',
    bp_id: owner.bp_id,
    bp_name: expect.stringMatching(/^org-/),
    created_by: owner.name,
    created_at: expect.any(String),
    updated_at: expect.any(String),
    cloud_id,
    error: null,
    operation_id: expect.any(String),
    status: 'creating',
    volume: { id: volume.id, name: volume.name },
    content: 'filesystem',
    size_bytes: gib,
    file_bytes: null,
    sha256: null,
  })
  expect(await stage.getVolume(volume.id)).toMatchObject({ status: 'backing_up', operation_id: begun.operation_id })
  expect((await refused(app, volumes.delete, params(volume))).code).toBe(90010)
  expect((await refused(app, volumeBackups.delete, params(begun))).code).toBe(90010)
  expect((await refused(app, volumeBackups.download, { ...params(begun), body: {} })).code).toBe(90010)
  door.open()
  const backup = await stage.settledBackup(begun.id)
  const content = readFileSync(fileOf(backup))
  expect(backup).toMatchObject({
    status: 'available',
    error: null,
    operation_id: null,
    file_bytes: content.length,
    sha256: createHash('sha256').update(content).digest('hex'),
  })
  expect(await stage.settledVolume(volume.id)).toMatchObject({ status: 'available', error: null })
})

it('is saved by a link, under its own name', async () => {
  const { volume } = await written('kept')
  const backup = await stage.createBackup(volume, '数据@2026')
  const { path } = await call(stage.app, volumeBackups.download, params(backup))
  const answer = await stage.app.http.inject({ url: path })
  expect(answer.statusCode).toBe(200)
  expect(createHash('sha256').update(answer.rawPayload).digest('hex')).toBe(backup.sha256)
  expect(answer.headers['content-disposition']).toContain(`filename*=UTF-8''${encodeURIComponent('数据@2026.tar')}`)
  // As the engine compressed it.
  writeFileSync(fileOf(backup), gzipSync(readFileSync(fileOf(backup))))
  expect((await stage.app.http.inject({ url: path })).headers['content-disposition']).toContain('2026.tar.gz')
  await call(stage.app, volumeBackups.delete, params(backup))
  await vi.waitFor(async () => expect((await stage.app.http.inject({ url: path })).statusCode).toBe(404), stage.wait)
})

it('outlives its volume, and becomes a new one', async () => {
  const { volume, vm } = await written('kept')
  const backup = await stage.createBackup(volume)
  await call(stage.app, volumes.delete, params(volume))
  await stage.goneVolume(volume.id)
  expect((await call(stage.app, volumeBackups.get, params(backup))).volume).toBeNull()
  const again = await stage.createVolume({ backup_id: backup.id, size_bytes: 2 * gib, attach: { vm_id: vm.id, path: '/again' } })
  expect(again).toMatchObject({ status: 'in_use', size_bytes: 2 * gib })
  expect(await stage.read(vm, '/again/a')).toBe('kept')
  expect((await stage.onVolume(again))?.sizeBytes).toBe(2 * gib)
  const body = { cloud_id: stage.cloud_id, name: 'x', backup_id: backup.id, size_bytes: gib / 2 }
  expect(await refused(stage.app, volumes.create, { token: stage.owner.token, body })).toMatchObject({ code: 94183, fields: [{ field: 'size_bytes' }] })
})

describe('a file that', () => {
  it.each<[string, (file: string) => void]>([
    ['was altered', (file) => writeFileSync(file, Buffer.concat([readFileSync(file), Buffer.from('x')]))],
    ['is gone', (file) => rmSync(file)],
    ['is something else', (file) => writeFileSync(file, 'no backup at all')],
  ])('%s makes no volume', async (_, spoil) => {
    const { volume } = await written('kept')
    const backup = await stage.createBackup(volume)
    spoil(fileOf(backup))
    const made = await stage.createVolume({ backup_id: backup.id })
    expect(made).toMatchObject({ status: 'error', error: '备份文件已损坏或无法识别' })
    expect(await stage.onVolume(made)).toBeNull()
  })
})

describe('that fails', () => {
  it('leaves no file, and the volume as it was', async () => {
    const { volume } = await written('kept')
    const before = files()
    stage.engine.fail('failed', { method: 'storage.volumes.export' })
    const backup = await stage.createBackup(volume)
    expect(backup).toMatchObject({ status: 'error', error: expect.stringContaining('云平台执行失败'), file_bytes: null })
    expect(files()).toEqual(before)
    expect(await stage.getVolume(volume.id)).toMatchObject({ status: 'available' })
    await call(stage.app, volumeBackups.delete, params(backup))
    await vi.waitFor(async () => expect((await send(stage.app, volumeBackups.get, params(backup))).status).toBe(404), stage.wait)
  })

  it('half way leaves no half file', async () => {
    const { volume } = await written('kept')
    const store = createBackupFiles(stage.app.config.DATA_DIR)
    async function* breaking(): AsyncGenerator<Buffer> {
      yield Buffer.alloc(100_000)
      throw new Error('the engine hung up')
    }
    const before = files()
    await expect(store.write('half', Readable.from(breaking()), new AbortController().signal)).rejects.toThrow('the engine hung up')
    const abort = new AbortController()
    const endless = new Readable({ read() {} })
    endless.push('x')
    const writing = store.write('half', endless, abort.signal)
    abort.abort()
    await expect(writing).rejects.toThrow()
    expect(endless.destroyed).toBe(true)
    expect(files()).toEqual(before)
    expect(volume.status).toBe('available')
  })

  it('for want of room says so', async () => {
    const store = createBackupFiles(stage.app.config.DATA_DIR)
    // A disk that is full, where the file is to be.
    symlinkSync('/dev/full', `${fileOf({ id: 'full' })}.part`)
    await expect(store.write('full', Readable.from([Buffer.alloc(100_000)]), new AbortController().signal)).rejects.toMatchObject({ refusal: 'filesExhausted' })
    expect(files().filter((name) => name.startsWith('full'))).toEqual([])
  })
})

it('takes from the quota what it may become, then what it is', async () => {
  const { app, admin } = stage
  const organisation = await makeOrganisation(app)
  const { token } = await someone(app, { organisation })
  const volume = await stage.createVolume({ size_bytes: 2 * gib }, token)
  await call(app, quotas.set, { token: admin.token, params: { bp_id: organisation }, body: { limits: { backup_bytes: gib } } })
  const body = { volume_id: volume.id, name: 'b' }
  expect((await refused(app, volumeBackups.create, { token, body })).code).toBe(94030)
  await call(app, quotas.set, { token: admin.token, params: { bp_id: organisation }, body: { limits: { backup_bytes: 3 * gib } } })
  const backup = await stage.createBackup(volume, 'b', token)
  const { lines } = await call(app, quotas.mine, { token })
  expect(lines.find(({ resource }) => resource === 'backup_bytes')?.used).toBe(backup.file_bytes)
})

it('is kept while a volume is made from it', async () => {
  const { volume } = await written('kept')
  const backup = await stage.createBackup(volume)
  const door = stage.engine.hold('storage.volumes.import')
  const made = await stage.beginVolume({ backup_id: backup.id })
  expect((await refused(stage.app, volumeBackups.delete, params(backup))).code).toBe(90011)
  door.open()
  expect((await stage.settledVolume(made.id)).status).toBe('available')
})

it('outlives its cloud', async () => {
  const { app, admin, owner } = stage
  const { cloud_id } = await stage.addCloud()
  const [volume, other] = [await stage.createVolume({ cloud_id }), await stage.createVolume({ cloud_id })]
  await stage.createSnapshot(volume)
  const backup = await stage.createBackup(volume)
  await call(app, clouds.delete, { token: admin.token, params: { id: cloud_id }, query: { force: 'true' } })
  for (const { id } of [volume, other]) expect((await send(app, volumes.get, { token: owner.token, params: { id } })).status).toBe(404)
  expect(await call(app, volumeBackups.get, params(backup))).toMatchObject({ status: 'available', volume: null })
  const again = await stage.createVolume({ backup_id: backup.id })
  expect(again).toMatchObject({ status: 'available', cloud_id: stage.cloud_id })
  await call(app, volumeBackups.delete, params(backup))
  await vi.waitFor(async () => expect((await send(app, volumeBackups.get, params(backup))).status).toBe(404), stage.wait)
  expect(existsSync(fileOf(backup))).toBe(false)
})

it('the list is filtered and sorted', async () => {
  const { app } = stage
  const { token } = await someone(app)
  const [one, other] = [await stage.createVolume({}, token), await stage.createVolume({}, token)]
  for (const name of ['b', 'a']) await stage.createBackup(one, name, token)
  await stage.createBackup(other, 'c', token)
  const names = async (query: object) =>
    (await call(app, volumeBackups.list, { token, query: { cloud_id: stage.cloud_id, ...query } })).items.map(({ name }) => name)
  expect(await names({})).toEqual(['c', 'a', 'b'])
  expect(await names({ sort: 'name', volume_id: one.id })).toEqual(['a', 'b'])
  expect(await names({ sort: 'file_bytes' })).toHaveLength(3)
  expect(await names({ sort: 'status', keyword: 'c' })).toContain('c')
})

it('another organisation finds none of it', async () => {
  const volume = await stage.createVolume()
  const backup = await stage.createBackup(volume)
  const { token } = stage.stranger
  for (const declared of allCalls.filter(({ id, path }) => id.startsWith('nextstack.volumeBackup.') && path.includes('{id}'))) {
    expect(await refused(stage.app, declared, { ...params(backup, token), ...(declared.method === 'POST' && { body: {} }) }), declared.id).toMatchObject({
      status: 404,
      code: 90006,
    })
  }
  expect(await refused(stage.app, volumeBackups.create, { token, body: { volume_id: volume.id, name: 'x' } })).toMatchObject({
    status: 404,
    fields: [{ field: 'volume_id' }],
  })
  const body = { cloud_id: stage.cloud_id, name: 'x', backup_id: backup.id, size_bytes: gib }
  expect(await refused(stage.app, volumes.create, { token, body })).toMatchObject({ status: 404, fields: [{ field: 'backup_id' }] })
})
