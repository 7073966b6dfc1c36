import { beforeAll, expect, it } from 'vitest'
import { addTexts, textsOf } from '../../../i18n.ts'
import messages from '../../../locales/zh/nextstack.ts'
import { cancelText, operationText, stepText } from './vmOperationText.ts'

beforeAll(() => void addTexts('nextstack', messages))
const t = textsOf('nextstack')

it('names operations and steps, also ones that it does not know yet', () => {
  expect(operationText(t, 'nextstack.vm.rebuild')).toBe('重装系统')
  expect(operationText(t, 'nextstack.vm.migrate')).toBe('其他操作')
  expect(stepText(t, 'nextstack.vm.create', 'access')).toBe('设置登录方式')
  expect(stepText(t, 'nextstack.vm.create', 'toString')).toBe('处理中')
})

it('tells what is done to snapshots from what is done to the instance', () => {
  expect(operationText(t, 'nextstack.snapshot.create')).toBe('创建快照')
  expect(operationText(t, 'nextstack.snapshot.delete')).toBe('删除快照')
  expect(stepText(t, 'nextstack.snapshot.delete', 'delete')).toBe('删除快照')
  expect(stepText(t, 'nextstack.snapshot.create', 'measure')).toBe('统计占用空间')
  expect(operationText(t, 'nextstack.vm.create')).toBe('创建')
  expect(operationText(t, 'nextstack.snapshot.restore')).toBe('恢复快照')
  expect(stepText(t, 'nextstack.snapshot.create', 'create')).toBe('创建快照')
  expect(cancelText(t, 'nextstack.snapshot.create')).toContain('云主机不受影响')
})

it('says what is lost by cancelling', () => {
  expect(cancelText(t, 'nextstack.vm.create')).toContain('清除')
  expect(cancelText(t, 'nextstack.vm.rebuild')).toContain('系统盘')
  expect(cancelText(t, 'nextstack.vm.delete')).toContain('还没有开始')
})
