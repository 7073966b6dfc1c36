import { auth } from '@zhisuan/contract/ums/auth'
import { users } from '@zhisuan/contract/ums/user'
import { afterEach, expect, it, vi } from 'vitest'
import { noAnswer, request, requestLast } from './client.ts'

afterEach(() => vi.unstubAllGlobals())

it('giving the session up breaks off what is under way, and lets nothing else begin until that is answered', async () => {
  const sent: string[] = []
  const answered = Promise.withResolvers<Response>()
  vi.stubGlobal('document', { cookie: 'token=t' })
  vi.stubGlobal('fetch', (url: string, { signal }: { signal: AbortSignal }) => {
    signal.throwIfAborted()
    sent.push(url)
    return url === auth.logout.path ? answered.promise : new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
  })
  const aborted = expect.objectContaining({ code: noAnswer.aborted }) as Error
  const underWay = request(users.current, {})
  const end = requestLast(auth.logout)
  await expect(underWay).rejects.toEqual(aborted)
  await expect(request(users.current, {})).rejects.toEqual(aborted)
  answered.resolve(new Response(null, { status: 204 }))
  await end
  // The next person's.
  void request(users.current, {}).catch(() => undefined)
  await vi.waitFor(() => expect(sent).toEqual([users.current.path, auth.logout.path, users.current.path]))
})
