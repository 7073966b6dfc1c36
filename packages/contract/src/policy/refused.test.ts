import { describe, expect, it } from 'vitest'
import { isRefused, packRefused } from './refused.ts'

describe('what is refused, told shortly', () => {
  const packed = packRefused(
    ['bill.order.list', 'bill.order.pay', 'bill.topup.list', 'nextstack.vm.create', 'iam.role.list'],
    ['bill.account.list', 'nextstack.vm.list'],
  )

  it('names a family or a kind where all of it is refused, and else each', () => {
    expect(packed).toEqual(['bill.order.*', 'bill.topup.*', 'nextstack.vm.create', 'iam.*'])
  })

  it('says the same as the actions one by one', () => {
    for (const action of ['bill.order.list', 'bill.order.pay', 'bill.topup.list', 'nextstack.vm.create', 'iam.role.list'])
      expect(isRefused(packed, action), action).toBe(true)
    for (const action of ['bill.account.list', 'nextstack.vm.list', 'nextstack.vm']) expect(isRefused(packed, action), action).toBe(false)
    expect(isRefused([], 'nextstack.vm.list')).toBe(false)
  })
})
