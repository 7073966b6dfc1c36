import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ComputeEngine, EngineEvent, InstanceType } from '../compute.ts'
import { rejects } from './rejects.ts'

/** What the suite has to know of an engine beforehand. */
export interface HostTraits {
  type: InstanceType
  /** Begins the name of every instance made here. */
  prefix: string
  /** Of two members or more; else evacuating is put to it and has to be refused. */
  cluster: boolean
  /** Tells of it by an event; LXD 5.0 does not. */
  tells: boolean
  /** An image and a network for instances that are moved about. */
  place(engine: ComputeEngine): Promise<{ imageFingerprint: string; network: string; undo?: () => Promise<void> }>
}

const patient = { timeout: 60_000, interval: 100 }

/** The contract of `hosts.ts`, put to an engine. */
export function hostConformance(title: string, makeEngine: () => ComputeEngine, traits: HostTraits): void {
  describe(`${title} keeps the contract of hosts`, () => {
    const engine = makeEngine()
    const { hosts, instances } = engine
    afterAll(() => engine.close())
    const statusOf = async (name: string) => (await hosts.list()).find((one) => one.name === name)?.status

    it('tells what the hosts are', async () => {
      const [info, list] = [await engine.info(), await hosts.list()]
      expect(list.length > 1).toBe(traits.cluster)
      expect((await engine.capacity()).nodes).toBe(list.length)
      expect(list.map(({ name }) => name)).toContain(traits.cluster ? list[0]?.name : info.hostName)
      for (const host of list) {
        expect(host).toMatchObject({ status: 'online', architecture: expect.stringMatching(/./), system: { kernel: expect.any(String) } })
        expect(host.address === null).toBe(!traits.cluster)
        expect(host.cpu.model).not.toBe('')
        expect(host.cpu.sockets).toBeGreaterThan(0)
        expect(host.cpu.cores).toBeGreaterThanOrEqual(host.cpu.sockets)
        expect(host.cpu.threads).toBeGreaterThanOrEqual(host.cpu.cores)
        expect(host.memory.totalBytes).toBeGreaterThan(host.memory.usedBytes)
        expect(host.memory.usedBytes).toBeGreaterThanOrEqual(0)
        for (const disk of host.disks) expect(disk.sizeBytes).toBeGreaterThan(0)
        for (const gpu of host.gpus) expect(gpu.pciAddress).toMatch(/^[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$/)
      }
      expect(list.flatMap(({ disks }) => disks).length).toBeGreaterThan(0)
    })

    if (!traits.cluster) {
      it('evacuates nothing where there is nowhere to go', async () => {
        const [host] = await hosts.list()
        await rejects(hosts.evacuate(host?.name ?? ''), 'unsupported')
        await rejects(hosts.restore(host?.name ?? ''), 'unsupported')
        expect(await statusOf(host?.name ?? '')).toBe('online')
      })
      return
    }

    describe('of a cluster', () => {
      const names = Array.from({ length: 2 }, (_, index) => `${traits.prefix}${index + 1}`)
      let place: Awaited<ReturnType<HostTraits['place']>>
      /** An init that has not booted does not hear that it is to shut down, as it is to be moved: that is waited for in vain. */
      const booted = async (): Promise<void> => {
        for (const name of names) await expect.poll(async () => (await instances.get(name))?.addresses.length, patient).toBeGreaterThan(0)
      }
      const locations = async () => Promise.all(names.map(async (name) => (await instances.get(name))?.location))
      beforeAll(async () => {
        place = await traits.place(engine)
        for (const name of names) {
          await instances.create({
            name,
            type: traits.type,
            imageFingerprint: place.imageFingerprint,
            network: place.network,
            cpuCores: 1,
            memoryBytes: 2 ** 27,
            diskBytes: 2 ** 30,
            tags: { owner: 'conformance' },
          })
          await instances.start(name)
        }
      })
      beforeEach(booted)
      afterAll(async () => {
        for (const { name } of await hosts.list()) await hosts.restore(name)
        for (const name of names) await instances.delete(name)
        await place.undo?.()
      })

      it('moves what runs on an evacuated one, and takes it back when it is restored, as often as it is asked', async () => {
        const before = await locations()
        const [busiest = ''] = (await hosts.list()).map(({ name }) => name).filter((name) => before.includes(name))
        await Promise.all([hosts.evacuate(busiest), hosts.evacuate(busiest)])
        await hosts.evacuate(busiest)
        expect(await statusOf(busiest)).toBe('evacuated')
        expect(await locations()).not.toContain(busiest)
        for (const name of names) expect((await instances.get(name))?.power).toBe('running')
        await booted()
        await Promise.all([hosts.restore(busiest), hosts.restore(busiest)])
        await hosts.restore(busiest)
        expect(await statusOf(busiest)).toBe('online')
        expect(await locations()).toEqual(before)
        for (const name of names) expect((await instances.get(name))?.power).toBe('running')
      })
      if (traits.tells)
        it('tells of it', async () => {
          const controller = new AbortController()
          const seen: EngineEvent[] = []
          const stream = (async () => {
            for await (const event of engine.events({ signal: controller.signal })) seen.push(event)
          })()
          await expect.poll(() => seen.length, patient).toBeGreaterThan(0)
          const [first] = await hosts.list()
          await hosts.evacuate(first?.name ?? '')
          await booted()
          await hosts.restore(first?.name ?? '')
          const told = () => seen.flatMap((event) => (event.type === 'object' && event.kind === 'member' && event.name === first?.name ? [event.action] : []))
          await expect.poll(told, patient).toContainEqual(expect.stringMatching(/restored/))
          expect(told()).toContainEqual(expect.stringMatching(/evacuated/))
          controller.abort()
          await stream
        })
      it('takes no new ones while it is evacuated', async () => {
        const [first] = await hosts.list()
        await hosts.evacuate(first?.name ?? '')
        const name = `${traits.prefix}new`
        for (let times = 0; times < 2; times++) {
          await instances.create({
            name,
            type: traits.type,
            imageFingerprint: place.imageFingerprint,
            network: place.network,
            cpuCores: 1,
            memoryBytes: 2 ** 27,
            diskBytes: 2 ** 30,
            tags: {},
          })
          expect((await instances.get(name))?.location).not.toBe(first?.name)
          await instances.delete(name)
        }
        await booted()
        await hosts.restore(first?.name ?? '')
      })
      it('puts a new one where it is asked to', async () => {
        const name = `${traits.prefix}asked`
        for (const host of await hosts.list()) {
          await instances.create({
            name,
            type: traits.type,
            imageFingerprint: place.imageFingerprint,
            network: place.network,
            host: host.name,
            cpuCores: 1,
            memoryBytes: 2 ** 27,
            diskBytes: 2 ** 30,
            tags: {},
          })
          expect((await instances.get(name))?.location).toBe(host.name)
          await instances.delete(name)
        }
      })
      it('makes a copy on another than the one that its source is on', async () => {
        const [source = ''] = names
        const at = (await instances.get(source))?.location
        const other = (await hosts.list()).find((host) => host.name !== at)?.name ?? ''
        const name = `${traits.prefix}copy`
        await instances.snapshots.create(source, 'before')
        for (const snapshot of ['before', null]) {
          const copyOf = { instance: source, snapshot }
          await instances.create({
            name,
            copyOf,
            type: traits.type,
            imageFingerprint: place.imageFingerprint,
            network: place.network,
            host: other,
            cpuCores: 1,
            memoryBytes: 2 ** 27,
            diskBytes: 2 ** 30,
            tags: {},
          })
          expect((await instances.get(name))?.location).toBe(other)
          await instances.start(name)
          await instances.delete(name)
        }
        await instances.snapshots.delete(source, 'before')
      })
      it('does not know another', async () => {
        await rejects(
          instances.create({
            name: `${traits.prefix}lost`,
            type: traits.type,
            imageFingerprint: place.imageFingerprint,
            network: place.network,
            host: 'nobody',
            cpuCores: 1,
            memoryBytes: 2 ** 27,
            diskBytes: 2 ** 30,
            tags: {},
          }),
          'not_found',
        )
        await rejects(hosts.evacuate('nobody'), 'not_found')
        await rejects(hosts.restore('nobody'), 'not_found')
      })
    })
  })
}
