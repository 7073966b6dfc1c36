import type { Kind } from '@zhisuan/contract/kind'
import { describe, expect, it } from 'vitest'
import { createChanges } from './changes.ts'

const mine = { bp_id: '00000000-0000-4000-8000-000000000001' }
const other = { bp_id: '00000000-0000-4000-8000-000000000002' }

const all: Kind[] = ['nextstack.vm', 'nextstack.volume', 'nextstack.vpc', 'nextstack.eip', 'nextstack.storagePool']

function stage() {
  let tell: (payload: string) => void = () => undefined
  let miss: () => void = () => undefined
  const changes = createChanges({
    bus: {
      subscribe: (_topic, told, missed) => {
        tell = told
        miss = missed ?? miss
        return () => undefined
      },
    },
    kinds: () => new Map(all.map((kind) => [kind, {}])),
  })
  const ask = (after?: string, scope: Parameters<typeof changes.wait>[0] = mine) => changes.wait(scope, after, new AbortController().signal)
  return { changes, ask, tell: (kind: string, bp = mine.bp_id) => tell(`${kind} ${bp}`), miss: () => miss() }
}

describe('waiting for changes', () => {
  it('answers at once with all kinds to who comes without a cursor, or with one of another server', async () => {
    const { ask } = stage()
    expect((await ask()).kinds).toEqual(all)
    expect((await ask('another.7')).kinds).toEqual(all)
    expect((await ask('nonsense')).kinds).toEqual(all)
  })
  it('answers what changed since, each kind once', async () => {
    const { ask, tell } = stage()
    const { cursor } = await ask()
    tell('nextstack.vm')
    tell('nextstack.vm')
    tell('nextstack.volume')
    expect((await ask(cursor)).kinds).toEqual(['nextstack.vm', 'nextstack.volume'])
  })
  it('waits for the next change, and gathers the burst that it begins', async () => {
    const { ask, tell } = stage()
    const { cursor } = await ask()
    const waits = ask(cursor)
    tell('nextstack.vm')
    tell('nextstack.vpc')
    const told = await waits
    expect(told.kinds).toEqual(['nextstack.vm', 'nextstack.vpc'])
    tell('nextstack.eip')
    expect((await ask(told.cursor)).kinds).toEqual(['nextstack.eip'])
  })
  it('tells nobody of what another organisation has, and all of what is nobody’s', async () => {
    const { ask, tell } = stage()
    const { cursor } = await ask()
    const waits = ask(cursor)
    tell('nextstack.vm', other.bp_id)
    tell('nextstack.storagePool', '-')
    expect((await waits).kinds).toEqual(['nextstack.storagePool'])
    expect((await ask(cursor, { everything: true })).kinds).toEqual(['nextstack.vm', 'nextstack.storagePool'])
    const nothing = ask(cursor, { nothing: true })
    expect((await nothing).kinds).toEqual(['nextstack.storagePool'])
  })
  it('answers all kinds where messages may have been lost, to who waits too', async () => {
    const { ask, miss } = stage()
    const { cursor } = await ask()
    const waits = ask(cursor)
    miss()
    expect((await waits).kinds).toEqual(all)
    expect((await ask(cursor)).kinds).toEqual(all)
  })
  it('remembers a bounded number, and says all kinds to who was away for longer', async () => {
    const { ask, tell } = stage()
    const { cursor } = await ask()
    for (let count = 0; count < 5_000; count++) tell('nextstack.vm')
    expect((await ask(cursor)).kinds).toEqual(all)
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
