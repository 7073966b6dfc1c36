import { vmStatuses } from '@zhisuan/contract/nextstack/vm'
import { describe, expect, it } from 'vitest'
import { byConcern, countByStatus, statusesOf, usable } from './counts.ts'

describe('countByStatus', () => {
  it('counts each', () => {
    expect(countByStatus([{ status: 'running' }, { status: 'error' }, { status: 'running' }])).toEqual({ running: 2, error: 1 })
    expect(countByStatus([])).toEqual({})
  })
})

describe('statusesOf', () => {
  it('leaves out what there is none of, and puts what is in order first', () => {
    expect(statusesOf({ lost: 1, running: 3, creating: 2, stopped: 0, error: 4 })).toEqual([
      { status: 'running', count: 3 },
      { status: 'creating', count: 2 },
      { status: 'error', count: 4 },
      { status: 'lost', count: 1 },
    ])
  })

  it('knows every status', () => {
    const all = Object.fromEntries(vmStatuses.map((status) => [status, 1]))
    expect(statusesOf(all).map(({ status }) => status).sort()).toEqual([...vmStatuses].sort())
  })
})

describe('byConcern', () => {
  const cloud = (name: string, health: 'reachable' | 'unreachable', usage: number | null, status: 'active' | 'offline' = 'active') => ({ name, health, usage, status })
  it('puts what does not answer first, then the fullest, and what was taken offline last', () => {
    const clouds = [cloud('a', 'reachable', null), cloud('b', 'reachable', 0.2), cloud('c', 'unreachable', 0.1), cloud('d', 'reachable', 0.9), cloud('e', 'unreachable', 1, 'offline')]
    expect(byConcern(clouds).map(({ name }) => name)).toEqual(['c', 'd', 'b', 'a', 'e'])
  })
})

describe('usable', () => {
  it('is what works', () => {
    expect(usable([{ status: 'active' }, { status: 'maintenance' }, { status: 'offline' }] as const)).toHaveLength(1)
  })
})
