import { createHash, randomUUID } from 'node:crypto'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { allCalls } from '@zhisuan/contract/calls'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import type { BodyInput } from '@zhisuan/contract/define'
import { flavors } from '@zhisuan/contract/nextstack/flavor'
import { imageLibrary, imageTransitional, type Image } from '@zhisuan/contract/nextstack/image'
import { quotas } from '@zhisuan/contract/nextstack/quota'
import { images, vms } from '@zhisuan/contract/nextstack/vm'
import { extract, pack } from 'tar-stream'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused, send } from '../../../testing/call.ts'
import { openTestEngine, startTestEngine, type TestEngine } from '../../../testing/engine.ts'
import { makeOrganisation, someone, type Person, type SignedIn } from '../../../testing/people.ts'
import { expireImagesHandler } from './image.expire.ts'
import { createImageFiles } from './image.files.ts'

type Somebody = Person & SignedIn
let app: TestApp
let url: string
let admin: Somebody
let owner: Somebody
let stranger: Somebody
let engine: TestEngine
let cloud_id: string
let source: Source

/** Files that are fetched, and how they are given. */
interface Source {
  readonly url: string
  /** How requests are answered; by default with the file of the path. */
  answer: (request: IncomingMessage, response: ServerResponse) => void
  readonly files: Map<string, Buffer>
  readonly asked: string[]
  close(): void
}

beforeAll(async () => {
  source = await startSource()
  app = await testApp({ IMAGE_FETCH_ALLOW: '127.0.0.1', IMAGE_MAX_GB: '1' }, { openEngine: openTestEngine })
  url = await app.http.listen({ port: 0, host: '127.0.0.1' })
  ;[admin, owner, stranger] = [await someone(app, { kind: 1 }), await someone(app), await someone(app)]
  engine = startTestEngine()
  cloud_id = (await call(app, clouds.create, { token: admin.token, body: { name: `c-${randomUUID()}`, product: 'nextstack', connection: engine.connection } }))
    .cloud_id
})
afterEach(() => engine.recover())
afterAll(async () => {
  source.close()
  await app.close()
})

