import type { Operation } from '@zhisuan/contract/operation'

/** How long it took, or takes so far; null while it waits. */
export function operationMs(operation: Pick<Operation, 'started_at' | 'finished_at'>, now: number): number | null {
  if (operation.started_at === null) return null
  const end = operation.finished_at === null ? now : Date.parse(operation.finished_at)
  // Another machine's clock may be ahead.
  return Math.max(0, end - Date.parse(operation.started_at))
}
