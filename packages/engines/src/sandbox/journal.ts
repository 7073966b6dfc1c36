import { appendFileSync, closeSync, existsSync, mkdirSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/** One line a change: the whole object, or its end. */
export interface Journal<T> {
  put(key: string, value: T): void
  remove(key: string): void
}

/**
 * Objects by key, kept in an append-only file and in memory. Opening rewrites the file to what is
 * left; a last line that was torn by a kill is dropped. Null keeps them in memory only. Each kind
 * of object has a file of its own, by `name`.
 */
export function openJournal<T>(
  directory: string | null,
  read: (value: unknown) => T | null,
  name = 'journal',
): { objects: Map<string, T>; journal: Journal<T> } {
  const objects = new Map<string, T>()
  if (directory === null) return { objects, journal: { put: (key, value) => void objects.set(key, value), remove: (key) => void objects.delete(key) } }

  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const path = join(directory, `${name}.jsonl`)
  if (existsSync(path)) {
    for (const line of readFileSync(path, 'utf8').split('\n')) {
      if (line === '') continue
      try {
        const [key, value] = JSON.parse(line) as [string, unknown]
        const object = value === null ? null : read(value)
        if (object === null) objects.delete(key)
        else objects.set(key, object)
      } catch {
        // Torn by a kill in the middle of writing: it never was answered for.
      }
    }
  }
  const compacted = `${path}.new`
  const file = openSync(compacted, 'w', 0o600)
  for (const [key, value] of objects) writeSync(file, `${JSON.stringify([key, value])}\n`)
  closeSync(file)
  renameSync(compacted, path)
  return {
    objects,
    journal: {
      put(key, value) {
        objects.set(key, value)
        appendFileSync(path, `${JSON.stringify([key, value])}\n`)
      },
      remove(key) {
        objects.delete(key)
        appendFileSync(path, `${JSON.stringify([key, null])}\n`)
      },
    },
  }
}
