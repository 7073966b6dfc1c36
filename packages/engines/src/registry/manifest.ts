import { z } from 'zod'
import { EngineError } from '../errors.ts'

export const mediaTypes = {
  ociIndex: 'application/vnd.oci.image.index.v1+json',
  ociManifest: 'application/vnd.oci.image.manifest.v1+json',
  dockerList: 'application/vnd.docker.distribution.manifest.list.v2+json',
  dockerManifest: 'application/vnd.docker.distribution.manifest.v2+json',
  ociEmpty: 'application/vnd.oci.empty.v1+json',
  helmConfig: 'application/vnd.cncf.helm.config.v1+json',
} as const

/** What registries are asked for: without, some answer the first of an index. */
export const acceptedManifests = [mediaTypes.ociIndex, mediaTypes.dockerList, mediaTypes.ociManifest, mediaTypes.dockerManifest].join(', ')

/** More than that no manifest is (distribution-spec, "Pushing Manifests"). */
export const manifestMostBytes = 4 * 2 ** 20
/** So many things may one refer to; those that people build have some dozens. */
const mostReferences = 2_000

/** What a database can keep, too: of control characters none. */
const line = (most: number) =>
  z
    .string()
    .max(most)
    .regex(/^\P{Cc}*$/u)
/** Larger than any layer there is, and so small that a manifest of them can be counted. */
const layerMostBytes = 2 ** 42

const descriptor = z.object({
  mediaType: line(255).default(''),
  digest: z.string().regex(/^[a-z0-9+._-]+:[0-9a-f]{32,128}$/i),
  size: z.int().min(0).max(layerMostBytes),
  annotations: z.record(z.string(), z.string()).nullish(),
})
const platform = z.object({ os: line(64).default(''), architecture: line(64).default(''), variant: line(64).nullish() })
const index = z.object({
  schemaVersion: z.literal(2),
  artifactType: line(255).nullish(),
  manifests: z.array(descriptor.extend({ platform: platform.nullish() })).max(mostReferences),
})
const manifest = z.object({
  schemaVersion: z.literal(2),
  artifactType: line(255).nullish(),
  config: descriptor,
  layers: z.array(descriptor).max(mostReferences),
  annotations: z.record(z.string(), z.string()).nullish(),
})

export interface Descriptor {
  readonly digest: string
  readonly mediaType: string
  readonly sizeBytes: number
}

/** What a manifest says, as far as anybody looks at it. */
export type ManifestContent =
  | {
      readonly kind: 'index'
      readonly artifactType: string | null
      readonly manifests: readonly (Descriptor & {
        readonly os: string
        readonly architecture: string
        readonly variant: string | null
        readonly attestation: boolean
      })[]
    }
  | {
      readonly kind: 'manifest'
      /** What it is, where it is no image: its artifact type, else the type of its configuration. */
      readonly artifactType: string
      readonly config: Descriptor
      readonly layers: readonly Descriptor[]
      readonly annotations: Readonly<Record<string, string>>
    }

const shape = ({ digest, mediaType, size }: z.output<typeof descriptor>): Descriptor => ({ digest, mediaType, sizeBytes: size })

/** Far more than any that is made has: whoever may push may push whatever they like, and to read it takes time of everybody's. */
const valuesMost = 20_000
const separators: ReadonlySet<number> = new Set(['{', '[', ',', ':'].map((one) => one.charCodeAt(0)))

/**
 * @param most so many values at most
 * @throws EngineError `bad_answer` where it is none, or one of too many values
 */
export function jsonOf(bytes: Buffer, what: string, most: number = valuesMost): unknown {
  let values = 0
  for (const byte of bytes) if (separators.has(byte) && ++values > most) throw new EngineError('bad_answer', `${what} of more than ${most} values`)
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch (error) {
    throw new EngineError('bad_answer', `${what} that is no JSON`, { cause: error })
  }
}

/**
 * Image manifests and indexes of OCI (image-spec 1.1) and of Docker (schema 2).
 * @throws EngineError `bad_answer` where it is neither
 */
