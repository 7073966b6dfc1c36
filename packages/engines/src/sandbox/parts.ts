import type { CallOptions, ObjectKind } from '../compute.ts'

/** What the parts of the sandbox share. */
export interface Parts {
  /** Where journals are kept; null keeps them in memory. */
  directory: string | null
  /** Every call that reads comes in here, and can be cancelled. */
  enter(call?: CallOptions): Promise<void>
  /** Every call that changes something; takes as long as was asked for. */
  work(call?: CallOptions): Promise<void>
  /** Tells who listens. */
  tell(kind: ObjectKind, name: string, action: string, within?: string | null): void
}
