/** Runs what has the same key one after the other, and the rest side by side. Within this process. */
export function createOneAtATime() {
  const last = new Map<string, Promise<unknown>>()
  return async <T>(key: string, run: () => Promise<T>): Promise<T> => {
    const before = last.get(key)
    const mine = before === undefined ? run() : before.then(run, run)
    last.set(key, mine)
    try {
      return await mine
    } finally {
      if (last.get(key) === mine) last.delete(key)
    }
  }
}
