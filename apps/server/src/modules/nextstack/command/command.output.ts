import type { Printed } from './command.store.ts'

/** Of each stream; the beginning is kept. */
const keptBytes = 256 * 1024

/** Takes what a command prints, as text, as far as it is kept. */
export function createOutput() {
  const streams = { stdout: createStream(), stderr: createStream() }
  let changed = false
  return {
    push(name: 'stdout' | 'stderr', data: Buffer): void {
      changed = streams[name].push(data) || changed
    },
    /** What was printed so far. */
    printed: (): Printed => ({
      stdout: streams.stdout.text(),
      stderr: streams.stderr.text(),
      truncated: streams.stdout.truncated() || streams.stderr.truncated(),
    }),
    /** Whether that is other than when this was asked before. */
    takeChanged(): boolean {
      const was = changed
      changed = false
      return was
    },
  }
}
export type Output = ReturnType<typeof createOutput>

function createStream() {
  // What is no UTF-8 shows as that; a character may come in two pieces.
  const decoder = new TextDecoder()
  let text = ''
  let size = 0
  return {
    /** @returns whether anything is other than before */
    push(data: Buffer): boolean {
      const part = data.subarray(0, Math.max(0, keptBytes - size))
      const wasWhole = size <= keptBytes
      size += data.length
      // No text of a database has U+0000.
      text += decoder.decode(part, { stream: true }).replaceAll('\u0000', '\uFFFD')
      return part.length > 0 || (wasWhole && size > keptBytes)
    },
    text: (): string => text,
    truncated: (): boolean => size > keptBytes,
  }
}
