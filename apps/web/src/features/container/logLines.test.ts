import { expect, it } from 'vitest'
import { linesKept, type LogLine } from './logFollow.ts'
import { findLines, withLines } from './logLines.ts'

const line = (text: string): LogLine => ({ at: null, stream: 'stdout', text })

it('numbers lines, without the colours that a terminal would show', () => {
  const lines = withLines(withLines([], [line('\u001b[31mred\u001b[0m')]), [line('b'), line('')])
  expect(lines.map(({ number, text }) => [number, text])).toEqual([
    [1, 'red'],
    [2, 'b'],
    [3, ''],
  ])
})

it('lets go of the oldest, and keeps the numbers of the others', () => {
  const many = withLines(
    [],
    Array.from({ length: linesKept }, (_, index) => line(String(index))),
  )
  const more = withLines(many, [line('new')])
  expect(more).toHaveLength(linesKept)
  expect(more.at(-1)).toMatchObject({ number: linesKept + 1, text: 'new' })
  const flood = withLines(
    more,
    Array.from({ length: linesKept + 10 }, () => line('x')),
  )
  expect(flood).toHaveLength(linesKept)
  expect(flood.at(-1)?.number).toBe(2 * linesKept + 11)
})

it('finds lines in upper and lower case, and all of none for no text', () => {
  const lines = withLines([], [line('GET /'), line('post'), line('get')])
  expect(findLines(lines, ' get ')).toEqual([1, 3])
  expect(findLines(lines, ' ')).toEqual([])
})
