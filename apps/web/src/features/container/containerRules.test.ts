import type { TFunction } from 'i18next'
import { expect, it } from 'vitest'
import { operationTexts } from './containerRules.ts'

it('what stops a container says what it waits for', () => {
  const { step } = operationTexts(((key: string) => key) as unknown as TFunction<'container'>)
  for (const kind of ['stop', 'restart']) expect(step(`cis.container.${kind}`, 'act')).toBe('operation.waitForStop')
  expect(step('cis.container.start', 'act')).toBe('operation.step.act')
})
