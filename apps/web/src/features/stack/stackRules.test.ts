import type { TFunction } from 'i18next'
import { expect, it } from 'vitest'
import { operationTexts } from './stackRules.ts'

it('what stops containers says what it waits for', () => {
  const { step } = operationTexts(((key: string) => key) as unknown as TFunction<'application'>)
  for (const kind of ['update', 'rollback', 'scale']) expect(step(`aos.stack.${kind}`, 'compose')).toBe('operation.waiting.compose')
  for (const kind of ['stop', 'restart']) expect(step(`aos.stack.${kind}`, 'act')).toBe('operation.waiting.act')
  expect(step('aos.stack.create', 'compose')).toBe('operation.step.compose')
  expect(step('aos.stack.start', 'act')).toBe('operation.step.act')
})
