import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { NodeSelfTest } from '@zhisuan/contract/agent/node'
import { factsOf, type Host } from './facts.ts'
import { gpuError } from './gpus.ts'

const mib = 2 ** 20
/** Enough that no cache of a disk hides how fast it is, and over in seconds on a slow one. */
const written = 128 * mib
const atOnce = 4 * mib
/** A disk that is slower than that has been found slow by then. */
const patienceMs = 15_000

/** How fast a file gets through to the disk. The folder is temporary, and gone afterwards. */
async function diskRate(): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'zhisuan-self-test-'))
  try {
    const file = await open(join(folder, 'written'), 'w')
    try {
      // Not of zeros: some disks do not write those.
      const part = randomBytes(atOnce)
      const began = performance.now()
      let size = 0
      for (; size < written && performance.now() - began < patienceMs; size += part.length) {
        await file.write(part)
        await file.datasync()
      }
      return Math.round(size / ((performance.now() - began) / 1_000))
    } finally {
      await file.close()
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Docker asks NVIDIA's hook for cards, where it finds it: a runtime of that name it needs not. */
const hasHook = (): boolean =>
  (process.env['PATH'] ?? '').split(':').some((folder) => folder !== '' && existsSync(join(folder, 'nvidia-container-runtime-hook')))

/** What a node is, as who rents its cards will meet it. */
export async function selfTest(host: Host): Promise<NodeSelfTest> {
  const [facts, error] = [await factsOf(host), await gpuError()]
  return {
    gpus: facts.gpus,
    gpu_error: facts.gpus.length > 0 ? null : error,
    gpu_runtime: facts.docker !== null && (facts.docker.gpu_runtime || hasHook()),
    memory_bytes: facts.memory_bytes,
    disk_bytes_per_second: await diskRate(),
  }
}
