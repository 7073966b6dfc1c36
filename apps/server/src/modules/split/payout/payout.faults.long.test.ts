import { expect, it } from 'vitest'
import { freshDatabase } from '../../../testing/database.ts'
import { killWhilePaying } from './payout.faults.ts'

it('a payout whose server is killed at each statement, behind each, and while the bank has the question is paid once', { timeout: 250_000 }, async () => {
  const { url, drop } = await freshDatabase()
  try {
    const { killed, statements } = await killWhilePaying(url, true)
    expect(statements).toBeGreaterThan(10)
    expect(killed).toBeGreaterThanOrEqual(2 * statements)
  } finally {
    await drop()
  }
})
