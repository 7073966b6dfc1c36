import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ComputeEngine, Nic } from '../compute.ts'
import type { Acl, Forward, NetworkSpec } from '../network.ts'
import { createLxdEngine } from './engine.ts'
import { begun, ended, extensions, failure, instance, server, startFake, sync, type FakeLxd, type Reply } from './fake.ts'

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

/** An answer of an object with its etag. */
const tagged =
  (metadata: unknown, etag = 'e1'): Reply =>
  (response) => {
    response.writeHead(200, { 'content-type': 'application/json', etag: `"${etag}"` })
    response.end(JSON.stringify({ type: 'sync', status_code: 200, operation: '', error: '', metadata }))
  }
const done = sync({})
const gone = failure(404, 'Network not found')
const cluster = server({}, { server_clustered: true })
const members = sync([{ server_name: 'n1' }, { server_name: 'n2' }])

const spec: NetworkSpec = {
  name: 'net',
  description: '私有网络',
  ipv4: '10.1.0.1/24',
  dhcp: true,
  dnsDomain: 'a.internal',
  nat: true,
  natAddress: '198.51.100.9',
  acl: 'guard',
  tags: { vpc_id: '7' },
}
const config = {
  'ipv4.address': '10.1.0.1/24',
  'ipv4.dhcp': 'true',
  'ipv4.nat': 'true',
  'ipv4.nat.address': '198.51.100.9',
  'ipv6.address': 'none',
  'dns.domain': 'a.internal',
  'security.acls': 'guard',
  'security.acls.default.ingress.action': 'drop',
  'security.acls.default.egress.action': 'allow',
  'user.zhisuan.vpc_id': '7',
}
const network = (changes: object = {}) => ({
  name: 'net',
  description: '私有网络',
  managed: true,
  type: 'bridge',
  status: 'Created',
  config,
  used_by: [],
  ...changes,
})

