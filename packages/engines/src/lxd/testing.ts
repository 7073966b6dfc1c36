import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { ComputeEngine } from '../compute.ts'

const run = promisify(execFile)
const buildImage = new URL('../../../../scripts/build-image.sh', import.meta.url).pathname

/** Where the LXD of this host listens. */
export const socketPath = join(process.env['LXD_DIR'] ?? '/var/lib/lxd', 'unix.socket')

/** What a program of this host printed; fails as the program does. */
export async function shell(...command: [string, ...string[]]): Promise<string> {
  const [file, ...args] = command
  return (await run(file, args)).stdout
}

/** A busybox image that no other test has or deletes: `mark` is a file in it. */
export async function ownImage(engine: ComputeEngine, mark: string): Promise<{ imageFingerprint: string; undo: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'zhisuan-image-'))
  try {
    const file = join(folder, 'image.tar')
    await run('bash', [buildImage, `${file}.gz`])
    await run('gunzip', [`${file}.gz`])
    const marked = join('rootfs', 'etc', mark)
    await mkdir(dirname(join(folder, marked)), { recursive: true })
    await writeFile(join(folder, marked), mark)
    await run('tar', ['-C', folder, '--owner=0', '--group=0', '-rf', file, marked])
    const imageFingerprint = (await engine.images.importFile?.({ alias: mark, metadataPath: file })) ?? ''
    return { imageFingerprint, undo: async () => engine.images.delete?.(imageFingerprint) }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
