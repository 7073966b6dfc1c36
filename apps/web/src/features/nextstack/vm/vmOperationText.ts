import type { VmOperation } from '@zhisuan/contract/nextstack/vm'
import type { TFunction } from 'i18next'
import type { StatusTone } from '../../../kit/StatusTag.tsx'
import type messages from '../../../locales/zh/nextstack.ts'

type Texts = (typeof messages)['operation']

export const operationTones: Readonly<Record<VmOperation['status'], StatusTone>> = {
  queued: 'busy',
  running: 'busy',
  succeeded: 'good',
  failed: 'bad',
  cancelled: 'rest',
}

/** The verb of `nextstack.vm.start`: what a person reads as 启动. */
export function operationText(t: TFunction<'nextstack'>, kind: string): string {
  const verb = kind.split('.').at(-1) ?? ''
  const known: readonly string[] = ['create', 'start', 'stop', 'restart', 'resize', 'rebuild', 'delete'] satisfies (keyof Texts['kind'])[]
  // Checked by the line above.
  return t(`operation.kind.${known.includes(verb) ? (verb as keyof Texts['kind']) : 'other'}`)
}

export function stepText(t: TFunction<'nextstack'>, step: string): string {
  const known: readonly string[] = ['create', 'start', 'stop', 'access', 'resize', 'rebuild', 'observe', 'delete'] satisfies (keyof Texts['step'])[]
  // Checked by the line above.
  return t(`operation.step.${known.includes(step) ? (step as keyof Texts['step']) : 'other'}`)
}

/** How long it took, or takes so far; null while it waits. */
export function operationMs(operation: Pick<VmOperation, 'started_at' | 'finished_at'>, now: number): number | null {
  if (operation.started_at === null) return null
  const end = operation.finished_at === null ? now : Date.parse(operation.finished_at)
  // Another machine's clock may be ahead.
  return Math.max(0, end - Date.parse(operation.started_at))
}
