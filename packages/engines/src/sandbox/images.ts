import { createHash } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { z } from 'zod'
import type { Image, Images, InstanceType } from '../compute.ts'
import { EngineError } from '../errors.ts'
import { disk, diskOf, emptyDisk, entriesOf, type Disk } from './disk.ts'
import { openJournal } from './journal.ts'
import type { Parts } from './parts.ts'
import { flow } from './storage.ts'
import { pack, unpack, type Entry } from './tar.ts'

/** Images are kept in memory and in the journal, byte by byte. */
const sizeLimit = 16 * 2 ** 20

const texts = z.record(z.string(), z.string())
const stored = z.object({
  fingerprint: z.string(),
  alias: z.string().nullable(),
  type: z.enum(['vm', 'container']),
  architecture: z.string(),
  createdAt: z.number(),
  properties: texts,
  tags: texts,
  published: z.string().nullable(),
  /** Base64: a unified file, or metadata and root file system. */
  files: z.array(z.object({ name: z.string(), content: z.string() })),
  disk,
})
type Stored = z.output<typeof stored>

/** Its own, which have a name and no content. */
const builtIn: readonly Image[] = (['vm', 'container'] as const).flatMap((type) =>
  ['debian-12', 'ubuntu-24.04', 'busybox'].map((name) => ({
    fingerprint: createHash('sha256').update(`sandbox ${type} ${name}`).digest('hex'),
    name,
    description: `Sandbox ${name}`,
    os: name.split('-')[0] ?? name,
    release: name.split('-')[1] ?? null,
    architecture: 'x86_64',
    sizeBytes: 100 * 2 ** 20,
    type,
    createdAt: null,
    properties: name === 'busybox' ? {} : { 'cloud-init': 'true' },
    tags: {},
  })),
)

/** What is published. */
export interface Sources {
  /** Throws `not_found`, and `invalid` where it cannot be published as it is. */
  take(from: { instance: string; snapshot: string | null }): { type: InstanceType; disk: Disk; imageProperties: Readonly<Record<string, string>> }
}

export interface SandboxImages extends Required<Images> {
  /** What an instance of it begins with; throws `not_found`. */
  must(fingerprint: string): { disk: Disk; properties: Readonly<Record<string, string>> }
}

