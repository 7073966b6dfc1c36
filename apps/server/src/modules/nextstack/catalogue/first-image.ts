import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Logger } from 'pino'
import { z } from 'zod'
import { defineJob, handleJob, type JobHandler } from '../../../platform/jobs.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { CloudService } from '../../cmp/cloud/cloud.service.ts'
import type { Catalogue } from './catalogue.service.ts'

const runProgram: (program: string, args: readonly string[], options: { signal: AbortSignal }) => Promise<unknown> = promisify(execFile)

/**
 * A hypervisor that holds no image yet can make nothing, and a registry of images may be out of
 * reach: so a small one is built on this host, from busybox, and given to it.
 */
export const seedImageJob = defineJob({
  name: 'nextstack.image.seed',
  input: z.object({ cloud_id: z.uuid() }),
  concurrency: 1,
  retries: 2,
})

/** Asks for it where a cloud on this very host has no image. */
export async function seedFirstImage(platform: Pick<Platform, 'db' | 'jobs'>, clouds: Pick<CloudService, 'all' | 'engine'>): Promise<void> {
  for (const cloud of await clouds.all()) {
    if (cloud.product !== 'nextstack' || cloud.sandbox || !cloud.local) continue
    // One that does not answer, or cannot be opened at all, gets its image when an administrator sees to it.
    const images = await clouds
      .engine(cloud.id)
      .then((engine) => engine.images.list())
      .catch(() => null)
    if (images?.length !== 0) continue
    await platform.db.transaction().execute((tx) => platform.jobs.send(tx, seedImageJob, { cloud_id: cloud.id }))
  }
}

export const firstImageHandler = (parts: {
  clouds: Pick<CloudService, 'engine'>
  catalogue: Pick<Catalogue, 'forget'>
  log: Logger
  run?: typeof runProgram
}): JobHandler =>
  handleJob(seedImageJob, async ({ cloud_id }, { signal }) => {
    const { run = runProgram } = parts
    const engine = await parts.clouds.engine(cloud_id)
    if ((await engine.images.list({ signal })).length > 0) return
    const folder = await mkdtemp(join(tmpdir(), 'zhisuan-image-'))
    try {
      const file = join(folder, 'busybox.tar.gz')
      await run('bash', [new URL('../../../../../../scripts/build-image.sh', import.meta.url).pathname, file], { signal })
      const fingerprint = await engine.images.importFile?.({ alias: 'busybox', metadataPath: file }, { signal })
      parts.catalogue.forget(cloud_id)
      parts.log.info({ cloud: cloud_id, fingerprint }, 'first image imported')
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })
