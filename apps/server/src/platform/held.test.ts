import { changes } from '@zhisuan/contract/change'
import { expect, it, vi } from 'vitest'
import { testApp } from '../testing/app.ts'
import { call, refused, send } from '../testing/call.ts'
import { someone } from '../testing/people.ts'
import { createHeld, heldMax } from './held.ts'

it('counts for each person by themselves, and what was given back once only', () => {
  const held = createHeld('longPolls')
  const full = expect.objectContaining({ refusal: 'longPollsExceeded' }) as Error
  const taken = Array.from({ length: heldMax.longPolls }, () => held.take('one'))
  expect(() => held.take('one')).toThrow(full)
  held.take('other')
  taken[0]?.()
  taken[0]?.()
  held.take('one')
  expect(() => held.take('one')).toThrow(full)
})

it('one person waits for changes in so many pages; a closed one makes room at once', async () => {
  const app = await testApp()
  try {
    const url = await app.http.listen({ port: 0 })
    const [person, other] = [await someone(app), await someone(app)]
    const { cursor } = await call(app, changes.wait, { token: person.token })
    const pages = Array.from({ length: heldMax.longPolls }, () => {
      const page = new AbortController()
      fetch(`${url}${changes.wait.path}?after=${cursor}`, { headers: { authorization: `Bearer ${person.token}` }, signal: page.signal }).catch(() => undefined)
      return page
    })
    // Who names no change is answered at once, where there is room.
    await vi.waitFor(async () => expect(await refused(app, changes.wait, { token: person.token })).toMatchObject({ status: 429, code: 90023 }), 5000)
    expect((await send(app, changes.wait, { token: other.token })).status).toBe(200)
    pages[0]?.abort()
    await vi.waitFor(async () => expect((await send(app, changes.wait, { token: person.token })).status).toBe(200), 5000)
    for (const page of pages) page.abort()
  } finally {
    await app.close()
  }
})