describe('a network', () => {
  beforeEach(() => fake.on('POST /1.0/networks', done))

  it('is asked for with everything, in one request', async () => {
    fake.on('GET /1.0/networks/net', gone, tagged(network()))
    await engine.networks.apply(spec)
    expect(fake.changes()).toEqual(['POST /1.0/networks'])
    expect(fake.last('POST', '/1.0/networks').json).toEqual({ name: 'net', type: 'bridge', description: '私有网络', config })
  })
  it('without DHCP, NAT, domain and ACL is asked for without', async () => {
    const little = { 'ipv4.address': '10.1.0.1/24', 'ipv4.dhcp': 'false', 'ipv4.nat': 'false', 'ipv6.address': 'none', 'user.zhisuan.vpc_id': '7' }
    fake.on('GET /1.0/networks/net', gone, tagged(network({ config: little })))
    await engine.networks.apply({ ...spec, dhcp: false, nat: false, natAddress: null, dnsDomain: null, acl: null })
    expect(fake.last('POST', '/1.0/networks').json).toMatchObject({ config: little })
  })
  it('is waited for where the server makes an operation of it', async () => {
    fake.on('GET /1.0/networks/net', gone, tagged(network()))
    fake.on('POST /1.0/networks', begun('made'))
    fake.on('GET /1.0/operations/made/wait', ended({ status_code: 103 }), ended())
    await engine.networks.apply(spec)
    expect(fake.seen.filter(({ path }) => path === '/1.0/operations/made/wait')).toHaveLength(2)
  })
  it('that is as wanted is only read', async () => {
    fake.on('GET /1.0/networks/net', tagged(network({ config: { ...config, 'bridge.mtu': '1400', 'volatile.bridge.hwaddr': '00:16:3e:00:00:01' } })))
    await engine.networks.apply(spec)
    expect(fake.changes()).toEqual([])
  })
  it('is changed as it was read, and what is not ours of it stays', async () => {
    fake.on(
      'GET /1.0/networks/net',
      tagged(network({ config: { ...config, 'bridge.mtu': '1400', 'security.acls.default.ingress.logged': 'true', 'dns.domain': 'old' } })),
    )
    fake.on('PUT /1.0/networks/net', done)
    await engine.networks.apply({ ...spec, natAddress: null })
    const { headers, json } = fake.last('PUT', '/1.0/networks/net')
    expect(headers['if-match']).toBe('"e1"')
    const { 'ipv4.nat.address': _, ...rest } = config
    expect(json).toEqual({ description: '私有网络', config: { ...rest, 'bridge.mtu': '1400' } })
  })
  it('is read again when another changed it in between, and left where they left it as wanted', async () => {
    fake.on(
      'GET /1.0/networks/net',
      tagged(network({ description: '' })),
      tagged(network({ config: { ...config, 'dns.domain': 'b' } }), 'e2'),
      tagged(network()),
    )
    fake.on('PUT /1.0/networks/net', failure(412, 'ETag doesn’t match'))
    await engine.networks.apply(spec)
    expect(fake.seen.filter(({ method }) => method === 'PUT').map(({ headers }) => headers['if-match'])).toEqual(['"e1"', '"e2"'])
  })
  it('gives up in the end where another changes it without end', async () => {
    fake.on('GET /1.0/networks/net', tagged(network({ description: '' })))
    fake.on('PUT /1.0/networks/net', failure(412, 'ETag doesn’t match'))
    await expect(engine.networks.apply(spec)).rejects.toMatchObject({ kind: 'busy' })
  })
  it('that another made at the same time is looked at, and taken where it is the same', async () => {
    fake.on('GET /1.0/networks/net', gone, tagged(network()))
    fake.on('POST /1.0/networks', failure(400, 'The network already exists'))
    await engine.networks.apply(spec)
    fake.on('GET /1.0/networks/net', gone, tagged(network({ config: { 'user.zhisuan.vpc_id': '8' } })))
    await expect(engine.networks.apply(spec)).rejects.toMatchObject({ kind: 'conflict' })
    expect(fake.changes().filter((change) => change.startsWith('DELETE'))).toEqual([])
  })
  it('that is being made is waited for', async () => {
    fake.on('GET /1.0/networks/net', tagged(network({ status: 'Pending' })), tagged(network({ status: 'Pending' })), tagged(network()))
    await engine.networks.apply(spec)
    expect(fake.changes()).toEqual([])
  })
  it('whose creation failed, or that is being made, is not as wanted', async () => {
    for (const [status, is] of [
      ['Created', true],
      ['Pending', false],
      ['Errored', false],
    ] as const) {
      fake.on('GET /1.0/networks/net', tagged(network({ status })))
      expect(await engine.networks.isAs(spec)).toBe(is)
    }
  })
  it('whose creation failed is made anew, where it is ours or nobody’s', async () => {
    fake.on('DELETE /1.0/networks/net', done)
    for (const left of [network({ status: 'Errored' }), network({ status: 'Errored', config: {} })]) {
      fake.on('GET /1.0/networks/net', tagged(left), tagged(network()))
      await engine.networks.apply(spec)
      expect(fake.changes().splice(-2)).toEqual(['DELETE /1.0/networks/net', 'POST /1.0/networks'])
    }
    const before = fake.changes().length
    fake.on('GET /1.0/networks/net', tagged(network({ status: 'Errored', config: { 'ipv4.address': '10.9.0.1/24' } })))
    await expect(engine.networks.apply(spec)).rejects.toMatchObject({ kind: 'conflict' })
    expect(fake.changes()).toHaveLength(before)
  })
  it('leaves nothing where the server could not make it', async () => {
    fake.on('GET /1.0/networks/net', gone, tagged(network({ status: 'Errored', config: {} })), gone)
    fake.on('POST /1.0/networks', failure(500, 'The DNS and DHCP service exited prematurely'))
    fake.on('DELETE /1.0/networks/net', done)
    await expect(engine.networks.apply(spec)).rejects.toMatchObject({ kind: 'failed', message: 'The DNS and DHCP service exited prematurely' })
    expect(fake.changes()).toEqual(['POST /1.0/networks', 'DELETE /1.0/networks/net'])
  })
  it('leaves what may still be under way', async () => {
    fake.on('GET /1.0/networks/net', gone, tagged(network()))
    fake.on('POST /1.0/networks', (response) => void response.destroy())
    await expect(engine.networks.apply(spec)).rejects.toMatchObject({ kind: 'unanswered' })
    expect(fake.changes()).toEqual(['POST /1.0/networks'])
  })
  it('does not overlap interfaces of the host that the server does not manage', async () => {
    fake.on('GET /1.0/networks/net', gone)
    fake.on(
      'GET /1.0/networks',
      sync([
        { name: 'lo', managed: false, type: 'loopback' },
        { name: 'docker0', managed: false, type: 'bridge' },
        { name: 'gone0', managed: false, type: 'physical' },
      ]),
    )
    fake.on('GET /1.0/networks/docker0/state', sync({ addresses: [{ family: 'inet', address: '10.1.0.129', netmask: '25', scope: 'global' }] }))
    await expect(engine.networks.apply(spec)).rejects.toMatchObject({ kind: 'conflict', message: expect.stringContaining('docker0') })
    expect(fake.changes()).toEqual([])
    fake.on('GET /1.0/networks/docker0/state', sync({ addresses: null }))
    fake.on('GET /1.0/networks/net', gone, tagged(network()))
    await engine.networks.apply(spec)
  })
  it('that overlaps one of another, made at the same time, yields', async () => {
    fake.on('GET /1.0/networks/net', gone, tagged(network()))
    fake.on('GET /1.0/networks', sync([]), sync([network(), network({ name: 'other', config: { 'ipv4.address': '10.1.0.65/26' } })]))
    fake.on('PUT /1.0/networks/net', done)
    fake.on('DELETE /1.0/networks/net', done)
    await expect(engine.networks.apply(spec)).rejects.toMatchObject({ kind: 'conflict' })
    expect(fake.changes()).toEqual(['POST /1.0/networks', 'PUT /1.0/networks/net', 'DELETE /1.0/networks/net'])
  })
  it('is told to every member of a cluster first, and once to those that know of it', async () => {
    fake.on('GET /1.0', cluster)
    fake.on('GET /1.0/cluster/members', members)
    fake.on('GET /1.0/networks/net', gone, tagged(network({ description: '' })))
    fake.on('POST /1.0/networks', failure(400, 'The network is already defined on member "n1"'), done, done)
    fake.on('PUT /1.0/networks/net', done)
    await engine.networks.apply(spec)
    // Which then forgets the description.
    expect(fake.last('PUT', '/1.0/networks/net').json).toMatchObject({ description: '私有网络', config })
    const asked = fake.seen.filter(({ method }) => method === 'POST').map(({ query, json }) => [query['target'], json])
    expect(asked).toEqual([
      ['n1', { name: 'net', type: 'bridge' }],
      ['n2', { name: 'net', type: 'bridge' }],
      [undefined, { name: 'net', type: 'bridge', description: '私有网络', config }],
    ])
  })
  it('is deleted once more where two who do it step on each other’s toes', async () => {
    fake.on('GET /1.0/networks/net', tagged(network()), tagged(network()), gone)
    fake.on('DELETE /1.0/networks/net', failure(500, 'Failed to run: ip link delete dev net: Cannot find device "net"'), gone)
    await engine.networks.delete('net')
    expect(fake.changes().filter((call) => call.startsWith('DELETE'))).toHaveLength(2)
    fake.on('GET /1.0/networks/net', tagged(network()))
    fake.on('DELETE /1.0/networks/net', failure(400, 'The network is currently in use'))
    await expect(engine.networks.delete('net')).rejects.toMatchObject({ kind: 'busy' })
  })
  it('of the host’s own is not deleted', async () => {
    fake.on('GET /1.0/networks/eth0', sync({ name: 'eth0', managed: false, type: 'physical' }))
    await expect(engine.networks.delete('eth0')).rejects.toMatchObject({ kind: 'invalid' })
    expect(fake.changes()).toEqual([])
  })
  it('is used by instances, of whatever project, not by what else names it', async () => {
    fake.on('GET /1.0/networks/net', tagged(network({ used_by: ['/1.0/instances/one', '/1.0/instances/two?project=p', '/1.0/profiles/default'] })))
    expect(await engine.networks.get('net')).toMatchObject({ usedBy: ['one', 'two'] })
  })
  it('has the traffic of all members', async () => {
    fake.on('GET /1.0', cluster)
    fake.on('GET /1.0/cluster/members', members)
    fake.on('GET /1.0/networks/net', tagged(network()))
    const counters = { bytes_received: 1, bytes_sent: 2, packets_received: 3, packets_sent: 4 }
    fake.on('GET /1.0/networks/net/state', sync({ state: 'up', mtu: 1500, counters }), sync({ state: 'down', mtu: 1500, counters }))
    expect(await engine.networks.state('net')).toEqual({ up: false, mtu: 1500, receivedBytes: 2, sentBytes: 4, receivedPackets: 6, sentPackets: 8 })
    expect(fake.seen.filter(({ path }) => path.endsWith('/state')).map(({ query }) => query['target'])).toEqual(['n1', 'n2'])
  })
})

