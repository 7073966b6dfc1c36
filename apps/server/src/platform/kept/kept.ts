import type { Readable } from 'node:stream'
import type { KeptOrder, KeptState, KeptWanted, KeptWish } from '@zhisuan/contract/agent/kept'
import type { Kind } from '@zhisuan/contract/kind'
import type { Sql, Tx } from '../db/database.ts'
import type { Refusal } from '../errors.ts'
import type { OperationStep, StepContext } from '../operations.ts'
import type { Tunnel } from '../tunnel/tunnel.ts'

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

/**
 * `installing`, `changing`, `uninstalling`: an operation is at it. `starting`: it runs, and is not asked yet whether it is well.
 * `crashed`: it ended by itself, or could not be started; where it is started again that is said. `unreachable`: its node is
 * not there, so nobody knows. `failed`: the operation that was to bring it has failed, and nothing more is tried.
 */
export const keptStatuses = [
  'installing',
  'changing',
  'starting',
  'running',
  'unhealthy',
  'stopped',
  'crashed',
  'unreachable',
  'uninstalling',
  'failed',
] as const
export type KeptStatus = (typeof keptStatuses)[number]

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
  /** Counts changes of what is wanted. */
  readonly revision: number
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
  /** What is wanted of it, with its secrets. */
  wanted(on: Sql, id: string): Promise<KeptWish>
  /** Asks its node now, and records that. @throws Refusal where the node is not there */
  look(id: string): Promise<KeptProgram>
  /** The last lines of what it said, and with `follow` what it says from then on; the reader ends it. @throws Refusal where the node is not there */
  log(id: string, options: { readonly tail: number; readonly follow: boolean; readonly signal: AbortSignal }): Promise<Readable>
  /** Told by the server that noticed that one is otherwise than it was, after it was recorded. */
  onChange(told: (program: KeptProgram, before: KeptStatus) => void): void
}
