import { changeKinds } from '@zhisuan/contract/change'
import { describe, expect, it } from 'vitest'
import { createChanges } from './changes.ts'

const mine = { bp_id: '00000000-0000-4000-8000-000000000001' }
const other = { bp_id: '00000000-0000-4000-8000-000000000002' }

function stage() {
  let tell: (payload: string) => void = () => undefined
  let miss: () => void = () => undefined
  const changes = createChanges({
    subscribe: (_topic, told, missed) => {
      tell = told
      miss = missed ?? miss
      return () => undefined
    },
  })
  const ask = (after?: string, scope: Parameters<typeof changes.wait>[0] = mine) => changes.wait(scope, after, new AbortController().signal)
  return { changes, ask, tell: (kind: string, bp = mine.bp_id) => tell(`${kind} ${bp}`), miss: () => miss() }
}

describe('waiting for changes', () => {
  it('answers at once with all kinds to who comes without a cursor, or with one of another server', async () => {
    const { ask } = stage()
    expect((await ask()).kinds).toEqual([...changeKinds])
    expect((await ask('another.7')).kinds).toEqual([...changeKinds])
    expect((await ask('nonsense')).kinds).toEqual([...changeKinds])
  })
  it('answers what changed since, each kind once', async () => {
    const { ask, tell } = stage()
    const { cursor } = await ask()
    tell('vm')
    tell('vm')
    tell('volume')
    expect((await ask(cursor)).kinds).toEqual(['vm', 'volume'])
  })
  it('waits for the next change, and gathers the burst that it begins', async () => {
    const { ask, tell } = stage()
    const { cursor } = await ask()
    const waits = ask(cursor)
    tell('vm')
    tell('vpc')
    const told = await waits
    expect(told.kinds).toEqual(['vm', 'vpc'])
    tell('eip')
    expect((await ask(told.cursor)).kinds).toEqual(['eip'])
  })
  it('tells nobody of what another organisation has, and all of what is nobody’s', async () => {
    const { ask, tell } = stage()
    const { cursor } = await ask()
    const waits = ask(cursor)
    tell('vm', other.bp_id)
    tell('storagePool', '-')
    expect((await waits).kinds).toEqual(['storagePool'])
    expect((await ask(cursor, { everything: true })).kinds).toEqual(['vm', 'storagePool'])
    const nothing = ask(cursor, { nothing: true })
    expect((await nothing).kinds).toEqual(['storagePool'])
  })
  it('answers all kinds where messages may have been lost, to who waits too', async () => {
    const { ask, miss } = stage()
    const { cursor } = await ask()
    const waits = ask(cursor)
    miss()
    expect((await waits).kinds).toEqual([...changeKinds])
    expect((await ask(cursor)).kinds).toEqual([...changeKinds])
  })
  it('remembers a bounded number, and says all kinds to who was away for longer', async () => {
    const { ask, tell } = stage()
    const { cursor } = await ask()
    for (let count = 0; count < 5_000; count++) tell('vm')
    expect((await ask(cursor)).kinds).toEqual([...changeKinds])
  })
  it('ends when who asked goes away, or the server stops', async () => {
    const { changes, ask } = stage()
    const { cursor } = await ask()
    const gone = new AbortController()
    const waits = changes.wait(mine, cursor, gone.signal)
    gone.abort()
    expect((await waits).kinds).toEqual([])
    const stopped = ask(cursor)
    changes.stop()
    expect((await stopped).kinds).toEqual([])
  })
})
