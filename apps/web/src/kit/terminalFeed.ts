/** Given to the screen at once: more makes typing wait behind it. */
const inFlightMax = 256 * 1024
/** Kept behind it: more than the screen's own scrollback holds would be drawn for nobody. */
const queuedMax = 4 * 1024 * 1024

/** Ends an escape sequence that dropping bytes cut in two. */
const cancelSequence = Uint8Array.of(0x18)

/**
 * Hands a terminal's output to the screen no faster than it draws. What prints without end (`yes`)
 * loses its middle, never its end, so that Ctrl+C shows its effect at once.
 * @param write draws bytes and tells when it did
 */
export function createTerminalFeed(write: (bytes: Uint8Array, drawn: () => void) => void) {
  let queue: { bytes: Uint8Array; drawn: (() => void) | undefined }[] = []
  let queued = 0
  let inFlight = 0
  let generation = 0

  const pump = (): void => {
    while (inFlight < inFlightMax) {
      const next = queue.shift()
      if (next === undefined) return
      queued -= next.bytes.length
      inFlight += next.bytes.length
      const mine = generation
      write(next.bytes, () => {
        if (mine !== generation) return
        inFlight -= next.bytes.length
        next.drawn?.()
        pump()
      })
    }
  }

  return {
    /** @param drawn called when these bytes are on the screen, or were dropped */
    push(bytes: Uint8Array, drawn?: () => void): void {
      queue.push({ bytes, drawn })
      queued += bytes.length
      if (queued > queuedMax) {
        const dropped: typeof queue = []
        while (queued > queuedMax / 2 && queue.length > 1) {
          const oldest = queue.shift()
          if (oldest === undefined) break
          queued -= oldest.bytes.length
          dropped.push(oldest)
        }
        queue.unshift({ bytes: cancelSequence, drawn: undefined })
        queued += cancelSequence.length
        for (const one of dropped) one.drawn?.()
      }
      pump()
    },
    /** Forgets what is not drawn yet. */
    clear(): void {
      queue = []
      queued = 0
      inFlight = 0
      generation += 1
    },
  }
}

/** Without the continuation bytes that it begins with: the character they end was cut off before. */
export function fromCharacterStart(bytes: Uint8Array): Uint8Array {
  let start = 0
  while (start < 3 && start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1
  return start === 0 ? bytes : bytes.subarray(start)
}
