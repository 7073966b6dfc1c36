import type { BodyOf, QueryOf, ResponseOf } from '@zhisuan/contract/define'
import type { edgeImages } from '@zhisuan/contract/ecrm/edge'
import type { Image } from '@zhisuan/engines/docker/types'
import { isEngineError } from '@zhisuan/engines/errors'
import { scopeOf, type Actor } from '../../../platform/auth/actor.ts'
import { iso } from '../../../platform/db/database.ts'
import { found, Refusal } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { EdgeReach, ReachedEdge } from '../edge/edge.reach.ts'
import { refusedByNode } from '../edge/edge.refusals.ts'
import type { ImageOperations } from './image.operations.ts'
import * as store from './image.store.ts'

type Calls = typeof edgeImages

export type ImageService = ReturnType<typeof createImages>

export function createImages(platform: Pick<Platform, 'db' | 'operations'>, parts: { reach: EdgeReach['reach']; operations: ImageOperations }) {
  const { db } = platform

  /** Asks the node's Docker; what it refuses is said in words. */
  const ask = async <T>(actor: Actor, id: string, question: (edge: ReachedEdge) => Promise<T>): Promise<T> => {
    const edge = await parts.reach(scopeOf(actor), id)
    try {
      return await question(edge)
    } catch (error) {
      throw isEngineError(error, 'not_found') ? new Refusal('notFound', { cause: error }) : refusedByNode(error, edge.row)
    }
  }
  /** All images, with the containers that are made of each. */
  const look = async ({ docker }: ReachedEdge): Promise<{ image: Image; users: string[] }[]> => {
    const [images, containers] = await Promise.all([docker.images.list(), docker.containers.list({ all: true })])
    const users = new Map<string, string[]>()
    for (const { imageId, name } of containers) users.set(imageId, [...(users.get(imageId) ?? []), name])
    return images.map((image) => ({ image, users: users.get(image.id) ?? [] }))
  }

  return {
    list: (actor: Actor, id: string, { keyword = '' }: QueryOf<Calls['images']>): Promise<ResponseOf<Calls['images']>> =>
      ask(actor, id, async (edge) => ({
        items: (await look(edge))
          .filter(({ image }) => [image.id, ...image.tags].some((text) => text.toLowerCase().includes(keyword.toLowerCase())))
          .map(({ image, users }) => ({ id: image.id, tags: [...image.tags], size_bytes: image.sizeBytes, created_at: iso(image.createdAt), used_by: users })),
      })),

    /** Goes on whoever looks, also when the server is started anew. */
    async pull(actor: Actor, id: string, { image }: BodyOf<Calls['pullImage']>): Promise<{ pull_id: string }> {
      const { row } = await parts.reach(scopeOf(actor), id)
      const pullId = uuidv7()
      await db.transaction().execute(async (tx) => {
        await store.insertPull(tx, { id: pullId, edge_id: id, image })
        await platform.operations.begin(tx, parts.operations.pull, { resource_id: pullId, bp_id: row.bp_id, actor, input: { edge_id: id, image } })
      })
      return { pull_id: pullId }
    },

    async pulled(actor: Actor, id: string, pullId: string): Promise<ResponseOf<Calls['pull']>> {
      const { image, status, error, layers } = found(await store.getPull(db, scopeOf(actor), id, pullId))
      return { image, status, error, layers }
    },

    remove: (actor: Actor, id: string, { image, force }: QueryOf<Calls['removeImage']>): Promise<void> =>
      ask(actor, id, ({ docker }) => docker.images.remove(image, { force })),

    /** Without `all` only those without a name. */
    prune: (actor: Actor, id: string, { preview, all }: BodyOf<Calls['prune']>): Promise<ResponseOf<Calls['prune']>> =>
      ask(actor, id, async (edge) => {
        const unused = (await look(edge)).filter(({ image, users }) => users.length === 0 && (all || image.tags.length === 0)).map(({ image }) => image)
        const shape = (images: readonly Image[]) => images.map((image) => ({ id: image.id, tags: [...image.tags], size_bytes: image.sizeBytes }))
        if (preview) return { items: shape(unused), freed_bytes: unused.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) }
        const { freedBytes } = await edge.docker.images.prune({ all })
        // Something may have come to use one in between: those are told that are gone.
        const left = new Set((await edge.docker.images.list()).map((image) => image.id))
        return { items: shape(unused.filter((image) => !left.has(image.id))), freed_bytes: freedBytes }
      }),
  }
}
