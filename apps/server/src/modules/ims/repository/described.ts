import { EngineError } from '@zhisuan/engines/errors'
import { isImageConfig, mediaTypes, parseImageConfig, parseManifest, type Descriptor } from '@zhisuan/engines/registry/manifest'
import type { Manifest, Registry as Client } from '@zhisuan/engines/registry/types'
import { LRUCache } from 'lru-cache'
import type { ManifestRow } from './repository.store.ts'

/** A manifest as the index keeps it, with all that it refers to. */
export interface Described {
  readonly row: Omit<ManifestRow, 'repository_id' | 'pushed_by' | 'created_at'>
  readonly blobs: readonly { readonly digest: string; readonly size_bytes: number }[]
}

/** Platforms of one index; those that people build have a dozen. */
const mostChildren = 100

/** What stands under a name only until that name is deleted: a registry of the CNCF deletes digests, with all their names. */
export const placeholderType = 'application/vnd.zhisuan.untagged.v1'
export const isPlaceholder = (manifest: Manifest): boolean => {
  const content = parseManifest(manifest.bytes)
  return content.kind === 'manifest' && content.artifactType === placeholderType
}

/**
 * What a manifest is, and, where it is an index, what those are that it has: the first is the one that was asked about.
 * @param before what is known of a part already: what a digest leads to never changes, and many platforms stay from one push to the next
 * @throws EngineError `bad_answer` for what is no manifest, or refers to itself
 */
export async function describeManifest(
  client: Client,
  name: string,
  manifest: Manifest,
  signal: AbortSignal,
  before: (digest: string) => Promise<Described | null> = async () => null,
): Promise<Described[]> {
  const content = parseManifest(manifest.bytes)
  const itself = { digest: manifest.digest, size_bytes: manifest.bytes.length }
  if (content.kind === 'manifest') return [await describeOne(client, name, manifest, signal)]
  if (content.manifests.length > mostChildren) throw new EngineError('bad_answer', `${name}@${manifest.digest}: an index of ${content.manifests.length}`)
  const children: Described[] = []
  const platforms: ManifestRow['platforms'] = []
  for (const child of content.manifests) {
    if (child.digest === manifest.digest) throw new EngineError('bad_answer', `${name}@${manifest.digest} refers to itself`)
    const described = (await before(child.digest)) ?? (await describePart(client, name, child.digest, signal))
    // Not every platform of an index has to be there (image-spec, "Image Index").
    if (described === null) continue
    children.push(described)
    if (!child.attestation)
      platforms.push({ os: child.os, architecture: child.architecture, variant: child.variant, digest: child.digest, size_bytes: sizeOf(described.blobs) })
  }
  const isImage = children.some(({ row }) => row.kind === 'image')
  const blobs = [itself, ...new Map(children.flatMap((child) => child.blobs.map((blob) => [blob.digest, blob] as const))).values()]
  const row = rowOf(
    manifest,
    isImage ? 'image' : 'artifact',
    content.artifactType ?? '',
    platforms,
    null,
    children.map((child) => child.row.digest),
  )
  return [{ row: { ...row, size_bytes: sizeOf(blobs) }, blobs }, ...children]
}

async function describePart(client: Client, name: string, digest: string, signal: AbortSignal): Promise<Described | null> {
  const found = await client.manifest(name, digest, { signal })
  if (found === null) return null
  if (parseManifest(found.bytes).kind === 'manifest') return describeOne(client, name, found, signal)
  // An index in an index is known by name only.
  return { row: rowOf(found, 'artifact', '', [], null, []), blobs: [{ digest: found.digest, size_bytes: found.bytes.length }] }
}

