import { expect, it } from 'vitest'
import { playOrders } from './orders.played.ts'

it.each([11, 12, 13])('what is booked of fifty payouts is what was paid, in whichever order all of it comes: %i', async (seed) => {
  expect(await playOrders({ times: 5, seed })).toBeGreaterThan(0)
})
