import type { DirectoryEntry } from '@zhisuan/contract/directory'
import { posix } from 'node:path'
import { once } from 'node:events'
import { pipeline, Readable } from 'node:stream'
import { extract, pack, type Entry as TarEntry, type Headers } from 'tar-stream'
import type { MachineItem, SentItem } from '../../files/machine/machine.ts'

/** One file as an archive; its directories are made by whoever unpacks it. */
export function fileArchive(path: string, content: Buffer | { readonly stream: Readable; readonly size: number }, mode = 0o644): Readable {
  const archive = pack()
  const name = path.replace(/^\/+/, '')
  if (Buffer.isBuffer(content)) {
    archive.entry({ name, mode }, content)
    archive.finalize()
  } else {
    const entry = archive.entry({ name, mode, size: content.size }, (error) => {
      if (error !== null && error !== undefined) archive.destroy(error)
      else archive.finalize()
    })
    pipeline(content.stream, entry, (error) => {
      if (error !== null && error !== undefined) archive.destroy(error)
    })
  }
  // It is one for all that it does; its types are of another library of streams.
  return Readable.from(archive as AsyncIterable<Buffer>, { objectMode: false })
}

/** A file or a folder with all that is in it as an archive, under this name. */
export function treeArchive(name: string, items: readonly SentItem[]): Readable {
  const archive = pack()
  const fill = async (): Promise<void> => {
    for (const { path, file } of items) {
      const at = path === '' ? name : `${name}/${path}`
      if (file === null) archive.entry({ name: `${at}/`, type: 'directory', mode: 0o755, mtime: new Date() })
      else await piped(await file.open(), archive.entry({ name: at, mode: 0o644, size: file.size_bytes, mtime: new Date() }))
    }
    archive.finalize()
  }
  fill().catch((error: Error) => archive.destroy(error))
  return Readable.from(archive as AsyncIterable<Buffer>, { objectMode: false })
}

/** Whatever of both ends first ends the other. */
const piped = (from: Readable, to: NodeJS.WritableStream): Promise<void> =>
  new Promise((resolve, reject) => {
    pipeline(from, to, (error) => (error === null || error === undefined ? resolve() : reject(error)))
  })

/** What is in an archive of Docker's, whose paths all begin with the name of what was asked for. */
export async function* itemsOf(archive: Readable): AsyncGenerator<MachineItem> {
  const reader = extract()
  pipeline(archive, asStream(reader), () => undefined)
  try {
    for await (const entry of reader as AsyncIterable<TarEntry>) {
      const { type, name, size, linkname } = entry.header
      const path = belowFirst(name)
      if (type === 'file' || type === 'contiguous-file') {
        const content = Readable.from(entry as AsyncIterable<Buffer>, { objectMode: false })
        yield { kind: 'file', path, size_bytes: size ?? 0, content }
        content.destroy()
        continue
      }
      entry.resume()
      if (type === 'directory') yield { kind: 'folder', path }
      else if (type === 'link') yield { kind: 'same', path, as: belowFirst(linkname ?? '') }
      else yield { kind: 'other', path }
    }
  } finally {
    archive.destroy()
  }
}
const belowFirst = (name: string): string => name.replace(/\/$/, '').split('/').slice(1).join('/')

/** tar-stream is made of streamx, whose types are not Node's, though Node's functions take it. */
const asStream = (reader: ReturnType<typeof extract>) => reader as unknown as NodeJS.WritableStream

/** The content of the one file that an archive holds. Read to its end, or destroyed. */
export async function onlyFile(archive: Readable): Promise<Readable> {
  const reader = extract()
  const found = new Promise<Readable>((resolve, reject) => {
    reader.once('entry', (header, stream, next) => {
      stream.on('end', next)
      if (header.type !== 'file') reject(new Error('no file'))
      else resolve(Readable.from(stream as AsyncIterable<Buffer>, { objectMode: false }).once('close', () => archive.destroy()))
    })
    reader.once('error', reject)
    reader.once('finish', () => reject(new Error('an empty archive')))
  })
  pipeline(archive, asStream(reader), () => undefined)
  return found
}

const kinds: Readonly<Record<string, DirectoryEntry['kind']>> = {
  file: 'file',
  'contiguous-file': 'file',
  link: 'file',
  directory: 'directory',
  symlink: 'link',
}

/** What is directly in the directory that an archive is of: Docker's begin with the directory's own name. */
export async function entriesOf(archive: Readable, limits: { bytes: number }): Promise<DirectoryEntry[] | 'file' | 'too much'> {
  const reader = extract()
  const entries: DirectoryEntry[] = []
  let outcome: 'file' | 'too much' | null = null
  let bytes = 0
  const stop = (why: typeof outcome) => {
    outcome = why
    archive.destroy()
    reader.destroy()
  }
  archive.on('data', (part: Buffer) => {
    bytes += part.length
    if (bytes > limits.bytes) stop('too much')
  })
  let first = true
  reader.on('entry', (header, stream, next) => {
    if (first && header.type !== 'directory') return stop('file')
    first = false
    const [, name = '', deeper] = header.name.replace(/\/$/, '').split('/')
    if (name !== '' && deeper === undefined) entries.push(entryOf(name, header))
    stream.on('end', next)
    stream.resume()
  })
  const ended = once(asStream(reader), 'close')
  pipeline(archive, asStream(reader), () => undefined)
  await ended.catch(() => undefined)
  return outcome ?? entries
}

function entryOf(name: string, header: Headers): DirectoryEntry {
  return {
    name: posix.basename(name),
    kind: kinds[header.type ?? 'file'] ?? 'other',
    size_bytes: header.size ?? 0,
    mode: ((header.mode ?? 0) & 0o7777).toString(8).padStart(4, '0'),
    modified_at: header.mtime?.toISOString() ?? null,
    target: header.type === 'symlink' ? (header.linkname ?? null) : null,
  }
}
