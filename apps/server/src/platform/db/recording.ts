import { AsyncLocalStorage } from 'node:async_hooks'
import {
  CompiledQuery,
  PostgresDialect,
  type DatabaseConnection,
  type Driver,
  type InsertQueryNode,
  type OperationNode,
  type QueryResult,
  type TransactionSettings,
} from 'kysely'
import { isConnectionError } from './connections.ts'
import type { Tx } from './database.ts'

/** A row that was made, by its table. */
export interface Made {
  readonly table: string
  readonly id: string
}

/** Whose an account is. */
export interface NotedUser {
  readonly user_id: string
  readonly name: string
  readonly bp_id: string | null
}

/** Who is found out to ask, or to be meant, while a call is answered that anybody may make. */
export interface Note {
  /** Who proved to be somebody. */
  by: NotedUser | null
  /** Which account somebody tried to get into, or what happened to it is about. */
  tried: NotedUser | null
}

/**
 * What has to be written down about a change, in the very transaction that makes it: the first of what is done
 * within {@link recorded}. Nobody who changes something has to think of it.
 */
export interface Recording {
  /** What is written, given what was made so far. */
  readonly entries: (made: readonly Made[]) => readonly CompiledQuery[]
  /** Whether it is written, or is not to be any more. */
  done: boolean
}

interface Whole {
  readonly tx: Tx
  open: boolean
  savepoints: number
}

interface Context {
  /** Null where nothing is written down, or whoever opened `whole` does. */
  readonly recording: Recording | null
  readonly note: Note
  /** All of it is one transaction: what begins another makes a savepoint of it. */
  readonly whole: Whole | null
}

const storage = new AsyncLocalStorage<Context>()
const recordingNow = (): Recording | null => {
  const recording = storage.getStore()?.recording ?? null
  return recording?.done === true ? null : recording
}

/** Does something, and writes down what has to be with the first of its changes; with null nothing. */
export const recorded = <T>(recording: Recording | null, note: Note, act: () => Promise<T>): Promise<T> =>
  storage.run({ recording, note, whole: storage.getStore()?.whole ?? null }, act)

/**
 * Does something that is no change of what was asked for: counts an attempt, looks at an engine, keeps what is made once
 * for all. Nothing of it is written down, and nothing of it is taken back with what it is done beside.
 */
export const unrecorded = <T>(act: () => T): T =>
  storage.run({ recording: null, note: storage.getStore()?.note ?? { by: null, tried: null }, whole: null }, act)

/** Says who is found out to ask, or to be meant; nothing where no call is answered. */
export function noted(part: Partial<Note>): void {
  const note = storage.getStore()?.note
  if (note !== undefined) Object.assign(note, part)
}

/** Does something within a transaction that is open, whatever transactions it opens itself. Whoever opened it writes down what has to be. */
export async function within<T>(tx: Tx, note: Note, act: () => Promise<T>): Promise<T> {
  const whole: Whole = { tx, open: true, savepoints: 0 }
  try {
    return await storage.run({ recording: null, note, whole }, act)
  } finally {
    // What still goes on has connections of its own.
    whole.open = false
  }
}

/** What changed on a connection since its transaction began. */
class Changes {
  changed = false
  readonly made: Made[] = []

  note({ query }: CompiledQuery, result: QueryResult<unknown>): void {
    if ((result.numAffectedRows ?? 0n) === 0n) return
    this.changed = true
    if (query.kind !== 'InsertQueryNode') return
    const table = query.into?.table.identifier.name
    if (table !== undefined) this.made.push(...idsOf(query, result).map((id) => ({ table, id })))
  }
}

/** Ids of inserted rows: as they were given, else as they were answered. */
function idsOf({ columns, values }: InsertQueryNode, { rows }: QueryResult<unknown>): string[] {
  const at = columns?.findIndex(({ column }) => column.name === 'id') ?? -1
  const given = at < 0 || values === undefined || !isValues(values) ? [] : values.values.map((row) => valueOf(row.values[at]))
  const answered = rows.map((row) => (typeof row === 'object' && row !== null && 'id' in row ? row.id : null))
  return (given.length > 0 ? given : answered).filter((id) => typeof id === 'string')
}
type Values = OperationNode & { readonly values: readonly { readonly values: readonly unknown[] }[] }
const isValues = (node: OperationNode): node is Values => node.kind === 'ValuesNode'
const valueOf = (value: unknown): unknown => (typeof value === 'object' && value !== null && 'value' in value ? value.value : value)

const changing = new Set(['InsertQueryNode', 'UpdateQueryNode', 'DeleteQueryNode', 'MergeQueryNode'])
/** Statements that are written out say by their first word what they are. */
const changes = ({ query, sql }: CompiledQuery): boolean =>
  changing.has(query.kind) || (query.kind === 'RawNode' && /^\s*(insert|update|delete|merge|with)\b/i.test(sql))

/** A connection of the pool, which sees what is changed on it. */
class Watched implements DatabaseConnection {
  readonly own: DatabaseConnection
  /** Null where no transaction is open. */
  changes: Changes | null = null