describe('an ACL', () => {
  const wanted: Acl = {
    name: 'guard',
    description: '安全组',
    ingress: [
      { action: 'allow', protocol: 'tcp', source: ['10.0.0.0/8', '192.168.0.0/16'], destination: [], destinationPorts: ['22', '80-90'], description: '网页' },
      { action: 'drop', protocol: null, source: [], destination: ['10.1.0.0/24'], destinationPorts: [], description: '' },
    ],
    egress: [{ action: 'reject', protocol: 'icmp4', source: [], destination: [], destinationPorts: [], description: '' }],
    tags: { group_id: '3' },
  }
  const raw = {
    description: '安全组',
    ingress: [
      { action: 'allow', state: 'enabled', protocol: 'tcp', source: '10.0.0.0/8,192.168.0.0/16', destination_port: '22,80-90', description: '网页' },
      { action: 'drop', state: 'enabled', destination: '10.1.0.0/24' },
    ],
    egress: [{ action: 'reject', state: 'enabled', protocol: 'icmp4' }],
  }
  const there = (changes: object = {}) => tagged({ ...raw, name: 'guard', config: { 'user.zhisuan.group_id': '3', 'user.note': 'x' }, used_by: [], ...changes })

  it('is asked for with all its rules', async () => {
    fake.on('GET /1.0/network-acls/guard', failure(404, 'Network ACL not found'))
    fake.on('GET /1.0/network-acls', sync([]))
    await engine.networks.acls.apply(wanted)
    expect(fake.changes()).toEqual(['POST /1.0/network-acls'])
    expect(fake.last('POST', '/1.0/network-acls').json).toEqual({ ...raw, name: 'guard', config: { 'user.zhisuan.group_id': '3' } })
  })
  it.each<[string, object]>([
    ['in another order', { ingress: raw.ingress.toReversed() }],
    ['with empty fields', { ingress: raw.ingress.map((rule) => ({ ...rule, source_port: '', icmp_type: '', icmp_code: null })) }],
    ['as wanted', {}],
  ])('%s is only read', async (_, changes) => {
    fake.on('GET /1.0/network-acls/guard', there(changes))
    await engine.networks.acls.apply(wanted)
    expect(fake.changes()).toEqual([])
  })
  it.each<[string, object]>([
    ['a rule more', { egress: [...raw.egress, { action: 'allow', state: 'enabled' }] }],
    ['a rule less', { ingress: raw.ingress.slice(1) }],
    ['a rule that somebody disabled', { egress: [{ ...raw.egress[0], state: 'disabled' }] }],
    ['a rule of which somebody narrowed the source port', { ingress: raw.ingress.map((rule) => ({ ...rule, source_port: '1' })) }],
    ['another description', { description: '' }],
  ])('with %s is replaced as it was read, and what is not ours of it stays', async (_, changes) => {
    fake.on('GET /1.0/network-acls/guard', there(changes))
    fake.on('PUT /1.0/network-acls/guard', done)
    await engine.networks.acls.apply(wanted)
    const { headers, json } = fake.last('PUT', '/1.0/network-acls/guard')
    expect(headers['if-match']).toBe('"e1"')
    expect(json).toEqual({ ...raw, config: { 'user.zhisuan.group_id': '3', 'user.note': 'x' } })
  })
  it('shows the rules that are in force', async () => {
    fake.on(
      'GET /1.0/network-acls/guard',
      there({
        ingress: [
          { ...raw.ingress[0], state: 'logged' },
          { ...raw.ingress[1], state: 'disabled' },
        ],
        egress: null,
      }),
    )
    expect(await engine.networks.acls.get('guard')).toEqual({ ...wanted, ingress: [wanted.ingress[0]], egress: [] })
  })
  it('that another made at the same time is looked at', async () => {
    fake.on('GET /1.0/network-acls/guard', failure(404, 'Network ACL not found'), there())
    fake.on('GET /1.0/network-acls', sync([]))
    fake.on('POST /1.0/network-acls', failure(500, 'UNIQUE constraint failed: networks_acls.project_id, networks_acls.name'))
    await engine.networks.acls.apply(wanted)
  })
  it('is not taken for gone where a network goes that LXD looks through for its users', async () => {
    const looked = failure(404, 'Network not found')
    fake.on('GET /1.0/network-acls', sync(['/1.0/network-acls/other', '/1.0/network-acls/guard']))
    fake.on('GET /1.0/network-acls/guard', looked, there())
    expect(await engine.networks.acls.get('guard')).toMatchObject({ name: 'guard' })
    fake.on('DELETE /1.0/network-acls/guard', looked, looked, done)
    await engine.networks.acls.delete('guard')
    expect(fake.changes()).toEqual(['DELETE /1.0/network-acls/guard', 'DELETE /1.0/network-acls/guard', 'DELETE /1.0/network-acls/guard'])
    fake.on('GET /1.0/network-acls/guard', there({ description: '' }))
    fake.on('PUT /1.0/network-acls/guard', looked, done)
    await engine.networks.acls.apply(wanted)
    expect(fake.changes().slice(3)).toEqual(['PUT /1.0/network-acls/guard', 'PUT /1.0/network-acls/guard'])
    // Rather not done, and tried again later, than said to be done.
    fake.on('DELETE /1.0/network-acls/guard', looked)
    await expect(engine.networks.acls.delete('guard')).rejects.toMatchObject({ kind: 'busy' })
  })
  it('in use is not deleted', async () => {
    fake.on('DELETE /1.0/network-acls/guard', failure(500, 'Cannot delete an ACL that is in use'))
    await expect(engine.networks.acls.delete('guard')).rejects.toMatchObject({ kind: 'busy' })
  })
})

