import { chmodSync, lstatSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** Where the server runs as root the database has a user of its own, who passes through and sees nothing. */
const mode = process.getuid?.() === 0 ? 0o711 : 0o700
/** The database keeps its own; what the agent of this host lays out is read by containers, behind a folder of its own. */
const others: ReadonlySet<string> = new Set(['database', 'agent'])

/**
 * Nobody else on the host reads what is in the data directory: also where an earlier server made it. What lies in a folder
 * that nobody may enter stays as it is: it may be somebody else's, such as the disk of a container.
 */
export function keepPrivate(directory: string): void {
  mkdirSync(directory, { recursive: true, mode })
  chmodSync(directory, mode)
  for (const name of readdirSync(directory)) if (!others.has(name)) close(join(directory, name))
}

function close(path: string): void {
  const about = lstatSync(path, { throwIfNoEntry: false })
  if (about === undefined || about.uid !== process.getuid?.()) return
  if (!about.isDirectory() && !about.isFile()) return
  const wanted = about.mode & (about.isDirectory() ? 0o700 : 0o600)
  if ((about.mode & 0o777) !== wanted) chmodSync(path, wanted)
}
