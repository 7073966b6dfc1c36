import { execFile, spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readFileSync, rmSync } from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Account } from './accounts.ts'
import { childrenOf, endAll, identify, isLeader, isRunning, markedWith, markName, send, type ProcessId } from './processes.ts'

/**
 * Around each program: it outlives the agent and writes down how the program ended, also while no agent is there. Told to
 * stop it waits for the program, which has the signals to itself. Descriptor 3 is not the program's.
 */
const around = `trap : HUP INT QUIT TERM USR1 USR2 WINCH
"$@" 3>&-
echo $? >&3`

const run = promisify(execFile)
const pollMs = 50
/** Of what somebody says that is run to its end. */
const onceBytes = 4_194_304

export interface Start {
  readonly command: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  readonly directory: string
  readonly account: Account
  /** What it says is added to this file. */
  readonly log: string
}

export interface Exit {
  /** Null where nobody saw it. */
  readonly code: number | null
  readonly signal: string | null
}

/** How a program of the node is run. */
export interface Native {
  /** @param ended told at once where this agent is still there */
  start(what: Start, ended: () => void): ProcessId
  /** Runs it to its end; what is left of it after that time, or when it is aborted, is ended. @throws with what it said, where it does not end well */
  once(what: Omit<Start, 'log'>, timeoutMs: number, signal: AbortSignal): Promise<void>
  /** One that an agent before this one started, also where it did not come to write that down. */
  find(): ProcessId | null
  /** Of the program itself, not of what is around it. */
  pidOf(run: ProcessId): number
  /** How it ended; null while it runs. */
  exitOf(run: ProcessId): Exit | null
  signal(run: ProcessId, signal: NodeJS.Signals): void
  /** By that signal; what is left after that time is ended, with all that it started. @throws where something does not go */
  stop(run: ProcessId | null, signal: NodeJS.Signals, timeoutMs: number): Promise<void>
}

/** @param folder where is written down how it ended */
export function createNative(mark: string, folder: string): Native {
  const exitFile = join(folder, 'exit')
  /** Nothing of the agent's own. */
  const optionsOf = ({ environment, directory, account }: Omit<Start, 'log'>) => ({
    cwd: directory,
    env: {
      PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      LANG: 'C.UTF-8',
      HOME: directory,
      USER: account.name,
      ...environment,
      [markName]: mark,
    },
    ...(account.switch && { uid: account.uid, gid: account.gid }),
  })
  const pidOf = ({ pid }: ProcessId): number => childrenOf(pid)[0] ?? pid
  const signal = (run: ProcessId, name: NodeJS.Signals): void => {
    // Not to the shell around it, should it be just that: it would do nothing.
    if (isRunning(run)) for (const pid of childrenOf(run.pid)) send(pid, name)
  }
  return {
    start(what, ended) {
      const { command, log } = what
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      rmSync(exitFile, { force: true })
      const output = openSync(log, 'a', 0o600)
      const exit = openSync(exitFile, 'wx', 0o600)
      try {
        const child = spawn('/bin/sh', ['-c', around, 'kept', ...command], {
          ...optionsOf(what),
          detached: true,
          stdio: ['ignore', output, output, exit],
        })
        child.on('error', () => undefined)
        child.once('exit', ended)
        child.unref()
        const run = child.pid === undefined ? null : identify(child.pid)
        if (run === null) throw new Error('the program could not be started')
        return run
      } finally {
        closeSync(output)
        closeSync(exit)
      }
    },
    async once(what, timeoutMs, signal) {
      const [command = '', ...parameters] = what.command
      try {
        await run(command, parameters, { ...optionsOf(what), timeout: timeoutMs, killSignal: 'SIGKILL', maxBuffer: onceBytes, signal })
      } catch (error) {
        // Also what it began.
        await endAll(mark)
        const { message, stdout = '', stderr = '' } = error as Error & { stdout?: string; stderr?: string }
        const said = `${stdout}\n${stderr}`.trim().slice(-1_000)
        throw new Error(said === '' ? message : `${command}: ${said}`, { cause: error })
      }
    },
    find() {
      const pid = markedWith(mark).find(isLeader)
      return pid === undefined ? null : identify(pid)
    },
    pidOf,
    exitOf(run) {
      if (isRunning(run)) return null
      let said = ''
      try {
        said = readFileSync(exitFile, 'utf8').trim()
      } catch {
        // Nobody came to write it down, such as in a power cut.
      }
      if (!/^\d{1,3}$/.test(said)) return { code: null, signal: null }
      const code = Number(said)
      const name = code > 128 ? Object.entries(constants.signals).find(([, number]) => number === code - 128)?.[0] : undefined
      return name === undefined ? { code, signal: null } : { code: null, signal: name }
    },
    signal,
    async stop(run, name, timeoutMs) {
      const until = Date.now() + timeoutMs
      if (run !== null && isRunning(run)) {
        // It may be a moment until there is something within the shell.
        for (let tries = 0; childrenOf(run.pid).length === 0 && isRunning(run) && tries < 20; tries++) await sleep(pollMs)
        signal(run, name)
        while (isRunning(run) && Date.now() < until) await sleep(pollMs)
      }
      await endAll(mark)
    },
  }
}
