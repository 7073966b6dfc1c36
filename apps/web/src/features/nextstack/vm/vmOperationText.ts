import type { TFunction } from 'i18next'
import type messages from '../../../locales/zh/nextstack.ts'

type Texts = (typeof messages)['operation']

/** What is done to the instance's snapshots, and not to the instance. */
const ofSnapshots: Readonly<Record<string, 'snapshot' | 'snapshotDelete'>> = {
  'nextstack.snapshot.create': 'snapshot',
  'nextstack.snapshot.delete': 'snapshotDelete',
}

/** The verb of `nextstack.vm.start`: what a person reads as 启动; of what is done to snapshots, that it is. */
export function operationText(t: TFunction<'nextstack'>, kind: string): string {
  const verb = ofSnapshots[kind] ?? kind.split('.').at(-1) ?? ''
  const known: readonly string[] = [
    'create',
    'start',
    'stop',
    'restart',
    'resize',
    'rebuild',
    'snapshot',
    'snapshotDelete',
    'restore',
    'delete',
  ] satisfies (keyof Texts['kind'])[]
  // Checked by the line above.
  return t(`operation.kind.${known.includes(verb) ? (verb as keyof Texts['kind']) : 'other'}`)
}

export function stepText(t: TFunction<'nextstack'>, kind: string, step: string): string {
  const own = ofSnapshots[kind]
  if (own !== undefined && kind.endsWith(`.${step}`)) return t(`operation.step.${own}`)
  const known: readonly string[] = [
    'create',
    'start',
    'stop',
    'access',
    'resize',
    'rebuild',
    'measure',
    'restore',
    'observe',
    'delete',
  ] satisfies (keyof Texts['step'])[]
  // Checked by the line above.
  return t(`operation.step.${known.includes(step) ? (step as keyof Texts['step']) : 'other'}`)
}

/** What becomes of the instance when an operation of that kind is cancelled. Others than these can be cancelled only before they begin. */
export function cancelText(t: TFunction<'nextstack'>, kind: string): string {
  if (kind === 'nextstack.vm.create') return t('operation.cancelCreate')
  if (kind === 'nextstack.snapshot.create') return t('operation.cancelSnapshot')
  return kind === 'nextstack.vm.rebuild' ? t('operation.cancelRebuild') : t('operation.cancelWaiting')
}
