import { existsSync } from 'node:fs'
import { defineConfig, type LaunchOptions } from '@playwright/test'

/** Debian's Chromium without windows, or the whole one, which is slower. */
const shell = '/usr/bin/chromium-headless-shell'

/** Headless, alone with its pages. */
export const launchOptions: LaunchOptions = {
  executablePath: process.env['CHROMIUM'] ?? (existsSync(shell) ? shell : '/usr/bin/chromium'),
  // Without a locale of UTF-8 it names no file in Chinese: what people save would be called `download`.
  env: { ...definedOf(process.env), LANG: 'C.UTF-8', LC_ALL: 'C.UTF-8' },
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
  // They wait more than they compute.
  workers: 2,
  // What passes the second time only is told of at the end, and has to be mended; it keeps nobody's work away.
  retries: process.env['CI'] === undefined ? 0 : 1,
  forbidOnly: process.env['CI'] !== undefined,
  // Ends what hangs, and nothing else: a machine that does everything at once is slow.
  timeout: 600_000,
  expect: { timeout: 60_000 },
  reporter: 'list',
  use: {
    actionTimeout: 60_000,
    navigationTimeout: 60_000,
    locale: 'zh-CN',
    timezoneId: 'Asia/Shanghai',
    viewport: { width: 1440, height: 900 },
    // A trace takes about as much of a processor as the test itself.
    trace: process.env['TRACE'] === undefined ? 'off' : 'retain-on-failure',
    screenshot: 'only-on-failure',
    launchOptions,
    // What slides in is in the way of whoever presses it at once. motion.spec.ts looks at it with motion, too.
    contextOptions: { reducedMotion: 'reduce' },
  },
})

function definedOf(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
}