  constructor(own: DatabaseConnection) {
    this.own = own
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const recording = recordingNow()
    if (recording === null || !changes(query)) return this.own.executeQuery<R>(query)
    if (this.changes !== null) {
      const result = await this.own.executeQuery<R>(query)
      this.changes.note(query, result)
      return result
    }
    return this.#alone<R>(query, recording)
  }

  /** A statement that stands alone: what is written with it makes a transaction of it. */
  async #alone<R>(query: CompiledQuery, recording: Recording): Promise<QueryResult<R>> {
    const alone = new Changes()
    await this.own.executeQuery(CompiledQuery.raw('begin'))
    try {
      const result = await this.own.executeQuery<R>(query)
      alone.note(query, result)
      if (alone.changed) await this.write(recording, alone)
      await this.own.executeQuery(CompiledQuery.raw('commit'))
      if (alone.changed) recording.done = true
      return result
    } catch (error) {
      await this.own.executeQuery(CompiledQuery.raw('rollback')).catch(() => undefined)
      throw error
    }
  }

  async write(recording: Recording, { made }: Changes): Promise<void> {
    for (const entry of recording.entries(made)) await this.own.executeQuery(entry)
  }

  streamQuery<R>(query: CompiledQuery, chunkSize: number): AsyncIterableIterator<QueryResult<R>> {
    return this.own.streamQuery<R>(query, chunkSize)
  }
}

/** What takes part in a transaction that is open already. */
class Within implements DatabaseConnection {
  readonly whole: Whole
  savepoint: string | null = null

  constructor(whole: Whole) {
    this.whole = whole
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    // A statement that is refused, and that somebody reckons with, does not spoil what was done before.
    if (this.savepoint !== null || !changes(query)) return this.whole.tx.executeQuery<R>(query)
    await this.begin()
    try {
      const result = await this.whole.tx.executeQuery<R>(query)
      await this.release()
      return result
    } catch (error) {
      await this.takeBack()
      throw error
    }
  }

  // oxlint-disable-next-line require-yield -- there is none in a transaction
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    await Promise.resolve()
    throw new Error('nothing is streamed within a transaction')
  }

  async begin(): Promise<void> {
    this.savepoint = `within_${++this.whole.savepoints}`
    await this.#say(`savepoint ${this.savepoint}`)
  }
  async release(): Promise<void> {
    await this.#say(`release savepoint ${this.savepoint}`)
    this.savepoint = null
  }
  async takeBack(): Promise<void> {
    try {
      await this.#say(`rollback to savepoint ${this.savepoint}`)
      await this.release()
    } catch (error) {
      if (!isConnectionError(error)) throw error
    }
  }

  async #say(what: string): Promise<void> {
    await this.whole.tx.executeQuery(CompiledQuery.raw(what))
  }
}

class RecordingDriver implements Driver {
  readonly #own: Driver
  readonly #watched = new WeakMap<DatabaseConnection, Watched>()

  constructor(own: Driver) {
    this.#own = own
  }

  init: Driver['init'] = (options) => this.#own.init(options)
  destroy: Driver['destroy'] = (options) => this.#own.destroy(options)

  acquireConnection: Driver['acquireConnection'] = async (options) => {
    const whole = storage.getStore()?.whole ?? null
    if (whole?.open === true) return new Within(whole)
    const own = await this.#own.acquireConnection(options)
    const watched = this.#watched.get(own) ?? new Watched(own)
    this.#watched.set(own, watched)
    return watched
  }

  async releaseConnection(connection: DatabaseConnection): Promise<void> {
    if (connection instanceof Watched) await this.#own.releaseConnection(connection.own)
  }

  async beginTransaction(connection: DatabaseConnection, settings: TransactionSettings): Promise<void> {
    if (connection instanceof Within) return connection.begin()
    const watched = watchedOf(connection)
    await this.#own.beginTransaction(watched.own, settings)
    watched.changes = new Changes()
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    if (connection instanceof Within) return connection.release()
    const watched = watchedOf(connection)
    const recording = watched.changes?.changed === true ? recordingNow() : null
    if (recording !== null && watched.changes !== null) await watched.write(recording, watched.changes)
    await this.#own.commitTransaction(watched.own)
    watched.changes = null
    if (recording !== null) recording.done = true
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (connection instanceof Within) return connection.takeBack()
    const watched = watchedOf(connection)
    watched.changes = null
    try {
      await this.#own.rollbackTransaction(watched.own)
    } catch (error) {
      // With its connection the transaction is gone as well; what ended it is what has to be told.
      if (!isConnectionError(error)) throw error
    }
  }
}

function watchedOf(connection: DatabaseConnection): Watched {
  if (connection instanceof Watched) return connection
  throw new Error('a connection of another driver')
}

/** PostgreSQL, with what has to be written down about a change in that change's transaction. */
export class RecordingDialect extends PostgresDialect {
  override createDriver(): Driver {
    return new RecordingDriver(super.createDriver())
  }
}
