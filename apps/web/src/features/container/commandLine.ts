/**
 * Words of a command line as a shell would cut them: quotes and backslashes hold together what has
 * spaces in it. Nothing is expanded. Null where a quote is not closed.
 */
export function wordsOf(line: string): string[] | null {
  const words: string[] = []
  let word: string | null = null
  let quote: '"' | "'" | null = null
  for (let at = 0; at < line.length; at++) {
    const character = line.charAt(at)
    const next = line.charAt(at + 1)
    if (quote === "'") {
      if (character === "'") quote = null
      else word = (word ?? '') + character
    } else if (character === '\\' && next !== '' && (quote === null || next === '"' || next === '\\')) {
      word = (word ?? '') + next
      at++
    } else if (quote === '"') {
      if (character === '"') quote = null
      else word = (word ?? '') + character
    } else if (character === '"' || character === "'") {
      quote = character
      word ??= ''
    } else if (/\s/.test(character)) {
      if (word !== null) words.push(word)
      word = null
    } else {
      word = (word ?? '') + character
    }
  }
  if (quote !== null) return null
  return word === null ? words : [...words, word]
}

/** The line that {@link wordsOf} cuts into these words. */
export const lineOf = (words: readonly string[]): string =>
  words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(' ')
