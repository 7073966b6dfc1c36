import { EngineError, isEngineError } from '@zhisuan/engines/errors'
import type { z } from 'zod'
import type { Tx } from './db/database.ts'
import type { Refusal } from './errors.ts'
import type { Platform } from './platform.ts'

/**
 * Something outside that an administrator registers, such as a cloud: how it is reached is sealed, tried before it is
 * kept, opened once for all who use it, and looked at again and again. What it is, its kind says.
 */
export interface EndpointRow {
  readonly id: string
  /** Stands in the errors of what is opened, so another name opens it anew. */
  readonly name: string
  /** The whole connection with its secrets, as {@link Endpoints.seal} made it. */
  readonly connection: string
  readonly checked_at: Date | null
}

/** A part that answers for itself, such as a service of a cloud, as a look found it. */
export interface EndpointPart {
  /** What operators call it. */
  readonly label: string
  /** Without it the whole is of no use. */
  readonly required: boolean
  readonly state: 'works' | 'missing' | 'failed'
  /** What to tell people of a failure, and the endpoint's own words. */
  readonly problem: { readonly message: string; readonly words: string; readonly request_id: string | null } | null
}

/** What a look found; a kind adds what else it keeps of it. An endpoint that is one piece has no parts. */
export interface EndpointLook {
  readonly parts: readonly EndpointPart[]
}

/** How the last look went. */
export interface EndpointHealth {
  readonly health: 'reachable' | 'degraded' | 'unreachable' | 'unauthorised'
  /** Which parts failed and how, or how the whole did. */
  readonly health_message: string | null
  readonly checked_at: Date
}

/** Which required parts failed, in a line, and the endpoint's own words about that. */
export interface FailedParts {
  readonly parts: string
  readonly words: string
}

/** What is a kind's own. */
export interface EndpointKind<Row extends EndpointRow, Connection, Opened, Look extends EndpointLook> {
  /** By which servers tell each other that one was registered, changed or removed; its payload is the id. */
  readonly topic: string
  /** Table and column of the sealed connection: what is sealed for one row opens as no other's. */
  readonly column: string
  readonly connection: z.ZodType<Connection>
  readonly rows: {
    /** Those that are looked at. */
    looked(): Promise<readonly Row[]>
    get(id: string): Promise<Row | undefined>
    /**
     * Keeps what a look found, `look` null where none answered: what was known then stays. Nothing of a row whose
     * connection has changed meanwhile.
     */
    record(row: Row, health: EndpointHealth, look: Look | null): Promise<Row | undefined>
  }
  /**
   * Makes what reaches it. Nothing is asked yet.
   * @param of.id null of one that is only tried
   */
  open(connection: Connection, of: { readonly id: string | null; readonly name: string }): Opened
  close(opened: Opened): Promise<void>
  /**
   * Asks each of its parts, at once.
   * @param how.before what is registered; null of one that is only tried
   * @param how.limitMs for each part
   */
  look(opened: Opened, how: { readonly before: Row | null; readonly limitMs: number; readonly signal: AbortSignal }): Promise<Look>
  /** Why one that was tried does not let us in, at the field that is to be changed. Whatever else went wrong as it is. */
  explain?(error: unknown, connection: Connection, name: string): Promise<unknown>
  /** Why one that is looked at is not reached, for people; left out: in the endpoint's own words. */
  tell?(error: unknown): Promise<string>
  /** That parts fail without which it is not kept. */
  incomplete(name: string, failed: FailedParts): Refusal
}

/** How often each is looked at, and how long a part of a look, or of a try, may take. Tries end within the time of a request. */
const usualTimes = { everyMs: 15_000, lookMs: 20_000, tryMs: 25_000, graceMs: 5_000 }

export type Endpoints<Row extends EndpointRow, Connection, Opened, Look extends EndpointLook> = ReturnType<
  typeof createEndpoints<Row, Connection, Opened, Look>
>

