/** A config holds so many characters. */
export const contentMax = 1_000_000

/** The text of a file, or why it is none that a config can hold. */
export async function readText(file: Blob): Promise<{ text: string } | { wrong: 'loadTooLarge' | 'loadBinary' }> {
  // A character has four bytes at most.
  if (file.size > 4 * contentMax) return { wrong: 'loadTooLarge' }
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(await file.arrayBuffer())
    if (text.includes('\0')) return { wrong: 'loadBinary' }
    return text.length > contentMax ? { wrong: 'loadTooLarge' } : { text }
  } catch {
    return { wrong: 'loadBinary' }
  }
}

/** How long a text is, in lines and in bytes. An empty one has no line. */
export const measured = (text: string): { lines: number; bytes: number } => ({
  lines: text === '' ? 0 : text.replace(/\n$/, '').split('\n').length,
  bytes: new TextEncoder().encode(text).length,
})
