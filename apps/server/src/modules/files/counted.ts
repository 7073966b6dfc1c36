import { Readable } from 'node:stream'

/** Counts what is really read of a stream, and tells of it where that is asked for. */
export function counted(source: Readable, went: (bytes: number) => void = () => undefined): { stream: Readable; bytes: () => number } {
  let bytes = 0
  async function* counting(): AsyncGenerator<Buffer> {
    for await (const chunk of source as AsyncIterable<Buffer>) {
      bytes += chunk.length
      went(chunk.length)
      yield chunk
    }
  }
  const stream = Readable.from(counting(), { objectMode: false, highWaterMark: 256 * 1024 })
  stream.once('close', () => source.destroy())
  return { stream, bytes: () => bytes }
}
