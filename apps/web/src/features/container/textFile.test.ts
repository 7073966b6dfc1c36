import { expect, it } from 'vitest'
import { contentMax, measured, readText } from './textFile.ts'

it('reads texts, and nothing else', async () => {
  expect(await readText(new Blob(['键: 值\n']))).toEqual({ text: '键: 值\n' })
  expect(await readText(new Blob([new Uint8Array([0xff, 0xfe])]))).toEqual({ wrong: 'loadBinary' })
  expect(await readText(new Blob(['a\0b']))).toEqual({ wrong: 'loadBinary' })
  expect(await readText(new Blob(['a'.repeat(contentMax)]))).toHaveProperty('text')
  expect(await readText(new Blob(['a'.repeat(contentMax + 1)]))).toEqual({ wrong: 'loadTooLarge' })
})

it('measures them', () => {
  expect(measured('')).toEqual({ lines: 0, bytes: 0 })
  expect(measured('一\n二\n')).toEqual({ lines: 2, bytes: 8 })
  expect(measured('\n\nx')).toEqual({ lines: 3, bytes: 3 })
})
