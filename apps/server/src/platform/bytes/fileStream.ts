import type { FileHandle } from 'node:fs/promises'
import { Readable, type Writable } from 'node:stream'

/** Of a few readers each takes large pieces, which go fastest; of many small ones, so that together they take little. */
const pieces = { large: { bytes: 1024 * 1024, ahead: 3 }, small: { bytes: 256 * 1024, ahead: 4 } } as const
const fewReaders = 8
let readers = 0
/** What readers that have ended give to the next ones, by its length: to make and to forget them again and again takes more time than to send what is in them. */
const spare = new Map<number, Buffer[]>(Object.values(pieces).map(({ bytes }) => [bytes, []]))
const spareBytesMost = 24 * 1024 * 1024

/**
 * Bytes `start` to `end` of a file, which it closes: while one piece is sent the next ones are read, so that neither the
 * disk nor the connection waits for the other. As any stream, or, with less work, by {@link sendTo}.
 */
export class FileStream extends Readable {
  readonly #file: FileHandle
  readonly #end: number
  readonly #asked: Promise<Buffer>[] = []
  readonly #outcome = Promise.withResolvers<{ bytes: number; whole: boolean }>()
  readonly #piece: (typeof pieces)[keyof typeof pieces]
  #at: number
  /** Not yet taken. */
  #left: number
  #taken = 0

  constructor(file: FileHandle, start: number, end: number) {
    const piece = readers < fewReaders ? pieces.large : pieces.small
    super({ highWaterMark: piece.bytes })
    readers++
    this.#piece = piece
    this.#file = file
    this.#at = start
    this.#end = end
    this.#left = end - start + 1
  }

  /** How much of it was taken by the time that it was closed, and whether that is all. */
  get outcome(): Promise<{ bytes: number; whole: boolean }> {
    return this.#outcome.promise
  }

  /** To its end, into the same few buffers over and over. */
  async sendTo(to: Writable): Promise<void> {
    const { bytes } = this.#piece
    const kept = spare.get(bytes) ?? []
    try {
      for (;;) {
        this.#ask(() => kept.pop() ?? Buffer.allocUnsafeSlow(bytes))
        const next = this.#asked.shift()
        if (next === undefined) break
        const piece = await next
        await new Promise<void>((resolve, reject) => {
          const left = (): void => reject(new Error('nobody takes it any more'))
          to.once('close', left)
          to.write(piece, (error) => {
            to.off('close', left)
            if (error === null || error === undefined) resolve()
            else reject(error)
          })
        })
        this.#count(piece)
        if (kept.length * bytes < spareBytesMost) kept.push(Buffer.from(piece.buffer))
      }
      to.end()
    } finally {
      this.destroy()
    }
  }

  override _read(): void {
    this.#ask(Buffer.allocUnsafeSlow)
    const next = this.#asked.shift()
    if (next === undefined) this.push(null)
    else
      next.then(
        (piece) => {
          this.#count(piece)
          this.push(piece)
        },
        (error: Error) => this.destroy(error),
      )
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    readers--
    this.#outcome.resolve({ bytes: this.#taken, whole: this.#left === 0 })
    void Promise.allSettled(this.#asked)
      .then(() => this.#file.close())
      .then(() => done(error), done)
  }

  #ask(allocate: (length: number) => Buffer): void {
    const { bytes, ahead } = this.#piece
    for (; this.#asked.length < ahead && this.#at <= this.#end; this.#at += bytes) {
      const length = Math.min(bytes, this.#end - this.#at + 1)
      const reading = this.#read(allocate(length), this.#at, length)
      // Whoever takes it hears of it; nobody does of one that is left.
      reading.catch(() => undefined)
      this.#asked.push(reading)
    }
  }
  #count({ length }: Buffer): void {
    this.#taken += length
    this.#left -= length
  }
  async #read(into: Buffer, from: number, length: number): Promise<Buffer> {
    const { buffer, bytesRead } = await this.#file.read(into, 0, length, from)
    if (bytesRead !== length) throw new Error('a content is shorter than it was')
    return buffer.subarray(0, length)
  }
}
