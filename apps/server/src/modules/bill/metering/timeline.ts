import { isMeter, type Meter } from '@zhisuan/contract/bill/meter'

/** What a resource uses from a moment on, all of it. */
export interface UsageEvent {
  id: string
  bp_id: string
  project_id: string | null
  /** Seconds since 1970; parts of a second count for the second that they are in. */
  at: number
  /** Which of two of one moment is the later. */
  revision: number
  /** Quantity, in base units, of each meter: `vm.vcpu`, `vm.gpu/NVIDIA A100`. */
  usage: Readonly<Record<string, number>>
  /** What its lines have to keep: JSON, as the database writes it. Left out: nothing. */
  attributes?: string | null
}

/** So much of one meter, from and to whole seconds. */
export interface Interval {
  meter: Meter
  variant: string
  bp_id: string
  project_id: string | null
  quantity: number
  from: number
  /** Null: it goes on. */
  to: number | null
  /** As the event's. */
  attributes: string | null
}

/**
 * The intervals that all events of a resource make: the same for the same events in whatever
 * order, and however often each. Of one meter none overlap; neighbours that are alike are one.
 */
export function intervalsOf(events: readonly UsageEvent[]): Interval[] {
  const inOrder = events.toSorted(
    (one, other) =>
      Math.floor(one.at) - Math.floor(other.at) || one.at - other.at || one.revision - other.revision || (one.id < other.id ? -1 : Number(one.id > other.id)),
  )
  const intervals: Interval[] = []
  const open = new Map<string, Interval>()
  for (const [index, event] of inOrder.entries()) {
    const from = Math.floor(event.at)
    const next = inOrder[index + 1]
    // What holds for less than the rest of a second is none.
    if (next !== undefined && Math.floor(next.at) === from) continue
    for (const [key, interval] of open) {
      const goesOn =
        event.usage[key] === interval.quantity &&
        event.bp_id === interval.bp_id &&
        event.project_id === interval.project_id &&
        (event.attributes ?? null) === interval.attributes
      if (goesOn) continue
      interval.to = from
      open.delete(key)
    }
    for (const [key, quantity] of Object.entries(event.usage)) {
      const [meter = '', ...variant] = key.split('/')
      if (open.has(key) || quantity <= 0 || !isMeter(meter)) continue
      const { bp_id, project_id, attributes = null } = event
      const interval: Interval = { meter, variant: variant.join('/'), bp_id, project_id, quantity, from, to: null, attributes }
      intervals.push(interval)
      open.set(key, interval)
    }
  }
  return intervals
}
