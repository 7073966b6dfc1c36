/** At once; the next ones wait for those. */
const most = 500

/**
 * Asks together what is asked one by one: the first question goes out at once, and while it is
 * under way the next ones gather. So what costs little for one node costs little for thousands that
 * come in one moment. A question sees all that was done before it was put.
 * @returns asks for one key; undefined where the answer has none
 */
export function gathered<K, V>(ask: (keys: readonly K[]) => Promise<ReadonlyMap<K, V>>): (key: K) => Promise<V | undefined> {
  const waiting: { readonly key: K; readonly resolve: (value: V | undefined) => void; readonly reject: (error: unknown) => void }[] = []
  let busy = false
  const run = async (): Promise<void> => {
    busy = true
    while (waiting.length > 0) {
      const mine = waiting.splice(0, most)
      try {
        const found = await ask([...new Set(mine.map(({ key }) => key))])
        for (const { key, resolve } of mine) resolve(found.get(key))
      } catch (error) {
        for (const { reject } of mine) reject(error)
      }
    }
    busy = false
  }
  return (key) =>
    new Promise((resolve, reject) => {
      waiting.push({ key, resolve, reject })
      if (!busy) void run()
    })
}
