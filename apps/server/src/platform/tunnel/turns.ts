interface Taker {
  readonly begin: () => void
  readonly late: () => void
}

export interface Turns {
  /**
   * Calls `begin` when it is somebody's turn, and `late` where they took too long while others wait:
   * then it is over.
   * @returns ends their turn, or their waiting
   */
  take(begin: () => void, late: () => void): () => void
}

/**
 * Lets so many at once work, and the others wait, in the order in which they come. Where thousands
 * begin together and share what there is, all of them are done late, and nobody in time.
 * @param longMs a turn may last that long where others wait; else as long as it likes
 */
export function createTurns(most: number, longMs: number): Turns {
  const waiting = new Set<Taker>()
  /** With the moment at which it began; the oldest first. */
  const taken = new Map<Taker, number>()
  let timer: NodeJS.Timeout | undefined

  const fill = (): void => {
    for (const one of waiting) {
      if (taken.size >= most) break
      waiting.delete(one)
      taken.set(one, performance.now())
      one.begin()
    }
    if (waiting.size === 0 || timer !== undefined) return
    const [oldest = 0] = taken.values()
    timer = setTimeout(hurry, Math.max(0, oldest + longMs - performance.now()))
  }
  const hurry = (): void => {
    timer = undefined
    const now = performance.now()
    const late = [...taken].filter(([, since]) => now - since >= longMs).slice(0, waiting.size)
    for (const [one] of late) {
      taken.delete(one)
      one.late()
    }
    fill()
  }
  return {
    take(begin, late) {
      const one = { begin, late }
      waiting.add(one)
      fill()
      return () => {
        if (waiting.delete(one) || taken.delete(one)) fill()
      }
    },
  }
}
