import { createWriteStream } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ComputeEngine, Images, InstanceType } from '../compute.ts'
import type { EngineError } from '../errors.ts'
import { rejects } from './rejects.ts'
import { noise, sha256 } from './storage.ts'

/** What the suite has to know of an engine beforehand. */
export interface ImageTraits {
  type: InstanceType
  /** Begins the name of everything made here; whatever bears it is deleted before and after. */
  prefix: string
  place(engine: ComputeEngine): Promise<{ imageFingerprint: string; network: string; undo?: () => Promise<void> }>
  /** Files of two small images of nobody else's, the first unified, the second split. */
  files: () => Promise<{ unified: string; split: { metadataPath: string; rootfsPath: string }; undo: () => Promise<void> }>
}

const mib = 2 ** 20

/** The contract of images in `compute.ts`, beyond importing, put to an engine. */
export function imageConformance(title: string, makeEngine: () => ComputeEngine, traits: ImageTraits): void {
  describe(`${title} keeps the contract of images`, () => {
    const engine = makeEngine()
    const { instances } = engine
    // Who lacks one fails here, not at each call.
    const images = engine.images as Required<Images>
    const tags = { owner: 'conformance', image_id: '1-ü 值' }
    let place: Awaited<ReturnType<ImageTraits['place']>>
    let files: Awaited<ReturnType<ImageTraits['files']>>
    let folder: string
    let count = 0

    const named = async (alias: string) => (await images.list()).filter(({ name }) => name === alias)
    const shown = async (fingerprint: string) => (await images.list()).find((image) => image.fingerprint === fingerprint)
    const machine = async (changes: { imageFingerprint?: string } = {}): Promise<string> => {
      const name = `${traits.prefix}${++count}`
      await instances.create({
        name,
        type: traits.type,
        imageFingerprint: place.imageFingerprint,
        cpuCores: 1,
        memoryBytes: 128 * mib,
        diskBytes: 512 * mib,
        network: place.network,
        tags: { owner: 'machine', vm_id: '9' },
        ...changes,
      })
      return name
    }
    const filled = async (content: Buffer): Promise<string> => {
      const name = await machine()
      await instances.start(name)
      await instances.writeFile(name, { path: '/root/file', content, mode: 0o640, uid: 7, gid: 8 })
      await instances.stop(name, { force: true })
      return name
    }
    /** Of a new instance of the image. */
    const sumIn = async (fingerprint: string): Promise<string> => {
      const name = await machine({ imageFingerprint: fingerprint })
      await instances.start(name)
      const { stdout } = await instances.exec(name, { command: ['cat', '/root/file'] })
      expect((await instances.exec(name, { command: ['stat', '-c', '%a %u %g', '/root/file'] })).stdout.toString()).toBe('640 7 8\n')
      await instances.delete(name)
      return sha256(stdout)
    }
    const wanted = (changes: { tags?: Record<string, string> } = {}) => ({
      alias: `${traits.prefix}a${++count}`,
      description: '我的镜像',
      properties: { purpose: `test ${count}` },
      tags,
      ...changes,
    })
    const madeFor = async ({ properties: { purpose } }: ReturnType<typeof wanted>) =>
      (await images.list()).filter(({ properties }) => properties['purpose'] === purpose)
    /** Writes an export to files; what they are called, in order. */
    const save = async (fingerprint: string): Promise<{ roles: string[]; paths: string[]; sizeBytes: number }> => {
      const { files: parts, sizeBytes } = await images.export(fingerprint)
      const [roles, paths]: [string[], string[]] = [[], []]
      for await (const { role, content } of parts) {
        const path = join(folder, `${++count}`)
        await pipeline(content, createWriteStream(path))
        roles.push(role)
        paths.push(path)
      }
      return { roles, paths, sizeBytes }
    }
    const clear = async (): Promise<void> => {
      const ours = (await instances.list()).filter(({ name }) => name.startsWith(traits.prefix))
      await Promise.all(ours.map(({ name }) => instances.delete(name)))
      for (const { fingerprint } of (await images.list()).filter(({ name, tags: has }) => name.startsWith(traits.prefix) || has['image_id'] === tags.image_id))
        await images.delete(fingerprint)
    }

    beforeAll(async () => {
      await clear()
      place = await traits.place(engine)
      files = await traits.files()
      folder = await mkdtemp(join(tmpdir(), 'zhisuan-images-'))
    })
    afterAll(async () => {
      await clear()
      await place.undo?.()
      await files.undo()
      await rm(folder, { recursive: true, force: true })
      await engine.close()
    })

    describe('publish', () => {
      it.each(['a stopped instance', 'a snapshot'])('makes an image of %s, as often as it is asked', async (what) => {
        const content = noise('publish')
        const name = await filled(content)
        const snapshot = what === 'a snapshot' ? 'then' : null
        if (snapshot !== null) {
          await instances.snapshots.create(name, snapshot)
          await instances.start(name)
          await instances.writeFile(name, { path: '/root/file', content: noise('later'), mode: 0o600 })
        }
        const image = wanted()
        const fingerprint = await images.publish({ instance: name, snapshot }, image)
        expect(fingerprint).toMatch(/^[0-9a-f]{64}$/)
        expect(await images.publish({ instance: name, snapshot }, image)).toBe(fingerprint)
        expect(await Promise.all([images.publish({ instance: name, snapshot }, image), images.publish({ instance: name, snapshot }, image)])).toEqual([
          fingerprint,
          fingerprint,
        ])
        expect(await named(image.alias)).toMatchObject([{ fingerprint, type: traits.type, description: '我的镜像', properties: image.properties }])
        expect((await shown(fingerprint))?.tags).toEqual(tags)
        expect((await shown(fingerprint))?.os).toBe((await shown(place.imageFingerprint))?.os)
        await instances.delete(name)
        expect(await sumIn(fingerprint)).toBe(sha256(content))
        await images.delete(fingerprint)
        await images.delete(fingerprint)
        expect(await named(image.alias)).toEqual([])
      })
      it('makes one image of two who ask at a time', async () => {
        const name = await filled(noise('twice'))
        const image = wanted()
        const [first, second] = await Promise.all([
          images.publish({ instance: name, snapshot: null }, image),
          images.publish({ instance: name, snapshot: null }, image),
        ])
        expect(first).toBe(second)
        expect(await named(image.alias)).toHaveLength(1)
        expect(await madeFor(image)).toHaveLength(1)
        await images.delete(first)
      })
      it('gives an image nothing of the tags of its source, and another image another alias', async () => {
        const name = await filled(noise('tags'))
        const [one, other] = [wanted(), wanted({ tags: { owner: 'another' } })]
        const first = await images.publish({ instance: name, snapshot: null }, one)
        await rejects(images.publish({ instance: name, snapshot: null }, { ...other, alias: one.alias }), 'conflict')
        const second = await images.publish({ instance: name, snapshot: null }, other)
        expect((await shown(first))?.tags).toEqual(tags)
        expect((await shown(second))?.tags).toEqual({ owner: 'another' })
        expect((await instances.get(await machine({ imageFingerprint: first })))?.tags).toEqual({ owner: 'machine', vm_id: '9' })
        await images.delete(first)
        await images.delete(second)
      })
      it('refuses what runs and what is not there, and leaves nothing', async () => {
        const name = await machine()
        await instances.start(name)
        const image = wanted()
        await rejects(images.publish({ instance: name, snapshot: null }, image), 'invalid')
        await rejects(images.publish({ instance: name, snapshot: 'absent' }, image), 'not_found')
        await rejects(images.publish({ instance: `${traits.prefix}absent`, snapshot: null }, image), 'not_found')
        expect(await named(image.alias)).toEqual([])
      })
    })

    describe('properties', () => {
      it('are set and taken away, and leave tags and the others', async () => {
        const alias = `${traits.prefix}a${++count}`
        const fingerprint = await images.importFile({ alias, metadataPath: files.unified, properties: { purpose: 'test', gone: 'soon' }, tags })
        await images.setProperties(fingerprint, { description: '说明', release: '13', gone: '' })
        await images.setProperties(fingerprint, { description: '说明', release: '13', gone: '' })
        const image = await shown(fingerprint)
        expect(image).toMatchObject({ name: alias, description: '说明', release: '13', properties: { purpose: 'test' }, tags })
        expect(image?.properties).not.toHaveProperty('gone')
        expect(image?.tags).toEqual(tags)
        await images.delete(fingerprint)
        await rejects(images.setProperties(fingerprint, { description: 'x' }), 'not_found')
      })
    })

    describe('tags', () => {
      it('are given by who imports, not by the file', async () => {
        const name = await filled(noise('forged'))
        const published = await images.publish({ instance: name, snapshot: null }, wanted({ tags: { owner: 'before', secret: '1' } }))
        const { paths } = await save(published)
        await images.delete(published)
        const alias = `${traits.prefix}a${++count}`
        const again = await images.importFile({ alias, metadataPath: paths[0] ?? '' })
        expect(again).toBe(published)
        expect((await shown(again))?.tags).toEqual({})
        await rejects(images.importFile({ alias, metadataPath: paths[0] ?? '', tags }), 'conflict')
        await images.delete(again)
        await images.importFile({ alias, metadataPath: paths[0] ?? '', tags })
        await images.importFile({ alias, metadataPath: paths[0] ?? '', tags })
        expect((await shown(again))?.tags).toEqual(tags)
        await images.delete(again)
      })
    })

    describe('export', () => {
      it('gives a published image back, whose import is the same image', async () => {
        const content = noise('export')
        const fingerprint = await images.publish({ instance: await filled(content), snapshot: null }, wanted())
        const { roles, paths, sizeBytes } = await save(fingerprint)
        expect(roles).toEqual(['unified'])
        const bytes = await readFile(paths[0] ?? '')
        expect([sha256(bytes), bytes.length]).toEqual([fingerprint, sizeBytes])
        await images.delete(fingerprint)
        expect(await images.importFile({ alias: `${traits.prefix}a${++count}`, metadataPath: paths[0] ?? '', tags })).toBe(fingerprint)
        expect(await sumIn(fingerprint)).toBe(sha256(content))
        await images.delete(fingerprint)
      })
      it('gives both files of a split image', async () => {
        const fingerprint = await images.importFile({ alias: `${traits.prefix}a${++count}`, ...files.split, tags })
        const { roles, paths, sizeBytes } = await save(fingerprint)
        expect(roles).toEqual(['metadata', 'rootfs'])
        const [metadata, rootfs] = await Promise.all(paths.map((path) => readFile(path)))
        expect(metadata).toEqual(await readFile(files.split.metadataPath))
        expect(rootfs).toEqual(await readFile(files.split.rootfsPath))
        expect(sizeBytes).toBe((metadata?.length ?? 0) + (rootfs?.length ?? 0))
        await images.delete(fingerprint)
        expect(await images.importFile({ alias: `${traits.prefix}a${++count}`, metadataPath: paths[0] ?? '', rootfsPath: paths[1] ?? '', tags })).toBe(
          fingerprint,
        )
        await images.delete(fingerprint)
      })
      it('can be left and cancelled at any point', async () => {
        const fingerprint = await images.importFile({ alias: `${traits.prefix}a${++count}`, ...files.split, tags })
        for await (const { content } of (await images.export(fingerprint)).files) {
          content.destroy()
          break
        }
        const controller = new AbortController()
        const { files: parts } = await images.export(fingerprint, { signal: controller.signal })
        controller.abort()
        const read = async () => {
          for await (const { content } of parts) for await (const _ of content);
        }
        await rejects(read(), 'cancelled')
        // Never begun, and nothing waits for it.
        await images.export(fingerprint)
        await images.delete(fingerprint)
        await rejects(images.export(fingerprint), 'not_found')
      })
    })

    describe('signals', () => {
      it('cancel every call whose signal was aborted before, without an effect', async () => {
        const options = { signal: AbortSignal.abort() }
        const name = await machine()
        const image = wanted()
        const calls: Promise<unknown>[] = [
          images.list(options),
          images.importFile({ alias: image.alias, metadataPath: files.unified }, options),
          images.delete(place.imageFingerprint, options),
          images.publish({ instance: name, snapshot: null }, image, options),
          images.published(image, options),
          images.setProperties(place.imageFingerprint, { description: 'x' }, options),
          images.export(place.imageFingerprint, options),
        ]
        const results = await Promise.allSettled(calls)
        expect(results.map((result) => (result.status === 'rejected' ? (result.reason as EngineError).kind : 'succeeded'))).toEqual(
          calls.map(() => 'cancelled'),
        )
        expect(await named(image.alias)).toEqual([])
        expect(await shown(place.imageFingerprint)).not.toMatchObject({ description: 'x' })
      })
      it('leave of a cancelled publication what can be asked for and taken away, and nothing after that', async () => {
        const name = await filled(noise('left'))
        const image = wanted()
        expect(await images.published(image)).toEqual([])
        const controller = new AbortController()
        await rejects(
          images.publish({ instance: name, snapshot: null }, image, { signal: controller.signal, onOperation: () => controller.abort() }),
          'cancelled',
        )
        const left = await images.published(image)
        expect((await madeFor(image)).map(({ fingerprint }) => fingerprint)).toEqual(left)
        for (const fingerprint of left) await images.delete(fingerprint)
        expect(await images.published(image)).toEqual([])
        const again = await images.publish({ instance: name, snapshot: null }, image)
        expect(await images.published(image)).toEqual([again])
        expect(await images.published({ ...image, tags: { owner: 'another' } })).toEqual([])
        await images.delete(again)
      })
      it('end in one image when a cancelled publication is asked for again', async () => {
        const content = noise('again')
        const name = await filled(content)
        const image = wanted()
        const controller = new AbortController()
        const first = images.publish({ instance: name, snapshot: null }, image, { signal: controller.signal, onOperation: () => controller.abort() })
        await rejects(first, 'cancelled')
        const fingerprint = await images.publish({ instance: name, snapshot: null }, image)
        expect(await madeFor(image)).toHaveLength(1)
        expect(await named(image.alias)).toMatchObject([{ fingerprint, tags }])
        expect(await sumIn(fingerprint)).toBe(sha256(content))
        await images.delete(fingerprint)
      })
    })
  })
}
