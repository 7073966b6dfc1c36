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
import { activeAlarms, markRules } from './alarm.store.ts'
import { rulesFile } from './rules.ts'

const applyJob = defineJob({ name: 'omc.alarm.apply', input: z.object({}), concurrency: 1, retries: 5 })
/** What was missed, such as by a Prometheus that came later. */
const againJob = defineJob({ name: 'omc.alarm.applyAgain', input: z.object({}), concurrency: 1, schedule: '* * * * *' })

/** Which alarms the rules are of that are brought. */
const input = z.object({ alarm_ids: z.array(z.uuid()) })
type Input = z.output<typeof input>

const loadedWithinMs = 20_000
const lookEveryMs = 500

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
    ended: async (tx, { resource_id, input: { alarm_ids } }, refusal) => {
      await kept.settle(tx, resource_id, refusal)
      await integrations.updateIntegration(tx, resource_id, { status: 'active' })
      await endpoints.tell(tx, resource_id)
      if (refusal === null) await markRules(tx, alarm_ids, { rule_state: 'loaded', rule_error: null })
      else await markRules(tx, alarm_ids, { rule_state: 'refused', rule_error: (refusal.detail ?? refusal.message).slice(0, 2_000) })
      // What changed meanwhile; of what was refused, the next change.
      if (refusal === null) await jobs.send(tx, applyJob, {})
    },
  }

  const bring = async (again: boolean): Promise<void> => {
    const target = await row()
    if (target === undefined) return markRules(db, null, { rule_state: 'none', rule_error: null })
    // What goes on with it ends with a look at the rules.
    if (target.status !== 'active' || (await openOperation(db, target.id)) !== undefined) return
    const alarms = await activeAlarms(db)
    // Those that were refused are not tried again by the clock.
    if (again && alarms.some(({ rule_state }) => rule_state === 'refused')) return
    const text = rulesFile(alarms)
    const ids = alarms.map(({ id }) => id)
    await db
      .transaction()
      .execute(async (tx) => {
        const held = found(await integrations.lockIntegration(tx, target.id))
        if (held.status !== 'active') return
        const wanted = await kept.wanted(tx, target.id)
        if (textIn(wanted) === text) return markRules(tx, ids, { rule_state: 'loaded', rule_error: null })
        await kept.change(tx, target.id, withRules(wanted, text))
        await integrations.updateIntegration(tx, target.id, { status: 'changing' })
        await operations.begin(tx, apply, { resource_id: target.id, bp_id: null, actor: null, input: { alarm_ids: ids } })
      })
      .catch((error: unknown) => {
        if (!(error instanceof Refusal)) throw error
        log.info({ err: error, integration: target.id }, 'rules of alarms are brought later')
      })
  }

  const jobHandlers: JobHandler[] = [handleJob(applyJob, () => bring(false)), handleJob(againJob, () => bring(true))]
  return {
    operation: apply,
    jobs: [applyJob, againJob],
    jobHandlers,
    /** In the transaction that changes any alarm. */
    changed: (tx: Tx): Promise<void> => jobs.send(tx, applyJob, {}),
    /** Of all active alarms, as they are now. */
    text: async (): Promise<string> => rulesFile(await activeAlarms(db)),
    /** Which would judge a rule, if it is there. */
    async prometheus(): Promise<Prometheus | null> {
      const target = await row()
      return target === undefined || target.status === 'installing' || target.status === 'error' ? null : endpoints.opened(target)
    },
    /** Whether the one that tells answers now; where there is none any more, nobody tells. */
    async answers(): Promise<boolean> {
      const target = await row()
      return target === undefined || (target.status === 'active' && target.health === 'reachable')
    },
  }
}
