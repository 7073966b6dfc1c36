import { setTimeout as sleep } from 'node:timers/promises'
import type { KeptOrder, KeptState } from '@zhisuan/contract/agent/kept'
import type { Db } from '../db/database.ts'
import { Refusal } from '../errors.ts'
import type { OperationStep, StepContext } from '../operations.ts'
import type { Tunnel } from '../tunnel/tunnel.ts'
import * as node from './kept.node.ts'
import type { KeptNodes, KeptOf, KeptSteps, KeptStepOptions } from './kept.ts'
import { problemTexts, whyNot } from './kept.shape.ts'
import * as store from './kept.store.ts'
import type { KeptRow } from './kept.store.ts'

const pollFirstMs = 200
const pollMostMs = 1_000
const healthyMs = 60_000
/** An agent that does not decide by then does not do it any more. */
const graceMs = 60_000
const detailLimit = 500

export interface KeptWork {
  /** One row, and the way to its node. */
  readonly name: string
  readonly row: KeptRow
  readonly tunnel: Tunnel
  readonly signal: AbortSignal
}

export interface KeptStepParts {
  readonly db: Db
  readonly nodes: Pick<KeptNodes, 'reach' | 'work'>
  /** What it is to become, where it is changing; else what is wanted. */
  readonly textOf: (row: KeptRow) => { readonly text: string; readonly digest: string }
  /** Seals what was seen. */
  readonly sealSeen: (id: string, state: KeptState | null) => string | null
}

