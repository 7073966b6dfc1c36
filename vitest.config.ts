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
