import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** How compose is called on this node. */
export interface ComposeCommand {
  readonly file: string
  /** Before compose's own. */
  readonly args: readonly string[]
  readonly version: string
}

const ways: readonly Omit<ComposeCommand, 'version'>[] = [
  { file: 'docker', args: ['compose'] },
  { file: 'docker-compose', args: [] },
]

/** The plugin, or else the program of old; null where there is neither. */
export async function composeCommand(): Promise<ComposeCommand | null> {
  for (const way of ways) {
    try {
      const { stdout } = await run(way.file, [...way.args, 'version', '--short'], { timeout: 20_000 })
      const version = stdout.trim().replace(/^v/, '')
      if (/^\d+\./.test(version)) return { ...way, version }
    } catch {
      // Not there.
    }
  }
  return null
}
