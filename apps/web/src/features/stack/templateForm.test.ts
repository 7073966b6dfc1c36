import { describe, expect, it } from 'vitest'
import { blankVariable, namesOf, nextVersion, variableOf, variablesOf } from './templateForm.ts'

describe('the next version', () => {
  it.each([
    ['1.0', '1.1'],
    ['1.9', '1.10'],
    ['2', '3'],
    ['1.2.3.4', '1.2.3.5'],
    ['2.1-beta', '2.2'],
  ])('of %s is %s', (version, next) => expect(nextVersion(version)).toBe(next))
})

describe('a variable', () => {
  it('is declared once its name is one', () =>
    expect(namesOf([blankVariable('TAG'), undefined, blankVariable(''), blankVariable('1A'), blankVariable('MSG')])).toEqual(['TAG', 'MSG']))

  it('is typed and told', () => {
    expect(blankVariable('DB_PASSWORD')).toMatchObject({ name: 'DB_PASSWORD', type: 'password', required: true })
    expect(variableOf({ ...blankVariable('TAG'), choices: ['a'], default: '' })).toEqual({
      name: 'TAG',
      label: '',
      type: 'text',
      required: true,
      default: null,
      choices: [],
    })
    const choice = { name: 'TAG', label: '', type: 'choice' as const, required: true, default: 'a', choices: ['a', 'b'] }
    expect(variablesOf([choice]).map(variableOf)).toEqual([choice])
  })
})
