import { describe, expect, it } from 'vitest'
import { checksumOf } from './checksum.ts'

/** Bytes that differ from piece to piece. */
const contentOf = (size: number): Uint8Array<ArrayBuffer> => Uint8Array.from({ length: size }, (_, index) => (index * 31 + Math.floor(index / 65_536)) % 256)
const expected = async (content: Uint8Array<ArrayBuffer>): Promise<string> =>
  [...new Uint8Array(await crypto.subtle.digest('SHA-256', content))].map((byte) => byte.toString(16).padStart(2, '0')).join('')

describe('the checksum of a file', () => {
  it.each([0, 1, 2 * 2 ** 20, 5_000_001])('of %i bytes is that of all of them', async (size) => {
    const content = contentOf(size)
    const shares: number[] = []
    expect(await checksumOf(new Blob([content]), new AbortController().signal, (share) => shares.push(share))).toBe(await expected(content))
    if (size > 0) expect(shares.at(-1)).toBe(1)
  })

  it('can be given up', async () => {
    await expect(checksumOf(new Blob([contentOf(10)]), AbortSignal.abort(new Error('given up')), () => undefined)).rejects.toThrow('given up')
  })
})
