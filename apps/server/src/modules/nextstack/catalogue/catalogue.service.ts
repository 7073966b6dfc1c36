import type { images, networks } from '@zhisuan/contract/nextstack/vm'
import type { QueryOf, ResponseOf } from '@zhisuan/contract/define'
import type { ComputeEngine, Image, Network } from '@zhisuan/engines/compute'
import { LRUCache } from 'lru-cache'
import type { CloudService } from '../../cmp/cloud/cloud.service.ts'

/** What a cloud offers to make instances from: images and networks, as the engine has them. */
export interface Catalogue {
  images(query: QueryOf<typeof images.list>): Promise<ResponseOf<typeof images.list>>
  networks(query: QueryOf<typeof networks.list>): Promise<ResponseOf<typeof networks.list>>
  /** For checks before something is created; at most a few seconds old. */
  known(cloudId: string, engine: ComputeEngine): Promise<{ images: readonly Image[]; networks: readonly Network[] }>
  forget(cloudId: string): void
}

/** Short: what an administrator imports by hand shall show at once to people, too. */
const keptMs = 3_000

export function createCatalogue(clouds: Pick<CloudService, 'forReading'>): Catalogue {
  const kept = new LRUCache<string, Promise<{ images: readonly Image[]; networks: readonly Network[] }>>({ max: 1_000, ttl: keptMs })
  const known: Catalogue['known'] = (cloudId, engine) => {
    const fresh = kept.get(cloudId)
    if (fresh !== undefined) return fresh
    const asked = Promise.all([engine.images.list(), engine.networks.list()]).then(([images, networks]) => ({
      images,
      networks: networks.filter((network) => network.managed),
    }))
    kept.set(cloudId, asked)
    // A failure is not worth remembering.
    asked.catch(() => kept.delete(cloudId))
    return asked
  }
  return {
    known,
    forget: (cloudId) => void kept.delete(cloudId),
    async images(query) {
      const { images } = await known(query.cloud_id, await clouds.forReading(query.cloud_id))
      const items = images
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
          cloud_init: runsCloudInit(image),
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

/**
 * Whether an image reads user data. Images say so with the property `cloud-init`; those of the
 * public image servers name the variant `cloud`.
 */
export const runsCloudInit = (image: Pick<Image, 'properties'>): boolean =>
  image.properties['cloud-init'] === 'true' || image.properties['variant'] === 'cloud'
