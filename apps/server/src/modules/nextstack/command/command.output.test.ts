import { describe, expect, it } from 'vitest'
import { createOutput } from './command.output.ts'

const kib = 1024

describe('what a command prints', () => {
  it('is kept apart by stream, as it comes', () => {
    const output = createOutput()
    expect(output.takeChanged()).toBe(false)
    output.push('stdout', Buffer.from('one\n'))
    output.push('stderr', Buffer.from('oh\n'))
    output.push('stdout', Buffer.from('two\n'))
    expect(output.printed()).toEqual({ stdout: 'one\ntwo\n', stderr: 'oh\n', truncated: false })
    expect(output.takeChanged()).toBe(true)
    expect(output.takeChanged()).toBe(false)
  })

  it('may come in pieces that part a character', () => {
    const output = createOutput()
    for (const byte of Buffer.from('值👩‍💻é')) output.push('stdout', Buffer.from([byte]))
    expect(output.printed().stdout).toBe('值👩‍💻é')
  })

  it('is text that can be stored, whatever it was', () => {
    const output = createOutput()
    output.push('stdout', Buffer.from([0x61, 0, 0xff, 0x62]))
    expect(output.printed().stdout).toBe('a\uFFFD\uFFFDb')
  })

  it('is kept as far as 256 KiB, and says that there was more', () => {
    const output = createOutput()
    output.push('stdout', Buffer.alloc(256 * kib, 'x'))
    expect(output.printed()).toMatchObject({ truncated: false })
    output.takeChanged()
    output.push('stderr', Buffer.alloc(1000 * kib, 'y'))
    expect(output.printed()).toEqual({ stdout: 'x'.repeat(256 * kib), stderr: 'y'.repeat(256 * kib), truncated: true })
    expect(output.takeChanged()).toBe(true)
    // Nothing of it is news any more.
    output.push('stderr', Buffer.from('z'))
    expect(output.takeChanged()).toBe(false)
    output.push('stdout', Buffer.from('z'))
    expect(output.takeChanged()).toBe(true)
    output.push('stdout', Buffer.from('z'))
    expect(output.takeChanged()).toBe(false)
    expect(output.printed().stdout).toHaveLength(256 * kib)
  })
})
