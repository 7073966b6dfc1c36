import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ComputeEngine } from '../compute.ts'
import { createLxdEngine } from './engine.ts'
import { begun, ended, failure, server, startFake, sync, type FakeLxd } from './fake.ts'

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

const resources = {
  cpu: {
    architecture: 'x86_64',
    total: 8,
    sockets: [
      { name: 'EPYC', cores: [{ core: 0 }, { core: 1 }] },
      { name: 'EPYC', cores: [{ core: 0 }, { core: 1 }] },
    ],
  },
  memory: { total: 16_000, used: 4_000 },
  storage: {
    disks: [
      { id: 'nvme0n1', model: 'PM9A3', type: 'nvme', size: 1_000, read_only: false, removable: false },
      { id: 'sr0', type: 'cdrom', removable: true, read_only: true },
    ],
  },
  network: {
    cards: [
      {
        driver: 'mlx5_core',
        product: 'ConnectX-6',
        ports: [
          { id: 'eth0', address: '02:00:00:00:00:01', link_detected: true, link_speed: 25_000 },
          { id: 'eth1', link_detected: false },
        ],
      },
      { driver: 'ixgbe', ports: null },
    ],
  },
  gpu: {
    cards: [
      {
        driver: 'nvidia',
        pci_address: '0000:41:00.0',
        numa_node: 1,
        vendor: 'NVIDIA Corporation',
        vendor_id: '10de',
        product: 'GA100',
        product_id: '20b5',
        nvidia: { model: 'NVIDIA A100' },
      },
      { driver: 'udl', pci_address: '', vendor: 'DisplayLink' },
    ],
  },
  system: { vendor: 'Dell Inc.', product: 'PowerEdge', type: 'physical', firmware: { vendor: 'Dell', version: '2.1', date: '01/02/2026' } },
}
const hardware = {
  architecture: 'x86_64',
  cpu: { model: 'EPYC', sockets: 2, cores: 4, threads: 8 },
  memory: { totalBytes: 16_000, usedBytes: 4_000 },
  disks: [
    { id: 'nvme0n1', model: 'PM9A3', kind: 'nvme', sizeBytes: 1_000, readOnly: false, removable: false },
    { id: 'sr0', model: '', kind: 'cdrom', sizeBytes: 0, readOnly: true, removable: true },
  ],
  nics: [
    { id: 'eth0', mac: '02:00:00:00:00:01', driver: 'mlx5_core', product: 'ConnectX-6', linkDetected: true, speedMbps: 25_000 },
    { id: 'eth1', mac: '', driver: 'mlx5_core', product: 'ConnectX-6', linkDetected: false, speedMbps: null },
  ],
  gpus: [
    { pciAddress: '0000:41:00.0', vendorId: '10de', productId: '20b5', vendor: 'NVIDIA Corporation', model: 'NVIDIA A100', driver: 'nvidia', numaNode: 1 },
  ],
  system: { vendor: 'Dell Inc.', product: 'PowerEdge', kind: 'physical', kernel: 'Linux 6.1.0', firmware: 'Dell 2.1 01/02/2026' },
}
const member = (name: string, changes: object = {}) => ({
  server_name: name,
  url: `https://${name}.example:8443`,
  status: 'Online',
  message: 'Fully operational',
  roles: ['database'],
  architecture: 'x86_64',
  ...changes,
})

describe('one server', () => {
  it('is one host, and is not evacuated', async () => {
    fake.on('GET /1.0', server({}, { kernel: 'Linux', kernel_version: '6.1.0' }))
    fake.on('GET /1.0/resources', sync(resources))
    expect(await engine.hosts.list()).toEqual([{ name: 'host', status: 'online', statusMessage: '', address: null, roles: [], ...hardware }])
    await expect(engine.hosts.evacuate('host')).rejects.toMatchObject({ kind: 'unsupported' })
    await expect(engine.hosts.restore('host')).rejects.toMatchObject({ kind: 'unsupported' })
    expect(fake.changes()).toEqual([])
  })
  it('may tell little', async () => {
    const [host] = await engine.hosts.list()
    expect(host).toMatchObject({
      cpu: { model: '', sockets: 0, cores: 0, threads: 8 },
      memory: { totalBytes: 16_000, usedBytes: 0 },
      disks: [],
      nics: [],
      gpus: [],
    })
  })
})

