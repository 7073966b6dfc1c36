import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { keptState, keptWanted, type KeptOrder, type KeptState, type KeptWanted, type KeptWish } from '@zhisuan/contract/agent/kept'
import type { Kind } from '@zhisuan/contract/kind'
import type { Sql, Tx } from '../db/database.ts'
import { found, Refusal } from '../errors.ts'
import type { ModuleParts } from '../module.ts'
import type { OperationStep, StepContext } from '../operations.ts'
import type { Platform } from '../platform.ts'
import type { Tunnel } from '../tunnel/tunnel.ts'
import * as node from './kept.node.ts'
import { statusOf } from './kept.shape.ts'
import { createKeptSteps } from './kept.steps.ts'
import * as store from './kept.store.ts'
import { keptMigrations, type KeptRow, type KeptStatus } from './kept.store.ts'
import { createKeptWatch, usualTimes, type KeptTimes } from './kept.watch.ts'

const linesMs = 15_000
const linesMostCharacters = 500_000

/**
 * What the platform runs on nodes for itself, kept there by their agents: whatever program it is, it is wanted, placed,
 * started, healthy, changed with a way back, and taken away without a rest. A row says what is wanted and whose it is; what
 * is there the node is asked, when it comes and every 15 seconds. Modules put the steps into operations of their own things.
 *
 * @example
 * const create: OperationDefinition<Input> = {
 *   kind: 'ims.registry.create', input,
 *   steps: [...kept.steps.install<Input>(({ input }) => input.kept_id), { name: 'register', … }],
 *   undo: kept.undoInstall<Input>(({ resource_id }) => keptOf(resource_id)),
 *   ended: (tx, { resource_id }, refusal) => kept.settle(tx, await keptOf(resource_id), refusal),
 * }
 */

/** The ways to nodes, handed over by whoever knows them. */
export interface KeptNodes {
  /** @throws Refusal where there is none of that id, or it is not connected to this server */
  reach(nodeId: string): Promise<{ readonly name: string; readonly tunnel: Tunnel }>
  /** The way to a node that is connected to this server; null where it is not. */
  connected(nodeId: string): Tunnel | null
  /** Told at each connection of a node. */
  onUp(told: (tunnel: Tunnel) => void): void
  /**
   * Long work there: waits for the node, and begins again where the way to it breaks. So what it does has to be idempotent.
   * @throws Refusal that says what went wrong on the node
   */
  work<T>(nodeId: string, signal: AbortSignal, act: (node: { readonly name: string; readonly tunnel: Tunnel }) => Promise<T>): Promise<T>
}

/** Whose it is: a thing of a module. */
export interface KeptOwner {
  readonly kind: Kind
  readonly id: string
}

export interface KeptProgram {
  readonly id: string
  readonly node_id: string
  readonly owner: KeptOwner
  readonly name: string
  readonly status: KeptStatus
  /** Why it is not well, in the words of its node; null where it is. */
  readonly reason: string | null
  readonly wanted_version: string | null
  /** What its program says of itself. */
  readonly program_version: string | null
  /** The last answer of its node; null before the first. */
  readonly observed: KeptState | null
  readonly observed_at: Date | null
  readonly created_at: Date
}

/** Which of the kept programs a step is about. */
export type KeptOf<Input> = (context: StepContext<Input>) => string | Promise<string>

export interface KeptStepOptions<Input> {
  /** So long it may take to become healthy; of a change, before the one before comes back. Default: a minute. */
  readonly healthyWithinMs?: number
  /** For the pull of an image; kept nowhere. */
  readonly registryAuth?: (context: StepContext<Input>) => Promise<NonNullable<KeptOrder['registry_auth']> | null>
}

/** Steps of operations; each may be run again, and then changes nothing. */
export interface KeptSteps {
  /** `preflight`, `place`, `start`, `healthy`. */
  install<Input>(of: KeptOf<Input>, options?: KeptStepOptions<Input>): OperationStep<Input>[]
  /** The same of another wanted state, {@link Kept.change}: `preflight`, `place`, `switch`, `healthy`. Where it does not come to that the one before runs again, and the step fails with why. */
  change<Input>(of: KeptOf<Input>, options?: KeptStepOptions<Input>): OperationStep<Input>[]
  /** `start`, `healthy`. */
  start<Input>(of: KeptOf<Input>, options?: KeptStepOptions<Input>): OperationStep<Input>[]
  /** `stop`. */
  stop<Input>(of: KeptOf<Input>): OperationStep<Input>[]
  /** `restart`, `healthy`. */
  restart<Input>(of: KeptOf<Input>, options?: KeptStepOptions<Input>): OperationStep<Input>[]
  /** `reload`: by its signal; nothing is interrupted. */
  reload<Input>(of: KeptOf<Input>): OperationStep<Input>[]
  /** `uninstall`: processes, ports, files; data too only where that is asked for. */
  uninstall<Input>(of: KeptOf<Input>, options: { readonly data: boolean }): OperationStep<Input>[]
}

