import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createImageFiles } from './image.files.ts'
import { createImageUploads } from './image.upload.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'zhisuan-images-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

it('the folder of images is nobody else’s from the first start on', async () => {
  const files = createImageFiles(folder)
  // Nothing is uploaded here.
  const none = {} as never
  createImageUploads({ db: none, operations: none, upload: none, files })
  // The store of uploads looks for it a moment later.
  await wait(100)
  expect(statSync(files.root).mode & 0o777).toBe(0o700)
})
