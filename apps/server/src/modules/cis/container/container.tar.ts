import { posix } from 'node:path'
import { once } from 'node:events'
import { pipeline, Readable } from 'node:stream'
import { extract, pack, type Headers } from 'tar-stream'

export interface Entry {
  name: string
  kind: 'file' | 'directory' | 'link' | 'other'
  size_bytes: number
  mode: string
  modified_at: string | null
  target: string | null
}

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

const kinds: Readonly<Record<string, Entry['kind']>> = { file: 'file', 'contiguous-file': 'file', link: 'file', directory: 'directory', symlink: 'link' }

/** What is directly in the directory that an archive is of: Docker's begin with the directory's own name. */
export async function entriesOf(archive: Readable, limits: { bytes: number }): Promise<Entry[] | 'file' | 'too much'> {
  const reader = extract()
  const entries: Entry[] = []
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

function entryOf(name: string, header: Headers): Entry {
  return {
    name: posix.basename(name),
    kind: kinds[header.type ?? 'file'] ?? 'other',
    size_bytes: header.size ?? 0,
    mode: ((header.mode ?? 0) & 0o7777).toString(8).padStart(4, '0'),
    modified_at: header.mtime?.toISOString() ?? null,
    target: header.type === 'symlink' ? (header.linkname ?? null) : null,
  }
}