describe('a cluster', () => {
  const state = '/1.0/cluster/members/n1/state'
  beforeEach(() => {
    fake.on('GET /1.0', server({}, { server_clustered: true, kernel: 'Linux', kernel_version: '6.1.0' }))
    fake.on('GET /1.0/resources', sync(resources))
    fake.on('GET /1.0/cluster/members', sync([member('n1')]))
  })

  it('asks every member that answers for what it has', async () => {
    fake.on(
      'GET /1.0/cluster/members',
      sync([
        member('n1'),
        member('n2', { status: 'Evacuated', message: 'Unavailable due to maintenance' }),
        member('n3', { status: 'Offline', message: 'No heartbeat' }),
        member('n4', { status: 'Blocked', message: 'Waiting for upgrade' }),
      ]),
    )
    const empty = {
      cpu: { model: '', sockets: 0, cores: 0, threads: 0 },
      memory: { totalBytes: 0, usedBytes: 0 },
      disks: [],
      nics: [],
      gpus: [],
      system: { vendor: '', product: '', kind: '', kernel: '', firmware: '' },
    }
    const of = (name: string, status: string, statusMessage: string, has: object) => ({
      ...has,
      architecture: 'x86_64',
      name,
      status,
      statusMessage,
      address: `${name}.example:8443`,
      roles: ['database'],
    })
    expect(await engine.hosts.list()).toEqual([
      of('n1', 'online', 'Fully operational', hardware),
      of('n2', 'evacuated', 'Unavailable due to maintenance', hardware),
      of('n3', 'offline', 'No heartbeat', empty),
      of('n4', 'offline', 'Waiting for upgrade', empty),
    ])
    expect(fake.seen.filter(({ path }) => path === '/1.0/resources').map(({ query }) => query['target'])).toEqual(['n1', 'n2'])
  })
  it('bears a member that went away just now', async () => {
    fake.on('GET /1.0/resources', failure(503, 'no route to n1'))
    expect(await engine.hosts.list()).toMatchObject([{ name: 'n1', status: 'online', statusMessage: 'no route to n1', disks: [] }])
  })
  it.each([
    ['evacuate', 'Online'],
    ['restore', 'Evacuated'],
  ] as const)('%s asks for it and waits', async (action, status) => {
    fake.on('GET /1.0/cluster/members', sync([member('n1', { status })]))
    await engine.hosts[action]('n1')
    expect(fake.last('POST', state).json).toEqual({ action })
    expect(fake.seen.at(-1)?.path).toBe('/1.0/operations/op/wait')
  })
  it.each([
    ['evacuate', 'Evacuated'],
    ['restore', 'Online'],
  ] as const)('%s asks for nothing that is so', async (action, status) => {
    fake.on('GET /1.0/cluster/members', sync([member('n1', { status })]))
    await engine.hosts[action]('n1')
    expect(fake.changes()).toEqual([])
  })
  it('waits for what is under way on that member, and for nothing else', async () => {
    const task = (id: string, location: string, description: string) => ({ id, class: 'task', status_code: 103, description, location, resources: null })
    fake.on(
      'GET /1.0/operations',
      sync({
        running: [task('mine', 'n1', 'Evacuating cluster member'), task('theirs', 'n2', 'Evacuating cluster member'), task('copy', 'n1', 'Creating instance')],
      }),
    )
    fake.on('GET /1.0/operations/mine/wait', ended({ status_code: 103 }), ended())
    fake.on('GET /1.0/cluster/members', sync([member('n1', { status: 'Evacuated' })]))
    await engine.hosts.evacuate('n1')
    expect(fake.seen.filter(({ path }) => path.endsWith('/wait')).map(({ path }) => path.split('/')[3])).toEqual(['mine', 'mine'])
    expect(fake.changes()).toEqual([])
  })
  it('takes it for done where another was quicker', async () => {
    fake.on('GET /1.0/cluster/members', sync([member('n1')]), sync([member('n1')]), sync([member('n1', { status: 'Evacuated' })]))
    fake.on(`POST ${state}`, begun())
    fake.on('GET /1.0/operations/op/wait', ended({ status_code: 400, err: 'Cluster member is already evacuated' }))
    await engine.hosts.evacuate('n1')
    expect(fake.changes()).toEqual([`POST ${state}`])
  })
  it('says what the engine says of a failure', async () => {
    fake.on('GET /1.0/operations/op/wait', ended({ status_code: 400, err: 'Failed migrating instance "one" in project "default"' }))
    await expect(engine.hosts.evacuate('n1')).rejects.toMatchObject({ kind: 'failed', message: expect.stringContaining('one') })
    expect(fake.changes()).toHaveLength(1)
    await expect(engine.hosts.evacuate('n9')).rejects.toMatchObject({ kind: 'not_found' })
  })
})
