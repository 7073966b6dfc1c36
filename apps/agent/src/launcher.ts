import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { agentVersion } from '@zhisuan/contract/agent/tunnel'
import { z } from 'zod'

/** What an agent tells the launcher that started it. */
export type ToLauncher = { readonly welcomed: true } | { readonly upgrade: string }

/** Which version runs: null is the one that was installed, of which the launcher is a part. */
const kept = z.object({
  current: agentVersion.nullable(),
  /** To be tried, or being tried, so many times already. */
  trial: z.object({ version: agentVersion, tries: z.int() }).nullable(),
})
type Kept = z.output<typeof kept>

/** A new version that the server has not welcomed until then is not kept. */
export const trialMs = 60_000
/** Power may fail while a version is tried: that is not its fault. */
const triesMost = 2
/** What the agent does is given this long to end. */
const graceMs = 75_000
const restartMostMs = 30_000

const versionsFolder = 'versions'
export function bundleOf(directory: string, version: string): { folder: string; path: string } {
  const folder = join(directory, versionsFolder, version)
  return { folder, path: join(folder, 'agent.mjs') }
}

const fileOf = (directory: string): string => join(directory, versionsFolder, 'state.json')
function read(directory: string): Kept {
  try {
    return kept.parse(JSON.parse(readFileSync(fileOf(directory), 'utf8')))
  } catch {
    return { current: null, trial: null }
  }
}
function write(directory: string, what: Kept): void {
  mkdirSync(join(directory, versionsFolder), { recursive: true, mode: 0o700 })
  writeFileSync(`${fileOf(directory)}.new`, JSON.stringify(what), { mode: 0o600, flush: true })
  renameSync(`${fileOf(directory)}.new`, fileOf(directory))
}

export interface LauncherParts {
  readonly directory: string
  /** The program that was installed. */
  readonly installed: string
  /** For the agent, after its command. */
  readonly args: readonly string[]
  readonly signal: AbortSignal
  readonly say: (line: string) => void
  readonly trialMs?: number
}

/** Keeps an agent running, of the version that is to run; tries another where it is told to, and goes back where that does not come to the server. */
export async function launch(parts: LauncherParts): Promise<void> {
  const { directory, installed, signal, say } = parts
  const state = read(directory)
  const save = (change: Partial<Kept>): void => write(directory, Object.assign(state, change))
  let failures = 0

  while (!signal.aborted) {
    const { trial } = state
    if (trial !== null && trial.tries >= triesMost) {
      say(`version ${trial.version} is given up`)
      save({ trial: null })
      continue
    }
    if (trial !== null) save({ trial: { ...trial, tries: trial.tries + 1 } })
    const version = trial === null ? state.current : trial.version
    const began = Date.now()
    const child = spawn(process.execPath, [version === null ? installed : bundleOf(directory, version).path, 'serve', ...parts.args], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    const gone = once(child, 'close').catch(() => undefined)
    const end = () => void endGently(child)
    signal.addEventListener('abort', end, { once: true })
    const timer =
      trial === null
        ? undefined
        : setTimeout(() => {
            say(`version ${trial.version} was not welcomed by the server in time`)
            child.kill('SIGKILL')
          }, parts.trialMs ?? trialMs)
    let welcomed = false
    let next: string | null = null
    child.on('error', (error) => say(`the agent: ${error.message}`))
    child.on('message', (message: ToLauncher) => {
      if ('welcomed' in message) {
        clearTimeout(timer)
        failures = 0
        if (trial !== null && !welcomed) {
          say(`version ${trial.version} is kept`)
          const former = state.current
          save({ current: trial.version, trial: null })
          removeOthers(directory, [trial.version, former])
        }
        welcomed = true
      } else if (next === null && agentVersion.safeParse(message.upgrade).success) {
        next = message.upgrade
        say(`version ${next} is tried`)
        save({ trial: { version: next, tries: 0 } })
        end()
      }
    })
    await gone
    clearTimeout(timer)
    signal.removeEventListener('abort', end)
    if (signal.aborted) return
    if (trial !== null && !welcomed) {
      say(`version ${trial.version} is given up; back to ${state.current ?? 'the one that was installed'}`)
      save({ trial: null })
      rmSync(bundleOf(directory, trial.version).folder, { recursive: true, force: true })
      continue
    }
    if (next !== null) continue
    // One that ran for long has not failed for the reason of the one before.
    failures = Date.now() - began > restartMostMs ? 1 : failures + 1
    say('the agent ended; it is started again')
    await sleep(Math.min(restartMostMs, 500 * 2 ** failures), undefined, { signal }).catch(() => undefined)
  }
}

async function endGently(child: ChildProcess): Promise<void> {
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), graceMs)
  await once(child, 'close').catch(() => undefined)
  clearTimeout(timer)
}

function removeOthers(directory: string, wanted: readonly (string | null)[]): void {
  for (const entry of readdirSync(join(directory, versionsFolder), { withFileTypes: true })) {
    if (entry.isDirectory() && !wanted.includes(entry.name)) rmSync(join(directory, versionsFolder, entry.name), { recursive: true, force: true })
  }
}
