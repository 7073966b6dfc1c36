import type { FastifyInstance } from 'fastify'
import type { Authorising } from '../../platform/http/bind.ts'
import type { Handler } from '../../platform/http/handler.ts'
import type { JobDefinition, JobHandler } from '../../platform/jobs.ts'
import type { AnyOperation } from '../../platform/operations.ts'
import type { Platform } from '../../platform/platform.ts'
import type { CloudService } from '../cmp/cloud/cloud.service.ts'
import type { Catalogue } from './catalogue/catalogue.service.ts'
import type { Observer } from './follow/follow.ts'
import { createOutboundGuard } from '../../platform/outbound/guard.ts'
import { expireImagesHandler, expireImagesJob, sweepImageFiles } from './image/image.expire.ts'
import { createImageFiles } from './image/image.files.ts'
import { createImageObserver } from './image/image.observer.ts'
import { createImageOperations } from './image/image.operations.ts'
import { imageRoutes } from './image/image.routes.ts'
import { createImageService } from './image/image.service.ts'
import { createImageUploads } from './image/image.upload.ts'
import type { QuotaService } from './quota/quota.service.ts'

/** Images: what instances are made from, and how they come and go. */
export function createImaging(
  platform: Platform,
  others: { clouds: CloudService; quotas: QuotaService; catalogue: Catalogue },
): {
  handlers: readonly Handler[]
  operations: readonly AnyOperation[]
  observer: Observer
  job: JobDefinition
  jobHandler: JobHandler
  serveUploads: (http: FastifyInstance, authorising: Authorising) => Promise<void>
  drain: () => void
  start: () => Promise<void>
} {
  const { db, config, now } = platform
  const files = createImageFiles(config.DATA_DIR)
  const guard = createOutboundGuard({ allow: config.IMAGE_FETCH_ALLOW, publicUrl: config.PUBLIC_URL })
  const operations = createImageOperations({ db, ...others, files, guard, maxBytes: config.IMAGE_MAX_GB * 2 ** 30 })
  const uploads = createImageUploads({ db, operations: platform.operations, upload: operations.upload, files })
  const images = createImageService(platform, { ...others, operations, files, guard, uploadEnded: uploads.end })
  return {
    handlers: imageRoutes(images),
    operations: Object.values(operations),
    observer: createImageObserver({ db, ...others }),
    job: expireImagesJob,
    jobHandler: expireImagesHandler({ db, now, files }),
    serveUploads: uploads.serve,
    drain: uploads.drain,
    start: () => sweepImageFiles({ db, files }),
  }
}
