import { setTimeout as sleep } from 'node:timers/promises'
import { errors, type ErrorName } from '@zhisuan/contract/errors'
import { isEngineError } from '@zhisuan/engines/errors'
import { sql, type Generated, type UpdateObject } from 'kysely'
import type pg from 'pg'
import type { Logger } from 'pino'
import { z } from 'zod'
import type { Actor } from './auth/actor.ts'
import { connect } from './db/connections.ts'
import { isUniqueViolation, migration, type Database, type Migrations, type Sql, type Tables, type Tx } from './db/database.ts'
import { Refusal } from './errors.ts'
import { toRefusal } from './http/problems.ts'
import { uuidv7 } from './ids.ts'
import { defineJob, handleJob, type JobHandler, type Jobs } from './jobs.ts'
import type { Secrets } from './secrets.ts'

/**
 * Long work on one resource, as a persisted state machine: a row says which operation, which step,
 * and what it works on. Each step is idempotent; it is recorded before and after. A server that is
 * killed anywhere leaves a row behind, and whichever server sees it first goes on at its step.
 *
 *   queued → running → succeeded
 *                    → undoing → failed
 *
 * Of one resource at most one operation is open: the database has a unique index for that.
 */
export const operationStatuses = ['queued', 'running', 'undoing', 'succeeded', 'failed'] as const
type OperationStatus = (typeof operationStatuses)[number]
const openStatuses = ['queued', 'running', 'undoing'] as const satisfies readonly OperationStatus[]

interface OperationTable {
  id: string
  /** The call that asked for it: `nextstack.vm.create`. */
  kind: string
  resource_type: string
  resource_id: string
  bp_id: string | null
  actor_id: string | null
  actor_name: string
  status: OperationStatus
  /** Steps finished so far; also the index of the one to run. */
  steps_done: number
  steps_total: number
  /** Name of the step that runs, or failed. */
  step: string | null
  /** Sealed JSON: inputs may hold passwords. Emptied when the operation ends. */
  input: string
  error: ErrorName | null
  /** Chinese, for people. */
  error_text: string | null
  created_at: Generated<Date>
  started_at: Date | null
  finished_at: Date | null
}
declare module './db/database.ts' {
  interface Tables {
    operations: OperationTable
  }
}

export const operationMigrations: Migrations = {
  '20261121_01_operations': migration(`
    create table operations (
      id uuid primary key,
      kind text not null,
      resource_type text not null,
      resource_id uuid not null,
      bp_id uuid,
      actor_id uuid,
      actor_name text not null,
      status text not null check (status in ('queued', 'running', 'undoing', 'succeeded', 'failed')),
      steps_done integer not null default 0,
      steps_total integer not null,
      step text,
      input text not null,
      error text,
      error_text text,
      created_at timestamptz not null default now(),
      started_at timestamptz,
      finished_at timestamptz
    );
    create unique index operations_one_open on operations (resource_id) where status in ('queued', 'running', 'undoing');
    create index operations_resource on operations (resource_id, created_at desc);
    create index operations_open on operations (created_at) where status in ('queued', 'running', 'undoing');
    create index operations_bp on operations (bp_id, created_at desc);
  `),
}

export interface StepContext<Input> {
  operation_id: string
  resource_id: string
  input: Input
  /** Aborted when the server stops or loses its hold on the operation. */
  signal: AbortSignal
  log: Logger
}

export interface OperationDefinition<Input> {
  kind: string
  resource_type: string
  input: z.ZodType<Input>
  /** In order. Each may be run again after it happened, and must then change nothing. */
  steps: readonly { name: string; run: (context: StepContext<Input>) => Promise<void> }[]
  /** Takes back what the steps did on the engine; idempotent like them. Left out where the state left behind is honest. */
  undo?: (context: StepContext<Input>) => Promise<void>
  /** In the transaction that ends the operation. `refusal` is null for success; only then the input is to be relied on. */
  ended: (tx: Tx, context: StepContext<Input>, refusal: Refusal | null) => Promise<void>
}

/** An operation with its input forgotten, so that many kinds can stand in one list. */
export interface AnyOperation {
  kind: string
  resource_type: string
  input: z.ZodType
  steps: readonly { name: string; run: (context: StepContext<never>) => Promise<void> }[]
  undo?: (context: StepContext<never>) => Promise<void>
  ended: (tx: Tx, context: StepContext<never>, refusal: Refusal | null) => Promise<void>
}

export interface Operations {
  /**
   * Records the operation and enqueues it, in the caller's transaction.
   * @throws Refusal `operationRunning` where the resource has an open one
   */
  begin<Input>(
    tx: Tx,
    definition: OperationDefinition<Input>,
    request: { resource_id: string; bp_id: string | null; actor: Pick<Actor, 'user_id' | 'name'> | null; input: Input },
  ): Promise<string>
  readonly job: typeof runJob
  readonly jobHandler: JobHandler
  /** Takes up what a killed server left, now and every few seconds. */
  start(): Promise<void>
  /** Lets go of what runs, at a step's border where possible; another server or the next start goes on. */
  stop(): Promise<void>
}

