import type { FileHandle } from 'node:fs/promises'
import { Readable, type Writable } from 'node:stream'

const pieceBytes = 256 * 1024
/** Pieces of one reader that are read, or wait to be sent. */
const piecesAhead = 4
/** What readers that have ended give to the next ones: to make and to forget them again and again takes more time than to send what is in them. */
const spare: Buffer[] = []
const spareMost = 256

/**
 * Bytes `start` to `end` of a file, which it closes: while one piece is sent the next ones are read, so that neither the
 * disk nor the connection waits for the other. As any stream, or, with less work, by {@link sendTo}.
 */
export class FileStream extends Readable {
  readonly #file: FileHandle
  readonly #end: number
  readonly #asked: Promise<Buffer>[] = []
  readonly #outcome = Promise.withResolvers<{ bytes: number; whole: boolean }>()
  #at: number
  /** Not yet taken. */
  #left: number
  #taken = 0

  constructor(file: FileHandle, start: number, end: number) {
    super({ highWaterMark: pieceBytes })
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
    try {
      for (;;) {
        this.#ask(() => spare.pop() ?? Buffer.allocUnsafeSlow(pieceBytes))
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
        if (spare.length < spareMost && piece.buffer.byteLength === pieceBytes) spare.push(Buffer.from(piece.buffer))
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
    this.#outcome.resolve({ bytes: this.#taken, whole: this.#left === 0 })
    void Promise.allSettled(this.#asked)
      .then(() => this.#file.close())
      .then(() => done(error), done)
  }

  #ask(allocate: (length: number) => Buffer): void {
    for (; this.#asked.length < piecesAhead && this.#at <= this.#end; this.#at += pieceBytes) {
      const reading = this.#piece(allocate, this.#at, Math.min(pieceBytes, this.#end - this.#at + 1))
      // Whoever takes it hears of it; nobody does of one that is left.
      reading.catch(() => undefined)
      this.#asked.push(reading)
    }
  }
  #count({ length }: Buffer): void {
    this.#taken += length
    this.#left -= length
  }
  async #piece(allocate: (length: number) => Buffer, from: number, length: number): Promise<Buffer> {
    const { buffer, bytesRead } = await this.#file.read(allocate(length), 0, length, from)
    if (bytesRead !== length) throw new Error('a content is shorter than it was')
    return buffer.subarray(0, length)
  }
}
