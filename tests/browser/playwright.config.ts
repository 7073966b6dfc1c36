import { defineConfig, type LaunchOptions } from '@playwright/test'

/** Debian's Chromium, headless, alone with its pages. */
export const launchOptions: LaunchOptions = {
  executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
  args: [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ],
}

/** As people's consoles are looked at: in Chinese, in Shanghai. */
export default defineConfig({
  testDir: '.',
  outputDir: '../../test-results/browser',
  globalSetup: './setup.ts',
  // Screenshots for the documents are made on demand: SCREENSHOTS=1.
  ...(process.env['SCREENSHOTS'] === undefined ? { testIgnore: 'screenshots.spec.ts' } : { testMatch: 'screenshots.spec.ts' }),
  workers: 1,
  retries: 0,
  forbidOnly: process.env['CI'] !== undefined,
  timeout: 60_000,
  expect: { timeout: 10_000 },
  reporter: 'list',
  use: {
    actionTimeout: 10_000,
    navigationTimeout: 15_000,
    locale: 'zh-CN',
    timezoneId: 'Asia/Shanghai',
    viewport: { width: 1440, height: 900 },
    trace: 'retain-on-failure',
    screenshot: 'only-on-failure',
    launchOptions,
  },
})
