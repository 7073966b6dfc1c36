import type { KeptState } from '@zhisuan/contract/agent/kept'
import { isConnectionError } from '../db/connections.ts'
import { createOneAtATime } from '../oneAtATime.ts'
import type { Platform } from '../platform.ts'
import type { Tunnel } from '../tunnel/tunnel.ts'
import * as node from './kept.node.ts'
import type { KeptNodes } from './kept.ts'
import { statusOf } from './kept.shape.ts'
import type { createKeptSteps } from './kept.steps.ts'
import * as store from './kept.store.ts'
import { settledStatuses, type KeptRow, type KeptStatus } from './kept.store.ts'

export const usualTimes = {
  everyMs: 15_000,
  /** Of which nobody has heard for so long is unreachable. */
  silentMs: 40_000,
  /** What could not be brought to what is wanted is tried again. */
  againMs: 120_000,
  healthyMs: 120_000,
}
export type KeptTimes = typeof usualTimes

interface WatchParts {
  readonly nodes: Pick<KeptNodes, 'connected' | 'onUp'>
  readonly steps: Pick<ReturnType<typeof createKeptSteps>, 'place' | 'apply' | 'decided' | 'remove'>
  readonly seal: (row: Pick<KeptRow, 'id'>, reason: string | null, state: KeptState | null) => Pick<KeptRow, 'reason' | 'observed'>
  readonly changed: (row: KeptRow, before: KeptStatus) => void
  readonly times: KeptTimes
}

/** Asks nodes what is there, when they come and again and again; records it; and closes the difference to what is wanted. */
export function createKeptWatch({ db, log }: Pick<Platform, 'db' | 'log'>, { nodes, steps, seal, changed, times }: WatchParts) {
  const stopping = new AbortController()
  const inTurn = createOneAtATime()
  const bringing = new Map<string, Promise<void>>()
  let timer: NodeJS.Timeout | undefined
  let startedAt = Date.now()

  const isSettled = ({ status }: KeptRow): boolean => (settledStatuses as readonly KeptStatus[]).includes(status)

  /** Writes down what is so of one, and tells who wants to know. */
  const record = async (row: KeptRow, state: KeptState | null): Promise<void> => {
    const { status, reason } = statusOf(state)
    const seen = { status, ...seal(row, reason, state) }
    if ((await store.recordKept(db, row, seen)) && status !== row.status) changed({ ...row, ...seen, observed_at: new Date() }, row.status)
  }

  /** Brings it to what its row wants: it was changed on its node, or while that was away. */
  const bring = async (row: KeptRow, tunnel: Tunnel, state: KeptState | null): Promise<void> => {
    const { signal } = stopping
    if (row.abandoned) return steps.remove(row.id, signal, false)
    if (state?.digest === row.digest) {
      if (state.to_run !== row.to_run) await node.act(tunnel, row.id, { action: row.to_run ? 'start' : 'stop' }, signal)
      return
    }
    // It is being tried, or on its way there.
    if (state?.applied?.result === 'trying' || state?.removing === true) return
    log.warn({ kept: row.id, node: row.node_id }, 'what a node keeps is otherwise than wanted')
    await steps.place(row.id, signal, null)
    if (!row.to_run) return
    await steps.apply(row.id, signal, times.healthyMs)
    await steps.decided(row.id, signal, times.healthyMs)
  }
  const differs = (row: KeptRow, state: KeptState | null): boolean =>
    row.abandoned || state === null || state.digest !== row.digest || (state.to_run !== row.to_run && !state.removing)

  const beginToBring = async (row: KeptRow, tunnel: Tunnel, state: KeptState | null): Promise<void> => {
    if (bringing.has(row.id) || !(await store.claimBringing(db, row, times.againMs))) return
    const work = bring(row, tunnel, state)
      .then(async () => {
        if (row.abandoned) await store.removeKept(db, row.id)
        else void look(row.node_id)
      })
      .catch((error: unknown) => {
        if (!stopping.signal.aborted) log.warn({ err: error, kept: row.id }, 'bringing what a node keeps to what is wanted')
      })
      .finally(() => bringing.delete(row.id))
    bringing.set(row.id, work)
  }

  const lookNow = async (nodeId: string): Promise<void> => {
    const tunnel = nodes.connected(nodeId)
    if (tunnel === null) return
    const rows = (await store.keptOfNode(db, nodeId)).filter((row) => isSettled(row) || row.abandoned)
    if (rows.length === 0) return
    const states = new Map((await node.list(tunnel, stopping.signal)).map((state) => [state.id, state]))
    for (const row of rows) {
      let state = states.get(row.id) ?? null
      // What it said last is told of it alone.
      if (state !== null && statusOf(state).reason !== null) state = await node.get(tunnel, row.id, stopping.signal)
      if (!row.abandoned) await record(row, state)
      if (differs(row, state)) await beginToBring(row, tunnel, state)
    }
  }
  /** Of one node one after the other. */
  const look = (nodeId: string): Promise<void> =>
    inTurn(nodeId, () => lookNow(nodeId)).catch((error: unknown) => {
      if (!stopping.signal.aborted && !isConnectionError(error)) log.debug({ err: error, node: nodeId }, 'what a node keeps')
    })

  const lookAtAll = async (): Promise<void> => {
    try {
      await Promise.all((await store.nodesWithKept(db)).map(look))
      // A server that has only begun has heard of nobody.
      if (Date.now() - startedAt > times.silentMs)
        for (const row of await store.loseKept(db, times.silentMs)) changed({ ...row, status: 'unreachable', reason: null }, row.status)
    } catch (error) {
      if (!isConnectionError(error)) log.warn({ err: error }, 'what nodes keep')
    }
    if (!stopping.signal.aborted) timer = setTimeout(() => void lookAtAll(), times.everyMs).unref()
  }
  nodes.onUp(({ edgeId }) => void look(edgeId))

  return {
    record,
    /** What is there, as it is written down when this has ended. */
    look,
    start(): void {
      startedAt = Date.now()
      void lookAtAll()
    },
    async stop(): Promise<void> {
      clearTimeout(timer)
      stopping.abort()
      await Promise.all(bringing.values())
    },
  }
}