describe('a forward', () => {
  const wanted: Forward = {
    address: '198.51.100.7',
    description: '公网',
    target: '10.1.0.9',
    ports: [
      { protocol: 'tcp', listenPorts: '80', targetAddress: '10.1.0.5', targetPorts: '8080', description: '' },
      { protocol: 'udp', listenPorts: '53', targetAddress: '10.1.0.6', targetPorts: null, description: '域名' },
    ],
  }
  const raw = {
    description: '公网',
    config: { target_address: '10.1.0.9' },
    ports: [
      { protocol: 'tcp', listen_port: '80', target_address: '10.1.0.5', target_port: '8080', description: '' },
      { protocol: 'udp', listen_port: '53', target_address: '10.1.0.6', description: '域名' },
    ],
  }
  const path = '/1.0/networks/net/forwards/198.51.100.7'
  const there = (changes: object = {}) => ({ ...raw, listen_address: wanted.address, location: 'none', ...changes })
  beforeEach(() => {
    fake.on('GET /1.0/networks', sync([network()]))
    fake.on('GET /1.0/networks/net/forwards', sync([there()]))
    fake.on(`GET ${path}`, tagged(there()))
    fake.on(`PUT ${path}`, done)
    fake.on('POST /1.0/networks/net/forwards', done)
  })

  it('is asked for with its target and ports', async () => {
    fake.on('GET /1.0/networks/net/forwards', sync([]))
    fake.on(`GET ${path}`, failure(404, 'Network forward not found'))
    await engine.networks.forwards.apply('net', wanted)
    expect(fake.changes()).toEqual(['POST /1.0/networks/net/forwards'])
    expect(fake.last('POST', '/1.0/networks/net/forwards').json).toEqual({ ...raw, listen_address: wanted.address })
  })
  it('that is as wanted is only read', async () => {
    fake.on(`GET ${path}`, tagged(there({ ports: [{ ...raw.ports[1], target_port: '' }, raw.ports[0]] })))
    await engine.networks.forwards.apply('net', wanted)
    expect(fake.changes()).toEqual([])
  })
  it('is replaced as it was read, and what is not ours of it stays', async () => {
    fake.on(`GET ${path}`, tagged(there({ config: { target_address: '10.1.0.9', 'user.note': 'x' } })))
    await engine.networks.forwards.apply('net', { ...wanted, target: null })
    const { headers, json } = fake.last('PUT', path)
    expect(headers['if-match']).toBe('"e1"')
    expect(json).toEqual({ ...raw, config: { 'user.note': 'x' } })
  })
  it('does not listen on what another network forwards, or the server says is another’s', async () => {
    fake.on('GET /1.0/networks', sync([network(), network({ name: 'other', config: { 'ipv4.address': '10.2.0.1/24' } })]))
    fake.on('GET /1.0/networks/net/forwards', sync([]))
    fake.on('GET /1.0/networks/other/forwards', sync([there({ location: 'n1' })]))
    fake.on(`GET ${path}`, failure(404, 'Network forward not found'))
    await expect(engine.networks.forwards.apply('net', wanted)).rejects.toMatchObject({ kind: 'conflict' })
    expect(fake.changes()).toEqual([])
    fake.on('GET /1.0/networks/other/forwards', sync([]))
    fake.on(
      'POST /1.0/networks/net/forwards',
      failure(500, 'Failed creating forward: Forward listen address "198.51.100.7/32" overlaps with another network or NIC'),
    )
    await expect(engine.networks.forwards.apply('net', wanted)).rejects.toMatchObject({ kind: 'conflict' })
  })
  it('of a bridge is every member’s own, of other networks one', async () => {
    fake.on('GET /1.0', cluster)
    fake.on('GET /1.0/cluster/members', members)
    fake.on(`GET ${path}`, tagged(there()), failure(404, 'Network forward not found'))
    await engine.networks.forwards.apply('net', wanted)
    expect(fake.seen.filter(({ method }) => method === 'POST').map(({ query }) => query)).toEqual([{ target: 'n2' }])
    fake.on(`DELETE ${path}`, done, failure(404, 'Network forward not found'))
    await engine.networks.forwards.delete('net', wanted.address)
    expect(fake.seen.filter(({ method }) => method === 'DELETE').map(({ query }) => query)).toEqual([{ target: 'n1' }, { target: 'n2' }])
    fake.on('GET /1.0/networks', sync([network({ type: 'ovn' })]))
    fake.on(`DELETE ${path}`, done)
    await engine.networks.forwards.delete('net', wanted.address)
    expect(fake.seen.at(-1)).toMatchObject({ method: 'DELETE', query: {} })
  })
})

