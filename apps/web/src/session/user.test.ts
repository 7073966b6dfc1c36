import { expect, it } from 'vitest'
import { balanceOwner } from './user.ts'

it('the balance is the person’s own for kinds 0 and 1, and the organisation’s for others', () => {
  const of = (kind: 0 | 1 | 2 | 3 | 4) => balanceOwner({ kind, id: 'person', bp_id: 'organisation' })
  expect(([0, 1, 2, 3, 4] as const).map(of)).toEqual(['person', 'person', 'organisation', 'organisation', 'organisation'])
  expect(balanceOwner({ kind: 4, id: 'person', bp_id: null })).toBeNull()
})
