import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer, text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ComputeEngine } from '../compute.ts'
import { createLxdEngine } from './engine.ts'
import { ended, failure, instance, startFake, sync, type FakeLxd, type Reply } from './fake.ts'
import { imageMark } from './parse.ts'

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

const sha256 = (text: string | Buffer) => createHash('sha256').update(text).digest('hex')
const image = (changes: object = {}): Record<string, unknown> => ({
  fingerprint: 'a'.repeat(64),
  architecture: 'x86_64',
  size: 8,
  type: 'container',
  properties: {},
  uploaded_at: '2026-01-02T03:04:05Z',
  ...changes,
})
const marked = (tags: object, published?: string) => ({ os: 'Debian', [imageMark]: JSON.stringify({ tags, published }) })

describe('importing', () => {
  const folder = mkdtempSync(join(tmpdir(), 'zhisuan-import-'))
  const file = (name: string, content: string | Buffer): string => {
    writeFileSync(join(folder, name), content)
    return join(folder, name)
  }
  const metadataPath = file('metadata.tar.xz', 'metadata')
  beforeEach(() => fake.on('POST /1.0/images/aliases', sync({})))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it('sends a unified image as it is, with its properties', async () => {
    const fingerprint = await engine.images.importFile?.({ alias: 'debian', metadataPath, properties: { 'cloud-init': 'true', 名: 'a&b' } })
    expect(fingerprint).toBe(sha256('metadata'))
    const { headers, body } = fake.last('POST', '/1.0/images')
    expect(body.toString()).toBe('metadata')
    expect(headers).toMatchObject({ 'content-type': 'application/octet-stream', 'x-lxd-fingerprint': fingerprint, 'x-incus-fingerprint': fingerprint })
    for (const of of ['lxd', 'incus']) {
      // What marks an image as ours is always sent: the file may bring a mark of its own.
      expect(Object.fromEntries(new URLSearchParams(String(headers[`x-${of}-properties`])))).toEqual({
        'cloud-init': 'true',
        名: 'a&b',
        [imageMark]: '{"tags":{}}',
      })
    }
    expect(fake.last('POST', '/1.0/images/aliases').json).toEqual({ name: 'debian', target: fingerprint })
  })
  it.each([
    ['rootfs', Buffer.from('hsqs root file system')],
    ['rootfs.img', Buffer.from('QFI\xFB a disk', 'latin1')],
    ['rootfs', Buffer.from('x')],
  ])('sends a split image as %s in two parts, metadata first', async (part, content) => {
    const fingerprint = await engine.images.importFile?.({ alias: 'debian', metadataPath, rootfsPath: file('root', content) })
    expect(fingerprint).toBe(sha256(Buffer.concat([Buffer.from('metadata'), content])))
    const { headers, body } = fake.last('POST', '/1.0/images')
    expect(headers['content-type']).toMatch(/^multipart\/form-data; boundary=/)
    const names = [...body.toString('latin1').matchAll(/form-data; name="([^"]*)"/g)].map(([, name]) => name)
    expect(names).toEqual(['metadata', part])
    expect(body.includes(content)).toBe(true)
  })
  it('sends nothing that the server holds, and moves the alias', async () => {
    fake.on(`GET /1.0/images/${sha256('metadata')}`, sync(image()))
    fake.on('POST /1.0/images/aliases', failure(409, 'Alias "debian" already exists'))
    fake.on('PUT /1.0/images/aliases/debian', sync({}))
    await engine.images.importFile?.({ alias: 'debian', metadataPath })
    expect(fake.changes()).toEqual(['POST /1.0/images/aliases', 'PUT /1.0/images/aliases/debian'])
  })
  it('sends tags, and takes an image with others for another’s', async () => {
    await engine.images.importFile?.({ alias: 'debian', metadataPath, tags: { image_id: '7' } })
    expect(new URLSearchParams(String(fake.last('POST', '/1.0/images').headers['x-lxd-properties'])).get(imageMark)).toBe('{"tags":{"image_id":"7"}}')
    fake.on(`GET /1.0/images/${sha256('metadata')}`, sync(image({ properties: marked({ image_id: '8' }) })))
    const before = fake.changes().length
    await expect(engine.images.importFile?.({ alias: 'debian', metadataPath, tags: { image_id: '7' } })).rejects.toMatchObject({ kind: 'conflict' })
    expect(fake.changes()).toHaveLength(before)
    await engine.images.importFile?.({ alias: 'debian', metadataPath, tags: { image_id: '8' } })
  })
})

describe('marks', () => {
  it('are tags, and no properties', async () => {
    fake.on('GET /1.0/images', sync([image({ properties: marked({ image_id: '7' }) })]))
    expect(await engine.images.list()).toMatchObject([{ properties: { os: 'Debian' }, tags: { image_id: '7' } }])
  })
  it.each(['', 'x', '[]', '{"tags":[]}', '{"tags":{"a":1}}'])('that are %s are none', async (mark) => {
    fake.on('GET /1.0/images', sync([image({ properties: { [imageMark]: mark } })]))
    expect((await engine.images.list())[0]?.tags).toEqual({})
  })
  it('cannot be set as properties', async () => {
    await expect(engine.images.setProperties?.('a', { [imageMark]: '{}' })).rejects.toMatchObject({ kind: 'invalid' })
    expect(fake.changes()).toEqual([])
    fake.on('PATCH /1.0/images/a', sync({}))
    await engine.images.setProperties?.('a', { description: '值', os: '' })
    expect(fake.last('PATCH', '/1.0/images/a').json).toEqual({ properties: { description: '值', os: '' } })
  })
})

