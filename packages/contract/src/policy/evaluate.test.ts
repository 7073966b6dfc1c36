import { describe, expect, it } from 'vitest'
import { policyLanguage, type PolicyDocument, type PolicyStatement } from './document.ts'
import { compilePolicies, decide, explain, type AccessRequest } from './evaluate.ts'
import { compilePattern, variablesOf } from './pattern.ts'
import { resourceName } from './resource.ts'

const policy = (...Statement: PolicyStatement[]): PolicyDocument => ({ Version: policyLanguage, Statement })
const compiled = (...documents: PolicyDocument[]) => compilePolicies(documents.map((document, index) => ({ id: `policy-${index}`, document })))
const organisation = '0190a4c2-0000-7000-8000-000000000001'
const request = (action: string, resource = resourceName('nextstack', 'vm', organisation, '1'), context: AccessRequest['context'] = {}): AccessRequest => ({
  action,
  resource,
  context,
})
const everything = policy({ Effect: 'Allow', Action: '*', Resource: '*' })
const allowed = (document: PolicyDocument, ...of: Parameters<typeof request>): boolean => decide(compiled(document), [], request(...of)).outcome === 'allowed'

describe('a decision', () => {
  it('is no, where nothing speaks', () => {
    expect(decide(compiled(), [], request('nextstack.vm.start'))).toEqual({ outcome: 'implicitDeny', by: null })
  })

  it('names the statement that made it', () => {
    const documents = [
      policy({ Effect: 'Allow', Action: 'ums.*', Resource: '*' }),
      policy({ Effect: 'Deny', Action: 'nextstack.vm.delete', Resource: '*' }, { Sid: 'Machines', Effect: 'Allow', Action: 'nextstack.vm.*', Resource: '*' }),
    ]
    expect(decide(compiled(...documents), [], request('nextstack.vm.start'))).toEqual({
      outcome: 'allowed',
      by: { policy_id: 'policy-1', index: 1, sid: 'Machines' },
    })
    expect(decide(compiled(...documents), [], request('nextstack.vm.delete'))).toEqual({
      outcome: 'explicitDeny',
      by: { policy_id: 'policy-1', index: 0, sid: null },
    })
  })

  it('of a denial outweighs any number of allowances, wherever they stand', () => {
    const deny = policy({ Effect: 'Deny', Action: '*.delete', Resource: '*' })
    for (const documents of [
      [everything, deny, everything],
      [deny, everything],
    ])
      expect(decide(compiled(...documents), [], request('nextstack.vm.delete')).outcome).toBe('explicitDeny')
  })

  it('stays within every boundary, and a boundary gives nothing', () => {
    const vms = compiled(policy({ Effect: 'Allow', Action: 'nextstack.vm.*', Resource: '*' }))
    const reads = compiled(policy({ Effect: 'Allow', Action: ['*.list', '*.get'], Resource: '*' }))
    expect(decide(compiled(everything), [vms, reads], request('nextstack.vm.get')).outcome).toBe('allowed')
    expect(decide(compiled(everything), [vms, reads], request('nextstack.vm.start')).outcome).toBe('outsideBoundary')
    expect(decide(compiled(everything), [vms, reads], request('ums.user.list')).outcome).toBe('outsideBoundary')
    expect(decide(compiled(), [vms], request('nextstack.vm.get')).outcome).toBe('implicitDeny')
    expect(
      decide(compiled(everything), [compiled(everything, policy({ Effect: 'Deny', Action: 'nextstack.vm.get', Resource: '*' }))], request('nextstack.vm.get'))
        .outcome,
    ).toBe('explicitDeny')
  })
})

describe('resources', () => {
  const own = policy({ Effect: 'Allow', Action: '*', Resource: 'zrn:nextstack:${zs:OrganisationId}:vm/*' })

  it('are told by variables of who asks', () => {
    expect(allowed(own, 'nextstack.vm.get', undefined, { 'zs:OrganisationId': organisation })).toBe(true)
    expect(allowed(own, 'nextstack.vm.get', undefined, { 'zs:OrganisationId': 'another' })).toBe(false)
    expect(allowed(own, 'nextstack.vm.get')).toBe(false)
  })

  it('no name smuggles a wildcard in', () => {
    const named = policy({ Effect: 'Allow', Action: '*', Resource: 'zrn:*:*:vm/${zs:UserName}' })
    expect(allowed(named, 'nextstack.vm.get', undefined, { 'zs:UserName': '*' })).toBe(false)
    expect(allowed(named, 'nextstack.vm.get', undefined, { 'zs:UserName': ['1', '1'] })).toBe(false)
    expect(allowed(named, 'nextstack.vm.get', undefined, { 'zs:UserName': '1' })).toBe(true)
  })

  it('all but some: those, and nothing where what is meant is unknown', () => {
    const others = policy({ Effect: 'Allow', Action: '*', NotResource: ['zrn:*:*:vm/1', 'zrn:*:*:vm/${zs:UserName}'] })
    const two = resourceName('nextstack', 'vm', organisation, '2')
    expect(allowed(others, 'nextstack.vm.get', two, { 'zs:UserName': 'li' })).toBe(true)
    expect(allowed(others, 'nextstack.vm.get', undefined, { 'zs:UserName': 'li' })).toBe(false)
    expect(allowed(others, 'nextstack.vm.get', two)).toBe(false)
  })
})

