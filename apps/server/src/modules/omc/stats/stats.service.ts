import type { NodeMetrics } from '@zhisuan/contract/agent/node'
import type { BodyOf, QueryOf, ResponseOf } from '@zhisuan/contract/define'
import { countedKinds, curvesMost, type NodePoint, type NodeUsage, type stats } from '@zhisuan/contract/omc/stats'
import { EngineError, isEngineError } from '@zhisuan/engines/errors'
import type { Prometheus, PrometheusSeries } from '@zhisuan/engines/prometheus/types'
import { scopeOf, type Actor } from '../../../platform/auth/actor.ts'
import { iso } from '../../../platform/db/database.ts'
import { found } from '../../../platform/errors.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { PrometheusEndpoints } from '../integration/integration.endpoint.ts'
import { integrationsOf } from '../integration/integration.store.ts'
import { organisationLabel, platformOrganisation } from '../query/tenant.ts'
import { countStatuses, statNodes, type StatNode } from './stats.store.ts'

type Calls = typeof stats

const dayMs = 86_400_000
/** The platform's own minutes go no further back. */
const ownMinutesMost = 1_440
/** A chart shows no more. */
const pointsMost = 360
const finestStepSeconds = 15
const queryMs = 1_500
/** What is wrong wherever it is said. */
const troubles: ReadonlySet<string> = new Set(['error', 'lost', 'offline', 'dead', 'degraded', 'unconfirmed'])

export interface StatsParts {
  readonly endpoints: PrometheusEndpoints
  /** How a node was last, where it said so to this server; and how it was. */
  readonly lastOf: (nodeId: string) => NodeMetrics | null
  readonly minutesOf: (nodeId: string, minutes: number) => Promise<{ items: NodeMetrics[]; interval_seconds: number }>
}

const share = (used: number, total: number): number | null => (total > 0 ? round(used / total) : null)
const round = (value: number): number => Math.round(value * 10_000) / 10_000
const known = (values: readonly (number | null | undefined)[]): number[] => values.filter((value) => typeof value === 'number')
const meanOf = (values: readonly (number | null | undefined)[]): number | null => {
  const numbers = known(values)
  return numbers.length === 0 ? null : round(numbers.reduce((sum, value) => sum + value, 0) / numbers.length)
}

/** The figures that nodes are compared by. */
export function usageOf({ cpu_share, load, memory, disks, gpus }: NodeMetrics, facts: StatNode['facts']): NodeUsage {
  const fullest = known(disks.map(({ used_bytes, total_bytes }) => share(used_bytes, total_bytes)))
  const used = known(gpus.map(({ memory_used_bytes }) => memory_used_bytes)).reduce((sum, bytes) => sum + bytes, 0)
  return {
    cpu: cpu_share,
    memory: share(memory.used_bytes, memory.total_bytes),
    disk: fullest.length === 0 ? null : Math.max(...fullest),
    gpu: meanOf(gpus.map((gpu) => gpu.share)),
    gpu_memory: share(
      used,
      (facts?.gpus ?? []).reduce((sum, { memory_bytes }) => sum + memory_bytes, 0),
    ),
    load: load[0],
  }
}

const pointOf = (metrics: NodeMetrics): NodePoint => ({
  at: metrics.at,
  cpu: metrics.cpu_share,
  memory: share(metrics.memory.used_bytes, metrics.memory.total_bytes),
  gpu: meanOf(metrics.gpus.map((gpu) => gpu.share)),
})

/** What is asked of a Prometheus for each curve, of nodes by their id. */
const curves = {
  cpu: (of: string) => `avg by (node_id) (zhisuan_node_cpu_ratio${of})`,
  memory: (of: string) => `max by (node_id) (zhisuan_node_memory_used_bytes${of} / zhisuan_node_memory_total_bytes${of})`,
  gpu: (of: string) => `avg by (node_id) (zhisuan_gpu_ratio${of})`,
} as const
type CurveName = keyof typeof curves
const curveNames = ['cpu', 'memory', 'gpu'] as const satisfies readonly CurveName[]

