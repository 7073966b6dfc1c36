import { expect, it } from 'vitest'
import { freshDatabase } from '../../testing/database.ts'
import { killAtStatements } from './split.faults.ts'

it('a month that four processes split at once is split once, killed at each statement and behind each', async () => {
  const { url, drop } = await freshDatabase()
  try {
    const { killed, statements } = await killAtStatements(url, null)
    expect(statements).toBeGreaterThan(20)
    expect(killed).toBe(2 * statements)
  } finally {
    await drop()
  }
})
