import { describe, expect, it } from 'vitest'
import { closeTerminal, readCommand, showTerminal, terminalsMax, toggleSplit, writeCommand } from './vmCommandState.ts'

const read = (text: string) => readCommand(new URLSearchParams(text))

describe('terminals in the address', () => {
  it('come back as they were written', () => {
    for (const text of ['', 'id=a', 'id=a%2Cb&at=b', 'id=a%2Cb%2Cc&at=b&beside=c']) expect(writeCommand(read(text)).toString()).toBe(text)
  })
  it('are sound whatever somebody typed', () => {
    expect(read('id=a,a,,b&at=z&beside=a')).toEqual({ open: ['a', 'b'], at: 'a', beside: null })
    expect(read(`id=${Array.from({ length: 20 }, (_, index) => `v${index}`).join(',')}`).open).toHaveLength(terminalsMax)
  })
})

describe('tabs', () => {
  it('open once and come to the front', () => {
    const one = showTerminal(read(''), 'a')
    expect(one).toEqual({ open: ['a'], at: 'a', beside: null })
    const two = showTerminal(one, 'b')
    expect(two.at).toBe('b')
    expect(showTerminal(two, 'a')).toEqual({ open: ['a', 'b'], at: 'a', beside: null })
  })
  it('are no more than there may be', () => {
    const full = read(`id=${Array.from({ length: terminalsMax }, (_, index) => `v${index}`).join(',')}`)
    expect(showTerminal(full, 'x')).toBe(full)
  })
  it('change sides when the right one is brought to the front', () => {
    expect(showTerminal(read('id=a,b&beside=b'), 'b')).toEqual({ open: ['a', 'b'], at: 'b', beside: 'a' })
  })
  it('leave their place to a neighbour', () => {
    expect(closeTerminal(read('id=a,b,c&at=b'), 'b')).toEqual({ open: ['a', 'c'], at: 'c', beside: null })
    expect(closeTerminal(read('id=a,b,c&at=c'), 'c').at).toBe('b')
    expect(closeTerminal(read('id=a,b,c&at=a&beside=c'), 'a')).toEqual({ open: ['b', 'c'], at: 'c', beside: null })
    expect(closeTerminal(read('id=a'), 'a')).toEqual({ open: [], at: null, beside: null })
  })
  it('split with the next one, and join again', () => {
    expect(toggleSplit(read('id=a,b,c&at=b')).beside).toBe('c')
    expect(toggleSplit(read('id=a,b,c&at=c')).beside).toBe('a')
    expect(toggleSplit(read('id=a')).beside).toBeNull()
    expect(toggleSplit(read('id=a,b&beside=b')).beside).toBeNull()
  })
})
