import { z } from 'zod'
import type { Volume, VolumeName } from '../storage.ts'
import { namesIn, type LxdOperation } from './operations.ts'
import { bytesOf, dateOf, isStandIn, type LxdInstance } from './parse.ts'
import { tagged, tagsOf } from './tags.ts'

/** LXD REST API: custom volumes of `GET /1.0/storage-pools/{pool}/volumes/custom`. */
export const volume = z.object({
  name: z.string(),
  description: z.string().nullish(),
  content_type: z.string().nullish(),
  config: z.record(z.string(), z.string()).nullish(),
  used_by: z.array(z.string()).nullish(),
  created_at: z.string().nullish(),
  location: z.string().nullish(),
})
export type LxdVolume = z.output<typeof volume>

export const volumesPath = (pool: string): string => `/1.0/storage-pools/${encodeURIComponent(pool)}/volumes/custom`
export const volumePath = (name: VolumeName): string => `${volumesPath(name.pool)}/${encodeURIComponent(name.volume)}`

/** Of what only one member of a cluster has; LXD finds most by itself, but copies nothing of another's. */
export const onMember = (location: string | null | undefined): Record<string, string> =>
  location === null || location === undefined || location === '' || location === 'none' ? {} : { target: location }

/** Volumes that are being made bear such a name until they are whole; no caller can give one. */
export const standInPrefix = 'zhisuan_'

/** The disks of an instance that are volumes. */
export const disksOf = (raw: LxdInstance): (VolumeName & { device: string; path: string | null })[] =>
  Object.entries(raw.expanded_devices ?? raw.devices ?? {}).flatMap(([device, { type, pool, source, path }]) =>
    type === 'disk' && pool !== undefined && source !== undefined ? [{ pool, volume: source, device, path: path ?? null }] : [],
  )

/** Where volumes are attached, by pool and name. */
export function attachmentsOf(instances: readonly LxdInstance[]): (name: VolumeName) => Volume['attached'] {
  const found = new Map<string, { instance: string; device: string; path: string | null }[]>()
  for (const raw of instances) {
    if (isStandIn(raw)) continue
    for (const { pool, volume: name, device, path } of disksOf(raw)) {
      const key = JSON.stringify([pool, name])
      found.set(key, [...(found.get(key) ?? []), { instance: raw.name, device, path }])
    }
  }
  return ({ pool, volume: name }) => found.get(JSON.stringify([pool, name])) ?? []
}

export function shapeVolume(pool: string, raw: LxdVolume, attached: ReturnType<typeof attachmentsOf>, usedBytes: number | null): Volume {
  return {
    pool,
    volume: raw.name,
    content: raw.content_type === 'block' ? 'block' : 'filesystem',
    sizeBytes: bytesOf(raw.config?.['size']),
    usedBytes,
    description: raw.description ?? '',
    tags: tagsOf(raw.config),
    attached: attached({ pool, volume: raw.name }),
    createdAt: dateOf(raw.created_at),
    location: raw.location === 'none' || raw.location === '' ? null : (raw.location ?? null),
  }
}

/** A configuration with these tags and nothing that another gave it. */
export const configWith = (config: LxdVolume['config'], tags: Readonly<Record<string, string>>): Record<string, string> => ({
  ...Object.fromEntries(Object.entries(config ?? {}).filter(([key]) => !key.startsWith('user.'))),
  ...tagged(tags),
})

/** LXD does not say of what a copy is made: any may be this one's. */
export const touchesVolume = (operation: LxdOperation, name: string): boolean =>
  namesIn(operation, 'storage_volumes', 'volume').includes(name) ||
  (Object.keys(operation.resources ?? {}).length === 0 && /copying storage volume/i.test(operation.description ?? ''))
