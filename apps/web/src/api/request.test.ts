import { orders } from '@zhisuan/contract/bill/order'
import { idempotencyKeyHeader } from '@zhisuan/contract/define'
import { errors } from '@zhisuan/contract/errors'
import { auth } from '@zhisuan/contract/ums/auth'
import { users } from '@zhisuan/contract/ums/user'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { noAnswer, request } from './client.ts'

const sent = vi.fn<(url: string, init: RequestInit) => Promise<Response>>()
const body = { username: 'a', password: 'b' }
const answer = { token: 'u', expires_at: '2026-11-26T08:00:00.000Z', must_change_password: false }
beforeEach(() => {
  vi.stubGlobal('document', { cookie: 'token=t' })
  vi.stubGlobal('fetch', sent)
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
  sent.mockReset()
})

describe('a request', () => {
  it.each(['undefined', 'an undefined one'])('whose path holds undefined is never sent: %s', async (id) => {
    await expect(request(users.delete, { params: { id } })).rejects.toMatchObject({ code: errors.pathUndefined.code })
    expect(sent).not.toHaveBeenCalled()
  })

  it('may ask for undefined in its query', async () => {
    sent.mockResolvedValue(Response.json({ items: [], total: 0, page_num: 1, page_size: 10 }))
    await request(users.list, { query: { keyword: 'undefined' } })
    expect(sent.mock.lastCall?.[0]).toBe(`${users.list.path}?keyword=undefined`)
  })

  it('goes as JSON, with the token and with cookies of our own origin', async () => {
    sent.mockResolvedValue(Response.json(answer))
    await request(auth.password, { body })
    const init = sent.mock.lastCall?.[1]
    const headers = new Headers(init?.headers)
    expect([headers.get('content-type'), headers.get('authorization'), init?.credentials]).toEqual(['application/json', 'Bearer t', 'same-origin'])
    expect(init?.body).toBe(JSON.stringify(body))
  })

  it('that moves money goes with its key, and any other with none', async () => {
    sent.mockImplementation(async () => Response.json(answer))
    await request(orders.pay, { params: { id: 'o' }, key: 'the-key-of-a-form' })
    expect(new Headers(sent.mock.lastCall?.[1].headers).get(idempotencyKeyHeader)).toBe('the-key-of-a-form')
    await request(auth.password, { body })
    expect(new Headers(sent.mock.lastCall?.[1].headers).get(idempotencyKeyHeader)).toBeNull()
  })

  it.each([200, 201, 202])('that is answered by %d returns the body', async (status) => {
    sent.mockResolvedValue(Response.json(answer, { status }))
    await expect(request(auth.password, { body })).resolves.toEqual(answer)
  })

  it('that is answered by 204 returns nothing', async () => {
    sent.mockResolvedValue(new Response(null, { status: 204 }))
    await expect(request(auth.logout, {})).resolves.toBeUndefined()
  })

  it('is given up after 60,000 ms without an answer', async () => {
    vi.useFakeTimers()
    const ended = vi.fn()
    sent.mockImplementation((_, { signal }) => new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(new Error('aborted')))))
    const failed = request(users.current, {}).then(
      () => expect.fail(),
      (error: unknown) => (ended(), error),
    )
    await vi.advanceTimersByTimeAsync(59_999)
    expect(ended).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(1)
    await expect(failed).resolves.toMatchObject({ code: noAnswer.timeout })
  })
})
