import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream, existsSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { open, readdir, type FileHandle } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib'
import { extract, pack, type Entry } from 'tar-stream'
import { Failure } from './command.ts'

/**
 * A backup is a tar archive, compressed with Zstandard: `manifest.json` first, so that it is read
 * without the rest, and `SHA256SUMS` of everything last, so that an archive without its end is
 * none. Both can be used by hand: `tar --zstd -xf FILE && sha256sum -c SHA256SUMS`.
 */
export const manifestName = 'manifest.json'
const sumsName = 'SHA256SUMS'
const chunkBytes = 1024 * 1024

export interface ArchiveWriter {
  addContent(name: string, content: string | Buffer): Promise<void>
  addFolder(name: string): Promise<void>
  /**
   * Adds a file that others may write to meanwhile: as many bytes as it has now, with zeros where
   * it was cut off. @returns false where it is gone
   */
  addFile(name: string, path: string): Promise<boolean>
  /** Writes the end, and gives the archive its name once all of it is on the disk. @returns its size */
  finish(): Promise<number>
  /** Removes what was written. */
  discard(): Promise<void>
}

/** @throws Failure where the file exists */
export function createArchive(path: string, signal: AbortSignal): ArchiveWriter {
  if (existsSync(path)) throw new Failure(`${path} exists, it is not overwritten`)
  const unfinished = `${path}.unfinished`
  // What a killed backup left; two at once on one name would not both end well anyway.
  rmSync(unfinished, { force: true })
  const tar = pack()
  const compress = createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: 3, [constants.ZSTD_c_checksumFlag]: 1 } })
  // Secrets are in it.
  const written = pipeline(tar, compress, createWriteStream(unfinished, { mode: 0o600, flags: 'wx', flush: true }), { signal })
  // Whoever adds or finishes is told; before, nobody listens.
  written.catch(() => undefined)
  const sums: string[] = []

  const add = async (name: string, size: number, mode: number, content: AsyncIterable<Buffer>) => {
    signal.throwIfAborted()
    const hash = createHash('sha256')
    const entry = tar.entry({ name, size, mode, mtime: new Date() })
    const copied = pipeline(Readable.from(hashed(content, hash)), entry, { signal })
    // Where the disk is full, the archive ends and the entry would wait for ever.
    await Promise.race([copied, written.then(() => copied)])
    sums.push(`${hash.digest('hex')}  ${name}`)
  }
  const addContent = (name: string, content: string | Buffer) => add(name, Buffer.byteLength(content), 0o600, whole(Buffer.from(content)))

  return {
    addContent,
    addFolder: (name) => new Promise((done, fail) => void tar.entry({ name, type: 'directory', mode: 0o700 }, (error) => (error ? fail(error) : done()))),
    async addFile(name, source) {
      const file = await openExisting(source)
      if (file === null) return false
      try {
        const { size, mode } = await file.stat()
        await add(name, size, mode & 0o777, exactly(file, size))
        return true
      } finally {
        await file.close()
      }
    },
    async finish() {
      await addContent(sumsName, `${sums.join('\n')}\n`)
      tar.finalize()
      await written
      renameSync(unfinished, path)
      const folder = await open(dirname(resolve(path)))
      await folder.sync().finally(() => folder.close())
      return statSync(path).size
    },
    async discard() {
      tar.destroy()
      await written.catch(() => undefined)
      rmSync(unfinished, { force: true })
    },
  }
}

