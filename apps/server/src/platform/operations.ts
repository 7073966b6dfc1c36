import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { errors, type ErrorName } from '@zhisuan/contract/errors'
import type { Kind } from '@zhisuan/contract/kind'
import { EngineError, isEngineError } from '@zhisuan/engines/errors'
import { sql, type Generated, type Selectable, type SelectQueryBuilder, type UpdateObject } from 'kysely'
import type pg from 'pg'
import type { Logger } from 'pino'
import { z } from 'zod'
import type { Actor } from './auth/actor.ts'
import type { Bus } from './bus.ts'
import { connect } from './db/connections.ts'
import { isConnectionError } from './db/connections.ts'
import { migration, type Database, type Migrations, type Sql, type Tables, type Tx } from './db/database.ts'
import type { OutageLog } from './db/outage.ts'
import { refusing } from './db/refusing.ts'
import { layOutAnew, rewriteRows } from './db/rewriting.ts'
import { Refusal } from './errors.ts'
import { toRefusal } from './http/problems.ts'
import { uuidv7 } from './ids.ts'
import { defineJob, handleJob, type JobHandler, type Jobs } from './jobs.ts'
import { nameNow, operationOn, type Kinds } from './kinds.ts'
import type { Pause } from './platform.ts'
import type { Secrets } from './secrets.ts'

/**
 * Long work on one resource, as a persisted state machine: a row says which operation, which step,
 * and what it works on. Each step is idempotent; it is recorded before and after. A server that is
 * killed anywhere leaves a row behind, and whichever server sees it first goes on at its step.
 *
 *   queued → running → succeeded
 *      ↘        ↓
 *        →   undoing → failed, or cancelled
 *
 * Before a failure is recorded the engine is asked whether what the step wants is so all the same.
 * For a while after it is asked again: late success is success, and a failed operation of which
 * nothing was taken back goes on behind that step.
 *
 * Whoever cancels one records that it is to be undone; whatever its steps come to after that
 * counts no more. Of one resource at most one operation is open: the database has a unique index
 * for that.
 */
const operationStatuses = ['queued', 'running', 'undoing', 'succeeded', 'failed', 'cancelled'] as const
export type OperationStatus = (typeof operationStatuses)[number]
const forwardStatuses = ['queued', 'running'] as const satisfies readonly OperationStatus[]
/** Of an operation that has not ended: its resource has no other meanwhile. */
export const openStatuses = [...forwardStatuses, 'undoing'] as const satisfies readonly OperationStatus[]

interface OperationTable {
  id: string
  /** The call that asked for it: `nextstack.vm.create`. */
  kind: string
  resource_type: Kind
  resource_id: string
  /** What it was called then; empty where it is of a kind without names. */
  resource_name: Generated<string>
  /** The resource that it is a part of, in whose history it stands too, and what the part was called; null for what is no part. */
  of_id: string | null
  of_part: string | null
  bp_id: string | null
  actor_id: string | null
  actor_name: string
  status: OperationStatus
  /** Steps finished so far; also the index of the one to run. */
  steps_done: number
  steps_total: number
  /** Name of the step that runs, or failed. */
  step: string | null
  /** Sealed JSON: inputs may hold passwords. Emptied when the operation ends; of one that failed when it can go on no more. */
  input: string
  error: ErrorName | null
  /** Chinese, for people; sealed, as is the next: both may repeat what a program said. See {@link Operations.said}. */
  error_text: string | null
  /** What the engine said, in its own words. */
  error_detail: Generated<string | null>
  created_at: Generated<Date>
  started_at: Date | null
  finished_at: Date | null
}
declare module './db/database.ts' {
  interface Tables {
    operations: OperationTable
  }
}
export type OperationRow = Selectable<OperationTable>

