import { describe, expect, it } from 'vitest'
import { lineOf, wordsOf } from './commandLine.ts'

describe('a command line', () => {
  it.each([
    ['', []],
    ['  nginx  -g "daemon off;" ', ['nginx', '-g', 'daemon off;']],
    ['sh -c \'echo "$HOME" \\n\'', ['sh', '-c', 'echo "$HOME" \\n']],
    ['a\\ b "c\\"d" e\\\\', ['a b', 'c"d', 'e\\']],
    ['"" \'\' x', ['', '', 'x']],
    ['--name=a"b c"d', ['--name=ab cd']],
    ['"a\\n"', ['a\\n']],
  ])('%s', (line, words) => expect(wordsOf(line)).toEqual(words))

  it('is none where a quote stays open', () => {
    expect(wordsOf('echo "a')).toBeNull()
    expect(wordsOf("echo 'a")).toBeNull()
  })

  it('is written so that it is read as the same', () => {
    const words = ['sh', '-c', 'echo \'it is\' "$1"', '', '中文', 'a\\b', 'line\nbreak', '/bin/x-y_z=1']
    expect(wordsOf(lineOf(words))).toEqual(words)
    expect(lineOf(['/bin/sh', '-c', 'a b'])).toBe("/bin/sh -c 'a b'")
  })
})
