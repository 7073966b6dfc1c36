import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ComputeEngine, EngineEvent, InstanceSpec, InstanceType, Nic } from '../compute.ts'
import type { EngineError } from '../errors.ts'
import type { Acl, AclRule, Forward, NetworkSpec } from '../network.ts'
import { rejects } from './rejects.ts'

/** What the suite has to know of an engine beforehand. */
export interface NetworkTraits {
  type: InstanceType
  /** Begins the name of everything made here, at most 6 characters; whatever bears it is deleted before and after. */
  prefix: string
  /** Instances have addresses that come by DHCP. */
  machines: boolean
  /** Tells of a change once on every member, and LXD 5.0 of no network that is made. */
  cluster?: boolean
  /** A private range of 16 bits for the suite's own, such as `10.200`. */
  range: string
  /** The first three bytes of addresses outside, such as `198.18.7`. */
  outside: string
  /** An image, and a network that is not the suite's. */
  place(engine: ComputeEngine): Promise<{ imageFingerprint: string; network: string; undo?: () => Promise<void> }>
}

const patient = { timeout: 30_000, interval: 100 }
const mib = 2 ** 20

/** The contract of `network.ts`, put to an engine. */
export function networkConformance(title: string, makeEngine: () => ComputeEngine, traits: NetworkTraits): void {
  describe(`${title} keeps the contract of networks`, () => {
    const engine = makeEngine()
    const { instances, networks } = engine
    const { acls, forwards } = networks
    const tags = { owner: 'conformance', vpc_id: '1-ü 值' }
    let place: Awaited<ReturnType<NetworkTraits['place']>>
    let count = 0

    /** The third byte of its range is its number. */
    const network = (changes: Partial<NetworkSpec> = {}): NetworkSpec => ({
      name: `${traits.prefix}${++count}`,
      description: '私有网络',
      ipv4: `${traits.range}.${count}.1/24`,
      dhcp: true,
      dnsDomain: 'conformance.internal',
      nat: true,
      natAddress: null,
      acl: null,
      tags,
      ...changes,
    })
    const hostOf = (spec: NetworkSpec, last: number): string => spec.ipv4.replace(/\.1\/\d+$/, `.${last}`)
    const madeNetwork = async (changes: Partial<NetworkSpec> = {}): Promise<NetworkSpec> => {
      const spec = network(changes)
      await networks.apply(spec)
      return spec
    }
    const rule = (changes: Partial<AclRule> = {}): AclRule => ({
      action: 'allow',
      protocol: null,
      source: [],
      destination: [],
      destinationPorts: [],
      description: '',
      ...changes,
    })
    const acl = (changes: Partial<Acl> = {}): Acl => ({ name: `${traits.prefix}a${++count}`, description: '安全组', ingress: [], egress: [], tags, ...changes })
    const forward = (changes: Partial<Forward> = {}): Forward => ({
      address: `${traits.outside}.${++count}`,
      description: '公网',
      target: null,
      ports: [],
      ...changes,
    })
    const instance = (on: NetworkSpec, changes: Partial<InstanceSpec> = {}): InstanceSpec => ({
      name: `${traits.prefix}i${++count}`,
      type: traits.type,
      imageFingerprint: place.imageFingerprint,
      cpuCores: 1,
      memoryBytes: 128 * mib,
      diskBytes: 1024 * mib,
      network: on.name,
      tags,
      ...changes,
    })
    const madeInstance = async (on: NetworkSpec, changes: Partial<InstanceSpec> = {}): Promise<string> => {
      const spec = instance(on, changes)
      await instances.create(spec)
      return spec.name
    }
    const nic = (on: NetworkSpec, changes: Partial<Nic> = {}): Nic => ({
      network: on.name,
      address: null,
      guarded: false,
      ingressBitsPerSecond: null,
      egressBitsPerSecond: null,
      ...changes,
    })
    const addressOf = async (name: string) => (await instances.get(name))?.addresses[0]?.address
    /** What is told while something is done, but of nobody else's. */
    const told = async (work: () => Promise<unknown>): Promise<string[]> => {
      const controller = new AbortController()
      const seen: EngineEvent[] = []
      const stream = (async () => {
        for await (const event of engine.events({ signal: controller.signal })) seen.push(event)
      })()
      await expect.poll(() => seen.length, patient).toBeGreaterThan(0)
      await work()
      // What is told last shows that nothing else is to come.
      const last = acl()
      await acls.apply(last)
      await expect.poll(() => seen.some((event) => event.type === 'object' && event.name === last.name), patient).toBe(true)
      controller.abort()
      await stream
      const ours = seen.flatMap((event) =>
        event.type === 'object' && event.name !== last.name && `${event.within ?? ''}/${event.name}`.includes(traits.prefix)
          ? [`${event.kind} ${event.within ?? ''}/${event.name} ${event.action}`]
          : [],
      )
      return [...new Set(ours)]
    }
    /** Deletes what bears these names: each network that is there makes every question for all of them longer. */
    const clear = async (ours: (name: string) => boolean, guards: readonly string[]): Promise<void> => {
      await Promise.all((await instances.list()).filter(({ name }) => ours(name)).map(({ name }) => instances.delete(name)))
      for (const { name } of (await networks.list()).filter(({ name }) => ours(name))) await networks.delete(name)
      await Promise.all(guards.map((name) => acls.delete(name)))
    }
    const numbered = (kind: string, after: number, until: number): string[] =>
      Array.from({ length: until - after }, (_, index) => `${traits.prefix}${kind}${after + index + 1}`)
    const clearAll = (until: number) => clear((name) => name.startsWith(traits.prefix), numbered('a', 0, until))
    let before = 0

    beforeAll(async () => {
      // Of a run that was killed.
      await clearAll(250)
      place = await traits.place(engine)
    })
    beforeEach(() => {
      before = count
    })
    afterEach(async () => {
      if (count === before) return
      const made = new Set(['', 'i'].flatMap((kind) => numbered(kind, before, count)))
      await clear((name) => made.has(name), numbered('a', before, count))
    })
    afterAll(async () => {
      await clearAll(count)
      await place.undo?.()
      await engine.close()
    })

    describe('a network', () => {
      it('is as it was asked for, and shows in the list', async () => {
        const spec = await madeNetwork()
        const shown = {
          name: spec.name,
          description: spec.description,
          managed: true,
          kind: 'bridge',
          ipv4: spec.ipv4,
          ipv6: null,
          nat: true,
          tags,
          usedBy: [],
        }
        expect(await networks.get(spec.name)).toEqual(shown)
        expect((await networks.list()).filter(({ name }) => name === spec.name)).toEqual([shown])
        expect(await networks.get(`${traits.prefix}none`)).toBeNull()
      })
      it('is not touched when it is applied again, and is changed by what differs', async () => {
        const spec = network()
        const guard = acl()
        await acls.apply(guard)
        const changed = { ...spec, description: '', nat: false, dhcp: false, dnsDomain: null, acl: guard.name }
        expect(await networks.isAs(spec)).toBe(false)
        const created = await told(() => networks.apply(spec))
        expect(await networks.isAs(spec)).toBe(true)
        if (traits.cluster !== true) expect(created).toEqual([`network /${spec.name} network-created`])
        expect(await told(() => networks.apply({ ...spec, tags: Object.fromEntries(Object.entries(tags).toReversed()) }))).toEqual([])
        for (const next of [changed, spec]) {
          expect(await networks.isAs(next)).toBe(false)
          expect(await told(() => networks.apply(next))).toEqual([`network /${spec.name} network-updated`])
          expect(await networks.get(spec.name)).toMatchObject({ description: next.description, nat: next.nat })
          expect(await networks.isAs(next)).toBe(true)
          expect(await told(() => networks.apply(next))).toEqual([])
        }
        expect(await networks.isAs({ ...spec, tags: { owner: 'another' } })).toBe(false)
      })
      it('takes another range, while nothing is on it', async () => {
        const spec = await madeNetwork()
        const moved = { ...spec, ipv4: `${traits.range}.${++count}.1/25` }
        await networks.apply(moved)
        expect(await networks.get(spec.name)).toMatchObject({ ipv4: moved.ipv4 })
        await madeInstance(moved)
        await rejects(networks.apply(spec), 'busy')
        expect(await networks.get(spec.name)).toMatchObject({ ipv4: moved.ipv4 })
      })
      it.each([{ owner: 'another' }, {}, { ...tags, more: '1' }])('of other tags than %j is left alone', async (others) => {
        const spec = await madeNetwork()
        await rejects(networks.apply({ ...spec, description: 'mine', tags: others as Record<string, string> }), 'conflict')
        expect(await networks.get(spec.name)).toMatchObject({ description: spec.description, tags })
      })
      it('that is somebody else’s is left alone', async () => {
        // Who is on it changes with the tests of others.
        const seen = async () => ({ ...(await networks.get(place.network)), usedBy: null })
        const before = await seen()
        await rejects(networks.apply(network({ name: place.network })), 'conflict')
        expect(await seen()).toEqual(before)
      })
      const wrong: Record<string, Partial<NetworkSpec>> = {
        'a name that is too long for an interface': { name: `${traits.prefix}${'x'.repeat(16 - traits.prefix.length)}` },
        'a name with other characters': { name: `${traits.prefix}_X` },
        'a range without a prefix': { ipv4: `${traits.range}.250.1` },
        'a range of two addresses': { ipv4: `${traits.range}.250.1/31` },
        'the network’s address for a gateway': { ipv4: `${traits.range}.250.0/24` },
        'the broadcast address for a gateway': { ipv4: `${traits.range}.250.255/24` },
        'no address': { ipv4: '10.300.0.1/24' },
        'an IPv6 range': { ipv4: 'fd00:dead::1/64' },
        'a domain that is none': { dnsDomain: 'not a domain' },
        'a NAT address that is none': { natAddress: 'x' },
        'a NAT address without NAT': { nat: false, natAddress: `${traits.outside}.1` },
        'an ACL name that is none': { acl: 'No Name' },
        'a tag key that is none': { tags: { 'Not-a-key': '1' } },
      }
      it.each(Object.entries(wrong))('is refused with %s, and nothing is left', async (_, changes) => {
        // Of ours: others make theirs meanwhile.
        const ours = async () => (await networks.list()).flatMap(({ name }) => (name.startsWith(traits.prefix) ? [name] : [])).sort()
        const before = await ours()
        await rejects(networks.apply(network(changes)), 'invalid')
        expect(await ours()).toEqual(before)
      })
      it('is refused with an ACL that is not there, and nothing is left', async () => {
        const spec = network({ acl: `${traits.prefix}no-acl` })
        await rejects(networks.apply(spec), 'not_found')
        expect(await networks.get(spec.name)).toBeNull()
        const there = await madeNetwork()
        await rejects(networks.apply({ ...there, acl: spec.acl }), 'not_found')
        await networks.apply(there)
      })
      it('does not overlap another, whichever is larger, and nothing is left', async () => {
        const there = await madeNetwork({ ipv4: `${traits.range}.128.1/18` })
        for (const ipv4 of [`${traits.range}.128.1/18`, `${traits.range}.190.129/25`, `${traits.range}.0.1/16`]) {
          const spec = network({ ipv4 })
          await rejects(networks.apply(spec), 'conflict')
          expect(await networks.get(spec.name)).toBeNull()
        }
        const other = await madeNetwork({ ipv4: `${traits.range}.192.1/24` })
        await rejects(networks.apply({ ...other, ipv4: `${traits.range}.191.1/24` }), 'conflict')
        expect(await networks.get(other.name)).toMatchObject({ ipv4: other.ipv4 })
        await networks.delete(there.name)
        await networks.apply({ ...other, ipv4: `${traits.range}.191.1/24` })
      })
      it('does not overlap somebody else’s', async () => {
        const taken = (await networks.get(place.network))?.ipv4 ?? ''
        const spec = network({ ipv4: taken })
        await rejects(networks.apply(spec), 'conflict')
        expect(await networks.get(spec.name)).toBeNull()
      })
      it('does not hold the address of a forward', async () => {
        const there = await madeNetwork()
        const outside = forward()
        await forwards.apply(there.name, outside)
        const spec = network({ ipv4: `${traits.outside}.254/24` })
        await rejects(networks.apply(spec), 'conflict')
        expect(await networks.get(spec.name)).toBeNull()
      })
      it('is one, of two requests at a time', async () => {
        const spec = network()
        await Promise.all([networks.apply(spec), networks.apply(spec), networks.apply(spec)])
        expect((await networks.list()).filter(({ name }) => name === spec.name)).toHaveLength(1)
      })
      it('is made once of two that overlap, asked for at a time', async () => {
        const [left, right] = [network(), network()]
        const results = await Promise.allSettled([networks.apply(left), networks.apply({ ...right, ipv4: left.ipv4 })])
        expect(results.map((result) => (result.status === 'fulfilled' ? 'made' : (result.reason as EngineError).kind)).sort()).toEqual(['conflict', 'made'])
        expect((await networks.list()).filter(({ name }) => name === left.name || name === right.name)).toHaveLength(1)
      })
      it('is deleted as often as it is asked, two at a time, and frees name and range', async () => {
        const spec = await madeNetwork()
        await Promise.all([networks.delete(spec.name), networks.delete(spec.name)])
        await networks.delete(spec.name)
        expect(await networks.get(spec.name)).toBeNull()
        const next = { ...spec, tags: { owner: 'next' } }
        await networks.apply(next)
        expect(await networks.get(spec.name)).toMatchObject({ tags: next.tags })
      })
      it('is not deleted with instances on it, and tells which', async () => {
        const spec = await madeNetwork()
        const name = await madeInstance(spec)
        expect((await networks.get(spec.name))?.usedBy).toEqual([name])
        await rejects(networks.delete(spec.name), 'busy')
        expect(await networks.get(spec.name)).not.toBeNull()
        await instances.delete(name)
        await networks.delete(spec.name)
      })
      it('takes its forwards along', async () => {
        const spec = await madeNetwork()
        const outside = forward()
        await forwards.apply(spec.name, outside)
        await networks.delete(spec.name)
        await rejects(forwards.list(spec.name), 'not_found')
        const other = await madeNetwork()
        await forwards.apply(other.name, outside)
        expect(await forwards.list(other.name)).toEqual([outside])
      })
      it('has a state', async () => {
        const spec = await madeNetwork()
        expect(await networks.state(spec.name)).toEqual({
          up: expect.any(Boolean),
          mtu: 1500,
          receivedBytes: expect.any(Number),
          sentBytes: expect.any(Number),
          receivedPackets: expect.any(Number),
          sentPackets: expect.any(Number),
        })
        expect(await networks.state(`${traits.prefix}none`)).toBeNull()
      })
    })

    describe('addresses', () => {
      it('are leased: the gateway’s, static ones, and those that were asked for', async () => {
        const spec = await madeNetwork()
        const fixed = await madeInstance(spec, { address: hostOf(spec, 77) })
        const dynamic = await madeInstance(spec)
        const leases = async () => (await networks.leases(spec.name)).map(({ address, family, hostName, kind }) => ({ address, family, hostName, kind }))
        const gateway = { address: hostOf(spec, 1), family: 4, hostName: `${spec.name}.gw`, kind: 'gateway' }
        const own = { address: hostOf(spec, 77), family: 4, hostName: fixed, kind: 'static' }
        expect(await leases()).toEqual([gateway, own])
        await Promise.all([instances.start(fixed), instances.start(dynamic)])
        await expect.poll(() => addressOf(fixed), patient).toBe(hostOf(spec, 77))
        await expect.poll(() => addressOf(dynamic), patient).toBeDefined()
        const given = await addressOf(dynamic)
        expect(await leases()).toEqual(expect.arrayContaining([gateway, own, { address: given, family: 4, hostName: dynamic, kind: 'dynamic' }]))
        const lease = (await networks.leases(spec.name)).find(({ hostName }) => hostName === fixed)
        expect(lease?.mac).toMatch(/^([0-9a-f]{2}:){5}[0-9a-f]{2}$/)
        expect((await instances.get(fixed))?.nic).toEqual({ network: spec.name, address: hostOf(spec, 77), mac: lease?.mac })
        expect((await instances.get(dynamic))?.nic).toMatchObject({ network: spec.name, address: null })
        await rejects(networks.leases(`${traits.prefix}none`), 'not_found')
      })
      it('are not given twice, and not outside the network', async () => {
        const spec = await madeNetwork()
        await madeInstance(spec, { address: hostOf(spec, 20) })
        const other = instance(spec)
        await rejects(instances.create({ ...other, address: hostOf(spec, 20) }), 'conflict')
        await rejects(instances.create({ ...other, address: hostOf(spec, 1) }), 'conflict')
        for (const address of [hostOf(spec, 0), hostOf(spec, 255), `${traits.outside}.9`, 'x', 'fd00::1'])
          await rejects(instances.create({ ...other, address }), 'invalid')
        await rejects(instances.create({ ...other, network: `${traits.prefix}none`, address: hostOf(spec, 21) }), 'not_found', 'invalid')
        expect(await instances.get(other.name)).toBeNull()
      })
      it('are free again when their instance is deleted', async () => {
        const spec = await madeNetwork()
        const address = hostOf(spec, 20)
        await instances.delete(await madeInstance(spec, { address }))
        const next = await madeInstance(spec, { address })
        expect((await instances.get(next))?.nic).toMatchObject({ address })
      })
    })

    describe('connecting', () => {
      it.each(['stopped', 'running'])('moves a %s instance to another network, and keeps its hardware address', async (state) => {
        const [left, right] = [await madeNetwork(), await madeNetwork()]
        const name = await madeInstance(left)
        if (state === 'running') await instances.start(name)
        const before = await instances.get(name)
        const wanted = nic(right, { address: hostOf(right, 30), guarded: true, ingressBitsPerSecond: 10_000_000 })
        await instances.connect(name, wanted)
        await instances.connect(name, wanted)
        expect(await instances.get(name)).toMatchObject({ power: state, tags, nic: { network: right.name, address: hostOf(right, 30), mac: before?.nic?.mac } })
        expect((await networks.get(left.name))?.usedBy).toEqual([])
        expect((await networks.get(right.name))?.usedBy).toEqual([name])
        await instances.connect(name, nic(right))
        expect((await instances.get(name))?.nic).toEqual({ network: right.name, address: null, mac: before?.nic?.mac })
        if (state === 'stopped') await instances.start(name)
        expect((await instances.get(name))?.power).toBe('running')
      })
      it.each(['stopped', 'running'])('of a %s instance is refused where it cannot be, and the former stays', async (state) => {
        const [left, right] = [await madeNetwork(), await madeNetwork()]
        await madeInstance(right, { address: hostOf(right, 40) })
        const name = await madeInstance(left, { address: hostOf(left, 41), guarded: true })
        if (state === 'running') await instances.start(name)
        const before = await instances.get(name)
        await rejects(instances.connect(name, nic(right, { address: hostOf(right, 40) })), 'conflict')
        await rejects(instances.connect(name, nic(right, { address: hostOf(left, 41) })), 'invalid')
        await rejects(instances.connect(name, nic({ ...right, name: `${traits.prefix}none` })), 'not_found')
        await rejects(instances.connect(`${traits.prefix}absent`, nic(right)), 'not_found')
        expect((await instances.get(name))?.nic).toEqual(before?.nic)
        expect((await networks.get(left.name))?.usedBy).toEqual([name])
      })
    })

    describe('an ACL', () => {
      const web = rule({ protocol: 'tcp', source: ['10.0.0.0/8', '192.168.0.0/16'], destinationPorts: ['22', '8000-8999'], description: '网页' })
      const ping = rule({ action: 'drop', protocol: 'icmp4' })
      const out = rule({ action: 'reject', protocol: 'udp', destination: ['203.0.113.0/24'], destinationPorts: ['53'] })

      it('is as it was asked for', async () => {
        const made = acl({ ingress: [web, ping], egress: [out] })
        await acls.apply(made)
        expect(await acls.get(made.name)).toEqual(made)
        expect(await acls.get(`${traits.prefix}none`)).toBeNull()
      })
      it('is replaced as a whole, and not touched where nothing but order and repetition differ', async () => {
        const made = acl({ ingress: [web, ping], egress: [out] })
        expect(await told(() => acls.apply(made))).toEqual([`acl /${made.name} network-acl-created`])
        expect(await told(() => acls.apply({ ...made, ingress: [ping, web, ping] }))).toEqual([])
        expect(await told(() => acls.apply({ ...made, ingress: [out], egress: [] }))).toEqual([`acl /${made.name} network-acl-updated`])
        expect(await acls.get(made.name)).toEqual({ ...made, ingress: [out], egress: [] })
        expect(await told(() => acls.apply({ ...made, description: '' }))).toEqual([`acl /${made.name} network-acl-updated`])
        expect(await acls.get(made.name)).toEqual({ ...made, description: '' })
      })
      it('of another is left alone', async () => {
        const made = acl({ ingress: [web] })
        await acls.apply(made)
        await rejects(acls.apply({ ...made, ingress: [], tags: { owner: 'another' } }), 'conflict')
        expect(await acls.get(made.name)).toEqual(made)
      })
      const wrong: Record<string, Partial<AclRule>> = {
        'no CIDR': { source: ['10.0.0.0/33'] },
        'an address for a CIDR': { destination: ['somewhere'] },
        'two families': { source: ['10.0.0.0/8'], destination: ['fd00::/8'] },
        'ICMP of another family': { protocol: 'icmp6', source: ['10.0.0.0/8'] },
        'ports of ICMP': { protocol: 'icmp4', destinationPorts: ['22'] },
        'ports of anything': { destinationPorts: ['22'] },
        'port 0': { protocol: 'tcp', destinationPorts: ['0'] },
        'port 65536': { protocol: 'udp', destinationPorts: ['65536'] },
        'ports in reverse': { protocol: 'tcp', destinationPorts: ['90-80'] },
        'ports in words': { protocol: 'tcp', destinationPorts: ['ssh'] },
      }
      it.each(Object.entries(wrong))('is refused with %s, and nothing is left', async (_, changes) => {
        const made = acl()
        await rejects(acls.apply({ ...made, ingress: [web, rule(changes)] }), 'invalid')
        await rejects(acls.apply({ ...made, egress: [rule(changes)] }), 'invalid')
        expect(await acls.get(made.name)).toBeNull()
      })
      it('is refused with a name that is none', async () => {
        await rejects(acls.apply(acl({ name: 'No Name' })), 'invalid')
      })
      it('is deleted as often as it is asked, but not from under a network', async () => {
        const made = acl({ ingress: [web] })
        await acls.apply(made)
        const spec = await madeNetwork({ acl: made.name })
        await rejects(acls.delete(made.name), 'busy')
        expect(await acls.get(made.name)).toEqual(made)
        await networks.apply({ ...spec, acl: null })
        await Promise.all([acls.delete(made.name), acls.delete(made.name)])
        await acls.delete(made.name)
        expect(await acls.get(made.name)).toBeNull()
      })
      it('is one, of two requests at a time', async () => {
        const made = acl({ ingress: [web] })
        await Promise.all([acls.apply(made), acls.apply(made), acls.apply(made)])
        expect(await acls.get(made.name)).toEqual(made)
      })
    })

    describe('a forward', () => {
      let on: NetworkSpec
      beforeAll(async () => {
        on = await madeNetwork()
      })
      const port = (changes: Partial<Forward['ports'][number]> = {}) => ({
        protocol: 'tcp' as const,
        listenPorts: '80',
        targetAddress: hostOf(on, 10),
        targetPorts: null,
        description: '',
        ...changes,
      })

      it('is as it was asked for, and shows in the list of its network', async () => {
        const made = forward({
          target: hostOf(on, 12),
          ports: [
            port({ targetPorts: '8080', description: '网页' }),
            port({ protocol: 'udp', listenPorts: '8000-8010' }),
            port({ listenPorts: '9000-9001', targetPorts: '1000-1001' }),
          ],
        })
        await forwards.apply(on.name, made)
        expect(await forwards.list(on.name)).toContainEqual(made)
        const bare = forward()
        await forwards.apply(on.name, bare)
        expect(await forwards.list(on.name)).toContainEqual(bare)
      })
      it('is replaced as a whole, and not touched where nothing but order differs', async () => {
        const made = forward({ target: hostOf(on, 12), ports: [port(), port({ listenPorts: '443' })] })
        const event = (action: string) => [`forward ${on.name}/${made.address} network-forward-${action}`]
        expect(await told(() => forwards.apply(on.name, made))).toEqual(event('created'))
        expect(await told(() => forwards.apply(on.name, { ...made, ports: made.ports.toReversed() }))).toEqual([])
        expect(await told(() => forwards.apply(on.name, { ...made, target: null, ports: [port({ targetAddress: hostOf(on, 11) })] }))).toEqual(event('updated'))
        expect(await forwards.list(on.name)).toContainEqual({ ...made, target: null, ports: [port({ targetAddress: hostOf(on, 11) })] })
      })
      it('has its address for itself', async () => {
        const made = forward({ target: hostOf(on, 10) })
        await forwards.apply(on.name, made)
        const other = await madeNetwork()
        await rejects(forwards.apply(other.name, { ...made, target: null }), 'conflict')
        await rejects(forwards.apply(other.name, forward({ address: hostOf(on, 99) })), 'conflict')
        expect(await forwards.list(other.name)).toEqual([])
        expect(await forwards.list(on.name)).toContainEqual(made)
      })
      it('is refused where it cannot be, and nothing is left', async () => {
        const before = await forwards.list(on.name)
        const wrong: Partial<Forward>[] = [
          { address: 'x' },
          { address: 'fd00::5' },
          { address: hostOf(on, 10) },
          { target: `${traits.outside}.1` },
          { ports: [port({ targetAddress: `${traits.outside}.1` })] },
          { ports: [port({ listenPorts: '0' })] },
          { ports: [port({ listenPorts: '90-80' })] },
          { ports: [port({ listenPorts: '80-82', targetPorts: '80-81' })] },
          { target: hostOf(on, 10), ports: [port()] },
          { ports: [port(), port({ targetAddress: hostOf(on, 11) })] },
          { ports: [port({ listenPorts: '70-90' }), port()] },
        ]
        for (const changes of wrong) await rejects(forwards.apply(on.name, forward(changes)), 'invalid')
        await rejects(forwards.apply(`${traits.prefix}none`, forward()), 'not_found')
        await rejects(forwards.list(`${traits.prefix}none`), 'not_found')
        expect(await forwards.list(on.name)).toEqual(before)
      })
      it('is deleted as often as it is asked', async () => {
        const made = forward()
        await forwards.apply(on.name, made)
        await Promise.all([forwards.delete(on.name, made.address), forwards.delete(on.name, made.address)])
        await forwards.delete(on.name, made.address)
        await forwards.delete(`${traits.prefix}none`, made.address)
        expect((await forwards.list(on.name)).map(({ address }) => address)).not.toContain(made.address)
      })
      it('is one, of two requests at a time', async () => {
        const made = forward({ target: hostOf(on, 10) })
        await Promise.all([forwards.apply(on.name, made), forwards.apply(on.name, made), forwards.apply(on.name, made)])
        expect((await forwards.list(on.name)).filter(({ address }) => address === made.address)).toEqual([made])
      })
    })

    describe('signals', () => {
      it('cancel every call whose signal was aborted before, without an effect', async () => {
        const [on, other] = [await madeNetwork(), network()]
        const guard = acl()
        const outside = forward()
        const name = await madeInstance(on)
        const options = { signal: AbortSignal.abort() }
        const calls: Promise<unknown>[] = [
          networks.list(options),
          networks.get(on.name, options),
          networks.isAs(on, options),
          networks.apply(other, options),
          networks.apply({ ...on, description: 'x' }, options),
          networks.delete(on.name, options),
          networks.leases(on.name, options),
          networks.state(on.name, options),
          acls.get(guard.name, options),
          acls.apply(guard, options),
          acls.delete(guard.name, options),
          forwards.list(on.name, options),
          forwards.apply(on.name, outside, options),
          forwards.delete(on.name, outside.address, options),
          instances.connect(name, nic(on, { address: hostOf(on, 50) }), options),
          engine.hosts.list(options),
          engine.hosts.evacuate('x', options),
          engine.hosts.restore('x', options),
        ]
        const results = await Promise.allSettled(calls)
        expect(results.map((result) => (result.status === 'rejected' ? (result.reason as EngineError).kind : 'succeeded'))).toEqual(
          calls.map(() => 'cancelled'),
        )
        expect(await networks.get(on.name)).toMatchObject({ description: on.description })
        expect(await networks.get(other.name)).toBeNull()
        expect(await acls.get(guard.name)).toBeNull()
        expect(await forwards.list(on.name)).toEqual([])
        expect((await instances.get(name))?.nic).toMatchObject({ address: null })
      })
      if (traits.machines) {
        it.each([1, 10, 40, 120, 250])('of death, %i ms after it was asked, leave what is asked for again as it was asked for', async (ms) => {
          const [spec, other] = [network(), await madeNetwork()]
          const guard = acl({ ingress: [rule({ protocol: 'tcp', destinationPorts: ['80'] })] })
          const outside = forward({ target: hostOf(spec, 10) })
          const name = await madeInstance(other)
          await instances.start(name)
          /** By a client that is gone in the middle of it, then by one that stays. */
          const again = async (call: (client: ComputeEngine) => Promise<unknown>) => {
            const killed = makeEngine()
            const first = call(killed).catch((error: unknown) => {
              expect(error).toMatchObject({ kind: 'cancelled' })
            })
            await new Promise((resolve) => setTimeout(resolve, ms))
            await killed.close()
            await first
            await call(engine)
          }
          await again((client) => client.networks.acls.apply(guard))
          await again((client) => client.networks.apply({ ...spec, acl: guard.name }))
          await again((client) => client.networks.forwards.apply(spec.name, outside))
          await again((client) => client.instances.connect(name, nic(spec, { address: hostOf(spec, 10), guarded: true })))
          expect(await acls.get(guard.name)).toEqual(guard)
          expect(await networks.get(spec.name)).toMatchObject({ ipv4: spec.ipv4, tags, usedBy: [name] })
          expect(await forwards.list(spec.name)).toEqual([outside])
          expect((await instances.get(name))?.nic).toMatchObject({ network: spec.name, address: hostOf(spec, 10) })
          await again((client) => client.instances.connect(name, nic(other)))
          await again((client) => client.networks.forwards.delete(spec.name, outside.address))
          await again((client) => client.networks.delete(spec.name))
          await again((client) => client.networks.acls.delete(guard.name))
          expect((await instances.get(name))?.nic).toMatchObject({ network: other.name, address: null })
          expect(await networks.get(spec.name)).toBeNull()
          expect(await acls.get(guard.name)).toBeNull()
        })
      }
      it('leave what is asked for again as it was asked for', async () => {
        const spec = network()
        const guard = acl()
        const outside = forward({ target: hostOf(spec, 10) })
        const again = async (call: (options: { signal?: AbortSignal }) => Promise<unknown>) => {
          const controller = new AbortController()
          const first = call({ signal: controller.signal }).catch((error: unknown) => {
            expect(error).toMatchObject({ kind: 'cancelled' })
          })
          setImmediate(() => controller.abort())
          await first
          await call({})
        }
        await again((options) => acls.apply(guard, options))
        await again((options) => networks.apply({ ...spec, acl: guard.name }, options))
        await again((options) => forwards.apply(spec.name, outside, options))
        expect(await acls.get(guard.name)).toEqual(guard)
        expect(await networks.get(spec.name)).toMatchObject({ ipv4: spec.ipv4, tags })
        expect(await forwards.list(spec.name)).toEqual([outside])
        await again((options) => networks.delete(spec.name, options))
        await again((options) => acls.delete(guard.name, options))
        expect(await networks.get(spec.name)).toBeNull()
        expect(await acls.get(guard.name)).toBeNull()
      })
    })
  })
}
