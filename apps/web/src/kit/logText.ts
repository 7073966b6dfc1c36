/** Colours, cursor movements and titles that a console log is full of, and characters that print nothing. */
// oxlint-disable-next-line no-control-regex
const escapes = /\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[PX^_][^\x1b]*(?:\x1b\\)?|\x1b[ -/]*[0-~]|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/g

/** The lines of a console log as a person would have seen them at the end. */
export function consoleLines(text: string): string[] {
  const plain = text.replace(escapes, '').replace(/\r+\n/g, '\n').replace(/\n+$/, '')
  if (plain === '') return []
  // What is printed after a carriage return writes over what was there: progress bars.
  return plain.split('\n').map((line) => {
    const parts = line.split('\r').filter((part) => part !== '')
    return parts.reduce((under, over) => over + under.slice(over.length), '')
  })
}

/** Where a text occurs in the lines, without regard to upper and lower case. */
export function findInLines(lines: readonly string[], text: string): readonly number[] {
  const wanted = text.trim().toLowerCase()
  if (wanted === '') return []
  return lines.flatMap((line, index) => (line.toLowerCase().includes(wanted) ? [index] : []))
}

/** A line cut at each occurrence: plain, match, plain, match, …, plain. */
export function splitAtMatches(line: string, text: string): readonly string[] {
  const wanted = text.trim().toLowerCase()
  const lower = line.toLowerCase()
  // Lower case of some letters is longer than they are: then places do not fit, and nothing is marked.
  if (wanted === '' || lower.length !== line.length) return [line]
  const parts: string[] = []
  let from = 0
  for (let at = lower.indexOf(wanted); at !== -1; at = lower.indexOf(wanted, from)) {
    parts.push(line.slice(from, at), line.slice(at, at + wanted.length))
    from = at + wanted.length
  }
  return [...parts, line.slice(from)]
}
