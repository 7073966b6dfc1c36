/** A regular file in an archive. */
export interface Entry {
  path: string
  content: Buffer
  mode: number
  uid: number
  gid: number
}

const block = 512
const padded = (length: number): number => Math.ceil(length / block) * block

/** A POSIX archive of these files; the same files give the same bytes. */
export function pack(entries: readonly Entry[]): Buffer {
  const parts: Buffer[] = []
  const add = (path: string, content: Buffer, type: string, { mode, uid, gid }: Pick<Entry, 'mode' | 'uid' | 'gid'>) => {
    const head = Buffer.alloc(block)
    const octal = (value: number, length: number) => `${value.toString(8).padStart(length - 1, '0')}\0`
    head.write(path.slice(0, 100), 0, 100, 'utf8')
    head.write(octal(mode, 8) + octal(uid, 8) + octal(gid, 8) + octal(content.length, 12) + octal(0, 12) + ' '.repeat(8) + type, 100, 'latin1')
    head.write('ustar\x0000', 257, 'latin1')
    head.write(
      `${head
        .reduce((sum, byte) => sum + byte, 0)
        .toString(8)
        .padStart(6, '0')}\0 `,
      148,
      'latin1',
    )
    parts.push(head, content, Buffer.alloc(padded(content.length) - content.length))
  }
  for (const entry of entries) {
    // GNU's way with long names, which every tar reads.
    if (Buffer.byteLength(entry.path) > 100) add('././@LongLink', Buffer.from(`${entry.path}\0`), 'L', { mode: 0, uid: 0, gid: 0 })
    add(entry.path, entry.content, '0', entry)
  }
  return Buffer.concat([...parts, Buffer.alloc(2 * block)])
}

/** The regular files of an archive, without what leads a path; null where it is none. */
export function unpack(archive: Buffer): Entry[] | null {
  if (archive.toString('latin1', 257, 262) !== 'ustar') return null
  const entries: Entry[] = []
  let longName: string | null = null
  for (let at = 0; at + block <= archive.length;) {
    const head = archive.subarray(at, at + block)
    if (head.every((byte) => byte === 0)) break
    const text = (from: number, length: number) => head.toString('utf8', from, from + length).replace(/\0.*$/s, '')
    const number = (from: number, length: number) => Number.parseInt(text(from, length).trim() || '0', 8)
    const size = number(124, 12)
    const content = archive.subarray(at + block, at + block + size)
    if (!Number.isInteger(size) || content.length !== size) return null
    const type = text(156, 1)
    const prefix = text(345, 155)
    const path = longName ?? (prefix === '' ? text(0, 100) : `${prefix}/${text(0, 100)}`)
    longName = type === 'L' ? content.toString('utf8').replace(/\0.*$/s, '') : null
    if (type === 'x') longName = /\d+ path=([^\n]*)\n/.exec(content.toString('utf8'))?.[1] ?? null
    if (type === '0' || type === '')
      entries.push({ path: path.replace(/^(\.?\/)+/, ''), content, mode: number(100, 8), uid: number(108, 8), gid: number(116, 8) })
    at += block + padded(size)
  }
  return entries
}
