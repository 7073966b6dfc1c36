import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { networkConformance } from '../conformance/networks.ts'
import { createSandboxEngine } from './engine.ts'

networkConformance('The sandbox', () => createSandboxEngine({ directory: null, latencyMs: 1 }), {
  type: 'vm',
  prefix: 'zsn',
  machines: false,
  range: '10.200',
  outside: '198.18.200',
  async place(engine) {
    const image = (await engine.images.list()).find((one) => one.type === 'vm')
    return { imageFingerprint: image?.fingerprint ?? '', network: 'sandbox0' }
  },
})

it('finds networks, rules, forwards, hosts and addresses again when it is opened again', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'zhisuan-sandbox-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const open = () => createSandboxEngine({ directory, hosts: 2 })
  const first = open()
  const [image] = await first.images.list()
  const network = {
    name: 'net',
    description: '',
    ipv4: '10.1.0.1/29',
    dhcp: true,
    dnsDomain: null,
    nat: true,
    natAddress: null,
    acl: 'guard',
    tags: { id: '1' },
  }
  const rule = { action: 'allow' as const, protocol: 'tcp' as const, source: [], destination: [], destinationPorts: ['80'], description: '' }
  const instance = (name: string) => ({
    name,
    type: 'vm' as const,
    imageFingerprint: image?.fingerprint ?? '',
    cpuCores: 1,
    memoryBytes: 1,
    diskBytes: 1,
    network: 'net',
    tags: {},
  })
  await first.networks.acls.apply({ name: 'guard', description: '', ingress: [rule], egress: [], tags: {} })
  await first.networks.apply(network)
  await first.networks.forwards.apply('net', { address: '198.51.100.1', description: '', target: '10.1.0.2', ports: [] })
  await first.instances.create({ ...instance('fixed'), address: '10.1.0.3', gpus: ['0000:01:00.0'] })
  for (const name of ['vm-a', 'vm-b']) {
    await first.instances.create(instance(name))
    await first.instances.start(name)
  }
  await first.hosts.evacuate('sandbox-1')
  const look = async (engine: ReturnType<typeof open>) => ({
    networks: await engine.networks.list(),
    acl: await engine.networks.acls.get('guard'),
    forwards: await engine.networks.forwards.list('net'),
    leases: await engine.networks.leases('net'),
    instances: await engine.instances.list(),
    hosts: await engine.hosts.list(),
  })
  const before = await look(first)
  expect(before.instances.map(({ addresses }) => addresses[0]?.address)).toEqual([undefined, '10.1.0.2', '10.1.0.4'])
  expect(before.hosts.map(({ status }) => status)).toEqual(['evacuated', 'online'])
  await first.close()
  const second = open()
  expect(await look(second)).toEqual(before)
  // Nobody's address is given once more; two are left of six.
  for (const name of ['vm-c', 'vm-d', 'vm-e']) {
    await second.instances.create(instance(name))
    await second.instances.start(name)
  }
  expect((await second.instances.list()).map(({ addresses }) => addresses[0]?.address)).toEqual([
    undefined,
    '10.1.0.2',
    '10.1.0.4',
    '10.1.0.5',
    '10.1.0.6',
    undefined,
  ])
  await expect(second.instances.create({ ...instance('vm-f'), address: '10.1.0.2' })).rejects.toMatchObject({ kind: 'conflict' })
  await expect(second.instances.create({ ...instance('vm-f'), gpus: ['0000:09:00.0'] })).rejects.toMatchObject({ kind: 'invalid' })
  await second.close()
})
