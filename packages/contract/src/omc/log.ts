import { z } from 'zod'
import { defineCall, moment } from '../define.ts'
import { exportFormats, exportLink } from '../exports.ts'
import { kind } from '../kind.ts'
import { severities } from './alarm.ts'
import { admins, tenants } from '../roles.ts'
import { fieldTexts } from '../texts.ts'
import { keyword, plainLine } from '../validation.ts'

const base = '/api/omc/v1'
const text = z.string().trim().max(128).regex(plainLine, fieldTexts.controlCharacters)

/** How a call ended: `refused` is the asker's (4xx), `failed` ours (5xx). */
export const callOutcomes = ['ok', 'refused', 'failed'] as const
export type CallOutcome = (typeof callOutcomes)[number]

/** A call, without what was sent and what was answered: both may hold secrets. */
export const apiLog = z.object({
  id: z.uuid(),
  at: moment,
  /** Id of the call: `nextstack.vm.create`. */
  call: z.string(),
  method: z.string(),
  outcome: z.enum(callOutcomes),
  status: z.int(),
  /** Of the refusal; 0 where there was none. */
  code: z.int(),
  ms: z.number(),
  actor: z.object({ id: z.uuid(), name: z.string() }).nullable(),
  /** Whether it came with an access key. */
  by_key: z.boolean(),
  bp_id: z.uuid().nullable(),
  bp_name: z.string().nullable(),
  ip: z.string(),
  request_id: z.string(),
})
export type ApiLog = z.output<typeof apiLog>

/** A page by key: `next` leads on; null at the end. Nobody counts millions of rows to say how many there are. */
const cursor = z
  .string()
  .max(80)
  .regex(/^\d{1,16}~[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, fieldTexts.format)
  .optional()
const pageSize = z.coerce.number().int().min(1).max(200).default(20)
const onwards = <T extends z.ZodType>(item: T) => z.object({ items: z.array(item), next: z.string().nullable() })

const logFilters = {
  keyword,
  call: text.optional(),
  outcome: z.enum(callOutcomes).optional(),
  actor_id: z.uuid().optional(),
  bp_id: z.uuid().optional(),
  request_id: text.optional(),
  from: moment.optional(),
  to: moment.optional(),
} as const

/** `change`: a call that changed something. `operation`: that long work began, and how it ended. `message`: what was told. `alarm`: that one fires, and that it is over. */
export const eventTypes = ['change', 'operation', 'message', 'alarm'] as const
export type EventType = (typeof eventTypes)[number]
export const eventOutcomes = ['running', 'succeeded', 'failed', 'cancelled'] as const

export const apiEvent = z.object({
  id: z.uuid(),
  at: moment,
  type: z.enum(eventTypes),
  /** What happened: the id of a call, or the kind of a message. */
  what: z.string(),
  outcome: z.enum(eventOutcomes),
  severity: z.enum(severities),
  /** What a message says, or why it failed. */
  text: z.string().nullable(),
  about: z.object({ kind: kind.nullable(), id: z.string().nullable(), name: z.string() }),
  actor_name: z.string(),
  bp_id: z.uuid().nullable(),
  bp_name: z.string().nullable(),
})
export type ApiEvent = z.output<typeof apiEvent>

const eventFilters = {
  keyword,
  type: z.enum(eventTypes).optional(),
  outcome: z.enum(eventOutcomes).optional(),
  bp_id: z.uuid().optional(),
  from: moment.optional(),
  to: moment.optional(),
} as const

export const trendPoint = z.object({ at: moment, ok: z.int(), refused: z.int(), failed: z.int(), ms: z.number().nullable() })

export const apiLogs = {
  list: defineCall({
    id: 'omc.apiLog.list',
    method: 'GET',
    path: `${base}/apilogs`,
    summary: 'Calls that were made, newest first: one’s own; of the organisation for who keeps it; all for administrators',
    access: tenants,
    query: z.object({ cursor, page_size: pageSize, ...logFilters }),
    response: onwards(apiLog),
  }),
  trend: defineCall({
    id: 'omc.apiLog.trend',
    method: 'GET',
    path: `${base}/apilogs/hourly/trend`,
    summary: 'How many calls there were in each of the last hours, by how they ended, and how long they took on average',
    access: tenants,
    query: z.object({
      hours: z.coerce
        .number()
        .int()
        .min(1)
        .max(24 * 31)
        .default(24),
    }),
    response: z.object({ items: z.array(trendPoint) }),
  }),
  export: defineCall({
    id: 'omc.apiLog.export',
    method: 'POST',
    path: `${base}/apilogs/exports`,
    summary: 'A file of all calls that the filters find',
    access: tenants,
    also: () => [{ action: 'omc.apiLog.list' }],
    body: z.object({ format: z.enum(exportFormats).default('csv'), ...logFilters }),
    response: exportLink,
  }),
} as const

export const apiEvents = {
  list: defineCall({
    id: 'omc.apiEvent.list',
    method: 'GET',
    path: `${base}/apievents`,
    summary: 'What happened, newest first: changes, long work and how it ended, what was told',
    access: admins,
    query: z.object({ cursor, page_size: pageSize, ...eventFilters }),
    response: onwards(apiEvent),
  }),
  export: defineCall({
    id: 'omc.apiEvent.export',
    method: 'POST',
    path: `${base}/apievents/exports`,
    summary: 'A file of all events that the filters find',
    access: admins,
    also: () => [{ action: 'omc.apiEvent.list' }],
    body: z.object({ format: z.enum(exportFormats).default('csv'), ...eventFilters }),
    response: exportLink,
  }),
} as const
