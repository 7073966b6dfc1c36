import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { DataDirectoryLocked, lockDataDirectory, startEmbeddedPostgres } from '../platform/db/embedded.ts'
import { Failure } from './command.ts'

/**
 * Lets `use` work on the embedded database of a data directory: on the server's own PostgreSQL
 * where it runs, else on one started for this.
 * @param use gets the folder `database`
 * @throws Failure where there is none
 */
export async function withEmbedded<T>(dataDir: string, use: (folder: string) => Promise<T>): Promise<T> {
  const folder = join(dataDir, 'database')
  if (!existsSync(join(folder, 'data', 'PG_VERSION'))) throw new Failure(`${folder} holds no database.`)
  const lock = lockUnlessRunning(dataDir)
  try {
    const postgres = lock === null ? null : await startEmbeddedPostgres(folder)
    try {
      return await use(folder)
    } finally {
      await postgres?.stop()
    }
  } finally {
    lock?.close()
  }
}

function lockUnlessRunning(directory: string): ReturnType<typeof lockDataDirectory> | null {
  try {
    return lockDataDirectory(directory)
  } catch (error) {
    if (error instanceof DataDirectoryLocked) return null
    throw error
  }
}
