import { createHash } from 'node:crypto'
import { createReadStream, mkdirSync } from 'node:fs'
import { link, mkdir, open, readdir, rename, rm, stat, statfs, writeFile, type FileHandle } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/** Left free for what else the platform writes, such as its database. */
const reserveBytes = 2 ** 30

export type ByteDirectory = ReturnType<typeof createByteDirectory>

/** Contents lie under their SHA-256, what is on its way beside them under its id: on one file system, so that one becomes the other by a link. */
export function createByteDirectory(dataDirectory: string) {
  const root = join(dataDirectory, 'bytes')
  const contents = join(root, 'contents')
  const uploads = join(root, 'uploads')
  const pathOf = (sha256: string): string => join(contents, sha256.slice(0, 2), sha256)
  const uploadPath = (id: string): string => join(uploads, id)
  const sync = async (path: string): Promise<void> => {
    const folder = await open(path)
    try {
      await folder.sync()
    } finally {
      await folder.close()
    }
  }

  return {
    makeRoot(): void {
      for (const path of [contents, uploads]) mkdirSync(path, { recursive: true, mode: 0o700 })
    },
    /** To be written from an offset on; what is behind it goes. The one who opens it closes it. */
    async openUpload(id: string, offset: number): Promise<FileHandle> {
      const file = await open(uploadPath(id), 'a', 0o600).then(async (made) => {
        await made.close()
        return open(uploadPath(id), 'r+')
      })
      try {
        await file.truncate(offset)
        return file
      } catch (error) {
        await file.close()
        throw error
      }
    },
    uploadSize: (id: string): Promise<number> =>
      stat(uploadPath(id)).then(
        ({ size }) => size,
        () => 0,
      ),
    dropUpload: (id: string): Promise<void> => rm(uploadPath(id), { force: true }),
    uploadIds: (): Promise<string[]> => readdir(uploads).catch(() => []),
    async hashUpload(id: string, signal?: AbortSignal): Promise<string> {
      const hash = createHash('sha256')
      await pipeline(createReadStream(uploadPath(id), { highWaterMark: 1024 * 1024 }), hash, signal === undefined ? {} : { signal })
      return hash.digest('hex')
    },
    /** Makes an upload a content, for good before it returns. Nothing where that is there already: its bytes are the same. */
    async keep(id: string, sha256: string): Promise<void> {
      const path = pathOf(sha256)
      await mkdir(dirname(path), { recursive: true, mode: 0o700 })
      const file = await open(uploadPath(id))
      try {
        await file.sync()
      } finally {
        await file.close()
      }
      await link(uploadPath(id), path).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'EEXIST') throw error
      })
      await sync(dirname(path))
      await sync(contents)
    },
    /** What is at hand, for good before it returns. The caller holds the lock of this content: no two write it at once. */
    async store(sha256: string, content: Buffer): Promise<void> {
      const path = pathOf(sha256)
      await mkdir(dirname(path), { recursive: true, mode: 0o700 })
      await writeFile(`${path}.part`, content, { mode: 0o600, flush: true })
      await rename(`${path}.part`, path)
      await sync(dirname(path))
      await sync(contents)
    },
    /** @throws ENOENT */
    async read(sha256: string, range?: { start: number; end: number }): Promise<Readable> {
      const file = await open(pathOf(sha256))
      return file.createReadStream({ ...range, highWaterMark: 256 * 1024 })
    },
    drop: (sha256: string): Promise<void> => rm(pathOf(sha256), { force: true }),
    /** Bytes that may be written; below 0 where there is no room at all. */
    async room(): Promise<number> {
      const { bavail, bsize } = await statfs(root)
      return bavail * bsize - reserveBytes
    },
  }
}
