import { describe, expect, it, vi } from 'vitest'
import { createUploads, problemOf, type Upload } from './fileUpload.ts'

const file = (name: string) => ({ path: `/${name}`, name, file: new Blob([name]) })

/** A queue whose files arrive when the test says so. */
function queue() {
  const sent = new Map<string, { arrive: () => void; fail: (error: unknown) => void; progress: (bytes: number) => void }>()
  const seen = { all: [] as readonly Upload[], arrived: 0 }
  const uploads = createUploads(
    (path, _file, signal, progress) =>
      new Promise((resolve, reject) => {
        sent.set(path, { arrive: resolve, fail: reject, progress })
        signal.addEventListener('abort', () => reject(new Error('aborted')))
      }),
    (all, arrived) => {
      seen.all = all
      if (arrived) seen.arrived++
    },
  )
  return { uploads, sent, seen, states: () => seen.all.map(({ state }) => state) }
}

describe('files on their way', () => {
  it('go two at once, and tell how far they are', async () => {
    const { uploads, sent, seen, states } = queue()
    uploads.add([file('a'), file('b'), file('c')])
    expect(states()).toEqual(['running', 'running', 'waiting'])
    sent.get('/a')?.progress(1)
    expect(seen.all[0]?.sentBytes).toBe(1)
    sent.get('/a')?.arrive()
    await vi.waitFor(() => expect(states()).toEqual(['done', 'running', 'running']))
    expect(seen.arrived).toBe(1)
  })

  it('fail one by one, with what was wrong', async () => {
    const { uploads, sent, seen, states } = queue()
    uploads.add([file('a'), file('b')])
    sent.get('/a')?.fail(new Error('disk full'))
    sent.get('/b')?.arrive()
    await vi.waitFor(() => expect(states()).toEqual(['failed', 'done']))
    expect(seen.all[0]?.error?.message).toBe('disk full')
  })

  it('are ended by hand, also those that wait; what has ended is taken off the list', async () => {
    const { uploads, sent, states } = queue()
    uploads.add([file('a'), file('b'), file('c')])
    uploads.cancel(3)
    uploads.cancel(1)
    await vi.waitFor(() => expect(states()).toEqual(['cancelled', 'running', 'cancelled']))
    uploads.dismiss()
    expect(states()).toEqual(['running'])
    uploads.stop()
    await vi.waitFor(() => expect(states()).toEqual(['cancelled']))
    expect([...sent.keys()]).toEqual(['/a', '/b'])
  })
})

it('reads what the server said was wrong', () => {
  expect(problemOf(400, '{"code":95109,"message":"m","request_id":"r"}')).toEqual({ status: 400, code: 95109, message: 'm', requestId: 'r' })
  expect(problemOf(502, '<html>')).toMatchObject({ status: 502, message: '', requestId: null })
})