export function createKeptSteps({ db, nodes, textOf, sealSeen }: KeptStepParts) {
  /** Begins again where the way to the node breaks. */
  const at = async <T>(id: string, signal: AbortSignal, act: (work: KeptWork) => Promise<T>): Promise<T> => {
    const row = await rowOf(id)
    return nodes.work(row.node_id, signal, ({ name, tunnel }) => act({ name, row, tunnel, signal }))
  }
  const rowOf = async (id: string): Promise<KeptRow> => {
    const row = await store.getKept(db, id)
    if (row === undefined) throw new Refusal('notFound')
    return row
  }
  const seen = async ({ row }: KeptWork, state: KeptState | null): Promise<void> => store.noteKept(db, row.id, sealSeen(row.id, state))

  /** Asks again and again, until something is made of the answer. */
  const until = async <T>({ tunnel, row, signal }: KeptWork, so: (state: KeptState | null) => T | undefined | Promise<T | undefined>): Promise<T> => {
    for (let waitMs = pollFirstMs; ; waitMs = Math.min(pollMostMs, waitMs * 1.3)) {
      const made = await so(await node.get(tunnel, row.id, signal))
      if (made !== undefined) return made
      await sleep(waitMs, undefined, { signal })
    }
  }
  const namesOf = ({ row, name }: KeptWork) => ({ name: row.name, node: name })
  const ill = (work: KeptWork, reason: string): Refusal =>
    new Refusal('keptUnhealthy', { values: { ...namesOf(work), reason: reason.split('\n')[0]?.slice(0, detailLimit) ?? '' }, detail: reason })

  const preflight = (id: string, signal: AbortSignal): Promise<void> =>
    at(id, signal, async (work) => {
      const { problems } = await node.preflight(work.tunnel, id, { wanted: textOf(work.row).text }, signal)
      if (problems.length > 0) throw new Refusal('keptUnfit', { values: { ...namesOf(work), reasons: problemTexts(problems).join('；') } })
    })

  const place = (id: string, signal: AbortSignal, auth: KeptOrder['registry_auth']): Promise<void> =>
    at(id, signal, async (work) => {
      const { text, digest } = textOf(work.row)
      const order: KeptOrder = { wanted: text, ...(auth !== null && auth !== undefined && { registry_auth: auth }) }
      // One that failed before is tried once more by this.
      await node.put(work.tunnel, id, order, signal)
      await until(work, async (state) => {
        if (isPlaced(state, digest)) return true
        // An agent that was started anew has forgotten what it was at.
        if (state?.placing?.digest !== digest) await node.put(work.tunnel, id, order, signal)
        else if (state.placing.state === 'failed')
          throw new Refusal('keptPlaceFailed', { values: { ...namesOf(work), reason: state.placing.error ?? '' }, detail: state.placing.error ?? undefined })
        return undefined
      })
    })

  const apply = (id: string, signal: AbortSignal, withinMs: number): Promise<void> =>
    at(id, signal, async (work) => {
      const { digest } = textOf(work.row)
      await store.updateKept(db, id, { to_run: true })
      const state = await node.get(work.tunnel, id, signal)
      // It was told before: what becomes of it the next step sees.
      if (state !== null && state.placing?.digest !== digest && (state.applied?.digest === digest || state.digest === digest)) return
      await node.act(work.tunnel, id, { action: 'apply', digest, healthy_within_ms: withinMs }, signal)
    })

  /** What became of an `apply`. */
  const decided = (id: string, signal: AbortSignal, withinMs: number): Promise<void> =>
    at(id, signal, async (work) => {
      const { digest } = textOf(work.row)
      const end = Date.now() + withinMs + graceMs
      await until(work, async (state) => {
        const applied = state?.applied?.digest === digest ? state.applied : null
        if (applied?.result === 'went_back') {
          await seen(work, state)
          throw new Refusal('keptWentBack', {
            values: { ...namesOf(work), reason: applied.error?.split('\n')[0]?.slice(0, detailLimit) ?? '' },
            detail: applied.error ?? undefined,
          })
        }
        if (applied?.result === 'failed') throw ill(work, applied.error ?? '')
        if (state !== null && state.digest === digest && applied?.result !== 'trying' && state.health.state === 'healthy') {
          await seen(work, state)
          return true
        }
        if (Date.now() > end) throw ill(work, state === null ? '' : whyNot(state))
        return undefined
      })
    })

  const healthy = (id: string, signal: AbortSignal, withinMs: number): Promise<void> =>
    at(id, signal, async (work) => {
      const end = Date.now() + withinMs
      await until(work, async (state) => {
        if (state?.process.state === 'running' && state.health.state === 'healthy') {
          await seen(work, state)
          return true
        }
        if (Date.now() > end) throw ill(work, state === null ? '' : whyNot(state))
        return undefined
      })
    })

  const remove = (id: string, signal: AbortSignal, data: boolean): Promise<void> =>
    at(id, signal, async (work) => {
      const asked = await node.remove(work.tunnel, id, data, signal)
      if (asked !== null)
        await until(work, (state) => {
          if (state === null) return true
          if (state.removing_error !== null)
            throw new Refusal('keptNotRemoved', { values: { ...namesOf(work), reason: state.removing_error }, detail: state.removing_error })
          return undefined
        })
      await seen(work, null)
    })

  /** What there is now, without patience: for whether what is wanted came true after all. */
  const now = async (id: string, so: (state: KeptState | null, row: KeptRow) => boolean, signal: AbortSignal): Promise<boolean> => {
    const row = await rowOf(id)
    const { tunnel } = await nodes.reach(row.node_id)
    return so(await node.get(tunnel, id, signal), row)
  }

  const step = <Input>(
    of: KeptOf<Input>,
    name: string,
    run: (id: string, context: StepContext<Input>) => Promise<void>,
    reached: 'ours' | 'looks' | ((state: KeptState | null, row: KeptRow, context: StepContext<Input>) => boolean),
  ): OperationStep<Input> => ({
    name,
    run: async (context) => run(await of(context), context),
    reached: typeof reached === 'string' ? reached : async (context) => now(await of(context), (state, row) => reached(state, row, context), context.signal),
  })
  const isPlaced = (state: KeptState | null, digest: string): boolean =>
    state !== null && (state.digest === digest || (state.placing?.digest === digest && state.placing.state === 'placed'))

  const bring = <Input>(of: KeptOf<Input>, applied: 'start' | 'switch', { healthyWithinMs = healthyMs, registryAuth }: KeptStepOptions<Input> = {}) => [
    // It changes nothing.
    step(of, 'preflight', (id, { signal }) => preflight(id, signal), 'ours'),
    step(
      of,
      'place',
      async (id, context) => place(id, context.signal, (await registryAuth?.(context)) ?? null),
      (state, row) => isPlaced(state, textOf(row).digest),
    ),
    step(
      of,
      applied,
      (id, { signal }) => apply(id, signal, healthyWithinMs),
      (state, row) => state?.applied?.digest === textOf(row).digest && state.placing?.digest !== textOf(row).digest,
    ),
    step(of, 'healthy', (id, { signal }) => decided(id, signal, healthyWithinMs), 'looks'),
  ]

  const steps: KeptSteps = {
    install: (of, options) => bring(of, 'start', options),
    change: (of, options) => bring(of, 'switch', options),
    start: (of, { healthyWithinMs = healthyMs } = {}) => [
      step(
        of,
        'start',
        async (id, { signal }) => {
          await store.updateKept(db, id, { to_run: true })
          await at(id, signal, async ({ tunnel }) => void (await node.act(tunnel, id, { action: 'start' }, signal)))
        },
        (state) => state?.to_run === true,
      ),
      step(of, 'healthy', (id, { signal }) => healthy(id, signal, healthyWithinMs), 'looks'),
    ],
    stop: (of) => [
      step(
        of,
        'stop',
        async (id, { signal }) => {
          // Before: whoever looks meanwhile does not start it again.
          await store.updateKept(db, id, { to_run: false })
          await at(id, signal, async (work) => {
            await node.act(work.tunnel, id, { action: 'stop' }, signal)
            await until(work, async (state) => {
              if (state !== null && state.process.state !== 'stopped') return undefined
              await seen(work, state)
              return true
            })
          })
        },
        (state) => state?.process.state === 'stopped',
      ),
    ],
    restart: (of, { healthyWithinMs = healthyMs } = {}) => [
      step(
        of,
        'restart',
        async (id, { signal, operation_id }) => {
          await store.updateKept(db, id, { to_run: true })
          await at(id, signal, async (work) => {
            await node.act(work.tunnel, id, { action: 'restart', key: operation_id }, signal)
            await until(work, (state) => (state?.last_keys.restart === operation_id ? true : undefined))
          })
        },
        (state, _row, { operation_id }) => state?.last_keys.restart === operation_id,
      ),
      step(of, 'healthy', (id, { signal }) => healthy(id, signal, healthyWithinMs), 'looks'),
    ],
    reload: (of) => [
      step(
        of,
        'reload',
        (id, { signal, operation_id }) =>
          at(id, signal, async ({ tunnel }) => void (await node.act(tunnel, id, { action: 'reload', key: operation_id }, signal))),
        (state, _row, { operation_id }) => state?.last_keys.reload === operation_id,
      ),
    ],
    uninstall: (of, { data }) => [
      step(
        of,
        'uninstall',
        (id, { signal }) => remove(id, signal, data),
        (state) => state === null,
      ),
    ],
  }
  return {
    steps,
    /** The parts of them, for whoever brings one to what is wanted without an operation. */
    place,
    apply,
    decided,
    remove,
  }
}
