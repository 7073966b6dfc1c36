import type { BrowserContext, Page, Request } from '@playwright/test'
import { changes } from '@zhisuan/contract/change'

/** Requests from now on, as `POST /api/…`, and what was answered, as `401 POST /api/…`. */
export interface Traffic {
  sent(what: RegExp): number
  answered(what: RegExp): number
}

export function watchTraffic(of: Page | BrowserContext): Traffic {
  const [sent, answered]: [string[], string[]] = [[], []]
  const line = (request: { method(): string; url(): string }): string => `${request.method()} ${new URL(request.url()).pathname}`
  // Both have the same events, but no common type that says so.
  const events = of as Page
  events.on('request', (request) => sent.push(line(request)))
  events.on('response', (response) => answered.push(`${response.status()} ${line(response.request())}`))
  const count = (list: readonly string[], what: RegExp): number => list.filter((one) => what.test(one)).length
  return { sent: (what) => count(sent, what), answered: (what) => count(answered, what) }
}

/**
 * To be called before the page opens: answers how to wait until nothing has been asked for half a
 * second. Other than `networkidle` it does not wait for the question what changed, which a console
 * asks for as long as it is open.
 */
export function watchQuiet(page: Page): () => Promise<void> {
  const open = new Set<Request>()
  let last = Date.now()
  page.on('request', (request) => {
    if (new URL(request.url()).pathname === changes.wait.path) return
    open.add(request)
    last = Date.now()
  })
  const end = (request: Request): void => {
    if (open.delete(request)) last = Date.now()
  }
  page.on('requestfinished', end)
  page.on('requestfailed', end)
  return async () => {
    while (open.size > 0 || Date.now() - last < 500) await page.waitForTimeout(50)
  }
}
