/** Directories of a machine, always absolute and without a slash at the end; the root is `/`. */
export function cleanPath(text: string): string {
  const parts: string[] = []
  for (const part of text.split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part)
  }
  return `/${parts.join('/')}`
}

export const childPath = (directory: string, name: string): string => (directory === '/' ? `/${name}` : `${directory}/${name}`)

/** The directory and all above it, the root first: what the way there consists of. */
export function pathParts(directory: string): readonly { readonly name: string; readonly path: string }[] {
  const names = directory.split('/').filter((name) => name !== '')
  return [{ name: '/', path: '/' }, ...names.map((name, index) => ({ name, path: `/${names.slice(0, index + 1).join('/')}` }))]
}

const bits = ['---', '--x', '-w-', '-wx', 'r--', 'r-x', 'rw-', 'rwx'] as const

/** `0755` as `rwxr-xr-x`; what is no octal number stays as it is. */
export function modeText(mode: string): string {
  if (!/^[0-7]{3,4}$/.test(mode)) return mode
  return Array.from(mode.slice(-3), (digit) => bits[Number(digit)] ?? '').join('')
}
