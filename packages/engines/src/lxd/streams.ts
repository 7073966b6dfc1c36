import { Readable } from 'node:stream'

/**
 * What a generator gives, as a stream that holds no more than is asked for. `Readable.from` waits
 * with its end for the next piece, which may never come: this one calls `end` at once.
 */
export function streamOf(pieces: AsyncIterator<Buffer>, end: () => void): Readable {
  const stream = new Readable({
    read() {
      pieces.next().then(
        ({ done, value }) => {
          if (!stream.destroyed) stream.push(done === true ? null : value)
        },
        (error: unknown) => stream.destroy(error instanceof Error ? error : new Error(String(error))),
      )
    },
    destroy(error, done) {
      end()
      done(error)
    },
  })
  return stream
}