async function openExisting(path: string): Promise<FileHandle | null> {
  try {
    return await open(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

async function* whole(content: Buffer): AsyncGenerator<Buffer> {
  if (content.length > 0) yield content
}

async function* exactly(file: FileHandle, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < size;) {
    const length = Math.min(chunkBytes, size - at)
    // Fresh and zeroed: the one before may still be on its way, and what was cut off reads as zeros.
    const chunk = Buffer.alloc(length)
    let read = 0
    while (read < length) {
      const { bytesRead } = await file.read(chunk, read, length - read, at + read)
      if (bytesRead === 0) break
      read += bytesRead
    }
    at += length
    yield chunk
  }
}

async function* hashed(content: AsyncIterable<Buffer>, hash: ReturnType<typeof createHash>): AsyncGenerator<Buffer> {
  for await (const chunk of content) {
    hash.update(chunk)
    yield chunk
  }
}

/** The manifest's text, without reading on. @throws Failure where the file is no backup */
export const readManifest = (path: string): Promise<string> =>
  reading(path, async (entries) => {
    for await (const entry of entries) {
      if (entry.header.name !== manifestName) break
      return (await contentOf(entry)).toString('utf8')
    }
    throw new Failure(`${path} is no backup: it does not begin with ${manifestName}`)
  })

/**
 * Lays out all of an archive.
 * @param target where a name goes, or null for what is not wanted
 * @throws Failure where anything is missing, too much or changed; some is laid out then
 */
export const extractArchive = (path: string, target: (name: string) => string | null, signal: AbortSignal): Promise<void> =>
  reading(path, async (entries) => {
    const found = new Map<string, string>()
    let sums: string | null = null
    for await (const entry of entries) {
      signal.throwIfAborted()
      const { name, type } = entry.header
      if (sums !== null) throw damaged(path, `${name} comes after its end`)
      if (/^\/|(^|\/)\.\.(\/|$)/.test(name)) throw damaged(path, `it names ${name}`)
      if (type === 'directory') {
        const folder = target(name.replace(/\/$/, ''))
        if (folder !== null) mkdirSync(folder, { recursive: true, mode: 0o700 })
        entry.resume()
      } else if (type !== 'file' || found.has(name)) {
        throw damaged(path, `${name} is a ${String(type)}, or there twice`)
      } else if (name === sumsName) {
        sums = (await contentOf(entry)).toString('utf8')
      } else {
        found.set(name, await lay(entry, target(name), signal))
      }
    }
    if (sums === null) throw damaged(path, 'its end is missing')
    const expected = new Map(
      sums
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => [line.slice(66), line.slice(0, 64)]),
    )
    for (const [name, sum] of expected) if (found.get(name) !== sum) throw damaged(path, `${name} is ${found.has(name) ? 'not what was backed up' : 'missing'}`)
    for (const name of found.keys()) if (!expected.has(name)) throw damaged(path, `${name} does not belong to it`)
  })

/** @returns the SHA-256 of what was written, or would have been */
async function lay(entry: Entry, path: string | null, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256')
  if (path === null) hash.update(await contentOf(entry))
  else {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    const content = hashed(entry as AsyncIterable<Buffer>, hash)
    await pipeline(Readable.from(content), createWriteStream(path, { mode: entry.header.mode ?? 0o600, flags: 'wx' }), { signal })
  }
  return hash.digest('hex')
}

async function contentOf(entry: Entry): Promise<Buffer> {
  const parts: Buffer[] = []
  for await (const chunk of entry as AsyncIterable<Buffer>) parts.push(chunk)
  return Buffer.concat(parts)
}

const damaged = (path: string, why: string) => new Failure(`${path} is damaged: ${why}`)

/** Opens an archive for `body`. @throws Failure where it cannot be read to where `body` wants */
async function reading<T>(path: string, body: (entries: AsyncIterable<Entry>) => Promise<T>): Promise<T> {
  const tar = extract()
  const unpacked = pipeline(createReadStream(path, { highWaterMark: chunkBytes }), createZstdDecompress(), tar)
  unpacked.catch(() => undefined)
  try {
    return await body(tar)
  } catch (error) {
    if (error instanceof Failure || !(error instanceof Error)) throw error
    // What the operating system says is about the file as a whole, or about where it is laid out.
    if ('syscall' in error || error.name === 'AbortError') throw error
    throw new Failure(`${path} is no backup, or damaged: ${error.message}`, { cause: error })
  } finally {
    tar.destroy()
  }
}

/** Every file and folder under a folder, folders first, by their path relative to it. What vanishes meanwhile is left out. */
export async function* walk(
  folder: string,
  wanted: (relative: string) => boolean,
  at = '',
): AsyncGenerator<{ relative: string; kind: 'file' | 'folder' | 'other' }> {
  const entries = await readdir(join(folder, at), { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' && at !== '') return []
    throw error
  })
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const relative = join(at, entry.name)
    if (!wanted(relative)) continue
    if (entry.isDirectory()) {
      yield { relative, kind: 'folder' }
      yield* walk(folder, wanted, relative)
    } else yield { relative, kind: entry.isFile() ? 'file' : 'other' }
  }
}
