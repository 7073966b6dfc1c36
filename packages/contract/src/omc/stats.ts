import { z } from 'zod'
import { defineCall, moment } from '../define.ts'
import { kind, type Kind } from '../kind.ts'
import { reference } from '../resource.ts'
import { tenants } from '../roles.ts'
import { edgeStatuses } from '../ecrm/edge.ts'

const base = '/api/omc/v1/stats'

/** What is counted, in the order in which it is shown. */
export const countedKinds = [
  'ecrm.edge',
  'nextstack.vm',
  'cis.container',
  'aos.stack',
  'nextstack.volume',
  'nextstack.image',
] as const satisfies readonly Kind[]
export type CountedKind = (typeof countedKinds)[number]

/** What nodes are ranked by. Shares are from 0 to 1. */
export const nodeMetricNames = ['cpu', 'memory', 'disk', 'gpu', 'gpu_memory', 'load'] as const
export type NodeMetricName = (typeof nodeMetricNames)[number]

/** Null where nobody knows. Of a disk the fullest; of cards all together. */
export const nodeUsage = z.object({
  cpu: z.number().nullable(),
  memory: z.number().nullable(),
  disk: z.number().nullable(),
  gpu: z.number().nullable(),
  gpu_memory: z.number().nullable(),
  load: z.number().nullable(),
})
export type NodeUsage = z.output<typeof nodeUsage>

export const nodePoint = nodeUsage.pick({ cpu: true, memory: true, gpu: true }).extend({ at: moment })
export type NodePoint = z.output<typeof nodePoint>

const statNode = z.object({ node: reference, status: z.enum(edgeStatuses), usage: nodeUsage.nullable() })

/** `prometheus`: kept as long as that keeps it. `platform`: the minutes that the platform keeps by itself, for a day. */
export const statSources = ['prometheus', 'platform'] as const

/** Nodes of which curves are drawn, at most. */
export const curvesMost = 10
const usages = z.object({ total_bytes: z.number(), used_bytes: z.number() })

export const stats = {
  nodes: defineCall({
    id: 'omc.stat.nodes',
    method: 'POST',
    path: `${base}/nodes/status/metrics`,
    summary: `How nodes are and were: those that are named, ${curvesMost} at most, else those that are busiest. With the day before where a Prometheus has it`,
    access: tenants,
    audit: false,
    body: z.object({
      node_ids: z.array(z.uuid()).max(curvesMost).default([]),
      /** So far back. */
      minutes: z
        .int()
        .min(5)
        .max(31 * 1_440)
        .default(60),
      compare: z.boolean().default(false),
    }),
    response: z.object({
      source: z.enum(statSources),
      interval_seconds: z.int(),
      items: z.array(
        statNode.extend({
          points: z.array(nodePoint),
          /** A day earlier, at the moments of today; null where that was not asked, or nobody has kept it. */
          before: z.array(nodePoint).nullable(),
        }),
      ),
    }),
  }),
  clusters: defineCall({
    id: 'omc.stat.clusters',
    method: 'GET',
    path: `${base}/clusters/metrics`,
    summary: 'Nodes together, by the regions that they are in: how many, what they have, and how much of it is used',
    access: tenants,
    response: z.object({
      items: z.array(
        z.object({
          region: reference.nullable(),
          node_count: z.int(),
          online_count: z.int(),
          cpu_threads: z.int(),
          /** Of those that say so. */
          cpu: z.number().nullable(),
          memory: usages,
          disk: usages,
          gpu_count: z.int(),
          gpu: z.number().nullable(),
        }),
      ),
    }),
  }),
  statuses: defineCall({
    id: 'omc.stat.statuses',
    method: 'GET',
    path: `${base}/status/metrics`,
    summary: 'How many there are of each kind in each status, of those that there are any of',
    access: tenants,
    response: z.object({ items: z.array(z.object({ kind, statuses: z.array(z.object({ status: z.string(), count: z.int() })) })) }),
  }),
  ranking: defineCall({
    id: 'omc.stat.ranking',
    method: 'GET',
    path: `${base}/nodes/metrics/sort`,
    summary: 'Nodes that are online, by one figure, the highest first; those that do not tell it are left out',
    access: tenants,
    query: z.object({
      metric: z.enum(nodeMetricNames).default('cpu'),
      order: z.enum(['desc', 'asc']).default('desc'),
      limit: z.coerce.number().int().min(1).max(50).default(10),
    }),
    response: z.object({ items: z.array(statNode) }),
  }),
  counts: defineCall({
    id: 'omc.stat.counts',
    method: 'GET',
    path: `${base}/counts`,
    summary: 'How many there are of each kind, and how many of them are in trouble',
    access: tenants,
    response: z.object({ items: z.array(z.object({ kind: z.enum(countedKinds), total: z.int(), trouble: z.int() })) }),
  }),
} as const
