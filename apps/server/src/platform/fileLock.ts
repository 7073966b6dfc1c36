import { DatabaseSync } from 'node:sqlite'

/** Held until it is closed or the process ends, however it does. */
export interface FileLock {
  close(): void
}

const sqliteBusy = 5
/** Named here, because a lock that nobody names any more is collected, and so given up. */
const held = new Set<DatabaseSync>()

/**
 * Takes a file for this process alone, and makes it where it is not there. Node has no call for file locks, SQLite does: an
 * exclusive transaction on an empty file. The kernel keeps it, so it holds between containers that share a volume as well,
 * and is gone the moment the process is. Nothing else may open that file in this process: closing it unlocks.
 * @returns undefined where somebody has it
 */
export function lockFile(path: string): FileLock | undefined {
  const lock = new DatabaseSync(path, { timeout: 0 })
  try {
    lock.exec('pragma journal_mode = memory; begin exclusive')
    held.add(lock)
    return { close: () => held.delete(lock) && lock.close() }
  } catch (error) {
    lock.close()
    if (error instanceof Error && 'errcode' in error && error.errcode === sqliteBusy) return undefined
    throw error
  }
}
