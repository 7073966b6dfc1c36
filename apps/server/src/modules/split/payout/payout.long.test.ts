import { it } from 'vitest'
import { playPayouts } from './payout.played.ts'

it('a thousand payouts are paid once each, and a hundred differences of a file are found and nothing else', { timeout: 240_000 }, () =>
  playPayouts({ providers: 10, payouts: 1_000, differences: 100 }),
)
