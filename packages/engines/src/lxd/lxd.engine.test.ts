import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe } from 'vitest'
import { conformance } from '../conformance.ts'
import { imageFiles } from '../conformance/image-files.ts'
import { createLxdEngine } from './engine.ts'

const run = promisify(execFile)
const socketPath = join(process.env['LXD_DIR'] ?? '/var/lib/lxd', 'unix.socket')
const buildImage = new URL('../../../../scripts/build-image.sh', import.meta.url).pathname

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
