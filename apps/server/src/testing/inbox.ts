import { setTimeout as wait } from 'node:timers/promises'
import { z } from 'zod'
import type { TestApp } from './app.ts'

const inbox = z.object({
  items: z.array(
    z.object({ channel: z.enum(['sms', 'email']), address: z.string(), purpose: z.string(), text: z.string(), created_at: z.iso.datetime({ offset: true }) }),
  ),
})
export type InboxItem = z.output<typeof inbox>['items'][number]

/** What the development server has sent to nobody, newest first. */
export async function inboxOf(app: TestApp, address: string): Promise<InboxItem[]> {
  const response = await app.http.inject('/api/dev/v1/inbox')
  return inbox.parse(response.json()).items.filter((item) => item.address === address)
}

/** The newest code sent to an address; waits for the job that sends it. `already`: how many were there before. */
export async function codeSentTo(app: TestApp, address: string, already = 0): Promise<string> {
  // What was asked for before is sent before.
  for (const end = Date.now() + 60_000; Date.now() < end;) {
    const items = await inboxOf(app, address)
    const code = /\d{6}/.exec(items[0]?.text ?? '')?.[0]
    if (items.length > already && code !== undefined) return code
    await wait(50)
  }
  throw new Error(`no code came for ${address}`)
}
