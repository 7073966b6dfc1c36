import type { Image } from '@zhisuan/engines/compute'
import type { Db } from '../../../platform/db/database.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import { runsCloudInit, type Catalogue } from '../catalogue/catalogue.service.ts'
import type { Observer } from '../follow/follow.ts'
import * as store from './image.store.ts'

/**
 * Finds images that somebody put on an engine or took from it. What bears a tag is being made by
 * us, or is left of another platform's: it becomes no row. It never changes the engine.
 */
export function createImageObserver(parts: { db: Db; catalogue: Pick<Catalogue, 'forget'> }): Observer {
  const { db, catalogue } = parts
  return {
    name: 'images',
    concerns: (event) => (event.type === 'object' && event.kind === 'image' ? event.name : null),
    async look({ id: cloudId, engine, signal }) {
      // Rows first: whatever changes after this is another's to look at.
      const rows = await store.restingOfCloud(db, cloudId)
      const images = new Map((await engine.images.list({ signal })).map((image) => [image.fingerprint, image]))
      const known = new Set(rows.map(({ fingerprint }) => fingerprint))
      let changed = false
      for (const { id, name, status, source, fingerprint } of rows) {
        const image = images.get(fingerprint ?? '')
        const there = image !== undefined
        if (!there && status === 'active') {
          changed = true
          // What nobody of ours brought goes as it came.
          if (source === 'engine') await store.deleteImage(db, id)
          else await store.updateImageIf(db, id, 'active', { status: 'lost' })
        }
        if (there && status === 'lost') {
          changed = true
          await store.updateImageIf(db, id, 'lost', { status: 'active' })
        }
        if (there && source === 'engine' && name !== image.name && isStandIn(name, image)) {
          changed = true
          await store.updateImageIf(db, id, status, named(image))
        }
      }
      for (const image of images.values()) {
        if (known.has(image.fingerprint) || image.tags['image_id'] !== undefined) continue
        changed = true
        await store.adoptImage(db, rowOf(cloudId, image))
      }
      if (changed) catalogue.forget(cloudId)
    },
  }
}

/** Whether it was called so because it had no name of its own: that comes to an engine after the image. */
const isStandIn = (name: string, { description, fingerprint }: Image): boolean => name === description || fingerprint.startsWith(name)

const named = ({ name, description }: Image): Pick<store.NewImage, 'name' | 'description'> => ({ name, description: description === name ? '' : description })

const rowOf = (cloudId: string, image: Image): store.NewImage => ({
  id: uuidv7(),
  cloud_id: cloudId,
  bp_id: null,
  ...named(image),
  status: 'active',
  error_text: null,
  visibility: 'public',
  source: 'engine',
  fingerprint: image.fingerprint,
  sha256: null,
  suffix: null,
  type: image.type,
  os: image.os,
  release: image.release,
  architecture: image.architecture,
  cloud_init: runsCloudInit(image),
  size_bytes: image.sizeBytes,
  received_bytes: image.sizeBytes,
  min_cpu_cores: 0,
  min_memory_bytes: 0,
  min_disk_bytes: 0,
  created_by: null,
  created_by_name: '',
  ...(image.createdAt !== null && { created_at: image.createdAt }),
})
