import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ContentMissingError, type Contents } from './contents.ts'

const sha256Of = (content: Buffer): string => createHash('sha256').update(content).digest('hex')

/** What every store of contents does: run for each that there is. @param make gives one that is ready */
export function keepsContents(make: () => Promise<Contents>): void {
  let contents: Contents
  const folder = mkdtempSync(join(tmpdir(), 'zhisuan-contents-'))
  beforeAll(async () => {
    contents = await make()
    await contents.begin()
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  let files = 0
  const keep = async (content: Buffer): Promise<string> => {
    const path = join(folder, String(++files))
    writeFileSync(path, content)
    await contents.keep(path, sha256Of(content))
    return sha256Of(content)
  }
  const read = async (sha256: string, range?: { start: number; end: number }): Promise<Buffer> => buffer(await contents.read(sha256, range))

  for (const [name, size] of [
    ['nothing', 0],
    ['one byte', 1],
    ['what fits one piece', 5_000_000],
    ['what takes several', 40_000_001],
  ] as const)
    it(`gives back ${name} as it came`, async () => {
      const content = randomBytes(size)
      const sha256 = await keep(content)
      expect((await read(sha256)).equals(content)).toBe(true)
      // The same again is the same.
      expect(await keep(content)).toBe(sha256)
      expect((await read(sha256)).length).toBe(size)
    })

  it('reads parts, both ends with them', async () => {
    const content = randomBytes(20_000_000)
    const sha256 = await keep(content)
    for (const [start, end] of [
      [0, 0],
      [10, 19],
      [16_777_215, 16_777_217],
      [19_999_999, 19_999_999],
    ] as const)
      expect((await read(sha256, { start, end })).equals(content.subarray(start, end + 1))).toBe(true)
  })

  it('keeps what is at hand', async () => {
    for (const content of [Buffer.from('# 说明\n'), Buffer.alloc(0)]) {
      await contents.store(sha256Of(content), content)
      await contents.store(sha256Of(content), content)
      expect(await read(sha256Of(content))).toEqual(content)
    }
  })

  it('lets go, once and for all', async () => {
    const sha256 = await keep(randomBytes(1_000))
    await contents.drop(sha256)
    await contents.drop(sha256)
    await expect(contents.read(sha256)).rejects.toThrow(ContentMissingError)
    await expect(contents.read('0'.repeat(64), { start: 0, end: 1 })).rejects.toThrow(ContentMissingError)
  })

  it('leaves readers what they read, and ends when they do', async () => {
    const content = randomBytes(30_000_000)
    const sha256 = await keep(content)
    const streams = await Promise.all(Array.from({ length: 60 }, () => contents.read(sha256)))
    for (const stream of streams.slice(1)) stream.destroy()
    expect(sha256Of(await buffer(streams[0] ?? expect.fail('no stream')))).toBe(sha256)
  })
}
