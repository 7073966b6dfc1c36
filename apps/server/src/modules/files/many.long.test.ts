import { archiveEntriesMost, fileSpaces, fileUploads, uploadsAtOnce } from '@zhisuan/contract/files/file'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { testApp, type TestApp } from '../../testing/app.ts'
import { call } from '../../testing/call.ts'
import { someone } from '../../testing/people.ts'

let app: TestApp
beforeAll(async () => {
  app = await testApp()
})
afterAll(() => app.close())

it('ten thousand small files of a hundred folders come by a hundred requests, each there with its bytes', async () => {
  const { token } = await someone(app)
  const id = (await call(app, fileSpaces.list, { token })).items[0]?.id ?? ''
  const all = Array.from({ length: archiveEntriesMost }, (_, number) => {
    const content = Buffer.from(`file ${number}\n`.repeat(100))
    return { name: `${number}.txt`, folders: ['数据集', `第${number % 100}组`], size_bytes: content.length, content: content.toString('base64') }
  })
  const requests = Array.from({ length: all.length / uploadsAtOnce }, (_, at) => all.slice(at * uploadsAtOnce, (at + 1) * uploadsAtOnce))
  // As the console's queue sends them.
  await Promise.all(
    Array.from({ length: 3 }, async () => {
      for (let files = requests.pop(); files !== undefined; files = requests.pop()) {
        const { items } = await call(app, fileSpaces.uploadMany, { token, params: { id }, body: { files } })
        expect(items.every(({ entry_id }) => entry_id !== null)).toBe(true)
      }
    }),
  )
  const { items, usage } = await call(app, fileSpaces.list, { token })
  const bytes = all.reduce((sum, { size_bytes }) => sum + size_bytes, 0)
  expect(items[0]).toMatchObject({ file_count: all.length, used_bytes: bytes })
  expect(usage.used_bytes).toBe(bytes)
  expect((await call(app, fileUploads.list, { token })).items).toEqual([])
  const [folder] = (await call(app, fileSpaces.entries, { token, params: { id }, query: {} })).items
  const groups = await call(app, fileSpaces.entries, { token, params: { id }, query: { parent_id: folder?.id ?? '', page_size: 1_000 } })
  expect(groups.total).toBe(100)
  const group = await call(app, fileSpaces.entries, { token, params: { id }, query: { parent_id: groups.items[0]?.id ?? '' } })
  expect(group.total).toBe(100)
}, 240_000)
