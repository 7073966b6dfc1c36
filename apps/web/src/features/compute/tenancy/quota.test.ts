import { describe, expect, it } from 'vitest'
import { quotaIn, shortfalls, tightest, type Quotas } from './quota.ts'

const kinds = {
  instances: { limit: 10, used: 9 },
  cores: { limit: null, used: 400 },
  volume_bytes: { limit: 2 ** 30, used: 2 ** 30 },
  networks: { limit: 0, used: 0 },
}

describe('what a quota does not suffice for', () => {
  it('is said by kind, with what is left; the last one fits', () => {
    expect(shortfalls(kinds, { instances: 1 })).toEqual([])
    expect(shortfalls(kinds, { instances: 2, cores: 1_000 })).toEqual([{ kind: 'instances', wants: 2, left: 1, limit: 10, used: 9 }])
    expect(shortfalls(kinds, { volume_bytes: 1, networks: 1 }).map(({ kind, left }) => [kind, left])).toEqual([
      ['volume_bytes', 0],
      ['networks', 0],
    ])
  })
  it('is nothing that is not needed, or of which the cloud keeps no quota', () => {
    expect(shortfalls({ instances: { limit: 1, used: 5 } }, { instances: 0, ports: 3 })).toEqual([])
  })
})

describe('where something is made', () => {
  const quotas: Quotas = {
    items: [
      { keystone_project_id: 'k1', name: '组织', project_id: null, kinds, failed: [] },
      { keystone_project_id: 'k2', name: '组织 / 项目', project_id: '018f0000-0000-7000-8000-000000000001', kinds: {}, failed: [] },
    ],
    fresh: { kinds: { instances: { limit: 3, used: 0 } }, failed: [] },
  }
  it("is found by ours and by Keystone's; what is not there yet begins with what all do", () => {
    expect(quotaIn(quotas, { project_id: null })?.name).toBe('组织')
    expect(quotaIn(quotas, { keystone_project_id: 'k2' })?.name).toBe('组织 / 项目')
    expect(quotaIn(quotas, { project_id: '018f0000-0000-7000-8000-000000000002' })?.kinds.instances?.limit).toBe(3)
    expect(quotaIn(quotas, { keystone_project_id: 'k3' })).toBeNull()
  })
})

it('what runs out first is what is fullest of what is limited', () => {
  expect(tightest(kinds)).toBe('volume_bytes')
  expect(tightest({ cores: { limit: null, used: 3 }, networks: { limit: 5, used: 0 } })).toBeNull()
})
