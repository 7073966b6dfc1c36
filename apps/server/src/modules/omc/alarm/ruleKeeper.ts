import { setTimeout as sleep } from 'node:timers/promises'
import type { KeptWish } from '@zhisuan/contract/agent/kept'
import { isEngineError } from '@zhisuan/engines/errors'
import type { Prometheus } from '@zhisuan/engines/prometheus/types'
import { z } from 'zod'
import type { Tx } from '../../../platform/db/database.ts'
import { found, Refusal } from '../../../platform/errors.ts'
import { defineJob, handleJob, type JobHandler } from '../../../platform/jobs.ts'
import type { Kept } from '../../../platform/kept/kept.ts'
import { openOperation, type OperationDefinition } from '../../../platform/operations.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { PrometheusEndpoints } from '../integration/integration.endpoint.ts'
import * as integrations from '../integration/integration.store.ts'
import { rulesPath, withRules } from '../integration/program.ts'
import { activeAlarms, markRules, type AlarmRow } from './alarm.store.ts'
import { firesOf, questionsOf, rulesFile } from './rules.ts'

const applyJob = defineJob({ name: 'omc.alarm.apply', input: z.object({}), concurrency: 1, retries: 5 })
/** What was missed, such as by a Prometheus that came later. */
const againJob = defineJob({ name: 'omc.alarm.applyAgain', input: z.object({}), concurrency: 1, schedule: '* * * * *' })

/** Which alarms the rules are of that are brought, and which of them are new there. */
const input = z.object({ alarm_ids: z.array(z.uuid()), new_ids: z.array(z.uuid()) })
type Input = z.output<typeof input>

const loadedWithinMs = 20_000
/** Whatever takes longer is no rule. */
const triedMs = 1_500
/** At this server at once, of rules that people write: what evaluates rules is not kept from it. */
const tryingMost = 4
const lookEveryMs = 500
/** Prometheus tells what goes on again each minute. */
const silentMs = 5 * 60_000

export type RuleKeeper = ReturnType<typeof createRuleKeeper>

/**
 * Brings the rules of all active alarms to the Prometheus that the platform runs, as a change with a way back: one that
 * does not start with them is given its former rules again, and the alarms are told why.
 */
