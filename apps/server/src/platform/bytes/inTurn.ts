/** Does so much at once at most; the others wait in the order in which they came. */
export function workInTurn(atOnce: number): <T>(work: () => Promise<T>) => Promise<T> {
  let running = 0
  const waiting: (() => void)[] = []
  return async (work) => {
    if (running >= atOnce) await new Promise<void>((resolve) => waiting.push(resolve))
    else running++
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      // Its place goes to the next one.
      if (next === undefined) running--
      else next()
    }
  }
}
