import { constants as fs, linkSync, lstatSync, mkdirSync, symlinkSync } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { dirname, join, normalize } from 'node:path'

/** Of what is unpacked; more is no program, but a trap. */
export const unpackedLimits = { bytes: 8 * 2 ** 30, entries: 200_000, path: 1_024 }
const block = 512
/** Names and attributes that are longer than a head has room for. */
const longLimit = 64 * 1_024

/** What is in it would lie elsewhere, or is nothing that a program is made of. */
export class BadArchive extends Error {}

interface Head {
  readonly path: string
  readonly link: string
  readonly size: number
  readonly mode: number
  readonly type: string
}

/**
 * Unpacks a tar (POSIX and GNU) into an empty folder that nobody else writes to. Files, folders and links within it, and nothing else;
 * whose they were is forgotten, as is what would run as somebody else.
 * @throws BadArchive
 */
export async function untar(source: AsyncIterable<Buffer>, folder: string): Promise<void> {
  const input = reader(source)
  let long: { path?: string; link?: string; size?: number } = {}
  let bytes = 0
  for (let entries = 0; ; entries++) {
    if (entries > unpackedLimits.entries) throw new BadArchive(`more than ${unpackedLimits.entries} entries`)
    const raw = await input.take(block)
    if (raw === null || raw.every((byte) => byte === 0)) return input.drain()
    const head = headOf(raw)
    if ('gxLK'.includes(head.type) && head.type !== '') {
      if (head.size > longLimit) throw new BadArchive('a name that is too long')
      const content = await input.need(head.size)
      await input.need(padding(head.size))
      if (head.type === 'L') long.path = textOf(content)
      else if (head.type === 'K') long.link = textOf(content)
      else if (head.type === 'x') long = { ...long, ...attributesOf(content) }
      continue
    }
    const path = inside(long.path ?? head.path)
    const [link, size] = [long.link ?? head.link, long.size ?? head.size]
    long = {}
    if (path === '') {
      // The folder itself.
      await input.skip(size + padding(size))
      continue
    }
    const target = join(folder, path)
    parentsOf(folder, path)
    if (head.type === '5') {
      make(target)
    } else if (head.type === '0' || head.type === '\0' || head.type === '7') {
      bytes += size
      if (bytes > unpackedLimits.bytes) throw new BadArchive(`more than ${unpackedLimits.bytes} bytes`)
      // Never through what lies there: a link may.
      const handle = await open(target, fs.O_WRONLY | fs.O_CREAT | fs.O_EXCL | fs.O_NOFOLLOW, 0o600).catch((error: NodeJS.ErrnoException) => {
        throw error.code === 'EEXIST' ? new BadArchive(`${path}: twice`) : error
      })
      try {
        await input.copy(size, handle)
        await handle.chmod((head.mode & 0o111) === 0 ? 0o644 : 0o755)
      } finally {
        await handle.close()
      }
      await input.need(padding(size))
      continue
    } else if (head.type === '2') {
      if (link.startsWith('/') || link === '') throw new BadArchive(`${path}: a link that leads out: ${link}`)
      inside(join(dirname(path), link), path)
      free(target, path)
      symlinkSync(link, target)
    } else if (head.type === '1') {
      const from = inside(link, path)
      parentsOf(folder, from)
      const there = lstatSync(join(folder, from), { throwIfNoEntry: false })
      if (there?.isFile() !== true) throw new BadArchive(`${path}: a link to no file of the archive: ${link}`)
      free(target, path)
      linkSync(join(folder, from), target)
    } else throw new BadArchive(`${path}: neither file nor folder nor link`)
    await input.skip(size + padding(size))
  }
}

const padding = (size: number): number => (block - (size % block)) % block
const textOf = (field: Buffer): string => {
  const end = field.indexOf(0)
  const text = field.subarray(0, end === -1 ? field.length : end).toString('utf8')
  if (text.includes('\uFFFD')) throw new BadArchive('a name that is not UTF-8')
  return text
}

function numberOf(field: Buffer): number {
  // GNU: what octal digits have no room for.
  if (((field[0] ?? 0) & 0x80) !== 0) {
    const value = field.subarray(1).reduce((sum, byte) => sum * 256 + byte, 0)
    if (!Number.isSafeInteger(value) || field[0] !== 0x80) throw new BadArchive('a number that is too large')
    return value
  }
  const text = field.toString('latin1').replaceAll(/[\0 ]+/g, '')
  if (!/^[0-7]*$/.test(text)) throw new BadArchive('not a tar archive')
  return Number.parseInt(text === '' ? '0' : text, 8)
}