export function createSandboxImages({ directory, enter, work, tell }: Parts, now: () => Date, sources: Sources): SandboxImages {
  const { objects, journal } = openJournal<Stored>(directory, (value) => stored.safeParse(value).data ?? null, 'images')

  const shape = (one: Stored): Image => ({
    fingerprint: one.fingerprint,
    name: one.alias ?? one.properties['description'] ?? one.fingerprint.slice(0, 12),
    description: one.properties['description'] ?? '',
    os: one.properties['os'] ?? null,
    release: one.properties['release'] ?? null,
    architecture: one.architecture,
    sizeBytes: one.files.reduce((sum, { content }) => sum + Buffer.byteLength(content, 'base64'), 0),
    type: one.type,
    createdAt: new Date(one.createdAt),
    properties: one.properties,
    tags: one.tags,
  })
  const must = (fingerprint: string): Stored => {
    const one = objects.get(fingerprint)
    if (one !== undefined) return one
    if (builtIn.some((image) => image.fingerprint === fingerprint))
      throw new EngineError('unsupported', 'the sandbox’s own images have no content and stay as they are')
    throw new EngineError('not_found', `no image ${fingerprint}`)
  }
  const formerOf = ({ alias, tags }: Parameters<Required<Images>['published']>[0]) =>
    [...objects.values()].find((one) => one.published === alias && sameTexts(one.tags, tags))
  const put = (one: Stored, action: string): void => {
    // An alias names one.
    for (const other of objects.values())
      if (other.fingerprint !== one.fingerprint && other.alias !== null && other.alias === one.alias) journal.put(other.fingerprint, { ...other, alias: null })
    journal.put(one.fingerprint, one)
    tell('image', one.fingerprint, `image-${action}`)
  }

  return {
    must(fingerprint) {
      const own = builtIn.find((image) => image.fingerprint === fingerprint)
      if (own !== undefined) return { disk: emptyDisk, properties: { os: own.os ?? '', release: own.release ?? '', ...own.properties } }
      return must(fingerprint)
    },
    async list(call) {
      await enter(call)
      return [...builtIn, ...[...objects.values()].map(shape)]
    },
    async importFile({ alias, metadataPath, rootfsPath, properties, tags }, call) {
      await work(call)
      const files = await Promise.all([metadataPath, ...(rootfsPath === undefined ? [] : [rootfsPath])].map(readKept))
      const fingerprint = createHash('sha256')
        .update(Buffer.concat(files.map(({ content }) => content)))
        .digest('hex')
      const former = objects.get(fingerprint)
      if (former !== undefined) {
        if (tags !== undefined && !sameTexts(former.tags, tags)) throw new EngineError('conflict', `the image ${fingerprint} is there and is not ours`)
        if (former.alias !== alias) put({ ...former, alias }, 'updated')
        return fingerprint
      }
      const read = readImage(files.map(({ content }) => content))
      put(
        {
          fingerprint,
          alias,
          type: read.type,
          architecture: read.architecture,
          createdAt: read.createdAt ?? now().getTime(),
          properties: { ...read.properties, ...properties },
          tags: { ...tags },
          published: null,
          files: files.map(({ name, content }) => ({ name, content: content.toString('base64') })),
          disk: read.disk,
        },
        'created',
      )
      return fingerprint
    },
    async delete(fingerprint, call) {
      await work(call)
      if (!objects.has(fingerprint) && !builtIn.some((image) => image.fingerprint === fingerprint)) return
      must(fingerprint)
      journal.remove(fingerprint)
      tell('image', fingerprint, 'image-deleted')
    },
    async publish(from, { alias, description, properties, tags }, call) {
      await work(call)
      const former = formerOf({ alias, tags })
      if (former !== undefined) {
        if (former.alias !== alias) put({ ...former, alias }, 'updated')
        return former.fingerprint
      }
      if ([...objects.values(), ...builtIn.map((image) => ({ alias: image.name }))].some((one) => one.alias === alias))
        throw new EngineError('conflict', `${alias} names another image`)
      const source = sources.take(from)
      const { type, architecture } = { type: source.type, architecture: 'x86_64' }
      const createdAt = now().getTime()
      const all = withoutEmpty({ ...source.imageProperties, ...properties, description })
      const content = pack(imageEntries(source.disk, type, architecture, createdAt, all, JSON.stringify({ alias, tags })))
      if (content.length > sizeLimit) throw new EngineError('exhausted', `the sandbox keeps images of ${sizeLimit} bytes`)
      const fingerprint = createHash('sha256').update(content).digest('hex')
      if (objects.has(fingerprint)) throw new EngineError('conflict', `the image ${fingerprint} is there and is not ours`)
      const files = [{ name: `${fingerprint}.tar`, content: content.toString('base64') }]
      put({ fingerprint, alias, type, architecture, createdAt, properties: all, tags: { ...tags }, published: alias, files, disk: source.disk }, 'created')
      return fingerprint
    },
    async published(wanted, call) {
      await enter(call)
      const former = formerOf(wanted)
      return former === undefined ? [] : [former.fingerprint]
    },
    async setProperties(fingerprint, properties, call) {
      await work(call)
      const one = must(fingerprint)
      put({ ...one, properties: withoutEmpty({ ...one.properties, ...properties }) }, 'updated')
    },
    async export(fingerprint, call) {
      await enter(call)
      const one = must(fingerprint)
      async function* files(): Awaited<ReturnType<Required<Images>['export']>>['files'] {
        for (const [index, { name, content }] of one.files.entries()) {
          yield {
            role: one.files.length === 1 ? 'unified' : index === 0 ? 'metadata' : 'rootfs',
            name,
            content: flow(Buffer.from(content, 'base64'), enter, call),
          }
        }
      }
      return { sizeBytes: shape(one).sizeBytes, files: files() }
    },
  }
}

