import { expect, it } from 'vitest'
import { testApp } from './testing/app.ts'

it('asks the engine whether what failed came true, of each step where that shows', async () => {
  const app = await testApp()
  try {
    const steps = app.platform
      .modules()
      .flatMap(({ operations = [] }) =>
        operations.flatMap(({ kind, steps }) => steps.map(({ name, reached }) => `${kind} ${name}: ${typeof reached === 'string' ? reached : 'asked'}`)),
      )
    expect(steps.filter((line) => line.startsWith('nextstack.')).toSorted()).toMatchInlineSnapshot()
  } finally {
    await app.close()
  }
})
