import { expect, it } from 'vitest'
import { wrongLimits } from './wrongLimits.ts'

it('a limit of its own is a whole number that is not below 0, and nothing is made of another', () => {
  expect(
    wrongLimits({
      vms: { mode: 'own', most: null },
      eips: { mode: 'own', most: 0 },
      gpus: { mode: 'default', most: null },
      images: { mode: 'own', most: -3 },
      vpcs: { mode: 'own', most: 1.5 },
      volume_bytes: { mode: 'own', most: 1e20 },
    }),
  ).toEqual({ vms: '请输入内容', images: '不能小于0', vpcs: '请输入整数', volume_bytes: '数值过大' })
})
