import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { allCalls } from '@zhisuan/contract/calls'
import type { Call } from '@zhisuan/contract/define'

const root = join(import.meta.dirname, '../../../..')
const contract = 'packages/contract/src'
/** How many commits back a changed contract is looked at whole. */
const recent = 10
/** One in so many of the others is asked. */
const parts = 5

/** Null where git does not answer so: there is no history, or not as much of it. */
const git = (...args: string[]): string | null => {
  try {
    return execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  } catch {
    return null
  }
}

/**
 * What the quick sweeps ask: every call whose contract changed lately, and of the others a fifth, another one on each
 * day on which something was committed. What asks all of them is named `x.long.test.ts`.
 */
export async function callsOfToday(): Promise<readonly Call[]> {
  const committedAt = Number(git('log', '-1', '--format=%ct') ?? 0)
  const day = Math.floor(committedAt / 86_400)
  const since = git('rev-parse', '--verify', '--quiet', `HEAD~${recent}`)?.trim() ?? 'HEAD'
  const changed = git('diff', '--name-only', '--relative', since, '--', contract) ?? ''
  const added = git('ls-files', '--others', '--exclude-standard', '--', contract) ?? ''
  const files = `${changed}\n${added}`.split('\n').filter((file) => /\/\w[\w-]*\.ts$/.test(file) && !file.endsWith('calls.ts'))
  const lately = new Set<unknown>()
  for (const file of files) {
    // A file that went declares nothing any more.
    const declared: Record<string, unknown> = await import(/* @vite-ignore */ join(root, file)).catch(() => ({}))
    for (const resource of Object.values(declared))
      if (typeof resource === 'object' && resource !== null) for (const call of Object.values(resource)) lately.add(call)
  }
  return allCalls.filter((call, index) => lately.has(call) || index % parts === day % parts)
}
