/**
 * What can go wrong with an engine, as few kinds as a caller can act on. Every engine client
 * throws this and nothing else; what the engine itself said stays in `message` for operators and
 * must not be shown to tenants.
 */
export type EngineErrorKind =
  | 'unreachable' // no connection, connection cut, timeout: try again later
  | 'unanswered' // a change was sent, and what became of it was not told: it may have happened
  | 'unauthorized' // the engine refuses our credentials or certificate
  | 'not_found' // the object does not exist on the engine
  | 'conflict' // the name is taken by an object that is not ours
  | 'busy' // another operation holds the object
  | 'invalid' // the engine refuses the request as wrong
  | 'unsupported' // this engine or host cannot do that at all
  | 'exhausted' // out of disk, memory, addresses
  | 'failed' // the engine tried and failed
  | 'bad_answer' // the engine answered something that its API does not promise
  | 'cancelled' // our AbortSignal, or the operation was cancelled on the engine

export class EngineError extends Error {
  readonly kind: EngineErrorKind
  /** The HTTP status of the engine's answer, where there was one. */
  readonly status: number | undefined

  constructor(kind: EngineErrorKind, message: string, options: { cause?: unknown; status?: number } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'EngineError'
    this.kind = kind
    this.status = options.status
  }
}

export const isEngineError = (error: unknown, ...kinds: EngineErrorKind[]): error is EngineError =>
  error instanceof EngineError && (kinds.length === 0 || kinds.includes(error.kind))
