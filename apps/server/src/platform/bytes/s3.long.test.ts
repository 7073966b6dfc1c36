import { createHash, randomBytes } from 'node:crypto'
import { modelFiles, modelRevisions, models } from '@zhisuan/contract/models/model'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { testApp } from '../../testing/app.ts'
import { call } from '../../testing/call.ts'
import { someone } from '../../testing/people.ts'
import { startRadosgw, type RunningS3 } from '../../testing/radosgw.ts'
import { sendPiece } from '../../testing/uploads.ts'
import { keepsContents } from './conformance.ts'
import { createS3Contents } from './s3.ts'

/** On Ceph's own S3: what only plays one takes wrong passwords, and answers wrong bytes. */
describe('contents in an S3', () => {
  let s3: RunningS3
  beforeAll(async () => {
    s3 = await startRadosgw()
  })
  afterAll(() => s3.stop())

  keepsContents(async () => createS3Contents(s3))

  it('says at the start whether it may', async () => {
    await expect(createS3Contents({ ...s3, credentials: { ...s3.credentials, secretAccessKey: 'wrong' } }).begin()).rejects.toThrow()
    await expect(createS3Contents({ ...s3, bucket: 'none' }).begin()).rejects.toThrow()
  })

  it('is where a server keeps what people upload', async () => {
    const environment = {
      S3_BUCKET: s3.bucket,
      S3_ENDPOINT: s3.endpoint,
      S3_ACCESS_KEY_ID: s3.credentials.accessKeyId,
      S3_SECRET_ACCESS_KEY: s3.credentials.secretAccessKey,
    }
    const app = await testApp(environment)
    try {
      const url = await app.http.listen({ port: 0, host: '127.0.0.1' })
      const { token } = await someone(app)
      const { id } = await call(app, models.create, { token, body: { namespace: 'in-s3', name: 'model', title: '模型' } })
      const content = randomBytes(20_000_000)
      const upload = await call(app, modelFiles.upload, { token, params: { id }, body: { size_bytes: content.length } })
      expect((await sendPiece(url, token, upload, 0, new Uint8Array(content))).status).toBe(204)
      const commit = { message: 'x', add: [{ path: 'a.bin', upload_id: upload.id }] }
      await vi.waitFor(() => call(app, modelRevisions.create, { token, params: { id }, body: commit }), 20_000)
      const { path } = await call(app, modelFiles.download, { token, params: { id }, body: { path: 'a.bin' } })
      const answer = await fetch(`${url}${path}`, { headers: { range: 'bytes=5-' } })
      const sha256 = createHash('sha256').update(Buffer.from(await answer.arrayBuffer()))
      expect([answer.status, sha256.digest('hex')]).toEqual([206, createHash('sha256').update(content.subarray(5)).digest('hex')])
    } finally {
      await app.close()
    }
  })
})
