import { createHash } from 'node:crypto'
import type { CallOptions, ImageExport } from '../compute.ts'
import { EngineError } from '../errors.ts'
import { multipart } from './multipart.ts'
import type { LxdImage } from './parse.ts'
import { streamOf } from './streams.ts'
import type { Transport } from './transport.ts'

/** Silence after which a stream is taken for dead. */
const silenceMs = 60_000

/** The files as they were imported or published: their SHA-256, one after the other, is the fingerprint. */
export async function* imageFiles(transport: Transport, { fingerprint }: LxdImage, options: CallOptions): ImageExport['files'] {
  const { headers, body } = await transport.stream(`/1.0/images/${encodeURIComponent(fingerprint)}/export`, { signal: options.signal, timeoutMs: silenceMs })
  const hash = createHash('sha256')
  async function* checked(content: AsyncIterable<Buffer>, isLast: () => boolean): AsyncGenerator<Buffer> {
    for await (const part of content) {
      hash.update(part)
      yield part
    }
    if (isLast() && hash.digest('hex') !== fingerprint) throw new EngineError('bad_answer', `what came is not the image ${fingerprint}`)
  }
  try {
    const type = String(headers['content-type'])
    if (!type.startsWith('multipart/')) {
      const name = /filename="?([^";]+)/.exec(String(headers['content-disposition']))?.[1] ?? fingerprint
      yield {
        role: 'unified',
        name,
        content: streamOf(
          checked(body, () => true),
          () => body.destroy(),
        ),
      }
      return
    }
    for await (const part of multipart(body, type)) {
      yield {
        role: part.name === 'metadata' ? 'metadata' : 'rootfs',
        name: part.fileName || part.name,
        content: streamOf(checked(part.content, part.isLast), () => undefined),
      }
    }
  } finally {
    body.destroy()
  }
}