async function startSource(): Promise<Source> {
  const files = new Map<string, Buffer>()
  const asked: string[] = []
  const source: { answer: Source['answer'] } = {
    answer(request, response) {
      const file = files.get(request.url ?? '')
      if (file === undefined) return void response.writeHead(404).end()
      const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0)
      const etag = `"${sha256(file)}"`
      const partly = from > 0 && request.headers['if-range'] === etag
      response.writeHead(partly ? 206 : 200, {
        etag,
        'content-length': file.length - (partly ? from : 0),
        ...(partly && { 'content-range': `bytes ${from}-${file.length - 1}/${file.length}` }),
      })
      response.end(file.subarray(partly ? from : 0))
    },
  }
  const server: Server = createServer((request, response) => {
    asked.push(`${request.url} ${request.headers.range ?? ''}`)
    source.answer(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return Object.assign(source, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    files,
    asked,
    close: () => void server.close().closeAllConnections(),
  })
}

const sha256 = (content: Buffer): string => createHash('sha256').update(content).digest('hex')
async function tar(entries: Readonly<Record<string, string | Buffer>>): Promise<Buffer> {
  const archive = pack()
  for (const [name, content] of Object.entries(entries)) archive.entry({ name }, content)
  archive.finalize()
  return buffer(archive)
}
/** An image that nobody else has. */
const imageFile = async (about = randomUUID(), padding = 0): Promise<Buffer> =>
  gzipSync(
    await tar({
      'metadata.yaml': `architecture: x86_64\ncreation_date: 1700000000\nproperties:\n  os: testos\n  release: "7"\n`,
      'rootfs/etc/about': about,
      'rootfs/pad': Buffer.alloc(padding, about),
    }),
    { level: 0 },
  )

const about = (wish: object = {}) => ({ cloud_id, name: `image-${randomUUID()}`, ...wish })
const announce = (size_bytes: number, wish: Partial<BodyInput<typeof imageLibrary.upload>> = {}, token = owner.token) =>
  call(app, imageLibrary.upload, { token, body: { ...about(), size_bytes, ...wish } })
const get = (id: string, token = owner.token) => call(app, imageLibrary.get, { token, params: { id } })
const settled = (id: string, token = owner.token): Promise<Image> =>
  vi.waitFor(
    async () => {
      const image = await get(id, token)
      expect(imageTransitional).not.toContain(image.status)
      return image
    },
    { interval: 20 },
  )
const gone = (id: string) =>
  vi.waitFor(async () => expect((await send(app, imageLibrary.get, { token: owner.token, params: { id } })).status).toBe(404), { interval: 20 })
const tus = (method: 'HEAD' | 'PATCH', path: string, options: { token?: string; offset?: number; content?: Buffer } = {}) =>
  fetch(url + path, {
    method,
    headers: {
      'tus-resumable': '1.0.0',
      authorization: `Bearer ${options.token ?? owner.token}`,
      ...(method === 'PATCH' && { 'content-type': 'application/offset+octet-stream', 'upload-offset': String(options.offset ?? 0) }),
    },
    ...(options.content !== undefined && { body: new Uint8Array(options.content) }),
  })
/** Announces and sends a file. */
async function upload(content: Buffer, wish: Partial<BodyInput<typeof imageLibrary.upload>> = {}, token = owner.token): Promise<Image> {
  const { image, upload_path } = await announce(content.length, wish, token)
  expect((await tus('PATCH', upload_path, { token, content })).status).toBe(204)
  return settled(image.id, token)
}
const onEngine = async (fingerprint: string | null) => (await engine.direct.images.list()).find((image) => image.fingerprint === fingerprint)
const left = (): string[] => (existsSync(join(app.config.DATA_DIR, 'images')) ? readdirSync(join(app.config.DATA_DIR, 'images')) : [])
const nothingLeft = () => vi.waitFor(() => expect(left()).toEqual([]), { interval: 20 })

describe('an uploaded image', () => {
  it('comes in pieces, is checked and imported, and leaves no file', async () => {
    const content = await imageFile(undefined, 100_000)
    const { image, upload_path } = await announce(content.length, { sha256: sha256(content).toUpperCase(), min_cpu_cores: 1 })
    expect(image).toMatchObject({
      status: 'uploading',
      source: 'upload',
      size_bytes: content.length,
      received_bytes: 0,
      fingerprint: null,
      mine: true,
      visibility: 'private',
    })
    expect((await tus('HEAD', upload_path)).headers.get('upload-offset')).toBe('0')
    expect((await tus('PATCH', upload_path, { content: content.subarray(0, 70_000) })).headers.get('upload-offset')).toBe('70000')
    const head = await tus('HEAD', upload_path)
    expect([head.headers.get('upload-offset'), head.headers.get('upload-length'), head.headers.get('tus-resumable')]).toEqual([
      '70000',
      String(content.length),
      '1.0.0',
    ])
    expect(await get(image.id)).toMatchObject({ status: 'uploading', received_bytes: 70_000 })
    const misplaced = await tus('PATCH', upload_path, { offset: 1, content })
    expect([misplaced.status, await misplaced.json()]).toMatchObject([409, { code: 90030, message: '上传位置不符：服务器已收到70000字节，请从这里继续' }])
    const wrong = await tus('PATCH', upload_path, { offset: -1, content })
    expect([wrong.status, await wrong.json()]).toMatchObject([400, { code: 90029, message: '上传请求的请求头“Upload-Offset”缺失或有误' }])
    expect((await tus('PATCH', upload_path, { offset: 70_000, content: content.subarray(70_000) })).status).toBe(204)
    const fingerprint = sha256(content)
    expect(await settled(image.id)).toMatchObject({
      status: 'active',
      error: null,
      fingerprint,
      os: 'testos',
      release: '7',
      architecture: 'x86_64',
      type: 'container',
      size_bytes: content.length,
      received_bytes: content.length,
    })
    expect(await onEngine(fingerprint)).toMatchObject({ tags: { image_id: image.id } })
    await nothingLeft()
    expect((await tus('HEAD', upload_path)).status).toBe(409)
  })

  it('with other bytes than announced is refused and removed', async () => {
    const content = await imageFile()
    expect(await upload(content, { sha256: 'a'.repeat(64) })).toMatchObject({ status: 'error', error: '镜像文件与校验值不符', fingerprint: null })
    expect(await onEngine(sha256(content))).toBeUndefined()
    await nothingLeft()
  })

  it.each([
    ['noise', Buffer.alloc(4_000, 'no image')],
    ['a disk that reads another file', Buffer.concat([Buffer.from('QFI\xFB\0\0\0\x03\0\0\0\0\0\0\0\x68', 'latin1'), Buffer.alloc(4_000)])],
    ['a disk whose data are elsewhere', Buffer.concat([Buffer.from('QFI\xFB\0\0\0\x03', 'latin1'), Buffer.alloc(71), Buffer.from([4]), Buffer.alloc(100)])],
    ['an archive of something else', gzipSync('x')],
  ])('that is %s is refused and removed', async (_, content) => {
    expect(await upload(content)).toMatchObject({ status: 'error', error: '镜像文件无法识别' })
    await nothingLeft()
  })

  it('may be a disk, or the two files of a split image in one archive', async () => {
    const disk = Buffer.concat([Buffer.from('QFI\xFB\0\0\0\x03', 'latin1'), Buffer.from(randomUUID().padEnd(200, '\0')).fill(0, 0, 8).fill(0, 64, 80)])
    const ofDisk = await upload(disk, { os: 'Debian' })
    expect(ofDisk).toMatchObject({ status: 'active', type: 'vm', os: 'Debian' })
    const metadata = gzipSync(await tar({ 'metadata.yaml': 'architecture: aarch64\n' }))
    const split = await upload(await tar({ 'metadata.tar.gz': metadata, 'rootfs.squashfs': Buffer.from(randomUUID()) }))
    expect(split).toMatchObject({ status: 'active', architecture: 'aarch64' })
    // Downloads of it are the like archive.
    const { path } = await call(app, imageLibrary.download, { token: owner.token, params: { id: split.id } })
    const answer = Buffer.from(await (await fetch(url + path)).arrayBuffer())
    const names: string[] = []
    const entries = extract()
    entries.end(answer)
    for await (const entry of entries) {
      names.push(entry.header.name)
      if (entry.header.name === 'metadata.tar.gz') expect(await buffer(entry)).toEqual(metadata)
      entry.resume()
    }
    expect(names).toEqual(['metadata.tar.gz', expect.stringMatching(/^rootfs\./)])
    await nothingLeft()
  })

  it('is its owner’s alone to send, and no more than announced', async () => {
    const content = await imageFile()
    const { image, upload_path } = await announce(content.length)
    for (const method of ['HEAD', 'PATCH'] as const) {
      expect((await tus(method, upload_path, { token: stranger.token })).status).toBe(404)
      expect((await tus(method, upload_path, { token: 'x' })).status).toBe(401)
      expect((await tus(method, upload_path.replace(image.id, 'x'))).status).toBe(404)
    }
    expect((await tus('PATCH', upload_path, { content: Buffer.concat([content, content]) })).status).toBe(413)
    expect((await get(image.id)).status).toBe('uploading')
  })

  it('of which the last byte came when the server died is imported when it is asked for', async () => {
    const content = await imageFile()
    const { image, upload_path } = await announce(content.length)
    const files = createImageFiles(app.config.DATA_DIR)
    await files.make(image.id)
    await writeFile(files.pathOf(image.id), content)
    expect((await tus('HEAD', upload_path)).status).toBeLessThan(500)
    expect(await settled(image.id)).toMatchObject({ status: 'active' })
  })

  it('is given up by its deletion, and when nobody goes on with it for a day', async () => {
    const content = await imageFile()
    const [one, other] = [await announce(content.length), await announce(content.length)]
    for (const { upload_path } of [one, other]) await tus('PATCH', upload_path, { content: content.subarray(0, 10) })
    expect(left()).toEqual(expect.arrayContaining([one.image.id, other.image.id]))
    expect(await call(app, imageLibrary.delete, { token: owner.token, params: { id: one.image.id } })).toMatchObject({ status: 'deleting' })
    await gone(one.image.id)
    expect(left()).not.toContain(one.image.id)
    const expire = (hours: number) =>
      expireImagesHandler({ db: app.platform.db, now: () => new Date(Date.now() + hours * 3600_000), files: createImageFiles(app.config.DATA_DIR) }).run(
        {},
        { signal: new AbortController().signal },
      )
    await expire(23)
    expect(await get(other.image.id)).toMatchObject({ status: 'uploading', received_bytes: 10 })
    await expire(25)
    await gone(other.image.id)
    await nothingLeft()
  })

  it('of bytes that the organisation has already is refused with the other’s name', async () => {
    const content = await imageFile()
    const first = await upload(content)
    expect(await upload(content)).toMatchObject({ status: 'error', error: `内容相同的镜像“${first.name}”已存在` })
    expect(await get(first.id)).toMatchObject({ status: 'active' })
    expect(await onEngine(first.fingerprint)).toBeDefined()
  })

  it('of bytes that another organisation has is there once, until the last of them deletes it', async () => {
    const content = await imageFile()
    const [mine, theirs] = [await upload(content), await upload(content, {}, stranger.token)]
    expect([mine.fingerprint, theirs.fingerprint]).toEqual([sha256(content), sha256(content)])
    await call(app, imageLibrary.delete, { token: owner.token, params: { id: mine.id } })
    await gone(mine.id)
    expect(await onEngine(sha256(content))).toBeDefined()
    expect(await get(theirs.id, stranger.token)).toMatchObject({ status: 'active' })
    await call(app, imageLibrary.delete, { token: stranger.token, params: { id: theirs.id } })
    await vi.waitFor(async () => expect(await onEngine(sha256(content))).toBeUndefined())
  })
})

describe('the same bytes of several organisations', () => {
  it('brought and deleted at once, again and again, are on the engine exactly as long as somebody has them', async () => {
    const people = await Promise.all(Array.from({ length: 4 }, () => someone(app)))
    const content = await imageFile()
    const fingerprint = sha256(content)
    for (let round = 0; round < 4; round++) {
      const brought = await Promise.all(people.map(async ({ token }) => ({ token, image: await upload(content, {}, token) })))
      for (const { image } of brought) expect(image).toMatchObject({ status: 'active', fingerprint, error: null })
      expect(await onEngine(fingerprint)).toBeDefined()
      // Half of them go while others come again.
      const [first, second, ...kept] = brought
      const deleted = async (one: (typeof brought)[number] | undefined) => {
        await call(app, imageLibrary.delete, { token: one?.token, params: { id: one?.image.id ?? '' } })
        await vi.waitFor(async () =>
          expect((await send(app, imageLibrary.get, { token: one?.token ?? '', params: { id: one?.image.id ?? '' } })).status).toBe(404),
        )
      }
      await Promise.all([deleted(first), deleted(second)])
      expect(await onEngine(fingerprint)).toBeDefined()
      const [again] = await Promise.all([upload(content, {}, first?.token), ...kept.map(deleted)])
      expect(again).toMatchObject({ status: 'active' })
      expect(await onEngine(fingerprint)).toBeDefined()
      await deleted({ token: first?.token ?? '', image: again })
      expect(await onEngine(fingerprint)).toBeUndefined()
    }
  })
})

describe('an image from an address', () => {
  const fetchIt = (wish: object, token = owner.token) => call(app, imageLibrary.fetch, { token, body: { ...about(), url: `${source.url}/file`, ...wish } })

  /** When something of it has arrived: what is on its way is lost with the connection. */
  const cutOff = (response: ServerResponse): void => {
    const arrived = () => left().some((id) => statSync(join(app.config.DATA_DIR, 'images', id, 'file')).size > 0)
    vi.waitFor(() => expect(arrived()).toBe(true), { interval: 10 }).finally(() => response.destroy())
  }

  it('is fetched, goes on where it was cut off, and is imported', async () => {
    const content = await imageFile(undefined, 300_000)
    source.files.set('/cut', content)
    const answer = source.answer
    let cuts = 0
    source.answer = (request, response) => {
      if (cuts++ > 0) return answer(request, response)
      response.writeHead(200, { etag: `"${sha256(content)}"`, 'content-length': content.length })
      response.write(content.subarray(0, 200_000))
      cutOff(response)
    }
    try {
      const image = await fetchIt({ url: `${source.url}/cut`, sha256: sha256(content) })
      expect(image).toMatchObject({ status: 'fetching', source: 'url', size_bytes: null })
      expect(await settled(image.id)).toMatchObject({
        status: 'active',
        fingerprint: sha256(content),
        size_bytes: content.length,
        received_bytes: content.length,
      })
      expect(source.asked.filter((line) => line.startsWith('/cut'))).toEqual(['/cut ', expect.stringMatching(/^\/cut bytes=[1-9]\d*-$/)])
    } finally {
      source.answer = answer
    }
    await nothingLeft()
  })

  it('begins anew where the file there changed', async () => {
    const [before, after] = [await imageFile(undefined, 100_000), await imageFile(undefined, 100_000)]
    source.files.set('/changing', after)
    const answer = source.answer
    let cuts = 0
    source.answer = (request, response) => {
      if (cuts++ > 0) return answer(request, response)
      response.writeHead(200, { etag: `"${sha256(before)}"`, 'content-length': before.length })
      response.write(before.subarray(0, 80_000))
      cutOff(response)
    }
    try {
      const { id } = await fetchIt({ url: `${source.url}/changing` })
      expect(await settled(id)).toMatchObject({ status: 'active', fingerprint: sha256(after) })
    } finally {
      source.answer = answer
    }
  })

  it.each([
    ['http://127.0.0.2/x'],
    ['http://2130706434/x'],
    ['http://0x7f000002/x'],
    ['http://[::1]/x'],
    ['http://[::ffff:10.0.0.1]/x'],
    ['http://169.254.169.254/latest/meta-data'],
    ['http://[fe80::1]/x'],
    ['http://[64:ff9b::a00:1]/x'],
    ['http://10.1.2.3/x'],
    ['http://100.100.100.200/x'],
    ['http://0.0.0.0/x'],
  ])('of the platform’s own networks is refused: %s', async (to) => {
    expect(await refused(app, imageLibrary.fetch, { token: owner.token, body: { ...about(), url: to } })).toMatchObject({
      status: 400,
      code: 94165,
      fields: [{ field: 'url' }],
    })
  })

  it('that sends elsewhere is followed to where it may, and not to where it may not', async () => {
    const content = await imageFile()
    source.files.set('/real', content)
    const answer = source.answer
    source.answer = (request, response) => {
      const to = { '/moved': '/real', '/inside': 'http://169.254.169.254/latest', '/file-scheme': 'file:///etc/passwd', '/circle': '/circle' }[
        request.url ?? ''
      ]
      if (to === undefined) return answer(request, response)
      response.writeHead(302, { location: to }).end()
    }
    try {
      const [moved, inside, scheme, circle] = await Promise.all(
        ['/moved', '/inside', '/file-scheme', '/circle'].map((path) => fetchIt({ url: source.url + path })),
      )
      expect(await settled(moved?.id ?? '')).toMatchObject({ status: 'active', fingerprint: sha256(content) })
      for (const image of [inside, scheme]) expect(await settled(image?.id ?? '')).toMatchObject({ status: 'error', error: '不能从该地址下载镜像' })
      expect(await settled(circle?.id ?? '')).toMatchObject({ status: 'error', error: expect.stringContaining('重定向') })
    } finally {
      source.answer = answer
    }
    await nothingLeft()
  })

  it('that does not give it, or too much, ends with the reason', async () => {
    expect(await settled((await fetchIt({ url: `${source.url}/absent` })).id)).toMatchObject({ status: 'error', error: '无法下载镜像：对方返回HTTP 404' })
    const answer = source.answer
    source.answer = (_, response) => void response.writeHead(200, { 'content-length': 2 ** 31 }).write('x')
    try {
      expect(await settled((await fetchIt({ url: `${source.url}/huge` })).id)).toMatchObject({ status: 'error', error: '无法下载镜像：文件过大' })
    } finally {
      source.answer = answer
    }
    await nothingLeft()
  })

  it('is given up by its deletion', async () => {
    const answer = source.answer
    source.answer = (_, response) => void response.writeHead(200, { 'content-length': 1000 }).write('x'.repeat(100))
    try {
      const { id } = await fetchIt({ url: `${source.url}/slow` })
      await vi.waitFor(async () => expect((await get(id)).size_bytes).toBe(1000))
      expect(await call(app, imageLibrary.delete, { token: owner.token, params: { id } })).toMatchObject({ status: 'deleting' })
      await gone(id)
    } finally {
      source.answer = answer
    }
    await nothingLeft()
  })
})

describe('whose images are', () => {
  it('shared with an organisation can be used by it, not changed, and by no other', async () => {
    const third = await someone(app)
    const image = await upload(await imageFile(), { min_memory_bytes: 2 ** 40 })
    const [shared] = await app.platform.db
      .selectFrom('organisations')
      .select('name')
      .where('id', '=', stranger.bp_id ?? '')
      .execute()
    expect(await refused(app, imageLibrary.share, { token: owner.token, params: { id: image.id }, body: { organisations: ['nobody-at-all'] } })).toMatchObject({
      status: 400,
      code: 94167,
      fields: [{ field: 'organisations' }],
    })
    const after = await call(app, imageLibrary.share, { token: owner.token, params: { id: image.id }, body: { organisations: [shared?.name ?? ''] } })
    expect(after.shared_with).toEqual([{ name: shared?.name }])
    // Each knows the other by its name, and by nothing else.
    expect(await get(image.id, stranger.token)).toMatchObject({ mine: false, shared_with: [], bp_id: null })
    for (const declared of [imageLibrary.delete, imageLibrary.download])
      expect(await refused(app, declared, { token: stranger.token, params: { id: image.id } })).toMatchObject({ code: 3000 })
    expect(await refused(app, imageLibrary.update, { token: stranger.token, params: { id: image.id }, body: { name: 'x' } })).toMatchObject({ code: 3000 })
    const offered = async (token: string) =>
      (await call(app, images.list, { token, query: { cloud_id } })).items.some(({ fingerprint }) => fingerprint === image.fingerprint)
    expect([await offered(owner.token), await offered(stranger.token), await offered(third.token)]).toEqual([true, true, false])
    const flavor = (await call(app, flavors.list, { token: owner.token })).items.find(({ name }) => name === 'nano')
    const make = (token: string) =>
      send(app, vms.create, {
        token,
        body: {
          cloud_id,
          name: `vm-${randomUUID()}`,
          type: 'container',
          image_fingerprint: image.fingerprint,
          flavor_id: flavor?.id,
          network: 'sandbox0',
          password: 'Correct-horse-1',
        },
      })
    expect((await make(third.token)).body).toMatchObject({ code: 94003 })
    expect((await make(stranger.token)).body).toMatchObject({ code: 94022 })
    await call(app, imageLibrary.update, { token: owner.token, params: { id: image.id }, body: { name: image.name } })
    const made = await make(stranger.token)
    expect(made.status).toBe(202)
    expect(await get(image.id, stranger.token)).toMatchObject({ vm_count: 1 })
    await call(app, imageLibrary.share, { token: owner.token, params: { id: image.id }, body: { organisations: [] } })
    expect((await send(app, imageLibrary.get, { token: stranger.token, params: { id: image.id } })).status).toBe(404)
    expect(await offered(stranger.token)).toBe(false)
  })

  it('public are made so by administrators alone', async () => {
    const image = await upload(await imageFile())
    for (const visibility of ['public'] as const) {
      expect(await refused(app, imageLibrary.upload, { token: owner.token, body: { ...about(), size_bytes: 1, visibility } })).toMatchObject({ code: 3000 })
      expect(await refused(app, imageLibrary.update, { token: owner.token, params: { id: image.id }, body: { name: 'x', visibility } })).toMatchObject({
        code: 3000,
      })
    }
    expect(
      await call(app, imageLibrary.update, { token: admin.token, params: { id: image.id }, body: { name: image.name, visibility: 'public' } }),
    ).toMatchObject({ visibility: 'public' })
    expect(await get(image.id, stranger.token)).toMatchObject({ mine: false, visibility: 'public' })
    const listed = await call(app, imageLibrary.list, { token: stranger.token, query: { visibility: 'public', keyword: image.name } })
    expect(listed.items.map(({ id }) => id)).toEqual([image.id])
  })

  const ofOne = allCalls.filter(({ id, path }) => id.startsWith('nextstack.image.') && path.includes('{id}'))
  it.each(ofOne.map((declared) => [declared.id, declared] as const))('another organisation’s do not exist: %s', async (_, declared) => {
    const { image } = await announce(1)
    const body = { 'nextstack.image.update': { name: 'x' }, 'nextstack.image.share': { organisations: [] } }[declared.id]
    for (const id of [image.id, randomUUID(), 'x'])
      expect(await refused(app, declared, { token: stranger.token, params: { id }, ...(body !== undefined && { body }) })).toMatchObject({
        status: 404,
        code: 90006,
      })
    await call(app, imageLibrary.delete, { token: owner.token, params: { id: image.id } })
  })

  it('count against the quota, with their bytes', async () => {
    const person = await someone(app, { organisation: await makeOrganisation(app) })
    await call(app, quotas.set, { token: admin.token, params: { bp_id: person.bp_id ?? '' }, body: { limits: { images: 2, image_bytes: 1000 } } })
    await announce(900, {}, person.token)
    expect(await refused(app, imageLibrary.upload, { token: person.token, body: { ...about(), size_bytes: 101 } })).toMatchObject({ code: 94030 })
    source.files.set('/too-much', await imageFile())
    const fetched = await call(app, imageLibrary.fetch, { token: person.token, body: { ...about(), url: `${source.url}/too-much` } })
    expect(await settled(fetched.id, person.token)).toMatchObject({ status: 'error', error: expect.stringContaining('超出配额') })
    expect(await refused(app, imageLibrary.upload, { token: person.token, body: { ...about(), size_bytes: 1 } })).toMatchObject({ code: 94030 })
  })

  it('have names of their own in an organisation and cloud', async () => {
    const body = { ...about(), size_bytes: 1 }
    await call(app, imageLibrary.upload, { token: owner.token, body })
    expect(await refused(app, imageLibrary.upload, { token: owner.token, body })).toMatchObject({ code: 94161, fields: [{ field: 'name' }] })
    await call(app, imageLibrary.upload, { token: stranger.token, body })
  })
})

describe('an image on the engine', () => {
  it('that somebody put there is everybody’s, and goes as it came', async () => {
    const content = await imageFile()
    const file = join(app.config.DATA_DIR, `by-hand-${randomUUID()}`)
    await writeFile(file, content)
    const alias = `hand-${randomUUID()}`
    await engine.direct.images.importFile?.({ alias, metadataPath: file })
    const find = async () => (await call(app, imageLibrary.list, { token: stranger.token, query: { cloud_id, visibility: 'public', keyword: alias } })).items[0]
    const image = await vi.waitFor(async () => (await find()) ?? expect.fail('not seen yet'), { interval: 50 })
    expect(image).toMatchObject({ source: 'engine', status: 'active', mine: false, os: 'testos', fingerprint: sha256(content) })
    await engine.direct.images.delete?.(sha256(content))
    await vi.waitFor(async () => expect(await find()).toBeUndefined(), { interval: 50 })
  })

  it('that was seen before its name came has it once that came, and keeps what it is called here', async () => {
    const put = async (alias: string, content: Buffer) => {
      const file = join(app.config.DATA_DIR, `by-hand-${randomUUID()}`)
      await writeFile(file, content)
      await engine.direct.images.importFile?.({ alias, metadataPath: file })
    }
    const nameOf = async (content: Buffer) =>
      (await call(app, imageLibrary.list, { token: stranger.token, query: { cloud_id, visibility: 'public', page_size: 100 } })).items.find(
        ({ fingerprint }) => fingerprint === sha256(content),
      )?.name
    const [content, later] = [await imageFile(), await imageFile()]
    for (const alias of [sha256(content).slice(0, 12), 'named-late']) {
      await put(alias, content)
      await vi.waitFor(async () => expect(await nameOf(content)).toBe(alias), { interval: 50 })
    }
    await put('named-anew', content)
    await put('seen-after', later)
    await vi.waitFor(async () => expect(await nameOf(later)).toBe('seen-after'), { interval: 50 })
    expect(await nameOf(content)).toBe('named-late')
    for (const one of [content, later]) await engine.direct.images.delete?.(sha256(one))
  })

  it('of ours that somebody removed is lost, and can be deleted', async () => {
    const image = await upload(await imageFile())
    await engine.direct.images.delete?.(image.fingerprint ?? '')
    await vi.waitFor(async () => expect((await get(image.id)).status).toBe('lost'), { interval: 50 })
    await call(app, imageLibrary.delete, { token: owner.token, params: { id: image.id } })
    await gone(image.id)
  })

  it('that it cannot take or delete says so, and is there still', async () => {
    engine.fail('failed', { method: 'images.importFile' })
    expect(await upload(await imageFile())).toMatchObject({ status: 'error', error: '镜像文件无法识别', fingerprint: null })
    engine.recover()
    const image = await upload(await imageFile())
    engine.fail('failed', { method: 'images.delete' })
    await call(app, imageLibrary.delete, { token: owner.token, params: { id: image.id } })
    expect(await settled(image.id)).toMatchObject({ status: 'active', error: expect.stringContaining('云平台执行失败') })
    engine.recover()
    await call(app, imageLibrary.delete, { token: owner.token, params: { id: image.id } })
    await gone(image.id)
  })

  it('is downloaded whole and in parts, by its owner', async () => {
    const content = await imageFile(undefined, 200_000)
    const image = await upload(content)
    const { path, expires_at } = await call(app, imageLibrary.download, { token: owner.token, params: { id: image.id } })
    expect(new Date(expires_at).getTime()).toBeGreaterThan(Date.now())
    const whole = await fetch(url + path)
    expect(whole.headers.get('content-disposition')).toContain('.tar.gz')
    expect(sha256(Buffer.from(await whole.arrayBuffer()))).toBe(sha256(content))
    const part = await fetch(url + path, { headers: { range: 'bytes=1000-150000' } })
    expect(part.status).toBe(206)
    expect(Buffer.from(await part.arrayBuffer())).toEqual(content.subarray(1000, 150_001))
  })
})

describe('an image of an instance', () => {
  async function machine(): Promise<{ id: string; engineName: string }> {
    const { items } = await call(app, images.list, { token: owner.token, query: { cloud_id, type: 'container' } })
    const flavor = (await call(app, flavors.list, { token: owner.token })).items.find(({ name }) => name === 'nano')
    const made = await call(app, vms.create, {
      token: owner.token,
      body: {
        cloud_id,
        name: `vm-${randomUUID()}`,
        type: 'container',
        image_fingerprint: items.find(({ name }) => name === 'busybox')?.fingerprint ?? '',
        flavor_id: flavor?.id ?? '',
        network: 'sandbox0',
        password: 'Correct-horse-1',
      },
    })
    const id = made.items[0]?.id ?? ''
    await is(id, 'running')
    return { id, engineName: `zs-${id.replaceAll('-', '')}` }
  }
  const is = (id: string, status: string) =>
    vi.waitFor(async () => expect((await call(app, vms.get, { token: owner.token, params: { id } })).status).toBe(status), { interval: 20 })

  it('is made of a stopped one, has its files, and outlives it', async () => {
    const { id, engineName } = await machine()
    await engine.direct.instances.writeFile(engineName, { path: '/root/file', content: Buffer.from('inside'), mode: 0o600 })
    const body = { ...about({ cloud_id: undefined }), vm_id: id, os: 'mine' }
    expect(await refused(app, imageLibrary.fromVm, { token: owner.token, body })).toMatchObject({ status: 409, code: 90010 })
    expect(await refused(app, imageLibrary.fromVm, { token: stranger.token, body })).toMatchObject({ status: 404 })
    await call(app, vms.stop, { token: owner.token, params: { id }, body: { force: true } })
    await is(id, 'stopped')
    const image = await settled((await call(app, imageLibrary.fromVm, { token: owner.token, body })).id)
    expect(image).toMatchObject({ status: 'active', source: 'vm', os: 'mine', type: 'container' })
    await engine.direct.instances.create({
      name: 'of-image',
      type: 'container',
      imageFingerprint: image.fingerprint ?? '',
      cpuCores: 1,
      memoryBytes: 2 ** 28,
      diskBytes: 2 ** 30,
      network: 'sandbox0',
      tags: {},
    })
    await engine.direct.instances.start('of-image')
    expect((await engine.direct.instances.exec('of-image', { command: ['cat', '/root/file'] })).stdout.toString()).toBe('inside')
    await call(app, imageLibrary.delete, { token: owner.token, params: { id: image.id } })
    await gone(image.id)
    expect(await onEngine(image.fingerprint)).toBeUndefined()
  })

  it('is given up while it is made: of image and file nothing is left, also where the engine had it already', async () => {
    const { id } = await machine()
    await call(app, vms.stop, { token: owner.token, params: { id }, body: { force: true } })
    await is(id, 'stopped')
    for (const method of ['images.publish', 'images.list']) {
      const gate = engine.hold(method)
      const { id: image } = await call(app, imageLibrary.fromVm, { token: owner.token, body: { ...about({ cloud_id: undefined }), vm_id: id } })
      await gate.reached
      expect(await call(app, imageLibrary.delete, { token: owner.token, params: { id: image } })).toMatchObject({ status: 'deleting' })
      gate.open()
      await gone(image)
      expect((await engine.direct.images.list()).filter(({ tags }) => tags['image_id'] === image)).toEqual([])
    }
    expect((await call(app, vms.get, { token: owner.token, params: { id } })).status).toBe('stopped')
  })

  it('that cannot be made says so, and leaves nothing', async () => {
    const { id } = await machine()
    await call(app, vms.stop, { token: owner.token, params: { id }, body: { force: true } })
    await is(id, 'stopped')
    engine.fail('failed', { method: 'images.publish' })
    const image = await settled((await call(app, imageLibrary.fromVm, { token: owner.token, body: { ...about({ cloud_id: undefined }), vm_id: id } })).id)
    expect(image).toMatchObject({ status: 'error', fingerprint: null })
    engine.recover()
    await call(app, imageLibrary.delete, { token: owner.token, params: { id: image.id } })
    await gone(image.id)
  })
})
