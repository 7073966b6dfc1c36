import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { keepsContents } from './conformance.ts'
import { createDirectoryContents, createUploadDirectory, writerIn } from './directory.ts'

describe('contents in a directory', () => {
  const folder = mkdtempSync(join(tmpdir(), 'zhisuan-directory-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  keepsContents(async () => createDirectoryContents(folder))
})

describe('what is on its way in a directory', () => {
  const folder = mkdtempSync(join(tmpdir(), 'zhisuan-uploads-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it('is opened as long as it is, and no longer than it may become', async () => {
    const uploads = createUploadDirectory(folder)
    uploads.make()
    const sizes: number[] = []
    for (const [id, there] of Object.entries({ none: 0, some: 60, more: 150 })) {
      if (there > 0) writeFileSync(uploads.pathOf(id), Buffer.alloc(there))
      await (await uploads.open(id, 100)).close()
      sizes.push(statSync(uploads.pathOf(id)).size)
    }
    expect(sizes).toEqual([0, 60, 100])
  })

  it('is written by as many as there are at once: who comes after one is that one', () => {
    const [one, other] = [writerIn(folder), writerIn(folder)]
    expect(one.id).not.toBe(other.id)
    other.close()
    const next = writerIn(folder)
    expect(next.id).toBe(other.id)
    for (const writer of [one, next]) writer.close()
  })
})
