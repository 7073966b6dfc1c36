import { Transform, type TransformCallback } from 'node:stream'
import { EngineError } from '../errors.ts'

/** Output of a container or of an exec, as it comes: not cut into lines. */
export interface Output {
  readonly from: 'stdout' | 'stderr'
  readonly data: Buffer
}

const headBytes = 8
/** More than Docker puts into one frame; whoever says more does not speak this format. */
const frameLimitBytes = 64 * 2 ** 20

/**
 * Takes the frames of Docker's multiplexed stream apart: a head of `[1 stdout | 2 stderr, 0, 0, 0,
 * length in 4 bytes]`, then the payload. Frames of one piece that are of one kind come out as one:
 * a log of short lines has a frame for each.
 */
export function framesTaken(): Transform {
  let head: Buffer = Buffer.alloc(0)
  let from: Output['from'] = 'stdout'
  /** Bytes that are still to come of the frame. */
  let left = 0
  return new Transform({
    readableObjectMode: true,
    readableHighWaterMark: 4,
    writableHighWaterMark: 256 * 1024,
    transform(chunk: Buffer, _encoding, done: TransformCallback) {
      let at = 0
      let taken: Buffer[] = []
      const flush = () => {
        if (taken.length > 0)
          this.push({ from, data: taken.length === 1 ? taken[0] : Buffer.concat(taken) } satisfies { from: string; data: Buffer | undefined })
        taken = []
      }
      while (at < chunk.length) {
        if (left === 0) {
          const more = chunk.subarray(at, at + headBytes - head.length)
          at += more.length
          head = head.length === 0 ? more : Buffer.concat([head, more])
          if (head.length < headBytes) {
            // What is kept must not hold on to the whole piece that it came with.
            head = Buffer.from(head)
            break
          }
          const kind = head[0] ?? 0
          left = head.readUInt32BE(4)
          // 3 is the engine's own word for why the stream ends.
          if (kind > 3 || left > frameLimitBytes) return done(new EngineError('bad_answer', 'this is no multiplexed stream'))
          head = Buffer.alloc(0)
          const next = kind < 2 ? 'stdout' : 'stderr'
          if (next !== from) flush()
          from = next
          continue
        }
        const part = chunk.subarray(at, at + left)
        at += part.length
        left -= part.length
        taken.push(part)
      }
      flush()
      done()
    },
    flush(done) {
      done(left === 0 && head.length === 0 ? null : new EngineError('unreachable', 'the stream broke off in the middle of a frame'))
    },
  })
}

/** The same shape for a terminal's output, which has no frames: it is all one. */
export function unframed(): Transform {
  return new Transform({
    readableObjectMode: true,
    readableHighWaterMark: 4,
    writableHighWaterMark: 256 * 1024,
    transform(data: Buffer, _encoding, done) {
      done(null, { from: 'stdout', data } satisfies Output)
    },
  })
}

/** Values of JSON that come one after the other, a line each. */
export function jsonLines(path: string, lineLimitBytes = 4 * 2 ** 20): Transform {
  let rest = ''
  const decoder = new TextDecoder()
  const value = (line: string): unknown => {
    try {
      return JSON.parse(line)
    } catch (error) {
      throw new EngineError('bad_answer', `${path}: not JSON: ${line.slice(0, 100)}`, { cause: error })
    }
  }
  return new Transform({
    readableObjectMode: true,
    transform(chunk: Buffer, _encoding, done) {
      rest += decoder.decode(chunk, { stream: true })
      const lines = rest.split('\n')
      rest = lines.pop() ?? ''
      try {
        if (rest.length > lineLimitBytes) throw new EngineError('bad_answer', `${path}: a line without an end`)
        for (const line of lines) if (line.trim() !== '') this.push(value(line))
        done()
      } catch (error) {
        done(error as EngineError)
      }
    },
    flush(done) {
      try {
        if (rest.trim() !== '') this.push(value(rest))
        done()
      } catch (error) {
        done(error as EngineError)
      }
    },
  })
}