export function createRuleKeeper(
  { db, jobs, operations, log }: Pick<Platform, 'db' | 'jobs' | 'operations' | 'log'>,
  { endpoints, kept }: { endpoints: PrometheusEndpoints; kept: Kept },
) {
  const own = ({ resource_id }: { resource_id: string }): string => resource_id
  /** The first that the platform runs: one that is registered has rules of its own. */
  const row = async (): Promise<integrations.IntegrationRow | undefined> =>
    (await integrations.integrationsOf(db, 'prometheus')).find(({ origin, status }) => origin === 'kept' && status !== 'removing')
  const textIn = (wanted: KeptWish): string => wanted.files.find(({ path }) => path === rulesPath)?.text ?? ''

  const apply: OperationDefinition<Input> = {
    kind: 'omc.alarm.apply',
    resource_type: 'omc.integration',
    input,
    steps: [
      ...kept.steps.change<Input>(own),
      {
        name: 'loaded',
        reached: 'looks',
        run: async ({ resource_id, input: { alarm_ids }, signal }) => {
          const client = endpoints.opened(found(await integrations.getIntegration(db, resource_id)))
          for (const end = Date.now() + loadedWithinMs; ; await sleep(lookEveryMs, undefined, { signal })) {
            const loaded = new Set(
              (
                await client.rules({ signal }).catch((error: unknown) => {
                  if (isEngineError(error, 'unreachable')) return []
                  throw error
                })
              ).map(({ group }) => group),
            )
            if (alarm_ids.every((id) => loaded.has(id))) return
            if (Date.now() > end) throw new Refusal('alarmRulesNotLoaded')
          }
        },
      },
    ],
    ended: async (tx, { resource_id, input: { alarm_ids, new_ids } }, refusal) => {
      await kept.settle(tx, resource_id, refusal)
      await integrations.updateIntegration(tx, resource_id, { status: 'active' })
      await endpoints.tell(tx, resource_id)
      if (refusal === null) await markRules(tx, alarm_ids, { rule_state: 'loaded', rule_error: null })
      else {
        // Who is named is at fault; where nobody is, those that are new. Of what Prometheus said others are no part: it names all.
        const said = refusal.detail ?? ''
        const named = alarm_ids.filter((id) => said.includes(id))
        await markRules(tx, named.length > 0 ? named : new_ids, { rule_state: 'refused', rule_error: new Refusal('alarmRulesNotLoaded').message })
      }
      // The others, and what changed meanwhile.
      await jobs.send(tx, applyJob, {})
    },
  }

  let trying = 0
  /** @throws Refusal `queriesTooMany` */
  const inTurn = async <T>(ask: () => Promise<T>): Promise<T> => {
    if (trying >= tryingMost) throw new Refusal('queriesTooMany', { values: { limit: tryingMost } })
    trying++
    try {
      return await ask()
    } finally {
      trying--
    }
  }
  /** Whether Prometheus would evaluate it. @throws Refusal where it would not, EngineError where it does not answer */
  const tried = async (client: Prometheus, alarm: Parameters<typeof questionsOf>[0]): Promise<void> => {
    for (const question of questionsOf(alarm)) {
      try {
        const { type } = await client.query(question, { timeoutMs: triedMs, mostBytes: 8 * 2 ** 20 })
        if (type !== 'vector') throw new Refusal('alarmNotVector', { field: 'rule.query' })
      } catch (error) {
        if (isEngineError(error, 'invalid')) throw new Refusal('queryInvalid', { field: 'rule.query', values: { reason: error.message }, cause: error })
        if (isEngineError(error, 'exhausted')) throw new Refusal('queryTooHeavy', { field: 'rule.query', cause: error })
        throw error
      }
    }
  }
  /** Those that may be loaded: each that is new was tried, and what does not work is told to its own and left out. */
  const loadable = async (client: Prometheus): Promise<AlarmRow[]> => {
    const fit: AlarmRow[] = []
    for (const alarm of await activeAlarms(db)) {
      if (alarm.rule_state === 'refused') continue
      try {
        if (alarm.rule_state !== 'loaded') await tried(client, alarm)
        fit.push(alarm)
      } catch (error) {
        if (error instanceof Refusal) await markRules(db, [alarm.id], { rule_state: 'refused', rule_error: error.message })
        // It does not answer now: it stays as it is, and is tried again.
        else if (!isEngineError(error)) throw error
      }
    }
    return fit
  }

  const bring = async (): Promise<void> => {
    const target = await row()
    if (target === undefined) return markRules(db, null, { rule_state: 'none', rule_error: null })
    // What goes on with it ends with a look at the rules.
    if (target.status !== 'active' || (await openOperation(db, target.id)) !== undefined) return
    const client = endpoints.opened(target)
    const alarms = await loadable(client)
    /** What goes wrong with a rule when it is evaluated, such as two series that became the same. */
    const failing = new Map((await client.rules().catch(() => [])).flatMap(({ group, error }) => (error === null ? [] : [[group, error] as const])))
    const text = rulesFile(alarms)
    const ids = alarms.map(({ id }) => id)
    await db
      .transaction()
      .execute(async (tx) => {
        const held = found(await integrations.lockIntegration(tx, target.id))
        if (held.status !== 'active') return
        const wanted = await kept.wanted(tx, target.id)
        if (textIn(wanted) === text) {
          const sound = ids.filter((id) => !failing.has(id))
          await markRules(tx, sound, { rule_state: 'loaded', rule_error: null })
          for (const id of ids) if (failing.has(id)) await markRules(tx, [id], { rule_state: 'loaded', rule_error: failing.get(id)?.slice(0, 500) ?? null })
          return
        }
        await kept.change(tx, target.id, withRules(wanted, text))
        await integrations.updateIntegration(tx, target.id, { status: 'changing' })
        const new_ids = alarms.flatMap(({ id, rule_state }) => (rule_state === 'loaded' ? [] : [id]))
        await operations.begin(tx, apply, { resource_id: target.id, bp_id: null, actor: null, input: { alarm_ids: ids, new_ids } })
      })
      .catch((error: unknown) => {
        if (!(error instanceof Refusal)) throw error
        log.info({ err: error, integration: target.id }, 'rules of alarms are brought later')
      })
  }

  const jobHandlers: JobHandler[] = [handleJob(applyJob, bring), handleJob(againJob, bring)]
  return {
    operation: apply,
    jobs: [applyJob, againJob],
    jobHandlers,
    /** In the transaction that changes any alarm. */
    changed: (tx: Tx): Promise<void> => jobs.send(tx, applyJob, {}),
    /** Tries a rule, where there is a Prometheus that answers. @throws Refusal at its field */
    async judge(alarm: Parameters<typeof questionsOf>[0]): Promise<void> {
      // What may not be asked is refused whoever is there.
      questionsOf(alarm)
      const target = await row()
      if (target === undefined || target.status === 'installing' || target.status === 'error') return
      await inTurn(() => tried(endpoints.opened(target), alarm)).catch((error: unknown) => {
        if (!isEngineError(error)) throw error
      })
    },
    /**
     * In how many places it would have fired, at each of the moments until now; null where there is no Prometheus to ask.
     * @throws Refusal at its field, `monitorBusy` where it does not answer
     */
    async past(alarm: Pick<AlarmRow, 'rule' | 'bp_id'>, until: Date, seconds: number, step: number): Promise<{ at: Date; count: number }[] | null> {
      const question = `count(${firesOf(alarm)}\n) or vector(0)`
      const target = await row()
      if (target === undefined || target.status === 'installing' || target.status === 'error') return null
      const end = Math.floor(until.getTime() / 1_000 / step) * step
      try {
        const options = { timeoutMs: triedMs, mostBytes: 8 * 2 ** 20 }
        const { series } = await inTurn(() => endpoints.opened(target).queryRange(question, { start: end - seconds, end, step }, options))
        return (series[0]?.points ?? []).map(([at, value]) => ({ at: new Date(at * 1_000), count: Number(value) }))
      } catch (error) {
        if (isEngineError(error, 'invalid')) throw new Refusal('queryInvalid', { field: 'rule.query', values: { reason: error.message }, cause: error })
        if (isEngineError(error, 'exhausted')) throw new Refusal('queryTooHeavy', { field: 'rule.query', cause: error })
        if (isEngineError(error)) throw new Refusal('monitorBusy', { cause: error })
        throw error
      }
    },
    /** After how many milliseconds of silence something is over; null where the one that tells does not answer. Where there is none any more, nobody tells. */
    async silence(): Promise<number | null> {
      const target = await row()
      if (target === undefined) return silentMs
      if (target.status !== 'active' || target.health !== 'reachable') return null
      // It tells at an evaluation what goes on, and each minute again.
      return Math.max(silentMs, 3 * 1_000 * target.settings.scrape_interval_seconds)
    },
  }
}
