import { createHash } from 'node:crypto'
import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { upgradeOrder } from '@zhisuan/contract/agent/node'
import type { z } from 'zod'
import { Denied } from './answers.ts'
import { bundleOf, type ToLauncher } from './launcher.ts'
import { askServer, type ServerAddress } from './server.ts'
import { version } from './version.ts'

const bundleLimitBytes = 64 * 2 ** 20

export interface UpgradeParts {
  readonly directory: string
  /** Where bundles are fetched: nowhere else. */
  readonly server: ServerAddress
  /** To the launcher; null where none started this agent. */
  readonly tell: ((message: ToLauncher) => void) | null
  readonly signal: AbortSignal
}

/** Fetches another version. @returns what leaves it to the launcher to change over */
export async function upgrade(order: z.output<typeof upgradeOrder>, { directory, server, tell, signal }: UpgradeParts): Promise<() => void> {
  if (order.version === version) return () => undefined
  if (tell === null) throw new Denied(409, 'this agent was started without its launcher')
  const url = new URL(order.path, server.url)
  if (url.origin !== new URL(server.url).origin) throw new Denied(400, 'path: not of the server')
  const { status, body: bundle } = await askServer(server, {
    path: `${url.pathname}${url.search}`,
    limitBytes: bundleLimitBytes,
    signal: AbortSignal.any([signal, AbortSignal.timeout(300_000)]),
  })
  if (status !== 200) throw new Denied(422, `the bundle: the server answered ${status}`)
  if (createHash('sha256').update(bundle).digest('hex') !== order.sha256) throw new Denied(422, 'the bundle is not the one that was announced: another SHA-256')
  const { folder, path } = bundleOf(directory, order.version)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  writeFileSync(`${path}.new`, bundle, { mode: 0o600, flush: true })
  renameSync(`${path}.new`, path)
  return () => tell({ upgrade: order.version })
}