export function parseManifest(bytes: Buffer): ManifestContent {
  if (bytes.length > manifestMostBytes) throw new EngineError('bad_answer', `a manifest of ${bytes.length} bytes`)
  const json = jsonOf(bytes, 'a manifest')
  const asIndex = index.safeParse(json)
  if (asIndex.success)
    return {
      kind: 'index',
      artifactType: asIndex.data.artifactType ?? null,
      manifests: asIndex.data.manifests.map((one) => ({
        ...shape(one),
        os: one.platform?.os ?? '',
        architecture: one.platform?.architecture ?? '',
        variant: one.platform?.variant ?? null,
        // BuildKit keeps what it knows of a build beside it, for a platform that there is not.
        attestation: one.annotations?.['vnd.docker.reference.type'] !== undefined,
      })),
    }
  const asManifest = manifest.safeParse(json)
  if (!asManifest.success) throw new EngineError('bad_answer', `no manifest that we know: ${z.prettifyError(asManifest.error).slice(0, 300)}`)
  const { config, layers, artifactType, annotations } = asManifest.data
  return {
    kind: 'manifest',
    artifactType: artifactType ?? (config.mediaType === mediaTypes.ociEmpty ? '' : config.mediaType),
    config: shape(config),
    layers: layers.map(shape),
    annotations: annotations ?? {},
  }
}

const imageConfigTypes = new Set(['application/vnd.oci.image.config.v1+json', 'application/vnd.docker.container.image.v1+json'])
/** Whether containers are made of it, by the type of its configuration. */
export const isImageConfig = (mediaType: string): boolean => imageConfigTypes.has(mediaType)

const imageConfig = z.object({
  created: z.string().nullish(),
  author: z.string().nullish(),
  os: line(64).default(''),
  architecture: line(64).default(''),
  variant: line(64).nullish(),
  config: z
    .object({
      Cmd: z.array(z.string()).nullish(),
      Entrypoint: z.array(z.string()).nullish(),
      Env: z.array(z.string()).nullish(),
      ExposedPorts: z.record(z.string(), z.unknown()).nullish(),
      Labels: z.record(z.string(), z.string()).nullish(),
    })
    .nullish(),
  history: z
    .array(z.object({ created: z.string().nullish(), created_by: z.string().nullish(), comment: z.string().nullish(), empty_layer: z.boolean().nullish() }))
    .max(mostReferences)
    .nullish(),
})

/** How an image was built, and what it runs (image-spec 1.1, "Image Configuration"). */
export interface ImageConfig {
  readonly createdAt: Date | null
  readonly author: string | null
  readonly os: string
  readonly architecture: string
  readonly variant: string | null
  readonly command: readonly string[]
  readonly entrypoint: readonly string[]
  readonly environment: readonly string[]
  readonly exposedPorts: readonly string[]
  readonly labels: Readonly<Record<string, string>>
  readonly history: readonly { readonly createdAt: Date | null; readonly createdBy: string; readonly comment: string; readonly emptyLayer: boolean }[]
}

const dateOf = (text: string | null | undefined): Date | null => {
  const date = new Date(text ?? Number.NaN)
  return Number.isNaN(date.getTime()) || date.getTime() <= 0 ? null : date
}

/** @throws EngineError `bad_answer` */
export function parseImageConfig(bytes: Buffer): ImageConfig {
  const json = jsonOf(bytes, 'a configuration')
  const { success, data, error } = imageConfig.safeParse(json)
  if (!success) throw new EngineError('bad_answer', `no configuration of an image: ${z.prettifyError(error).slice(0, 300)}`)
  return {
    createdAt: dateOf(data.created),
    author: data.author ?? null,
    os: data.os,
    architecture: data.architecture,
    variant: data.variant ?? null,
    command: data.config?.Cmd ?? [],
    entrypoint: data.config?.Entrypoint ?? [],
    environment: data.config?.Env ?? [],
    exposedPorts: Object.keys(data.config?.ExposedPorts ?? {}),
    labels: data.config?.Labels ?? {},
    history: (data.history ?? []).map((one) => ({
      createdAt: dateOf(one.created),
      createdBy: one.created_by ?? '',
      comment: one.comment ?? '',
      emptyLayer: one.empty_layer === true,
    })),
  }
}
