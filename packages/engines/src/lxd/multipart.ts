import { EngineError } from '../errors.ts'

export interface Part {
  /** `name` and `filename` of its content disposition. */
  name: string
  fileName: string
  /** To be read before the next part is asked for; what is not, is skipped. */
  content: AsyncGenerator<Buffer>
  /** Known once the content was read to its end. */
  isLast(): boolean
}

/** Longer than the head of any part that an engine sends. */
const headLimit = 16 * 1024

/** Takes a `multipart/form-data` body apart as it comes, holding no more of it than one chunk. */
export async function* multipart(body: AsyncIterable<Buffer>, contentType: string): AsyncGenerator<Part> {
  const boundary = /boundary="?([^";]+)/.exec(contentType)?.[1]
  if (boundary === undefined) throw new EngineError('bad_answer', `no boundary: ${contentType}`)
  const chunks = body[Symbol.asyncIterator]()
  let held: Buffer = Buffer.alloc(0)
  const more = async (): Promise<void> => {
    const { done, value } = await chunks.next()
    if (done === true) throw new EngineError('bad_answer', 'the body ended in the middle of a part')
    held = held.length === 0 ? value : Buffer.concat([held, value])
  }
  const take = async (length: number): Promise<string> => {
    while (held.length < length) await more()
    const taken = held.toString('latin1', 0, length)
    held = held.subarray(length)
    return taken
  }
  /** What comes before the mark, which is taken away. */
  async function* until(mark: Buffer): AsyncGenerator<Buffer> {
    for (;;) {
      const at = held.indexOf(mark)
      // A mark may be cut by the end of a chunk.
      const clear = at === -1 ? Math.max(0, held.length - mark.length + 1) : at
      const part = held.subarray(0, clear)
      held = held.subarray(at === -1 ? clear : at + mark.length)
      if (part.length > 0) yield part
      if (at !== -1) return
      await more()
    }
  }
  const text = async (mark: string): Promise<string> => {
    let gathered = ''
    for await (const part of until(Buffer.from(mark))) {
      gathered += part.toString('utf8')
      if (gathered.length > headLimit) throw new EngineError('bad_answer', 'a part with a head without end')
    }
    return gathered
  }

  const delimiter = Buffer.from(`\r\n--${boundary}`)
  await text(`--${boundary}`)
  for (let after = await take(2); after !== '--';) {
    const head = await text('\r\n\r\n')
    let ended = false
    async function* content(): AsyncGenerator<Buffer> {
      if (ended) return
      yield* until(delimiter)
      ended = true
      after = await take(2)
    }
    const of = (key: string): string => new RegExp(`[; ]${key}="([^"]*)"`).exec(head)?.[1] ?? ''
    yield { name: of('name'), fileName: of('filename'), content: content(), isLast: () => ended && after === '--' }
    for await (const _ of content());
  }
}
