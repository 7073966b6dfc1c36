import { z } from 'zod'
import { defineCall, listOf, listQuery, moment } from '../define.ts'
import { admins, keepers } from '../roles.ts'
import { fieldTexts } from '../texts.ts'
import { keyword, plainLine } from '../validation.ts'

const text = z.string().trim().max(128).regex(plainLine, fieldTexts.controlCharacters)

/** Of what is done in an engine outside: that it was asked. What came of it is an entry of its own, of the same request. */
export const auditAsked = -1

/** Who asked for what, and what came of it; what was sent is not kept, as it may hold secrets. */
export const auditRecord = z.object({
  id: z.uuid(),
  /** Without a gap; each is sealed with the one before. */
  number: z.int(),
  at: moment,
  /** Id of the call. */
  call: z.string(),
  actor: z.object({ id: z.uuid(), name: z.string() }).nullable(),
  /** What the actor came with; null where they were signed in. */
  access_key: z.object({ id: z.uuid(), name: z.string() }).nullable(),
  bp_id: z.uuid().nullable(),
  object_id: z.string().nullable(),
  /** What that is called now; null of what is gone, has no name, or was refused to a tenant, who is told no names of others. */
  object_name: z.string().nullable(),
  request_id: z.string(),
  ip: z.string(),
  /** 0 for success, `auditAsked` where the outcome is an entry of its own, else the code of the refusal. */
  code: z.int(),
  /** SHA-256, hexadecimal. */
  hash: z.string(),
})
export type AuditRecord = z.output<typeof auditRecord>

const filters = {
  keyword,
  call: text.optional(),
  actor_id: z.uuid().optional(),
  object_id: text.optional(),
  request_id: text.optional(),
  bp_id: z.uuid().optional(),
  refused: z.enum(['true', 'false']).optional(),
  from: moment.optional(),
  to: moment.optional(),
} as const

export const auditFormats = ['csv', 'jsonl'] as const

export const audits = {
  list: defineCall({
    id: 'iam.audit.list',
    method: 'GET',
    path: '/api/iam/v1/audits',
    summary: 'The audit log, newest first; a tenant administrator sees what their people did',
    access: keepers,
    query: listQuery(['number'], filters),
    response: listOf(auditRecord),
  }),
  /** All that the filters find, as a link that a browser saves a file from. */
  export: defineCall({
    id: 'iam.audit.export',
    method: 'POST',
    path: '/api/iam/v1/audits/exports',
    summary: 'A file of the audit log',
    also: () => [{ action: 'iam.audit.list' }],
    access: keepers,
    body: z.object({ format: z.enum(auditFormats).default('csv'), ...filters }),
    response: z.object({ path: z.string(), expires_at: moment }),
  }),
  /** Recomputes the whole chain. The head is worth keeping elsewhere: nobody can make another log that ends in it. */
  verify: defineCall({
    id: 'iam.audit.verify',
    method: 'POST',
    path: '/api/iam/v1/audits/verification',
    summary: 'Whether any entry was changed, removed or put in',
    access: admins,
    perMinute: 6,
    response: z.object({ intact: z.boolean(), count: z.int(), head: z.object({ number: z.int(), hash: z.string() }), first_broken: z.int().nullable() }),
  }),
} as const
