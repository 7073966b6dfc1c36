import { StringDecoder } from 'node:string_decoder'

export interface LogLine {
  at: string | null
  stream: 'stdout' | 'stderr'
  text: string
}
export interface LogFrame {
  readonly stream: 'stdout' | 'stderr'
  readonly data: Buffer
}

/** A line is told in parts above this length: what prints without line ends does not fill the memory. */
const lineMax = 256 * 1024
/** Docker keeps longer lines in pieces of so many bytes, and puts a stamp before each of them. */
export const pieceBytes = 16 * 1024
/** Of a line that is told in one. */
export const piecesMax = lineMax / pieceBytes
/** No stamp is longer, with the blank behind it. */
const stampMax = 40
/** Docker's own, with nanoseconds: `2026-11-21T18:11:13.000000000Z text`. */
const stamped = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)) ?/
const lineEnd = 0x0a

/**
 * Puts together what Docker keeps in pieces: of the stamps that it gave only those stay with which a line begins. What comes
 * goes on at once, but for what may be a stamp.
 */
export function createJoining(): { add: (frame: LogFrame) => Buffer; rest: (stream: LogFrame['stream']) => Buffer } {
  const fresh = () => ({ begins: true, piece: 0, held: Buffer.alloc(0) })
  const streams = { stdout: fresh(), stderr: fresh() }

  return {
    add({ stream, data }) {
      const state = streams[stream]
      let left = state.held.length === 0 ? data : Buffer.concat([state.held, data])
      state.held = Buffer.alloc(0)
      const out: Buffer[] = []
      while (left.length > 0) {
        if (state.begins || state.piece === pieceBytes) {
          const head = left.subarray(0, stampMax)
          const found = stamped.exec(head.toString('latin1'))?.[0] ?? ''
          // Whether there is a stamp is not to be seen yet.
          if (head.length < stampMax && !head.includes(lineEnd) && !found.endsWith(' ')) {
            state.held = Buffer.from(left)
            break
          }
          if (state.begins && found !== '') out.push(left.subarray(0, found.length))
          left = left.subarray(found.length)
          state.begins = false
          state.piece = 0
        }
        const within = left.subarray(0, pieceBytes - state.piece)
        const end = within.indexOf(lineEnd)
        const part = end < 0 ? within : within.subarray(0, end + 1)
        out.push(part)
        left = left.subarray(part.length)
        state.piece += part.length
        state.begins = end >= 0
      }
      return out.length === 1 && out[0] !== undefined ? out[0] : Buffer.concat(out)
    },
    rest(stream) {
      const { held } = streams[stream]
      streams[stream] = fresh()
      return held
    },
  }
}

/**
 * Frames as lines: those of both streams are told apart, and a character may be cut by a frame's border.
 * @param timestamps whether Docker was asked for them
 */
export function createLines(timestamps: boolean): { add: (frame: LogFrame) => LogLine[]; rest: () => LogLine[] } {
  const streams = {
    stdout: { decoder: new StringDecoder('utf8'), text: '' },
    stderr: { decoder: new StringDecoder('utf8'), text: '' },
  }
  const line = (stream: LogLine['stream'], text: string): LogLine => {
    const whole = text.endsWith('\r') ? text.slice(0, -1) : text
    const found = timestamps ? stamped.exec(whole) : null
    return found === null ? { at: null, stream, text: whole } : { at: found[1] ?? null, stream, text: whole.slice(found[0].length) }
  }
  const joining = timestamps ? createJoining() : null
  return {
    add({ stream, data }) {
      const held = streams[stream]
      const parts = (held.text + held.decoder.write(joining === null ? data : joining.add({ stream, data }))).split('\n')
      held.text = parts.pop() ?? ''
      const lines = parts.map((part) => line(stream, part))
      if (held.text.length > lineMax) {
        lines.push(line(stream, held.text))
        held.text = ''
      }
      return lines
    },
    rest() {
      return (['stdout', 'stderr'] as const).flatMap((stream) => {
        const held = streams[stream]
        const text = held.text + (joining === null ? '' : held.decoder.write(joining.rest(stream))) + held.decoder.end()
        held.text = ''
        return text === '' ? [] : [line(stream, text)]
      })
    },
  }
}
