import { describe, expect, it } from 'vitest'
import { allCalls } from '../calls.ts'
import { policyLanguage } from './document.ts'
import { readPolicy } from './problems.ts'
import { policyTexts } from './texts.ts'

const vocabulary = { actions: allCalls.map(({ id }) => id) }
const statement = { Effect: 'Allow', Action: 'nextstack.vm.get', Resource: '*' }
const read = (...Statement: unknown[]) => readPolicy({ Version: policyLanguage, Statement }, vocabulary)
const problemOf = (change: object) => {
  const answer = read({ ...statement, ...change })
  return 'problems' in answer ? answer.problems : []
}

describe('a policy', () => {
  it('that makes sense is read', () => {
    const whole = {
      Sid: 'A1',
      ...statement,
      Action: ['nextstack.vm.*', 'ums.user.list'],
      Resource: 'zrn:nextstack:${zs:OrganisationId}:vm/*',
      Condition: { 'ForAnyValue:StringLikeIfExists': { 'zs:ResourceTag/team': ['a*', '${zs:UserName}'] } },
    }
    expect(read(whole)).toEqual({ document: { Version: policyLanguage, Statement: [whole] } })
  })

  it.each([
    [{ Effect: 'allow' }, ['Effect'], policyTexts.effect],
    [{ Action: undefined }, ['Action'], policyTexts.actionChoice],
    [{ NotAction: '*' }, ['Action'], policyTexts.actionChoice],
    [{ Action: 'nextstack.vm.get!' }, ['Action'], policyTexts.action],
    [{ Action: ['*', 'a b'] }, ['Action', 1], policyTexts.action],
    [{ Action: [] }, ['Action'], policyTexts.empty],
    [{ Action: 'nextstack.vm.fly' }, ['Action'], policyTexts.actionUnknown],
    [{ Action: ['nextstack.vm.get', 'nextstak.*'] }, ['Action', 1], policyTexts.actionUnknown],
    [{ Resource: 'vm/1' }, ['Resource'], policyTexts.resource],
    [{ Resource: 'zrn:nextstak:*:vm/*' }, ['Resource'], policyTexts.serviceUnknown],
    [{ Resource: 'zrn:nextstack:*:vm/${zs:Nobody}' }, ['Resource'], policyTexts.variable],
    [{ Resource: 'zrn:nextstack:*:vm/${constructor}' }, ['Resource'], policyTexts.variable],
    [{ Resource: 'zrn:nextstack:*:vm/${__proto__}' }, ['Resource'], policyTexts.variable],
    [{ NotResource: '*' }, ['Resource'], policyTexts.resourceChoice],
    [{ Condition: { StringIs: { 'zs:UserName': 'li' } } }, ['Condition', 'StringIs'], policyTexts.operator],
    [{ Condition: { NullIfExists: { 'zs:UserName': 'true' } } }, ['Condition', 'NullIfExists'], policyTexts.operator],
    [{ Condition: { StringEquals: { 'zs:Nobody': 'li' } } }, ['Condition', 'StringEquals', 'zs:Nobody'], policyTexts.keyUnknown],
    [{ Condition: { NumericEquals: { 'zs:SourceIp': '1' } } }, ['Condition', 'NumericEquals', 'zs:SourceIp'], policyTexts.keyType],
    [{ Condition: { NumericEquals: { 'zs:MfaAge': ['1', 'soon'] } } }, ['Condition', 'NumericEquals', 'zs:MfaAge', 1], policyTexts.number],
    [{ Condition: { DateLessThan: { 'zs:CurrentTime': 'tomorrow' } } }, ['Condition', 'DateLessThan', 'zs:CurrentTime'], policyTexts.moment],
    [{ Condition: { DateLessThan: { 'zs:CurrentTime': '2026-13-41' } } }, ['Condition', 'DateLessThan', 'zs:CurrentTime'], policyTexts.moment],
    [{ Condition: { Bool: { 'zs:MfaPresent': 'yes' } } }, ['Condition', 'Bool', 'zs:MfaPresent'], policyTexts.boolean],
    [{ Condition: { IpAddress: { 'zs:SourceIp': '10.0.0.0/33' } } }, ['Condition', 'IpAddress', 'zs:SourceIp'], policyTexts.range],
    [{ Condition: { IpAddress: { 'zs:SourceIp': '::ffff:10.0.0.0/104' } } }, ['Condition', 'IpAddress', 'zs:SourceIp'], policyTexts.range],
    [{ Sid: 'a b' }, ['Sid'], policyTexts.sid],
  ])('with %j is refused at %j', (change, path, message) => {
    expect(problemOf(change)).toContainEqual({ path: ['Statement', 0, ...path], message })
  })

  it('with what is no part of the language is refused', () => {
    expect(problemOf({ Principal: '*' })).toHaveLength(1)
    expect('problems' in readPolicy({ Version: '2012-10-17', Statement: [statement] }, vocabulary)).toBe(true)
    expect('problems' in readPolicy('nonsense', vocabulary)).toBe(true)
  })

  it('with one name twice, or far too long, is refused', () => {
    const problems = (answer: ReturnType<typeof read>) => ('problems' in answer ? answer.problems.map(({ message }) => message) : [])
    expect(problems(read({ Sid: 'A', ...statement }, { Sid: 'A', ...statement }))).toEqual([policyTexts.sidTwice])
    expect(problems(read(...Array.from({ length: 101 }, () => statement)))).toContain(policyTexts.tooMany)
    expect(problems(read(...Array.from({ length: 90 }, () => ({ ...statement, Resource: `zrn:nextstack:*:${'x'.repeat(200)}` }))))).toContain(
      policyTexts.documentTooLong,
    )
  })
})
