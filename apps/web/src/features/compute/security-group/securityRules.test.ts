import { ruleProblems, ruleWish } from '@zhisuan/contract/compute/security-group'
import { describe, expect, it } from 'vitest'
import { exposedBy, filledBy, isAnywhere, serviceNames, wishOf, type RuleValues } from './securityRules.ts'

const typed: RuleValues = { direction: 'ingress', version: 4, protocol: 'tcp', port_from: 22, remote: 'any', description: '' }
const wish = (changes: Partial<RuleValues> = {}) => wishOf({ ...typed, ...changes })

describe('what is asked for by a rule that was typed', () => {
  it('says nothing of fields that do not show', () => {
    const stale = { port_from: 80, port_to: 90, icmp_type: 8, icmp_code: 0, remote_cidr: '10.0.0.0/8', remote_group_id: 'g', number: 47 }
    const none = { port_from: null, port_to: null, icmp_type: null, icmp_code: null, remote_cidr: null, remote_group_id: null }
    expect(wish({ ...stale, protocol: 'any' })).toMatchObject({ ...none, protocol: null })
    expect(wish({ ...stale, protocol: 'udp', remote: 'cidr' })).toMatchObject({
      ...none,
      protocol: 'udp',
      port_from: 80,
      port_to: 90,
      remote_cidr: '10.0.0.0/8',
    })
    expect(wish({ ...stale, protocol: 'icmp', remote: 'group' })).toMatchObject({ ...none, protocol: 'icmp', icmp_type: 8, icmp_code: 0, remote_group_id: 'g' })
    expect(wish({ ...stale, protocol: 'other' })).toMatchObject({ ...none, protocol: '47' })
    // What has ports keeps them, also by its number.
    expect(wish({ ...stale, protocol: 'other', number: 132 })).toMatchObject({ protocol: '132', port_from: 80, port_to: 90 })
  })

  it('is ICMPv6 under IPv6', () => {
    expect(wish({ protocol: 'icmp', version: 6, icmp_type: 128 })).toMatchObject({ protocol: 'icmpv6', version: 6, icmp_type: 128 })
  })

  it('is taken by the server for each service and version, whatever stood there before', () => {
    for (const service of serviceNames) {
      for (const version of [4, 6] as const) {
        const rule = ruleWish.parse(wish({ port_to: 21, icmp_code: 3, version, ...filledBy(service, version) }))
        expect([service, version, ruleProblems(rule)]).toEqual([service, version, []])
      }
    }
  })
})

describe('a rule that opens what machines are run by to everybody', () => {
  it('is told by what it opens', () => {
    expect(exposedBy(wish())).toEqual(['SSH'])
    expect(exposedBy(wish({ port_from: 3300, port_to: 3400 }))).toEqual(['MySQL', 'RDP'])
    expect(exposedBy(wish({ port_from: null }))).toContain('Redis')
    expect(exposedBy(wish({ protocol: 'any' }))).toContain('PostgreSQL')
    expect(exposedBy(wish({ protocol: 'other', number: 6 }))).toEqual(['SSH'])
    for (const remote_cidr of ['0.0.0.0/0', '128.0.0.0/1']) expect(exposedBy(wish({ remote: 'cidr', remote_cidr }))).toEqual(['SSH'])
    expect(exposedBy(wish({ version: 6, remote: 'cidr', remote_cidr: '::/0' }))).toEqual(['SSH'])
  })

  it('is none where it opens other ports, to some addresses, to a group, or outward', () => {
    for (const harmless of [
      { port_from: 443 },
      { protocol: 'udp' },
      { protocol: 'icmp' },
      { remote: 'cidr', remote_cidr: '10.0.0.0/8' },
      { remote: 'group', remote_group_id: 'g' },
      { direction: 'egress' },
    ] as const)
      expect(exposedBy(wish(harmless))).toEqual([])
  })

  it('anywhere is what says no range, or all of them', () => {
    const of = (remote_cidr: string | null, remote_group_id: string | null = null) => isAnywhere({ remote_cidr, remote_group_id })
    expect([of(null), of('0.0.0.0/0'), of('::/0'), of('10.0.0.0/8'), of(null, 'g')]).toEqual([true, true, true, false, false])
  })
})
