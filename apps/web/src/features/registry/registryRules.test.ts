import { describe, expect, it } from 'vitest'
import { platformText } from './platformText.ts'
import { isOwn, registryOptions } from './registryRules.ts'

describe('a project', () => {
  it('is changed by its organisation and by the platform, not by who only pulls from it', () => {
    expect(isOwn({ bp_id: 'a' }, { platform: false, bp_id: 'a' })).toBe(true)
    expect(isOwn({ bp_id: 'a' }, { platform: false, bp_id: 'b' })).toBe(false)
    expect(isOwn({ bp_id: null }, { platform: true, bp_id: null })).toBe(true)
  })
})

describe('registries', () => {
  it('are chosen by region, name and address; an address that is the name is not said twice', () => {
    const one = { id: 'r-1', description: '', engine: 'distribution', status: 'active', health: 'reachable', insecure: false } as const
    const registry = (name: string, address: string) => ({ ...one, name, address, certificate_authority: null, region: null })
    expect(
      registryOptions(
        [
          { region: null, registries: [registry('main', 'r.example')] },
          { region: { name: 'north' }, registries: [registry('n', 'n')] },
        ],
        'all',
      ),
    ).toEqual([
      { label: 'all', options: [{ value: 'r-1', label: 'main（r.example）' }] },
      { label: 'north', options: [{ value: 'r-1', label: 'n' }] },
    ])
  })
})

it('platforms are named as programs name them', () => {
  expect(platformText({ os: 'linux', architecture: 'arm64', variant: 'v8' })).toBe('linux/arm64/v8')
  expect(platformText({ os: 'linux', architecture: 'amd64', variant: null })).toBe('linux/amd64')
})