export interface Kept {
  /**
   * Records a program that is to be, in the transaction that begins the operation with {@link KeptSteps.install}. It is `installing`.
   * @param program.id that of the owner may be taken, where it has one program only
   */
  want(tx: Tx, program: { readonly id: string; readonly node_id: string; readonly owner: KeptOwner; readonly wanted: KeptWanted }): Promise<void>
  /** Records what it is to become, in the transaction that begins the operation with {@link KeptSteps.change}. It is `changing`. */
  change(tx: Tx, id: string, wanted: KeptWanted): Promise<void>
  /** Records that it is to go, in the transaction that begins the operation with {@link KeptSteps.uninstall}. */
  leave(tx: Tx, id: string): Promise<void>
  /**
   * Records what became of it, in `ended` of every operation that has any of the steps. What was changed is what is wanted from then
   * on, or no more; what was uninstalled is forgotten.
   */
  settle(tx: Tx, id: string, refusal: Refusal | null): Promise<void>
  /** Forgets one whose node is gone for good. Should the node come back, what it has of it is taken away, its data not. */
  abandon(tx: Tx, id: string): Promise<void>
  readonly steps: KeptSteps
  /** For `undo` of an operation that installs: takes away all that is there of it, its data too where it was made for it. */
  undoInstall<Input>(of: KeptOf<Input>): (context: StepContext<Input>) => Promise<void>
  get(on: Sql, id: string): Promise<KeptProgram | undefined>
  ofOwner(on: Sql, owner: KeptOwner): Promise<KeptProgram[]>
  ofNode(on: Sql, nodeId: string): Promise<KeptProgram[]>
  /** How many each of them has; nodes without any are left out. */
  count(on: Sql, nodeIds: readonly string[]): Promise<ReadonlyMap<string, number>>
  /** What is wanted of it, with its secrets. */
  wanted(on: Sql, id: string): Promise<KeptWish>
  /** Asks its node now, and records that. @throws Refusal where the node is not there */
  look(id: string): Promise<KeptProgram>
  /** The last lines of what it said, and with `follow` what it says from then on; the reader ends it. @throws Refusal where the node is not there */
  log(id: string, options: { readonly tail: number; readonly follow: boolean; readonly signal: AbortSignal }): Promise<Readable>
  /** The last lines of it, as a text of bounded length. */
  lastLines(id: string, lines: number): Promise<string>
  /** Told by the server that noticed that one is otherwise than it was, after it was recorded. */
  onChange(told: (program: KeptProgram, before: KeptStatus) => void): void
}

/** What it is to become is forgotten. */
const nothingNext = { next: null, next_digest: null, next_version: null, next_bundle: null } as const

const placeOf = (column: 'wanted' | 'next' | 'reason' | 'observed', id: string): string => `kept_programs.${column}:${id}`