describe('conditions', () => {
  const when = (Condition: PolicyStatement['Condition'], context: AccessRequest['context']): boolean =>
    allowed(policy({ Effect: 'Allow', Action: '*', Resource: '*', Condition }), 'nextstack.vm.get', undefined, context)

  it.each([
    ['an address in a range', { IpAddress: { 'zs:SourceIp': ['10.0.0.0/8', '2001:db8::/32'] } }, { 'zs:SourceIp': '10.9.8.7' }, true],
    ['IPv4 within IPv6 is IPv4', { IpAddress: { 'zs:SourceIp': '10.0.0.0/8' } }, { 'zs:SourceIp': '::ffff:10.9.8.7' }, true],
    ['an address outside', { IpAddress: { 'zs:SourceIp': '10.0.0.0/8' } }, { 'zs:SourceIp': '11.0.0.1' }, false],
    ['an address that is none', { NotIpAddress: { 'zs:SourceIp': '10.0.0.0/8' } }, { 'zs:SourceIp': 'nonsense' }, false],
    ['a number with zeros in front is no address', { NotIpAddress: { 'zs:SourceIp': '10.0.0.0/8' } }, { 'zs:SourceIp': '010.0.0.1' }, false],
    [
      'during office hours',
      { DateGreaterThanEquals: { 'zs:CurrentTime': '2026-11-21T09:00:00+08:00' }, DateLessThan: { 'zs:CurrentTime': '2026-11-21T18:00:00+08:00' } },
      { 'zs:CurrentTime': '2026-11-21T02:00:00Z' },
      true,
    ],
    ['after them', { DateLessThan: { 'zs:CurrentTime': '2026-11-21T18:00:00+08:00' } }, { 'zs:CurrentTime': '2026-11-21T10:00:00Z' }, false],
    ['a second factor', { Bool: { 'zs:MfaPresent': true } }, { 'zs:MfaPresent': 'true' }, true],
    ['none', { Bool: { 'zs:MfaPresent': true } }, {}, false],
    ['a recent one', { NumericLessThan: { 'zs:MfaAge': 3600 } }, { 'zs:MfaAge': '59' }, true],
    ['an old one', { NumericLessThan: { 'zs:MfaAge': 3600 } }, { 'zs:MfaAge': '3600' }, false],
    ['a tag', { StringEquals: { 'zs:ResourceTag/team': ['red', 'blue'] } }, { 'zs:ResourceTag/team': 'blue' }, true],
    ['one’s own', { StringEquals: { 'zs:ResourceTag/owner': '${zs:UserName}' } }, { 'zs:ResourceTag/owner': 'li', 'zs:UserName': 'li' }, true],
    ['nobody’s', { StringNotEquals: { 'zs:ResourceTag/owner': 'li' } }, {}, true],
    ['no tag at all', { Null: { 'zs:ResourceTag/owner': 'true' } }, { 'zs:ResourceTag/owner': 'li' }, false],
    ['if there is one', { StringEqualsIfExists: { 'zs:ResourceTag/owner': 'li' } }, {}, true],
    ['each of several', { 'ForAllValues:StringLike': { 'zs:RequestTag/keys': ['cost-*', 'team'] } }, { 'zs:RequestTag/keys': ['cost-a', 'team'] }, true],
    ['one of several', { 'ForAnyValue:StringEquals': { 'zs:RequestTag/keys': 'team' } }, { 'zs:RequestTag/keys': ['x', 'team'] }, true],
    ['a key that everything has', { StringEquals: { constructor: 'x' } }, {}, false],
  ])('%s', (_what, condition, context, expected) => {
    expect(when(condition, context)).toBe(expected)
  })
})

describe('explaining', () => {
  it('says of each statement about the action why it does not apply', () => {
    const documents = policy(
      {
        Sid: 'Office',
        Effect: 'Allow',
        Action: 'nextstack.vm.*',
        Resource: '*',
        Condition: { IpAddress: { 'zs:SourceIp': '10.0.0.0/8' }, Bool: { 'zs:MfaPresent': 'true' } },
      },
      { Effect: 'Allow', Action: 'nextstack.vm.get', Resource: 'zrn:nextstack:*:vm/2' },
      { Effect: 'Deny', Action: 'nextstack.vm.delete', Resource: '*' },
      { Effect: 'Deny', Action: 'nextstack.*.get', NotResource: 'zrn:nextstack:*:vm/*' },
    )
    expect(explain(compiled(documents), request('nextstack.vm.get', undefined, { 'zs:SourceIp': '10.0.0.1' }))).toEqual([
      { policy_id: 'policy-0', index: 3, sid: null, effect: 'Deny', applies: false, otherResource: true, unmet: [] },
      {
        policy_id: 'policy-0',
        index: 0,
        sid: 'Office',
        effect: 'Allow',
        applies: false,
        otherResource: false,
        unmet: [{ operator: 'Bool', key: 'zs:MfaPresent' }],
      },
      { policy_id: 'policy-0', index: 1, sid: null, effect: 'Allow', applies: false, otherResource: true, unmet: [] },
    ])
  })
})

describe('patterns', () => {
  it('of stars alone take no more than their length', () => {
    const pattern = compilePattern(`${'*a'.repeat(100)}b`)
    expect(pattern.matches('a'.repeat(4000), {})).toBe(false)
  })

  it('tell their variables', () => {
    expect(variablesOf('zrn:*:${zs:OrganisationId}:${zs:UserName}/${*}${?}${$}')).toEqual(['zs:OrganisationId', 'zs:UserName'])
    expect(compilePattern('a${*}').matches('a*', {})).toBe(true)
    expect(compilePattern('a${*}').matches('ab', {})).toBe(false)
    expect(compilePattern('a${open').matches('a${open', {})).toBe(true)
  })
})
