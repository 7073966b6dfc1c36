import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe } from 'vitest'
import { conformance } from '../conformance.ts'
import { createLxdEngine } from './engine.ts'

const run = promisify(execFile)
const socketPath = join(process.env['LXD_DIR'] ?? '/var/lib/lxd', 'unix.socket')
const buildImage = new URL('../../../../scripts/build-image.sh', import.meta.url).pathname

/** Two images with nothing in them, of one content and of another, so that neither is anybody else's. */
async function imageFiles() {
  const folder = await mkdtemp(join(tmpdir(), 'zhisuan-conf-'))
  const make = async (name: string, parts: string[]): Promise<string> => {
    const source = join(folder, `${name}-source`)
    await mkdir(join(source, 'rootfs', 'etc'), { recursive: true })
    await writeFile(join(source, 'rootfs', 'etc', 'conformance'), `${name} ${folder}`)
    await writeFile(join(source, 'metadata.yaml'), `architecture: x86_64\ncreation_date: 1700000000\nproperties:\n  os: ${name}\n`)
    const file = join(folder, `${name}.tar.gz`)
    await run('tar', ['-C', name === 'rootfs' ? join(source, 'rootfs') : source, '-czf', file, ...parts])
    return file
  }
  return {
    unified: await make('unified', ['metadata.yaml', 'rootfs']),
    split: { metadataPath: await make('metadata', ['metadata.yaml']), rootfsPath: await make('rootfs', ['.']) },
    undo: () => rm(folder, { recursive: true, force: true }),
  }
}

describe.skipIf(!existsSync(socketPath) && process.env['CI'] === undefined)('on this host', () => {
  conformance('LXD', () => createLxdEngine({ socketPath }), {
    type: 'container',
    prefix: 'zs-conf-',
    machines: true,
    imageFiles,
    async place(engine) {
      const known = (await engine.images.list()).find((image) => image.name === 'busybox')
      if (known !== undefined) return { imageFingerprint: known.fingerprint, network: 'lxdbr0' }
      const folder = await mkdtemp(join(tmpdir(), 'zhisuan-conf-'))
      const file = join(folder, 'busybox.tar.gz')
      await run('bash', [buildImage, file])
      const imageFingerprint = (await engine.images.importFile?.({ alias: 'busybox', metadataPath: file })) ?? ''
      await rm(folder, { recursive: true, force: true })
      return { imageFingerprint, network: 'lxdbr0', undo: async () => engine.images.delete?.(imageFingerprint) }
    },
  })
})
