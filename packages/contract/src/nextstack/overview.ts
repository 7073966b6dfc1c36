import { z } from 'zod'
import { defineCall, moment } from '../define.ts'
import { kind, type Kind } from '../kind.ts'
import { tenants } from '../roles.ts'

/** What is counted, in the order in which it is shown. */
export const overviewKinds = [
  'nextstack.vm',
  'nextstack.snapshot',
  'nextstack.volume',
  'nextstack.volumeSnapshot',
  'nextstack.image',
  'nextstack.vpc',
  'nextstack.eip',
] as const satisfies readonly Kind[]
export type OverviewKind = (typeof overviewKinds)[number]

const counts = z.object({
  kind: z.enum(overviewKinds),
  total: z.int(),
  /** Only those that there are any of. */
  statuses: z.array(z.object({ status: z.string(), count: z.int() })),
})
export type OverviewCounts = z.output<typeof counts>

/** What needs somebody; worst first. */
const alarm = z.discriminatedUnion('type', [
  /** A cloud does not answer, does not let us in, or some of its services fail. For tenants: one that they have instances or a Keystone project on. */
  z.object({ type: z.literal('cloud'), id: z.uuid(), name: z.string(), health: z.enum(['unreachable', 'unauthorised', 'degraded']) }),
  /** For administrators. */
  z.object({ type: z.literal('host'), id: z.uuid(), name: z.string(), cloud_name: z.string(), status: z.enum(['offline', 'gone']) }),
  /** So many of a kind are in error, or lost. */
  z.object({ type: z.literal('resource'), kind: z.enum(overviewKinds), status: z.enum(['error', 'lost']), count: z.int() }),
])
export type OverviewAlarm = z.output<typeof alarm>

const event = z.object({
  id: z.uuid(),
  /** The call that asked for it, such as `nextstack.vm.start`. */
  kind: z.string(),
  /** Whose page tells of it: of an image that a node pulls the node. */
  resource: kind,
  resource_id: z.uuid(),
  /** What it was done to was called when this began; empty where nobody remembers. */
  resource_name: z.string(),
  /** False once it was deleted. */
  exists: z.boolean(),
  status: z.enum(['queued', 'running', 'unknown', 'cancelling', 'succeeded', 'failed', 'cancelled']),
  error: z.string().nullable(),
  /** Empty where the platform did it by itself. */
  actor_name: z.string(),
  bp_name: z.string().nullable(),
  created_at: moment,
  finished_at: moment.nullable(),
})
export type OverviewEvent = z.output<typeof event>

export const trendRanges = ['day', 'week', 'month'] as const
export type TrendRange = (typeof trendRanges)[number]
/** How long each is, and how far apart its points are. */
export const trendSteps = {
  day: { lengthMs: 24 * 3_600_000, stepMs: 600_000 },
  week: { lengthMs: 7 * 24 * 3_600_000, stepMs: 3_600_000 },
  month: { lengthMs: 30 * 24 * 3_600_000, stepMs: 4 * 3_600_000 },
} as const satisfies Record<TrendRange, { lengthMs: number; stepMs: number }>

const sample = z.object({ at: moment, vms: z.int(), running: z.int(), cpu_cores: z.int(), memory_bytes: z.int() })
export type TrendSample = z.output<typeof sample>

const base = '/api/nextstack/v1/overview'

export const overview = {
  get: defineCall({
    id: 'nextstack.overview.get',
    method: 'GET',
    path: base,
    summary: 'What the user’s organisation has, in which states, and what needs somebody; for platform users of all organisations',
    access: tenants,
    response: z.object({
      resources: z.array(counts),
      /** To instances in whatever state. */
      promised: z.object({ cpu_cores: z.int(), memory_bytes: z.int() }),
      alarms: z.array(alarm),
    }),
  }),
  events: defineCall({
    id: 'nextstack.overview.events',
    method: 'GET',
    path: `${base}/events`,
    summary: 'What was done last: first what failed in the last 24 hours, then the newest',
    access: tenants,
    query: z.object({ limit: z.coerce.number().int().min(1).max(50).default(10) }),
    response: z.object({ items: z.array(event) }),
  }),
  trends: defineCall({
    id: 'nextstack.overview.trends',
    method: 'GET',
    path: `${base}/trends`,
    summary: 'How many instances there were and what was promised to them, oldest first; the last is of now',
    access: tenants,
    query: z.object({ range: z.enum(trendRanges).default('day') }),
    response: z.object({
      /** When counting began; null while nothing was counted yet. Before it nothing is known. */
      since: moment.nullable(),
      items: z.array(sample),
    }),
  }),
} as const
