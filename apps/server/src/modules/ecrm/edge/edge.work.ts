import { setTimeout as sleep } from 'node:timers/promises'
import { isEngineError } from '@zhisuan/engines/errors'
import { platformScope } from '../../../platform/auth/actor.ts'
import { Refusal } from '../../../platform/errors.ts'
import { isAgentError } from '../../../platform/tunnel/tunnel.ts'
import type { EdgeReach, ReachedEdge } from './edge.reach.ts'
import { refusedByNode } from './edge.refusals.ts'

export type WorkOnNode = typeof workOnNode

/** An agent whose server was started anew, or whose line was cut, is back by then; so is a Docker that was started anew. */
const patienceMs = 60_000
const lookEveryMs = 250
/** A line that breaks again and again is tried so often, however long it takes. */
const tries = 5

/**
 * Long work on a node, for operations: waits for the node to be connected and its Docker to run, and
 * begins again where one of both breaks in the middle. So what it does has to be idempotent.
 * @param image that it is about, where it is about one
 * @throws Refusal that says what went wrong on the node
 */
export async function workOnNode<T>(
  reach: EdgeReach['reach'],
  edgeId: string,
  signal: AbortSignal,
  work: (edge: ReachedEdge) => Promise<T>,
  image?: string,
): Promise<T> {
  let until: number | null = null
  // A change was sent, and nobody told what became of it: that nobody is there later says nothing of it.
  let unknown = false
  for (let left = tries; ; left--) {
    const edge = await connected(reach, edgeId, signal).catch((error: unknown) => {
      throw unknown && !signal.aborted ? new Refusal('outcomeUnknown', { cause: error }) : error
    })
    try {
      return await work(edge)
    } catch (error) {
      signal.throwIfAborted()
      until ??= Date.now() + patienceMs
      unknown ||= isUnanswered(error)
      if (!brokeOff(error)) throw refusedByNode(error, edge.row, image)
      if (left <= 1 && Date.now() > until) throw unknown ? new Refusal('outcomeUnknown', { cause: error }) : refusedByNode(error, edge.row, image)
      await sleep(lookEveryMs * 2 ** Math.min(3, tries - left), undefined, { signal })
    }
  }
}

/** The way was cut, or the node is doing something else with it; not: it was refused. */
const brokeOff = (error: unknown): boolean => isUnanswered(error) || isAgentError(error, 'offline') || isEngineError(error, 'unreachable', 'busy')
const isUnanswered = (error: unknown): boolean => isAgentError(error, 'unanswered') || isEngineError(error, 'unanswered')

async function connected(reach: EdgeReach['reach'], edgeId: string, signal: AbortSignal): Promise<ReachedEdge> {
  const until = Date.now() + patienceMs
  for (;;) {
    try {
      return await reach(platformScope, edgeId)
    } catch (error) {
      if (!(error instanceof Refusal) || error.refusal !== 'edgeOffline' || Date.now() > until) throw error
    }
    await sleep(lookEveryMs, undefined, { signal })
  }
}
