import { Worker } from 'node:worker_threads'
import type { ErrorName } from '@zhisuan/contract/errors'
import { Refusal } from './errors.ts'

/** What a thread does: plain data in, plain data out. */
export type Tasks = Readonly<Record<string, (input: never) => unknown>>
type InputOf<Task> = Task extends (input: infer Input) => unknown ? Input : never
type OutputOf<Task> = Task extends (input: never) => infer Output ? Awaited<Output> : never

/** What goes to the thread, and what comes back. */
export interface Asked {
  readonly task: string
  readonly input: unknown
}
export type Told =
  | { readonly output: unknown }
  | { readonly refusal: ErrorName; readonly options: ConstructorParameters<typeof Refusal>[1] }
  | { readonly error: unknown }

export interface Apart<All extends Tasks> {
  /** @throws Refusal as the task does, `tookTooLong` where it does not come to an end, `tooMuchAtOnce` where too many wait */
  ask<Name extends keyof All & string>(task: Name, input: InputOf<All[Name]>): Promise<OutputOf<All[Name]>>
  /** Lets the thread go once nothing is asked of it: what operations still ask while the server stops is answered. */
  close(): void
}

interface Waiting extends Asked {
  readonly settle: (told: Told) => void
}

/**
 * A thread of its own for work whose length somebody else decides, such as reading a file that a person sent: meanwhile
 * everybody else is answered. One thing after the other; what does not come to an end in time is ended with its thread, and
 * the next is done by another one.
 * @param module serves the tasks (apart.thread.ts)
 */
export function createApart<All extends Tasks>(
  module: URL,
  { limitMs = 5_000, waitingMax = 100, memoryMb = 512 }: { limitMs?: number; waitingMax?: number; memoryMb?: number } = {},
): Apart<All> {
  const waiting: Waiting[] = []
  let now: Waiting | null = null
  let thread: { readonly worker: Worker; ready: boolean } | null = null
  let limit: NodeJS.Timeout | undefined
  let closed = false

  const settle = (told: Told): void => {
    clearTimeout(limit)
    const { settle: answered } = now ?? {}
    now = null
    answered?.(told)
    if (waiting.length === 0) rest()
    next()
  }
  const rest = (): void => {
    thread?.worker.unref()
    if (!closed) return
    void thread?.worker.terminate()
    thread = null
  }
  const end = (told: Told): void => {
    void thread?.worker.terminate()
    thread = null
    settle(told)
  }
  const begin = (): void => {
    // What it was started with is not for it: flags of a test runner, say.
    const worker = new Worker(module, { execArgv: [], resourceLimits: { maxOldGenerationSizeMb: memoryMb } })
    const own = { worker, ready: false }
    thread = own
    const mine = (act: () => void) => () => {
      if (thread === own) act()
    }
    worker.on('message', (said: Told | 'ready') => {
      if (thread !== own) return
      if (said !== 'ready') return settle(said)
      own.ready = true
      send()
    })
    // Out of memory, for one.
    worker.on('error', (error: unknown) => mine(() => end(isOutOfMemory(error) ? tookTooLong : { error }))())
    worker.on(
      'exit',
      mine(() => end({ error: new Error('the thread ended') })),
    )
  }
  const send = (): void => {
    if (now === null || thread?.ready !== true) return
    limit = setTimeout(() => end(tookTooLong), limitMs)
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has none
    thread.worker.postMessage({ task: now.task, input: now.input } satisfies Asked)
  }
  const next = (): void => {
    if (now !== null) return
    now = waiting.shift() ?? null
    if (now === null) return
    if (thread === null) begin()
    thread?.worker.ref()
    send()
  }

  return {
    ask: (task, input) =>
      new Promise((resolve, reject) => {
        if (waiting.length >= waitingMax) return reject(new Refusal('tooMuchAtOnce'))
        waiting.push({
          task,
          input,
          settle: (told) => {
            // The tasks of the other side are of the same type.
            if ('output' in told) resolve(told.output as OutputOf<All[typeof task]>)
            else reject('refusal' in told ? new Refusal(told.refusal, told.options) : asError(told.error))
          },
        })
        next()
      }),
    close() {
      closed = true
      if (now === null) rest()
    },
  }
}

const tookTooLong: Told = { refusal: 'tookTooLong', options: {} }
const isOutOfMemory = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'
const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)))
