import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import type { Nic } from '../compute.ts'
import { rejects } from '../conformance/rejects.ts'
import type { Acl, AclRule, Forward, NetworkSpec } from '../network.ts'
import { createLxdEngine } from './engine.ts'
import { ownImage, shell, socketPath } from './testing.ts'

const patient = { interval: 100 }
const prefix = 'zsp'
const tags = { owner: 'packets' }
const who = '#!/bin/sh\nprintf "Content-Type: text/plain\\r\\n\\r\\n%s" "$REMOTE_ADDR"\n'
/** A link to the host, and beyond it a namespace that stands for the world. */
const outside = { namespace: 'zspout', link: 'zspout0', host: '198.18.201.1', address: '198.18.201.2' }
const eip = '198.18.202.10'

/** What networks, rules and forwards promise, seen by the packets that come through. */
describe.skipIf(!existsSync(socketPath) && process.env['CI'] === undefined)('on this host, packets', () => {
  const engine = createLxdEngine({ socketPath })
  const { instances, networks } = engine
  const { acls, forwards } = networks
  const left: NetworkSpec = {
    name: `${prefix}a`,
    description: '',
    ipv4: '10.200.240.1/24',
    dhcp: true,
    dnsDomain: null,
    nat: false,
    natAddress: null,
    acl: `${prefix}-a`,
    tags,
  }
  const right: NetworkSpec = { ...left, name: `${prefix}b`, ipv4: '10.200.241.1/24', acl: `${prefix}-b` }
  const a1 = { name: `${prefix}-a1`, network: left.name, address: '10.200.240.11' }
  const a2 = { name: `${prefix}-a2`, network: left.name, address: '10.200.240.12' }
  const b1 = { name: `${prefix}-b1`, network: right.name, address: '10.200.241.11' }
  const bare: Acl = { name: `${prefix}-a`, description: '', ingress: [], egress: [], tags }
  let image: Awaited<ReturnType<typeof ownImage>> | undefined
  let folder: string
  let world: ChildProcess | undefined

  const rule = (changes: Partial<AclRule>): AclRule => ({
    action: 'allow',
    protocol: null,
    source: [],
    destination: [],
    destinationPorts: [],
    description: '',
    ...changes,
  })
  const nicOf = (one: typeof a1, changes: Partial<Nic> = {}): Nic => ({
    network: one.network,
    address: one.address,
    guarded: false,
    ingressBitsPerSecond: null,
    egressBitsPerSecond: null,
    ...changes,
  })
  /** Runs a shell's line in an instance, or in the world outside. */
  const run = async (where: string, line: string): Promise<{ code: number; out: string; err: string }> => {
    if (where === outside.namespace) {
      return shell('ip', 'netns', 'exec', where, 'busybox', 'sh', '-c', line).then(
        (out) => ({ code: 0, out, err: '' }),
        (error: { code: number; stdout: string; stderr: string }) => ({ code: error.code, out: error.stdout, err: error.stderr }),
      )
    }
    const { exitCode, stdout, stderr } = await instances.exec(where, { command: ['sh', '-c', line] })
    return { code: exitCode, out: stdout.toString(), err: stderr.toString() }
  }
  /** As whom the server there sees who asks; `refused` or `silent` where no answer comes. */
  const seen = async (from: string, to: string, port = 80): Promise<string> => {
    const { out, err } = await run(from, `printf 'GET /cgi-bin/who HTTP/1.0\\r\\n\\r\\n' | busybox timeout 20 busybox nc -w 5 ${to} ${port}`)
    const body = out.split('\r\n\r\n')[1] ?? ''
    if (body !== '') return body
    return /refused/i.test(err) ? 'refused' : 'silent'
  }
  const pings = async (from: string, to: string, more = ''): Promise<boolean> => (await run(from, `busybox ping -c 1 -W 2 ${more} ${to}`)).code === 0
  const hasAddress = async ({ name, address }: typeof a1): Promise<void> => {
    await vi.waitFor(async () => expect((await run(name, 'ip -4 addr show eth0')).out).toContain(`${address}/24`), patient)
  }
  const answers = (where: string, port: number) => vi.waitFor(async () => expect(await seen(where, '127.0.0.1', port)).toBe('127.0.0.1'), patient)
  const serve = async ({ name }: typeof a1, ...ports: number[]): Promise<void> => {
    await run(name, 'mkdir -p /srv/cgi-bin')
    await instances.writeFile(name, { path: '/srv/cgi-bin/who', content: Buffer.from(who), mode: 0o755 })
    for (const port of ports) {
      await run(name, `httpd -p 0.0.0.0:${port} -h /srv`)
      await answers(name, port)
    }
  }
  const clear = async (): Promise<void> => {
    for (const { name } of [a1, a2, b1]) await instances.delete(name)
    for (const { name } of [left, right]) await networks.delete(name)
    for (const name of [`${prefix}-a`, `${prefix}-b`]) await acls.delete(name)
    await shell('ip', 'netns', 'del', outside.namespace).catch(() => undefined)
    await shell('ip', 'link', 'del', outside.link).catch(() => undefined)
  }

  beforeAll(async () => {
    await clear()
    folder = await mkdtemp(join(tmpdir(), 'zhisuan-packets-'))
    await shell('ip', 'netns', 'add', outside.namespace)
    await shell('ip', 'link', 'add', outside.link, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', outside.namespace)
    await shell('ip', 'addr', 'add', `${outside.host}/24`, 'dev', outside.link)
    await shell('ip', 'link', 'set', outside.link, 'up')
    const inside = ['netns', 'exec', outside.namespace, 'ip'] as const
    await shell('ip', ...inside, 'addr', 'add', `${outside.address}/24`, 'dev', 'eth0')
    for (const link of ['lo', 'eth0']) await shell('ip', ...inside, 'link', 'set', link, 'up')
    await shell('ip', ...inside, 'route', 'add', 'default', 'via', outside.host)
    await mkdir(join(folder, 'cgi-bin'))
    await writeFile(join(folder, 'cgi-bin', 'who'), who)
    await chmod(join(folder, 'cgi-bin', 'who'), 0o755)
    world = spawn('ip', ['netns', 'exec', outside.namespace, 'busybox', 'httpd', '-f', '-p', '0.0.0.0:80', '-h', folder], { stdio: 'ignore' })
    await answers(outside.namespace, 80)

    image = await ownImage(engine, 'zs-packets')
    const { imageFingerprint } = image
    for (const name of [`${prefix}-a`, `${prefix}-b`]) await acls.apply({ ...bare, name })
    for (const spec of [left, right]) await networks.apply(spec)
    for (const { name, network, address } of [a1, a2, b1]) {
      await instances.create({ name, network, address, type: 'container', imageFingerprint, cpuCores: 1, memoryBytes: 2 ** 27, diskBytes: 2 ** 30, tags })
      await instances.start(name)
    }
    for (const one of [a1, a2, b1]) await hasAddress(one)
    await serve(a2, 80)
    await serve(b1, 80, 81, 8080)
  })
  afterEach(async () => {
    for (const name of [`${prefix}-a`, `${prefix}-b`]) await acls.apply({ ...bare, name })
    for (const spec of [left, right]) await networks.apply(spec)
    for (const { address } of await forwards.list(right.name)) await forwards.delete(right.name, address)
  })
  afterAll(async () => {
    world?.kill()
    await clear()
    await image?.undo()
    await engine.close()
    await rm(folder, { recursive: true, force: true })
    expect(await shell('nft', 'list', 'ruleset')).not.toContain(prefix)
    expect(await shell('ip', 'link')).not.toContain(prefix)
  })

  it('pass within a network, and none comes in from another or from outside', async () => {
    expect(await seen(a1.name, a2.address)).toBe(a1.address)
    expect(await pings(a1.name, a2.address)).toBe(true)
    expect(await seen(a1.name, b1.address)).toBe('silent')
    expect(await pings(b1.name, a1.address)).toBe(false)
    expect(await seen(outside.namespace, b1.address)).toBe('silent')
    expect(await pings(outside.namespace, a1.address)).toBe(false)
    // What no rule meets is let out.
    expect(await pings(a1.name, outside.address)).toBe(true)
  })

  it('come in where a rule lets them, to its ports only', async () => {
    await acls.apply({ ...bare, name: `${prefix}-b`, ingress: [rule({ protocol: 'tcp', source: ['10.200.240.0/24'], destinationPorts: ['80'] })] })
    expect(await seen(a1.name, b1.address)).toBe(a1.address)
    expect(await seen(a1.name, b1.address, 81)).toBe('silent')
    expect(await seen(outside.namespace, b1.address)).toBe('silent')
    expect(await pings(a1.name, b1.address)).toBe(false)
    await acls.apply({ ...bare, name: `${prefix}-b`, ingress: [rule({ protocol: 'icmp4' })] })
    expect(await pings(a1.name, b1.address)).toBe(true)
    expect(await seen(a1.name, b1.address)).toBe('silent')
  })

  it('are dropped before they are rejected, and rejected before they are let through', async () => {
    const ingress = [
      rule({ protocol: 'tcp', destinationPorts: ['80-8080'] }),
      rule({ action: 'reject', protocol: 'tcp', source: [`${a1.address}/32`, `${a2.address}/32`], destinationPorts: ['81', '8080'] }),
      rule({ action: 'drop', protocol: 'tcp', source: [`${a2.address}/32`], destinationPorts: ['8080'] }),
    ]
    await acls.apply({ ...bare, name: `${prefix}-b`, ingress })
    expect(await seen(a1.name, b1.address)).toBe(a1.address)
    expect(await seen(a1.name, b1.address, 81)).toBe('refused')
    expect(await seen(a1.name, b1.address, 8080)).toBe('refused')
    expect(await seen(a2.name, b1.address, 8080)).toBe('silent')
  })

  it('go out unless a rule forbids it', async () => {
    await acls.apply({ ...bare, name: `${prefix}-b`, ingress: [rule({ protocol: 'tcp' })] })
    await acls.apply({ ...bare, egress: [rule({ action: 'reject', protocol: 'tcp', destination: ['10.200.241.0/24'], destinationPorts: ['81'] })] })
    expect(await seen(a1.name, b1.address)).toBe(a1.address)
    expect(await seen(a1.name, b1.address, 81)).toBe('refused')
    // The host is outside too.
    expect(await pings(a1.name, '10.200.241.1')).toBe(true)
    await acls.apply({ ...bare, egress: [rule({ action: 'drop', destination: ['10.200.241.1/32'] })] })
    expect(await pings(a1.name, '10.200.241.1')).toBe(false)
    expect(await pings(a1.name, '10.200.240.1')).toBe(true)
  })

  it('meet in the host’s firewall exactly the rules that are told of', async () => {
    const ingress = [
      rule({ protocol: 'tcp', source: ['10.0.0.0/8', '192.168.0.0/16'], destinationPorts: ['22', '8000-8999'] }),
      rule({ action: 'reject', protocol: 'udp', destinationPorts: ['53'] }),
      rule({ action: 'drop', source: ['203.0.113.0/24'], destination: ['10.200.241.0/25'] }),
      rule({ protocol: 'icmp4' }),
    ]
    const egress = [
      rule({ action: 'drop', protocol: 'tcp', destination: ['198.51.100.7/32'], destinationPorts: ['25'] }),
      rule({ protocol: 'icmp6' }),
      rule({ action: 'reject' }),
    ]
    await acls.apply({ ...bare, name: `${prefix}-b`, ingress, egress })
    const { ingress: shownIn, egress: shownOut } = (await acls.get(`${prefix}-b`)) ?? bare
    const there = await rulesInForce(right.name)
    expect(there.slice(0, -2).map(written).sort()).toEqual(
      [...shownIn.map((one) => written({ ...one, way: 'in' })), ...shownOut.map((one) => written({ ...one, way: 'out' }))].sort(),
    )
    // Last comes what meets those that no rule met.
    expect(there.slice(-2).map(written)).toEqual([written({ ...rule({}), way: 'out' }), written({ ...rule({ action: 'drop' }), way: 'in' })])
    await acls.apply({ ...bare, name: `${prefix}-b` })
    expect(await rulesInForce(right.name)).toHaveLength(2)
  })

  it('leave with their own address, or the host’s, or the one that was asked for', async () => {
    expect(await seen(a1.name, outside.address)).toBe(a1.address)
    await networks.apply({ ...left, nat: true })
    expect(await seen(a1.name, outside.address)).toBe(outside.host)
    await networks.apply({ ...left, nat: true, natAddress: eip })
    await shell('ip', 'netns', 'exec', outside.namespace, 'ip', 'route', 'replace', `${eip}/32`, 'via', outside.host)
    expect(await seen(a1.name, outside.address)).toBe(eip)
    await networks.apply(left)
    expect(await seen(a1.name, outside.address)).toBe(a1.address)
  })

  describe('to an address outside', () => {
    const forward: Forward = {
      address: eip,
      description: '',
      target: null,
      ports: [{ protocol: 'tcp', listenPorts: '80', targetAddress: b1.address, targetPorts: '8080', description: '' }],
    }
    const open = (...ports: string[]) => acls.apply({ ...bare, name: `${prefix}-b`, ingress: [rule({ protocol: 'tcp', destinationPorts: ports })] })

    it('come to the instance, as the rules for it allow', async () => {
      await forwards.apply(right.name, forward)
      expect(await seen(outside.namespace, eip)).toBe('silent')
      // Rules see where a packet is led to.
      await open('80')
      expect(await seen(outside.namespace, eip)).toBe('silent')
      await open('8080')
      expect(await seen(outside.namespace, eip)).toBe(outside.address)
      expect(await seen(a1.name, eip)).toBe(a1.address)
      expect(await seen(outside.namespace, eip, 81)).not.toBe(outside.address)
    })
    it('all come to its target, but for its ports', async () => {
      await open('80-8080')
      await networks.apply(left)
      const other = { ...forward, target: '10.200.241.12', ports: [{ ...forward.ports[0], listenPorts: '80-81', targetPorts: null }] } as Forward
      await forwards.apply(right.name, other)
      expect(await seen(outside.namespace, eip)).toBe(outside.address)
      expect(await seen(outside.namespace, eip, 81)).toBe(outside.address)
      expect(await seen(outside.namespace, eip, 8080)).toBe('silent')
      await forwards.apply(right.name, { ...forward, target: b1.address, ports: [] })
      expect(await seen(outside.namespace, eip, 8080)).toBe(outside.address)
      await forwards.delete(right.name, eip)
      expect(await seen(outside.namespace, eip, 8080)).not.toBe(outside.address)
    })
  })

  it('under another’s address are not heard of a guarded instance', async () => {
    const stolen = '10.200.240.99'
    const asStolen = async (): Promise<boolean> => {
      await run(a1.name, `ip addr add ${stolen}/24 dev eth0`)
      const heard = await pings(a1.name, a2.address, `-I ${stolen}`)
      await run(a1.name, `ip addr del ${stolen}/24 dev eth0`)
      return heard
    }
    const underMac = async (): Promise<boolean> => {
      const mac = (await instances.get(a1.name))?.nic?.mac ?? ''
      const set = (address: string) => run(a1.name, `ip link set eth0 down; ip link set eth0 address ${address}; ip link set eth0 up`)
      await set('02:00:00:00:00:99')
      const heard = await pings(a1.name, a2.address)
      await set(mac)
      return heard
    }
    expect(await asStolen()).toBe(true)
    expect(await underMac()).toBe(true)
    await instances.connect(a1.name, nicOf(a1, { guarded: true }))
    expect(await asStolen()).toBe(false)
    expect(await underMac()).toBe(false)
    await hasAddress(a1)
    expect(await pings(a1.name, a2.address)).toBe(true)
    await instances.connect(a1.name, nicOf(a1))
    expect(await asStolen()).toBe(true)
  })

  it('reach an instance where it was moved to, and nowhere else', async () => {
    const moved = { ...a2, network: right.name, address: '10.200.241.12' }
    await instances.connect(a2.name, nicOf(moved))
    await run(a2.name, 'ip link set eth0 up; udhcpc -i eth0 -s /etc/udhcpc/apply -n -q -t 10 -T 1')
    await hasAddress(moved)
    expect(await seen(b1.name, moved.address)).toBe(b1.address)
    expect(await seen(a1.name, moved.address)).toBe('silent')
    await instances.connect(a2.name, nicOf(a2))
    await run(a2.name, 'ip link set eth0 up; udhcpc -i eth0 -s /etc/udhcpc/apply -n -q -t 10 -T 1')
    await hasAddress(a2)
    expect(await seen(a1.name, a2.address)).toBe(a1.address)
  })

  describe('and their limits', () => {
    const linkOf = async (name: string): Promise<string> => {
      const { config } = z.object({ config: z.record(z.string(), z.string()) }).parse(JSON.parse(await shell('lxc', 'query', `/1.0/instances/${name}`)))
      return config['volatile.eth0.host_name'] ?? ''
    }
    const rates = async (name: string) => (await shell('tc', 'class', 'show', 'dev', await linkOf(name))).match(/rate \S+/)?.[0] ?? 'none'
    /** Whether this kernel can limit what an instance sends. */
    const polices = async (): Promise<boolean> => {
      const script =
        'ip link add zspt type veth peer name zspu && tc qdisc add dev zspt ingress && tc filter add dev zspt parent ffff: protocol all u32 match u32 0 0 police rate 1mbit burst 1m drop'
      return shell('unshare', '-n', 'sh', '-c', script).then(
        () => true,
        () => false,
      )
    }

    it('of what it receives are set, changed and taken away as it runs', async () => {
      await instances.connect(a1.name, nicOf(a1, { ingressBitsPerSecond: 50_000_000 }))
      expect(await rates(a1.name)).toBe('rate 50Mbit')
      await instances.connect(a1.name, nicOf(a1, { ingressBitsPerSecond: 80_000_000 }))
      expect(await rates(a1.name)).toBe('rate 80Mbit')
      await instances.connect(a1.name, nicOf(a1))
      expect(await rates(a1.name)).toBe('none')
      await hasAddress(a1)
    })
    it.each([
      ['as it is', a1, null],
      ['with another limit', a1, 50_000_000],
      ['to another network', { ...a1, network: right.name, address: '10.200.241.13' }, null],
    ])('of what it sends are set, or refused where the kernel cannot and the NIC left %s', async (_, to, former) => {
      await instances.connect(a1.name, nicOf(a1, { ingressBitsPerSecond: former }))
      const [link, nic] = [await linkOf(a1.name), (await instances.get(a1.name))?.nic]
      const wanted = nicOf(to, { ingressBitsPerSecond: 70_000_000, egressBitsPerSecond: 30_000_000 })
      if (await polices()) {
        await instances.connect(a1.name, wanted)
        expect(await shell('tc', 'filter', 'show', 'dev', await linkOf(a1.name), 'parent', 'ffff:')).toContain('rate 30Mbit')
        await instances.connect(a1.name, nicOf(a1))
        return
      }
      await rejects(instances.connect(a1.name, wanted), 'unsupported')
      await rejects(instances.connect(a1.name, wanted), 'unsupported')
      expect((await instances.get(a1.name))?.nic).toEqual(nic)
      expect(await linkOf(a1.name)).toBe(link)
      expect(await rates(a1.name)).toBe(former === null ? 'none' : 'rate 50Mbit')
      // Not even its lease was lost.
      await hasAddress(a1)
      expect(await seen(a1.name, a2.address)).toBe(a1.address)
    })
    it('that the kernel cannot set on a stopped instance show when it starts', async () => {
      await instances.stop(a1.name, { force: true })
      await instances.connect(a1.name, nicOf(a1, { egressBitsPerSecond: 30_000_000 }))
      if (await polices()) await instances.start(a1.name)
      else await rejects(instances.start(a1.name), 'unsupported')
      await instances.connect(a1.name, nicOf(a1))
      await instances.start(a1.name)
      await hasAddress(a1)
    })
  })

  it('flow again through a NIC that a refused change took out', async () => {
    const mac = (await instances.get(a1.name))?.nic?.mac
    // Past our own looking: the engine takes the NIC out, then finds the address taken.
    const device = { type: 'nic', name: 'eth0', network: right.name, 'ipv4.address': b1.address }
    await expect(shell('lxc', 'query', '-X', 'PATCH', '-d', JSON.stringify({ devices: { eth0: device } }), `/1.0/instances/${a1.name}`)).rejects.toThrow(
      /already defined/,
    )
    expect((await run(a1.name, 'ip link show eth0')).code).not.toBe(0)
    await instances.connect(a1.name, nicOf(a1))
    expect((await instances.get(a1.name))?.nic).toEqual({ network: left.name, address: a1.address, mac })
    await run(a1.name, 'ip link set eth0 up; udhcpc -i eth0 -s /etc/udhcpc/apply -n -q -t 10 -T 1')
    await hasAddress(a1)
    expect(await seen(a1.name, a2.address)).toBe(a1.address)
  })
})

type Rule = AclRule & { way: 'in' | 'out' }
const written = ({ way, action, protocol, source, destination, destinationPorts }: Rule): string =>
  [way, action, protocol ?? 'any', [...source].sort().join(','), [...destination].sort().join(','), [...destinationPorts].sort().join(',')].join(' ')

/** What nftables says that it does with what enters and leaves a network, but for answers to what was let through. */
async function rulesInForce(network: string): Promise<Rule[]> {
  const listed = z.object({ nftables: z.array(z.object({ rule: z.object({ expr: z.array(z.record(z.string(), z.unknown())) }).optional() })) })
  const { nftables } = listed.parse(JSON.parse(await shell('nft', '-j', 'list', 'chain', 'inet', 'lxd', `acl.${network}`)))
  const rules = nftables.flatMap(({ rule }) => (rule === undefined ? [] : [ruleOf(network, rule.expr)]))
  return rules.filter((rule) => rule !== null)
}

function ruleOf(network: string, expressions: readonly Record<string, unknown>[]): Rule | null {
  const rule = {
    way: 'in' as Rule['way'],
    action: 'drop' as Rule['action'],
    protocol: null as Rule['protocol'],
    source: [] as string[],
    destination: [] as string[],
    destinationPorts: [] as string[],
    description: '',
  }
  const match = z.object({
    left: z.looseObject({
      meta: z.object({ key: z.string() }).optional(),
      payload: z.object({ protocol: z.string(), field: z.string() }).optional(),
      ct: z.unknown().optional(),
    }),
    right: z.unknown(),
  })
  for (const expression of expressions) {
    if ('accept' in expression) rule.action = 'allow'
    else if ('reject' in expression) rule.action = 'reject'
    else if ('drop' in expression) rule.action = 'drop'
    else if ('match' in expression) {
      const { left, right } = match.parse(expression['match'])
      if (left.ct !== undefined) return null
      const field = left.meta?.key ?? `${left.payload?.protocol} ${left.payload?.field}`
      if (field === 'iifname' || field === 'oifname') {
        expect(right).toBe(network)
        rule.way = field === 'iifname' ? 'out' : 'in'
      } else if (field === 'ip saddr') rule.source = textsOf(right)
      else if (field === 'ip daddr') rule.destination = textsOf(right)
      else if (field === 'tcp dport' || field === 'udp dport') {
        rule.protocol = field === 'tcp dport' ? 'tcp' : 'udp'
        rule.destinationPorts = textsOf(right)
      } else if (field === 'ip protocol' || field === 'ip6 nexthdr' || field === 'l4proto') {
        const protocol = textsOf(right)[0] ?? ''
        rule.protocol = protocol === 'icmp' ? 'icmp4' : protocol === 'icmpv6' || protocol === 'ipv6-icmp' ? 'icmp6' : (protocol as 'tcp' | 'udp')
      } else throw new Error(`a match that nobody asked for: ${JSON.stringify(expression)}`)
    } else throw new Error(`something that nobody asked for: ${JSON.stringify(expression)}`)
  }
  return rule
}

/** A value of nftables' JSON: a word, a prefix, a range, or a set of them. */
function textsOf(value: unknown): string[] {
  const shape = z.union([
    z.union([z.string(), z.number()]).transform((one) => [String(one)]),
    z.object({ prefix: z.object({ addr: z.string(), len: z.number() }) }).transform(({ prefix }) => [`${prefix.addr}/${prefix.len}`]),
    z.object({ range: z.tuple([z.number(), z.number()]) }).transform(({ range }) => [range.join('-')]),
  ])
  const set = z.object({ set: z.array(z.unknown()) }).safeParse(value)
  const texts = set.success ? set.data.set.flatMap(textsOf) : shape.parse(value)
  // A single address stands without its length.
  return texts.map((text) => (/^\d+\.\d+\.\d+\.\d+$/.test(text) ? `${text}/32` : text))
}
