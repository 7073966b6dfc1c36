/**
 * Lets those who ask the same thing at the same time share one answer: a hundred consoles that
 * look at a list cost one query. Whoever asks while an answer is being made waits for the next
 * one, which is begun after they asked: so nobody gets an answer older than their question, and what
 * they changed before, they see.
 */
export function createShared<T>(): (key: string, make: () => Promise<T>) => Promise<T> {
  const flights = new Map<string, { now: Promise<T>; next: Promise<T> | null }>()

  const begin = (key: string, make: () => Promise<T>): Promise<T> => {
    const now = make()
    const flight = { now, next: null }
    flights.set(key, flight)
    const landed = () => {
      // Another may be in the air already, begun by one who waited for this.
      if (flights.get(key) === flight && flight.next === null) flights.delete(key)
    }
    now.then(landed, landed)
    return now
  }

  return (key, make) => {
    const flight = flights.get(key)
    if (flight === undefined) return begin(key, make)
    const again = () => begin(key, make)
    flight.next ??= flight.now.then(again, again)
    return flight.next
  }
}
