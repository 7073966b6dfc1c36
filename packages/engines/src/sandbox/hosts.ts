import { z } from 'zod'
import { EngineError } from '../errors.ts'
import type { Host, Hosts } from '../hosts.ts'
import { openJournal } from './journal.ts'
import type { Parts } from './parts.ts'

const gib = 2 ** 30
const pciAddresses = ['0000:01:00.0', '0000:02:00.0']

export interface SandboxHosts extends Hosts {
  readonly count: number
  /** Where the instance of this number is put, or who asked for a host of its own. */
  place(number: number, wanted?: string): string
  mustHaveGpus(pciAddresses: readonly string[]): void
}

/** Moves what is on one of these hosts elsewhere, and back. */
export interface Movers {
  memoryBytes(host: string): number
  moveAway(from: string, to: (number: number) => string): void
  moveBack(to: string): void
}

/** Hosts that are not there. More than one are a cluster. */
export function createSandboxHosts({ directory, enter, work, tell }: Parts, count: number, movers: Movers): SandboxHosts {
  const evacuated = openJournal<true>(directory, (value) => z.literal(true).safeParse(value).data ?? null, 'hosts')
  const names = count === 1 ? ['sandbox'] : Array.from({ length: count }, (_, index) => `sandbox-${index + 1}`)
  const open = (): string[] => names.filter((name) => !evacuated.objects.has(name))
  const among = (hosts: readonly string[]) => (number: number) => hosts[number % hosts.length] ?? names[0] ?? ''

  const shape = (name: string, index: number): Host => ({
    name,
    status: evacuated.objects.has(name) ? 'evacuated' : 'online',
    statusMessage: '',
    address: count === 1 ? null : `198.51.100.${index + 1}:8443`,
    roles: count > 1 && index === 0 ? ['database-leader', 'database'] : [],
    architecture: 'x86_64',
    cpu: { model: 'Sandbox CPU', sockets: 2, cores: 64, threads: 128 },
    memory: { totalBytes: 512 * gib, usedBytes: Math.min(512 * gib, movers.memoryBytes(name)) },
    disks: [{ id: 'sda', model: 'Sandbox disk', kind: 'nvme', sizeBytes: 4096 * gib, readOnly: false, removable: false }],
    nics: [{ id: 'eth0', mac: '00:16:3e:ff:ff:01', driver: 'sandbox', product: 'Sandbox NIC', linkDetected: true, speedMbps: 10_000 }],
    gpus: pciAddresses.map((pciAddress) => ({
      pciAddress,
      vendorId: '0000',
      productId: '0001',
      vendor: 'Sandbox',
      model: 'Sandbox GPU',
      driver: 'sandbox',
      numaNode: 0,
    })),
    system: { vendor: 'Sandbox', product: 'Sandbox', kind: 'virtual-machine', kernel: '', firmware: '' },
  })
  const mustKnow = (name: string): void => {
    if (count === 1) throw new EngineError('unsupported', 'the sandbox is not a cluster')
    if (!names.includes(name)) throw new EngineError('not_found', `no member ${name}`)
  }

  return {
    count,
    place(number, wanted) {
      if (wanted !== undefined) mustKnow(wanted)
      return wanted ?? among(open())(number)
    },
    mustHaveGpus(wanted) {
      for (const pci of wanted) if (!pciAddresses.includes(pci)) throw new EngineError('invalid', `no GPU at ${pci}`)
    },
    async list(call) {
      await enter(call)
      return names.map(shape)
    },
    async evacuate(name, call) {
      await work(call)
      mustKnow(name)
      if (evacuated.objects.has(name)) return
      const others = open().filter((one) => one !== name)
      if (others.length === 0) throw new EngineError('failed', 'no other member takes instances')
      movers.moveAway(name, among(others))
      evacuated.journal.put(name, true)
      tell('member', name, 'cluster-member-evacuated')
    },
    async restore(name, call) {
      await work(call)
      mustKnow(name)
      if (!evacuated.objects.has(name)) return
      movers.moveBack(name)
      evacuated.journal.remove(name)
      tell('member', name, 'cluster-member-restored')
    },
  }
}
