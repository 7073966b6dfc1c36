import { execFile } from 'node:child_process'
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import { flavors } from '@zhisuan/contract/nextstack/flavor'
import { imageLibrary, imageTransitional, type Image } from '@zhisuan/contract/nextstack/image'
import { images, networks, vms } from '@zhisuan/contract/nextstack/vm'
import { createLxdEngine } from '@zhisuan/engines/lxd/engine'
import { running } from '@zhisuan/engines/lxd/operations'
import { createTransport } from '@zhisuan/engines/lxd/transport'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { register } from '../browser/people.ts'
import { temporaryFolder, type TemporaryFolder } from '../support/folder.ts'
import { asAdministrator, Client, killing, pointsOf, startServer, until, type RunningServer, untilTold } from '../support/server.ts'

const run = promisify(execFile)
const socketPath = join(process.env['LXD_DIR'] ?? '/var/lib/lxd', 'unix.socket')
const sha256 = (content: Buffer): string => createHash('sha256').update(content).digest('hex')

/** Images on a real engine, by the API alone: brought, used, shared, taken back; nothing is left when they go. */
describe.skipIf(!existsSync(socketPath) && process.env['CI'] === undefined)('images on this host', () => {
  const engine = createLxdEngine({ socketPath })
  const transport = createTransport({ socketPath })
  const made: string[] = []
  /** Of all images that are made. */
  const ids: string[] = []
  let data: TemporaryFolder
  let server: RunningServer
  let admin: Client
  let owner: Client
  let friend: Client
  let third: Client
  let accounts: Awaited<ReturnType<typeof register>>[]
  let cloud_id: string
  let files: Server

  /** What is fetched, by path; a text is where it sends to. */
  const offered = new Map<string, Buffer | string>()
  const address = (path: string): string => `http://127.0.0.1:${(files.address() as AddressInfo).port}${path}`

  const restart = async (env: Record<string, string> = {}): Promise<void> => {
    server = await startServer(data.path, { TRUST_PROXY: '1', IMAGE_FETCH_ALLOW: '127.0.0.1', ...env })
    admin = await asAdministrator(server)
    accounts ??= [
      await register(server.url, 'image-owner', '镜像所有者'),
      await register(server.url, 'image-friend', '镜像共享者'),
      await register(server.url, 'image-third', '无关组织'),
    ]
    const [one, two, three] = await Promise.all(
      accounts.map(async ({ username, password }) => {
        const client = new Client(server.url)
        await client.signIn(username, password)
        return client
      }),
    )
    if (one === undefined || two === undefined || three === undefined) throw new Error('three signed in')
    ;[owner, friend, third] = [one, two, three]
  }
  /** The server is gone as by a power cut. */
  const kill = async (): Promise<void> => {
    server.process.kill('SIGKILL')
    await server.ended
  }

  /** This host's small image with some more in it, so that it is nobody else's. */
  const imageFile = async (bytes: number): Promise<Buffer> => {
    const folder = join(data.path, `build-${randomBytes(4).toString('hex')}`)
    await mkdir(join(folder, 'image'), { recursive: true })
    await run('bash', ['scripts/build-image.sh', join(folder, 'busybox.tar.gz')])
    await run('tar', ['-C', join(folder, 'image'), '-xzf', join(folder, 'busybox.tar.gz')])
    await writeFile(join(folder, 'image', 'rootfs', 'root', 'mark'), randomBytes(bytes))
    await run('tar', ['-C', join(folder, 'image'), '-czf', join(folder, 'marked.tar.gz'), 'metadata.yaml', 'templates', 'rootfs'])
    return readFile(join(folder, 'marked.tar.gz'))
  }
  const settled = (id: string, client = owner): Promise<Image> =>
    until(
      async () => {
        const image = await client.call(imageLibrary.get, { params: { id } })
        return !imageTransitional.includes(image.status) && image
      },
      'the image to settle',
      60_000,
    )
  const send = async (path: string, client: Client, offset: number, content: Buffer): Promise<Response> =>
    fetch(server.url + path, {
      method: 'PATCH',
      headers: { ...client.authorization, 'tus-resumable': '1.0.0', 'content-type': 'application/offset+octet-stream', 'upload-offset': String(offset) },
      body: new Uint8Array(content),
    })
  const offsetOf = async (path: string): Promise<number> => {
    const answer = await fetch(server.url + path, { method: 'HEAD', headers: { ...owner.authorization, 'tus-resumable': '1.0.0' } })
    expect(answer.status).toBe(200)
    return Number(answer.headers.get('upload-offset'))
  }
  const upload = async (content: Buffer, wish: object = {}): Promise<Image> => {
    const { image, upload_path } = await owner.call(imageLibrary.upload, {
      body: { cloud_id, name: `image-${randomUUID()}`, size_bytes: content.length, ...wish },
    })
    expect((await send(upload_path, owner, 0, content)).status).toBe(204)
    return settled(image.id)
  }
  const onEngine = async ({ id, fingerprint }: Pick<Image, 'id' | 'fingerprint'>) =>
    (await engine.images.list()).filter((image) => image.fingerprint === fingerprint || image.tags['image_id'] === id)
  const createVm = async (client: Client, fingerprint: string, name: string): Promise<string> => {
    const query = { cloud_id }
    const [network] = (await client.call(networks.list, { query })).items
    const flavor = (await client.call(flavors.list)).items.find((one) => one.name === 'nano')
    const { items } = await client.call(vms.create, {
      body: { cloud_id, name, type: 'container', image_fingerprint: fingerprint, network: network?.name, flavor_id: flavor?.id, password: 'Image-test-1' },
    })
    const id = items[0]?.id ?? ''
    made.push(id)
    const vm = await until(async () => {
      const one = await client.call(vms.get, { params: { id } })
      return one.status !== 'creating' && one
    }, 'the instance to be made')
    expect(vm).toMatchObject({ status: 'running', error: null })
    return id
  }
  const engineName = (id: string): string => `zs-${id.replaceAll('-', '')}`
  const fileIn = async (id: string, path: string): Promise<string> => sha256((await engine.instances.exec(engineName(id), { command: ['cat', path] })).stdout)
  const leaves = (id: string, client = owner) =>
    until(
      async () =>
        client.call(imageLibrary.get, { params: { id } }).then(
          () => false,
          () => true,
        ),
      'the image to go',
    )
  const gone = async (...all: readonly Image[]): Promise<void> => {
    for (const image of all) {
      await owner.call(imageLibrary.delete, { params: { id: image.id } })
      await leaves(image.id)
      expect(await onEngine(image)).toEqual([])
    }
    expect(readdirSync(join(data.path, 'images'))).toEqual([])
  }
  const named = async (name: string): Promise<Image> => {
    const [row] = (await owner.call(imageLibrary.list, { query: { keyword: name } })).items
    ids.push(row?.id ?? '')
    return settled(row?.id ?? '')
  }

  beforeAll(async () => {
    data = temporaryFolder('images')
    files = createServer((request, response) => {
      const what = offered.get(request.url ?? '')
      if (what === undefined) response.writeHead(404).end()
      else if (typeof what === 'string') response.writeHead(302, { location: what }).end()
      else response.writeHead(200, { 'content-length': what.length, etag: `"${sha256(what)}"` }).end(what)
    })
    await new Promise<void>((resolve) => files.listen(0, '127.0.0.1', resolve))
    await restart({ IMAGE_FETCH_ALLOW: '' })
    cloud_id = (await admin.call(clouds.list)).clouds[0]?.cloud_id ?? ''
  })
  afterAll(async () => {
    for (const id of made) await engine.instances.delete(engineName(id))
    await server.stop()
    // What a failed test has left.
    for (const image of await engine.images.list()) if (ids.includes(image.tags['image_id'] ?? '')) await engine.images.delete?.(image.fingerprint)
    await Promise.all([engine.close(), transport.close()])
    files.close()
    data.remove()
  })
  it('are not fetched from this host, nor from what only sends there', async () => {
    for (const url of [address('/x'), 'http://169.254.169.254/latest', 'http://[::1]/x', 'http://127.1/x']) {
      await expect(owner.call(imageLibrary.fetch, { body: { cloud_id, name: 'forbidden', url } })).rejects.toThrow('94165')
    }
  })

  it('come in pieces, through a broken connection and a killed server, and are what was sent', async () => {
    const content = await imageFile(24 * 2 ** 20)
    const { image, upload_path } = await owner.call(imageLibrary.upload, {
      body: { cloud_id, name: 'in-pieces', size_bytes: content.length, sha256: sha256(content) },
    })
    ids.push(image.id)
    const piece = Math.floor(content.length / 3)
    expect((await send(upload_path, owner, 0, content.subarray(0, piece))).status).toBe(204)
    expect(await offsetOf(upload_path)).toBe(piece)
    // While bytes flow the server is killed.
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(new Uint8Array(content.subarray(piece, 2 * piece)))
      },
    })
    const cut = fetch(server.url + upload_path, {
      method: 'PATCH',
      headers: { ...owner.authorization, 'tus-resumable': '1.0.0', 'content-type': 'application/offset+octet-stream', 'upload-offset': String(piece) },
      body,
      duplex: 'half',
    } as RequestInit).catch(() => 'cut off')
    await until(async () => (await readFile(join(data.path, 'images', image.id, 'file'))).length > piece, 'some of it to arrive')
    await kill()
    expect(await cut).toBe('cut off')
    await restart()
    const offset = await offsetOf(upload_path)
    expect(offset).toBeGreaterThan(piece)
    expect((await send(upload_path, owner, offset, content.subarray(offset))).status).toBe(204)
    const done = await settled(image.id)
    expect(done).toMatchObject({ status: 'active', error: null, fingerprint: sha256(content), size_bytes: content.length })

    const { path } = await owner.call(imageLibrary.download, { params: { id: image.id } })
    expect(sha256(Buffer.from(await (await fetch(server.url + path)).arrayBuffer()))).toBe(sha256(content))
    const part = await fetch(server.url + path, { headers: { range: `bytes=${piece}-${piece + 9}` } })
    expect(Buffer.from(await part.arrayBuffer())).toEqual(content.subarray(piece, piece + 10))
    await gone(done)
  })

  it('with other bytes than announced, or that are none, are refused and leave nothing', async () => {
    const content = await imageFile(1000)
    const wrong = await upload(content, { sha256: '0'.repeat(64) })
    expect(wrong).toMatchObject({ status: 'error', error: '镜像文件与校验值不符' })
    const noise = await upload(Buffer.concat([Buffer.from([0x1f, 0x8b]), randomBytes(5000)]))
    expect(noise).toMatchObject({ status: 'error', error: '镜像文件无法识别', fingerprint: null })
    await gone(wrong, noise)
    expect((await engine.images.list()).filter(({ fingerprint }) => fingerprint === sha256(content))).toEqual([])
  })

  it('are shared with an organisation, which makes an instance of it; to a third it does not exist', async () => {
    const image = await upload(await imageFile(1000))
    ids.push(image.id)
    expect(image).toMatchObject({ status: 'active' })
    await expect(third.call(imageLibrary.get, { params: { id: image.id } })).rejects.toThrow('404')
    await expect(friend.call(imageLibrary.get, { params: { id: image.id } })).rejects.toThrow('404')
    await owner.call(imageLibrary.share, { params: { id: image.id }, body: { organisations: ['镜像共享者'] } })
    expect(await friend.call(imageLibrary.get, { params: { id: image.id } })).toMatchObject({ mine: false })
    const vm = await createVm(friend, image.fingerprint ?? '', 'of-shared')
    expect((await engine.instances.get(engineName(vm)))?.power).toBe('running')
    await expect(createVm(third, image.fingerprint ?? '', 'not-mine')).rejects.toThrow('94003')
    await expect(third.call(imageLibrary.get, { params: { id: image.id } })).rejects.toThrow('404')
    // The instance stays when its image goes.
    await gone(image)
    expect((await engine.instances.get(engineName(vm)))?.power).toBe('running')
  })

  it('of the same bytes, brought by two organisations at once, are there once until both are deleted', async () => {
    const content = await imageFile(50_000)
    const bring = async (client: Client) => {
      const { image, upload_path } = await client.call(imageLibrary.upload, { body: { cloud_id, name: 'same-bytes', size_bytes: content.length } })
      ids.push(image.id)
      expect((await send(upload_path, client, 0, content)).status).toBe(204)
      return settled(image.id, client)
    }
    const [mine, theirs] = await Promise.all([bring(owner), bring(friend)])
    for (const image of [mine, theirs]) expect(image).toMatchObject({ status: 'active', error: null, fingerprint: sha256(content) })
    const there = async () => (await engine.images.list()).filter(({ fingerprint }) => fingerprint === sha256(content)).length
    expect(await there()).toBe(1)
    const remove = async (client: Client, { id }: Image) => {
      await client.call(imageLibrary.delete, { params: { id } })
      await leaves(id, client)
    }
    await remove(owner, mine)
    expect(await there()).toBe(1)
    expect(await friend.call(imageLibrary.get, { params: { id: theirs.id } })).toMatchObject({ status: 'active' })
    await remove(friend, theirs)
    expect(await there()).toBe(0)
  })

  it('of an instance bring its files into the next one', async () => {
    const first = await until(
      async () => (await owner.call(images.list, { query: { cloud_id } })).items.find(({ name }) => name === 'busybox'),
      'the first image',
    )
    const old = await createVm(owner, first.fingerprint, 'old')
    const content = randomBytes(100_000)
    await engine.instances.writeFile(engineName(old), { path: '/root/kept', content, mode: 0o600 })
    await owner.call(vms.stop, { params: { id: old }, body: { force: true } })
    await until(async () => (await owner.call(vms.get, { params: { id: old } })).status === 'stopped', 'the instance to stop')
    const begun = await owner.call(imageLibrary.fromVm, { body: { name: 'of-old', vm_id: old } })
    ids.push(begun.id)
    const image = await settled(begun.id)
    expect(image).toMatchObject({ status: 'active', source: 'vm', error: null })
    const next = await createVm(owner, image.fingerprint ?? '', 'next')
    expect(await fileIn(next, '/root/kept')).toBe(sha256(content))
    await gone(image)
  })

  it('come from an address that is allowed, and not from one that it sends to', async () => {
    const content = await imageFile(2000)
    offered.set('/image.tar.gz', content)
    offered.set('/moved', address('/image.tar.gz'))
    offered.set('/metadata', 'http://169.254.169.254/latest/meta-data')
    const fetchFrom = async (path: string, name: string): Promise<Image> => {
      const { id } = await owner.call(imageLibrary.fetch, { body: { cloud_id, name, url: address(path), sha256: sha256(content) } })
      ids.push(id)
      return settled(id)
    }
    const image = await fetchFrom('/moved', 'fetched')
    expect(image).toMatchObject({ status: 'active', fingerprint: sha256(content), received_bytes: content.length })
    const sent = await fetchFrom('/metadata', 'sent-elsewhere')
    expect(sent).toMatchObject({ status: 'error', error: '不能从该地址下载镜像' })
    await gone(image, sent)
  })

  const killedAt = killing(() => server, restart)

  it('fetched, with the server killed before and after each step, end once and as asked for', async () => {
    const kind = 'nextstack.image.fetch'
    const points = [...pointsOf(kind, 'fetch', 'import', 'clean'), `${kind}:verify:before`]
    const contents = await Promise.all(points.map(() => imageFile(1500)))
    for (const [index, content] of contents.entries()) offered.set(`/killed-${index}`, content)
    const fetched = (_: unknown, index: number) => () =>
      owner.call(imageLibrary.fetch, { body: { cloud_id, name: `killed-${index}`, url: address(`/killed-${index}`) } })
    await killedAt(points, ...points.map(fetched))
    const all = await Promise.all(points.map((_, index) => named(`killed-${index}`)))
    for (const [index, image] of all.entries()) {
      expect(image).toMatchObject({ status: 'active', fingerprint: sha256(contents[index] ?? Buffer.alloc(0)) })
      expect(await onEngine(image)).toHaveLength(1)
    }
    await gone(...all)
  })

  it('of an instance, with the server killed before and after the step, are one each', async () => {
    const [vm] = (await owner.call(vms.list, { query: { keyword: 'old' } })).items
    const points = pointsOf('nextstack.image.fromVm', 'publish')
    const names = points.map((_, index) => `published-${index}`)
    await killedAt(points, ...names.map((name) => () => owner.call(imageLibrary.fromVm, { body: { name, vm_id: vm?.id } })))
    const all = await Promise.all(names.map(named))
    for (const image of all) {
      expect(image).toMatchObject({ status: 'active' })
      expect(await onEngine(image)).toHaveLength(1)
    }
    await gone(...all)
  })

  it('of an instance, given up while the engine makes it, leaves nothing there', async () => {
    const [vm] = (await owner.call(vms.list, { query: { keyword: 'old' } })).items
    // Long enough to be met while it is packed.
    await engine.instances.writeFile(engineName(vm?.id ?? ''), { path: '/root/large', content: randomBytes(60_000_000), mode: 0o600 })
    const { id } = await owner.call(imageLibrary.fromVm, { body: { name: 'given-up', vm_id: vm?.id } })
    ids.push(id)
    const packing = async () => (await running(transport)).some(({ description }) => description === 'Downloading image')
    await until(packing, 'the engine to pack')
    expect(await owner.call(imageLibrary.delete, { params: { id } })).toMatchObject({ status: 'deleting' })
    await leaves(id)
    await until(async () => !(await packing()), 'the engine to have packed')
    expect((await engine.images.list()).filter(({ tags }) => tags['image_id'] === id)).toEqual([])
    expect(await owner.call(vms.get, { params: { id: vm?.id ?? '' } })).toMatchObject({ status: 'stopped' })
  })

  it('of an instance, given up and the server killed before and after that, leaves nothing either', async () => {
    const [vm] = (await owner.call(vms.list, { query: { keyword: 'old' } })).items
    const points = pointsOf('nextstack.image.fromVm', 'undo')
    const given: string[] = []
    const giveUp = (_: unknown, index: number) => async () => {
      const { id } = await owner.call(imageLibrary.fromVm, { body: { name: `given-up-${index}`, vm_id: vm?.id } })
      given.push(id)
      await until(async () => (await running(transport)).some(({ description }) => description === 'Downloading image'), 'the engine to pack')
      await owner.call(imageLibrary.delete, { params: { id } })
    }
    await killedAt(points, ...points.map(giveUp))
    ids.push(...given)
    expect(given).toHaveLength(points.length)
    for (const id of given) await leaves(id)
    expect((await engine.images.list()).filter(({ tags }) => given.includes(tags['image_id'] ?? ''))).toEqual([])
  })

  it('deleted, with the server killed before and after the step, are gone', async () => {
    const points = pointsOf('nextstack.image.delete', 'delete')
    const all = await Promise.all(points.map(async () => upload(await imageFile(1200))))
    ids.push(...all.map(({ id }) => id))
    await killedAt(
      points,
      ...all.map(
        ({ id }) =>
          () =>
            owner.call(imageLibrary.delete, { params: { id } }),
      ),
    )
    for (const image of all) {
      await leaves(image.id)
      expect(await onEngine(image)).toEqual([])
    }
  })

  it('that somebody puts on the engine, and takes from it, show', async () => {
    const content = await imageFile(900)
    const path = join(data.path, 'by-hand.tar.gz')
    await writeFile(path, content)
    const alias = `zhisuan-by-hand-${process.pid}`
    const fingerprint = (await engine.images.importFile?.({ alias, metadataPath: path })) ?? ''
    try {
      const seen = async () => (await third.call(imageLibrary.list, { query: { keyword: alias } })).items[0]
      expect(await untilTold(seen, 'the image to show')).toMatchObject({ source: 'engine', visibility: 'public', fingerprint })
      await engine.images.delete?.(fingerprint)
      await untilTold(async () => (await seen()) === undefined, 'the image to go')
    } finally {
      await engine.images.delete?.(fingerprint)
    }
  })
})