describe('publishing', () => {
  const wanted = { alias: 'mine', description: '我的', properties: { 'cloud-init': 'true' }, tags: { image_id: '7' } }
  const publish = (snapshot: string | null = null) => engine.images.publish?.({ instance: 'one', snapshot }, wanted)
  const one = image({ fingerprint: 'b'.repeat(64), properties: marked(wanted.tags, 'mine') })
  beforeEach(() => {
    fake.on('GET /1.0/images', sync([]), sync([one]))
    fake.on('POST /1.0/images/aliases', sync({}))
    fake.on(
      'GET /1.0/instances/one',
      sync(
        instance({
          config: { 'image.os': 'Debian', 'image.cloud-init': 'false', [`image.${imageMark}`]: '{"tags":{"image_id":"6"}}', 'user.zhisuan.vm_id': '1' },
        }),
      ),
    )
  })

  it('asks for an image of an instance, with the properties of the one that it came from, then names it', async () => {
    expect(await publish()).toBe('b'.repeat(64))
    expect(fake.last('POST', '/1.0/images').json).toEqual({
      source: { type: 'instance', name: 'one' },
      properties: { os: 'Debian', 'cloud-init': 'true', description: '我的', [imageMark]: '{"tags":{"image_id":"7"},"published":"mine"}' },
    })
    expect(fake.changes()).toEqual(['POST /1.0/images', 'POST /1.0/images/aliases'])
  })
  it('asks for one of a snapshot, of a running instance too', async () => {
    fake.on('GET /1.0/instances/one', sync(instance({ status_code: 103 })))
    fake.on('GET /1.0/instances/one/snapshots/s1', sync({ name: 's1', config: { 'image.os': 'Then' } }))
    await publish('s1')
    expect(fake.last('POST', '/1.0/images').json).toMatchObject({ source: { type: 'snapshot', name: 'one/s1' }, properties: { os: 'Then' } })
  })
  it('finds what it published before it was killed, and names it', async () => {
    fake.on('GET /1.0/images', sync([image(), one]))
    expect(await publish()).toBe('b'.repeat(64))
    expect(fake.changes()).toEqual(['POST /1.0/images/aliases'])
  })
  it('keeps the first of two', async () => {
    const other = image({ fingerprint: 'a'.repeat(64), properties: marked(wanted.tags, 'mine'), uploaded_at: '2026-01-02T03:04:06Z' })
    fake.on('GET /1.0/images', sync([]), sync([other, one]))
    expect(await publish()).toBe('b'.repeat(64))
    expect(fake.changes()).toEqual(['POST /1.0/images', `DELETE /1.0/images/${'a'.repeat(64)}`, 'POST /1.0/images/aliases'])
  })
  it.each<[string, string, Reply, string | null, string]>([
    ['an alias of another image', 'GET /1.0/images/aliases/mine', sync({ target: 'c' }), null, 'conflict'],
    ['no such instance', 'GET /1.0/instances/one', failure(404, 'Instance not found'), null, 'not_found'],
    ['no such snapshot', 'GET /1.0/instances/one/snapshots/s1', failure(404, 'not found'), 's1', 'not_found'],
    ['an instance that runs', 'GET /1.0/instances/one', sync(instance({ status_code: 103 })), null, 'invalid'],
  ])('publishes nothing with %s', async (_, what, reply, snapshot, kind) => {
    fake.on(what, reply)
    await expect(publish(snapshot)).rejects.toMatchObject({ kind })
    expect(fake.changes()).toEqual([])
  })
  it('says what the engine says', async () => {
    fake.on('GET /1.0/operations/op/wait', ended({ status_code: 400, err: 'write: no space left on device' }))
    await expect(publish()).rejects.toMatchObject({ kind: 'exhausted' })
  })
})

