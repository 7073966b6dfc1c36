import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream, mkdirSync } from 'node:fs'
import { mkdir, open, readdir, rm, stat, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { extract, pack, type Pack } from 'tar-stream'
import { Refusal } from '../../../platform/errors.ts'

export type ImageFiles = ReturnType<typeof createImageFiles>

/** Left free for what else the platform writes, such as its database. */
const reserveBytes = 2 ** 30

/** Each image that is on its way in has a folder of the data directory under its id; `file` in it is what came. */
export function createImageFiles(dataDirectory: string) {
  const root = join(dataDirectory, 'images')
  const folderOf = (id: string): string => join(root, id)
  return {
    root,
    /** Before anything else makes the folder of all of them, which would leave it open to everybody on the host. */
    makeRoot: (): void => void mkdirSync(root, { recursive: true, mode: 0o700 }),
    /** Below {@link root}, for what keeps uploads. */
    nameOf: (id: string): string => `${id}/file`,
    pathOf: (id: string): string => join(folderOf(id), 'file'),
    folderOf,
    /** The folder with an empty file, where nothing is there yet. */
    async make(id: string): Promise<void> {
      await mkdir(folderOf(id), { recursive: true, mode: 0o700 })
      await (await open(join(folderOf(id), 'file'), 'a', 0o600)).close()
    },
    /** Of what came so far; 0 where nothing did. */
    sizeOf: (id: string): Promise<number> =>
      stat(join(folderOf(id), 'file')).then(
        ({ size }) => size,
        () => 0,
      ),
    /** Nothing where there is none. */
    remove: (id: string): Promise<void> => rm(folderOf(id), { recursive: true, force: true }),
    /** Ids that have a folder. */
    ids: (): Promise<string[]> => readdir(root).catch(() => []),
    /** Bytes that may be written; below 0 where there is no room at all. */
    async room(): Promise<number> {
      await mkdir(root, { recursive: true, mode: 0o700 })
      const { bavail, bsize } = await statfs(root)
      return bavail * bsize - reserveBytes
    },
  }
}

export async function sha256Of(paths: readonly string[], signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256')
  for (const path of paths) await pipeline(createReadStream(path, { highWaterMark: 1024 * 1024 }), hash, { end: false, signal })
  return hash.digest('hex')
}

/** What an engine imports. */
export interface Importable {
  metadataPath: string
  rootfsPath?: string
  /** How the one file is called; null where it is two. */
  suffix: string | null
}

/** By their first bytes. */
const compressions = [
  ['1f8b', '.tar.gz'],
  ['fd377a585a00', '.tar.xz'],
  ['28b52ffd', '.tar.zst'],
  ['425a68', '.tar.bz2'],
  ['5d0000', '.tar.lzma'],
] as const

/** Of a split image in one archive, as downloads of ours have it. */
const metadataName = /^(?:\.\/)?(?:metadata|meta|lxd|incus)[^/]*\.tar(?:\.\w+)?$/
const rootfsName = /^(?:\.\/)?(?:rootfs|root|disk)[^/]*\.(?:squashfs|img|qcow2|tar(?:\.\w+)?)$/

/**
 * Makes of a file what an engine takes: a unified image as it is; an archive of the two files of a
 * split one taken apart beside it; a disk of a virtual machine (qcow2) with metadata written to it.
 * Again of the same file it makes the same bytes.
 * @throws Refusal 94162, 94186
 */
export async function importable(
  path: string,
  about: { name: string; os: string | null; release: string | null; created_at: Date },
  signal: AbortSignal,
): Promise<Importable> {
  const head = await headOf(path, 512)
  const [metadataPath, rootfsPath] = [`${path}.metadata`, `${path}.rootfs`]
  if (isDisk(head)) {
    await refuseChained(path)
    await writeFile(metadataPath, await metadataOf(about), { mode: 0o600 })
    return { metadataPath, rootfsPath: path, suffix: null }
  }
  const compressed = compressions.find(([magic]) => head.toString('hex').startsWith(magic))
  if (compressed !== undefined) return { metadataPath: path, suffix: compressed[1] }
  if (head.toString('latin1', 257, 262) !== 'ustar') throw new Refusal('imageUnreadable')
  if ((await takeApart(path, { metadataPath, rootfsPath }, signal)) === 'unified') return { metadataPath: path, suffix: '.tar' }
  if (isDisk(await headOf(rootfsPath, 4))) await refuseChained(rootfsPath)
  return { metadataPath, rootfsPath, suffix: null }
}

async function takeApart(path: string, into: { metadataPath: string; rootfsPath: string }, signal: AbortSignal): Promise<'unified' | 'split'> {
  const entries = extract()
  const reading = pipeline(createReadStream(path), entries, { signal })
  // Told below, by what reads the entries.
  reading.catch(() => undefined)
  const found = new Set<string>()
  try {
    for await (const entry of entries) {
      const { name, type } = entry.header
      if (/^(?:\.\/)?(?:metadata\.yaml|rootfs\/|rootfs\.img$|templates\/)/.test(name)) return 'unified'
      const target = type !== 'file' ? null : metadataName.test(name) ? into.metadataPath : rootfsName.test(name) ? into.rootfsPath : null
      if (target === null) {
        entry.resume()
        continue
      }
      found.add(target)
      await pipeline(entry, createWriteStream(target, { mode: 0o600 }), { signal })
    }
    await reading
  } catch (error) {
    signal.throwIfAborted()
    if ((error as NodeJS.ErrnoException).code === 'ENOSPC') throw new Refusal('filesExhausted', { cause: error })
    throw new Refusal('imageUnreadable', { cause: error })
  } finally {
    entries.destroy()
  }
  if (found.size !== 2) throw new Refusal('imageUnreadable')
  return 'split'
}

async function headOf(path: string, length: number): Promise<Buffer> {
  const file = await open(path)
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(length), 0, length, 0)
    return buffer.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}

