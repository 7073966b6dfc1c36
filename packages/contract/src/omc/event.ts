import { z } from 'zod'
import { byId, defineCall, empty, listOf, listQuery, moment } from '../define.ts'
import { kind } from '../kind.ts'
import { reference } from '../resource.ts'
import { tenants } from '../roles.ts'
import { fieldTexts } from '../texts.ts'
import { keyword, name } from '../validation.ts'
import { severities } from './alarm.ts'
import { apiEvent, eventTypes } from './log.ts'

const base = '/api/omc/v1'
const family = z
  .string()
  .max(32)
  .regex(/^[a-z]+$/, fieldTexts.format)
const most = 50

/** Parts of a query: `nextstack,cis`. */
const parts = <T extends z.ZodType<string, string>>(item: T) =>
  z
    .string()
    .max(2_000)
    .regex(/^[\w.,]*$/, fieldTexts.format)
    .default('')
    .transform((text) => text.split(',').filter((part) => part !== ''))
    .pipe(z.array(item).max(most))

/** Where the stream is, and what happened there; null: nothing for a while. Whoever comes back says the last cursor that they had. */
export const streamedEvent = z.object({ cursor: z.int(), event: apiEvent.nullable() })
export type StreamedEvent = z.output<typeof streamedEvent>

export const events = {
  /** Server-sent events; ends with the right or the session, or access key, that asked. */
  stream: defineCall({
    id: 'omc.event.stream',
    method: 'GET',
    path: `${base}/events/stream`,
    summary: 'What happens to what one may see, as it happens: from now on, or behind a cursor, also as Last-Event-ID; 409 (98634) where that is too old',
    access: tenants,
    lines: true,
    events: true,
    perMinute: 60,
    query: z.object({
      since: z.string().regex(/^(now|\d{1,15})$/, fieldTexts.format),
      types: parts(z.enum(eventTypes)),
      families: parts(family),
      kinds: parts(kind),
      severities: parts(z.enum(severities)),
    }),
    response: streamedEvent,
  }),
} as const

const subscriptionBody = z.object({
  name,
  receiver_ids: z.array(z.uuid()).min(1).max(20),
  /** Each left empty: all of them. */
  types: z.array(z.enum(eventTypes)).max(most).default([]),
  families: z.array(family).max(most).default([]),
  kinds: z.array(kind).max(most).default([]),
  severities: z.array(z.enum(severities)).max(most).default([]),
  enabled: z.boolean().default(true),
})

export const eventSubscription = z.object({
  id: z.uuid(),
  name: z.string(),
  receivers: z.array(reference),
  types: z.array(z.enum(eventTypes)),
  families: z.array(z.string()),
  kinds: z.array(kind),
  severities: z.array(z.enum(severities)),
  enabled: z.boolean(),
  bp_id: z.uuid().nullable(),
  bp_name: z.string().nullable(),
  /** Whose rights say what is told: who made it. */
  created_by: z.string(),
  created_at: moment,
})
export type EventSubscription = z.output<typeof eventSubscription>

const one = { params: byId } as const
const path = `${base}/event-subscriptions`
export const eventSubscriptions = {
  list: defineCall({
    id: 'omc.eventSubscription.list',
    method: 'GET',
    path,
    summary: 'Which receivers are told of which events',
    access: tenants,
    query: listQuery(['name', 'created_at'], { keyword }),
    response: listOf(eventSubscription),
  }),
  create: defineCall({
    id: 'omc.eventSubscription.create',
    method: 'POST',
    path,
    summary: 'Have receivers told of events from now on, as far as one may see what they are about when they happen',
    access: tenants,
    status: 201,
    body: subscriptionBody,
    response: eventSubscription,
  }),
  update: defineCall({
    ...one,
    id: 'omc.eventSubscription.update',
    method: 'PUT',
    path: `${path}/{id}`,
    summary: 'Change one; from then on it goes by the rights of who changed it',
    access: tenants,
    body: subscriptionBody,
    response: eventSubscription,
  }),
  delete: defineCall({
    ...one,
    id: 'omc.eventSubscription.delete',
    method: 'DELETE',
    path: `${path}/{id}`,
    summary: 'Take one away; what waits to be sent is not sent any more',
    access: tenants,
    response: empty,
  }),
} as const
