import { eipStatuses, eipTransitional } from '@zhisuan/contract/nextstack/eip'
import { vmStatuses, vmTransitional } from '@zhisuan/contract/nextstack/vm'
import { vpcStatuses, vpcTransitional } from '@zhisuan/contract/nextstack/vpc'
import type { TFunction } from 'i18next'
import { describe, expect, it } from 'vitest'
import { byConcern, byTone, toneOf, usable } from './counts.ts'
import { eventPath, eventText } from './eventText.ts'
import { historyOf, trendSeries } from './trendSeries.ts'

describe('byTone', () => {
  it('adds up what means the same, in order, and leaves out what there is none of', () => {
    const statuses = [
      { status: 'lost', count: 1 },
      { status: 'running', count: 3 },
      { status: 'creating', count: 2 },
      { status: 'starting', count: 1 },
      { status: 'error', count: 4 },
    ]
    expect(byTone({ kind: 'nextstack.vm', statuses })).toEqual([
      { tone: 'good', count: 3 },
      { tone: 'busy', count: 3 },
      { tone: 'bad', count: 5 },
    ])
    expect(byTone({ kind: 'nextstack.vm', statuses: [] })).toEqual([])
  })

  it('knows a free address from a free volume', () => {
    expect([toneOf('nextstack.eip', 'available'), toneOf('nextstack.volume', 'available')]).toEqual(['rest', 'good'])
  })

  it('takes nothing that rests for something that passes', () => {
    const resting = [
      ...vmStatuses.filter((status) => !vmTransitional.includes(status)),
      ...vpcStatuses.filter((status) => !vpcTransitional.includes(status)),
      ...eipStatuses.filter((status) => !eipTransitional.includes(status)),
    ]
    for (const status of resting) expect(toneOf('nextstack.vm', status), status).not.toBe('busy')
  })
})

describe('trends', () => {
  const at = (minutes: number) => new Date(Date.UTC(2026, 0, 1, 0, minutes)).toISOString()
  const sample = (minutes: number, vms: number) => ({ at: at(minutes), vms, running: 0, cpu_cores: vms * 2, memory_bytes: vms * 1024 })
  const names = { all: 'all', running: 'running', cpu: 'cpu', memory: 'memory' }

  it('are drawn as they were counted, with a gap where nobody counted', () => {
    const { vms, cpu } = trendSeries({ since: at(0), items: [sample(0, 1), sample(10, 2), sample(60, 3)] }, 'day', names)
    expect(vms[0]?.points.map(([, value]) => value)).toEqual([1, 2, null, 3])
    expect(cpu[0]?.points.map(([, value]) => value)).toEqual([2, 4, null, 6])
    expect(trendSeries(undefined, 'day', names).memory[0]?.points).toEqual([])
  })

  it('begin with the first there was: no stroke leads up to it from nothing', () => {
    const { vms, memory } = trendSeries({ since: at(0), items: [sample(0, 0), sample(10, 0), sample(20, 2), sample(30, 0)] }, 'day', names)
    expect(vms[0]?.points.map(([, value]) => value)).toEqual([2, 0])
    expect(memory[0]?.points).toHaveLength(2)
    // Where there never was anything that is what it says.
    expect(trendSeries({ since: at(0), items: [sample(0, 0), sample(10, 0)] }, 'day', names).vms[0]?.points).toHaveLength(2)
  })

  it('say how much of a history there is', () => {
    const items = [0, 10, 20, 30].map((minutes) => sample(minutes, 1))
    expect(historyOf({ since: at(0), items: items.slice(0, 3) }, Date.parse(at(0)))).toBe('young')
    expect(historyOf({ since: at(0), items }, Date.parse(at(-60)))).toBe('part')
    expect(historyOf({ since: at(0), items }, Date.parse(at(30)))).toBe('whole')
  })
})

describe('events', () => {
  // The words are the server's keys here: what is put together is looked at, not what it says.
  const t = ((key: string, values?: { what: string }) => (values === undefined ? key : `${key}(${values.what})`)) as unknown as TFunction<'overview'>
  it('are named by what was done to what', () => {
    expect(eventText(t, 'nextstack.vm.create')).toBe('events.verb.create(云主机)')
    expect(eventText(t, 'nextstack.snapshot.restore')).toBe('events.verb.restore(云主机快照)')
    expect(eventText(t, 'ecrm.edge.upgrade')).toBe('events.verb.upgrade(节点)')
    expect(eventText(t, 'cis.container.update')).toBe('events.verb.update(容器)')
    expect(eventText(t, 'aos.stack.act')).toBe('events.verb.other(应用实例)')
    expect(eventText(t, 'nextstack.made.up')).toBe('events.verb.other()')
  })

  it('lead to what there is', () => {
    const id = '01990000-0000-7000-8000-000000000000'
    expect(eventPath({ resource: 'nextstack.vm', resource_id: id, resource_name: 'a', exists: true })).toBe(`/nextStack/vm/detail/${id}`)
    expect(eventPath({ resource: 'ecrm.edge', resource_id: id, resource_name: 'nginx', exists: true })).toBe(`/infrastructure/nodeList/${id}`)
    expect(eventPath({ resource: 'aos.stack', resource_id: id, resource_name: '站 点', exists: true })).toBe(
      `/containerApplicationService/serviceFromApp/${id}/${encodeURIComponent('站 点')}`,
    )
    expect(eventPath({ resource: 'nextstack.vm', resource_id: id, resource_name: 'a', exists: false })).toBeNull()
    expect(eventPath({ resource: 'nextstack.volumeBackup', resource_id: id, resource_name: 'a', exists: true })).toBeNull()
  })
})

describe('byConcern', () => {
  const cloud = (name: string, health: 'reachable' | 'unreachable', usage: number | null, status: 'active' | 'offline' = 'active') => ({
    name,
    health,
    usage,
    status,
  })
  it('puts what does not answer first, then the fullest, and what was taken offline last', () => {
    const clouds = [
      cloud('a', 'reachable', null),
      cloud('b', 'reachable', 0.2),
      cloud('c', 'unreachable', 0.1),
      cloud('d', 'reachable', 0.9),
      cloud('e', 'unreachable', 1, 'offline'),
    ]
    expect(byConcern(clouds).map(({ name }) => name)).toEqual(['c', 'd', 'b', 'a', 'e'])
  })
})

describe('usable', () => {
  it('is what works', () => {
    expect(usable([{ status: 'active' }, { status: 'maintenance' }, { status: 'offline' }] as const)).toHaveLength(1)
  })
})

it('cards have heads of one size', () => {
  const sources: Readonly<Record<string, string>> = import.meta.glob('./*.tsx', { query: '?raw', import: 'default', eager: true })
  const heads = Object.entries(sources).flatMap(([file, source]) =>
    [...source.matchAll(/className="overview-head">\s*(<h2[^>]*>)/g)].map(([, head = '']) => ({ file, head })),
  )
  expect(heads.length).toBeGreaterThan(2)
  expect(heads.filter(({ head }) => !head.includes('className="zs-title"')).map(({ file }) => file)).toEqual([])
})
