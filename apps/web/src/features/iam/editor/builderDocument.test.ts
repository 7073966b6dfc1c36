import { describe, expect, it } from 'vitest'
import {
  addStatement,
  conditionRows,
  copyStatement,
  listValue,
  matchCount,
  modeOf,
  newCondition,
  otherParts,
  readBuilder,
  removeStatement,
  renamePart,
  replaceStatement,
  setPart,
  textsOf,
  withComparison,
  withConditions,
  withIfExists,
  writeJson,
  type BuilderDocument,
} from './builderDocument.ts'

const read = (json: unknown): BuilderDocument => readBuilder(writeJson(json)) ?? expect.fail('no document')
const statement = { Sid: 'One', Effect: 'Allow', Action: ['a.b.c'], Resource: '*' }

describe('the builder', () => {
  it('shows what is an object with statements, and nothing else', () => {
    expect(readBuilder('{')).toBeNull()
    expect(readBuilder('[]')).toBeNull()
    expect(readBuilder('{"Statement": {}}')).toBeNull()
    expect(readBuilder('{}')?.statements).toEqual([])
    expect(read({ Statement: [statement, 'what'] }).statements).toEqual([statement, null])
  })

  it('keeps what it does not show, and the order of everything', () => {
    const document = read({ Note: 'mine', Version: 'x', Statement: ['what', { ...statement, Extra: { deep: [1] } }] })
    const changed = replaceStatement(document, 1, setPart(document.statements[1] ?? {}, 'Effect', 'Deny'))
    expect(JSON.parse(changed)).toEqual({ Note: 'mine', Version: 'x', Statement: ['what', { ...statement, Effect: 'Deny', Extra: { deep: [1] } }] })
    expect(Object.keys(JSON.parse(changed) as object)).toEqual(['Note', 'Version', 'Statement'])
    expect(otherParts(document.statements[1] ?? {})).toEqual(['Extra'])
  })

  it('adds, copies without the name, and removes statements', () => {
    const document = read({ Version: 'x', Statement: [statement] })
    expect(read(JSON.parse(addStatement(document))).statements).toHaveLength(2)
    expect(read(JSON.parse(copyStatement(document, 0))).statements[1]).toEqual({ Effect: 'Allow', Action: ['a.b.c'], Resource: '*' })
    expect(read(JSON.parse(removeStatement(document, 0))).statements).toEqual([])
  })

  it('reads one or several texts, and writes one alone as it stood', () => {
    expect([textsOf('a'), textsOf(['a', 1, true, {}]), textsOf(undefined)]).toEqual([['a'], ['a', '1', 'true'], []])
    expect(listValue('*', ['x'])).toBe('x')
    expect(listValue(['*'], ['x'])).toEqual(['x'])
    expect(listValue('*', ['x', 'y'])).toEqual(['x', 'y'])
    expect(modeOf({ NotAction: [] }, ['Action', 'NotAction'])).toBe('NotAction')
    expect(Object.keys(renamePart(statement, 'Action', 'NotAction'))).toEqual(['Sid', 'Effect', 'NotAction', 'Resource'])
  })

  it('has a row for each key of each operator, and gives a new one an operator that fits and is free', () => {
    const with_ = { ...statement, Condition: { StringLike: { 'zs:UserName': 'a*', 'zs:ResourceTag/x': ['1'] }, Bool: { 'zs:MfaPresent': true } } }
    const rows = conditionRows(with_)
    expect(rows.map(({ operator, key }) => `${operator} ${key}`)).toEqual(['StringLike zs:UserName', 'StringLike zs:ResourceTag/x', 'Bool zs:MfaPresent'])
    expect(withConditions(with_, rows)).toEqual(with_)
    expect(withConditions(with_, [])).toEqual(statement)
    expect(newCondition(rows, 'zs:SourceIp')).toEqual({ operator: 'IpAddress', key: 'zs:SourceIp', value: [] })
    expect(newCondition([{ operator: 'IpAddress', key: 'zs:SourceIp', value: [] }], 'zs:SourceIp').operator).toBe('NotIpAddress')
    const twice = withConditions(statement, [
      { operator: 'StringLike', key: 'zs:UserName', value: 'a' },
      { operator: 'StringLike', key: 'zs:UserName', value: ['b', 'a'] },
    ])
    expect(twice['Condition']).toEqual({ StringLike: { 'zs:UserName': ['a', 'b'] } })
  })

  it('changes an operator and keeps what goes with it', () => {
    expect(withComparison('ForAnyValue:StringLikeIfExists', 'StringEquals')).toBe('ForAnyValue:StringEqualsIfExists')
    expect(withComparison('StringLikeIfExists', 'Null')).toBe('Null')
    expect([withIfExists('Bool', true), withIfExists('BoolIfExists', false), withIfExists('Null', true), withIfExists('what', true)]).toEqual([
      'BoolIfExists',
      'Bool',
      'Null',
      'what',
    ])
    expect(matchCount('a.*.list', ['a.b.list', 'a.c.list', 'a.c.get'])).toBe(2)
  })
})
