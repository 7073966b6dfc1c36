import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const main = fileURLToPath(new URL('../../apps/agent/src/main.ts', import.meta.url))

/** The agent as a process of its own, as a node runs it. */
export interface RunningAgent {
  readonly process: ChildProcess
  /** Sends a signal to the launcher and to the agent that it started. */
  signal(signal: NodeJS.Signals): void
  /** What both said to stderr so far. */
  said(): string
  /** The exit code; null where a signal ended it. */
  readonly ended: Promise<number | null>
  stop(): Promise<void>
  /** As by a power cut. */
  kill(): Promise<void>
}

/**
 * @param given such as `['serve', '--data', directory]`, or `run` for the launcher and its agent; its `--token` goes into the environment
 * @param program another one than the sources, such as a bundle
 * @param environment of it, beside that of the test
 */
export function startAgent(given: readonly string[], program: string = main, environment: NodeJS.ProcessEnv = {}): RunningAgent {
  // Where the program takes it: nobody else on a node reads an environment.
  const at = given.indexOf('--token')
  const [parameters, token] = at < 0 ? [given, undefined] : [given.toSpliced(at, 2), given[at + 1]]
  // A group of its own: a power cut hits a launcher and the agent that it started alike.
  const child = spawn(process.execPath, [program, ...parameters], {
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
    env: { ...process.env, ...environment, ...(token !== undefined && { ZHISUAN_TOKEN: token }) },
  })
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString('utf8')
  })
  const ended = once(child, 'exit').then(([code]) => code as number | null)
  const running = (): boolean => child.exitCode === null && child.signalCode === null
  const signal = (name: NodeJS.Signals): void => {
    if (running() && child.pid !== undefined) process.kill(-child.pid, name)
  }
  return {
    process: child,
    said: () => said,
    ended,
    signal,
    async stop() {
      if (running()) child.kill('SIGTERM')
      await ended
    },
    async kill() {
      signal('SIGKILL')
      await ended
    },
  }
}

/** What the printed command hands to the agent, as {@link startAgent} takes it: `--server … --token … --key …`. */
export const parametersOf = (command: string): string[] => {
  const [, token = '', server = '', key = ''] = /ZHISUAN_TOKEN='([^']*)'.* --server '([^']*)' --key '([^']*)'/.exec(command) ?? []
  return ['--server', server, '--token', token, '--key', key]
}