describe('exporting', () => {
  const unified = Buffer.from('unified image')
  const [metadata, rootfs] = [Buffer.from('metadata\r\n--'), Buffer.from('rootfs \r\n-\r\n--b\r\n--boundar')]
  const boundary = 'boundary'
  const form = (parts: [string, Buffer][]): Buffer =>
    Buffer.concat([
      ...parts.flatMap(([name, content]) => [
        Buffer.from(
          `--${boundary}\r\nContent-Disposition: form-data; name="${name}"; filename="${name}.tar"\r\nContent-Type: application/octet-stream\r\n\r\n`,
        ),
        content,
        Buffer.from('\r\n'),
      ]),
      Buffer.from(`--${boundary}--\r\n`),
    ])
  /** Answers in pieces of this size. */
  const answer = (fingerprint: string, content: Buffer, type: string, pieces = content.length): void => {
    fake.on(`GET /1.0/images/${fingerprint}`, sync(image({ fingerprint, size: 99 })))
    fake.on(`GET /1.0/images/${fingerprint}/export`, (response) => {
      response.writeHead(200, { 'content-type': type, 'content-disposition': `inline;filename=${fingerprint.slice(0, 4)}.tar.gz` })
      for (let at = 0; at < content.length; at += pieces) response.write(content.subarray(at, at + pieces))
      response.end()
    })
  }
  const files = async (fingerprint: string) => {
    const exported = await engine.images.export?.(fingerprint)
    const seen: unknown[] = []
    for await (const file of exported?.files ?? []) seen.push([file.role, file.name, (await buffer(file.content)).toString()])
    return { sizeBytes: exported?.sizeBytes, seen }
  }
  const split = `multipart/form-data; boundary=${boundary}`
  const both = sha256(Buffer.concat([metadata, rootfs]))

  it('gives the one file of a unified image', async () => {
    answer(sha256(unified), unified, 'application/octet-stream')
    expect(await files(sha256(unified))).toEqual({ sizeBytes: 99, seen: [['unified', `${sha256(unified).slice(0, 4)}.tar.gz`, 'unified image']] })
  })
  it.each([1, 2, 3, 7, 1000])('takes the two files of a split one apart, in pieces of %i bytes', async (pieces) => {
    answer(
      both,
      form([
        ['metadata', metadata],
        ['rootfs', rootfs],
      ]),
      split,
      pieces,
    )
    expect((await files(both)).seen).toEqual([
      ['metadata', 'metadata.tar', metadata.toString()],
      ['rootfs', 'rootfs.tar', rootfs.toString()],
    ])
  })
  it('skips what is not read, and asks for nothing before it is read', async () => {
    answer(
      both,
      form([
        ['metadata', metadata],
        ['rootfs.img', rootfs],
      ]),
      split,
    )
    const exported = await engine.images.export?.(both)
    expect(fake.seen.some(({ path }) => path.endsWith('/export'))).toBe(false)
    const roles: string[] = []
    for await (const { role } of exported?.files ?? []) roles.push(role)
    expect(roles).toEqual(['metadata', 'rootfs'])
  })
  it('ends with an error where other bytes came than the fingerprint’s', async () => {
    answer('f'.repeat(64), unified, 'application/octet-stream')
    await expect(files('f'.repeat(64))).rejects.toMatchObject({ kind: 'bad_answer' })
    answer(
      'e'.repeat(64),
      form([
        ['metadata', metadata],
        ['rootfs', rootfs],
      ]),
      split,
    )
    await expect(files('e'.repeat(64))).rejects.toMatchObject({ kind: 'bad_answer' })
  })
  it.each<[string, (whole: Buffer) => Buffer]>([
    ['in a head', (whole) => whole.subarray(0, 40)],
    ['in a file', (whole) => whole.subarray(0, whole.indexOf('rootfs \r\n') + 4)],
    ['before the end', (whole) => whole.subarray(0, -6)],
  ])('ends with an error where a split one ends %s', async (_, cut) => {
    answer(
      both,
      cut(
        form([
          ['metadata', metadata],
          ['rootfs', rootfs],
        ]),
      ),
      split,
    )
    await expect(files(both)).rejects.toMatchObject({ kind: 'bad_answer' })
  })
  it('ends with an error where the connection is cut, or somebody else answers', async () => {
    answer(both, unified, 'application/octet-stream')
    fake.on(`GET /1.0/images/${both}/export`, (response) => {
      response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': '1000' })
      response.write('half', () => response.destroy())
    })
    await expect(files(both)).rejects.toMatchObject({ kind: 'unreachable' })
    fake.on(`GET /1.0/images/${both}/export`, { text: '<html>Sign in</html>' })
    await expect(files(both)).rejects.toMatchObject({ kind: 'bad_answer' })
    fake.on(`GET /1.0/images/${both}/export`, failure(403, 'not authorized'))
    await expect(files(both)).rejects.toMatchObject({ kind: 'unauthorized' })
  })
  it('closes the connection of one who stops in the middle', async () => {
    let closed = false
    answer(both, unified, 'application/octet-stream')
    fake.on(`GET /1.0/images/${both}/export`, (response) => {
      response.writeHead(200, { 'content-type': 'application/octet-stream' }).write('begun')
      response.on('close', () => {
        closed = true
      })
    })
    const exported = await engine.images.export?.(both)
    for await (const { content } of exported?.files ?? []) {
      for await (const part of content) {
        expect(String(part)).toBe('begun')
        break
      }
      break
    }
    await expect.poll(() => closed).toBe(true)
  })
  it('says that there is no such image', async () => {
    await expect(engine.images.export?.('f')).rejects.toMatchObject({ kind: 'not_found' })
  })
  it('hands a text over as it is', async () => {
    answer(sha256(unified), unified, 'application/octet-stream', 4)
    for await (const { content } of (await engine.images.export?.(sha256(unified)))?.files ?? []) expect(await text(content)).toBe('unified image')
  })
})
