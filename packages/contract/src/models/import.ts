import { z } from 'zod'
import { byId, defineCall, empty, moment } from '../define.ts'
import { tenants } from '../roles.ts'
import { fieldTexts } from '../texts.ts'
import { hubName, modelsPath } from './model.ts'

/** `waiting` and `running` go on by themselves, also after a server was killed. */
export const importStatuses = ['waiting', 'running', 'done', 'failed', 'cancelled'] as const
export type ImportStatus = (typeof importStatuses)[number]

export const modelImport = z.object({
  id: z.uuid(),
  /** The hub that it comes from, and what it is called there. */
  url: z.string(),
  repository: z.string(),
  revision: z.string(),
  status: z.enum(importStatuses),
  /** Null until it is known what there is. */
  total_bytes: z.number().nullable(),
  total_files: z.int().nullable(),
  done_bytes: z.number(),
  done_files: z.int(),
  /** Why it failed. */
  error: z.string().nullable(),
  created_by: z.string(),
  created_at: moment,
  ended_at: moment.nullable(),
})
export type ModelImport = z.output<typeof modelImport>

const path = `${modelsPath}/models/{id}/imports`

export const modelImports = {
  list: defineCall({
    id: 'models.import.list',
    method: 'GET',
    path,
    summary: 'What was brought into a model from other hubs, the newest first, and the hubs that may be asked',
    access: tenants,
    params: byId,
    response: z.object({ items: z.array(modelImport), hubs: z.array(z.string()) }),
  }),
  create: defineCall({
    id: 'models.import.create',
    also: ({ params }) => [
      { action: 'models.file.upload', on: { kind: 'models.file', id: params.id } },
      { action: 'models.revision.create', on: { kind: 'models.revision', id: params.id } },
    ],
    method: 'POST',
    path,
    summary: 'Bring a model in from a hub that speaks the API of Hugging Face: all its files, each verified, as one revision',
    access: tenants,
    status: 201,
    params: byId,
    body: z.object({
      url: z.url({ protocol: /^https?$/, error: fieldTexts.hubUrl }).max(256),
      /** `namespace/name`, as it is called there. */
      repository: z
        .string(fieldTexts.contentRequired)
        .trim()
        .max(200)
        .refine((text) => text.split('/').length === 2 && text.split('/').every((part) => hubName.safeParse(part).success), fieldTexts.hubRepository),
      revision: z
        .string()
        .trim()
        .regex(/^[\w][\w.-]{0,99}$/, fieldTexts.hubRevision)
        .default('main'),
    }),
    response: modelImport,
  }),
  cancel: defineCall({
    id: 'models.import.cancel',
    method: 'POST',
    path: `${path}/{import_id}/cancel`,
    summary: 'Stop it; what came is given back',
    access: tenants,
    params: byId.extend({ import_id: z.uuid() }),
    response: empty,
  }),
} as const
