import { describe, expect, it } from 'vitest'
import { consoleLines, findInLines, splitAtMatches } from './logText.ts'

describe('consoleLines', () => {
  it('takes colours, titles and control characters out', () => {
    expect(consoleLines('\x1b[0;32m[ OK ]\x1b[0m Started\r\n\x1b]0;title\x07login: \x1b(B\x00\n\n')).toEqual(['[ OK ] Started', 'login: '])
  })
  it('shows what a carriage return left visible', () => {
    expect(consoleLines(' 10%\r 100% done\n12345\rab\n')).toEqual([' 100% done', 'ab345'])
  })
  it('has no line where nothing was printed', () => expect(consoleLines('\x1b[2J')).toEqual([]))
})

describe('search', () => {
  it('finds lines without regard to case', () => {
    expect(findInLines(['Started sshd', 'stopped', 'SSHD ready'], ' sshd ')).toEqual([0, 2])
    expect(findInLines(['a'], '  ')).toEqual([])
  })
  it('cuts a line at its matches', () => {
    expect(splitAtMatches('aXbxc', 'x')).toEqual(['a', 'X', 'b', 'x', 'c'])
    expect(splitAtMatches('abc', 'z')).toEqual(['abc'])
    expect(splitAtMatches('İx', 'x')).toEqual(['İx'])
  })
})
