import { fork, type ChildProcess } from 'node:child_process'
import type { ErrorName } from '@zhisuan/contract/errors'
import { Refusal } from './errors.ts'

/** What a process apart does: plain data in, plain data out. */
export type Tasks = Readonly<Record<string, (input: never) => unknown>>
type InputOf<Task> = Task extends (input: infer Input) => unknown ? Input : never
type OutputOf<Task> = Task extends (input: never) => infer Output ? Awaited<Output> : never

/** What goes there, and what comes back. */
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
  /** Lets the process go once nothing is asked of it: what operations still ask while the server stops is answered. */
  close(): void
}

interface Waiting extends Asked {
  readonly settle: (told: Told) => void
}

/**
 * A process of its own for work whose length and size somebody else decides, such as reading a file that a person sent:
 * meanwhile everybody else is answered. One thing after the other; what does not come to an end in time, or takes more memory
 * than it may, is ended with its process, and the next is done by another one. No thread: one that runs out of memory now and
 * then takes the whole process with it. Nothing of the server's environment is given to it.
 * @param module serves the tasks (apart.process.ts)
 */
export function createApart<All extends Tasks>(
  module: URL,
  { limitMs = 5_000, waitingMax = 100, memoryMb = 512 }: { limitMs?: number; waitingMax?: number; memoryMb?: number } = {},
): Apart<All> {
  const waiting: Waiting[] = []
  let now: Waiting | null = null
  let apart: { readonly child: ChildProcess; ready: boolean } | null = null
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
    hold(false)
    if (!closed) return
    apart?.child.kill('SIGKILL')
    apart = null
  }
  /** Whether this process waits for it. */
  const hold = (held: boolean): void => {
    const { child } = apart ?? {}
    child?.[held ? 'ref' : 'unref']()
    child?.channel?.[held ? 'ref' : 'unref']()
  }
  const end = (told: Told): void => {
    apart?.child.kill('SIGKILL')
    apart = null
    settle(told)
  }
  const begin = (): void => {
    const child = fork(module, {
      // What this one was started with is not for it: flags of a test runner, say.
      execArgv: [`--max-old-space-size=${memoryMb}`],
      env: process.env['NODE_COMPILE_CACHE'] === undefined ? {} : { NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] },
      serialization: 'advanced',
      // What Node says of running out of memory.
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    })
    const own = { child, ready: false }
    apart = own
    child.on('message', (said: Told | 'ready') => {
      if (apart !== own) return
      if (said !== 'ready') return settle(said)
      own.ready = true
      send()
    })
    child.on('error', (error) => {
      if (apart === own) end({ error })
    })
    child.on('exit', (code, signal) => {
      // Node aborts where there is no memory left.
      if (apart === own) end(signal === 'SIGABRT' || code === 134 ? tookTooLong : { error: new Error(`the process ended (${signal ?? code})`) })
    })
  }
  const send = (): void => {
    if (now === null || apart?.ready !== true) return
    limit = setTimeout(() => end(tookTooLong), limitMs)
    apart.child.send({ task: now.task, input: now.input } satisfies Asked)
  }
  const next = (): void => {
    if (now !== null) return
    now = waiting.shift() ?? null
    if (now === null) return
    if (apart === null) begin()
    hold(true)
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
const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)))
