import { setTimeout as sleep } from 'node:timers/promises'
import { fromKysely, PgBoss } from 'pg-boss'
import type { Logger } from 'pino'
import type { z } from 'zod'
import { listen, openPool } from './db/connections.ts'
import { createOutageLog, type OutageLog } from './db/outage.ts'
import type { Tx } from './db/database.ts'

/** Work that outlives the request that asked for it. Delivered at least once: handlers are idempotent. */
export interface JobDefinition<Input extends z.ZodType = z.ZodType> {
  /** `family.resource.verb` */
  readonly name: string
  readonly input: Input
  /** How many run at once on one server. */
  readonly concurrency: number
  /** Further tries after a failure, with exponential back-off from two seconds. */
  readonly retries: number
  /** Cron (UTC), for jobs that run by themselves with an empty input. */
  readonly schedule: string | undefined
}

export const defineJob = <Input extends z.ZodType>(definition: {
  name: string
  input: Input
  concurrency?: number
  retries?: number
  schedule?: string
}): JobDefinition<Input> => ({
  name: definition.name,
  input: definition.input,
  concurrency: definition.concurrency ?? 2,
  retries: definition.retries ?? 5,
  schedule: definition.schedule,
})

export interface JobHandler {
  readonly job: JobDefinition
  readonly run: (input: unknown, context: { signal: AbortSignal }) => Promise<void>
}

export const handleJob = <Input extends z.ZodType>(
  job: JobDefinition<Input>,
  run: (input: z.output<Input>, context: { signal: AbortSignal }) => Promise<void>,
): JobHandler => ({
  job,
  // The queue parses with this very job's schema first.
  run: run as JobHandler['run'],
})

export interface Jobs {
  /** Enqueues in the caller's transaction: the job exists if and only if the change does. */
  send<Input extends z.ZodType>(tx: Tx, job: JobDefinition<Input>, input: z.input<Input>): Promise<void>
  /** Starts the workers. @throws where a job has no handler, or two. */
  start(defined: readonly JobDefinition[], handlers: readonly JobHandler[]): Promise<void>
  /** Lets running jobs finish for a while, then gives them back to the queue. */
  stop(): Promise<void>
}

/** What runs may go on for so long while the server stops. */
const patienceMs = 5_000

/**
 * Jobs on pg-boss, in the schema `pgboss` of our database.
 * @param options.schedule whether the clock begins those that have a schedule
 */
export async function createJobs(
  url: string,
  log: Logger,
  { outage = createOutageLog(log), schedule = true }: { outage?: OutageLog; schedule?: boolean } = {},
): Promise<Jobs> {
  // Connections of our own making: those that pg-boss makes end the process when the database ends them.
  const pool = openPool(url, 'zhisuan-jobs', 4, log)
  const boss = new PgBoss({
    useListenNotify: true,
    schedule,
    db: {
      executeSql: (text, values) => pool.query(text, values),
      listen: (channel, heard, recover) => listen(url, 'zhisuan-jobs-listener', channel, heard, recover, log),
    },
  })
  const working: string[] = []
  // Each worker asks every other second.
  boss.on('error', (error) => outage(error) || log.error({ err: error }, 'job queue'))
  try {
    await boss.start()
  } catch (error) {
    await pool.end()
    throw error
  }

  return {
    async send(tx, job, input) {
      await boss.send(job.name, job.input.parse(input) as object, { db: fromKysely(tx) })
    },
    async start(defined, handlers) {
      const byName = new Map<string, JobHandler>()
      for (const handler of handlers) {
        if (byName.has(handler.job.name)) throw new Error(`job ${handler.job.name} has two handlers`)
        byName.set(handler.job.name, handler)
      }
      for (const job of defined) {
        const handler = byName.get(job.name)
        if (handler === undefined) throw new Error(`job ${job.name} has no handler`)
        byName.delete(job.name)
        await boss.createQueue(job.name, { notify: true, retryLimit: job.retries, retryBackoff: true, retryDelay: 2, expireInSeconds: 3600 })
        // New jobs are told of; a retry, whose time comes silently, waits for the poll, which else is every half minute.
        const pace = { pollingIntervalSeconds: 2, notifyPollingIntervalSeconds: 5 }
        await boss.work(job.name, { localConcurrency: job.concurrency, ...pace }, async (batch) => {
          for (const entry of batch) {
            try {
              await handler.run(job.input.parse(entry.data ?? {}), { signal: entry.signal })
            } catch (error) {
              log.error({ err: error, job: job.name, job_id: entry.id }, 'job failed')
              throw error
            }
          }
        })
        working.push(job.name)
        if (job.schedule !== undefined) await boss.schedule(job.name, job.schedule, {})
      }
      if (byName.size > 0) throw new Error(`handlers of unknown jobs: ${[...byName.keys()].join(', ')}`)
    },
    async stop() {
      const until = new AbortController()
      // Stopping, the queue looks each half second whether its workers have ended: so they end before.
      await Promise.race([Promise.all(working.map((name) => boss.offWork(name))), sleep(patienceMs, undefined, { signal: until.signal })]).catch(
        () => undefined,
      )
      until.abort()
      await boss.stop({ graceful: false })
      await pool.end()
    },
  }
}