export const operationMigrations: Migrations = {
  '20261123_00_02_operations': migration(`
    create table operations (
      id uuid primary key,
      kind text not null,
      resource_type text not null,
      resource_id uuid not null,
      resource_name text not null default '',
      of_id uuid,
      of_part text,
      bp_id uuid,
      actor_id uuid,
      actor_name text not null,
      status text not null check (status in ('queued', 'running', 'undoing', 'succeeded', 'failed', 'cancelled')),
      steps_done integer not null default 0,
      steps_total integer not null,
      step text,
      input text not null,
      error text,
      error_text text,
      error_detail text,
      created_at timestamptz not null default now(),
      started_at timestamptz,
      finished_at timestamptz,
      constraint operations_on_parts check ((of_id is null) = (of_part is null))
    );
    create unique index operations_one_open on operations (resource_id) where status in ('queued', 'running', 'undoing');
    create index operations_resource on operations (resource_id, created_at desc);
    create index operations_open on operations (created_at) where status in ('queued', 'running', 'undoing');
    create index operations_bp on operations (bp_id, created_at desc);
    create index operations_of on operations (of_id, created_at desc) where of_id is not null;
  `),
  '20261126_10_operations_late': migration(`
    create index operations_late on operations (finished_at desc) where status = 'failed' and input <> '';
  `),
}

/** Seals what lay in clear. */
export const sealedOperationMigrations = (secrets: Secrets): Migrations => ({
  '20261126_72_operations_sealed': async (tx) => {
    await rewriteRows(
      tx,
      'operations',
      sql<{ id: string } & Words>`select id, error_text, error_detail from operations where error_text is not null or error_detail is not null`,
      ({ id, ...words }) => {
        const { error_text, error_detail } = sealWords(secrets, id, words)
        return sql`update operations set error_text = ${error_text}, error_detail = ${error_detail} where id = ${id}`
      },
    )
    await layOutAnew(tx, 'operations', 'error_text')
  },
})

/** What is said of a failure. */
interface Words {
  readonly error_text: string | null
  readonly error_detail: string | null
}
const placeOfWords = (column: keyof Words, id: string): string => `operations.${column}:${id}`
const sealWords = (secrets: Secrets, id: string, words: Words): Words => ({
  error_text: words.error_text === null ? null : secrets.seal(words.error_text, placeOfWords('error_text', id)),
  error_detail: words.error_detail === null ? null : secrets.seal(words.error_detail, placeOfWords('error_detail', id)),
})
/** Null also for what another key sealed: then the catalogue's text is what there is to say. */
const openWords = (secrets: Secrets, { id, ...words }: Pick<OperationRow, 'id' | keyof Words>): Words => {
  const opened = (column: keyof Words): string | null => {
    try {
      return words[column] === null ? null : secrets.open(words[column], placeOfWords(column, id))
    } catch {
      return null
    }
  }
  return { error_text: opened('error_text'), error_detail: opened('error_detail') }
}

const silent: Words = { error_text: null, error_detail: null }
type Changes = Omit<UpdateObject<Tables, 'operations'>, keyof Words> & { readonly words?: Words }

/** The open operation of a resource, if any. */
export const openOperation = async (on: Sql, resourceId: string): Promise<string | undefined> =>
  (await on.selectFrom('operations').select('id').where('resource_id', '=', resourceId).where('status', 'in', openStatuses).executeTakeFirst())?.id

/** Ends the open operations of resources whose records go. Nothing is taken back: what they worked on is gone. */
export async function endOperations(tx: Tx, resourceIds: SelectQueryBuilder<Tables, never, { id: string }>, error: ErrorName): Promise<void> {
  await tx
    .updateTable('operations')
    .set({ status: 'failed', error, finished_at: sql`now()`, input: '' })
    .where('status', 'in', openStatuses)
    .where('resource_id', 'in', resourceIds)
    .execute()
}

export interface StepContext<Input> {
  operation_id: string
  resource_id: string
  input: Input
  /** Aborted when the server stops or loses its hold on the operation, and for a step also when somebody cancels it. */
  signal: AbortSignal
  log: Logger
}

/**
 * Tells whether what a step wants is so on the engine. Or in a word why nobody asks: it changes
 * nothing but what is `ours`; it wants several things, or one that shows before it is whole, so that
 * a look sees it `partly`; it `looks` for it itself, as long as it may come true; or it is `unseen`.
 */
export type Reached<Input> = 'ours' | 'partly' | 'looks' | 'unseen' | ((context: StepContext<Input>) => Promise<boolean>)

