import { constants, type ServerHttp2Stream } from 'node:http2'
import type { z } from 'zod'

/** What is not done, and why, in the agent's own English. */
export class Denied extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

export function answerJson(stream: ServerHttp2Stream, status: number, body: unknown): void {
  if (stream.destroyed || stream.closed) return
  if (stream.headersSent) return stream.close(constants.NGHTTP2_INTERNAL_ERROR)
  stream.respond({ ':status': status, 'content-type': 'application/json' })
  stream.end(JSON.stringify(body))
}

export const answerError = (stream: ServerHttp2Stream, error: unknown): void =>
  answerJson(stream, error instanceof Denied ? error.status : 500, { message: error instanceof Error ? error.message : String(error) })

/** A body of JSON. @throws Denied where it is too long, or another */
export async function bodyOf<T extends z.ZodType>(stream: ServerHttp2Stream, schema: T, limitBytes: number): Promise<z.output<T>> {
  const parts: Buffer[] = []
  let size = 0
  for await (const part of stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += part.length
    if (size > limitBytes) throw new Denied(413, `more than ${limitBytes} bytes`)
    parts.push(part)
  }
  let value: unknown
  try {
    value = JSON.parse(Buffer.concat(parts).toString('utf8'))
  } catch {
    throw new Denied(400, 'the body is not JSON')
  }
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new Denied(400, `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'not understood'}`)
}
