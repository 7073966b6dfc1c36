import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { errors, fillText } from '@zhisuan/contract/errors'
import { isEngineError } from '@zhisuan/engines/errors'
import { platformScope } from '../../../platform/auth/actor.ts'
import { isConnectionError } from '../../../platform/db/connections.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { Refusal } from '../../../platform/errors.ts'
import { toRefusal } from '../../../platform/http/problems.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { CloudService } from '../../cmp/cloud/cloud.service.ts'
import { getVm } from '../vm/vm.store.ts'
import { createOutput, type Output } from './command.output.ts'
import { openScript } from './command.seal.ts'
import * as store from './command.store.ts'
import type { ClaimedRun, RunKey } from './command.store.ts'

/** Runs at once on a cloud, over all servers; one organisation leaves some to the others. */
const most = { perCloud: 64, perOrganisation: 50 }
/** Looks for what was missed: other servers' dead, what waits, what was cancelled. */
export const sweepEveryMs = 5_000
/** So often the page of a running command gets more to show. */
const keepEveryMs = 2_000
/** Of a server that stops: what has not ended by then is told by those who find it. */
const stopPatienceMs = 8_000

const topics = { queued: 'nextstack.command.queued', cancelled: 'nextstack.command.cancelled' } as const

type StopReason = 'timed_out' | 'cancelled' | 'interrupted'
type Outcome = Parameters<typeof store.endRun>[4]

interface Run {
  key: RunKey
  output: Output
  stop: (reason: StopReason) => void
  done: Promise<void>
}

/** What a command finds, as a shell that somebody signs in to. */
const environment = { HOME: '/root', USER: 'root', LANG: 'C.UTF-8', TERM: 'dumb' }

export type CommandRunner = ReturnType<typeof createCommandRunner>

/**
 * Runs commands in instances, each once or not at all: whoever takes a run records so first, under
 * a number that they hold a lock on for as long as they live. Runs of a number that nobody holds were
 * cut off, and nobody begins them anew.
 */
