import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'

/**
 * How a restore replaces the content of a data directory: all of it or nothing, whenever it is
 * killed. What is new is laid out whole under `.restore/unfinished`; renaming that is the one
 * moment that decides. The rest are renames that anybody with the lock can end.
 */
const workFolder = '.restore'
const unfinished = 'unfinished'
const decided = 'decided'
const entering = 'entering'
const asideFile = 'aside'
const asidePrefix = 'before-restore-'

/** What in a data directory is no data: a restore leaves it, a backup leaves it out. */
export const isDataEntry = (name: string): boolean => ![workFolder, 'lock', 'lost+found'].includes(name) && !name.startsWith(asidePrefix)

/** Where a restore lays out what is new; only until it is decided. */
export const restoreFolder = (directory: string): string => join(directory, workFolder, unfinished)

/** Where the old content goes. @param now or a word in its place, to speak of it */
export const asideFolder = (directory: string, now: Date | string): string =>
  join(directory, `${asidePrefix}${typeof now === 'string' ? now : `${now.toISOString().replace(/[-:]|\..*/g, '')}Z`}`)

/** An empty folder to lay out the new content in. What another restore had laid out is removed. */
export function beginRestore(directory: string): string {
  const folder = restoreFolder(directory)
  rmSync(join(directory, workFolder), { recursive: true, force: true })
  // The database's user passes through, and sees nothing else.
  mkdirSync(folder, { recursive: true, mode: 0o711 })
  return folder
}

/**
 * Puts what was laid out, and has reached the disk, in force.
 * @returns where the old content is now
 */
export function decideRestore(directory: string, now: Date): string {
  const work = join(directory, workFolder)
  const aside = asideFolder(directory, now)
  writeFileSync(join(work, asideFile), basename(aside), { flush: true })
  renameSync(join(work, unfinished), join(work, decided))
  flushFolder(work)
  finishRestore(directory)
  return aside
}

/** Ends what was decided; called by whoever has just taken the lock of the data directory. */
export function finishRestore(directory: string): void {
  const work = join(directory, workFolder)
  const [going, coming] = [join(work, decided), join(work, entering)]
  if (existsSync(going)) {
    const aside = join(directory, readFileSync(join(work, asideFile), 'utf8'))
    const old = readdirSync(directory).filter(isDataEntry)
    if (old.length > 0) {
      mkdirSync(aside, { recursive: true, mode: 0o700 })
      for (const name of old) renameSync(join(directory, name), join(aside, name))
      flushFolder(aside)
      flushFolder(directory)
    }
    renameSync(going, coming)
  }
  if (existsSync(coming)) {
    for (const name of readdirSync(coming)) renameSync(join(coming, name), join(directory, name))
    flushFolder(directory)
    rmSync(work, { recursive: true })
  }
}

/** Renames survive a power cut once their folder is flushed. */
function flushFolder(path: string): void {
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}