function headOf(raw: Buffer): Head {
  const sum = raw.reduce((all, byte, index) => all + (index >= 148 && index < 156 ? 32 : byte), 0)
  if (numberOf(raw.subarray(148, 156)) !== sum) throw new BadArchive('not a tar archive, or broken')
  const name = textOf(raw.subarray(0, 100))
  // GNU has times where POSIX has the beginning of a name.
  const prefix = raw.subarray(257, 263).toString('latin1') === 'ustar\0' ? textOf(raw.subarray(345, 500)) : ''
  return {
    path: prefix === '' ? name : `${prefix}/${name}`,
    link: textOf(raw.subarray(157, 257)),
    size: numberOf(raw.subarray(124, 136)),
    mode: numberOf(raw.subarray(100, 108)),
    type: raw.subarray(156, 157).toString('latin1'),
  }
}

/** Of PAX: `length key=value\n`. */
function attributesOf(content: Buffer): { path?: string; link?: string; size?: number } {
  const found: { path?: string; link?: string; size?: number } = {}
  for (let at = 0; at < content.length;) {
    const blank = content.indexOf(0x20, at)
    const length = Number(content.subarray(at, blank).toString('latin1'))
    if (blank === -1 || !Number.isInteger(length) || length < 1) throw new BadArchive('not a tar archive, or broken')
    const [, key = '', value = ''] = /^([^=]*)=([\s\S]*)\n$/.exec(content.subarray(blank + 1, at + length).toString('utf8')) ?? []
    if (key === 'path') found.path = value
    else if (key === 'linkpath') found.link = value
    else if (key === 'size') {
      if (!/^\d{1,15}$/.test(value)) throw new BadArchive('a number that is too large')
      found.size = Number(value)
    }
    at += length
  }
  return found
}

/** As it lies below the folder; empty: the folder itself. @throws where it would not */
function inside(path: string, of = path): string {
  if (path.startsWith('/') || path.length > unpackedLimits.path || path.includes('\0')) throw new BadArchive(`${of}: leads out of the archive`)
  // Not even where it would come back.
  if (of === path && path.split('/').includes('..')) throw new BadArchive(`${of}: leads out of the archive`)
  const normal = normalize(path).replace(/\/+$/, '')
  if (normal === '..' || normal.startsWith('../')) throw new BadArchive(`${of}: leads out of the archive`)
  return normal === '.' ? '' : normal
}

/** Folders on the way to it, made where they are not there; none of them a link. */
function parentsOf(folder: string, path: string): void {
  let at = folder
  for (const name of dirname(path).split('/')) {
    if (name === '.' || name === '') continue
    at = join(at, name)
    make(at)
  }
}

function make(path: string): void {
  const there = lstatSync(path, { throwIfNoEntry: false })
  if (there === undefined) return mkdirSync(path, { mode: 0o755 })
  if (!there.isDirectory()) throw new BadArchive(`${path}: lies within what is no folder`)
}

function free(target: string, path: string): void {
  if (lstatSync(target, { throwIfNoEntry: false }) !== undefined) throw new BadArchive(`${path}: twice`)
}

function reader(source: AsyncIterable<Buffer>) {
  const iterator = source[Symbol.asyncIterator]()
  let rest: Buffer = Buffer.alloc(0)
  const more = async (): Promise<boolean> => {
    const next = await iterator.next()
    if (next.done === true) return false
    rest = rest.length === 0 ? next.value : Buffer.concat([rest, next.value])
    return true
  }
  const need = async (size: number): Promise<Buffer> => {
    const taken = await take(size)
    if (taken === null) throw new BadArchive('it ends too early')
    return taken
  }
  const take = async (size: number): Promise<Buffer | null> => {
    while (rest.length < size) {
      if (await more()) continue
      if (rest.length === 0) return null
      throw new BadArchive('it ends too early')
    }
    const taken = rest.subarray(0, size)
    rest = rest.subarray(size)
    return taken
  }
  const each = async (size: number, act: (part: Buffer) => Promise<void>): Promise<void> => {
    for (let left = size; left > 0;) {
      if (rest.length === 0 && !(await more())) throw new BadArchive('it ends too early')
      const part = rest.subarray(0, left)
      rest = rest.subarray(part.length)
      left -= part.length
      await act(part)
    }
  }
  return {
    /** Null at the end. */
    take,
    need,
    copy: (size: number, to: FileHandle) => each(size, async (part) => void (await to.writeFile(part))),
    skip: (size: number) => each(size, async () => undefined),
    /** What comes after the end is read away: the sum of its check is at the end of all. */
    async drain(): Promise<void> {
      rest = Buffer.alloc(0)
      while (await more()) rest = Buffer.alloc(0)
    },
  }
}