export function createCommandRunner(
  { db, secrets, bus, log, pause }: Pick<Platform, 'db' | 'secrets' | 'bus' | 'log' | 'pause'>,
  clouds: Pick<CloudService, 'forReading'>,
) {
  const runner = randomUUID()
  const running = new Map<string, Run>()
  const stopping = new AbortController()
  /** Whether runs may be taken: the lock is held, and nobody stops us. */
  let taking = false
  let turn: Promise<unknown> = Promise.resolve()
  let unsubscribe: () => void = () => undefined
  let loops: readonly Promise<void>[] = []

  const nameOf = ({ command_id, vm_id }: RunKey): string => `${command_id} ${vm_id}`
  const interrupted = errors.commandInterrupted.text

  /** One after the other: a look at who runs what must not see half of a taking. */
  const inTurn = (work: () => Promise<void>): Promise<void> => {
    const next = turn.then(async () => {
      if (taking) await work()
    })
    turn = next.catch((error: unknown) => log.error({ err: error }, 'running commands'))
    return next.catch(() => undefined)
  }

  /** In the face of a database that is away for a while. @throws what else goes wrong, or where the server stops */
  const persist = async (work: (tx: Tx) => Promise<unknown>): Promise<void> => {
    for (;;) {
      try {
        await db.transaction().execute(work)
        return
      } catch (error) {
        if (!isConnectionError(error) || stopping.signal.aborted) throw error
        await sleep(500)
      }
    }
  }

  const runScript = async (claimed: ClaimedRun, output: Output, stopped: AbortSignal): Promise<Omit<Outcome, keyof ReturnType<Output['printed']>>> => {
    try {
      const vm = await getVm(db, platformScope, claimed.vm_id)
      if (vm === undefined) throw new Refusal('vmGone')
      if (vm.status !== 'running') throw new Refusal('commandVmNotRunning', { values: { name: vm.name } })
      const engine = await clouds.forReading(claimed.cloud_id)
      const { exitCode } = await engine.instances.exec(
        vm.engine_name,
        {
          command: ['sh'],
          input: Buffer.from(openScript(secrets, { id: claimed.command_id, script: claimed.script })),
          env: environment,
          onOutput: output.push,
        },
        { signal: stopped },
      )
      return { status: exitCode === 0 ? 'succeeded' : 'failed', exit_code: exitCode, error_text: null }
    } catch (error) {
      const reason = stopped.aborted ? (stopped.reason as StopReason) : null
      if (reason === null) {
        const refusal = isEngineError(error, 'unanswered') ? new Refusal('commandUnanswered', { cause: error }) : toRefusal(error)
        return { status: 'failed', exit_code: null, error_text: refusal.message }
      }
      const text = { timed_out: fillText(errors.commandTimedOut.text, { seconds: claimed.timeout_seconds }), cancelled: null, interrupted }[reason]
      const unsure = !(error instanceof Refusal) && !isEngineError(error, 'cancelled')
      const told = [text, unsure ? errors.commandNotStopped.text : null].filter((part) => part !== null)
      return { status: reason === 'interrupted' ? 'failed' : reason, exit_code: null, error_text: told.length === 0 ? null : told.join('；') }
    }
  }

  const begin = (claimed: ClaimedRun): void => {
    const output = createOutput()
    const stopped = new AbortController()
    const stop = (reason: StopReason): void => stopped.abort(reason)
    const timer = setTimeout(() => stop('timed_out'), claimed.timeout_seconds * 1000)
    const work = async (): Promise<void> => {
      const outcome = await runScript(claimed, output, stopped.signal)
      clearTimeout(timer)
      await persist((tx) => store.endRun(tx, secrets, runner, claimed, { ...outcome, ...output.printed() }))
    }
    const done = work()
      .catch((error: unknown) => log.error({ err: error, command: claimed.command_id, vm: claimed.vm_id }, 'command'))
      .finally(() => {
        clearTimeout(timer)
        running.delete(nameOf(claimed))
        void takeFrom(claimed.cloud_id)
      })
    running.set(nameOf(claimed), { key: claimed, output, stop, done })
  }

  const takeFrom = (cloudId: string): Promise<void> =>
    inTurn(async () => {
      for (const claimed of await db.transaction().execute((tx) => store.claim(tx, runner, cloudId, most))) begin(claimed)
    })

  const stopWhere = (commandId: string): void => {
    for (const { key, stop } of running.values()) if (key.command_id === commandId) stop('cancelled')
  }

  /** Sees to it that what the table says of this server is so. */
  const compare = async (): Promise<void> => {
    const recorded = await store.runsOf(db, runner)
    const known = new Set(recorded.map(nameOf))
    // Somebody took us for dead: what they said of them stays said.
    for (const [name, run] of running) if (!known.has(name)) run.stop('interrupted')
    for (const { command_id, cancelled } of recorded) if (cancelled) stopWhere(command_id)
    // Taken when the answer was lost.
    const unknown = recorded.filter((run) => !running.has(nameOf(run)))
    if (unknown.length > 0) await db.transaction().execute((tx) => store.endRuns(tx, unknown, runner, interrupted))
  }

  const sweep = async (): Promise<void> => {
    await inTurn(async () => {
      await compare()
      for (const other of await store.runnersWithRuns(db)) {
        if (other === runner) continue
        const ended = await db.transaction().execute((tx) => store.endRunsOfDead(tx, other, interrupted))
        if (ended > 0) log.warn({ runs: ended }, 'commands of a server that is no more')
      }
    })
    for (const cloudId of await store.cloudsWithQueued(db)) await takeFrom(cloudId)
  }

  const keep = async (): Promise<void> => {
    const printed = [...running.values()].flatMap(({ key, output }) => (output.takeChanged() ? [{ ...key, ...output.printed() }] : []))
    if (printed.length > 0) await db.transaction().execute((tx) => store.keepPrinted(tx, secrets, runner, printed))
  }

  const untilNext = (ms: number): Promise<void> => pause(ms, stopping.signal).catch(() => undefined)
  const every = async (ms: number, work: () => Promise<void>): Promise<void> => {
    while (!stopping.signal.aborted) {
      await work().catch((error: unknown) => log.error({ err: error }, 'running commands'))
      await untilNext(ms)
    }
  }

  /** Holds the lock that says we live, on a connection of its own; takes it anew where that is lost. */
  const live = async (held: () => void): Promise<void> => {
    while (!stopping.signal.aborted) {
      try {
        await db.connection().execute(async (own) => {
          await store.holdRunner(own, runner)
          taking = true
          held()
          while (!stopping.signal.aborted) {
            await store.stillThere(own)
            await untilNext(1_000)
          }
          await store.releaseRunner(own, runner)
        })
      } catch (error) {
        taking = false
        log.warn({ err: error }, 'the connection that says which commands run is lost')
        await untilNext(500)
      }
    }
  }

  return {
    /** In the transaction that records it. */
    async queued(tx: Tx, cloudId: string): Promise<void> {
      await bus.publish(tx, topics.queued, cloudId)
    },
    async cancelled(tx: Tx, commandId: string): Promise<void> {
      await bus.publish(tx, topics.cancelled, commandId)
    },

    async start(): Promise<void> {
      const subscriptions = [bus.subscribe(topics.queued, (cloudId) => void takeFrom(cloudId)), bus.subscribe(topics.cancelled, stopWhere)]
      unsubscribe = () => subscriptions.forEach((end) => end())
      const { promise: held, resolve } = Promise.withResolvers<void>()
      const living = live(resolve)
      await held
      loops = [living, every(sweepEveryMs, sweep), every(keepEveryMs, keep)]
    },

    /** What runs is killed, and said to be interrupted. */
    async stop(): Promise<void> {
      unsubscribe()
      taking = false
      await turn
      for (const run of running.values()) run.stop('interrupted')
      await Promise.race([Promise.all([...running.values()].map(({ done }) => done)), sleep(stopPatienceMs, undefined, { ref: false })])
      stopping.abort()
      await Promise.all(loops)
    },
  }
}
