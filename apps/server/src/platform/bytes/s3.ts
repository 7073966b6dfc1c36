import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { S3ClientConfig } from '@aws-sdk/client-s3'
import { ContentMissingError, type Contents } from './contents.ts'

/** As many parts as S3 takes of one object, at least so large. */
const partsMost = 10_000
const partLeast = 16 * 1024 * 1024
/** A part that did not get there is sent again so often. */
const tries = 3
/** Contents that are sent at once: whoever sends one holds a connection of the database. */
const sendersMost = 2

/**
 * Contents in a bucket, called as they are in the directory, so that any program that copies files moves them from one to
 * the other. Each part goes with its MD5, which every S3 checks: what was damaged on its way is not kept.
 */
export function createS3Contents(at: {
  bucket: string
  endpoint: string | undefined
  region: string
  credentials: S3ClientConfig['credentials'] & object
}): Contents {
  const { bucket: Bucket, endpoint, region, credentials } = at
  // Only whoever has one waits for all of this to be read.
  const loading = import('@aws-sdk/client-s3').then((s3) => {
    const client = new s3.S3Client({
      region,
      credentials,
      ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
      // Checksums of newer kinds are not known to all that speak S3.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      maxAttempts: tries,
      requestHandler: { connectionTimeout: 5_000, httpAgent: { maxSockets: 1_000 }, httpsAgent: { maxSockets: 1_000 } },
    })
    return { ...s3, client }
  })
  // Whoever asks for it hears of it.
  loading.catch(() => undefined)
  const keyOf = (sha256: string): string => `contents/${sha256.slice(0, 2)}/${sha256}`
  const enter = createGate(sendersMost)

  const sizeOf = async (Key: string): Promise<number | null> => {
    const { client, HeadObjectCommand } = await loading
    return client.send(new HeadObjectCommand({ Bucket, Key })).then(
      ({ ContentLength }) => ContentLength ?? null,
      (error: unknown) => {
        if (isMissing(error)) return null
        throw error
      },
    )
  }
  /** A piece of a file, read anew for each try. */
  const sendPart = async (path: string, piece: { start: number; end: number }, send: (body: Readable, length: number, md5: string) => Promise<string>) => {
    const length = piece.end - piece.start
    const range = { start: piece.start, end: piece.end - 1, highWaterMark: 1024 * 1024 }
    const hash = createHash('md5')
    await pipeline(createReadStream(path, range), hash)
    const md5 = hash.digest('base64')
    for (let left = tries - 1; ; left--) {
      const body = createReadStream(path, range)
      try {
        return await send(body, length, md5)
      } catch (error) {
        if (left === 0) throw error
      } finally {
        body.destroy()
      }
    }
  }
  /** Parts that somebody sent who was killed: nobody else is at this content. */
  const clear = async ({ client, ListMultipartUploadsCommand, AbortMultipartUploadCommand }: Awaited<typeof loading>, Key: string): Promise<void> => {
    const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket, Prefix: Key }))
    for (const { UploadId } of Uploads) await client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId }))
  }

  const sendWhole = async (path: string, Key: string, size: number): Promise<void> => {
    const s3 = await loading
    const { client, CreateMultipartUploadCommand, UploadPartCommand, CompleteMultipartUploadCommand, AbortMultipartUploadCommand } = s3
    await clear(s3, Key)
    const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key }))
    try {
      const step = Math.max(partLeast, Math.ceil(size / partsMost))
      const Parts: { PartNumber: number; ETag: string }[] = []
      for (let start = 0; start < size; start += step) {
        const PartNumber = Parts.length + 1
        const ETag = await sendPart(path, { start, end: Math.min(size, start + step) }, async (Body, ContentLength, ContentMD5) => {
          const sent = await client.send(new UploadPartCommand({ Bucket, Key, UploadId, PartNumber, Body, ContentLength, ContentMD5 }))
          return sent.ETag ?? ''
        })
        Parts.push({ PartNumber, ETag })
      }
      await client.send(new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts } }))
    } catch (error) {
      await client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId })).catch(() => undefined)
      throw error
    }
    if ((await sizeOf(Key)) !== size) throw new Error(`the bucket keeps another size of ${Key} than was sent`)
  }

  return {
    async begin() {
      const { client, HeadBucketCommand } = await loading
      await client.send(new HeadBucketCommand({ Bucket }))
    },
    async keep(path, sha256) {
      const file = await open(path)
      const { size } = await file.stat().finally(() => file.close())
      const Key = keyOf(sha256)
      const leave = await enter()
      try {
        if ((await sizeOf(Key)) === size) return
        if (size > partLeast) return await sendWhole(path, Key, size)
        const { client, PutObjectCommand } = await loading
        await (size === 0
          ? client.send(new PutObjectCommand({ Bucket, Key, Body: '', ContentLength: 0 }))
          : sendPart(path, { start: 0, end: size }, async (Body, ContentLength, ContentMD5) => {
              await client.send(new PutObjectCommand({ Bucket, Key, Body, ContentLength, ContentMD5 }))
              return ''
            }))
      } finally {
        leave()
      }
    },
    async store(sha256, content) {
      const { client, PutObjectCommand } = await loading
      const ContentMD5 = createHash('md5').update(content).digest('base64')
      await client.send(new PutObjectCommand({ Bucket, Key: keyOf(sha256), Body: content, ContentMD5 }))
    },
    async read(sha256, range) {
      const { client, GetObjectCommand } = await loading
      const Range = range === undefined ? undefined : `bytes=${range.start}-${range.end}`
      const { Body } = await client.send(new GetObjectCommand({ Bucket, Key: keyOf(sha256), Range })).catch((error: unknown) => {
        throw isMissing(error) ? new ContentMissingError(sha256, { cause: error }) : error
      })
      if (!(Body instanceof Readable)) throw new Error('the bucket answered no bytes')
      return Body
    },
    async drop(sha256) {
      const { client, DeleteObjectCommand } = await loading
      await client.send(new DeleteObjectCommand({ Bucket, Key: keyOf(sha256) }))
    },
  }
}

const isMissing = (error: unknown): boolean => error instanceof Error && (error.name === 'NoSuchKey' || error.name === 'NotFound')

/** Lets so many in at once. @returns what lets the next one in */
function createGate(most: number): () => Promise<() => void> {
  let inside = 0
  const waiting: (() => void)[] = []
  const leave = (): void => {
    const next = waiting.shift()
    if (next === undefined) inside--
    else next()
  }
  return async () => {
    if (inside < most) inside++
    else await new Promise<void>((resolve) => waiting.push(resolve))
    return leave
  }
}
