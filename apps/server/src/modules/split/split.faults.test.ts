import { expect, it } from 'vitest'
import { freshDatabase } from '../../testing/database.ts'
import { killAtStatements } from './split.faults.ts'

it('a month that four processes split at once is split once, whichever statement one of them is killed at', async () => {
  const { url, drop } = await freshDatabase()
  try {
    // As it takes the contract, and as it writes lines.
    expect((await killAtStatements(url, [2, 14])).killed).toBe(2)
  } finally {
    await drop()
  }
})
