import type { Command, CommandStatus } from '@zhisuan/contract/nextstack/command'
import type { StatusTone } from '../../../kit/StatusTag.tsx'

/** What the page of commands is about, as its address has it: `?mode=batch&vms=a,b&command=c`. */
export interface BatchState {
  /** Instances to begin with, such as those that were selected in a list. */
  readonly vms: readonly string[]
  /** The command whose results are shown. */
  readonly command: string | null
}

/** The contract takes as many. */
export const vmsMax = 50

export const isBatch = (search: URLSearchParams): boolean => search.get('mode') === 'batch'

export const readBatch = (search: URLSearchParams): BatchState => ({
  vms: [...new Set((search.get('vms') ?? '').split(',').filter((id) => id !== ''))],
  command: search.get('command') || null,
})

/** What stands in the address of lists on the same page stays there. */
export function writeBatch(search: URLSearchParams, state: BatchState): URLSearchParams {
  const next = new URLSearchParams(search)
  next.set('mode', 'batch')
  const set = (key: string, value: string): void => (value === '' ? next.delete(key) : next.set(key, value))
  set('vms', state.vms.join(','))
  set('command', state.command ?? '')
  return next
}

export const commandTones: Readonly<Record<CommandStatus, StatusTone>> = {
  queued: 'busy',
  running: 'busy',
  succeeded: 'good',
  failed: 'bad',
  timed_out: 'bad',
  cancelled: 'rest',
}

export const isOpen = ({ status }: Pick<Command, 'status'>): boolean => status === 'queued' || status === 'running'

/** How long it ran so far, or in all; null where it never began. */
export function elapsedMs(of: { readonly started_at: string | null; readonly finished_at: string | null }, now: number): number | null {
  if (of.started_at === null) return null
  return Math.max(0, (of.finished_at === null ? now : Date.parse(of.finished_at)) - Date.parse(of.started_at))
}
