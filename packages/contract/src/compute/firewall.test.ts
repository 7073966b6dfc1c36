import { describe, expect, it } from 'vitest'
import { firewallRuleProblems, firewallRules, opensAll, reachedRules, type FirewallMatch } from './firewall.ts'

const any: FirewallMatch = {
  action: 'allow',
  protocol: null,
  version: 4,
  source_address: null,
  source_port: null,
  destination_address: null,
  destination_port: null,
  enabled: true,
}
const body = firewallRules.create.body
const wrong = (rule: object): string[] => {
  const result = body.safeParse({ name: 'r', action: 'allow', ...rule })
  return result.success ? [] : result.error.issues.map(({ path }) => path.join('.'))
}

describe('a firewall rule', () => {
  it('takes an address or a range of its version, written as its network address', () => {
    expect(wrong({ source_address: '10.1.0.5', destination_address: '10.1.0.0/24' })).toEqual([])
    expect(wrong({ version: 6, source_address: '2001:db8::/64' })).toEqual([])
    expect(wrong({ source_address: '10.1.0.5/24' })).toEqual(['source_address'])
    expect(wrong({ source_address: '10.1.0' })).toEqual(['source_address'])
    expect(wrong({ version: 6, source_address: '10.1.0.5', destination_address: '10.2.0.0/16' })).toEqual(['source_address', 'destination_address'])
  })

  it('takes ports and ranges of them, of TCP and UDP only', () => {
    expect(wrong({ protocol: 'tcp', source_port: '1-65535', destination_port: '443' })).toEqual([])
    for (const port of ['0', '65536', '8010-8000', '80,443', 'ssh', '80:90'])
      expect(wrong({ protocol: 'udp', destination_port: port }), port).toEqual(['destination_port'])
    expect(wrong({ destination_port: '22' })).toEqual(['destination_port'])
    expect(wrong({ protocol: 'icmp', source_port: '22' })).toEqual(['source_port'])
    expect(
      firewallRuleProblems({ ...any, protocol: 'icmp', version: 6, source_address: '10.0.0.1', destination_port: '80' }).map(({ field }) => field),
    ).toEqual(['source_address', 'destination_port'])
  })

  it('opens everything where it is about all traffic and lets it through', () => {
    expect(opensAll(any)).toBe(true)
    expect(opensAll({ ...any, source_address: '0.0.0.0/0', destination_address: '0.0.0.0/0' })).toBe(true)
    for (const part of [{ action: 'deny' }, { enabled: false }, { protocol: 'tcp' }, { source_address: '10.0.0.0/8' }] as const)
      expect(opensAll({ ...any, ...part })).toBe(false)
  })

  it('is not reached behind one about all traffic of its version', () => {
    const web: FirewallMatch = { ...any, protocol: 'tcp', destination_port: '443' }
    const all: FirewallMatch = { ...any, action: 'deny' }
    expect(reachedRules([web, all, web, { ...web, version: 6 }, undefined])).toEqual([true, true, false, true, true])
    expect(reachedRules([{ ...all, enabled: false }, web])).toEqual([true, true])
  })
})
