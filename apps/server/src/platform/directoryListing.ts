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
