import type { ComputeEngine } from '../compute.ts'
import { hostConformance } from '../conformance/hosts.ts'
import { createSandboxEngine } from './engine.ts'

const traits = {
  type: 'vm' as const,
  prefix: 'zs-host-',
  tells: true,
  async place(engine: ComputeEngine) {
    const image = (await engine.images.list()).find((one) => one.type === 'vm')
    return { imageFingerprint: image?.fingerprint ?? '', network: 'sandbox0' }
  },
}
hostConformance('The sandbox', () => createSandboxEngine({ directory: null }), { ...traits, cluster: false })
hostConformance('The sandbox of three hosts', () => createSandboxEngine({ directory: null, hosts: 3, latencyMs: 1 }), { ...traits, cluster: true })
