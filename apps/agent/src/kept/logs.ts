import { copyFileSync, closeSync, fstatSync, openSync, readSync, renameSync, rmSync, statSync, truncateSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const followMs = 250
const chunkBytes = 64 * 1_024
/** Of the end of a file, when lines are looked for; lines that begin earlier are not given. */
const tailBytes = 4 * 2 ** 20

export const logFile = (folder: string): string => join(folder, 'out.log')
const olderFile = (folder: string, number: number): string => `${logFile(folder)}.${number}`
export const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0

/**
 * Keeps what a program says within bounds. It goes on writing to the same file, which is emptied when it has been copied:
 * what it says in that moment is lost, and nothing else.
 */
export function rotate(folder: string, { file_bytes, files }: { readonly file_bytes: number; readonly files: number }): boolean {
  if (sizeOf(logFile(folder)) <= file_bytes) return false
  rmSync(olderFile(folder, files - 1), { force: true })
  for (let number = files - 2; number >= 1; number--) {
    if (sizeOf(olderFile(folder, number)) > 0) renameSync(olderFile(folder, number), olderFile(folder, number + 1))
  }
  if (files > 1) copyFileSync(logFile(folder), olderFile(folder, 1))
  truncateSync(logFile(folder), 0)
  return true
}

/** The end of a file, from its last lines on. */
function endOf(path: string, lines: number, from = 0): Buffer {
  let fd: number
  try {
    fd = openSync(path, 'r')
  } catch {
    return Buffer.alloc(0)
  }
  try {
    const { size } = fstatSync(fd)
    const begin = Math.max(Math.min(from, size), size - tailBytes)
    const text = Buffer.alloc(size - begin)
    const read = readSync(fd, text, 0, text.length, begin)
    const all = text.subarray(0, read)
    let at = all.length
    if (all[at - 1] === 10) at--
    for (let left = lines; left > 0; left--) {
      at = all.lastIndexOf(10, at - 1)
      if (at <= 0) return at === 0 && left === 1 ? all.subarray(1) : all
    }
    return all.subarray(at + 1)
  } finally {
    closeSync(fd)
  }
}

const linesIn = (text: Buffer): number => text.reduce((sum, byte) => sum + Number(byte === 10), 0)

/** Its last lines, across the files that it was rotated into. */
export function tail(folder: string, lines: number, files: number): Buffer {
  const parts: Buffer[] = []
  let left = lines
  for (let number = 0; number < files && left > 0; number++) {
    const part = endOf(number === 0 ? logFile(folder) : olderFile(folder, number), left)
    left -= linesIn(part)
    parts.unshift(part)
  }
  return Buffer.concat(parts)
}

/** What it said last since it had said so much, for people who ask why it ended. */
export function lastWords(folder: string, lines: number, from: number): string[] {
  const path = logFile(folder)
  return wordsOf(endOf(path, lines, sizeOf(path) < from ? 0 : from))
}
export const wordsOf = (text: Buffer): string[] =>
  text
    .toString('utf8')
    .split('\n')
    .map((line) => line.replaceAll(/[\0\r]/g, '').slice(0, 1_000))
    .filter((line) => line.trim() !== '')
    .slice(-20)

/** What it says from then on. */
export async function* follow(folder: string, from: number, signal: AbortSignal): AsyncGenerator<Buffer> {
  let at = from
  while (!signal.aborted) {
    const size = sizeOf(logFile(folder))
    // It was emptied.
    if (size < at) at = 0
    if (size > at) {
      const handle = await open(logFile(folder), 'r')
      try {
        const chunk = Buffer.alloc(Math.min(chunkBytes, size - at))
        const { bytesRead } = await handle.read(chunk, 0, chunk.length, at)
        at += bytesRead
        if (bytesRead > 0) yield chunk.subarray(0, bytesRead)
      } finally {
        await handle.close()
      }
      continue
    }
    await sleep(followMs, undefined, { signal, ref: false }).catch(() => undefined)
  }
}
