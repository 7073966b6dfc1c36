import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { CallOptions, ComputeEngine, InstanceSpec, InstanceType } from '../compute.ts'
import type { EngineError } from '../errors.ts'
import { rejects } from './rejects.ts'
import { noise, sha256 } from './storage.ts'

/** What the suite has to know of an engine beforehand. */
export interface SnapshotTraits {
  type: InstanceType
  /** Begins the name of everything made here; whatever bears it is deleted before and after. */
  prefix: string
  place(engine: ComputeEngine): Promise<{ imageFingerprint: string; network: string; undo?: () => Promise<void> }>
  /** What of the machine is its own and nobody else's: ids that it was given, by any name. */
  identity?: (instance: string) => Promise<Record<string, string>>
  /** What setting back leaves on the engine, if it leaves something. */
  leftovers?: (instance: string) => Promise<string[]>
}

const mib = 2 ** 20
const patient = { timeout: 30_000, interval: 100 }

/** The contract of instance snapshots and copies in `compute.ts`, put to an engine. */
export function snapshotConformance(title: string, makeEngine: () => ComputeEngine, traits: SnapshotTraits): void {
  describe(`${title} keeps the contract of instance snapshots`, () => {
    const engine = makeEngine()
    const { instances } = engine
    const { volumes } = engine.storage
    const { snapshots } = instances
    const tags = { owner: 'conformance', vm_id: '1-ü 值' }
    let place: Awaited<ReturnType<SnapshotTraits['place']>>
    let count = 0

    const spec = (changes: Partial<InstanceSpec> = {}): InstanceSpec => ({
      name: `${traits.prefix}${++count}`,
      type: traits.type,
      imageFingerprint: place.imageFingerprint,
      cpuCores: 1,
      memoryBytes: 128 * mib,
      diskBytes: 512 * mib,
      network: place.network,
      tags,
      ...changes,
    })
    const made = async (changes: Partial<InstanceSpec> = {}, state: 'running' | 'stopped' = 'running'): Promise<InstanceSpec> => {
      const one = spec(changes)
      await instances.create(one)
      if (state === 'running') await instances.start(one.name)
      return one
    }
    const write = (name: string, content: Buffer, path = '/root/file') => instances.writeFile(name, { path, content, mode: 0o640, uid: 7, gid: 8 })
    const sumOf = async (name: string, path = '/root/file') => sha256((await instances.exec(name, { command: ['cat', path] })).stdout)
    const runningSum = async (name: string, path?: string): Promise<string> => {
      await instances.start(name)
      return sumOf(name, path)
    }
    const volume = async () => {
      const one = { pool: (await engine.storage.pools())[0]?.name ?? '', volume: `${traits.prefix}v${++count}` }
      await volumes.create({ ...one, content: 'filesystem', sizeBytes: 64 * mib, description: '', tags })
      return one
    }
    const at = (instance: string) => ({ instance, device: 'data', path: '/data' })
    const clear = async (): Promise<void> => {
      const ours = (await instances.list()).filter(({ name }) => name.startsWith(traits.prefix))
      await Promise.all(ours.map(({ name }) => instances.delete(name)))
      await Promise.all((await volumes.list()).filter((one) => one.volume.startsWith(traits.prefix)).map((one) => volumes.delete(one)))
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

    describe('snapshots', () => {
      it.each(['running', 'stopped'] as const)('set the disk of a %s instance back, and leave it %s', async (state) => {
        const { name } = await made()
        const [then, later] = [noise('then'), noise('later')]
        await write(name, then)
        await snapshots.create(name, 'then')
        await snapshots.create(name, 'then')
        await write(name, later)
        if (state === 'stopped') await instances.stop(name, { force: true })
        await snapshots.create(name, 'later')
        expect((await snapshots.list(name)).map((one) => one.name).sort()).toEqual(['later', 'then'])
        for (const { createdAt, sizeBytes } of await snapshots.list(name)) {
          expect(createdAt === null || createdAt.getTime() > 0).toBe(true)
          expect(sizeBytes === null || sizeBytes >= 0).toBe(true)
        }
        await snapshots.restore(name, 'then')
        await snapshots.restore(name, 'then')
        expect((await instances.get(name))?.power).toBe(state)
        expect(await runningSum(name)).toBe(sha256(then))
        await snapshots.restore(name, 'later')
        expect(await sumOf(name)).toBe(sha256(later))
        expect((await instances.get(name))?.power).toBe('running')
        await snapshots.delete(name, 'then')
        await snapshots.delete(name, 'then')
        expect((await snapshots.list(name)).map((one) => one.name)).toEqual(['later'])
      })
      it('set back nothing but the disk: not limits, not tags, not who it is, not what is attached', async () => {
        const one = await made({ description: '从前' })
        const { name } = one
        const [before, after] = await Promise.all([volume(), volume()])
        const [then, kept] = [noise('then'), noise('kept')]
        await write(name, then)
        await volumes.attach(before, at(name))
        await write(name, noise('volume then'), '/data/file')
        await snapshots.create(name, 'then')
        const identity = await traits.identity?.(name)
        await write(name, noise('later'))
        await volumes.detach(before, at(name))
        await volumes.delete(before)
        await volumes.attach(after, at(name))
        await write(name, kept, '/data/file')
        const size = { cpuCores: 2, memoryBytes: 256 * mib, diskBytes: 1024 * mib }
        await instances.resize(name, size)
        await snapshots.restore(name, 'then')
        expect(await instances.get(name)).toMatchObject({ ...size, power: 'running', tags, nic: { network: place.network } })
        expect((await volumes.get(after))?.attached).toEqual([{ instance: name, device: 'data', path: '/data' }])
        expect(await sumOf(name)).toBe(sha256(then))
        expect(await sumOf(name, '/data/file')).toBe(sha256(kept))
        expect(await traits.identity?.(name)).toEqual(identity)
        expect(await traits.leftovers?.(name)).toEqual(traits.leftovers === undefined ? undefined : [])
      })
      it('bear two of the same request at a time', async () => {
        const { name } = await made({}, 'stopped')
        await Promise.all([snapshots.create(name, 'twice'), snapshots.create(name, 'twice')])
        expect(await snapshots.list(name)).toHaveLength(1)
        await Promise.all([snapshots.delete(name, 'twice'), snapshots.delete(name, 'twice')])
        expect(await snapshots.list(name)).toEqual([])
      })
      it('say what is not there, and what is no name', async () => {
        const { name } = await made({}, 'stopped')
        const absent = `${traits.prefix}absent`
        await rejects(snapshots.list(absent), 'not_found')
        await rejects(snapshots.create(absent, 'snap'), 'not_found')
        await rejects(snapshots.restore(absent, 'snap'), 'not_found')
        await rejects(snapshots.restore(name, 'snap'), 'not_found')
        await snapshots.delete(absent, 'snap')
        await snapshots.delete(name, 'snap')
        for (const bad of ['', 'a', 'No', 'a/b', 'a_b', '-a']) await rejects(snapshots.create(name, bad), 'invalid')
        expect(await snapshots.list(name)).toEqual([])
      })
      it('go with the instance, and keep it from being rebuilt', async () => {
        const one = await made({}, 'stopped')
        await snapshots.create(one.name, 'there')
        await rejects(instances.rebuild(one.name, { imageFingerprint: place.imageFingerprint }), 'invalid')
        expect(await snapshots.list(one.name)).toHaveLength(1)
        await instances.delete(one.name)
        await instances.create(one)
        expect(await snapshots.list(one.name)).toEqual([])
        await instances.rebuild(one.name, { imageFingerprint: place.imageFingerprint })
      })
    })

    describe('copies', () => {
      it.each([null, 'then'])('hold what the source held (snapshot %s) and are machines of their own', async (snapshot) => {
        const source = await made({
          tags: { owner: 'source', secret: '1', vm_id: '0' },
          userData: '#cloud-config\n{"secret": true}\n',
          description: 'of the source',
          cpuCores: 2,
        })
        const data = await volume()
        const [then, now] = [noise('then'), noise('now')]
        await write(source.name, then)
        await volumes.attach(data, at(source.name))
        await snapshots.create(source.name, 'then')
        await write(source.name, now)
        const copy = spec({ imageFingerprint: '', diskBytes: 1024 * mib, copyOf: { instance: source.name, snapshot } })
        await Promise.all([instances.create(copy), instances.create(copy)])
        await instances.create(copy)
        expect((await instances.list()).filter(({ name }) => name === copy.name)).toHaveLength(1)
        const shown = await instances.get(copy.name)
        expect(shown).toMatchObject({
          type: traits.type,
          power: 'stopped',
          cpuCores: 1,
          memoryBytes: 128 * mib,
          diskBytes: 1024 * mib,
          nic: { network: place.network, address: null },
        })
        expect(shown?.tags).toEqual(tags)
        expect(await snapshots.list(copy.name)).toEqual([])
        expect((await volumes.get(data))?.attached).toEqual([{ instance: source.name, device: 'data', path: '/data' }])
        expect(await runningSum(copy.name)).toBe(sha256(snapshot === null ? now : then))
        expect(await sumOf(source.name)).toBe(sha256(now))
        // Whatever id it has, the source has another; and nothing of it is of the source.
        const [mine, its] = [await traits.identity?.(copy.name), await traits.identity?.(source.name)]
        for (const [key, value] of Object.entries(mine ?? {})) expect([key, value]).not.toEqual([key, its?.[key]])
        expect((await instances.get(copy.name))?.nic?.mac).not.toBe((await instances.get(source.name))?.nic?.mac)
        await instances.delete(source.name)
        expect(await sumOf(copy.name)).toBe(sha256(snapshot === null ? now : then))
        await rejects(instances.create({ ...copy, tags: source.tags }), 'conflict')
      })
      it('refuse what cannot be, and leave nothing', async () => {
        const source = await made({}, 'stopped')
        const other: InstanceType = traits.type === 'vm' ? 'container' : 'vm'
        for (const [changes, kinds] of [
          [{ copyOf: { instance: `${traits.prefix}absent`, snapshot: null } }, ['not_found']],
          [{ copyOf: { instance: source.name, snapshot: 'absent' } }, ['not_found']],
          [{ diskBytes: 256 * mib }, ['invalid']],
          [{ type: other }, ['invalid', 'unsupported']],
          [{ name: '-No name-' }, ['invalid']],
        ] as const) {
          const copy = spec({ copyOf: { instance: source.name, snapshot: null }, ...changes })
          await rejects(instances.create(copy), ...kinds)
          expect(await instances.get(copy.name)).toBeNull()
        }
      })
    })

    describe('signals', () => {
      it('cancel every call whose signal was aborted before, without an effect', async () => {
        const { name } = await made({}, 'stopped')
        await snapshots.create(name, 'there')
        const options = { signal: AbortSignal.abort() }
        const copy = spec({ copyOf: { instance: name, snapshot: null } })
        const calls: Promise<unknown>[] = [
          snapshots.list(name, options),
          snapshots.create(name, 'other', options),
          snapshots.restore(name, 'there', options),
          snapshots.delete(name, 'there', options),
          instances.create(copy, options),
        ]
        const results = await Promise.allSettled(calls)
        expect(results.map((result) => (result.status === 'rejected' ? (result.reason as EngineError).kind : 'succeeded'))).toEqual(
          calls.map(() => 'cancelled'),
        )
        expect((await snapshots.list(name)).map((one) => one.name)).toEqual(['there'])
        expect(await instances.get(copy.name)).toBeNull()
      })
      it('end in the state asked for when a cancelled change is asked for again', async () => {
        const { name } = await made()
        const [then, size] = [noise('then'), { cpuCores: 2, memoryBytes: 256 * mib, diskBytes: 512 * mib }]
        await write(name, then)
        /** Cancelled at its first operation, its second, and so on until it is through. */
        const again = async (call: (options: CallOptions) => Promise<unknown>, check: () => Promise<void>) => {
          for (let number = 1, through = false; !through; number++) {
            const controller = new AbortController()
            let operations = 0
            const onOperation = () => {
              if (++operations === number) controller.abort()
            }
            through = await call({ signal: controller.signal, onOperation }).then(
              () => true,
              (error: unknown) => {
                expect(error).toMatchObject({ kind: 'cancelled' })
                return false
              },
            )
            await call({})
            await check()
          }
        }
        await again(
          (options) => snapshots.create(name, 'then', options),
          async () => expect(await snapshots.list(name)).toHaveLength(1),
        )
        await instances.resize(name, size)
        await again(
          (options) => snapshots.restore(name, 'then', options),
          async () => {
            expect(await instances.get(name)).toMatchObject({ ...size, power: 'running', tags })
            expect(await sumOf(name)).toBe(sha256(then))
            await write(name, noise('later'))
          },
        )
        const copy = spec({ copyOf: { instance: name, snapshot: 'then' } })
        await again(
          (options) => instances.create(copy, options),
          async () => {
            expect((await instances.list()).filter((one) => one.name === copy.name)).toMatchObject([{ tags, power: 'stopped' }])
            expect(await runningSum(copy.name)).toBe(sha256(then))
            await instances.delete(copy.name)
          },
        )
        await again(
          (options) => snapshots.delete(name, 'then', options),
          async () => expect(await snapshots.list(name)).toEqual([]),
        )
        await expect.poll(async () => (await traits.leftovers?.(name)) ?? [], patient).toEqual([])
      })
    })
  })
}
