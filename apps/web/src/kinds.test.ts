import { expect, it } from 'vitest'
import { pageOf } from './kinds.ts'
import { paths } from './paths.ts'

const one = { id: 'i-1', name: 'n' }

// Those that messages are about: modules/sys/message says which, by who tells them.
it.each(['ums.user', 'ecrm.edge', 'cmp.cloud', 'compute.project', 'bill.account', 'bill.budget'])('leads to %s', (kind) => {
  expect(pageOf(kind, one)).toMatch(/^\/./)
})

it('leads to people where who asks keeps them', () => {
  expect(pageOf('ums.user', one)).toBe('/iam/user/detail/i-1')
  expect(pageOf('ums.user', one, paths.organisation)).toBe('/organisation/members/i-1')
})

it('leads nowhere where there is no page', () => {
  expect(pageOf('else.thing', one)).toBeNull()
})
