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
 * @param parameters such as `['serve', '--data', directory]`, or `run` for the launcher and its agent
 * @param program another one than the sources, such as a bundle
 */
export function startAgent(parameters: readonly string[], program: string = main): RunningAgent {
  // A group of its own: a power cut hits a launcher and the agent that it started alike.
  const child = spawn(process.execPath, [program, ...parameters], { stdio: ['ignore', 'ignore', 'pipe'], detached: true })
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

/** What the printed command hands to the agent: `--server … --token … --key …`. */
export const parametersOf = (command: string): string[] =>
  [...command.slice(command.indexOf('--server')).matchAll(/(--\w+) '([^']*)'/g)].flatMap(([, name = '', value = '']) => [name, value])
