import type { computeInstances } from '@zhisuan/contract/compute/instance'
import type { BodyInput } from '@zhisuan/contract/define'
import type { QuotaKind } from '@zhisuan/contract/compute/project'

export const gib = 2 ** 30

/** A key with its value, in a form. */
export interface Pair {
  key: string
  value: string
}
export const pairsOf = (record: Readonly<Record<string, string>>): Pair[] => Object.entries(record).map(([key, value]) => ({ key, value }))
/** What has no key is a line that nobody filled in. */
export const recordOf = (pairs: readonly (Partial<Pair> | undefined)[]): Record<string, string> =>
  Object.fromEntries(pairs.flatMap((pair) => (pair?.key === undefined || pair.key.trim() === '' ? [] : [[pair.key.trim(), pair.value ?? '']])))

export const sourceTypes = ['image', 'volume', 'snapshot'] as const
export type SourceType = (typeof sourceTypes)[number]

export interface DiskTyped {
  size_bytes?: number | null
  volume_type?: string | null
  delete_on_termination?: boolean
}

/**
 * The form holds the body of the call under the body's own names, so that the server's refusals find their fields.
 * What another source needs stays while one is tried.
 */
export interface InstanceTyped {
  source?: {
    type?: SourceType
    image_id?: string | null
    volume_id?: string | null
    snapshot_id?: string | null
    /** The root disk of an image lies on a volume. */
    on_volume?: boolean
    disk?: DiskTyped
    delete_on_termination?: boolean
  }
  flavor_id?: string | null
  disks?: (DiskTyped | undefined)[]
  networks?: ({ network_id?: string | null; address?: string } | undefined)[]
  security_group_ids?: string[]
  key_pair_id?: string | null
  password?: string
  user_data?: string
  server_group_id?: string | null
  zone?: string | null
  project_id?: string | null
  metadata?: (Partial<Pair> | undefined)[]
  tags?: string[]
  name?: string
  description?: string
  count?: number | null
}

export const blank: InstanceTyped = {
  source: { type: 'image', on_volume: false, disk: { delete_on_termination: true }, delete_on_termination: false },
  disks: [],
  networks: [{}],
  metadata: [],
  tags: [],
  count: 1,
  description: '',
}

type Body = BodyInput<typeof computeInstances.create>

const text = (typed: string | null | undefined): string | null => (typed === undefined || typed === null || typed.trim() === '' ? null : typed)
const diskOf = ({ size_bytes, volume_type, delete_on_termination }: DiskTyped) => ({
  size_bytes: size_bytes ?? 0,
  volume_type: volume_type ?? null,
  delete_on_termination: delete_on_termination ?? true,
})

function sourceOf(source: NonNullable<InstanceTyped['source']>): Body['source'] {
  switch (source.type) {
    case 'volume':
      return { type: 'volume', volume_id: source.volume_id ?? '', delete_on_termination: source.delete_on_termination ?? false }
    case 'snapshot':
      return {
        type: 'snapshot',
        snapshot_id: source.snapshot_id ?? '',
        size_bytes: source.disk?.size_bytes ?? null,
        delete_on_termination: source.disk?.delete_on_termination ?? true,
      }
    default:
      return { type: 'image', image_id: source.image_id ?? '', disk: source.on_volume === true ? diskOf(source.disk ?? {}) : null }
  }
}

/** The form's values as the call takes them: what is not typed is not sent. */
export function bodyOf(typed: InstanceTyped): Body {
  const password = text(typed.password)
  const user_data = text(typed.user_data)
  return {
    name: typed.name ?? '',
    description: typed.description ?? '',
    project_id: typed.project_id ?? null,
    flavor_id: typed.flavor_id ?? '',
    source: sourceOf(typed.source ?? {}),
    disks: (typed.disks ?? []).map((disk) => diskOf(disk ?? {})),
    networks: (typed.networks ?? []).map((one) => {
      const address = text(one?.address)
      return { network_id: one?.network_id ?? '', ...(address !== null && { address: address.trim() }) }
    }),
    security_group_ids: typed.security_group_ids ?? [],
    key_pair_id: typed.key_pair_id ?? null,
    ...(password !== null && { password }),
    ...(user_data !== null && { user_data }),
    server_group_id: typed.server_group_id ?? null,
    zone: text(typed.zone),
    metadata: recordOf(typed.metadata ?? []),
    tags: typed.tags ?? [],
    count: typed.count ?? 1,
  }
}

/** The least that a root disk may be, from what it is made of and for. */
export const leastRootBytes = (of: {
  readonly image?: { readonly min_disk_bytes: number; readonly size_bytes: number | null } | undefined
  readonly snapshot?: { readonly size_bytes: number } | undefined
}): number => Math.max(gib, Math.ceil(Math.max(of.image?.min_disk_bytes ?? 0, of.image?.size_bytes ?? 0, of.snapshot?.size_bytes ?? 0) / gib) * gib)

/**
 * What of each quota the instances to be made take, as far as it is typed.
 * @param least of the root disk, for one whose size is left to what it is made of
 */
export function wantsOf(
  typed: InstanceTyped,
  flavor: { readonly vcpus: number; readonly memory_bytes: number } | undefined,
  least: number,
): Partial<Record<QuotaKind, number>> {
  const count = typed.count ?? 1
  const sizes = disksOf(typed, least).map(({ size_bytes }) => size_bytes)
  return {
    instances: count,
    ...(flavor !== undefined && { cores: flavor.vcpus * count, memory_bytes: flavor.memory_bytes * count }),
    volumes: sizes.length * count,
    volume_bytes: sizes.reduce((sum, size) => sum + size, 0) * count,
    ports: (typed.networks ?? []).length * count,
  }
}

/** The disks that are made with an instance, on volumes; a root disk whose size is left to what it is made of is of the least. */
export function disksOf({ source, disks = [] }: InstanceTyped, least: number): { type: string | null; size_bytes: number }[] {
  const onVolume = (source?.type === 'image' && source.on_volume === true) || source?.type === 'snapshot'
  const shape = (disk: DiskTyped | undefined, otherwise: number) => ({ type: disk?.volume_type ?? null, size_bytes: disk?.size_bytes ?? otherwise })
  return [...(onVolume ? [shape(source.disk, least)] : []), ...disks.map((disk) => shape(disk, 0))]
}

/** Whether its root disk is that of the flavor, on its host. */
export const hasOwnDisk = ({ source }: InstanceTyped): boolean => (source?.type ?? 'image') === 'image' && source?.on_volume !== true
