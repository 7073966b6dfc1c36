import { modelFiles, modelRevisions, models as modelCalls } from '@zhisuan/contract/models/model'
import { modelImports } from '@zhisuan/contract/models/import'
import { z } from 'zod'
import type { PersonOf } from '../../platform/auth/later.ts'
import type { Bytes } from '../../platform/bytes/bytes.ts'
import { serveUploads } from '../../platform/bytes/serveUploads.ts'
import { handle } from '../../platform/http/handler.ts'
import { defineJob, handleJob } from '../../platform/jobs.ts'
import type { ModuleParts } from '../../platform/module.ts'
import { createOutboundGuard } from '../../platform/outbound/guard.ts'
import type { Platform } from '../../platform/platform.ts'
import type { Transfers } from '../files/transfers.ts'
import type { Settings } from '../sys/settings/settings.service.ts'
import { serveHub } from './hub.ts'
import { serveHubUploads, type ActorOf } from './hub.uploads.ts'
import { createImports } from './imports.ts'
import { importMigrations } from './imports.store.ts'
import { createModels, modelOf, modelUploadPath, shapeUpload } from './models.service.ts'
import { modelMigrations, seenModel, tellUsage } from './models.store.ts'

const forgetJob = defineJob({ name: 'models.staged.forget', input: z.object({}), concurrency: 1, schedule: '41 * * * *' })

const usageJob = defineJob({ name: 'models.usage.tell', input: z.object({}), concurrency: 1, schedule: '*/5 * * * *' })

/** The model warehouse. */
export function createModelsModule(
  platform: Platform,
  {
    bytes,
    settings,
    actorOf,
    personOf,
    transfers,
  }: { bytes: Bytes; settings: Pick<Settings, 'get'>; actorOf: ActorOf; personOf: PersonOf; transfers: Transfers },
): ModuleParts {
  const models = createModels(platform, { bytes, transfers, actorOf })
  const guard = createOutboundGuard({ allow: platform.config.IMAGE_FETCH_ALLOW, publicUrl: platform.config.PUBLIC_URL })
  const imports = createImports(platform, { models, bytes, transfers, guard, hubs: () => settings.get('model_hubs'), personOf })
  return {
    migrations: { ...modelMigrations, ...importMigrations },
    kinds: { 'models.model': { table: 'models' } },
    handlers: [
      handle(modelCalls.list, ({ request, query }) => models.list(request, query)),
      handle(modelCalls.facets, ({ query }) => models.facets(query)),
      handle(modelCalls.get, ({ request, params }) => models.get(request, params.id)),
      handle(modelCalls.create, ({ actor, body }) => models.create(actor, body)),
      handle(modelCalls.update, ({ actor, params, body }) => models.update(actor, params.id, body)),
      handle(modelCalls.delete, ({ actor, params }) => models.delete(actor, params.id)),
      handle(modelCalls.submit, ({ actor, params }) => models.submit(actor, params.id)),
      handle(modelCalls.withdraw, ({ actor, params }) => models.withdraw(actor, params.id)),
      handle(modelCalls.review, ({ actor, params, body, request }) => models.review(actor, params.id, body, request.ip)),
      handle(modelCalls.accept, ({ actor, params, body }) => models.accept(actor, params.id, body)),
      handle(modelFiles.list, ({ request, params, query }) => models.files(request, params.id, query)),
      handle(modelFiles.upload, ({ actor, params, body, request }) => models.announce(actor, params.id, body, request.ip)),
      handle(modelFiles.staged, async ({ actor, params }) => shapeUpload(await models.upload(actor, params.upload_id, params.id))),
      handle(modelFiles.unfinished, ({ actor, params }) => models.unfinished(actor, params.id)),
      handle(modelFiles.discard, ({ actor, params }) => models.discard(actor, params.id, params.upload_id)),
      handle(modelFiles.download, ({ request, params, body }) => models.download(request, params.id, body)),
      handle(modelImports.list, ({ actor, params }) => imports.list(actor, params.id)),
      handle(modelImports.create, ({ actor, params, body, request }) => imports.create(actor, params.id, body, request.ip)),
      handle(modelImports.cancel, ({ actor, params }) => imports.cancel(actor, params.id, params.import_id)),
      handle(modelRevisions.list, ({ request, params, query }) => models.revisions(request, params.id, query)),
      handle(modelRevisions.create, ({ actor, params, body }) => models.createRevision(actor, params.id, body)),
    ],
    jobs: [forgetJob, usageJob, ...imports.jobs],
    jobHandlers: [handleJob(forgetJob, () => models.dropForgotten()), handleJob(usageJob, () => tellUsage(platform.db)), ...imports.jobHandlers],
    headOf: async (path) => {
      const { data: id } = z.uuid().safeParse(/^\/warehouse\/([^/]+)\/?$/.exec(path)?.[1])
      const model = id === undefined ? undefined : await seenModel(platform.db, null, id)
      if (model === undefined) return null
      const [site, name] = [await settings.get('title'), `${model.namespace}/${model.name}`]
      return { title: `${model.title} - ${site}`, description: model.summary === '' ? name : `${name}：${model.summary}`, site }
    },
    serve: async (http, authorising, changing) => {
      serveHub(http, authorising, { db: platform.db, downloads: platform.downloads, models, bytes })
      await serveHubUploads(http, authorising, { platform, models, bytes, changing, actorOf })
      await serveUploads(http, authorising, {
        path: modelUploadPath(':id'),
        call: modelFiles.staged,
        bytes,
        uploadOf: models.sent,
        within: (upload) => ({ call: modelFiles.upload, id: modelOf(upload) }),
      })
    },
  }
}