/** @param times for tests */
export function createKept(
  platform: Pick<Platform, 'db' | 'log' | 'secrets'>,
  nodes: KeptNodes,
  times: KeptTimes = usualTimes,
): ModuleParts & { readonly kept: Kept } {
  const { db, log, secrets } = platform
  const told: ((program: KeptProgram, before: KeptStatus) => void)[] = []

  const seal = (column: Parameters<typeof placeOf>[0], id: string, text: string | null): string | null =>
    text === null ? null : secrets.seal(text, placeOf(column, id))
  /** Null also for what another key sealed. */
  const open = (
    column: Parameters<typeof placeOf>[0],
    { id, [column]: sealed }: Pick<KeptRow, 'id' | 'wanted' | 'next' | 'reason' | 'observed'>,
  ): string | null => {
    try {
      return sealed === null ? null : secrets.open(sealed, placeOf(column, id))
    } catch {
      return null
    }
  }
  const observedOf = (row: KeptRow): KeptState | null => {
    const text = open('observed', row)
    return text === null ? null : (keptState.safeParse(JSON.parse(text)).data ?? null)
  }
  /** Read here, so that nothing is recorded that no agent understands. */
  const written = (id: string, column: 'wanted' | 'next', wanted: KeptWanted) => {
    const { name, version, program } = keptWanted.parse(wanted)
    const bundle = program.kind === 'bundle' ? program.sha256 : null
    const text = JSON.stringify(wanted)
    return { name, version, bundle, sealed: secrets.seal(text, placeOf(column, id)), digest: createHash('sha256').update(text).digest('hex') }
  }
  const textOf = (row: KeptRow): { text: string; digest: string } => {
    if (row.next !== null && row.next_digest !== null) return { text: secrets.open(row.next, placeOf('next', row.id)), digest: row.next_digest }
    return { text: secrets.open(row.wanted, placeOf('wanted', row.id)), digest: row.digest }
  }
  const shape = (row: KeptRow): KeptProgram => {
    const observed = observedOf(row)
    return {
      id: row.id,
      node_id: row.node_id,
      owner: { kind: row.owner_kind, id: row.owner_id },
      name: row.name,
      status: row.status,
      reason: open('reason', row),
      wanted_version: row.wanted_version,
      program_version: observed?.program_version ?? null,
      observed,
      observed_at: row.observed_at,
      created_at: row.created_at,
    }
  }
  const changed = (row: KeptRow, before: KeptStatus): void => {
    for (const tell of told) tell(shape(row), before)
  }

  const sealSeen = (id: string, state: KeptState | null): string | null => seal('observed', id, state === null ? null : JSON.stringify(state))
  const parts = createKeptSteps({ db, nodes, textOf, sealSeen })
  const watch = createKeptWatch(
    { db, log },
    {
      nodes,
      steps: parts,
      seal: ({ id }, reason, state) => ({ reason: seal('reason', id, reason), observed: sealSeen(id, state) }),
      changed,
      times,
    },
  )
  const locked = async (tx: Tx, id: string): Promise<KeptRow> => found(await store.lockKept(tx, id))
  const isBusy = ({ status }: KeptRow): boolean => status === 'installing' || status === 'changing' || status === 'uninstalling'

  const logOf: Kept['log'] = async (id, options) => {
    const row = found(await store.getKept(db, id))
    const { tunnel } = await nodes.reach(row.node_id)
    return found(await node.log(tunnel, id, options))
  }
  const kept: Kept = {
    async want(tx, { id, node_id, owner, wanted }) {
      const { name, version, bundle, sealed, digest } = written(id, 'wanted', wanted)
      await store.insertKept(tx, {
        id,
        node_id,
        owner_kind: owner.kind,
        owner_id: owner.id,
        name,
        wanted: sealed,
        digest,
        wanted_version: version,
        bundle,
        next: null,
        next_digest: null,
        next_version: null,
        next_bundle: null,
        status: 'installing',
        reason: null,
        observed: null,
        observed_at: null,
        brought_at: null,
      })
    },
    async change(tx, id, wanted) {
      const row = await locked(tx, id)
      if (isBusy(row) || row.abandoned) throw new Refusal('operationRunning')
      const { version, bundle, sealed, digest } = written(id, 'next', wanted)
      await store.updateKept(tx, id, { next: sealed, next_digest: digest, next_version: version, next_bundle: bundle, status: 'changing', reason: null })
    },
    async leave(tx, id) {
      const row = await locked(tx, id)
      if (row.status === 'uninstalling') return
      await store.updateKept(tx, id, { status: 'uninstalling', reason: null, ...nothingNext })
    },
    async settle(tx, id, refusal) {
      // It may be gone already: this is told once more, of late success.
      const row = await store.lockKept(tx, id)
      if (row === undefined || row.abandoned) return
      if (row.status === 'uninstalling' && refusal === null) return store.removeKept(tx, id)
      const failed = refusal !== null && (row.status === 'uninstalling' || row.status === 'installing' || row.status === 'failed')
      if (failed) return store.updateKept(tx, id, { status: 'failed', reason: seal('reason', id, refusal.detail ?? refusal.message) })
      const { status, reason } = statusOf(observedOf(row))
      const next =
        row.next === null || row.next_digest === null || refusal !== null
          ? {}
          : // Sealed for its place.
            {
              wanted: secrets.seal(secrets.open(row.next, placeOf('next', id)), placeOf('wanted', id)),
              digest: row.next_digest,
              wanted_version: row.next_version,
              bundle: row.next_bundle,
            }
      await store.updateKept(tx, id, {
        ...next,
        ...nothingNext,
        status,
        reason: seal('reason', id, reason),
        brought_at: null,
      })
    },
    async abandon(tx, id) {
      await locked(tx, id)
      await store.updateKept(tx, id, { abandoned: true, status: 'uninstalling', reason: null, brought_at: null })
    },
    steps: parts.steps,
    undoInstall: (of) => async (context) => parts.remove(await of(context), context.signal, true),
    async get(on, id) {
      const row = await store.getKept(on, id)
      return row === undefined || row.abandoned ? undefined : shape(row)
    },
    ofOwner: async (on, owner) => (await store.keptOfOwner(on, owner.kind, owner.id)).map(shape),
    ofNode: async (on, nodeId) => (await store.keptOfNode(on, nodeId)).filter(({ abandoned }) => !abandoned).map(shape),
    count: store.countKept,
    wanted: async (on, id) => keptWanted.parse(JSON.parse(textOf(found(await store.getKept(on, id))).text)),
    async look(id) {
      const row = found(await store.getKept(db, id))
      const { tunnel } = await nodes.reach(row.node_id)
      const state = await node.get(tunnel, id)
      if (isBusy(row)) await store.noteKept(db, id, sealSeen(id, state))
      else await watch.record(row, state)
      return shape(found(await store.getKept(db, id)))
    },
    log: logOf,
    lastLines: async (id, lines) =>
      (await text(await logOf(id, { tail: lines, follow: false, signal: AbortSignal.timeout(linesMs) }))).slice(-linesMostCharacters),
    onChange: (tell) => void told.push(tell),
  }
  return {
    kept,
    migrations: keptMigrations,
    handlers: [],
    start: async () => watch.start(),
    stop: watch.stop,
  }
}
