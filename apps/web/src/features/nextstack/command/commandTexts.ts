import type { Command } from '@zhisuan/contract/nextstack/command'
import type { TFunction } from 'i18next'

/** `3 / 5 台完成，1 台失败` */
export function resultText(
  t: TFunction<'nextstackCompute'>,
  { vm_count, succeeded_count, failed_count }: Pick<Command, 'vm_count' | 'succeeded_count' | 'failed_count'>,
): string {
  const values = { done: succeeded_count + failed_count, count: vm_count, failed: failed_count }
  return failed_count > 0 ? t('command.progress', values) : t('command.progressFine', values)
}
