import { test as base, expect, type APIRequestContext, type BrowserContext, type Page, type Response } from '@playwright/test'
import type { ResponseOf } from '@zhisuan/contract/define'
import type { auth } from '@zhisuan/contract/ums/auth'
import { administratorPassword } from '../support/server.ts'
import { someAddress } from './people.ts'
import { stage } from './stage.ts'

export { expect, stage }

const cutOff = 'Failed to fetch dynamically imported module'

/** What a page must not do unseen: log errors, throw, or be refused. Asserted at the end of each test. */
export class Trouble {
  readonly #seen: string[] = []
  readonly #expected: RegExp[] = []
  /** When a page was last left for another. */
  #left = 0

  /** A refusal that the test provokes, as `401 POST /api/…`, or an error's text. */
  expect(...patterns: readonly RegExp[]): void {
    this.#expected.push(...patterns)
  }

  watch(context: BrowserContext): void {
    context.on('console', (message) => {
      // Refused requests are seen below, with their method.
      if (message.type() !== 'error' || message.text().startsWith('Failed to load resource')) return
      // What a page was still loading when it was left.
      if (message.text().includes(cutOff) && Date.now() - this.#left < 5_000) return
      this.#see(`console: ${message.text()}`)
    })
    context.on('weberror', (error) => this.#see(`thrown: ${error.error().stack ?? String(error.error())}`))
    context.on('request', (request) => {
      if (request.isNavigationRequest()) this.#left = Date.now()
    })
    context.on('response', (response: Response) => {
      if (response.status() >= 400) this.#see(`${response.status()} ${response.request().method()} ${new URL(response.url()).pathname}`)
    })
  }

  /** All that was not expected so far; forgets it. */
  take(): readonly string[] {
    return this.#seen.splice(0).filter((one) => !this.#expected.some((pattern) => pattern.test(one)))
  }

  #see(text: string): void {
    this.#seen.push(text)
  }
}

/** Signs a context in, without the login page: that has its own tests. */
export async function signIn(
  context: BrowserContext,
  who: 'admin' | 'tenant' | 'tenantAdmin' | { username: string; password: string },
  url = stage().url,
): Promise<void> {
  const { username, password } = who === 'admin' ? { username: 'admin', password: administratorPassword } : typeof who === 'string' ? stage()[who] : who
  const token = await tokenOf(context.request, username, password, url)
  await context.addCookies([{ name: 'token', value: token, url, sameSite: 'Strict' }])
}

async function tokenOf(request: APIRequestContext, username: string, password: string, url: string): Promise<string> {
  const response = await request.post(`${url}/api/ums/v1/auth/password/tokens`, { data: { username, password } })
  if (!response.ok()) throw new Error(`signing in: ${await response.text()}`)
  return ((await response.json()) as ResponseOf<typeof auth.password>).token
}

/** Toasts, whatever their tone. */
export const toast = (page: Page, text: string | RegExp) => page.locator('.frame-toast', { hasText: text })

export const test = base.extend<{ trouble: Trouble }>({
  baseURL: async ({}, use) => use(stage().url),
  // The server limits requests by address; each test is somebody else.
  extraHTTPHeaders: async ({}, use) => use({ ...someAddress() }),
  trouble: [
    async ({ context }, use) => {
      const trouble = new Trouble()
      trouble.watch(context)
      await use(trouble)
      // What is on its way through a route of the test has nobody to answer any more.
      for (const page of context.pages()) await page.unrouteAll({ behavior: 'ignoreErrors' })
      expect(trouble.take(), 'what went wrong unseen').toEqual([])
    },
    { auto: true },
  ],
})