/** One step. It may be run again after it happened, and must then change nothing. */
export interface OperationStep<Input> {
  name: string
  run: (context: StepContext<Input>) => Promise<void>
  reached: Reached<Input>
  /** While it runs the operation may be cancelled: `undo` takes back what it did, half of it too. */
  cancellable?: boolean
}

export interface OperationDefinition<Input> {
  kind: string
  /** What it works on, where its call is about something else: making a snapshot works on the instance. */
  resource_type?: Kind
  input: z.ZodType<Input>
  /** In order. */
  steps: readonly OperationStep<Input>[]
  /** Takes back what the steps did on the engine; idempotent like them. Left out where the state left behind is honest. */
  undo?: (context: StepContext<Input>, refusal: Refusal) => Promise<void>
  /** Instead of `undo`, where nothing is taken back: writes down what the engine has, for `ended`. */
  look?: (context: StepContext<Input>) => Promise<void>
  /**
   * In the transaction that ends the operation. `refusal` is null for success; only then the input
   * is to be relied on. `operationCancelled` says that everything was taken back. Where nothing is
   * taken back it may come once more: success, after a failure.
   */
  ended: (tx: Tx, context: StepContext<Input>, refusal: Refusal | null) => Promise<void>
}

/** An operation with its input forgotten, so that many kinds can stand in one list. */
export interface AnyOperation {
  kind: string
  resource_type?: Kind
  input: z.ZodType
  steps: readonly OperationStep<never>[]
  undo?: (context: StepContext<never>, refusal: Refusal) => Promise<void>
  look?: (context: StepContext<never>) => Promise<void>
  ended: (tx: Tx, context: StepContext<never>, refusal: Refusal | null) => Promise<void>
}

/** Asked in the transaction that begins an operation, before it is recorded. @throws Refusal where it may not be begun */
export type MayBegin = (tx: Tx, operation: { kind: string; bp_id: string | null; actor: Pick<Actor, 'user_id' | 'name'> | null }) => Promise<void>

