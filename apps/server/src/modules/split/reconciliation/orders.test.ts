import { expect, it } from 'vitest'
import { playOrders } from './orders.played.ts'

it('what is booked of a payout is what was paid, or an open case says otherwise, in whichever order all of it comes', async () => {
  expect(await playOrders({ times: 1, seed: 20_261_129 })).toBeGreaterThan(0)
})