async function describeOne(client: Client, name: string, manifest: Manifest, signal: AbortSignal): Promise<Described> {
  const content = parseManifest(manifest.bytes)
  if (content.kind !== 'manifest') throw new EngineError('bad_answer', `${name}@${manifest.digest}: an index`)
  const blobs = [
    { digest: manifest.digest, size_bytes: manifest.bytes.length },
    ...(await Promise.all([content.config, ...content.layers].map((one) => sizeOfBlob(client, name, one, signal)))),
  ]
  const size = sizeOf(blobs)
  const finished = (row: Described['row']): Described => ({ row: { ...row, size_bytes: size }, blobs })
  if (isImageConfig(content.config.mediaType)) {
    const bytes = await client.blob(name, content.config.digest, { signal })
    const config = bytes === null ? null : parseImageConfig(bytes)
    const platforms =
      config === null ? [] : [{ os: config.os, architecture: config.architecture, variant: config.variant, digest: manifest.digest, size_bytes: size }]
    return finished(rowOf(manifest, 'image', content.artifactType, platforms, null, []))
  }
  if (content.config.mediaType === mediaTypes.helmConfig) {
    const bytes = await client.blob(name, content.config.digest, { signal })
    return finished(rowOf(manifest, 'chart', content.artifactType, [], bytes === null ? null : chartOf(bytes), []))
  }
  return finished(rowOf(manifest, 'artifact', content.artifactType, [], null, []))
}

/** Sizes of content by its digest, which never change. */
const sizes = new LRUCache<string, number>({ max: 100_000 })

/** What it takes up, and not what a manifest says of it: a registry does not compare them. */
async function sizeOfBlob(client: Client, name: string, { digest, sizeBytes }: Descriptor, signal: AbortSignal): Promise<Described['blobs'][number]> {
  const known = sizes.get(digest)
  if (known !== undefined) return { digest, size_bytes: known }
  const size = await client.blobSize(name, digest, { signal })
  if (size !== null) sizes.set(digest, size)
  // Layers may lie elsewhere (image-spec, "Non-Distributable Layers").
  return { digest, size_bytes: size ?? sizeBytes }
}

const sizeOf = (blobs: Described['blobs']): number =>
  [...new Map(blobs.map(({ digest, size_bytes }) => [digest, size_bytes])).values()].reduce((sum, one) => sum + one, 0)

const rowOf = (
  { digest, mediaType, bytes }: Manifest,
  kind: ManifestRow['kind'],
  artifact_type: string,
  platforms: ManifestRow['platforms'],
  chart: ManifestRow['chart'],
  children: string[],
): Described['row'] => ({ digest, media_type: mediaType, kind, artifact_type, size_bytes: 0, platforms, chart, children, content: bytes })

/** `Chart.yaml` as JSON (Helm, "Use OCI-based registries"). */
function chartOf(bytes: Buffer): ManifestRow['chart'] {
  try {
    const { version, appVersion } = JSON.parse(bytes.toString('utf8')) as { version?: unknown; appVersion?: unknown }
    return typeof version === 'string' ? { version: version.slice(0, 64), app_version: typeof appVersion === 'string' ? appVersion.slice(0, 64) : null } : null
  } catch {
    return null
  }
}

const sizeMost = 2 ** 42
const partMost = 10_000

/**
 * What nobody of us understands takes up room all the same: whatever it names with a digest and a size, wherever that stands in it.
 * Nothing leads to it in the index; by its digest it is deleted as everything else.
 */
export function describeUnknown(manifest: Manifest): Described {
  const parts = new Map<string, number>([[manifest.digest, manifest.bytes.length]])
  const look = (value: unknown, depth: number): void => {
    if (typeof value !== 'object' || value === null || depth > 20 || parts.size >= partMost) return
    if ('digest' in value && typeof value.digest === 'string' && /^sha256:[0-9a-f]{64}$/.test(value.digest) && 'size' in value) {
      const { size } = value
      if (typeof size === 'number' && Number.isInteger(size) && size >= 0 && size <= sizeMost) parts.set(value.digest, size)
    }
    for (const one of Object.values(value)) look(one, depth + 1)
  }
  try {
    look(JSON.parse(manifest.bytes.toString('utf8')), 0)
  } catch {
    // It is as large as it is.
  }
  const blobs = [...parts].map(([digest, size_bytes]) => ({ digest, size_bytes }))
  const row = rowOf({ ...manifest, mediaType: manifest.mediaType.replaceAll(/[^ -~]/g, '').slice(0, 255) }, 'artifact', '', [], null, [])
  return { row: { ...row, size_bytes: sizeOf(blobs) }, blobs }
}
