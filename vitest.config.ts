import { defineConfig } from 'vitest/config'

/** Unit and API tests lie beside what they test; engine tests need a real engine and run apart. */
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['apps/*/src/**/*.test.{ts,tsx}', 'packages/*/src/**/*.test.ts'],
          exclude: ['**/*.engine.test.ts', '**/node_modules/**'],
          // One PostgreSQL for all; each file that builds the server gets a database of its own.
          globalSetup: ['apps/server/src/testing/database.ts'],
          testTimeout: 20_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'engines',
          include: ['packages/engines/src/**/*.engine.test.ts', 'tests/engines/**/*.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 120_000,
          fileParallelism: false,
        },
      },
    ],
  },
})
