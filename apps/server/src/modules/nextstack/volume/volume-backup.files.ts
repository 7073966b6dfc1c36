import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Refusal } from '../../../platform/errors.ts'
import { fileDownload, type Download } from '../../../platform/downloads.ts'

export type BackupFiles = ReturnType<typeof createBackupFiles>

/** Backups of volumes, each one file of the data directory under the backup's id: whole, or not there. */
export function createBackupFiles(dataDirectory: string) {
  const folder = join(dataDirectory, 'volume-backups')
  const pathOf = (id: string): string => join(folder, id)
  const partOf = (id: string): string => `${pathOf(id)}.part`

  return {
    /**
     * Keeps what flows; one of that id is replaced. On the disk when it resolves.
     * @throws Refusal 94186 where there is no room for it
     */
    async write(id: string, content: Readable, signal: AbortSignal): Promise<{ file_bytes: number; sha256: string }> {
      const hash = createHash('sha256')
      let file_bytes = 0
      async function* counted(parts: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
        for await (const part of parts) {
          hash.update(part)
          file_bytes += part.length
          yield part
        }
      }
      try {
        await mkdir(folder, { recursive: true, mode: 0o700 })
        await pipeline(content, counted, createWriteStream(partOf(id), { mode: 0o600, flush: true }), { signal })
        await rename(partOf(id), pathOf(id))
        await flushFolder(folder)
      } catch (error) {
        content.destroy()
        await rm(partOf(id), { force: true })
        const full = ['ENOSPC', 'EDQUOT', 'EFBIG'].includes((error as NodeJS.ErrnoException).code ?? '')
        throw full ? new Refusal('filesExhausted', { cause: error }) : error
      }
      return { file_bytes, sha256: hash.digest('hex') }
    },

    /** Breaks off before its end where the bytes are others than were written. */
    read(id: string, sha256: string): Readable {
      async function* checked(): AsyncGenerator<Buffer> {
        const hash = createHash('sha256')
        for await (const part of createReadStream(pathOf(id), { highWaterMark: 256 * 1024 }) as AsyncIterable<Buffer>) {
          hash.update(part)
          yield part
        }
        if (hash.digest('hex') !== sha256) throw new Error(`the backup ${id} is not what was written`)
      }
      return Readable.from(checked(), { objectMode: false })
    },

    /** Also what is left of one that was never whole; nothing where there is none. */
    async remove(id: string): Promise<void> {
      await rm(partOf(id), { force: true })
      await rm(pathOf(id), { force: true })
    },

    /** Under this name, with the ending that its content asks for. */
    async download(id: string, name: string, sha256: string): Promise<Download | null> {
      const ending = await endingOf(pathOf(id))
      return ending === null ? null : fileDownload(pathOf(id), { name: `${name}${ending}`, etag: sha256 })
    },
  }
}

/** So that a name is there after a power cut, too. */
async function flushFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** Engines send archives as they are set to compress them. */
const endings = [
  { ending: '.tar.gz', begins: '1f8b' },
  { ending: '.tar.zst', begins: '28b52ffd' },
  { ending: '.tar.xz', begins: 'fd377a58' },
  { ending: '.tar.bz2', begins: '425a68' },
] as const

/** Null where there is no such file. */
async function endingOf(path: string): Promise<string | null> {
  try {
    const file = await open(path)
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(4), 0, 4, 0)
      const first = buffer.subarray(0, bytesRead).toString('hex')
      return endings.find(({ begins }) => first.startsWith(begins))?.ending ?? '.tar'
    } finally {
      await file.close()
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}
