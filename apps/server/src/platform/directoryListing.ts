import { posix } from 'node:path'
import type { DirectoryEntry } from '@zhisuan/contract/directory'

/** Asks a directory of a machine that runs; both GNU and BusyBox know these. Without a shell: a path is one word, whatever is in it. */
export const listing = (path: string): [string, ...string[]] => ['ls', '-lAn', '--full-time', '--', path.endsWith('/') ? path : `${path}/`]

/** The same of one thing, behind whatever links lead to it. */
export const lookingAt = (path: string): [string, ...string[]] => ['ls', '-lLdn', '--full-time', '--', path]

const line = /^([-dlbcps])([-rwxsStT]{9})\S*\s+\d+\s+\d+\s+\d+\s+(?:(\d+)|\d+,\s*\d+)\s+(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.\d+)? ([+-]\d\d)(\d\d) (.+)$/
const kinds: Readonly<Record<string, DirectoryEntry['kind']>> = { '-': 'file', d: 'directory', l: 'link' }

/** What `ls` said; null where it cannot be read for sure, such as names with line breaks. */
export function listed(text: string): DirectoryEntry[] | null {
  const entries: DirectoryEntry[] = []
  for (const one of text.split('\n')) {
    if (one === '' || /^total \d+$/.test(one)) continue
    const [, type = '', rights = '', size, day, time, hours, minutes, rest = ''] = line.exec(one) ?? []
    if (rest === '') return null
    const [name = '', target] = type === 'l' ? rest.split(' -> ', 2) : [rest]
    entries.push({
      name,
      kind: kinds[type] ?? 'other',
      size_bytes: Number(size ?? 0),
      mode: modeOf(rights),
      modified_at: new Date(`${day}T${time}${hours}:${minutes}`).toISOString(),
      target: target ?? null,
    })
  }
  return entries
}

/** The same of each name as its bytes are: BusyBox's `ls` writes `?` for what is not ASCII. */
const exactly = (path: string): [string, ...string[]] => [
  'find',
  path.endsWith('/') ? path : `${path}/`,
  '-mindepth',
  '1',
  '-maxdepth',
  '1',
  '-exec',
  'stat',
  '-c',
  '%f|%s|%Y|%a|%n',
  '{}',
  '+',
]
const exactLine = /^([0-9a-f]+)\|(\d+)\|(\d+)\|([0-7]+)\|(.+)$/
const kindBits: Readonly<Record<number, DirectoryEntry['kind']>> = { 0x8000: 'file', 0x4000: 'directory', 0xa000: 'link' }

/** What `stat` said; null where it cannot be read for sure. Where links lead it does not say. */
export function stated(text: string): DirectoryEntry[] | null {
  const entries = text
    .split('\n')
    .filter((one) => one !== '')
    .map((one): DirectoryEntry | null => {
      const [, bits = '', size, seconds, rights = '', path = ''] = exactLine.exec(one) ?? []
      if (path === '') return null
      return {
        name: posix.basename(path),
        kind: kindBits[Number.parseInt(bits, 16) & 0xf000] ?? 'other',
        size_bytes: Number(size),
        mode: rights.padStart(4, '0'),
        modified_at: new Date(Number(seconds) * 1_000).toISOString(),
        target: null,
      }
    })
  return entries.every((entry) => entry !== null) ? entries : null
}

/**
 * What is in a directory of a machine that runs; null where its programs cannot tell.
 * @param run asks one; null where there is none
 */
export async function directoryOf(
  path: string,
  run: (command: [string, ...string[]]) => Promise<{ readonly exitCode: number; readonly stdout: Buffer } | null>,
): Promise<DirectoryEntry[] | null> {
  const told = async (command: [string, ...string[]], read: (text: string) => DirectoryEntry[] | null): Promise<DirectoryEntry[] | null> => {
    const said = await run(command)
    return said?.exitCode === 0 ? read(said.stdout.toString('utf8')) : null
  }
  const entries = await told(listing(path), listed)
  if (entries?.some(({ name }) => name.includes('?')) !== true) return entries
  const exact = await told(exactly(path), stated)
  // Where a link leads is not among it.
  return exact?.map((entry) => ({ ...entry, target: entries.find(({ name }) => name === entry.name)?.target ?? null })) ?? entries
}

/** `rwxr-sr-t` in octal: `3755`. */
function modeOf(rights: string): string {
  let mode = 0
  for (const [index, letter] of [...rights].entries()) {
    const bit = 1 << (8 - index)
    if (letter !== '-' && letter !== 'S' && letter !== 'T') mode |= bit
    if (/[sStT]/.test(letter)) mode |= 0o4000 >> Math.floor(index / 3)
  }
  return mode.toString(8).padStart(4, '0')
}