const withoutEmpty = (texts: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(texts).filter(([, value]) => value !== ''))

const sameTexts = (one: Readonly<Record<string, string>>, other: Readonly<Record<string, string>>): boolean =>
  JSON.stringify(Object.entries(one).sort()) === JSON.stringify(Object.entries(other).sort())

async function readKept(path: string): Promise<{ name: string; content: Buffer }> {
  try {
    if ((await stat(path)).size > sizeLimit) throw new EngineError('exhausted', `the sandbox keeps images of ${sizeLimit} bytes`)
    return { name: basename(path), content: await readFile(path) }
  } catch (error) {
    if (error instanceof EngineError) throw error
    throw new EngineError('invalid', error instanceof Error ? error.message : String(error), { cause: error })
  }
}

/** Reads an image as LXD has them: metadata.yaml, and rootfs or rootfs.img, in one archive or in two files. */
function readImage([first, second]: readonly Buffer[]): Pick<Stored, 'type' | 'architecture' | 'properties' | 'disk'> & { createdAt: number | null } {
  const entries = archiveOf(first)
  const about = entries?.find(({ path }) => path === 'metadata.yaml')?.content.toString('utf8')
  if (entries === null || about === undefined) throw new EngineError('invalid', 'not an image: no archive with a metadata.yaml')
  const created = Number(/^creation_date: *(\d+)/m.exec(about)?.[1] ?? Number.NaN)
  const block = /^properties:\n((?:[ \t]+.*\n?)*)/m.exec(about)?.[1] ?? ''
  const properties = [...block.matchAll(/^\s+([^:\s]+): *(.*)$/gm)].map(([, key = '', value = '']) => [key, scalar(value)])
  const image = entries.find(({ path }) => path === 'rootfs.img')?.content ?? (second !== undefined && isDisk(second) ? second : undefined)
  const root = second === undefined || image !== undefined ? entries : (archiveOf(second) ?? []).map((entry) => ({ ...entry, path: `rootfs/${entry.path}` }))
  return {
    type: image === undefined ? 'container' : 'vm',
    architecture: /^architecture: *"?([\w-]+)/m.exec(about)?.[1] ?? 'x86_64',
    createdAt: Number.isNaN(created) ? null : created * 1000,
    properties: Object.fromEntries(properties),
    // A disk of the sandbox's own is an archive; into others it cannot look.
    disk: diskOf(image === undefined ? root : (unpack(image) ?? []), 'rootfs'),
  }
}

/** Of YAML, as far as images use it. */
function scalar(text: string): string {
  try {
    return text.startsWith('"') ? z.string().parse(JSON.parse(text)) : text.replace(/^'(.*)'$/, '$1')
  } catch {
    return text
  }
}

const isDisk = (content: Buffer): boolean => content.subarray(0, 4).equals(Buffer.from('QFI\xFB', 'latin1'))

function archiveOf(content: Buffer | undefined): Entry[] | null {
  if (content === undefined) return null
  try {
    return unpack(content[0] === 0x1f && content[1] === 0x8b ? gunzipSync(content, { maxOutputLength: 16 * sizeLimit }) : content)
  } catch {
    return null
  }
}

function imageEntries(
  on: Disk,
  type: InstanceType,
  architecture: string,
  createdAt: number,
  properties: Readonly<Record<string, string>>,
  mark: string,
): Entry[] {
  const lines = Object.entries(properties).map(([key, value]) => `  ${key}: ${JSON.stringify(value)}\n`)
  const file = (path: string, content: Buffer): Entry => ({ path, content, mode: 0o644, uid: 0, gid: 0 })
  const about = file(
    'metadata.yaml',
    Buffer.from(`architecture: ${architecture}\ncreation_date: ${Math.floor(createdAt / 1000)}\nproperties:\n${lines.join('')}# ${mark}\n`),
  )
  const root = entriesOf(on, 'rootfs')
  return type === 'vm' ? [about, file('rootfs.img', pack(root))] : [about, ...root]
}