export type StatsService = ReturnType<typeof createStatsService>

export function createStatsService({ db, kinds, now }: Pick<Platform, 'db' | 'kinds' | 'now'>, { endpoints, lastOf, minutesOf }: StatsParts) {
  const nodesOf = (actor: Actor): Promise<StatNode[]> => statNodes(db, scopeOf(actor))
  const shownOf = ({ id, name, status, facts }: StatNode) => {
    const last = status === 'online' ? lastOf(id) : null
    return { node: { id, name }, status, usage: last === null ? null : usageOf(last, facts) }
  }
  const busiest = (nodes: readonly StatNode[], limit: number): StatNode[] =>
    nodes
      .map((node) => ({ node, usage: shownOf(node).usage }))
      .filter(({ usage }) => usage !== null)
      .toSorted((one, other) => (other.usage?.cpu ?? -1) - (one.usage?.cpu ?? -1))
      .slice(0, limit)
      .map(({ node }) => node)

  /** One that has what is asked, if any is there. */
  const prometheus = async (): Promise<Prometheus | null> => {
    const row = (await integrationsOf(db, 'prometheus')).find(({ status, health }) => status === 'active' && health === 'reachable')
    return row === undefined ? null : endpoints.opened(row)
  }
  const curvesOf = async (
    client: Prometheus,
    nodes: readonly StatNode[],
    range: { start: number; end: number; step: number },
  ): Promise<ReadonlyMap<string, NodePoint[]>> => {
    const organisations = [...new Set(nodes.map(({ bp_id }) => bp_id ?? platformOrganisation))].join('|')
    const of = `{${organisationLabel}=~"${organisations}",node_id=~"${nodes.map(({ id }) => id).join('|')}"}`
    const answers = await Promise.all(curveNames.map((name) => client.queryRange(curves[name](of), range, { timeoutMs: queryMs, mostBytes: 4 * 2 ** 20 })))
    const byNode = new Map<string, Map<number, NodePoint>>()
    for (const [index, name] of curveNames.entries())
      for (const { labels, points } of answers[index]?.series ?? ([] as readonly PrometheusSeries[])) {
        const id = labels['node_id'] ?? ''
        const moments = byNode.get(id) ?? new Map<number, NodePoint>()
        byNode.set(id, moments)
        for (const [at, value] of points) {
          const point = moments.get(at) ?? { at: iso(new Date(at * 1_000)), cpu: null, memory: null, gpu: null }
          const figure = Number(value)
          moments.set(at, { ...point, [name]: Number.isFinite(figure) ? round(figure) : null })
        }
      }
    return new Map([...byNode].map(([id, moments]) => [id, [...moments].toSorted(([one], [other]) => one - other).map(([, point]) => point)]))
  }

  return {
    async nodes(actor: Actor, { node_ids, minutes, compare }: BodyOf<Calls['nodes']>): Promise<ResponseOf<Calls['nodes']>> {
      const all = await nodesOf(actor)
      // What the scope does not show does not exist.
      const chosen =
        node_ids.length === 0 ? busiest(all, Math.min(5, curvesMost)) : [...new Set(node_ids)].map((id) => found(all.find((node) => node.id === id)))
      const client = chosen.length === 0 ? null : await prometheus()
      if (client !== null) {
        const step = Math.max(finestStepSeconds, Math.ceil((minutes * 60) / pointsMost))
        // Up to now, also where a step is long.
        const end = Math.floor(now().getTime() / 1_000 / finestStepSeconds) * finestStepSeconds
        const range = { start: end - minutes * 60, end, step }
        try {
          const today = await curvesOf(client, chosen, range)
          // One that has just begun has nothing to show yet.
          if (today.size === 0) throw new EngineError('not_found', 'no samples')
          const before = compare ? await curvesOf(client, chosen, { ...range, start: range.start - dayMs / 1_000, end: range.end - dayMs / 1_000 }) : null
          return {
            source: 'prometheus',
            interval_seconds: step,
            items: chosen.map((node) => ({
              ...shownOf(node),
              points: today.get(node.id) ?? [],
              before: before === null ? null : (before.get(node.id) ?? []).map(aDayLater),
            })),
          }
        } catch (error) {
          // What the platform keeps by itself is there all the same.
          if (!isEngineError(error)) throw error
        }
      }
      const own = await Promise.all(chosen.map(({ id }) => minutesOf(id, Math.min(minutes, ownMinutesMost))))
      return {
        source: 'platform',
        interval_seconds: own[0]?.interval_seconds ?? 60,
        items: chosen.map((node, index) => ({ ...shownOf(node), points: (own[index]?.items ?? []).map(pointOf), before: null })),
      }
    },

    async clusters(actor: Actor): Promise<ResponseOf<Calls['clusters']>> {
      const groups = Map.groupBy(await nodesOf(actor), ({ region_id }) => region_id)
      const items = [...groups].map(([id, nodes]) => {
        const last = nodes.map(({ id: nodeId, status }) => (status === 'online' ? lastOf(nodeId) : null)).filter((metrics) => metrics !== null)
        const sum = (figures: readonly number[]): number => figures.reduce((total, figure) => total + figure, 0)
        return {
          region: id === null ? null : { id, name: nodes[0]?.region_name ?? '' },
          node_count: nodes.length,
          online_count: nodes.filter(({ status }) => status === 'online').length,
          cpu_threads: sum(nodes.map(({ facts }) => facts?.cpu.threads ?? 0)),
          cpu: meanOf(last.map(({ cpu_share }) => cpu_share)),
          memory: { total_bytes: sum(last.map(({ memory }) => memory.total_bytes)), used_bytes: sum(last.map(({ memory }) => memory.used_bytes)) },
          disk: {
            total_bytes: sum(last.flatMap(({ disks }) => disks.map(({ total_bytes }) => total_bytes))),
            used_bytes: sum(last.flatMap(({ disks }) => disks.map(({ used_bytes }) => used_bytes))),
          },
          gpu_count: sum(nodes.map(({ facts }) => facts?.gpus.length ?? 0)),
          gpu: meanOf(last.flatMap(({ gpus }) => gpus.map((gpu) => gpu.share))),
        }
      })
      return { items: items.toSorted((one, other) => (one.region?.name ?? '').localeCompare(other.region?.name ?? '', 'zh')) }
    },

    async statuses(actor: Actor): Promise<ResponseOf<Calls['statuses']>> {
      const groups = Map.groupBy(await countStatuses(db, kinds(), scopeOf(actor)), ({ kind }) => kind)
      return { items: [...groups].map(([kind, rows]) => ({ kind, statuses: rows.map(({ status, count }) => ({ status, count })) })) }
    },

    async ranking(actor: Actor, { metric, order, limit }: QueryOf<Calls['ranking']>): Promise<ResponseOf<Calls['ranking']>> {
      const sign = order === 'desc' ? -1 : 1
      const told = (await nodesOf(actor)).map(shownOf).filter(({ usage }) => usage !== null && usage[metric] !== null)
      return { items: told.toSorted((one, other) => sign * ((one.usage?.[metric] ?? 0) - (other.usage?.[metric] ?? 0))).slice(0, limit) }
    },

    async counts(actor: Actor): Promise<ResponseOf<Calls['counts']>> {
      const rows = await countStatuses(db, kinds(), scopeOf(actor))
      return {
        items: countedKinds.map((kind) => {
          const own = rows.filter((row) => row.kind === kind)
          const sum = (of: typeof own): number => of.reduce((total, { count }) => total + count, 0)
          return { kind, total: sum(own), trouble: sum(own.filter(({ status }) => troubles.has(status))) }
        }),
      }
    },
  }
}

const aDayLater = (point: NodePoint): NodePoint => ({ ...point, at: iso(new Date(Date.parse(point.at) + dayMs)) })
