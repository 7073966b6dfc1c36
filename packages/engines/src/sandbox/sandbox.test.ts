import { conformance } from '../conformance.ts'
import { imageFiles } from '../conformance/image-files.ts'
import { createSandboxEngine } from './engine.ts'

// A little latency, so that calls can be cancelled while they run.
conformance('The sandbox', () => createSandboxEngine({ directory: null, latencyMs: 5 }), {
  type: 'vm',
  prefix: 'zs-conf-',
  machines: false,
  imageFiles,
  async place(engine) {
    const image = (await engine.images.list()).find((one) => one.type === 'vm')
    return { imageFingerprint: image?.fingerprint ?? '', network: 'sandbox0' }
  },
})
