import { createHash } from 'node:crypto'
import { PassThrough, Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { CallOptions, ComputeEngine, InstanceType } from '../compute.ts'
import { EngineError } from '../errors.ts'
import type { Volume, VolumeSpec } from '../storage.ts'
import { rejects } from './rejects.ts'

/** What the suite has to know of an engine beforehand. */
export interface StorageTraits {
  type: InstanceType
  /** Begins the name of everything made here; whatever bears it is deleted before and after. */
  prefix: string
  /** Of a cluster, the member that everything is put on. */
  host?: string
  /** Instances are machines, with processes that use what is mounted. */
  machines: boolean
  place(engine: ComputeEngine): Promise<{ imageFingerprint: string; network: string; undo?: () => Promise<void> }>
  /** What an export or import leaves on the engine besides volumes, if it leaves something. */
  leftovers?: (volume: string) => Promise<string[]>
}

const mib = 2 ** 20
const patient = { timeout: 30_000, interval: 100 }
export const sha256 = (content: Buffer): string => createHash('sha256').update(content).digest('hex')
/** Bytes of all kinds, and never twice the same. */
export const noise = (seed: string): Buffer =>
  Buffer.concat(Array.from({ length: 64 }, (_, index) => createHash('sha512').update(`${seed} ${index} ${Math.random()}`).digest()))

/** The contract of `storage.ts`, put to an engine. */
export function storageConformance(title: string, makeEngine: () => ComputeEngine, traits: StorageTraits): void {
  describe(`${title} keeps the contract of storage`, () => {
    const engine = makeEngine()
    const { instances, storage } = engine
    const { volumes } = storage
    const { snapshots } = volumes
    const tags = { owner: 'conformance', volume_id: '1-ü 值' }
    let place: Awaited<ReturnType<StorageTraits['place']>>
    let pool: string
    let count = 0

    const on = traits.host === undefined ? {} : { host: traits.host }
    const spec = (changes: Partial<VolumeSpec> = {}): VolumeSpec => ({
      pool,
      volume: `${traits.prefix}${++count}`,
      content: 'filesystem',
      sizeBytes: 64 * mib,
      description: '数据盘',
      tags,
      ...on,
      ...changes,
    })
    /** What a volume that was made so says of itself. */
    const asTold = ({ host, ...one }: VolumeSpec) => ({ ...one, ...(host !== undefined && { location: host }) })
    const made = async (changes: Partial<VolumeSpec> = {}): Promise<VolumeSpec> => {
      const one = spec(changes)
      await volumes.create(one)
      return one
    }
    const machine = async (state: 'running' | 'stopped' = 'running', type: InstanceType = traits.type): Promise<string> => {
      const name = `${traits.prefix}i${++count}`
      await instances.create({
        name,
        type,
        imageFingerprint: place.imageFingerprint,
        cpuCores: 1,
        memoryBytes: 128 * mib,
        diskBytes: 512 * mib,
        network: place.network,
        tags,
        ...on,
      })
      if (state === 'running') await instances.start(name)
      return name
    }
    const at = (instance: string, changes: Partial<{ device: string; path: string | null }> = {}) => ({ instance, device: 'data', path: '/data', ...changes })
    const write = (instance: string, content: Buffer, path = '/data/file') => instances.writeFile(instance, { path, content, mode: 0o640, uid: 7, gid: 8 })
    const sumOf = async (instance: string, path = '/data/file') => sha256((await instances.exec(instance, { command: ['cat', path] })).stdout)
    const lies = async (instance: string, path: string) => (await instances.exec(instance, { command: ['cat', path] })).exitCode === 0
    const named = async (name: string): Promise<Volume[]> => (await volumes.list()).filter(({ volume }) => volume === name)
    /** Writes to a volume that is attached nowhere, by an instance made for it. */
    let writer: string
    const fill = async (one: VolumeSpec, content: Buffer): Promise<void> => {
      await volumes.attach(one, at(writer))
      await write(writer, content)
      await volumes.detach(one, at(writer))
    }
    const contentOf = async (one: VolumeSpec): Promise<string> => {
      await volumes.attach(one, at(writer))
      const sum = await sumOf(writer)
      await volumes.detach(one, at(writer))
      return sum
    }
    const nothingLeftOf = async (volume: string): Promise<void> => {
      await expect.poll(async () => (await traits.leftovers?.(volume)) ?? [], patient).toEqual([])
    }
    const nothingLeft = async (volume: string): Promise<void> => {
      expect(await named(volume)).toEqual([])
      await nothingLeftOf(volume)
    }
    const clear = async (): Promise<void> => {
      const ours = (await instances.list()).filter(({ name }) => name.startsWith(traits.prefix))
      await Promise.all(ours.map(({ name }) => instances.delete(name)))
      await Promise.all((await volumes.list()).filter(({ volume }) => volume.startsWith(traits.prefix)).map((one) => volumes.delete(one)))
    }

    beforeAll(async () => {
      await clear()
      place = await traits.place(engine)
      pool = (await storage.pools())[0]?.name ?? ''
      writer = await machine()
    })
    afterAll(async () => {
      await clear()
      await place.undo?.()
      await engine.close()
    })

    it('tells its pools, with what each member has', async () => {
      const pools = await storage.pools()
      expect(pools.length).toBeGreaterThan(0)
      for (const one of pools) {
        expect(one).toMatchObject({ name: expect.stringMatching(/./), driver: expect.stringMatching(/./), status: 'Created' })
        expect(one.totalBytes).toBeGreaterThan(0)
        expect(one.usedBytes).toBe(one.members.reduce((sum, { usedBytes }) => sum + usedBytes, 0))
        expect(one.totalBytes).toBe(one.members.reduce((sum, { totalBytes }) => sum + totalBytes, 0))
      }
    })

    describe('create', () => {
      it('makes what was asked for', async () => {
        const one = await made()
        expect(await volumes.get(one)).toMatchObject({ ...asTold(one), attached: [] })
        expect(await named(one.volume)).toMatchObject([{ ...asTold(one), attached: [] }])
        expect((await volumes.list(pool)).map(({ volume }) => volume)).toContain(one.volume)
      })
      it('succeeds without effect when asked again, also twice at a time', async () => {
        const one = spec()
        await Promise.all([
          volumes.create(one),
          volumes.create(one),
          volumes.create({ ...one, tags: Object.fromEntries(Object.entries(one.tags).toReversed()) }),
        ])
        await volumes.create({ ...one, sizeBytes: 128 * mib })
        expect(await named(one.volume)).toMatchObject([{ sizeBytes: one.sizeBytes }])
      })
      it('refuses the name of what bears other tags', async () => {
        const one = await made()
        for (const other of [{}, { owner: 'conformance' }, { ...tags, more: '1' }]) await rejects(volumes.create({ ...one, tags: other }), 'conflict')
        expect((await volumes.get(one))?.tags).toEqual(tags)
      })
      it.each<[string, Partial<VolumeSpec>, 'invalid' | 'not_found']>([
        ['a name', { volume: '-No name-' }, 'invalid'],
        ['a name with a slash', { volume: 'a/b' }, 'invalid'],
        ['a size', { sizeBytes: 0 }, 'invalid'],
        ['a size', { sizeBytes: 1.5 }, 'invalid'],
        ['a tag', { tags: { 'No-Key': '1' } }, 'invalid'],
        ['a pool', { pool: 'zs-no-pool' }, 'not_found'],
        ['a source', { copyOf: { volume: 'zs-no-volume' } }, 'not_found'],
      ])('refuses %s that cannot be', async (_, changes, kind) => {
        const one = spec(changes)
        await rejects(volumes.create(one), kind)
        await nothingLeft(one.volume)
      })
      it('gives the name to one of two owners at a time', async () => {
        const one = spec()
        const results = await Promise.allSettled([volumes.create({ ...one, tags: { owner: 'x' } }), volumes.create({ ...one, tags: { owner: 'y' } })])
        expect(results.map((result) => (result.status === 'fulfilled' ? 'made' : (result.reason as EngineError).kind)).sort()).toEqual(['conflict', 'made'])
      })
    })

    describe('grow', () => {
      it.each(['detached', 'attached'])('enlarges one that is %s, as often as it is asked, and keeps the data', async (state) => {
        const one = await made()
        const content = noise('grow')
        await fill(one, content)
        if (state === 'attached') await volumes.attach(one, at(writer))
        await volumes.grow(one, 128 * mib)
        await volumes.grow(one, 128 * mib)
        expect(await volumes.get(one)).toMatchObject({ sizeBytes: 128 * mib, description: one.description, tags })
        if (state === 'attached') await volumes.detach(one, at(writer))
        expect(await contentOf(one)).toBe(sha256(content))
      })
      it('does not shrink, and grows nothing that is not there', async () => {
        const one = await made()
        await rejects(volumes.grow(one, one.sizeBytes - 1), 'invalid')
        expect((await volumes.get(one))?.sizeBytes).toBe(one.sizeBytes)
        await rejects(volumes.grow(spec(), mib), 'not_found')
      })
    })

    describe('attach and detach', () => {
      it.each(['running', 'stopped'] as const)('carry data from one %s instance to another', async (state) => {
        const one = await made()
        const [first, second] = await Promise.all([machine(state), machine(state)])
        const content = noise('carry')
        await volumes.attach(one, at(first))
        expect((await volumes.get(one))?.attached).toEqual([{ instance: first, device: 'data', path: '/data' }])
        expect((await named(one.volume))[0]?.attached).toEqual([{ instance: first, device: 'data', path: '/data' }])
        if (state === 'stopped') await instances.start(first)
        await write(first, content)
        if (state === 'stopped') await instances.stop(first, { force: true })
        await volumes.detach(one, at(first))
        expect((await volumes.get(one))?.attached).toEqual([])
        if (state === 'stopped') await instances.start(first)
        expect(await lies(first, '/data/file')).toBe(false)
        await volumes.attach(one, at(second, { device: 'other', path: '/mnt/deep/er' }))
        if (state === 'stopped') await instances.start(second)
        expect(await sumOf(second, '/mnt/deep/er/file')).toBe(sha256(content))
        expect((await instances.exec(second, { command: ['stat', '-c', '%a %u %g', '/mnt/deep/er/file'] })).stdout.toString()).toBe('640 7 8\n')
      })
      it('succeed without effect when asked again, also twice at a time', async () => {
        const one = await made()
        const name = await machine()
        await Promise.all([volumes.attach(one, at(name)), volumes.attach(one, at(name))])
        await volumes.attach(one, at(name))
        expect((await volumes.get(one))?.attached).toHaveLength(1)
        await Promise.all([volumes.detach(one, at(name)), volumes.detach(one, at(name))])
        await volumes.detach(one, at(name))
        expect((await volumes.get(one))?.attached).toEqual([])
      })
      it('lose nothing of what else is changed on the instance at the time', async () => {
        const name = await machine()
        const all = await Promise.all([made(), made(), made()])
        const places = all.map((_, index) => at(name, { device: `d${index}`, path: `/d${index}` }))
        const size = { cpuCores: 2, memoryBytes: 256 * mib, diskBytes: 512 * mib }
        await Promise.all([...all.map((one, index) => volumes.attach(one, places[index] ?? at(name))), instances.resize(name, size)])
        for (const one of all) expect((await volumes.get(one))?.attached).toHaveLength(1)
        const had = all.map(({ volume }, index) => ({ pool, volume, device: `d${index}`, path: `/d${index}` }))
        expect((await volumes.attachedTo(name)).sort((one, other) => (one.device < other.device ? -1 : 1))).toEqual(had)
        expect(await instances.get(name)).toMatchObject({ ...size, power: 'running', tags, nic: { network: place.network } })
        await Promise.all(all.map((one, index) => volumes.detach(one, places[index] ?? at(name))))
        for (const one of all) expect((await volumes.get(one))?.attached).toEqual([])
        expect(await volumes.attachedTo(name)).toEqual([])
        expect(await instances.get(name)).toMatchObject({ ...size, power: 'running', tags, nic: { network: place.network } })
      })
      it('refuse a device, a path and a volume that is taken, and change nothing', async () => {
        const [one, other] = await Promise.all([made(), made()])
        const name = await machine('stopped')
        await volumes.attach(one, at(name))
        await rejects(volumes.attach(one, at(name, { device: 'again', path: '/again' })), 'conflict')
        await rejects(volumes.attach(one, at(name, { path: '/elsewhere' })), 'conflict')
        await rejects(volumes.attach(other, at(name, { path: '/other' })), 'conflict')
        await rejects(volumes.attach(other, at(name, { device: 'other' })), 'conflict')
        for (const device of ['root', 'eth0']) await rejects(volumes.attach(other, at(name, { device, path: '/other' })), 'conflict')
        expect((await volumes.get(one))?.attached).toEqual([{ instance: name, device: 'data', path: '/data' }])
        expect((await volumes.get(other))?.attached).toEqual([])
      })
      it.each([null, '', '/', 'data', '/data/', '/a//b', '/a/../b', '/a/.'])('refuse the path %j', async (path) => {
        const one = await made()
        await rejects(volumes.attach(one, at(writer, { path })), 'invalid')
        expect((await volumes.get(one))?.attached).toEqual([])
      })
      it.each(['', 'No', '1a', 'a_b', 'a'.repeat(28)])('refuse the device name %j', async (device) => {
        const one = await made()
        await rejects(volumes.attach(one, at(writer, { device })), 'invalid')
      })
      it('say what is not there', async () => {
        const one = await made()
        await rejects(volumes.attach(spec(), at(writer)), 'not_found')
        await rejects(volumes.attach(one, at(`${traits.prefix}absent`)), 'not_found')
        await volumes.detach(one, at(`${traits.prefix}absent`))
        await volumes.detach(spec(), at(writer))
        expect(await volumes.attachedTo(`${traits.prefix}absent`)).toEqual([])
        await volumes.detach(one, at(writer, { device: 'eth0' }))
        expect(await instances.get(writer)).toMatchObject({ nic: { network: place.network } })
      })
      it('give disks to virtual machines only, and to one at a time', async () => {
        const block = await made({ content: 'block' })
        if (traits.type === 'container') return rejects(volumes.attach(block, at(writer, { path: null })), 'invalid')
        const [first, second] = await Promise.all([machine(), machine()])
        await rejects(volumes.attach(block, at(first)), 'invalid')
        await volumes.attach(block, at(first, { path: null }))
        expect((await volumes.get(block))?.attached).toEqual([{ instance: first, device: 'data', path: null }])
        await rejects(volumes.attach(block, at(second, { path: null })), 'busy')
        await volumes.detach(block, at(first))
        await volumes.attach(block, at(second, { path: null }))
      })
      it('outlive the instance', async () => {
        const one = await made()
        const content = noise('outlive')
        const name = await machine()
        await volumes.attach(one, at(name))
        await write(name, content)
        await instances.delete(name)
        expect((await volumes.get(one))?.attached).toEqual([])
        expect(await contentOf(one)).toBe(sha256(content))
      })

      if (traits.machines) {
        it.each<[string, readonly [string, ...string[]], string]>([
          ['works in it', ['sleep', '4242'], '/data'],
          ['has a file of it open', ['sh', '-c', 'exec sleep 4242 </data/file'], '/'],
          ['has a file of it open that was deleted', ['sh', '-c', 'exec 3</data/file; rm /data/file; exec sleep 4242'], '/'],
          ['runs a program from it', ['/data/busybox', 'sleep', '4242'], '/'],
        ])('leave a volume attached while a process %s', async (_, command, cwd) => {
          const one = await made()
          const name = await machine()
          await volumes.attach(one, at(name))
          await instances.exec(name, { command: ['sh', '-c', 'echo x >/data/file; cp /bin/busybox /data/busybox'] })
          const controller = new AbortController()
          const process = instances.exec(name, { command, cwd }, { signal: controller.signal }).catch(() => undefined)
          await expect.poll(async () => (await instances.exec(name, { command: ['ps', '-o', 'args'] })).stdout.toString(), patient).toContain('sleep 4242')
          await rejects(volumes.detach(one, at(name)), 'busy')
          expect((await volumes.get(one))?.attached).toHaveLength(1)
          controller.abort()
          await process
          await expect.poll(async () => (await instances.exec(name, { command: ['ps', '-o', 'args'] })).stdout.toString(), patient).not.toContain('sleep 4242')
          await volumes.detach(one, at(name))
          expect((await volumes.get(one))?.attached).toEqual([])
        })
        it('leave a volume attached that another is mounted in, and tell neighbours apart', async () => {
          const [outer, inner, neighbour] = await Promise.all([made(), made(), made()])
          const name = await machine()
          await volumes.attach(outer, at(name))
          await volumes.attach(inner, at(name, { device: 'inner', path: '/data/inner' }))
          await volumes.attach(neighbour, at(name, { device: 'neighbour', path: '/data2' }))
          await rejects(volumes.detach(outer, at(name)), 'busy')
          await volumes.detach(inner, at(name, { device: 'inner' }))
          const process = instances.exec(name, { command: ['sleep', '4243'], cwd: '/data2' }).catch(() => undefined)
          await expect.poll(async () => (await instances.exec(name, { command: ['ps', '-o', 'args'] })).stdout.toString(), patient).toContain('sleep 4243')
          await volumes.detach(outer, at(name))
          await rejects(volumes.detach(neighbour, at(name, { device: 'neighbour' })), 'busy')
          await volumes.detach(neighbour, { ...at(name, { device: 'neighbour' }), force: true })
          expect((await volumes.get(neighbour))?.attached).toEqual([])
          await instances.delete(name)
          await process
        })
      }
    })

    describe('delete', () => {
      it('deletes as often as it is asked, with snapshots, and frees the name', async () => {
        const one = await made()
        await snapshots.create(one, 's-1')
        await Promise.all([volumes.delete(one), volumes.delete(one)])
        expect(await volumes.get(one)).toBeNull()
        await nothingLeft(one.volume)
        await volumes.delete(one)
        await volumes.create({ ...one, tags: { owner: 'next' } })
        expect(await snapshots.list(one)).toEqual([])
      })
      it('leaves what is attached', async () => {
        const one = await made()
        await volumes.attach(one, at(writer))
        await rejects(volumes.delete(one), 'busy')
        expect((await volumes.get(one))?.attached).toHaveLength(1)
        await volumes.detach(one, at(writer))
      })
    })

    describe('snapshots', () => {
      it('set a volume back, as often as it is asked', async () => {
        const one = await made()
        const [then, later] = [noise('then'), noise('later')]
        await fill(one, then)
        await snapshots.create(one, 'then')
        await snapshots.create(one, 'then')
        await fill(one, later)
        expect(await contentOf(one)).toBe(sha256(later))
        await snapshots.create(one, 'later')
        expect((await snapshots.list(one)).map(({ name }) => name).sort()).toEqual(['later', 'then'])
        await snapshots.restore(one, 'then')
        await snapshots.restore(one, 'then')
        expect(await contentOf(one)).toBe(sha256(then))
        expect(await volumes.get(one)).toMatchObject({ ...asTold(one), attached: [] })
        await snapshots.delete(one, 'then')
        await snapshots.delete(one, 'then')
        expect((await snapshots.list(one)).map(({ name }) => name)).toEqual(['later'])
        expect(await named(one.volume)).toHaveLength(1)
      })
      it('leave files to their owners, also from before the volume was first attached', async () => {
        const one = await made()
        await snapshots.create(one, 'empty')
        await fill(one, noise('owner'))
        await snapshots.restore(one, 'empty')
        const content = noise('owner again')
        await fill(one, content)
        await snapshots.create(one, 'full')
        await snapshots.restore(one, 'empty')
        await snapshots.restore(one, 'full')
        await volumes.attach(one, at(writer))
        expect((await instances.exec(writer, { command: ['stat', '-c', '%a %u %g', '/data/file'] })).stdout.toString()).toBe('640 7 8\n')
        expect(await sumOf(writer)).toBe(sha256(content))
        await volumes.detach(one, at(writer))
      })
      it('bear two of the same request at a time', async () => {
        const one = await made()
        await Promise.all([snapshots.create(one, 'twice'), snapshots.create(one, 'twice')])
        expect(await snapshots.list(one)).toHaveLength(1)
        await Promise.all([snapshots.delete(one, 'twice'), snapshots.delete(one, 'twice')])
        expect(await snapshots.list(one)).toEqual([])
      })
      it('are not put back under a running instance where the driver cannot', async () => {
        const one = await made()
        const { restoresInUse } = (await storage.pools())[0] ?? {}
        await volumes.attach(one, at(writer))
        await write(writer, noise('first'))
        await snapshots.create(one, 'first')
        const second = noise('second')
        await write(writer, second)
        if (restoresInUse === true) await snapshots.restore(one, 'first')
        else {
          await rejects(snapshots.restore(one, 'first'), 'busy')
          expect(await sumOf(writer)).toBe(sha256(second))
        }
        await volumes.detach(one, at(writer))
      })
      it('say what is not there, and what is no name', async () => {
        const one = await made()
        const absent = spec()
        await rejects(snapshots.list(absent), 'not_found')
        await rejects(snapshots.create(absent, 'snap'), 'not_found')
        await rejects(snapshots.restore(absent, 'snap'), 'not_found')
        await rejects(snapshots.restore(one, 'snap'), 'not_found')
        await snapshots.delete(absent, 'snap')
        for (const name of ['', 'a', 'No', 'a/b', 'a_b', '-a']) await rejects(snapshots.create(one, name), 'invalid')
        expect(await snapshots.list(one)).toEqual([])
      })
    })

    describe('copies', () => {
      it.each([undefined, 'then'])('hold what the source held (snapshot %s), and nothing else of it', async (snapshot) => {
        const source = await made({ description: 'of the source', tags: { owner: 'source', secret: '1' } })
        const [then, now] = [noise('then'), noise('now')]
        await fill(source, then)
        await snapshots.create(source, 'then')
        await fill(source, now)
        const copy = spec({ sizeBytes: 128 * mib, description: '', copyOf: { volume: source.volume, ...(snapshot !== undefined && { snapshot }) } })
        await Promise.all([volumes.create(copy), volumes.create(copy)])
        await volumes.create(copy)
        const { copyOf: _, ...whole } = copy
        const wanted = asTold(whole)
        expect(await volumes.get(copy)).toMatchObject({ ...wanted, attached: [] })
        expect((await volumes.get(copy))?.tags).toEqual(tags)
        expect(await snapshots.list(copy)).toEqual([])
        expect(await contentOf(copy)).toBe(sha256(snapshot === undefined ? now : then))
        await volumes.delete(source)
        expect(await contentOf(copy)).toBe(sha256(snapshot === undefined ? now : then))
      })
      it('refuse what cannot be, and leave nothing', async () => {
        const source = await made()
        for (const [changes, kind] of [
          [{ sizeBytes: mib }, 'invalid'],
          [{ content: 'block' }, 'invalid'],
          [{ copyOf: { volume: source.volume, snapshot: 'absent' } }, 'not_found'],
        ] as const) {
          const copy = spec({ copyOf: { volume: source.volume }, ...changes })
          await rejects(volumes.create(copy), kind)
          await nothingLeft(copy.volume)
        }
      })
    })

    describe('export and import', () => {
      it('carry data over a deletion, under another name, with other tags', async () => {
        const one = await made({ description: 'before', tags: { owner: 'before', secret: '1' } })
        const content = noise('export')
        await fill(one, content)
        await snapshots.create(one, 'not-exported')
        const backup = await buffer(await volumes.export(one))
        await nothingLeftOf(one.volume)
        await volumes.delete(one)
        const next = spec({ description: 'after' })
        const { pool: into, volume, description } = next
        await volumes.import({ pool: into, volume, description, tags, ...on }, Readable.from(backup))
        expect(await volumes.get(next)).toMatchObject({ volume, description: 'after', content: 'filesystem', attached: [] })
        expect((await volumes.get(next))?.tags).toEqual(tags)
        expect(await snapshots.list(next)).toEqual([])
        expect(await contentOf(next)).toBe(sha256(content))
        // Asked again, it is there; the stream is not left hanging.
        const again = Readable.from(backup)
        await volumes.import({ pool: into, volume, description, tags, ...on }, again)
        expect(again.destroyed).toBe(true)
        expect(await named(volume)).toHaveLength(1)
        await rejects(volumes.import({ pool: into, volume, description, tags: { owner: 'another' } }, Readable.from(backup)), 'conflict')
      })
      it('make one volume of two imports at a time', async () => {
        const one = await made()
        await fill(one, noise('twice'))
        const backup = await buffer(await volumes.export(one))
        const next = spec()
        await Promise.all([volumes.import(next, Readable.from(backup)), volumes.import(next, Readable.from(backup))])
        expect(await named(next.volume)).toHaveLength(1)
        await nothingLeftOf(next.volume)
      })
      it('export two at a time', async () => {
        const one = await made()
        await fill(one, noise('two'))
        const both = await Promise.all([volumes.export(one).then(buffer), volumes.export(one).then(buffer)])
        for (const [index, backup] of both.entries()) {
          const next = spec()
          await volumes.import(next, Readable.from(backup))
          expect([index, await contentOf(next)]).toEqual([index, await contentOf(one)])
        }
        await nothingLeftOf(one.volume)
      })
      it.each(['cut by the reader', 'cut by the signal', 'never read'])('leave nothing of an export that is %s', async (how) => {
        const one = await made()
        await fill(one, noise('cut'))
        const controller = new AbortController()
        const stream = await volumes.export(one, { signal: controller.signal })
        if (how === 'cut by the signal') {
          controller.abort()
          await expect(buffer(stream)).rejects.toMatchObject({ kind: 'cancelled' })
        } else if (how === 'cut by the reader') {
          for await (const _ of stream) break
        }
        stream.destroy()
        await nothingLeftOf(one.volume)
        await volumes.delete(one)
      })
      it('leave nothing of what is no backup, or breaks off', async () => {
        const broken = (): Readable => {
          const stream = new PassThrough()
          stream.write(Buffer.alloc(1000, 'x'), () => stream.destroy(new Error('the line was cut')))
          return stream
        }
        const contents: (() => Readable)[] = [
          () => Readable.from(Buffer.alloc(100_000, 'no backup')),
          () => Readable.from([]),
          () => Readable.from(noise('nonsense')),
          broken,
        ]
        for (const content of contents) {
          const next = spec()
          const stream = content()
          await rejects(volumes.import(next, stream), 'invalid')
          expect(stream.destroyed).toBe(true)
          await nothingLeft(next.volume)
        }
        await rejects(volumes.export(spec()), 'not_found')
        await rejects(volumes.import(spec({ volume: 'No name' }), broken()), 'invalid')
        await rejects(volumes.import(spec({ pool: 'zs-no-pool' }), Readable.from(noise('x'))), 'not_found', 'invalid')
      })
    })

    describe('signals', () => {
      it('cancel every call whose signal was aborted before, without an effect', async () => {
        const one = await made()
        await snapshots.create(one, 'there')
        const options = { signal: AbortSignal.abort() }
        const other = spec()
        const stream = Readable.from(noise('x'))
        const calls: Promise<unknown>[] = [
          storage.pools(options),
          volumes.list(undefined, options),
          volumes.get(one, options),
          volumes.create(other, options),
          volumes.create({ ...other, copyOf: { volume: one.volume } }, options),
          volumes.grow(one, 128 * mib, options),
          volumes.delete(one, options),
          volumes.attach(one, at(writer), options),
          volumes.detach(one, at(writer), options),
          volumes.attachedTo(writer, options),
          volumes.export(one, options),
          volumes.import(other, stream, options),
          snapshots.list(one, options),
          snapshots.create(one, 'other', options),
          snapshots.restore(one, 'there', options),
          snapshots.delete(one, 'there', options),
        ]
        const results = await Promise.allSettled(calls)
        expect(results.map((result) => (result.status === 'rejected' ? (result.reason as EngineError).kind : 'succeeded'))).toEqual(
          calls.map(() => 'cancelled'),
        )
        expect(await volumes.get(other)).toBeNull()
        expect(await volumes.get(one)).toMatchObject({ sizeBytes: one.sizeBytes, attached: [] })
        expect((await snapshots.list(one)).map(({ name }) => name)).toEqual(['there'])
        expect(stream.destroyed).toBe(true)
      })
      it('end in the state asked for when a cancelled change is asked for again', async () => {
        const one = await made()
        const content = noise('again')
        await fill(one, content)
        await snapshots.create(one, 'source')
        const backup = await buffer(await volumes.export(one))
        const again = async (call: (options: CallOptions) => Promise<unknown>) => {
          const controller = new AbortController()
          await call({ signal: controller.signal, onOperation: () => controller.abort() }).catch((error: unknown) => {
            expect(error).toMatchObject({ kind: 'cancelled' })
          })
          await call({})
        }
        const copy = spec({ copyOf: { volume: one.volume, snapshot: 'source' } })
        await again((options) => volumes.create(copy, options))
        expect(await named(copy.volume)).toMatchObject([{ tags }])
        expect(await contentOf(copy)).toBe(sha256(content))
        const next = spec()
        await again((options) => volumes.import(next, Readable.from(backup), options))
        expect(await named(next.volume)).toMatchObject([{ tags }])
        expect(await contentOf(next)).toBe(sha256(content))
        await again((options) => snapshots.create(one, 'again', options))
        expect((await snapshots.list(one)).map(({ name }) => name).sort()).toEqual(['again', 'source'])
        await again((options) => snapshots.restore(one, 'again', options))
        await again((options) => volumes.attach(one, at(writer), options))
        expect((await volumes.get(one))?.attached).toHaveLength(1)
        await again((options) => volumes.detach(one, at(writer), options))
        expect((await volumes.get(one))?.attached).toEqual([])
        await again((options) => volumes.export(one, options).then((stream) => void stream.destroy()))
        await again((options) => snapshots.delete(one, 'again', options))
        await again((options) => volumes.delete(one, options))
        expect(await volumes.get(one)).toBeNull()
        for (const { volume } of [one, copy, next]) await nothingLeftOf(volume)
      })
    })
  })
}
