import { describe, expect, it, vi } from 'vitest'
import { createTerminalFeed, fromCharacterStart } from './terminalFeed.ts'

/** A screen that draws only when told to. */
function slowScreen() {
  const waiting: { bytes: Uint8Array; drawn: () => void }[] = []
  const seen: number[] = []
  const feed = createTerminalFeed((bytes, drawn) => waiting.push({ bytes, drawn }))
  return {
    feed,
    seen,
    waiting,
    drawAll() {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        seen.push(...next.bytes.subarray(0, 1))
        next.drawn()
      }
    },
  }
}
const block = (mark: number, size = 128 * 1024): Uint8Array => new Uint8Array(size).fill(mark)

describe('createTerminalFeed', () => {
  it('keeps the order and gives the screen only so much at once', () => {
    const screen = slowScreen()
    for (let index = 0; index < 5; index += 1) screen.feed.push(block(index))
    expect(screen.waiting).toHaveLength(2)
    screen.drawAll()
    expect(screen.seen).toEqual([0, 1, 2, 3, 4])
  })

  it('drops the middle of what is too much, never the end', () => {
    const screen = slowScreen()
    for (let index = 0; index < 100; index += 1) screen.feed.push(block(index))
    screen.drawAll()
    expect(screen.seen.length).toBeLessThan(60)
    expect(screen.seen.slice(0, 2)).toEqual([0, 1])
    expect(screen.seen.at(-1)).toBe(99)
    expect(screen.seen).toContain(0x18)
  })

  it('tells of every block, drawn or dropped', () => {
    const screen = slowScreen()
    const drawn = vi.fn()
    for (let index = 0; index < 100; index += 1) screen.feed.push(block(index), drawn)
    screen.drawAll()
    expect(drawn).toHaveBeenCalledTimes(100)
  })

  it('forgets what was before a clearing, and what was being drawn then', () => {
    const screen = slowScreen()
    const drawn = vi.fn()
    screen.feed.push(block(1), drawn)
    screen.feed.push(block(2))
    screen.feed.push(block(3))
    screen.feed.clear()
    screen.feed.push(block(4))
    screen.drawAll()
    expect(drawn).not.toHaveBeenCalled()
    expect(screen.seen).toEqual([1, 2, 4])
  })
})

describe('fromCharacterStart', () => {
  it('skips the rest of a character that was cut', () => {
    const text = new TextEncoder().encode('智算')
    expect(new TextDecoder().decode(fromCharacterStart(text.subarray(1)))).toBe('算')
    expect(fromCharacterStart(text)).toBe(text)
    expect(fromCharacterStart(new Uint8Array(0))).toHaveLength(0)
  })
})
