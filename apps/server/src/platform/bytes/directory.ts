import { createHash, randomUUID } from 'node:crypto'
import { constants, mkdirSync, readdirSync } from 'node:fs'
import { copyFile, link, mkdir, open, readdir, rename, rm, stat, statfs, writeFile, type FileHandle } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { lockFile } from '../fileLock.ts'
import { ContentMissingError, type Contents } from './contents.ts'
import { FileStream } from './fileStream.ts'
import { workInTurn } from './inTurn.ts'

/** Left free for what else the platform writes, such as its database. */
const reserveBytes = 2 ** 30
/** Sums that are made at once, and what of a file is read for one at once, twice. */
const hashedAtOnce = 2
const hashedBytes = 512 * 1024

async function sync(path: string): Promise<void> {
  const folder = await open(path)
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** Contents under their SHA-256, beside what is on its way: on one file system, so that one becomes the other by a link. */
export function createDirectoryContents(dataDirectory: string): Contents {
  const contents = join(dataDirectory, 'bytes', 'contents')
  const pathOf = (sha256: string): string => join(contents, sha256.slice(0, 2), sha256)
  /** The folder of a content, and that it is there. */
  const made = async (path: string): Promise<void> => {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  }
  const settled = async (path: string): Promise<void> => {
    await sync(dirname(path))
    await sync(contents)
  }

  return {
    async begin() {
      await mkdir(contents, { recursive: true, mode: 0o700 })
    },
    async keep(from, sha256) {
      const path = pathOf(sha256)
      await made(path)
      const file = await open(from)
      try {
        await file.sync()
      } finally {
        await file.close()
      }
      await link(from, path).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'EEXIST') throw error
      })
      await settled(path)
    },
    async store(sha256, content) {
      const path = pathOf(sha256)
      await made(path)
      // Of each its own: two at once may bring the same.
      const part = `${path}.${randomUUID()}.part`
      await writeFile(part, content, { mode: 0o600, flush: true })
      await rename(part, path)
      await settled(path)
    },
    async read(sha256, range) {
      const file = await open(pathOf(sha256)).catch((error: NodeJS.ErrnoException) => {
        throw error.code === 'ENOENT' ? new ContentMissingError(sha256, { cause: error }) : error
      })
      try {
        const { start, end } = range ?? { start: 0, end: (await file.stat()).size - 1 }
        return new FileStream(file, start, end)
      } catch (error) {
        await file.close()
        throw error
      }
    },
    drop: (sha256) => rm(pathOf(sha256), { force: true }),
  }
}

export type UploadDirectory = ReturnType<typeof createUploadDirectory>

/** The disk has not as much free as something takes. */
export class NoRoomError extends Error {
  constructor(options?: ErrorOptions) {
    super('there is no room on the disk', options)
  }
}

/** Who writes in a directory. */
export interface Writer {
  readonly id: string
  /** Nothing is written by it any more. */
  close(): void
}

/**
 * Who this server is among those that write in a directory. Whoever comes after one that stopped, or was killed, is the same:
 * a lock says that nothing of that one writes any more. So what outlives a restart was written by one, and not by two.
 */
export function writerIn(dataDirectory: string): Writer {
  const writers = join(dataDirectory, 'bytes', 'writers')
  mkdirSync(writers, { recursive: true, mode: 0o700 })
  for (const id of [...readdirSync(writers).toSorted(), randomUUID()]) {
    const lock = lockFile(join(writers, id))
    if (lock !== undefined) return { id, close: () => lock.close() }
  }
  throw new Error(`no file of ${writers} can be locked`)
}

/** What is on its way, under its id. */
export function createUploadDirectory(dataDirectory: string) {
  const uploads = join(dataDirectory, 'bytes', 'uploads')
  const pathOf = (id: string): string => join(uploads, id)
  const inTurn = workInTurn(hashedAtOnce)
  /** Bytes that may be written; below 0 where there is no room at all. */
  const room = async (): Promise<number> => {
    const { bavail, bsize } = await statfs(uploads)
    return bavail * bsize - reserveBytes
  }

  return {
    pathOf,
    make: (): void => void mkdirSync(uploads, { recursive: true, mode: 0o700 }),
    /**
     * To be written, and no longer than `most`. What lies behind what was counted is written over and not cut off: who was
     * overtaken may open it late, when another has written there. The one who opens it closes it.
     */
    async open(id: string, most: number): Promise<FileHandle> {
      const file = await open(pathOf(id), 'a', 0o600).then(async (made) => {
        await made.close()
        return open(pathOf(id), 'r+')
      })
      try {
        if ((await file.stat()).size > most) await file.truncate(most)
        return file
      } catch (error) {
        await file.close()
        throw error
      }
    },
    /** A place for a copy of one, which nobody has open who wrote it. */
    placeApart: (id: string): string => `${pathOf(id)}.${randomUUID()}`,
    /** Where the disk can, only what changes takes room. @throws NoRoomError */
    async copy(id: string, to: string): Promise<void> {
      const { size } = await stat(pathOf(id))
      if ((await room()) < size) throw new NoRoomError()
      await copyFile(pathOf(id), to, constants.COPYFILE_FICLONE).catch((error: NodeJS.ErrnoException) => {
        throw error.code === 'ENOSPC' ? new NoRoomError({ cause: error }) : error
      })
    },
    size: (path: string): Promise<number> =>
      stat(path).then(
        ({ size }) => size,
        () => 0,
      ),
    /** @param name its id, or what {@link names} says */
    drop: (name: string): Promise<void> => rm(pathOf(name), { force: true }),
    /** What lies there: of each its id, with what was added for a copy of it. */
    names: async (): Promise<{ readonly name: string; readonly id: string }[]> =>
      (await readdir(uploads).catch(() => [])).map((name) => ({ name, id: name.split('.')[0] ?? name })),
    /** Few at a time: each takes the processor for itself while it is at it. */
    hash: (path: string, signal?: AbortSignal): Promise<string> => inTurn(() => sha256Of(path, signal)),
    room,
  }
}

/** Into two buffers, over and over: while one is summed up the other is read into. */
async function sha256Of(path: string, signal?: AbortSignal): Promise<string> {
  const hash = createHash('sha256')
  const file = await open(path)
  const buffers = [Buffer.allocUnsafeSlow(hashedBytes), Buffer.allocUnsafeSlow(hashedBytes)] as const
  try {
    let next = file.read(buffers[0], 0, hashedBytes, null)
    for (let turn = 0; ; turn++) {
      const { buffer, bytesRead } = await next
      signal?.throwIfAborted()
      if (bytesRead === 0) return hash.digest('hex')
      next = file.read(buffers[turn % 2 === 0 ? 1 : 0], 0, hashedBytes, null)
      // Waited for above, unless this ends before.
      next.catch(() => undefined)
      hash.update(buffer.subarray(0, bytesRead))
    }
  } finally {
    await file.close()
  }
}
