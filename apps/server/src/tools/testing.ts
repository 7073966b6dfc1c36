import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

export interface ScriptResult {
  /** Exit status, or the signal that ended it. */
  status: number | string
  stdout: string
  stderr: string
}

/** Starts `scripts/<name>` as a person would. */
export function startScript(
  name: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): { process: ChildProcess; result: Promise<ScriptResult> } {
  const child = spawn(fileURLToPath(new URL(`../../../../scripts/${name}`, import.meta.url)), [...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const result = once(child, 'close').then(([code, signal]) => ({ status: (code ?? signal) as number | string, stdout, stderr }))
  return { process: child, result }
}

export const runScript = (name: string, args: readonly string[], env?: Readonly<Record<string, string>>): Promise<ScriptResult> =>
  startScript(name, args, env).result