export interface Operations {
  /**
   * Records the operation and enqueues it, in the caller's transaction. With `of` it stands in the
   * history of that resource too, as done to its part of that name.
   * @throws Refusal `operationRunning` where the resource has an open one, and what `mayBegin` refuses
   */
  begin<Input>(
    tx: Tx,
    definition: OperationDefinition<Input>,
    request: { resource_id: string; of?: { id: string; part: string }; bp_id: string | null; actor: Pick<Actor, 'user_id' | 'name'> | null; input: Input },
  ): Promise<string>
  /**
   * Has an open operation taken back instead of finished; whoever runs it is told when the
   * transaction commits. Once more of a cancelled one changes nothing.
   * @throws Refusal `operationEnded` where it is too late, `operationNotCancellable` where its step cannot be left
   */
  cancel(tx: Tx, id: string): Promise<void>
  /** Whether {@link Operations.cancel} would take it now. */
  cancellable(row: Pick<OperationRow, 'kind' | 'status' | 'step'>): boolean
  /** What is said of its failure, for people, and what the engine said; null where it has none. */
  said(row: Pick<OperationRow, 'id' | 'error' | 'error_text' | 'error_detail'>): { error: string | null; detail: string | null }
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
export const retryDelays = [200, 1_000, 3_000, 6_000, 10_000]
/** Longer where nobody knows what became of it: to call that a failure would be a guess. */
const unknownDelays = [...retryDelays, ...Array.from({ length: 8 }, () => 15_000)]
export const takeUpEveryMs = 5_000
/** How often the engine is asked whether what failed came true after all, and for how long: a guest that is slow to shut down has done so by then. */
export const lateLookEveryMs = 4_000
const lateMs = 120_000
/** Its payload is the operation's id. */
const cancelTopic = 'platform.operation.cancelled'

export function createOperations(parts: {
  database: Database
  databaseUrl: string
  bus: Bus
  jobs: Jobs
  secrets: Secrets
  log: Logger
  definitions: () => readonly AnyOperation[]
  kinds: () => Kinds
  mayBegin: MayBegin
  faultFile: string | undefined
  outage: OutageLog
  pause: Pause
}): Operations {
  const { database, bus, jobs, secrets, log, outage, pause } = parts
  const { db } = database
  const running = new Map<string, { abort: AbortController; cancel: AbortController; done: Promise<void> }>()
  const stopping = new AbortController()
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

  /** Of the points that the file names, a line each, the first operation that gets to one stays there; at the last one the server kills itself. */
  const fault = async (kind: string, point: string): Promise<void> => {
    const file = parts.faultFile
    if (file === undefined || !existsSync(file)) return
    const points = readFileSync(file, 'utf8').split('\n')
    const index = points.indexOf(`${kind}:${point}`)
    if (index === -1) return
    const left = points.toSpliced(index, 1)
    // Each once: the server that comes after goes on.
    if (left.length > 0) {
      writeFileSync(file, left.join('\n'))
      return new Promise(() => undefined)
    }
    rmSync(file)
    process.kill(process.pid, 'SIGKILL')
  }

  /**
   * @param reached asked before a failure is one, and before what nobody knows the outcome of is asked for again
   * @param unknown told once, when it is not known what became of it
   */
  const attempt = async (
    run: () => Promise<void>,
    signal: AbortSignal,
    stepLog: Logger,
    reached = async () => false,
    unknown = async () => undefined as void,
  ): Promise<void> => {
    let isUnknown = false
    for (let tries = 0; ; tries++) {
      try {
        if (isUnknown && (await reached())) return
        await run()
        return
      } catch (error) {
        if (!isUnknown && isEngineError(error, 'unanswered')) {
          isUnknown = true
          await unknown()
        }
        const delay = (isUnknown ? unknownDelays : retryDelays)[tries]
        // Cancelled by others than us: the cloud was edited, and its engine opened anew.
        const again =
          isEngineError(error, 'unreachable', 'unanswered', 'busy', 'cancelled') || (error instanceof Refusal && error.refusal === 'databaseUnavailable')
        if (!signal.aborted && (!again || delay === undefined) && (await reached())) return stepLog.warn({ err: error }, 'step failed, and what it wants is so')
        // It was sent once: that nobody is there now says nothing of it.
        if (!signal.aborted && again && delay === undefined && isUnknown) throw new EngineError('unanswered', messageOf(error), { cause: error })
        if (signal.aborted || !again || delay === undefined) throw error
        stepLog.warn({ err: error, delay_ms: delay }, 'step failed, trying again')
        await pause(delay, signal)
      }
    }
  }

  /** Whether what the step wants is so on the engine; false also where that cannot be told. */
  const isReached = async ({ reached }: OperationStep<unknown>, context: StepContext<unknown>): Promise<boolean> => {
    if (typeof reached === 'string') return false
    try {
      return await reached(context)
    } catch (error) {
      context.log.info({ err: error }, 'whether the step came true cannot be told')
      return false
    }
  }

  /** Changes an operation that is in one of these states; false where somebody moved it on meanwhile: cancelled it, or removed its resource. */
  const advance = async (on: Sql, id: string, from: readonly OperationStatus[], { words, ...changes }: Changes): Promise<boolean> => {
    const said = words && sealWords(secrets, id, words)
    const { numUpdatedRows } = await on
      .updateTable('operations')
      .set({ ...changes, ...said })
      .where('id', '=', id)
      .where('status', 'in', from)
      .executeTakeFirst()
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

  /** Runs the steps that are left; false where somebody moved the operation on meanwhile. @throws what made a step fail */
  const runSteps = async (row: OperationRow, definition: OperationDefinition<unknown>, context: StepContext<unknown>): Promise<boolean> => {
    const steps = definition.steps.slice(row.steps_done)
    const entered = (done: number) => ({
      status: 'running' as const,
      steps_done: done,
      step: definition.steps[done]?.name ?? null,
      error: null,
      words: silent,
    })
    if (!(await advance(db, row.id, forwardStatuses, { ...entered(row.steps_done), started_at: sql`coalesce(started_at, now())` }))) return false
    for (const [index, step] of steps.entries()) {
      context.signal.throwIfAborted()
      await fault(row.kind, `${step.name}:before`)
      await attempt(
        () => step.run(context),
        context.signal,
        context.log,
        () => isReached(step, context),
        async () => void (await advance(db, row.id, ['running'], { error: 'outcomeUnknown', words: { ...silent, error_text: errors.outcomeUnknown.text } })),
      )
      await fault(row.kind, `${step.name}:after`)
      // That one is done and the next begins is one record: each costs a write to the disk. The last one's is the operation's end.
      if (index < steps.length - 1 && !(await advance(db, row.id, forwardStatuses, entered(row.steps_done + index + 1)))) return false
    }
    return true
  }

  /** Takes back. What could not be is the reconciler's to find; the resource says error either way. @returns why it could not */
  const takeBack = async (definition: OperationDefinition<unknown>, context: StepContext<unknown>, refusal: Refusal): Promise<Refusal | null> => {
    const { kind, look, undo = look } = definition
    if (undo === undefined) return null
    await fault(kind, 'undo:before')
    try {
      await attempt(() => undo(context, refusal), context.signal, context.log)
      await fault(kind, 'undo:after')
      return null
    } catch (error) {
      if (context.signal.aborted || isConnectionError(error)) throw error
      context.log.error({ err: error }, 'undo failed')
      return toRefusal(error)
    }
  }

  /**
   * @param hold aborted when the operation is to be let go of: it stays open and is taken up again
   * @param cancelled aborted when the row says that it is to be undone
   */
  const execute = async (id: string, hold: AbortSignal, cancelled: AbortSignal): Promise<void> => {
    const row = await db.selectFrom('operations').selectAll().where('id', '=', id).where('status', 'in', openStatuses).executeTakeFirst()
    if (row === undefined) return
    const definition = definitionOf(row.kind)
    const stepLog = log.child({ operation: id, kind: row.kind, resource: row.resource_id })
    const input = inputOf(definition, row, stepLog)
    // Without its input no step runs; what takes back and what ends a failure look at the resource alone.
    const context: StepContext<unknown> = { operation_id: id, resource_id: row.resource_id, input: input?.value, signal: hold, log: stepLog }
    const end = (from: readonly OperationStatus[], refusal: Refusal | null, changes: Changes): Promise<boolean> =>
      db.transaction().execute(async (tx) => {
        const kept = changes.status === 'failed' && mayComeTrue(definition, (await stepsDone(tx, id)) ?? 0)
        const ended = await advance(tx, id, from, { ...changes, finished_at: sql`now()`, ...(!kept && { input: '' }) })
        if (ended) await definition.ended(tx, context, refusal)
        return ended
      })

    let failure: Refusal | null = null
    if (row.status !== 'undoing') {
      let done = false
      try {
        if (input === null) throw new Refusal('unknown')
        done = await runSteps(row, definition, { ...context, signal: AbortSignal.any([hold, cancelled]) })
      } catch (error) {
        // Stopped or cut off, from us or from the database, not failed: the row stays open and is taken up again.
        if (hold.aborted || isConnectionError(error)) throw error
        if (!cancelled.aborted) {
          stepLog.error({ err: error }, 'operation failed')
          failure = toRefusal(error)
        }
      }
      if (failure !== null)
        await advance(db, id, forwardStatuses, {
          status: 'undoing',
          error: failure.refusal,
          words: { error_text: failure.message, error_detail: failure.detail ?? null },
        })
      // Not where it was cancelled in the last moment: then the row says so.
      if (done && (await end(forwardStatuses, null, { status: 'succeeded', step: null, steps_done: row.steps_total, error: null, words: silent })))
        return stepLog.info({ outcome: 'succeeded' }, 'operation ended')
    }

    const now = await db
      .selectFrom('operations')
      .select(['id', 'error', 'error_text', 'error_detail'])
      .where('id', '=', id)
      .where('status', '=', 'undoing')
      .executeTakeFirst()
    // Somebody else ended it, such as who removed its resource.
    if (now === undefined) return
    const name = now.error !== null && now.error in errors ? now.error : 'unknown'
    const { error_text: message, error_detail: detail } = openWords(secrets, now)
    const reason = failure?.refusal === name ? failure : new Refusal(name, { message: message ?? undefined, detail: detail ?? undefined })
    const kept = await takeBack(definition, context, reason)
    // One that was cancelled and cannot be taken back has failed by that.
    const outcome = name === 'operationCancelled' && kept !== null ? kept : reason
    await end(['undoing'], outcome, {
      status: outcome.refusal === 'operationCancelled' ? 'cancelled' : 'failed',
      error: outcome.refusal,
      ...(outcome !== reason && { words: { error_text: outcome.message, error_detail: outcome.detail ?? null } }),
    })
    stepLog.info({ outcome: outcome.refusal }, 'operation ended')
  }

  /**
   * Looks whether what a failed operation wanted came true late. Then it goes on behind that step, and
   * ends as any does. @returns whether it goes on
   */
  const goOnLate = async (row: OperationRow): Promise<boolean> => {
    const definition = definitionOf(row.kind)
    const step = definition.steps[row.steps_done]
    const stepLog = log.child({ operation: row.id, kind: row.kind, resource: row.resource_id })
    const input = inputOf(definition, row, stepLog)
    if (step === undefined || input === null) return false
    const context = { operation_id: row.id, resource_id: row.resource_id, input: input.value, signal: stopping.signal, log: stepLog }
    if (!(await isReached(step, context))) return false
    return refusing({ operations_one_open: 'operationRunning' }, () =>
      advance(db, row.id, ['failed'], {
        status: 'queued',
        steps_done: row.steps_done + 1,
        finished_at: null,
        error: null,
        words: silent,
      }),
    )
  }

  const lookLate = async (): Promise<void> => {
    await db
      .updateTable('operations')
      .set({ input: '' })
      .where('status', '=', 'failed')
      .where('input', '<>', '')
      .where(({ or, eb, exists, selectFrom }) =>
        or([
          eb('finished_at', '<', sql<Date>`now() - make_interval(secs => ${lateMs / 1000})`),
          // What was asked for since counts.
          exists(
            selectFrom('operations as later')
              .select('later.id')
              .whereRef('later.resource_id', '=', 'operations.resource_id')
              .whereRef('later.created_at', '>', 'operations.created_at'),
          ),
        ]),
      )
      .execute()
    const failed = await db
      .selectFrom('operations')
      .selectAll()
      .where('status', '=', 'failed')
      .where('input', '<>', '')
      .orderBy('finished_at', 'desc')
      .limit(50)
      .execute()
    await Promise.all(
      failed.map(async (row) => {
        try {
          if (await goOnLate(row)) await run(row.id)
        } catch (error) {
          log.warn({ err: error, operation: row.id }, 'looking whether an operation came true late')
        }
      }),
    )
  }

  const run = async (id: string): Promise<void> => {
    const already = running.get(id)
    if (already !== undefined) return already.done
    if (stopping.signal.aborted) return
    const [abort, cancel] = [new AbortController(), new AbortController()]
    const done = (async () => {
      // Somebody else runs it: they will finish it, or die and leave it to the sweep.
      if (!(await tryLock(id))) return
      try {
        await execute(id, AbortSignal.any([abort.signal, stopping.signal]), cancel.signal)
      } catch (error) {
        if (!abort.signal.aborted && !stopping.signal.aborted) throw error
      } finally {
        await unlock(id)
      }
    })()
    running.set(id, { abort, cancel, done })
    try {
      await done
    } finally {
      running.delete(id)
    }
  }

  const takeUp = async (): Promise<void> => {
    const open = await db.selectFrom('operations').select('id').where('status', 'in', openStatuses).orderBy('created_at').limit(200).execute()
    await Promise.all(open.map(({ id }) => run(id).catch((error: unknown) => outage(error) || log.error({ err: error, operation: id }, 'operation stuck'))))
  }

  /** Leaves the step of one that is to be undone; harmless where it is being undone already. */
  const leave = (id: string): void => running.get(id)?.cancel.abort(new Error('the operation was cancelled'))
  const leaveAll = async (): Promise<void> => {
    if (running.size === 0) return
    const undone = await db
      .selectFrom('operations')
      .select('id')
      .where('id', 'in', [...running.keys()])
      .where('status', '=', 'undoing')
      .execute()
    for (const { id } of undone) leave(id)
  }
  const unsubscribe = bus.subscribe(cancelTopic, leave, () => {
    leaveAll().catch((error: unknown) => log.error({ err: error }, 'looking for cancelled operations'))
  })

  const cancellable: Operations['cancellable'] = ({ kind, status, step }) =>
    // Nothing of it has begun.
    status === 'queued' ||
    (status === 'running' &&
      parts.definitions().some((one) => one.kind === kind && one.steps.some(({ name, cancellable }) => name === step && cancellable === true)))

  return {
    async begin(tx, definition, request) {
      const id = uuidv7()
      const resource_type = operationOn(definition)
      await parts.mayBegin(tx, { kind: definition.kind, bp_id: request.bp_id, actor: request.actor })
      // Asked before: the unique index would wait for one that is just ending, which may wait for a row that the caller holds.
      const other = await tx
        .selectFrom('operations')
        .select('id')
        .where('resource_id', '=', request.resource_id)
        .where('status', 'in', openStatuses)
        .executeTakeFirst()
      if (other !== undefined) throw new Refusal('operationRunning')
      await refusing({ operations_one_open: 'operationRunning' }, () =>
        tx
          .insertInto('operations')
          .values({
            id,
            kind: definition.kind,
            resource_type,
            resource_id: request.resource_id,
            resource_name: nameNow(parts.kinds().get(resource_type), request.resource_id),
            of_id: request.of?.id ?? null,
            of_part: request.of?.part ?? null,
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
          .execute(),
      )
      await jobs.send(tx, runJob, { operation_id: id })
      return id
    },
    async cancel(tx, id) {
      const row = await tx.selectFrom('operations').select(['kind', 'status', 'step', 'error']).where('id', '=', id).forUpdate().executeTakeFirstOrThrow()
      if (row.status === 'cancelled' || (row.status === 'undoing' && row.error === 'operationCancelled')) return
      if (row.status === 'succeeded' || row.status === 'failed') throw new Refusal('operationEnded')
      if (!cancellable(row)) throw new Refusal('operationNotCancellable')
      await advance(tx, id, forwardStatuses, { status: 'undoing', error: 'operationCancelled' })
      await bus.publish(tx, cancelTopic, id)
    },
    cancellable,
    said(row) {
      const { error_text, error_detail } = openWords(secrets, row)
      // What somebody wished for is no error.
      return { error: row.error === null || row.error === 'operationCancelled' ? null : (error_text ?? errors[row.error].text), detail: error_detail }
    },
    job: runJob,
    jobHandler: handleJob(runJob, ({ operation_id }) => run(operation_id)),
    async start() {
      const loop = async (everyMs: number, work: () => Promise<void>) => {
        while (!stopping.signal.aborted) {
          await work().catch((error: unknown) => outage(error) || log.error({ err: error }, 'looking after operations'))
          await pause(everyMs, stopping.signal).catch(() => undefined)
        }
      }
      // Not awaited: what is taken up may run long, and the server has people to answer.
      void loop(takeUpEveryMs, takeUp)
      void loop(lateLookEveryMs, lookLate)
      await Promise.resolve()
    },
    async stop() {
      unsubscribe()
      stopping.abort(new Error('the server is stopping'))
      await Promise.allSettled([...running.values()].map(({ done }) => done))
      const client = await lockClient?.catch(() => null)
      lockClient = null
      await client?.end()
    },
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Whether one that fails at this step may go on when it comes true late. */
const mayComeTrue = ({ steps, undo }: OperationDefinition<unknown>, step: number): boolean => undo === undefined && typeof steps[step]?.reached === 'function'

const stepsDone = async (on: Sql, id: string): Promise<number | undefined> =>
  (await on.selectFrom('operations').select('steps_done').where('id', '=', id).executeTakeFirst())?.steps_done

const place = (id: string): string => `operations.input:${id}`
