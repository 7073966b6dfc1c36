import type { PrepaidType } from '@zhisuan/contract/bill/order'
import type { Call } from '@zhisuan/contract/define'
import type { Actor, Scope } from '../../../platform/auth/actor.ts'
import type { Sql, Tx } from '../../../platform/db/database.ts'

/** A resource as far as an order has to know it. */
export interface SoldResource {
  id: string
  name: string
  /** Null: nobody's, so nobody pays. */
  bp_id: string | null
  /** All that it may use, running: quantities by `meter` or `meter/variant`. */
  usage: Readonly<Record<string, number>>
  state: 'coming' | 'there' | 'broken'
  /** What went wrong with one that is broken, for people. */
  error: string | null
}

/** A kind of resource that can be ordered, told by the module that makes it. */
export interface Sold {
  /** The call that makes it: what an order of a new one holds is its body. */
  readonly call: Call
  /**
   * Makes it as the call does, with all that holds there.
   * @param recorded in the transaction that makes it: where it throws, nothing was made
   */
  make(actor: Actor, body: unknown, recorded: (tx: Tx, made: readonly SoldResource[]) => Promise<void>): Promise<void>
  find(on: Sql, scope: Scope, id: string): Promise<SoldResource | undefined>
}
export type SoldKinds = Readonly<Record<PrepaidType, Sold>>