/** Endpoints of one kind. */
export function createEndpoints<Row extends EndpointRow, Connection, Opened, Look extends EndpointLook>(
  { bus, log, now, secrets }: Pick<Platform, 'bus' | 'log' | 'now' | 'secrets'>,
  kind: EndpointKind<Row, Connection, Opened, Look>,
  times: typeof usualTimes = usualTimes,
) {
  const inUse = new Map<string, { as: string; opened: Opened }>()
  const watchers = new Set<() => void>()
  const stopping = new AbortController()
  let loop: NodeJS.Timeout | undefined
  let unsubscribe = (): void => undefined

  const placeOf = (id: string): string => `${kind.column}:${id}`
  const openedAs = (row: Row): string => `${row.connection} ${row.name}`
  /** @throws where it was sealed for another row, or with another key */
  const connectionOf = (row: Row): Connection => kind.connection.parse(JSON.parse(secrets.open(row.connection, placeOf(row.id))))

  /** A look that does not keep to its limit is given up a little later. */
  const within = async (limitMs: number, look: (signal: AbortSignal) => Promise<Look>): Promise<Look> => {
    const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(limitMs + times.graceMs)])
    const givenUp = new Promise<never>((_, reject) => {
      const giveUp = () => reject(new EngineError('unreachable', `no answer within ${limitMs + times.graceMs} ms`, { cause: signal.reason }))
      signal.addEventListener('abort', giveUp, { once: true })
    })
    return Promise.race([look(signal), givenUp])
  }

  const healthOf = ({ parts }: EndpointLook): EndpointHealth => ({ ...healthOfParts(parts), checked_at: now() })
  const failureOf = async (error: unknown): Promise<EndpointHealth> => ({
    health: isEngineError(error, 'unauthorized') ? 'unauthorised' : 'unreachable',
    health_message: (await kind.tell?.(error)) ?? (error instanceof Error ? error.message.slice(0, 500) : 'unknown'),
    checked_at: now(),
  })

  const close = async (id: string): Promise<void> => {
    const known = inUse.get(id)
    inUse.delete(id)
    if (known !== undefined) await kind.close(known.opened)
  }
  const opened = (row: Row): Opened => {
    const as = openedAs(row)
    const known = inUse.get(row.id)
    if (known?.as === as) return known.opened
    if (known !== undefined) void close(row.id)
    const anew = kind.open(connectionOf(row), row)
    inUse.set(row.id, { as, opened: anew })
    return anew
  }

  /** Looks at it and keeps what was found, or how that failed. */
  const refresh = async (row: Row): Promise<Row | undefined> => {
    try {
      const looked = await within(times.lookMs, async (signal) => kind.look(opened(row), { before: row, limitMs: times.lookMs, signal }))
      return await kind.rows.record(row, healthOf(looked), looked)
    } catch (error) {
      return stopping.signal.aborted ? row : kind.rows.record(row, await failureOf(error), null)
    }
  }
  const refreshAll = async (): Promise<void> => {
    try {
      // What another server has just looked at is as good.
      const due = (await kind.rows.looked()).filter(({ checked_at }) => checked_at === null || now().getTime() - checked_at.getTime() >= times.everyMs * 0.8)
      // At once: one that keeps us waiting does not make the others look old.
      await Promise.all(due.map(refresh))
    } catch (error) {
      log.error({ err: error, kind: kind.column }, 'looking at endpoints')
    }
    if (!stopping.signal.aborted) loop = setTimeout(() => void refreshAll(), times.everyMs).unref()
  }

  /** Closed where it went, or is reached otherwise now; the next use opens it anew. */
  const changed = async (ids: Iterable<string>): Promise<void> => {
    for (const id of ids) {
      try {
        const row = await kind.rows.get(id)
        const known = inUse.get(id)
        if (known !== undefined && (row === undefined || openedAs(row) !== known.as)) await close(id)
      } catch (error) {
        log.warn({ err: error, kind: kind.column, id }, 'closing an endpoint that changed')
      }
    }
    for (const watcher of watchers) watcher()
  }

  /** Opens one that is not kept, looks at it, closes it. */
  const attempt = async (connection: Connection, name: string): Promise<Look> => {
    const tried = kind.open(connection, { id: null, name })
    try {
      return await within(times.tryMs, (signal) => kind.look(tried, { before: null, limitMs: times.tryMs, signal }))
    } catch (error) {
      throw (await kind.explain?.(error, connection, name)) ?? error
    } finally {
      await kind.close(tried)
    }
  }

  return {
    connectionOf,
    /** For the row of that id, and no other. */
    seal: (id: string, connection: Connection): string => secrets.seal(JSON.stringify(connection), placeOf(id)),
    /** What reaches it: one for all who ask, until the connection changes. */
    opened,
    healthOf,
    refresh,
    try: attempt,
    /** The same of one that is to be kept. @throws what the kind says of one that is `incomplete` */
    async tryToKeep(connection: Connection, name: string): Promise<Look> {
      const look = await attempt(connection, name)
      refuseIncomplete(look.parts, (failed) => kind.incomplete(name, failed))
      return look
    },
    /** Tells all servers, once the transaction commits, that one was registered, changed or removed. */
    tell: (tx: Tx, id: string): Promise<void> => bus.publish(tx, kind.topic, id),
    /** Told when one was registered, changed or removed, by whichever server. */
    onChange(told: () => void): void {
      watchers.add(told)
    },
    start(): void {
      unsubscribe = bus.subscribe(
        kind.topic,
        (id) => void changed([id]),
        // Which changed while messages were lost, nobody says.
        () => void changed([...inUse.keys()]),
      )
      void refreshAll()
    },
    async stop(): Promise<void> {
      clearTimeout(loop)
      stopping.abort()
      unsubscribe()
      await Promise.all([...inUse.keys()].map(close))
    },
  }
}

/** `degraded` where a part fails or a required one is missing; what is merely missing is no fault. */
export function healthOfParts(parts: readonly EndpointPart[]): Pick<EndpointHealth, 'health' | 'health_message'> {
  const broken = parts.filter(({ required, state }) => state === 'failed' || (required && state === 'missing'))
  return broken.length === 0 ? { health: 'reachable', health_message: null } : { health: 'degraded', health_message: told(broken).slice(0, 500) }
}

/** @throws what is made of the required parts that fail or are missing */
export function refuseIncomplete(parts: readonly EndpointPart[], refusal: (failed: FailedParts) => Refusal): void {
  const broken = parts.filter(({ required, state }) => required && state !== 'works')
  if (broken.length > 0) throw refusal({ parts: told(broken), words: broken.flatMap(({ problem }) => problem?.words ?? []).join('\n') })
}

/** Which parts failed and how, in a line. */
const told = (parts: readonly EndpointPart[]): string =>
  parts.map(({ label, problem }) => (problem === null ? label : `${label}（${problem.message}，${problem.request_id ?? ''}）`)).join('、')
