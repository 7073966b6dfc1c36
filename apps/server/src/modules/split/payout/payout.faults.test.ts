import { expect, it } from 'vitest'
import { freshDatabase } from '../../../testing/database.ts'
import { killWhilePaying } from './payout.faults.ts'

it('a payout whose server is killed before it asks, while the bank has the question, and behind the answer is paid once', async () => {
  const { url, drop } = await freshDatabase()
  try {
    expect((await killWhilePaying(url, false)).killed).toBe(4)
  } finally {
    await drop()
  }
})
