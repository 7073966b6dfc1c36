import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ComputeEngine, EngineEvent, InstanceSpec, InstanceType } from './compute.ts'
import { commandsConform } from './conformance/commands.ts'
import { rejects } from './conformance/rejects.ts'
import { EngineError } from './errors.ts'

/** What the suite has to know of an engine beforehand. */
export interface Traits {
  /** The type of instance to make. */
  type: InstanceType
  /** Begins the name of every instance made here; whatever bears it is deleted before and after. */
  prefix: string
  /** Instances are machines with a kernel, processes and files, not a pretence. */
  machines: boolean
  /** An image whose instances have a busybox or better, and a network for them. */
  place(engine: ComputeEngine): Promise<{ imageFingerprint: string; network: string; undo?: () => Promise<void> }>
  /** Files of two small images, the first unified, the second split; for engines that import. */
  imageFiles?: () => Promise<{ unified: string; split: { metadataPath: string; rootfsPath: string }; undo: () => Promise<void> }>
}

const mib = 2 ** 20
const gib = 2 ** 30

const patient = { timeout: 30_000, interval: 100 }

/** The contract of `compute.ts`, put to an engine. */
export function conformance(title: string, makeEngine: () => ComputeEngine, traits: Traits): void {
  describe(`${title} keeps the contract of compute engines`, () => {
    const engine = makeEngine()
    const { instances } = engine
    let place: Awaited<ReturnType<Traits['place']>>
    let count = 0

    const spec = (changes: Partial<InstanceSpec> = {}): InstanceSpec => ({
      name: `${traits.prefix}${++count}`,
      type: traits.type,
      imageFingerprint: place.imageFingerprint,
      cpuCores: 1,
      memoryBytes: 256 * mib,
      diskBytes: gib,
      network: place.network,
      tags: { owner: 'conformance' },
      ...changes,
    })
    const made = async (changes: Partial<InstanceSpec> = {}): Promise<string> => {
      const one = spec(changes)
      await instances.create(one)
      return one.name
    }
    const running = async (changes: Partial<InstanceSpec> = {}): Promise<string> => {
      const name = await made(changes)
      await instances.start(name)
      return name
    }
    const powerOf = async (name: string) => (await instances.get(name))?.power
    const named = async (name: string) => (await instances.list()).filter((one) => one.name === name)
    const run = async (name: string, ...command: [string, ...string[]]) => {
      const result = await instances.exec(name, { command })
      return { code: result.exitCode, out: result.stdout.toString(), err: result.stderr.toString() }
    }
    const clear = async (): Promise<void> => {
      const ours = (await instances.list()).filter((one) => one.name.startsWith(traits.prefix))
      await Promise.all(ours.map((one) => instances.delete(one.name)))
    }

    beforeAll(async () => {
      await clear()
      place = await traits.place(engine)
    })
    afterAll(async () => {
      await clear()
      await place.undo?.()
      await engine.close()
    })

    describe('what it is', () => {
      it('names itself and says what it can run, and why not where it cannot', async () => {
        const info = await engine.info()
        expect(info.product).not.toBe('')
        expect(info.version).not.toBe('')
        expect(info.hostName).not.toBe('')
        expect(info.instanceTypes[traits.type]).toEqual({ available: true })
        for (const [type, availability] of Object.entries(info.instanceTypes)) {
          if (availability.available) continue
          expect(availability.reason).toMatch(/\w+ \w+/)
          await rejects(instances.create(spec({ type: type as InstanceType })), 'unsupported')
        }
      })
      it('counts capacity, with what is promised to instances', async () => {
        await made({ cpuCores: 1 })
        const capacity = await engine.capacity()
        expect(capacity.nodes).toBeGreaterThan(0)
        for (const part of [capacity.cpuCores, capacity.memoryBytes, capacity.diskBytes]) {
          expect(part.total).toBeGreaterThan(0)
          expect(part.used).toBeGreaterThanOrEqual(0)
        }
        expect(capacity.cpuCores.used).toBeGreaterThanOrEqual(1)
        expect(capacity.memoryBytes.used).toBeGreaterThanOrEqual(256 * mib)
      })
      it('lists its networks', async () => {
        const network = (await engine.networks.list()).find((one) => one.name === place.network)
        expect(network).toMatchObject({ managed: true, ipv4: expect.stringMatching(/^\d+\.\d+\.\d+\.\d+\/\d+$/) })
      })
      it('lists its images', async () => {
        const image = (await engine.images.list()).find((one) => one.fingerprint === place.imageFingerprint)
        expect(image).toMatchObject({ type: traits.type, name: expect.stringMatching(/./), architecture: expect.stringMatching(/./) })
        expect(image?.sizeBytes).toBeGreaterThan(0)
      })
    })

    describe('create', () => {
      it('makes what was asked for, and does not start it', async () => {
        const name = await made({ cpuCores: 2, memoryBytes: 300 * mib, diskBytes: 2 * gib, tags: { owner: 'conformance', vm_id: '1-ü 值' } })
        expect(await instances.get(name)).toMatchObject({
          name,
          type: traits.type,
          power: 'stopped',
          cpuCores: 2,
          memoryBytes: 300 * mib,
          diskBytes: 2 * gib,
          tags: { owner: 'conformance', vm_id: '1-ü 值' },
          addresses: [],
        })
        const { createdAt } = (await instances.get(name)) ?? {}
        expect(createdAt).toBeInstanceOf(Date)
        expect(await named(name)).toHaveLength(1)
      })
      it('succeeds without effect when asked again, whatever the order of the tags', async () => {
        const one = spec({ tags: { a: '1', b: '2' } })
        await instances.create(one)
        await instances.start(one.name)
        await instances.create({ ...one, tags: { b: '2', a: '1' } })
        expect(await powerOf(one.name)).toBe('running')
      })
      it.each([{ owner: 'another' }, {}, { owner: 'conformance', more: '1' }])('refuses the name of what bears other tags than %j', async (tags) => {
        const one = spec()
        await instances.create(one)
        await rejects(instances.create({ ...one, tags: tags as Record<string, string> }), 'conflict')
        expect((await instances.get(one.name))?.tags).toEqual(one.tags)
      })
      it('makes one instance of two requests at a time', async () => {
        const one = spec()
        await Promise.all([instances.create(one), instances.create(one), instances.create(one)])
        expect(await named(one.name)).toHaveLength(1)
        await instances.start(one.name)
      })
      it('gives the name to one of two owners at a time', async () => {
        const one = spec()
        const results = await Promise.allSettled([instances.create({ ...one, tags: { owner: 'x' } }), instances.create({ ...one, tags: { owner: 'y' } })])
        expect(results.map((result) => (result.status === 'fulfilled' ? 'made' : (result.reason as EngineError).kind)).sort()).toEqual(['conflict', 'made'])
      })
      it('refuses an image, a network and a name that cannot be', async () => {
        const one = spec()
        await rejects(instances.create({ ...one, imageFingerprint: 'f'.repeat(64) }), 'not_found')
        await rejects(instances.create({ ...one, network: 'zsnonet0' }), 'not_found', 'invalid')
        await rejects(instances.create({ ...one, name: '-Not a name-' }), 'invalid')
        expect(await instances.get(one.name)).toBeNull()
      })
    })

    describe('power', () => {
      it('starts, stops and restarts, each as often as it is asked', async () => {
        const name = await made()
        await instances.start(name)
        await instances.start(name)
        expect(await powerOf(name)).toBe('running')
        // An init that has said nothing yet does not hear either that it is to shut down.
        const booted = () => expect.poll(() => instances.consoleLog(name), patient).not.toBe('')
        await booted()
        await instances.restart(name)
        expect(await powerOf(name)).toBe('running')
        await booted()
        await instances.stop(name)
        await instances.stop(name)
        expect(await powerOf(name)).toBe('stopped')
        await instances.restart(name)
        expect(await powerOf(name)).toBe('running')
        await instances.restart(name, { force: true })
        expect(await powerOf(name)).toBe('running')
        await instances.stop(name, { force: true })
        await instances.stop(name, { force: true })
        expect(await powerOf(name)).toBe('stopped')
      })
      it('bears two of the same request at a time', async () => {
        const name = await made()
        await Promise.all([instances.start(name), instances.start(name)])
        expect(await powerOf(name)).toBe('running')
        await Promise.all([instances.stop(name, { force: true }), instances.stop(name, { force: true })])
        expect(await powerOf(name)).toBe('stopped')
      })
      it('tells addresses and usage of what runs, and neither of what does not', async () => {
        const name = await running()
        await expect.poll(async () => (await instances.get(name))?.addresses.length, patient).toBeGreaterThan(0)
        const [address] = (await instances.get(name))?.addresses ?? []
        expect(address).toMatchObject({ family: 4, interface: 'eth0', network: place.network, address: expect.stringMatching(/^\d+\.\d+\.\d+\.\d+$/) })
        const usageOf = async () => (await instances.usage()).find((one) => one.name === name)
        const first = await usageOf()
        expect(first).toMatchObject({ name, takenAt: expect.any(Date) })
        expect(first?.memoryBytes).toBeGreaterThan(0)
        expect(first?.processes).toBeGreaterThan(0)
        const second = await usageOf()
        expect(second?.cpuSeconds).toBeGreaterThanOrEqual(first?.cpuSeconds ?? Infinity)
        expect(second?.networkReceivedBytes).toBeGreaterThanOrEqual(first?.networkReceivedBytes ?? Infinity)
        await instances.stop(name, { force: true })
        expect((await instances.get(name))?.addresses).toEqual([])
        expect(await usageOf()).toBeUndefined()
      })
      it('keeps what the console printed since the start', async () => {
        const name = await made()
        expect(await instances.consoleLog(name)).toBe('')
        await instances.start(name)
        await expect.poll(() => instances.consoleLog(name), patient).toContain(traits.machines ? 'is up' : name)
      })
    })

    describe('resize', () => {
      it.each(['stopped', 'running'])('changes limits of a %s instance, as often as it is asked', async (state) => {
        const name = state === 'running' ? await running() : await made()
        const size = { cpuCores: 2, memoryBytes: 512 * mib, diskBytes: 3 * gib }
        await instances.resize(name, size)
        await instances.resize(name, size)
        expect(await instances.get(name)).toMatchObject({ ...size, power: state, tags: { owner: 'conformance' } })
      })
      it('does not shrink the disk', async () => {
        const name = await made({ diskBytes: 2 * gib })
        await rejects(instances.resize(name, { cpuCores: 2, memoryBytes: 512 * mib, diskBytes: 2 * gib - 1 }), 'invalid')
        expect(await instances.get(name)).toMatchObject({ cpuCores: 1, memoryBytes: 256 * mib, diskBytes: 2 * gib })
      })
    })

    describe('what the guest calls itself', () => {
      it('is the name that was asked for, from its first start on and after a rebuild; else the engine’s', async () => {
        expect((await run(await running(), 'hostname')).out.trim()).toMatch(new RegExp(`^${traits.prefix}`))
        const name = await running({ hostname: 'web-1' })
        expect((await run(name, 'hostname')).out.trim()).toBe('web-1')
        await instances.describe(name, '网站')
        expect((await run(name, 'hostname')).out.trim()).toBe('web-1')
        await instances.stop(name, { force: true })
        await instances.rebuild(name, { imageFingerprint: place.imageFingerprint, hostname: 'web-2' })
        await instances.start(name)
        expect((await run(name, 'hostname')).out.trim()).toBe('web-2')
      })
    })

    describe('rebuild', () => {
      it('gives a fresh disk and keeps name, tags, limits and network', async () => {
        const name = await running({ cpuCores: 2, diskBytes: 2 * gib })
        await expect.poll(async () => (await instances.get(name))?.addresses.length, patient).toBeGreaterThan(0)
        const before = await instances.get(name)
        await instances.writeFile(name, { path: '/root/mark', content: Buffer.from('old'), mode: 0o600 })
        await instances.stop(name, { force: true })
        await instances.rebuild(name, { imageFingerprint: place.imageFingerprint })
        await instances.rebuild(name, { imageFingerprint: place.imageFingerprint })
        expect(await named(name)).toHaveLength(1)
        expect(await powerOf(name)).toBe('stopped')
        await instances.start(name)
        expect((await run(name, 'cat', '/root/mark')).code).toBe(1)
        await expect.poll(async () => (await instances.get(name))?.addresses.length, patient).toBeGreaterThan(0)
        const after = await instances.get(name)
        expect({ ...after, createdAt: null }).toEqual({ ...before, createdAt: null })
      })
      it('refuses what runs, and an image that it does not have, and harms neither', async () => {
        const name = await running()
        await rejects(instances.rebuild(name, { imageFingerprint: place.imageFingerprint }), 'invalid')
        expect(await powerOf(name)).toBe('running')
        await instances.stop(name, { force: true })
        await rejects(instances.rebuild(name, { imageFingerprint: 'f'.repeat(64) }), 'not_found')
        expect(await powerOf(name)).toBe('stopped')
        await instances.start(name)
      })
      it('touches no other instance', async () => {
        const name = await made()
        const neighbour = await made({ name: `${name}-new`, tags: { owner: 'somebody' } })
        await instances.rebuild(name, { imageFingerprint: place.imageFingerprint })
        expect(await instances.get(neighbour)).toMatchObject({ tags: { owner: 'somebody' } })
      })
    })

    describe('delete', () => {
      it('deletes what runs, as often as it is asked, and two at a time', async () => {
        const name = await running()
        await Promise.all([instances.delete(name), instances.delete(name)])
        expect(await instances.get(name)).toBeNull()
        expect(await named(name)).toEqual([])
        await instances.delete(name)
      })
      it('frees the name', async () => {
        const one = spec()
        await instances.create(one)
        await instances.delete(one.name)
        await instances.create({ ...one, tags: { owner: 'next' } })
        expect((await instances.get(one.name))?.tags).toEqual({ owner: 'next' })
      })
    })

    commandsConform({ instances, machines: traits.machines, running, run })

    describe('what is not there, or not so', () => {
      const absent = `${traits.prefix}absent`
      const calls: Record<string, () => Promise<unknown>> = {
        start: () => instances.start(absent),
        stop: () => instances.stop(absent),
        'stop by force': () => instances.stop(absent, { force: true }),
        restart: () => instances.restart(absent),
        resize: () => instances.resize(absent, { cpuCores: 1, memoryBytes: 256 * mib, diskBytes: gib }),
        rebuild: () => instances.rebuild(absent, { imageFingerprint: place.imageFingerprint }),
        exec: () => instances.exec(absent, { command: ['true'] }),
        writeFile: () => instances.writeFile(absent, { path: '/x', content: Buffer.from('x'), mode: 0o600 }),
        consoleLog: () => instances.consoleLog(absent),
        terminal: () => instances.terminal(absent, { command: ['sh'], columns: 80, rows: 24 }),
      }
      it.each(Object.entries(calls))('%s says that there is no such instance', async (_, call) => {
        await rejects(call(), 'not_found')
      })
      it('get answers null', async () => {
        expect(await instances.get(absent)).toBeNull()
      })
      it('refuses to run anything in a stopped instance', async () => {
        const name = await made()
        await rejects(instances.exec(name, { command: ['true'] }), 'invalid')
        await rejects(instances.terminal(name, { command: ['sh'], columns: 80, rows: 24 }), 'invalid')
      })
    })

    describe('signals', () => {
      it('cancels every call whose signal was aborted before, without an effect', async () => {
        const name = await made()
        const other = spec()
        const options = { signal: AbortSignal.abort() }
        const calls: Promise<unknown>[] = [
          engine.info(options),
          engine.capacity(options),
          engine.networks.list(options),
          engine.images.list(options),
          instances.list(options),
          instances.get(name, options),
          instances.usage(options),
          instances.create(other, options),
          instances.start(name, options),
          instances.stop(name, options),
          instances.restart(name, options),
          instances.resize(name, { cpuCores: 2, memoryBytes: 512 * mib, diskBytes: gib }, options),
          instances.rebuild(name, { imageFingerprint: place.imageFingerprint }, options),
          instances.delete(name, options),
          instances.exec(name, { command: ['true'] }, options),
          instances.writeFile(name, { path: '/x', content: Buffer.from('x'), mode: 0o600 }, options),
          instances.consoleLog(name, options),
          instances.terminal(name, { command: ['sh'], columns: 80, rows: 24 }, options),
        ]
        const results = await Promise.allSettled(calls)
        expect(results.map((result) => (result.status === 'rejected' ? (result.reason as EngineError).kind : 'succeeded'))).toEqual(
          calls.map(() => 'cancelled'),
        )
        expect(await instances.get(other.name)).toBeNull()
        expect(await instances.get(name)).toMatchObject({ power: 'stopped', cpuCores: 1 })
      })
      it('cancels one caller and not another that asks the same', async () => {
        const fresh = makeEngine()
        const controller = new AbortController()
        const [first, second] = [fresh.info({ signal: controller.signal }), fresh.info()]
        controller.abort()
        await rejects(first, 'cancelled')
        expect((await second).product).not.toBe('')
        await fresh.close()
      })
      it('ends in the state asked for when a cancelled change is asked for again', async () => {
        const one = spec()
        const again = async (call: (options: { signal?: AbortSignal; onOperation?: () => void }) => Promise<unknown>) => {
          const controller = new AbortController()
          await call({ signal: controller.signal, onOperation: () => controller.abort() }).catch((error: unknown) => {
            expect(error).toMatchObject({ kind: 'cancelled' })
          })
          await call({})
        }
        await again((options) => instances.create(one, options))
        expect(await powerOf(one.name)).toBe('stopped')
        await again((options) => instances.start(one.name, options))
        expect(await powerOf(one.name)).toBe('running')
        await again((options) => instances.stop(one.name, { ...options, force: true }))
        expect(await powerOf(one.name)).toBe('stopped')
        await again((options) => instances.rebuild(one.name, { imageFingerprint: place.imageFingerprint }, options))
        expect(await named(one.name)).toMatchObject([{ power: 'stopped', tags: one.tags }])
        await again((options) => instances.delete(one.name, options))
        expect(await instances.get(one.name)).toBeNull()
      })
    })

    describe('events', () => {
      it('tells of the connection, then of every change, until it is aborted', async () => {
        const controller = new AbortController()
        const seen: EngineEvent[] = []
        const stream = (async () => {
          for await (const event of engine.events({ signal: controller.signal })) seen.push(event)
        })()
        await expect.poll(() => seen.length, patient).toBeGreaterThan(0)
        expect(seen[0]).toMatchObject({ type: 'connected', at: expect.any(Date) })
        const name = await running()
        await instances.stop(name, { force: true })
        await instances.delete(name)
        const actions = () => seen.filter((event) => event.type === 'instance' && event.name === name).map((event) => event.type === 'instance' && event.action)
        await expect.poll(() => actions().at(-1), patient).toMatch(/deleted/)
        for (const action of [/created/, /started/, /stopped|shutdown/]) expect(actions()).toContainEqual(expect.stringMatching(action))
        for (const { at } of seen) expect(at.getTime()).toBeGreaterThan(0)
        controller.abort()
        await stream
      })
      it('ends at once for a signal that was aborted before', async () => {
        for await (const event of engine.events({ signal: AbortSignal.abort() })) expect(event).toBeUndefined()
      })
      it('can be left', async () => {
        for await (const event of engine.events({ signal: new AbortController().signal })) {
          expect(event.type).toBe('connected')
          break
        }
      })
    })

    describe('close', () => {
      it('cancels what runs, ends the event stream, and refuses what comes after', async () => {
        const name = await running()
        const other = makeEngine()
        if (!traits.machines) {
          await other.instances.create(spec({ name }))
          await other.instances.start(name)
        }
        const events = other.events({ signal: new AbortController().signal })[Symbol.asyncIterator]()
        expect((await events.next()).value).toMatchObject({ type: 'connected' })
        const call = other.instances.exec(name, { command: ['sleep', '6543'] })
        const end = events.next()
        const cancelled = rejects(call, 'cancelled')
        await other.close()
        await cancelled
        expect(await end).toMatchObject({ done: true })
        await rejects(other.instances.list(), 'cancelled')
        await rejects(other.info(), 'cancelled')
        await other.close()
        // The engine itself goes on, and so does everybody else on it.
        expect(await powerOf(name)).toBe('running')
      })
    })

    const { imageFiles } = traits
    if (imageFiles !== undefined) {
      describe('images', () => {
        let files: Awaited<ReturnType<typeof imageFiles>>
        const alias = `${traits.prefix}image`
        const ours = async () => (await engine.images.list()).filter((image) => image.name === alias)
        const importFile = (image: { metadataPath: string; rootfsPath?: string; properties?: Record<string, string> }, options = {}) => {
          if (engine.images.importFile === undefined) throw new Error('this engine imports no images')
          return engine.images.importFile({ alias, ...image }, options)
        }
        const deleteImage = async (fingerprint: string) => engine.images.delete?.(fingerprint)
        beforeAll(async () => {
          files = await imageFiles()
          for (const left of await ours()) await deleteImage(left.fingerprint)
        })
        afterAll(async () => {
          for (const left of await ours()) await deleteImage(left.fingerprint)
          await files.undo()
        })

        it.each(['unified', 'split'] as const)('imports a %s image, as often as it is asked, and deletes it so', async (kind) => {
          const image = kind === 'unified' ? { metadataPath: files.unified } : files.split
          const fingerprint = await importFile({ ...image, properties: { 'cloud-init': 'true' } })
          expect(fingerprint).toMatch(/^[0-9a-f]{64}$/)
          expect(await importFile(image)).toBe(fingerprint)
          expect(await Promise.all([importFile(image), importFile(image)])).toEqual([fingerprint, fingerprint])
          expect(await ours()).toMatchObject([{ fingerprint, name: alias, properties: { 'cloud-init': 'true' } }])
          const name = await made({ imageFingerprint: fingerprint })
          expect((await instances.get(name))?.power).toBe('stopped')
          await deleteImage(fingerprint)
          await deleteImage(fingerprint)
          expect(await ours()).toEqual([])
          // What was made from it stays.
          expect((await instances.get(name))?.power).toBe('stopped')
        })
        it('moves the alias to what was imported last', async () => {
          const first = await importFile({ metadataPath: files.unified })
          const second = await importFile(files.split)
          expect(await ours()).toMatchObject([{ fingerprint: second }])
          await deleteImage(first)
          await deleteImage(second)
        })
        it('imports once what is asked for twice at a time', async () => {
          const [first, second] = await Promise.all([importFile({ metadataPath: files.unified }), importFile({ metadataPath: files.unified })])
          expect(first).toBe(second)
          expect(await ours()).toHaveLength(1)
          await deleteImage(first)
        })
        it('says that a file is missing', async () => {
          await rejects(importFile({ metadataPath: `${files.unified}.missing` }), 'invalid')
          await rejects(importFile({ metadataPath: files.unified }, { signal: AbortSignal.abort() }), 'cancelled')
          expect(await ours()).toEqual([])
        })
        it('says that a file is no image', async () => {
          await rejects(importFile({ metadataPath: new URL(import.meta.url).pathname }), 'invalid', 'failed', 'unsupported')
          expect(await ours()).toEqual([])
        })
      })
    }
  })
}
