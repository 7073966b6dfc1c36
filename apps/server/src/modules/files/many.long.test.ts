import { randomBytes } from 'node:crypto'
import { fileSpaces } from '@zhisuan/contract/files/file'
import { anyPort } from '@zhisuan/engines/registry/testing'
import { expect, it } from 'vitest'
import { testApp } from '../../testing/app.ts'
import { call } from '../../testing/call.ts'
import { someone } from '../../testing/people.ts'
import { sendPiece } from '../../testing/uploads.ts'

it('measure', async () => {
  const port = await anyPort()
  const url = `http://127.0.0.1:${port}`
  const app = await testApp({ PUBLIC_URL: url })
  await app.http.listen({ port, host: '127.0.0.1' })
  const { token } = await someone(app)
  const id = (await call(app, fileSpaces.list, { token })).items[0]?.id ?? ''
  const numbers = Array.from({ length: 1000 }, (_, n) => n)
  let [announcing, sending] = [0, 0]
  const began = performance.now()
  await Promise.all(
    Array.from({ length: 3 }, async () => {
      for (let n = numbers.pop(); n !== undefined; n = numbers.pop()) {
        const bytes = randomBytes(2_000)
        const one = performance.now()
        const upload = await call(app, fileSpaces.upload, { token, params: { id }, body: { name: `${n}.txt`, folders: ['all', String(n % 100)], size_bytes: bytes.length } })
        const two = performance.now()
        expect((await sendPiece(url, token, upload, 0, new Uint8Array(bytes))).status).toBe(204)
        announcing += two - one
        sending += performance.now() - two
      }
    }),
  )
  console.log('whole', performance.now() - began, 'announce each', announcing / 1000, 'send each', sending / 1000)
  await app.close()
}, 200_000)
