import { imageConformance } from '../conformance/images.ts'
import { imageFiles } from '../conformance/image-files.ts'
import { snapshotConformance } from '../conformance/snapshots.ts'
import { createSandboxEngine } from './engine.ts'

// A little latency, so that calls can be cancelled while they run.
const makeEngine = () => createSandboxEngine({ directory: null, latencyMs: 2 })

for (const type of ['vm', 'container'] as const) {
  const place = async () => ({ imageFingerprint: (await makeEngine().images.list()).find((one) => one.type === type)?.fingerprint ?? '', network: 'sandbox0' })
  snapshotConformance(`The sandbox (${type})`, makeEngine, { type, prefix: 'zs-snap-', place })
  imageConformance(`The sandbox (${type})`, makeEngine, { type, prefix: 'zs-img-', files: imageFiles, place })
}
