import { readPolicy } from '@zhisuan/contract/policy/problems'
import { describe, expect, it } from 'vitest'
import { placeProblems, syntaxProblem } from './jsonPlaces.ts'

const text = `{
  "Version": "2026-11-21",
  "Statement": [
    { "Effect": "Allow", "Action": "a.b.c", "Resource": "*" },
    {
      "Effect": "Maybe",
      "Action": ["a.b.c",
        "a.b.fly"],
      "Resource": "vm"
    }
  ]
}
`

describe('problems of a document', () => {
  it('stand at the lines of what they are about', () => {
    const answer = readPolicy(JSON.parse(text), { actions: ['a.b.c'] })
    const placed = placeProblems(text, 'problems' in answer ? answer.problems : [])
    expect(placed.map(({ line, column }) => [line, column])).toEqual([
      [6, 17],
      [9, 19],
    ])
  })

  it('of an item at the item, of what is missing at its object, of an unknown key at its line', () => {
    const places = (path: (string | number)[]) => placeProblems(text, [{ path, message: '' }]).map(({ line, column }) => [line, column])[0]
    expect(places(['Statement', 1, 'Action', 1])).toEqual([8, 9])
    expect(places(['Statement', 1, 'Sid'])).toEqual([5, 5])
    expect(places([])).toEqual([1, 1])
  })

  it('of the syntax stand where a text stops being JSON', () => {
    expect(syntaxProblem('{\n  "a": 1\n  "b": 2\n}', 'x')).toMatchObject({ line: 3, message: 'x', severity: 'error' })
    expect(syntaxProblem('', 'x').line).toBe(1)
  })
})
