import type { QueryOf, ResponseOf } from '@zhisuan/contract/define'
import { integrationCan, pointsMost, queryRangeMostSeconds, type prometheus, type QueryResult } from '@zhisuan/contract/omc/monitor'
import { isEngineError } from '@zhisuan/engines/errors'
import type { Prometheus, PrometheusResult } from '@zhisuan/engines/prometheus/types'
import { scopeOf, type Actor } from '../../../platform/auth/actor.ts'
import { iso } from '../../../platform/db/database.ts'
import { found, Refusal, refuseUnless } from '../../../platform/errors.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { PrometheusEndpoints } from '../integration/integration.endpoint.ts'
import { getIntegration } from '../integration/integration.store.ts'
import { ofOrganisation } from './tenant.ts'

type Calls = typeof prometheus

/** Whatever takes longer is cut, there and here. */
const queryMs = 1_500
const answerMostBytes = 8 * 2 ** 20
/** Of one person, at this server: what they ask others wait for. */
const atOnceMost = 8

export type QueryService = ReturnType<typeof createQueryService>

/** Questions to Prometheus, each within what whoever asks may see. */
export function createQueryService({ db, now }: Pick<Platform, 'db' | 'now'>, { endpoints }: { endpoints: PrometheusEndpoints }) {
  const asking = new Map<string, number>()
  const opened = async (id: string): Promise<Prometheus> => {
    const row = found(await getIntegration(db, id))
    if (row.component !== 'prometheus') throw new Refusal('notFound')
    refuseUnless(integrationCan.query, row)
    return endpoints.opened(row)
  }
  const asked = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work
    } catch (error) {
      if (!isEngineError(error)) throw error
      if (error.kind === 'invalid') throw new Refusal('queryInvalid', { field: 'query', values: { reason: error.message }, cause: error })
      if (error.kind === 'exhausted') throw new Refusal('queryTooHeavy', { field: 'query', cause: error })
      throw new Refusal('monitorBusy', { cause: error })
    }
  }
  /** @returns null where it is about one moment */
  const rangeOf = ({ start, end, step }: QueryOf<Calls['query']>): { start: number; end: number; step: number } | null => {
    if (start === undefined && end === undefined && step === undefined) return null
    const fits =
      start !== undefined &&
      end !== undefined &&
      step !== undefined &&
      end >= start &&
      end - start <= queryRangeMostSeconds &&
      (end - start) / step < pointsMost
    if (!fits) throw new Refusal('queryRange', { field: 'start', values: { limit: pointsMost } })
    return { start, end, step }
  }

  return {
    async query(actor: Actor, id: string, query: QueryOf<Calls['query']>): Promise<QueryResult> {
      const range = rangeOf(query)
      const scope = scopeOf(actor)
      if ('nothing' in scope) throw new Refusal('noPermission')
      const question = 'bp_id' in scope ? ofOrganisation(query.query, scope.bp_id) : query.query
      const client = await opened(id)
      const options = { timeoutMs: queryMs, mostBytes: answerMostBytes }
      const { user_id } = actor
      const before = asking.get(user_id) ?? 0
      if (before >= atOnceMost) throw new Refusal('queriesTooMany', { values: { limit: atOnceMost } })
      asking.set(user_id, before + 1)
      try {
        return shapeOf(
          await asked(
            range === null ? client.query(question, { ...options, at: query.time ?? now().getTime() / 1_000 }) : client.queryRange(question, range, options),
          ),
        )
      } finally {
        const left = (asking.get(user_id) ?? 1) - 1
        if (left === 0) asking.delete(user_id)
        else asking.set(user_id, left)
      }
    },

    async jobs(id: string): Promise<ResponseOf<Calls['jobs']>> {
      const client = await opened(id)
      const targets = await asked(client.targets())
      const items = [...Map.groupBy(targets, ({ job }) => job)].map(([job, of]) => ({
        job,
        target_count: of.length,
        up_count: of.filter(({ health }) => health === 'up').length,
        targets: of.map(({ url, labels, health, error, scrapedAt, seconds }) => ({
          url,
          instance: labels['instance'] ?? '',
          labels: { ...labels },
          health,
          error,
          scraped_at: scrapedAt === null ? null : iso(scrapedAt),
          seconds,
        })),
      }))
      return { items: items.toSorted((one, other) => one.job.localeCompare(other.job)) }
    },
  }
}

const shapeOf = ({ type, series, warnings }: PrometheusResult): QueryResult => ({
  type,
  series: series.map(({ labels, points }) => ({ labels: { ...labels }, points: points.map(([at, value]) => [at, value]) })),
  warnings: [...warnings],
})
