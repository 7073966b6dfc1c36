import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface TemporaryFolder {
  readonly path: string
  /** With all that is in it. */
  remove(): void
}

/**
 * A folder for a server's data. Others may pass through it: where root runs the tests, PostgreSQL
 * runs as a system user of its own, and a database that it cannot get to would be made elsewhere
 * and outlive the test.
 */
export function temporaryFolder(name: string): TemporaryFolder {
  const path = mkdtempSync(join(tmpdir(), `zhisuan-${name}-`))
  chmodSync(path, 0o755)
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}
