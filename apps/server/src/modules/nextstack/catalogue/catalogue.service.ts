import type { images, networks } from '@zhisuan/contract/nextstack/vm'
import type { QueryOf, ResponseOf } from '@zhisuan/contract/define'
import type { ComputeEngine, Image } from '@zhisuan/engines/compute'
import type { Network } from '@zhisuan/engines/network'
import { LRUCache } from 'lru-cache'
import type { Scope } from '../../../platform/auth/actor.ts'
import type { Sql } from '../../../platform/db/database.ts'
import type { CloudService } from '../../cmp/cloud/cloud.service.ts'
import { libraryOf, type LibraryRow } from '../image/image.store.ts'

/** An image that instances may be made from: as the engine has it, with what the library says of it. */
export interface UsableImage extends Pick<
  Image,
  'fingerprint' | 'name' | 'description' | 'os' | 'release' | 'architecture' | 'sizeBytes' | 'type' | 'createdAt'
> {
  cloudInit: boolean
  visibility: 'public' | 'private'
  minCpuCores: number
  minMemoryBytes: number
  minDiskBytes: number
}

/** What a cloud offers to make instances from: images that are on the engine and in the library, and networks. */
export interface Catalogue {
  images(scope: Scope, query: QueryOf<typeof images.list>): Promise<ResponseOf<typeof images.list>>
  networks(query: QueryOf<typeof networks.list>): Promise<ResponseOf<typeof networks.list>>
  /** For checks before something is created; at most a few seconds old. */
  known(cloudId: string, engine: ComputeEngine): Promise<{ images: readonly Image[]; networks: readonly Network[] }>
  /** Images that the scope may make instances from. */
  usable(scope: Scope, cloudId: string): Promise<UsableImage[]>
  forget(cloudId: string): void
}

/** Short: what an administrator imports by hand shall show at once to people, too. */
const keptMs = 3_000

export function createCatalogue(clouds: Pick<CloudService, 'forReading'>, db: Sql): Catalogue {
  const kept = new LRUCache<string, Promise<{ images: readonly Image[]; networks: readonly Network[] }>>({ max: 1_000, ttl: keptMs })
  const known: Catalogue['known'] = (cloudId, engine) => {
    const fresh = kept.get(cloudId)
    if (fresh !== undefined) return fresh
    const asked = Promise.all([engine.images.list(), engine.networks.list()]).then(([images, networks]) => ({
      images,
      // Private networks are their organisations': one is chosen by its record, not by the engine's name.
      networks: networks.filter((network) => network.managed && network.tags['vpc_id'] === undefined),
    }))
    kept.set(cloudId, asked)
    // A failure is not worth remembering.
    asked.catch(() => kept.delete(cloudId))
    return asked
  }
  const usable: Catalogue['usable'] = async (scope, cloudId) => {
    const { images } = await known(cloudId, await clouds.forReading(cloudId))
    const rows = Map.groupBy(
      await libraryOf(
        db,
        scope,
        cloudId,
        images.map(({ fingerprint }) => fingerprint),
      ),
      ({ fingerprint }) => fingerprint,
    )
    return images.flatMap((image) => {
      const named = rows.get(image.fingerprint)
      // Not in the library yet: the engine's own are everybody's, ours come when they are whole.
      if (named === undefined) return image.tags['image_id'] === undefined ? [withoutRow(image)] : []
      // Of the same bytes the organisation's own say what is to be said of them.
      const row = named.filter((one) => one.usable).sort((one, other) => Number(other.mine) - Number(one.mine))[0]
      return row === undefined ? [] : [withRow(image, row)]
    })
  }
  return {
    known,
    usable,
    forget: (cloudId) => void kept.delete(cloudId),
    async images(scope, query) {
      const items = (await usable(scope, query.cloud_id))
        .filter((image) => query.type === undefined || image.type === query.type)
        .map((image) => ({
          fingerprint: image.fingerprint,
          name: image.name,
          description: image.description,
          os: image.os,
          release: image.release,
          architecture: image.architecture,
          size_bytes: image.sizeBytes,
          type: image.type,
          cloud_init: image.cloudInit,
          visibility: image.visibility,
          min_cpu_cores: image.minCpuCores,
          min_memory_bytes: image.minMemoryBytes,
          min_disk_bytes: image.minDiskBytes,
          created_at: image.createdAt?.toISOString() ?? null,
        }))
      return { total: items.length, items }
    },
    async networks(query) {
      const { networks } = await known(query.cloud_id, await clouds.forReading(query.cloud_id))
      const items = networks.map(({ name, description, ipv4, ipv6 }) => ({ name, description, ipv4, ipv6 }))
      return { total: items.length, items }
    },
  }
}

const withoutRow = (image: Image): UsableImage => ({
  ...image,
  cloudInit: runsCloudInit(image),
  visibility: 'public',
  minCpuCores: 0,
  minMemoryBytes: 0,
  minDiskBytes: 0,
})

const withRow = (image: Image, row: LibraryRow): UsableImage => ({
  ...image,
  name: row.name,
  description: row.description,
  os: row.os,
  release: row.release,
  cloudInit: row.cloud_init,
  visibility: row.visibility,
  minCpuCores: row.min_cpu_cores,
  minMemoryBytes: row.min_memory_bytes,
  minDiskBytes: row.min_disk_bytes,
})

/**
 * Whether an image reads user data. Images say so with the property `cloud-init`; those of the
 * public image servers name the variant `cloud`.
 */
export const runsCloudInit = (image: Pick<Image, 'properties'>): boolean => image.properties['cloud-init'] === 'true' || image.properties['variant'] === 'cloud'
