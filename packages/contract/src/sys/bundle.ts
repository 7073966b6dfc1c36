import { z } from 'zod'
import { byId, defineCall, empty, listOf, listQuery, moment } from '../define.ts'
import { can } from '../can.ts'
import { admins } from '../roles.ts'
import { fieldTexts } from '../texts.ts'
import { keyword, plainLine } from '../validation.ts'

const base = '/api/sys/v1/bundles'

/** `uploading`: announced, its file is to come. `fetching`: the platform gets it from its address. `ready`: it is here, and is what was announced. */
export const bundleStatuses = ['uploading', 'fetching', 'ready', 'error'] as const
export type BundleStatus = (typeof bundleStatuses)[number]
export const bundleCan = can<BundleStatus>()({ upload: ['uploading'], delete: ['uploading', 'ready', 'error'] })

/** `file`: the program itself; else an archive of it. */
export const bundleFormats = ['file', 'tar', 'tar.gz'] as const
/** Larger ones are not taken. */
export const bundleBytesMost = 4 * 2 ** 30

const bundle = z.object({
  id: z.uuid(),
  name: z.string(),
  version: z.string(),
  format: z.enum(bundleFormats),
  /** Hex. */
  sha256: z.string(),
  status: z.enum(bundleStatuses),
  /** Null until it is known. */
  size_bytes: z.number().nullable(),
  /** Why it is not here. */
  error: z.string().nullable(),
  /** Programs on nodes that are made of it. */
  used_by: z.int(),
  created_by: z.string(),
  created_at: moment,
})
export type Bundle = z.output<typeof bundle>

const line = (most: number) => z.string().trim().min(1, fieldTexts.contentRequired).max(most).regex(plainLine, fieldTexts.controlCharacters)

/** Programs that the platform has for nodes, verified by their digest: see agent/kept.ts. */
export const bundles = {
  list: defineCall({
    id: 'sys.bundle.list',
    method: 'GET',
    path: base,
    summary: 'Bundles of programs for nodes',
    access: admins,
    query: listQuery(['name', 'size_bytes', 'created_at'], { keyword, status: z.enum(bundleStatuses).optional() }),
    response: listOf(bundle),
  }),
  create: defineCall({
    id: 'sys.bundle.create',
    method: 'POST',
    path: base,
    summary: 'Announce a bundle; its file is fetched from `url`, or goes to `upload_path` by `PUT` (application/octet-stream)',
    access: admins,
    status: 201,
    body: z.object({
      name: line(64),
      version: line(64),
      format: z.enum(bundleFormats),
      sha256: z
        .string()
        .trim()
        .toLowerCase()
        .regex(/^[0-9a-f]{64}$/, fieldTexts.sha256),
      url: z
        .url({ protocol: /^https?$/, error: fieldTexts.format })
        .max(2_048)
        .optional(),
    }),
    response: z.object({ bundle, upload_path: z.string().nullable() }),
  }),
  delete: defineCall({
    id: 'sys.bundle.delete',
    method: 'DELETE',
    path: `${base}/{id}`,
    summary: 'Forget a bundle that no program is made of',
    access: admins,
    params: byId,
    response: empty,
  }),
} as const