const runJob = defineJob({
  name: 'platform.operation.run',
  input: z.object({ operation_id: z.uuid() }),
  concurrency: 24,
  retries: 3,
})

/** Waits before a step is tried again, in milliseconds; then the operation fails. */
const retryDelays = [200, 1_000, 3_000, 6_000, 10_000]
const takeUpEveryMs = 5_000

export function createOperations(parts: {
  database: Database
  databaseUrl: string
  jobs: Jobs
  secrets: Secrets
  log: Logger
  definitions: () => readonly AnyOperation[]
  faultPoint: string | undefined
}): Operations {
  const { database, jobs, secrets, log } = parts
  const { db } = database
  const running = new Map<string, { abort: AbortController; done: Promise<void> }>()
  const stopping = new AbortController()
  let sweep: NodeJS.Timeout | undefined
  let lockClient: Promise<pg.Client> | null = null

  /**
   * One connection holds an advisory lock for each operation that this process runs. When the
   * process dies, the database drops the connection and with it the locks: no lease to wait for.
   */
  const locks = (): Promise<pg.Client> => {
    lockClient ??= connect(parts.databaseUrl, 'zhisuan-operations', () => {
      lockClient = null
      for (const { abort } of running.values()) abort.abort(new Error('lost hold of the operation'))
    }).catch((error: unknown) => {
      lockClient = null
      throw error
    })
    return lockClient
  }
  let turn: Promise<unknown> = Promise.resolve()
  /** A connection answers one question after the other. */
  const inTurn = <T>(ask: () => Promise<T>): Promise<T> => {
    const asked = turn.then(ask)
    turn = asked.catch(() => undefined)
    return asked
  }
  const tryLock = (id: string): Promise<boolean> =>
    inTurn(async () => {
      const client = await locks()
      const { rows } = await client.query<{ locked: boolean }>('select pg_try_advisory_lock(hashtextextended($1, 7)) as locked', [id])
      return rows[0]?.locked === true
    })
  const unlock = (id: string): Promise<void> =>
    inTurn(async () => {
      const client = await lockClient
      await client?.query('select pg_advisory_unlock(hashtextextended($1, 7))', [id]).catch(() => undefined)
    })

  const definitionOf = (kind: string): OperationDefinition<unknown> => {
    const definition = parts.definitions().find((candidate) => candidate.kind === kind)
    if (definition === undefined) throw new Error(`no operation ${kind}`)
    // Its own schema parses the input before any step sees it.
    return definition as unknown as OperationDefinition<unknown>
  }

  const fault = (kind: string, point: string): void => {
    if (parts.faultPoint === `${kind}:${point}`) process.kill(process.pid, 'SIGKILL')
  }

  const attempt = async (run: () => Promise<void>, signal: AbortSignal, stepLog: Logger): Promise<void> => {
    for (let tries = 0; ; tries++) {
      try {
        await run()
        return
      } catch (error) {
        const delay = retryDelays[tries]
        // Cancelled by others than us: the cloud was edited, and its engine opened anew.
        const again = isEngineError(error, 'unreachable', 'busy', 'cancelled') || (error instanceof Refusal && error.refusal === 'databaseUnavailable')
        if (signal.aborted || !again || delay === undefined) throw error
        stepLog.warn({ err: error, delay_ms: delay }, 'step failed, trying again')
        await sleep(delay, undefined, { signal })
      }
    }
  }

  /** Changes an open operation; false where somebody ended it meanwhile, such as who removed its resource. */
  const advance = async (on: Sql, id: string, changes: UpdateObject<Tables, 'operations'>): Promise<boolean> => {
    const { numUpdatedRows } = await on.updateTable('operations').set(changes).where('id', '=', id).where('status', 'in', openStatuses).executeTakeFirst()
    return numUpdatedRows > 0n
  }

  /** The input that {@link Operations.begin} sealed; null where it cannot be read any more: another key, another version. */
  const inputOf = (definition: OperationDefinition<unknown>, row: Pick<OperationTable, 'id' | 'input'>, stepLog: Logger): { value: unknown } | null => {
    try {
      return { value: definition.input.parse(JSON.parse(secrets.open(row.input, place(row.id)))) }
    } catch (error) {
      stepLog.error({ err: error }, 'input of the operation cannot be read')
      return null
    }
  }

  const execute = async (id: string, signal: AbortSignal): Promise<void> => {
    const row = await db.selectFrom('operations').selectAll().where('id', '=', id).executeTakeFirst()
    if (row === undefined || row.status === 'succeeded' || row.status === 'failed') return
    const definition = definitionOf(row.kind)
    const stepLog = log.child({ operation: id, kind: row.kind, resource: row.resource_id })
    const input = inputOf(definition, row, stepLog)
    // Without its input no step runs; what takes back and what ends a failure look at the resource alone.
    const context: StepContext<unknown> = { operation_id: id, resource_id: row.resource_id, input: input?.value, signal, log: stepLog }
    let refusal: Refusal | null = null
    if (row.status === 'undoing') {
      refusal = new Refusal(row.error !== null && row.error in errors ? row.error : 'unknown')
    } else {
      let index = row.steps_done
      try {
        if (input === null) throw new Refusal('unknown')
        for (; index < definition.steps.length; index++) {
          const step = definition.steps[index]
          if (step === undefined) break
          signal.throwIfAborted()
          if (!(await advance(db, id, { status: 'running', step: step.name, started_at: sql`coalesce(started_at, now())` }))) return
          fault(row.kind, `${step.name}:before`)
          await attempt(() => step.run(context), signal, stepLog)
          fault(row.kind, `${step.name}:after`)
          await advance(db, id, { steps_done: index + 1 })
        }
      } catch (error) {
        // Stopped or cut off, not failed: the row stays open and is taken up again.
        if (signal.aborted) throw error
        stepLog.error({ err: error }, 'operation failed')
        refusal = toRefusal(error)
        if (!(await advance(db, id, { status: 'undoing', error: refusal.refusal, error_text: refusal.message }))) return
      }
    }
    if (refusal !== null && definition.undo !== undefined) {
      fault(row.kind, 'undo:before')
      const undo = definition.undo
      try {
        await attempt(() => undo(context), signal, stepLog)
      } catch (error) {
        if (signal.aborted) throw error
        // What could not be taken back is the reconciler's to find; the resource says error either way.
        stepLog.error({ err: error }, 'undo failed')
      }
    }
    const reason = refusal
    await db.transaction().execute(async (tx) => {
      const ended = await advance(tx, id, {
        status: reason === null ? 'succeeded' : 'failed',
        finished_at: sql`now()`,
        input: '',
        ...(reason === null && { step: null }),
      })
      if (ended) await definition.ended(tx, context, reason)
    })
    stepLog.info({ outcome: reason?.refusal ?? 'succeeded' }, 'operation ended')
  }

  const run = async (id: string): Promise<void> => {
    const already = running.get(id)
    if (already !== undefined) return already.done
    if (stopping.signal.aborted) return
    const abort = new AbortController()
    const done = (async () => {
      // Somebody else runs it: he will finish it, or die and leave it to the sweep.
      if (!(await tryLock(id))) return
      try {
        await execute(id, AbortSignal.any([abort.signal, stopping.signal]))
      } catch (error) {
        if (!abort.signal.aborted && !stopping.signal.aborted) throw error
      } finally {
        await unlock(id)
      }
    })()
    running.set(id, { abort, done })
    try {
      await done
    } finally {
      running.delete(id)
    }
  }

  const takeUp = async (): Promise<void> => {
    const open = await db
      .selectFrom('operations')
      .select('id')
      .where('status', 'in', openStatuses)
      .orderBy('created_at')
      .limit(200)
      .execute()
    await Promise.all(
      open.map(({ id }) => run(id).catch((error: unknown) => log.error({ err: error, operation: id }, 'operation stuck'))),
    )
  }

  return {
    async begin(tx, definition, request) {
      const id = uuidv7()
      try {
        await tx
          .insertInto('operations')
          .values({
            id,
            kind: definition.kind,
            resource_type: definition.resource_type,
            resource_id: request.resource_id,
            bp_id: request.bp_id,
            actor_id: request.actor?.user_id ?? null,
            actor_name: request.actor?.name ?? '',
            status: 'queued',
            steps_done: 0,
            steps_total: definition.steps.length,
            step: definition.steps[0]?.name ?? null,
            input: secrets.seal(JSON.stringify(request.input), place(id)),
            error: null,
            error_text: null,
            started_at: null,
            finished_at: null,
          })
          .execute()
      } catch (error) {
        if (isUniqueViolation(error, 'operations_one_open')) throw new Refusal('operationRunning', { cause: error })
        throw error
      }
      await jobs.send(tx, runJob, { operation_id: id })
      return id
    },
    job: runJob,
    jobHandler: handleJob(runJob, ({ operation_id }) => run(operation_id)),
    async start() {
      const loop = async () => {
        await takeUp().catch((error: unknown) => log.error({ err: error }, 'taking up operations'))
        if (!stopping.signal.aborted) sweep = setTimeout(() => void loop(), takeUpEveryMs).unref()
      }
      // Not awaited: what is taken up may run long, and the server has people to answer.
      void loop()
      await Promise.resolve()
    },
    async stop() {
      clearTimeout(sweep)
      stopping.abort(new Error('the server is stopping'))
      await Promise.allSettled([...running.values()].map(({ done }) => done))
      const client = await lockClient?.catch(() => null)
      lockClient = null
      await client?.end()
    },
  }
}

const place = (id: string): string => `operations.input:${id}`
