import { z } from 'zod'
import type { Db } from '../../../platform/db/database.ts'
import { defineJob, handleJob, type JobHandler } from '../../../platform/jobs.ts'
import type { ImageFiles } from './image.files.ts'
import * as store from './image.store.ts'

/** An upload that nobody went on with for so long is given up. */
const keptMs = 24 * 3600_000

export const expireImagesJob = defineJob({ name: 'nextstack.image.expire', input: z.object({}), concurrency: 1, schedule: '*/30 * * * *' })

export const expireImagesHandler = (parts: { db: Db; now: () => Date; files: ImageFiles }): JobHandler =>
  handleJob(expireImagesJob, async () => {
    for (const { id } of await store.expiredUploads(parts.db, new Date(parts.now().getTime() - keptMs))) await store.deleteImage(parts.db, id)
    await sweepImageFiles(parts)
  })

/** Removes files that no image needs: of uploads that were given up, and what a killed server had not removed yet. */
export async function sweepImageFiles({ db, files }: { db: Db; files: ImageFiles }): Promise<void> {
  const ids = await files.ids()
  const needed = await store.withFiles(db, ids)
  for (const id of ids) if (!needed.has(id)) await files.remove(id)
}
