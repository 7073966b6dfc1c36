import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createLxdEngine } from './lxd/engine.ts'

/** Where packages put the socket: Debian's lxd, the snap, Debian's incus; LXD_DIR and INCUS_DIR first. */
const folders = (): string[] =>
  [process.env['LXD_DIR'], process.env['INCUS_DIR'], '/var/lib/lxd', '/var/snap/lxd/common/lxd', '/var/lib/incus'].filter(
    (folder) => folder !== undefined && folder !== '',
  ) as string[]

/** The LXD or Incus of this host, if one answers on its socket and lets us in. */
export async function detectLocalHypervisor(): Promise<{ socketPath: string; product: string } | null> {
  for (const folder of folders()) {
    const socketPath = join(folder, 'unix.socket')
    if (!existsSync(socketPath)) continue
    const engine = createLxdEngine({ socketPath })
    try {
      const { product } = await engine.info({ signal: AbortSignal.timeout(5_000) })
      return { socketPath, product }
    } catch {
      continue
    } finally {
      await engine.close()
    }
  }
  return null
}
