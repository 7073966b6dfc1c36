import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream, mkdirSync } from 'node:fs'
import { open, readdir, rename, rm, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { uuidv7 } from '../../../platform/ids.ts'

/** Left free for what else the platform writes, such as its database. */
const reserveBytes = 2 ** 30

export interface Written {
  readonly path: string
  readonly sha256: string
  readonly sizeBytes: number
}

/** More than was to come. */
export class TooMuch extends Error {}

export type BundleFiles = ReturnType<typeof createBundleFiles>

/** Each lies under its digest; what is on its way beside them. */
export function createBundleFiles(dataDirectory: string) {
  const root = join(dataDirectory, 'bundles')
  const pathOf = (sha256: string): string => join(root, sha256)
  const makeRoot = (): void => void mkdirSync(root, { recursive: true, mode: 0o700 })
  return {
    pathOf,
    makeRoot,
    /** Of one that is fetched: it goes on where it was. */
    fetchedPath: (id: string): string => join(root, `${id}.fetch`),
    /** To a file of its own. @throws TooMuch */
    async write(source: Readable, limitBytes: number): Promise<Written> {
      makeRoot()
      const path = join(root, `${uuidv7()}.part`)
      const hash = createHash('sha256')
      let sizeBytes = 0
      async function* counted(parts: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
        for await (const part of parts) {
          sizeBytes += part.length
          if (sizeBytes > limitBytes) throw new TooMuch()
          hash.update(part)
          yield part
        }
      }
      try {
        await pipeline(source, counted, createWriteStream(path, { flags: 'wx', mode: 0o600, flush: true }))
      } catch (error) {
        await rm(path, { force: true })
        throw error
      }
      return { path, sha256: hash.digest('hex'), sizeBytes }
    },
    async look(path: string, signal: AbortSignal): Promise<Written> {
      const hash = createHash('sha256')
      await pipeline(createReadStream(path, { highWaterMark: 2 ** 20 }), hash, { signal })
      return { path, sha256: hash.digest('hex'), sizeBytes: (await stat(path)).size }
    },
    /** From then on it is there, also after a power cut. */
    async keep({ path, sha256 }: Written): Promise<void> {
      await rename(path, pathOf(sha256))
      const folder = await open(root, 'r')
      await folder.sync().finally(() => folder.close())
    },
    drop: (path: string): Promise<void> => rm(path, { force: true }),
    async dropFetched(id: string): Promise<void> {
      for (const name of await readdir(root).catch(() => [])) if (name.startsWith(`${id}.fetch`)) await rm(join(root, name), { force: true })
    },
    /** What a server that was killed left of uploads. */
    async dropParts(): Promise<void> {
      for (const name of await readdir(root).catch(() => [])) if (name.endsWith('.part')) await rm(join(root, name), { force: true })
    },
    /** Bytes that may be written; below 0 where there is no room at all. */
    async room(): Promise<number> {
      makeRoot()
      const { bavail, bsize } = await statfs(root)
      return bavail * bsize - reserveBytes
    },
  }
}
