import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe } from 'vitest'
import { keepsContents } from './conformance.ts'
import { createDirectoryContents } from './directory.ts'

describe('contents in a directory', () => {
  const folder = mkdtempSync(join(tmpdir(), 'zhisuan-directory-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  keepsContents(async () => createDirectoryContents(folder))
})