const isDisk = (head: Buffer): boolean => head.subarray(0, 4).equals(Buffer.from('QFI\xFB', 'latin1'))

/** A disk that names another file to be read with it would bring a file of the engine's host into an instance. */
async function refuseChained(path: string): Promise<void> {
  const head = await headOf(path, 104)
  if (head.length < 72) throw new Refusal('imageUnreadable')
  const [version, backing] = [head.readUInt32BE(4), head.readBigUInt64BE(8)]
  // Incompatible feature 2: the data are in another file.
  const outside = version >= 3 && head.length >= 80 && (head.readBigUInt64BE(72) & 4n) !== 0n
  if (backing !== 0n || outside) throw new Refusal('imageUnreadable')
}

/** Disks do not say for which machine they are: it is taken to be one like this. */
const architectures: Readonly<Record<string, string>> = { x64: 'x86_64', arm64: 'aarch64', riscv64: 'riscv64', ppc64: 'ppc64le', s390x: 's390x' }

async function metadataOf({ name, os, release, created_at }: Parameters<typeof importable>[1]): Promise<Buffer> {
  const properties = Object.entries({ description: name, os, release }).filter(([, value]) => value !== null)
  const text = [
    `architecture: ${architectures[process.arch] ?? process.arch}`,
    `creation_date: ${Math.floor(created_at.getTime() / 1000)}`,
    'properties:',
    // JSON is YAML.
    ...properties.map(([key, value]) => `  ${key}: ${JSON.stringify(value)}`),
    '',
  ].join('\n')
  const archive = pack()
  archive.entry({ name: 'metadata.yaml', mode: 0o644, mtime: created_at }, text)
  archive.finalize()
  return buffer(archive)
}

/** Two files in one archive, which {@link importable} takes apart again; the same bytes each time. */
export async function packSplit(archive: Pack, file: { name: string; size: number; content: AsyncIterable<Buffer> }): Promise<void> {
  const entry = archive.entry({ name: file.name, size: file.size, mode: 0o644, mtime: new Date(0) })
  await pipeline(file.content, entry)
}
