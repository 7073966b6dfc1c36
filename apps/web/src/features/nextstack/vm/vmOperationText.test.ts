import { beforeAll, expect, it } from 'vitest'
import { i18n } from '../../../i18n.ts'
import messages from '../../../locales/zh/nextstack.ts'
import { operationMs, operationText, stepText } from './vmOperationText.ts'

beforeAll(() => void i18n.addResourceBundle('zh', 'nextstack', messages))
const t = i18n.getFixedT('zh', 'nextstack')

it('names operations and steps, also ones that it does not know yet', () => {
  expect(operationText(t, 'nextstack.vm.rebuild')).toBe('重装系统')
  expect(operationText(t, 'nextstack.vm.migrate')).toBe('其他操作')
  expect(stepText(t, 'access')).toBe('设置登录方式')
  expect(stepText(t, 'toString')).toBe('处理中')
})

it('counts from the start to the end, or to now', () => {
  const started_at = '2026-01-01T00:00:00Z'
  expect(operationMs({ started_at: null, finished_at: null }, 0)).toBeNull()
  expect(operationMs({ started_at, finished_at: '2026-01-01T00:00:03Z' }, 0)).toBe(3_000)
  expect(operationMs({ started_at, finished_at: null }, Date.parse(started_at) + 500)).toBe(500)
  expect(operationMs({ started_at, finished_at: null }, Date.parse(started_at) - 500)).toBe(0)
})