describe('a server without', () => {
  const calls: Record<string, [string, () => Promise<unknown>]> = {
    'ACLs reads none': ['network_acl', () => engine.networks.acls.get('x')],
    'ACLs takes none': ['network_acl', () => engine.networks.acls.apply({ name: 'guard', description: '', ingress: [], egress: [], tags: {} })],
    'ACLs deletes none': ['network_acl', () => engine.networks.acls.delete('x')],
    'ACLs on bridges guards no network': ['network_bridge_acl', () => engine.networks.apply(spec)],
    'forwards lists none': ['network_forward', () => engine.networks.forwards.list('net')],
    'forwards takes none': [
      'network_forward',
      () => engine.networks.forwards.apply('net', { address: '198.51.100.7', description: '', target: null, ports: [] }),
    ],
    'forwards deletes none': ['network_forward', () => engine.networks.forwards.delete('net', '198.51.100.7')],
    'leases tells none': ['network_leases', () => engine.networks.leases('net')],
    'states tells none': ['network_state', () => engine.networks.state('net')],
  }
  it.each(Object.entries(calls))('%s, and names what it lacks', async (_, [extension, call]) => {
    fake.on('GET /1.0', server({ api_extensions: extensions.filter((one) => one !== extension) }))
    await expect(call()).rejects.toMatchObject({ kind: 'unsupported', message: expect.stringContaining(extension) })
    expect(fake.changes()).toEqual([])
  })
})

describe('an instance’s NIC', () => {
  const path = '/1.0/instances/one'
  const nic = (changes: Partial<Nic> = {}): Nic => ({
    network: 'net',
    address: null,
    guarded: false,
    ingressBitsPerSecond: null,
    egressBitsPerSecond: null,
    ...changes,
  })
  const root = { type: 'disk', path: '/', pool: 'fast', size: '1073741824' }
  const plain = { type: 'nic', name: 'eth0', network: 'net' }
  const one = (eth0: object, changes: object = {}): Reply => tagged(instance({ devices: { root, eth0 }, ...changes }))
  /** The NIC of each change, in order. */
  const written = () => fake.seen.filter(({ method }) => method === 'PUT').map(({ json }) => (json as { devices: { eth0: unknown } }).devices.eth0)
  const guarded = { ...plain, 'ipv4.address': '10.1.0.5', 'security.mac_filtering': 'true', 'security.ipv4_filtering': 'true' }
  beforeEach(() => {
    fake.on('GET /1.0/networks/net', tagged(network()))
    fake.on(
      'GET /1.0/networks/net/leases',
      sync([
        { hostname: 'net.gw', hwaddr: '', address: '10.1.0.1', type: 'gateway' },
        { hostname: 'two', hwaddr: '', address: '10.1.0.6', type: 'static' },
        { hostname: 'one', address: '10.1.0.5', type: 'dynamic' },
      ]),
    )
    fake.on(`GET ${path}`, one(plain))
  })

  it('is asked for with address, guard and GPUs of a new instance', async () => {
    const wish = { name: 'one', type: 'vm', imageFingerprint: 'a', cpuCores: 1, memoryBytes: 1, diskBytes: 1, network: 'net', tags: {} } as const
    await engine.instances.create({ ...wish, address: '10.1.0.5', guarded: true, gpus: ['0000:01:00.0', '0000:02:00.0'] })
    const { devices } = fake.last('POST', '/1.0/instances').json as { devices: Record<string, unknown> }
    expect(devices['eth0']).toEqual(guarded)
    expect(devices['gpu0']).toEqual({ type: 'gpu', gputype: 'physical', pci: '0000:01:00.0' })
    expect(devices['gpu1']).toEqual({ type: 'gpu', gputype: 'physical', pci: '0000:02:00.0' })
    await engine.instances.create(wish)
    expect(fake.last('POST', '/1.0/instances').json).toMatchObject({ devices: { eth0: plain } })
  })
  it('is guarded against IPv6 where the network has it', async () => {
    fake.on('GET /1.0/networks/net', tagged(network({ config: { ...config, 'ipv6.address': 'fd42::1/64' } })))
    fake.on(`GET ${path}`, one(plain), one(plain), one({ ...guarded, 'security.ipv6_filtering': 'true' }))
    await engine.instances.connect('one', nic({ address: '10.1.0.5', guarded: true }))
    expect(written()).toEqual([{ ...guarded, 'security.ipv6_filtering': 'true' }])
  })
  it('is changed with all other devices as they were read, and only read where it is as wanted', async () => {
    const limited = { ...guarded, 'limits.ingress': '1000000bit', 'limits.egress': '2000000bit' }
    fake.on(`GET ${path}`, one(plain), one(plain), one(limited))
    const wanted = nic({ address: '10.1.0.5', guarded: true, ingressBitsPerSecond: 1_000_000, egressBitsPerSecond: 2_000_000 })
    await engine.instances.connect('one', wanted)
    expect(fake.changes()).toEqual([`PUT ${path}`])
    expect(fake.last('PUT', path)).toMatchObject({ headers: { 'if-match': '"e1"' }, json: { devices: { root, eth0: limited } } })
    await engine.instances.connect('one', wanted)
    expect(fake.changes()).toHaveLength(1)
  })
  it('keeps its hardware address', async () => {
    const hwaddr = '00:16:3e:00:00:07'
    fake.on(`GET ${path}`, one({ ...plain, hwaddr }), one({ ...plain, hwaddr }), one({ ...plain, 'ipv4.address': '10.1.0.5', hwaddr }))
    await engine.instances.connect('one', nic({ address: '10.1.0.5' }))
    expect(written()).toEqual([{ ...plain, 'ipv4.address': '10.1.0.5', hwaddr }])
    fake.on(
      'GET /1.0/instances',
      sync([
        instance({ devices: { root, eth0: { ...plain, hwaddr } } }),
        instance({ name: 'two', devices: { root, gpu0: { type: 'gpu', pci: '0000:01:00.0' } } }),
      ]),
    )
    expect((await engine.instances.list()).map(({ nic, gpus }) => [nic, gpus])).toEqual([
      [{ network: 'net', address: null, mac: hwaddr }, []],
      [null, ['0000:01:00.0']],
    ])
  })
  it('takes no address that another has', async () => {
    await expect(engine.instances.connect('one', nic({ address: '10.1.0.6' }))).rejects.toMatchObject({
      kind: 'conflict',
      message: expect.stringContaining('two'),
    })
    expect(fake.changes()).toEqual([])
  })

  describe('of a running instance', () => {
    const live = { status: 'Running', status_code: 103 }
    const volatile = { 'volatile.eth0.hwaddr': '00:16:3e:00:00:01', 'volatile.eth0.host_name': 'veth1' }
    const plugged = (eth0: object) => one(eth0, { ...live, config: volatile })
    const unplugged = (eth0: object) => one(eth0, { ...live, config: { 'volatile.eth0.hwaddr': '00:16:3e:00:00:01' } })
    const refusal = failure(500, 'Failed to update device "eth0": Failed to create ingress tc filter: (Error: Failed to load TC action module.')
    const other = { ...plain, network: 'other' }
    beforeEach(() => fake.on('GET /1.0/networks/other', tagged(network({ name: 'other' }))))

    it('tries a limit on the former network before it moves, and sets the former’s anew where it was refused', async () => {
      fake.on(
        `GET ${path}`,
        plugged(plain),
        plugged(plain),
        plugged(plain),
        plugged({ ...plain, 'limits.ingress': '100Gbit' }),
        plugged({ ...plain, 'limits.ingress': '100Gbit' }),
        plugged(plain),
      )
      fake.on(`PUT ${path}`, refusal, done)
      await expect(engine.instances.connect('one', nic({ network: 'other', egressBitsPerSecond: 1000 }))).rejects.toMatchObject({
        kind: 'unsupported',
        message: expect.stringContaining('TC action module'),
      })
      expect(written()).toEqual([{ ...plain, 'limits.egress': '1000bit' }, { ...plain, 'limits.ingress': '100Gbit' }, plain])
    })
    it('is put back where the engine took it out and refused the new one', async () => {
      const limited = { ...plain, 'limits.ingress': '100Gbit' }
      const marked = { ...plain, hwaddr: '00:16:3e:00:00:01' }
      fake.on(`GET ${path}`, plugged(plain), plugged(plain), unplugged(plain), unplugged(limited), unplugged(limited), unplugged(plain), plugged(marked))
      fake.on(`PUT ${path}`, failure(409, 'Failed add validation for device "eth0": IP address "10.1.0.9" already defined on another NIC'), done)
      fake.on('GET /1.0/networks/other/leases', sync([]))
      await expect(engine.instances.connect('one', nic({ network: 'other' }))).rejects.toMatchObject({ kind: 'conflict' })
      expect(written()[0]).toEqual(other)
      // Put in with the hardware address that it had.
      expect(written().at(-1)).toEqual(marked)
    })
    it('is put in again where whoever asked before was killed, by writing its hardware address or taking it off', async () => {
      const marked = { ...plain, hwaddr: '00:16:3e:00:00:01' }
      fake.on(`GET ${path}`, unplugged(plain), unplugged(plain), plugged(marked))
      await engine.instances.connect('one', nic())
      expect(written()).toEqual([marked])
      fake.on(`GET ${path}`, unplugged(marked), unplugged(marked), plugged(plain))
      await engine.instances.connect('one', nic())
      expect(fake.last('PUT', path).json).toMatchObject({ config: { 'volatile.eth0.hwaddr': '00:16:3e:00:00:01' }, devices: { eth0: plain } })
    })
  })
})
